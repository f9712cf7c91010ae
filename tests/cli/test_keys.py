"""`keys` without a window: in memory, with no store at all, and with the real key store of Linux."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena_desktop.cli import run_command_line
from engine.key_backends import MemoryBackend
from tests.cli.calling import ROOT, call
from tests.providers.scripted import Answer, scripted
from tests.stub import start_stub

KEY = "tst-good-0123456789abcdef4f2a"
SCRIPT = ROOT / "tests" / "keystore" / "with_secret_service.sh"


@pytest.fixture(autouse=True)
def _empty_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryBackend, "_kept", {})


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What stands on standard input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def gateway(folder: Path, url: str) -> Path:
    """A project with a connection of its own."""
    folder.mkdir()
    (folder / "config.yaml").write_text(
        "schema_version: 1\nproject: Own\n"
        f"connections:\n  - {{id: grove, kind: openai_compatible, base_url: '{url}/v1'}}\n"
        "models:\n  - {model: alpha-small, provider: grove}\n"
        "tests: {paths: [tests.yaml]}\n",
        encoding="utf-8",
    )
    (folder / "tests.yaml").write_text("tests:\n  - {input: Hi, reference: Hi}\n", encoding="utf-8")
    return folder


def test_nothing_is_kept_at_first(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "keys", "list")
    assert said.code == 0
    assert "No key is kept" in said.err
    document = call(capfd, "keys", "list", "--json").json
    assert document["keys"] == []
    assert document["store"]["code"] == "memory"


def test_a_key_is_read_from_standard_input_and_never_printed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, f"  {KEY}\n")
    said = call(capfd, "keys", "set", "google")
    assert said.code == 0
    assert "kept for generativelanguage.googleapis.com" in said.err
    assert "Keys of Google usually start with AIza." in said.err
    listed = call(capfd, "keys", "list", "--json")
    assert [(row["connection"], row["where"]) for row in listed.json["keys"]] == [("gemini", "keyring")]
    assert KEY not in said.out + said.err + listed.out
    removed = call(capfd, "keys", "remove", "gemini", "--json")
    assert removed.json == {"connection": "gemini", "removed": ["generativelanguage.googleapis.com"]}
    assert call(capfd, "keys", "list", "--json").json["keys"] == []


def test_a_key_is_no_argument(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "keys", "set", "openai", KEY)
    assert said.code == 1
    assert "unrecognized arguments" in said.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", "There is no key here"), ("OPENAI_API_KEY=sk-x", "Paste only what stands behind the = sign")],
)
def test_what_is_no_key_is_a_sentence(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
) -> None:
    typed(monkeypatch, text)
    said = call(capfd, "keys", "set", "openai")
    assert said.code == 1
    assert sentence in said.err


def test_an_unknown_connection_names_the_known(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "keys", "test", "nowhere", "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "unknown_connection"
    assert "openai" in said.json["error"]["hint"]


def test_without_a_key_store_nothing_is_pretended(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_KEYRING")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyrings.alt.file.PlaintextKeyring")
    typed(monkeypatch, KEY)
    said = call(capfd, "keys", "set", "openai")
    assert said.code == 1
    assert "no protected key store" in said.err
    assert call(capfd, "keys", "list", "--json").json["keys"] == []


@pytest.mark.parametrize("name", ["openai", "mistral"])
def test_testing_without_a_key_says_how_to_enter_one(capfd: pytest.CaptureFixture[str], name: str) -> None:
    said = call(capfd, "keys", "test", name, "--json")
    assert said.code == 1
    assert said.json["code"] == "missing"
    assert f"arena-desktop keys set {name}" in said.json["sentence"]
    assert said.json["models"] is None


def test_a_projects_own_connection(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with start_stub(require_key=KEY, models="alpha-small") as stub:
        project = gateway(tmp_path / "own", stub.url)
        host = stub.url.removeprefix("http://")
        wrong = call(capfd, "keys", "test", "grove", "--project", project)
        assert wrong.code == 1
        assert wrong.out.startswith("grove did not accept the access key.")
        typed(monkeypatch, KEY)
        kept = call(capfd, "keys", "set", "grove", "--project", project, "--json")
        assert kept.json == {"connection": "grove", "host": host, "where": "keyring", "hint": None}
        right = call(capfd, "keys", "test", "grove", "--project", project, "--json")
        assert (right.code, right.json["code"], right.json["models"]) == (0, "works", 1)
        assert right.json["sentence"] == (
            "grove accepted the access key. It offers 1 model. Nothing was charged."
        )
    gone = call(capfd, "keys", "test", "grove", "--project", project)
    assert gone.out.startswith("grove is not running.")


def test_a_key_the_project_takes_from_elsewhere_is_not_set(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project = gateway(tmp_path / "own", "https://gw.example.com")
    config = project / "config.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("kind: op", "api_key_ref: '${env:MINE}', kind: op"), encoding="utf-8")
    said = call(capfd, "keys", "set", "grove", "--project", project)
    assert said.code == 1
    assert "from elsewhere (env)" in said.err


def test_a_marked_key_that_a_service_echoes_is_written_nowhere(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    marker = "tst-canary-5b1e7c0a9d84f36271"
    echo = {"error": {"message": f"Incorrect API key provided: {marker}.", "key": marker, "type": marker}}
    with scripted(Answer(echo, 418)) as server:
        project = gateway(tmp_path / "own", server.url)
        typed(monkeypatch, marker)
        verbs = (
            ("keys", "set", "grove", "--project", project),
            ("keys", "test", "grove", "--project", project, "--json"),
            ("doctor", "--probe", "--project", project),
            ("run", project, "--yes", "--json"),
            ("show", "last", "--json"),
            ("runs", "--json"),
            ("keys", "list"),
        )
        said = [call(capfd, *words) for words in verbs]
        assert {asked.headers.get("authorization") for asked in server.asked} == {f"Bearer {marker}"}
        assert {asked.method for asked in server.asked} == {"GET", "POST"}
    assert "Incorrect API key provided" in said[3].out
    assert not [one for one in said if marker in one.out + one.err]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.suffix == ".sqlite" for path in files)
    assert [path for path in files if marker.encode() in path.read_bytes()] == []


# ---- the real thing

MISSING = [name for name in ("dbus-run-session", "gnome-keyring-daemon") if shutil.which(name) is None]


@pytest.mark.secret_service
@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_the_verbs_work_with_the_real_key_store(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "ARENA_KEYRING"}
    env |= {"ARENA_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    with start_stub(require_key=KEY, models="alpha-small") as stub:
        project = gateway(tmp_path / "own", stub.url)
        done = subprocess.run(
            ["sh", str(SCRIPT), "open", sys.executable, "-m", "tests.cli.test_keys", str(project)],
            env=env,
            cwd=ROOT,
            input=KEY,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    documents = [json.loads(part) for part in done.stdout.split("\x1e") if part.strip()]
    kept, listed, tested, removed, after = documents
    assert kept["where"] == "keyring"
    assert listed["store"]["name"] == "SecretService"
    assert [row["connection"] for row in listed["keys"]] == ["grove"]
    assert tested["code"] == "works"
    assert removed["removed"] == [stub.url.removeprefix("http://")]
    assert after["keys"] == []
    written = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert KEY not in done.stdout + done.stderr


def _story(project: str) -> None:
    """Run inside a session of its own: every verb once, the documents parted by U+001E."""
    here = ("--project", project, "--json")
    for words in (
        ("keys", "set", "grove", *here),
        ("keys", "list", "--json"),
        ("keys", "test", "grove", *here),
        ("keys", "remove", "grove", *here),
        ("keys", "list", "--json"),
    ):
        code = run_command_line(words)
        sys.stdout.write("\x1e")
        if code:
            sys.exit(code)


if __name__ == "__main__":
    _story(sys.argv[1])

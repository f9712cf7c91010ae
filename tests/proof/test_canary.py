"""A marked key goes through a whole run of the program and is found nowhere afterwards."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.proof.runs import ROOT, cases
from tests.providers.scripted import Answer, Asked, Scripted, chat_body

# One that looks like a key and one that looks like nothing.
MARKERS = ("sk-proj-CANARY00a1b2c3d4e5f6a7b8c9d0", "Zugvogel.Leuchtturm/77=Marmelade")


class Echo(Scripted):
    """Repeats the key it was sent wherever a service can put text."""

    def __init__(self) -> None:
        super().__init__([Answer(chat_body("ANSWER 1"))])

    def next(self, asked: Asked) -> Answer:
        super().next(asked)
        key = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if asked.method == "GET":
            return Answer({"object": "list", "data": [{"id": "m", "object": "model"}]})
        told = f"Incorrect API key provided: {key}. Your header was 'Bearer {key}'."
        error = {"error": {"message": told, "type": "invalid_request_error", "code": "invalid_api_key"}}
        page = f"<html><title>{key}</title><body>{told}</body></html>"
        return {
            "e400": Answer(error, 400),
            "e401": Answer(error, 401),
            "e500": Answer(error, 500),
            "page": Answer(page, 502, content_type="text/html"),
            "moved": Answer({}, 307, {"location": f"http://127.0.0.1:9/?key={quote(key)}"}),
            "header": Answer(error, 422, {"x-request-id": f"req-{key}", "server": key}),
            "broken": Answer(f"not json at all, {told}"),
            "inside": Answer(error),
            "fine": Answer(chat_body("ANSWER 1")),
            "chatty": Answer(
                chat_body(
                    f"ANSWER 1, and your key is {key}.",
                    message={"reasoning_content": f"The key {key} was used."},
                    model=f"chatty-{key}",
                    id=f"c-{key}",
                ),
                headers={"x-request-id": f"req-{key}"},
            ),
        }[asked.body["model"]]


def _traces(text: bytes) -> list[str]:
    found = []
    for marker in MARKERS:
        forms = {
            "plain": marker.encode(),
            "quoted": quote(marker, safe="").encode(),
            "escaped": json.dumps(marker)[1:-1].encode(),
            "base64": base64.b64encode(marker.encode()).rstrip(b"="),
            "utf-16": marker.encode("utf-16-le"),
        }
        found += [f"{marker} ({form})" for form, data in forms.items() if data in text]
    return found


def _files(*roots: Path) -> list[Path]:
    return [path for root in roots for path in sorted(root.rglob("*")) if path.is_file()]


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marked_key_is_in_no_file_and_no_output(marker: str, tmp_path: Path) -> None:
    server = Echo()
    home, project, work = tmp_path / "home", tmp_path / "project", tmp_path / "work"
    for folder in (home, project, work):
        folder.mkdir()
    names = ("e400", "e401", "e500", "page", "moved", "header", "broken", "inside", "fine", "chatty")
    connection = {"kind": "openai_compatible", "base_url": f"{server.url}/v1", "api_key": "${env:CANARY}"}
    config = {
        "project": "canary",
        # A connection each, so that no refusal stops the others.
        "providers": [{"id": f"p-{name}", **connection} for name in names],
        "models": [{"key": name, "model": name, "provider": f"p-{name}"} for name in names],
        "run": {"retries": 1, "retry_backoff_s": 0.01},
    }
    (project / "config.yaml").write_text(yaml.safe_dump(config))
    (project / "tests.yaml").write_text(yaml.safe_dump(cases(2)))
    env = {
        **os.environ,
        "ARENA_HOME": str(home),
        "ARENA_KEYRING": "memory",
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
        "CANARY": marker,
    }
    outputs: list[bytes] = []

    def call(*arguments: str) -> int:
        command = [sys.executable, "-m", "arena_desktop", *arguments]
        done = subprocess.run(command, env=env, cwd=work, capture_output=True, check=False, timeout=110)
        outputs.extend((done.stdout, done.stderr))
        return done.returncode

    try:
        assert call("run", str(project), "--json", "--report", "--yes") == 0
        assert call("show", "last", "--json") == 0
        assert call("check", str(project)) == 0
        call("doctor", "--project", str(project), "--json")
    finally:
        server.stop()
    sent = [asked.headers.get("authorization") for asked in server.asked if asked.method == "POST"]
    assert sent
    assert set(sent) == {f"Bearer {marker}"}, "the key did go to its own host"
    files = _files(home, project, work)
    assert [path.name for path in files if path.suffix == ".sqlite"]
    assert {str(path): _traces(path.read_bytes()) for path in files if _traces(path.read_bytes())} == {}
    assert [_traces(text) for text in outputs if _traces(text)] == []
    assert b"page" in outputs[0]
    assert json.loads(outputs[0])["run_id"]

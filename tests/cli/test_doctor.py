"""`doctor`: every check with its exact fix, and with `--probe` whether each connection answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.paths import store_path
from tests.cli.calling import TRIAGE, Said, call
from tests.cli.test_keys import KEY, gateway
from tests.stub import start_stub


def states(said: Said) -> dict[str, str]:
    return {check["id"]: check["code"] for check in said.json["checks"]}


def test_a_fresh_computer_is_fit(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "doctor")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].startswith("ok    Python 3.")
    assert any("No access key is kept yet" in line for line in lines)
    document = call(capfd, "doctor", "--json").json
    assert document["state"] == "warn"
    assert {"python", "packages", "display", "home", "key_store", "store", "keys"} <= {
        check["id"] for check in document["checks"]
    }


def test_a_missing_key_has_its_fix(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "doctor", "--project", TRIAGE)
    assert said.code == 1
    place = said.out.splitlines().index("fail  grove-cloud: The variable ARENA_SAMPLE_GROVE_KEY is not set.")
    assert said.out.splitlines()[place + 1].strip() == "Set ARENA_SAMPLE_GROVE_KEY and start again."


def test_a_vendors_variable_counts_without_a_project(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-0123456789abcdef")
    said = call(capfd, "doctor", "--json")
    assert states(said)["connection:openai"] == "key_found"
    assert "0123456789abcdef" not in said.out


def test_probing_asks_and_says_what_to_do(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GROVE_KEY", KEY)
    with start_stub(require_key=KEY, models="alpha-small,beta") as stub:
        project = gateway(tmp_path / "own", stub.url)
        config = project / "config.yaml"
        named = config.read_text(encoding="utf-8").replace(
            "kind: op", "api_key_ref: '${env:GROVE_KEY}', kind: op"
        )
        config.write_text(named, encoding="utf-8")
        good = call(capfd, "doctor", "--probe", "--project", project, "--json")
        assert good.code == 0
        assert states(good)["reachable:grove"] == "works"
        assert "offers 2 models" in good.out
        monkeypatch.setenv("GROVE_KEY", "tst-other-0123456789")
        bad = call(capfd, "doctor", "--probe", "--project", project, "--json")
        assert bad.code == 1
        found = next(check for check in bad.json["checks"] if check["id"] == "reachable:grove")
        assert found["code"] == "key_refused"
        assert "keys set" in found["fix"]
        assert "tst-other" not in bad.out
        unasked = call(capfd, "doctor", "--project", project, "--json")
        assert "reachable:grove" not in states(unasked)
    gone = call(capfd, "doctor", "--probe", "--project", project)
    assert gone.code == 1
    assert "Start the server on this computer, then try again." in gone.out


def test_a_damaged_store_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    store = store_path()
    store.write_bytes(b"SQLite format 3\x00" + b"\x00" * 4080)
    before = store.read_bytes()
    said = call(capfd, "doctor", "--json")
    assert said.code == 1
    found = next(check for check in said.json["checks"] if check["id"] == "store")
    assert found["state"] == "fail"
    assert found["fix"]
    assert store.read_bytes() == before

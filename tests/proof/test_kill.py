"""`kill -9` at any moment: no answer is lost, nothing is asked twice but what was in flight."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from engine.domain import CallStatus, RunStatus
from engine.storage.store import Store
from tests.execution.worlds import World
from tests.proof.runs import MODELS, Forge, cases, config, forge, is_over
from tests.stub import StubServer, start_stub

CASES, TRIALS, WIDTH, LATENCY_MS = 8, 2, 4, 15
CELLS = len(MODELS) * CASES * TRIALS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")


def _settings(stub: StubServer) -> dict[str, Any]:
    return config(stub.url, width=WIDTH, run={"trials": TRIALS})


def _board(store: Path, run_id: str = "last") -> dict[str, Any]:
    """What the leaderboard says, without what a clock measured."""
    with Store.open(store) as opened:
        board = opened.run(run_id).board
    assert board is not None
    told: dict[str, Any] = json.loads(json.dumps(board))
    for entry in told["entries"]:
        for name in [n for n in entry if "latency" in n]:
            del entry[name]
        for name in ("latency", "latency_p95"):
            entry["metrics"].pop(name)
    told["recommendation"] = [r for r in told["recommendation"] if r["values"].get("metric") != "latency"]
    return told


def _answers(store: Path) -> Counter[int]:
    """How often each cell is answered, straight from the file."""
    connection = sqlite3.connect(store)
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchone():
            return Counter()  # killed before the store was made
        return Counter(dict(connection.execute("SELECT cell, COUNT(*) FROM answers GROUP BY cell")))
    finally:
        connection.close()


def _sound(store: Path) -> bool:
    connection = sqlite3.connect(store)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def _completed(stub: StubServer, seen: int) -> int:
    """Answers the stub has sent, once those it still holds back are counted too."""
    for _ in range(1000):
        stats = stub.stats()
        done = int(stats["by_status"].get("200", 0))
        if done == stats["total"] and done >= seen:
            return done
        Event().wait(0.01)
    raise AssertionError(f"the stub does not come to rest: {stub.stats()}")


def _resume_id(store: Path) -> str | None:
    """The run that was interrupted; None where the kill came before it was entered or after its end."""
    if not store.exists():
        return None
    with Store.open(store) as opened:
        opened.mark_interrupted()
        runs = opened.runs()
        return runs[0].run_id if runs and runs[0].status is RunStatus.INTERRUPTED else None


def _kill_once(rng: random.Random, made: Forge, stub: StubServer, folder: Path, resume: str | None) -> int:
    """Starts or carries on and kills at a random moment; 0 = the run was over before."""
    before = int(stub.stats()["total"])
    pid = made.start(folder, _settings(stub), CASES, resume)
    if rng.random() < 0.7:
        # After so many requests, so that most kills come in the thick of it ...
        wanted = before + rng.randint(1, CELLS)
        for _ in range(400):
            if int(stub.stats()["total"]) >= wanted or is_over(pid):
                break
            Event().wait(0.002)
    # ... and a little later, or anywhere between the first import and the last commit.
    Event().wait(rng.uniform(0, 0.02) if rng.random() < 0.7 else rng.uniform(0, 0.8))
    return made.kill(pid)


def test_killed_twenty_times_at_random_points(tmp_path: Path) -> None:
    rng = random.Random(20260102)
    kills = 0
    with start_stub(latency_ms=LATENCY_MS) as stub, forge(tmp_path / "home") as made:
        calm = World(tmp_path / "calm", _settings(stub), cases(CASES))
        calm.root.mkdir()
        assert calm.run().info.completed == CELLS
        expected = _board(calm.store_path)
        attempt = 0
        while kills < 20:
            attempt += 1
            assert attempt < 40, "most runs end before they are killed"
            folder = tmp_path / f"run{attempt}"
            folder.mkdir()
            stub.reset()
            kills += _one_story(rng, made, stub, folder)
            assert _board(folder / "arena.sqlite") == expected


def _one_story(rng: random.Random, made: Forge, stub: StubServer, folder: Path) -> int:
    """One run, killed up to four times, carried on to its end; how often it was killed."""
    store = folder / "arena.sqlite"
    kills, lost, resume = 0, 0, None
    for _ in range(rng.randint(1, 4)):
        code = _kill_once(rng, made, stub, folder, resume)
        assert code in (0, -signal.SIGKILL)
        kills += code != 0
        sent = _completed(stub, 0)
        resume = _resume_id(store)
        if store.exists():
            assert _sound(store)
            kept = _answers(store)
            # What was paid for and is not stored was in flight at a kill.
            assert sent - sum(kept.values()) <= lost + WIDTH
            assert set(kept.values()) <= {1}
            lost = sent - sum(kept.values())
        if code == 0:
            break
    if resume is not None or code != 0:
        made.start(folder, _settings(stub), CASES, resume)
        assert made.wait() == 0
    sent = _completed(stub, CELLS)
    assert _sound(store)
    kept = _answers(store)
    assert len(kept) == CELLS
    assert set(kept.values()) == {1}
    assert sent == CELLS + lost
    with Store.open(store) as opened:
        (info,) = opened.runs()
        assert (info.status, info.completed, info.errors) == (RunStatus.COMPLETED, CELLS, 0)
        assert {c.status for c in opened.calls(info.run_id)} == {CallStatus.OK}
    return kills

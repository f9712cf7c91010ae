"""Kills real runs at many random moments, more than the suite can.

Run by hand: python tests/bench/kill_bench.py [--kills 200] [--seed N]

Each story is a run against the stub, killed up to six times and carried on to its end. Afterwards
every cell has exactly one answer, the file is sound, the leaderboard is that of an undisturbed run,
and the service was asked once per cell plus at most the calls in flight at each kill.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))


def main() -> None:
    """Tells every story; the first broken promise is an AssertionError with its seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["ARENA_KEYRING"] = "memory"
    from tests.execution.worlds import World
    from tests.proof import test_kill as proof
    from tests.proof.runs import cases, forge
    from tests.stub import start_stub

    kills = lost = stories = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["ARENA_HOME"] = str(root / "home")
        with start_stub(latency_ms=15, max_seconds=7200) as stub, forge(root / "home") as made:
            calm = World(root / "calm", proof._settings(stub), cases(proof.CASES))
            calm.root.mkdir()
            calm.run()
            expected = proof._board(calm.store_path)
            while kills < options.kills:
                stories += 1
                rng = random.Random(f"{options.seed}/{stories}")
                place = root / f"run{stories}"
                place.mkdir()
                stub.reset()
                killed = proof._one_story(rng, made, stub, place)
                kills += killed
                lost += int(stub.stats()["total"]) - proof.CELLS
                if proof._board(place / "arena.sqlite") != expected:
                    raise AssertionError(f"seed {options.seed}/{stories}: another leaderboard")
                if stories % 10 == 0:
                    sys.stdout.write(f"{stories} stories, {kills} kills, {lost} calls asked twice\n")
                    sys.stdout.flush()
    sys.stdout.write(
        f"{stories} runs killed {kills} times: nothing lost, {lost} calls asked twice "
        f"({lost / max(1, kills):.2f} per kill, {proof.WIDTH} in flight at most), "
        f"{time.monotonic() - began:.0f} s\n"
    )


if __name__ == "__main__":
    main()

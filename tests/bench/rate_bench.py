"""Rate limits in real time: refusals and use of what is allowed, and what a slow lane costs another.

Run by hand: python tests/bench/rate_bench.py [--minutes 2.5]
A stub that allows 60 calls a minute (goal: at most 5 % refusals after the first minute, at least
85 % of what is allowed), one that allows 12 a second (at most 10 % refusals in all), and a fast lane
alone and beside a throttled one (less than 10 % slower). The suite has the same in virtual time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))


@dataclass(frozen=True)
class Taken:
    """What the stub had counted at one moment."""

    at: float
    served: int
    refused: int


def _config(lanes: dict[str, str], models: dict[str, str], width: int) -> dict[str, Any]:
    return {
        "providers": [
            {"id": name, "kind": "openai_compatible", "base_url": f"{url}/v1"} for name, url in lanes.items()
        ],
        "models": [{"key": m, "model": f"stub-{m}", "provider": lane} for m, lane in models.items()],
        "run": {"concurrency": 16, "provider_concurrency": dict.fromkeys(lanes, width)},
    }


def _run(config: dict[str, Any], cases: int, stop: threading.Event | None = None) -> dict[str, float]:
    """Carries out a run; when each model's last call was finished, in seconds since the first start."""
    from tests.execution.worlds import World
    from tests.proof.runs import cases as questions

    last: dict[str, float] = {}
    began: list[float] = []

    def take(events: tuple[Any, ...]) -> None:
        for event in events:
            kind = type(event).__name__
            if kind == "Started" and not began:
                began.append(time.monotonic())
            elif kind == "CallFinished" and event.done.status.value == "ok":
                last[event.done.cell.model_key] = time.monotonic() - began[0]

    with tempfile.TemporaryDirectory() as folder:
        World(Path(folder), config, questions(cases)).run(on_events=take, stop=stop or threading.Event())
    return last


def _watch(stub: Any, every_s: float, over: threading.Event) -> list[Taken]:
    seen: list[Taken] = []
    while not over.wait(every_s):
        by_status = stub.stats()["by_status"]
        seen.append(Taken(time.monotonic(), by_status.get("200", 0), by_status.get("429", 0)))
    return seen


def _limited(per_s: float, width: int, seconds: float, since_s: float) -> tuple[float, float]:
    """(share refused, share of what is allowed that was used) after `since_s`."""
    from tests.stub import start_stub

    stop, over = threading.Event(), threading.Event()
    with start_stub(rate_limit=per_s, latency_ms=200) as stub:
        seen: list[Taken] = []
        watcher = threading.Thread(target=lambda: seen.extend(_watch(stub, 0.5, over)))
        watcher.start()
        threading.Timer(seconds, stop.set).start()
        _run(_config({"a": stub.url}, {"m": "a"}, width), int(per_s * (seconds + 30)), stop)
        over.set()
        watcher.join()
    first = next(t for t in seen if t.served)
    later = [t for t in seen if t.at - first.at >= since_s]
    a, b = (first if since_s == 0 else later[0]), later[-1]
    start = Taken(a.at, 0, 0) if since_s == 0 else a
    served, refused = b.served - start.served, b.refused - start.refused
    return refused / max(1, served + refused), served / ((b.at - start.at) * per_s)


def _beside() -> tuple[float, float]:
    """Seconds the fast lane takes alone, and beside a lane that is throttled all the time."""
    from tests.stub import start_stub

    with start_stub(latency_ms=100) as fast, start_stub(rate_limit=0.5, latency_ms=100) as slow:
        alone = _run(_config({"fast": fast.url}, {"f": "fast"}, 4), 400)["f"]
        config = _config({"fast": fast.url, "slow": slow.url}, {"f": "fast", "s": "slow"}, 4)
        stop = threading.Event()
        threading.Timer(alone * 1.6 + 3, stop.set).start()
        beside = _run(config, 400, stop)["f"]
    return alone, beside


def main() -> None:
    """Prints the figures; exits with 1 where one misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.5, help="length of the slow measurement")
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["ARENA_KEYRING"] = "memory"
    failed = False
    with tempfile.TemporaryDirectory() as home:
        os.environ["ARENA_HOME"] = home
        for per_s, width, seconds, since, most, least in (
            (1.0, 3, options.minutes * 60, 60.0, 0.05, 0.85),
            (12.0, 8, 30.0, 0.0, 0.10, 0.0),
        ):
            refused, used = _limited(per_s, width, seconds, since)
            good = refused <= most and used >= least
            failed |= not good
            sys.stdout.write(
                f"{per_s:g} calls a second, {width} at once: {refused:.1%} refused (at most {most:.0%}), "
                f"{used:.0%} of what is allowed{' (at least 85 %)' if least else ''}"
                f"{'' if good else '   MISSED'}\n"
            )
        alone, beside = _beside()
        good = beside < 1.1 * alone
        failed |= not good
        sys.stdout.write(
            f"fast lane alone {alone:.1f} s, beside a throttled one {beside:.1f} s "
            f"({beside / alone - 1:+.1%}, less than 10 %){'' if good else '   MISSED'}\n"
        )
    raise SystemExit(failed)


if __name__ == "__main__":
    main()

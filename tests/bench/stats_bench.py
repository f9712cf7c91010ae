"""Figures of the statistics: time, growth, cancelling, false claims. Run by hand.

python -m tests.bench.stats_bench time
python -m tests.bench.stats_bench null --projects 2000
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import product

from engine.domain import Case
from engine.errors import Cancelled
from engine.stats.leaderboard import BoardInput, build_board
from tests.stats.builders import board_input, config_with, scored
from tests.stats.simulate import Null, share_of_false_claims

TARGET_S = 1.0
FALSE_CLAIMS = 0.06


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run_of(
    models: int, cases: int, trials: int, weights: dict[str, float], *, grouped: bool = False
) -> BoardInput:
    """A finished run with that many calls, slightly different models."""
    rng = random.Random(1)
    calls = [
        scored(
            f"m{m}", f"c{c:05}", t, float(rng.random() < 0.6 + 0.02 * m), latency=rng.lognormvariate(6, 0.5)
        )
        for m, c, t in product(range(models), range(cases), range(1, trials + 1))
    ]
    listed = [Case(id=f"c{c:05}", group=str(c // 4) if grouped else None) for c in range(cases)]
    return board_input(calls, cases=listed, config=config_with(weights), trials=trials)


def timed(work: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
    """Median and worst seconds of the work."""
    taken = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), max(taken)


def bench_time() -> None:
    """The target of 100,000 answers, how it grows, and how fast a stop is obeyed."""
    say("board + verdict + chance of coming first, 10 models x 1,000 cases x 10 trials (target 1.0 s)")
    start = time.perf_counter()
    build_board(run_of(2, 3, 1, {"accuracy": 1.0}))
    say(f"  first board of the process, numpy import included: {time.perf_counter() - start:.3f} s")
    kinds = {
        "accuracy, cost, latency": {"accuracy": 0.6, "cost": 0.25, "latency": 0.15},
        "accuracy, cost, latency p95": {"accuracy": 0.6, "cost": 0.2, "latency_p95": 0.2},
    }
    for name, weights in kinds.items():
        for grouped in (False, True):
            data = run_of(10, 1000, 10, weights, grouped=grouped)
            median, worst = timed(lambda data=data: build_board(data))
            say(f"  {name}{', groups' if grouped else ''}: {median:.3f} s, worst {worst:.3f} s, "
                f"{median / TARGET_S:.2f} of the target")  # fmt: skip
    bench_growth(kinds["accuracy, cost, latency"])
    bench_stop(run_of(10, 1000, 10, kinds["accuracy, cost, latency p95"]))


def bench_growth(weights: dict[str, float]) -> None:
    """Time per call must not grow faster than n log n."""
    say("growth (10 models, cases x 1)")
    for cases in (10, 100, 1000, 10_000):
        data = run_of(10, cases, 1, weights)
        median, _ = timed(lambda data=data: build_board(data), 3)
        tracemalloc.start()
        build_board(data)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        say(
            f"  {cases * 10:>7,} calls: {median:.3f} s, {median / cases * 1e5:.1f} us a call, "
            f"peak {peak:.0f} MB"
        )


def bench_stop(data: BoardInput) -> None:
    """How long after the request the work ends, asked at ten moments."""
    median, _ = timed(lambda: build_board(data), 3)
    late = []
    for part in range(1, 11):
        deadline = time.perf_counter() + median * part / 11
        try:
            build_board(data, should_stop=lambda deadline=deadline: time.perf_counter() > deadline)
        except Cancelled:
            late.append(time.perf_counter() - deadline)
    say(f"stop is obeyed within {max(late) * 1000:.0f} ms ({len(late)} of 10 requests came in time)")


def bench_null(projects: int) -> None:
    """False claims with equal models: at most 6 % of projects, headline and any pair."""
    say(f"equal models, {projects} projects a line: headline claims / any pair claims")
    shapes = {
        "pass or fail, 1 trial": {},
        "pass or fail, 3 trials": {"trials": 3},
        "graded": {"graded": True},
        "groups of 4": {"groups": 4},
        "uneven groups and weights": {"groups": 4, "uneven": True},
        "weights 1, 3, 10": {"uneven": True},
    }
    worst = 0.0
    for name, fields in shapes.items():
        for models, cases in product((4, 6, 8), (20, 50, 100)):
            head, any_pair = share_of_false_claims(Null(models, cases, **fields), projects)
            worst = max(worst, any_pair)
            say(f"  {name:<28} {models} models, {cases:>3} cases: {head:6.2%} / {any_pair:6.2%}")
    say(f"worst share, any pair: {worst:.2%} (limit {FALSE_CLAIMS:.0%})")


def main() -> None:
    """Runs the chosen part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["time", "null"])
    parser.add_argument("--projects", type=int, default=2000)
    chosen = parser.parse_args()
    if chosen.part == "time":
        bench_time()
    else:
        bench_null(chosen.projects)


if __name__ == "__main__":
    main()

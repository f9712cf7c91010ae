"""How the store behaves as it grows: run by hand, prints its figures, asserts nothing.

python -m tests.bench.store_bench [CALLS ...]
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from engine.domain import CallDone
from engine.storage.recorder import Recorder
from engine.storage.records import AnswerWrite, DoneWrite, SpendWrite, Write
from engine.storage.rows import CallFilter, CallOrder
from engine.storage.store import Store
from tests.storage import samples

MODELS, TRIALS = 10, 10
PAGE = 100


def say(what: str, seconds: float, per: int = 0) -> None:
    """Prints one figure."""
    each = f"   {seconds / per * 1e6:8.1f} us each" if per else ""
    print(f"  {what:<58} {seconds * 1e3:9.1f} ms{each}")  # noqa: T201


def timed(what: str, work: Callable[[], object], rounds: int = 5) -> None:
    """Prints the median time of `work`."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    say(what, sorted(times)[rounds // 2])


def typical(call: CallDone, number: int) -> CallDone:
    """A call of usual size: 600 characters of answer, one check."""
    assert call.answer is not None
    assert call.score is not None
    answer = replace(
        call.answer,
        text=f"Answer {number}: " + "we can offer a voucher instead. " * 18,
        latency_ms=200.0 + number * 7919 % 3000,
        cost_usd=Decimal(number * 104729 % 1000) / 100000,
        notes=(),
    )
    checks = (replace(samples.FULL_SCORE.checks[0], detail={}),)
    score = replace(call.score, checks=checks, score=float(number % 3 != 0), passed=number % 3 != 0)
    return replace(call, answer=answer, score=score, attempt_log=samples.FULL_ATTEMPTS[2:])


def fill(store: Store, calls: int) -> str:
    """Stores a whole run through the recorder, three submits a call, and prints what it took."""
    cases = tuple(f"case-{number:05}" for number in range(max(1, calls // MODELS // TRIALS)))
    models = tuple(f"model-{letter}" for letter in "abcdefghij"[:MODELS])
    head = samples.head(f"run_{calls}", models=models, cases=cases, trials=TRIALS)
    start = time.perf_counter()
    store.create_run(head)
    say(f"plan {calls:,} cells", time.perf_counter() - start, calls)
    used: list[float] = []

    def committed(batch: Sequence[Write]) -> None:
        used[:] = [time.thread_time()]

    def failed(error: Exception, batch: Sequence[Write]) -> None:
        raise SystemExit(str(error))

    recorder = Recorder(store, committed, failed)
    start = time.perf_counter()
    waiting = threading.Event()
    for number, planned in enumerate(head.cells):
        call = typical(samples.full_call(planned.cell), number)
        assert call.answer is not None
        recorder.submit(
            AnswerWrite(head.run_id, call.cell, call.answer),
            SpendWrite(head.run_id, call.cell.model_key, Decimal(number), Decimal(1)),
        )
        recorder.submit(DoneWrite(head.run_id, call))
        if number % 16 == 0:
            # As a run does: never more under way than its width.
            waiting.wait(0.0005)
    recorder.close(600)
    say("write them", time.perf_counter() - start, calls)
    say("  of it on the writer thread, CPU", used[0], calls)
    store.finish_run(head.run_id, samples.finish(**{"model-a": 0.9, "model-b": 0.8}))
    return head.run_id


def read(store: Store, run_id: str) -> None:
    """Prints the times of what the screens ask."""
    first = store.call_ids(run_id)
    timed("open: run, count, first page", lambda: (store.run(run_id), store.calls_page(run_id, limit=PAGE)))
    timed("order of all, plan", lambda: store.call_ids(run_id))
    for by in ("score", "cost", "latency", "model", "case"):
        order = CallOrder(by, descending=True)
        timed(
            f"sort by {by}, first page", lambda order=order: store.calls_page(run_id, order=order, limit=PAGE)
        )
        timed(f"sort by {by}, order of all", lambda order=order: store.call_ids(run_id, order=order))
    half = len(first) // 2
    timed("scroll: one page in the middle", lambda: store.call_rows(first[half : half + PAGE]))
    for name, chosen in {
        "failed only": CallFilter(passed=False),
        "one model": CallFilter(models=("model-c",)),
        "where models differ": CallFilter(differ=True),
        "text, rare": CallFilter(text="Answer 4711:"),
        "text, everywhere": CallFilter(text="voucher"),
    }.items():
        timed(f"filter: {name}, page and count", lambda c=chosen: store.calls_page(run_id, c, limit=PAGE))
    middle = store.call_rows(first[half : half + 1])[0].cell.case_id
    timed("the calls of one case, in full", lambda: store.calls(run_id, case_id=middle))
    timed("cases with a text in an answer", lambda: store.matching_cases(run_id, CallFilter(text="voucher")))
    timed("what the checks said, counted", lambda: store.rated_as_a_whole(run_id, ("manual",)))
    timed("light calls of the whole run", lambda: sum(1 for _ in store.iter_calls(run_id, texts=False)), 1)
    timed("flaky cases", lambda: store.flaky_cases(run_id), 1)
    timed("case marks", lambda: store.case_marks(run_id), 1)
    timed("unfinished", lambda: store.unfinished(run_id), 1)


def history(store: Store, runs: int) -> None:
    """Prints the times of the history page."""
    for number in range(runs):
        head = samples.head(
            f"h{number}", cases=("c1",), trials=1, started=samples.START + timedelta(hours=number)
        )
        store.create_run(head)
        store.finish_run(head.run_id, samples.finish(alpha=0.9, beta=number / runs))
    timed(f"history page, {runs} runs", lambda: store.runs("Customer replies"))
    timed(f"model history, {runs} runs", lambda: store.model_history("Customer replies", "alpha"))


def main(sizes: Sequence[int]) -> None:
    """Runs everything for each size."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "arena.sqlite") as store:
            print(f"{size:,} calls")  # noqa: T201
            run_id = fill(store, size)
            read(store, run_id)
            print(f"  file {store.path.stat().st_size / 1e6:.1f} MB")  # noqa: T201
            timed("  quick check", store.database.check, 1)
            start = time.perf_counter()
            store.delete([run_id])
            store.purge()
            say("delete it for good", time.perf_counter() - start, size)
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "arena.sqlite") as store:
        history(store, 1_000)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100, 1_000, 10_000, 100_000])

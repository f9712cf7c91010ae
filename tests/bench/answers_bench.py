"""How the pages over stored results feel: open, sort, filter, choose and scroll 100,000 answers; 1,000 runs.

Run by hand: python -m tests.bench.answers_bench [--calls 100000] [--runs 1000] [--home FOLDER]
Each step prints how long it took until the window showed it, and the longest stand-stills of the
event loop while it went on and in the half second after it. With --home the stores are kept there and
used again: then two trees can be measured in turn over the same files. Asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
STEPS = 200

if TYPE_CHECKING:
    from engine.storage.store import Store
    from tests.bench.ui_bench import Probe


class Bench:
    """Takes steps in a window and says how each went."""

    def __init__(self) -> None:
        from tests.bench.ui_bench import Probe, _window, rest

        self.app, self.window = _window(None)
        rest(self.app, 2.0)
        self.probe: Probe = Probe()

    def step(self, name: str, work: Callable[[], object], ready: Callable[[], bool]) -> None:
        """One step: what is done and how to see that it is on show."""
        from tests.bench.ui_bench import rest, say, until

        self.probe.begin(name)
        began = time.perf_counter()
        work()
        until(self.app, ready, name)
        self.window.repaint()
        took = time.perf_counter() - began
        rest(self.app, 0.5)
        self.probe.begin("between")
        say(f"  {name:<34} {took * 1000:6.0f} ms; {self.probe.report(name)}")


# ---- stores


def make_answers(home: Path, calls: int) -> None:
    """One run of so many answers with its leaderboard."""
    from engine.stats.leaderboard import board_to_json, build_board
    from tests.bench.store_bench import fill
    from tests.stats.builders import board_input, config_with
    from tests.storage import samples

    with _store(home) as store:
        run_id = fill(store, calls)
        stored = store.run(run_id)
        found = list(store.iter_calls(run_id, texts=False))
        data = board_input(
            found, cases=list(stored.cases), config=config_with({"accuracy": 1.0}), trials=stored.info.trials
        )
        store.finish_run(run_id, replace(samples.finish(), board=board_to_json(build_board(data))))


def make_runs(home: Path, runs: int) -> None:
    """So many runs of one project, each with a result."""
    from tests.storage import samples

    with _store(home) as store:
        for number in range(runs):
            head = samples.head(
                f"h{number}", cases=("c1",), trials=1, started=samples.START + timedelta(hours=number)
            )
            store.create_run(head)
            finish = samples.finish(alpha=0.9, beta=number / runs)
            store.finish_run(head.run_id, replace(finish, board=None))


def _store(home: Path) -> Store:
    from engine.storage.store import Store

    home.mkdir(parents=True, exist_ok=True)
    return Store.open(home / "arena.sqlite")


# ---- use


def use_answers(run_id: str) -> None:
    """The leaderboard and the answers of one large run."""
    from PySide6.QtCore import Qt

    bench = Bench()
    window, opened = bench.window, []
    window.run_opened.connect(opened.append)
    bench.step("open the leaderboard", lambda: window.open_run(run_id), lambda: bool(opened))
    pages: list[Any] = []
    bench.step(
        "open Answers",
        lambda: pages.append(window.show_page("answers")),
        lambda: bool(pages[0].rows.total_count()) and bool(pages[0].pane.answer_columns()),
    )
    page = pages[0]
    calls = page.call_pane.calls
    bench.step("show all as a table", lambda: page.show_table(True), lambda: calls.shown_count() > 0)
    total, changes = calls.shown_count(), []
    page.call_pane.counts_changed.connect(lambda: changes.append(None))

    def changed(work: Callable[[], object]) -> Callable[[], object]:
        def go() -> None:
            changes.clear()
            work()

        return go

    down = Qt.SortOrder.DescendingOrder
    for column in ("wait", "cost", "model"):
        sort = changed(lambda column=column: page.call_pane.table.sort_by(column, down))
        bench.step(f"sort by {column}", sort, lambda: bool(changes))
    _filter_answers(bench, page, changed, lambda: bool(changes))
    bench.step(
        "show all again", changed(page.clear_filter), lambda: bool(changes) and calls.shown_count() == total
    )
    _scroll(bench, page.call_pane.table)
    bench.step("side by side again", lambda: page.show_table(False), lambda: True)
    current = page.tests.currentIndex().row
    bench.step("next test", page.button_down.click, lambda: current() >= 0)


def _filter_answers(bench: Bench, page: Any, changed: Callable[..., Any], ready: Callable[[], bool]) -> None:
    def show(key: str) -> None:
        page.combo_show.setCurrentIndex(page.combo_show.findData(key))
        page.apply_filter()

    def search(text: str) -> None:
        page.combo_show.setCurrentIndex(0)
        page.filter.setText(text)
        page.apply_filter()

    for key in ("failed", "differ"):
        bench.step(f"show only: {key}", changed(lambda key=key: show(key)), ready)
    for text in ("Answer 77", "voucher"):
        bench.step(f"search for {text!r}", changed(lambda text=text: search(text)), ready)


def _scroll(bench: Bench, view: Any) -> None:
    """Dragging from end to end, then the wheel."""
    from tests.bench.ui_bench import rest, say

    bar = view.verticalScrollBar()
    ways = {"drag": lambda step: bar.maximum() * step // STEPS, "wheel": lambda step: 30_000 + 120 * step}
    for name, place in ways.items():
        bench.probe.begin(f"scroll, {name}")
        times = []
        for step in range(STEPS):
            began = time.perf_counter()
            bar.setValue(place(step))
            view.viewport().repaint()
            bench.app.processEvents()
            times.append(time.perf_counter() - began)
        times.sort()
        middle, late, worst = (times[int((STEPS - 1) * share)] * 1000 for share in (0.5, 0.95, 1.0))
        say(
            f"  {f'scroll by {name}, {STEPS} steps':<34} median {middle:.1f} ms a step, 95 % {late:.1f}, "
            f"worst {worst:.1f} ms"
        )
        rest(bench.app, 0.3)


def use_runs() -> None:
    """The history page of one project."""
    bench = Bench()
    results = bench.window.context.results
    bench.step("open a run", lambda: results.open_run("h5"), lambda: results.result is not None)
    pages: list[Any] = []
    bench.step(
        "open History",
        lambda: pages.append(bench.window.show_page("history")),
        lambda: pages[0].rows.shown_count() > 5,
    )
    page = pages[0]
    bench.step("sort by score", lambda: page.table.sort_by("score"), lambda: True)
    bench.step("filter", lambda: page.filter.setText("99"), lambda: 0 < page.rows.shown_count() < 1_000)


# ---- command line


def _child(tree: Path, home: Path, *words: str) -> None:
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "ARENA_KEYRING": "memory", "PYTHONPATH": str(tree)}
    env.update(ARENA_HOME=str(home), BENCH_HOME=str(home), OPENBLAS_NUM_THREADS="1")
    subprocess.run([sys.executable, __file__, *words], env=env, cwd=tree, check=True)


def _in_turn(home: Path, calls: int, runs: int, trees: list[Path]) -> None:
    from tests.bench.ui_bench import say

    answers, history = home / f"answers-{calls}", home / f"runs-{runs}"
    if not (answers / "arena.sqlite").exists():
        make_answers(answers, calls)
    if not (history / "arena.sqlite").exists():
        make_runs(history, runs)
    for number, tree in enumerate(trees, start=1):
        say(f"{calls:,} stored answers, tree {number}")
        _child(tree, answers, "use-answers", f"run_{calls}")
        say(f"{runs:,} stored runs")
        _child(tree, history, "use-runs")


def main() -> None:
    """Either the report, or one of its children."""
    if sys.argv[1:2] == ["use-answers"]:
        use_answers(sys.argv[2])
        os._exit(0)
    if sys.argv[1:2] == ["use-runs"]:
        use_runs()
        os._exit(0)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--home", type=Path, help="keeps the stores here")
    parser.add_argument("--tree", type=Path, action="append", help="a tree to measure; several in turn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _in_turn((given.home or Path(folder)).absolute(), given.calls, given.runs, given.tree or [ROOT])


if __name__ == "__main__":
    main()

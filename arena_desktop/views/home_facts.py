"""What Home reads from disk, away from the GUI thread: which folders are there, results, unfinished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from arena_desktop.itemmodels.recent import Best
from arena_desktop.wording.home import best_chip, passed_words
from engine.domain import RunInfo, RunStatus
from engine.errors import UserError

if TYPE_CHECKING:
    from engine.storage.rows import StoredRun
    from engine.storage.shelf import Shelf
    from engine.storage.store import Store

UNFINISHED = frozenset({RunStatus.INTERRUPTED, RunStatus.CANCELLED, RunStatus.STOPPED_BUDGET})
"""States of a run that can be carried on."""
_LOOKED_AT = 50
_SHOWN = 2
_RESULTS_LOOKED_AT = 6


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """`found` and `best` by project path; `unfinished` newest first."""

    found: Mapping[str, bool] = field(default_factory=dict)
    best: Mapping[str, Best] = field(default_factory=dict)
    unfinished: tuple[RunInfo, ...] = ()


def missing_calls(run: RunInfo) -> int:
    """How many planned questions have neither an answer nor a final failure."""
    return max(0, run.planned - run.completed - run.errors)


def rest_cost(run: RunInfo) -> Decimal | None:
    """What the missing questions cost if they cost as much as those before; None = not known."""
    finished = run.completed + run.errors
    if run.cost_usd is None or finished == 0:
        return None
    return run.cost_usd / finished * missing_calls(run)


def read_facts(paths: Iterable[str], open_store: Callable[[], Store] | None) -> HomeFacts:
    """Reads everything. `open_store` None = nothing was ever run. Raises the store's WorldErrors.

    A history inside a project speaks of that project only: it may have come from anybody.
    """
    paths = tuple(paths)
    found = {path: Path(path).exists() for path in paths}
    if open_store is None:
        return HomeFacts(found)
    with _everything(open_store()) as shelf:
        there = [path for path in paths if found[path]]
        best = {path: told for path in there if (told := _best_of(shelf, path)) is not None}
        runs = [run for run in shelf.runs(None, _LOOKED_AT) if _speaks_of(run, shelf, run.project_root)]
        return HomeFacts(found, best, unfinished_runs(runs))


@contextmanager
def _everything(main: Store) -> Iterator[Shelf]:
    """The user's history with those of all projects that were opened here; only they are closed again."""
    from engine.storage.known_stores import known_stores
    from engine.storage.shelf import Shelf

    everything = Shelf(main)
    try:
        for path in known_stores():
            everything.add(path)
        yield everything
    finally:
        for store in everything.stores[1:]:
            store.close()


def _speaks_of(run: RunInfo, shelf: Shelf, folder: Path | None) -> bool:
    from engine.config.output_places import lies_in

    if run.store is None or run.store == shelf.main.path:
        return True
    return lies_in(run.store, folder)


def unfinished_runs(runs: Iterable[RunInfo]) -> tuple[RunInfo, ...]:
    """The runs worth carrying on: the newest of their project, stopped, with questions left."""
    seen: set[object] = set()
    wanted = []
    for run in runs:
        project = run.project_root or run.project
        if project in seen:
            continue
        seen.add(project)
        if run.status in UNFINISHED and missing_calls(run) > 0:
            wanted.append(run)
    return tuple(wanted[:_SHOWN])


def _best_of(shelf: Shelf, path: str) -> Best | None:
    """The newest result of a run that got to its end; only without one that of a run that stopped."""
    runs = [run for run in shelf.runs(path, _RESULTS_LOOKED_AT) if _speaks_of(run, shelf, Path(path))]
    ended = [run for run in runs if run.status is not RunStatus.RUNNING]
    for run in sorted(ended, key=lambda run: run.status in UNFINISHED):
        best = best_of(shelf.run(run.run_id))
        if best is not None:
            return best
    return None


def best_of(stored: StoredRun) -> Best | None:
    """The result of a run in a few words; None where it has no board."""
    if not stored.board:
        return None
    # Only where there are results: the first page must not wait for what reads them.
    from engine.stats.board_json import board_from_json

    try:
        board = board_from_json(stored.board)
    except UserError:
        # Opening the run says what is wrong with its result; the list of projects only leaves it out.
        return None
    chip = best_chip(board)
    if chip:
        return Best(chip=chip)
    winner = next((entry for entry in board.entries if entry.model_key == board.winner), None)
    if winner is None:
        return None
    keys = [model.key for model in stored.models]
    index = keys.index(winner.model_key) if winner.model_key in keys else None
    return Best(winner.label, index, passed_words(winner.passed_cases, winner.scored_cases))

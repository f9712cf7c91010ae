"""How the worlds of the result pages write a run into a store: its head, and its end with the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.domain import Case
from engine.execution.board_rows import board_rows
from engine.execution.stored_board import stored_input
from engine.stats.board_json import board_to_json
from engine.stats.leaderboard import build_board
from engine.storage.records import RunHead, RunModel
from engine.storage.store import Store
from tests.storage import samples


def head_of(
    run_id: str,
    config: Mapping[str, Any],
    models: Sequence[RunModel],
    tests: tuple[Case, ...],
    trials: int = 1,
) -> RunHead:
    """The head of a run of all these models over all these tests."""
    keys = tuple(model.key for model in models)
    return replace(
        samples.head(run_id, models=keys, trials=trials),
        config=config,
        models=tuple(models),
        cases=tests,
        cells=list(samples.cells(keys, tuple(test.id for test in tests), trials)),
    )


def finish(store: Store, run_id: str) -> None:
    """Ends a run with the board that its answers give."""
    board = build_board(stored_input(store, run_id))
    document = board_to_json(board)
    store.finish_run(
        run_id,
        replace(
            samples.finish(),
            board=document,
            rows=board_rows(board),
            winner=board.winner,
            verdict=document["verdict"],
        ),
    )

"""The leaderboard of a run that still goes on, from what its store holds now."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from arena_desktop.desks.result_desk import Result
from arena_desktop.desks.run_desk import RunBegan
from engine.domain import RunStatus
from engine.errors import Cancelled
from engine.stats.leaderboard import BoardInput, build_board
from engine.storage.store import Store


def live_result(store: Store, run_id: str, began: RunBegan, should_stop: Callable[[], bool]) -> Result | None:
    """Works the board out. None before the first answer. For a background thread."""
    calls = list(store.iter_calls(run_id, texts=False))
    if not calls:
        return None
    config, plan = began.project.config, began.plan
    widths = plan.lane_widths
    data = BoardInput(
        config=config,
        entries=tuple(entry for entry in config.models if entry.enabled),
        cases=plan.cases,
        calls=calls,
        cards={model.entry.key: model.card for model in plan.models},
        skipped=plan.skipped,
        planned=plan.planned,
        trials=plan.trials,
        status=RunStatus.RUNNING,
        widths={model.entry.key: widths[model.lane] for model in plan.models},
        # What marking costs is told when the run ends.
        marking_usd=None if plan.judge is not None or plan.embedders else Decimal(0),
    )
    board = build_board(data, should_stop=should_stop)
    if should_stop():
        raise Cancelled
    return Result(store.run(run_id), board, live=True)

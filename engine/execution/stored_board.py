"""A stored run as the input of statistics: what its leaderboard was, or would now be, built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from engine.config.schema import Card, Config
from engine.domain import CallDone
from engine.errors import Cancelled
from engine.pricing import PriceBook
from engine.project import config_from_snapshot
from engine.stats.inputs import BoardInput
from engine.storage.rows import StoredRun
from engine.storage.store import Store

_ASK_EVERY = 4_096


def stored_config(stored: StoredRun) -> Config:
    """The config a run was made with, under the seed it was planned with."""
    config = config_from_snapshot(stored.config)
    if stored.seed is not None and stored.seed != config.run.seed:
        config = replace(config, run=replace(config.run, seed=stored.seed))
    return config


def stored_calls(
    store: Store, run_id: str, *, should_stop: Callable[[], bool] | None = None
) -> list[CallDone]:
    """The calls of a run without their long parts. Raises `Cancelled` on a yes."""
    calls = []
    for number, call in enumerate(store.iter_calls(run_id, texts=False)):
        if number % _ASK_EVERY == 0 and should_stop is not None and should_stop():
            raise Cancelled
        calls.append(call)
    return calls


def board_input(stored: StoredRun, calls: Sequence[CallDone], config: Config | None = None) -> BoardInput:
    """Everything a board of this run is built from.

    Gates go by the facts that are known now: the project's own, else those of the catalogue.
    `config` None = as the run was made. Widths and waits are those of the run.
    """
    config = config or stored_config(stored)
    entries = tuple(entry for entry in config.models if entry.enabled)
    lanes = {entry.key: stored.lanes.get(entry.provider or "", {}) for entry in entries}
    return BoardInput(
        config=config,
        entries=entries,
        cards=_cards(stored, config),
        cases=stored.cases,
        calls=calls,
        skipped=stored.skipped,
        planned=stored.info.planned,
        trials=stored.info.trials,
        status=stored.info.status,
        waits={name: float(_figure(lane, "waited_s") or 0.0) for name, lane in stored.lanes.items()},
        widths={key: int(width) for key, lane in lanes.items() if (width := _figure(lane, "configured"))},
        marking_usd=_spent_on_marking(stored),
    )


def stored_input(store: Store, run_id: str, *, should_stop: Callable[[], bool] | None = None) -> BoardInput:
    """`board_input` of a run as it was made, read from the store."""
    stored = store.run(run_id)
    return board_input(stored, stored_calls(store, stored.info.run_id, should_stop=should_stop))


def _cards(stored: StoredRun, config: Config) -> Mapping[str, Card]:
    book = PriceBook.for_config(config, stored.info.project_root or Path())
    links = {connection.id: connection for connection in config.connections}
    return {
        entry.key: book.card(entry, links[entry.provider])
        for entry in config.models
        if entry.enabled and entry.provider in links
    }


def _spent_on_marking(stored: StoredRun) -> Decimal | None:
    """What the run's notes say that marking cost; None = a part of it is not known."""
    told = [note.values.get("usd") for note in stored.notes if note.code in ("judge_cost", "embed_cost")]
    if any(usd is None for usd in told):
        return None
    return sum((Decimal(str(usd)) for usd in told), Decimal(0))


def _figure(lane: Any, name: str) -> float | None:
    value = lane.get(name) if isinstance(lane, Mapping) else None
    return value if isinstance(value, int | float) else None

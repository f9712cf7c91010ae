"""What a board is built from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from engine.config.schema import Card, Config, ModelEntry
from engine.domain import CallDone, Case, RunStatus, SkippedModel


@dataclass(frozen=True, slots=True)
class BoardInput:
    """Everything a board is built from.

    `entries` are all compared models, skipped ones included; `cards` the merged facts by model key
    (an entry without one uses its own card); `cases` the planned cases; `calls` at most one per
    planned cell, read as often as boards are built from them, so never a mere iterator. `waits` is
    seconds waited by connection id. `widths` is each model's lane width, for the minutes of the
    planner; without it they are not known. `marking_usd` is what marking these calls cost beside the
    answers (a judge, embeddings), None = not known.
    """

    config: Config
    entries: tuple[ModelEntry, ...]
    cards: Mapping[str, Card]
    cases: tuple[Case, ...]
    calls: Iterable[CallDone]
    skipped: tuple[SkippedModel, ...] = ()
    planned: int = 0
    trials: int = 1
    status: RunStatus = RunStatus.COMPLETED
    waits: Mapping[str, float] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    marking_usd: Decimal | None = Decimal(0)


def seeds(config: Config) -> tuple[int, int]:
    """The seeds of everything random in the statistics: that of the statistics and of the run."""
    return abs(config.statistics.seed), abs(config.run.seed or 0)

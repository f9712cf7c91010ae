"""A leaderboard as the store keeps it beside its run."""

from __future__ import annotations

from engine.stats.board import Entry, Leaderboard
from engine.storage.records import BoardRow


def board_rows(board: Leaderboard) -> tuple[BoardRow, ...]:
    """The rows of a board as columns, for history queries."""
    return tuple(_row(entry, board.deciding) for entry in board.entries)


def _row(entry: Entry, deciding: str) -> BoardRow:
    return BoardRow(
        model_key=entry.model_key,
        label=entry.label,
        status=entry.status.value,
        rank=entry.rank,
        composite=entry.composite,
        score=_raw(entry, deciding),
        low=entry.interval.low if entry.interval else None,
        high=entry.interval.high if entry.interval else None,
        coverage=entry.coverage,
        latency_p50_ms=entry.latency_p50_ms,
        latency_p95_ms=entry.latency_p95_ms,
        cost_usd=entry.total_cost_usd,
        cost_per_1k_usd=entry.cost_per_1k_usd,
        scored_cases=entry.scored_cases,
        passed_cases=entry.passed_cases,
        metrics={name: value.raw for name, value in entry.metrics.items()},
    )


def _raw(entry: Entry, metric: str) -> float | None:
    value = entry.metrics.get(metric)
    return value.raw if value else None

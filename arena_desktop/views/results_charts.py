"""A leaderboard as charts: bars with their likely ranges, and cost against score."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from arena_desktop.charts.data import Bar, Bars, CostPoint, CostScore, Measure
from arena_desktop.itemmodels.leaderboard import BoardRow
from arena_desktop.wording import formats
from engine.stats.board import Leaderboard


def _tr(text: str) -> str:
    return QCoreApplication.translate("ResultCharts", text)


def _measure(row: BoardRow) -> Measure | None:
    if row.score is None:
        return None
    low = row.interval.low * 100 if row.interval else None
    high = row.interval.high * 100 if row.interval else None
    return Measure(row.score * 100, low, high, formats.points(row.score))


def score_bars(rows: Sequence[BoardRow]) -> Bars:
    """Every model's overall score as a bar, in the order of the table."""
    heads = (_tr("Model"), _tr("Overall score"), _tr("Likely between"))
    return Bars(tuple(Bar(r.head.label, r.head.index, _measure(r), r.out) for r in rows), heads)


def knows_prices(board: Leaderboard) -> bool:
    """Whether cost against score says anything: some model costs something."""
    return any(entry.cost_per_1k_usd for entry in board.entries)


def cost_points(rows: Sequence[BoardRow]) -> CostScore:
    """Cost of 100 answers against the overall score; models without either stay out of the picture."""
    points = []
    for row in rows:
        cost = row.entry.cost_per_1k_usd
        points.append(
            CostPoint(
                name=row.head.label,
                index=row.head.index,
                cost=None if cost is None else cost / 10,
                cost_text=formats.per_100(cost),
                score=_measure(row),
                muted=row.out,
                strong=row.first,
            )
        )
    heads = (_tr("Model"), _tr("Cost per 100"), _tr("Overall score"))
    return CostScore(tuple(points), _tr("Cost per 100 answers"), _tr("free"), heads, money=_dollars)


def _dollars(value: float) -> str:
    return formats.money(value) if value else _tr("free")

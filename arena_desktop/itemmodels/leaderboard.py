"""The leaderboard as records and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import (
    UNKNOWN,
    Align,
    Cell,
    ChipCell,
    Column,
    IconTextCell,
    Link,
    ModelCell,
    PlaceCell,
    ScoreCell,
    Tie,
    Tone,
)
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.wording import formats
from arena_desktop.wording.board import score_spoken
from arena_desktop.wording.exact import small_money
from arena_desktop.wording.metrics import metric_name, metric_value
from arena_desktop.wording.reasons import reason_sentence, short_reason
from engine.stats.board import Entry, EntryStatus, Interval, Leaderboard

_MUST_HAVES = frozenset({"privacy_undeclared", "features_unknown", "context_unknown", "cannot_verify"})
_NEUTRAL = frozenset({"no_key", "not_asked", "no_trust", "incomplete"})


def _tr(text: str) -> str:
    return QCoreApplication.translate("LeaderboardTable", text)


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One model. `tied`: one of those too close to tell apart; `tie` is its piece of their bracket."""

    entry: Entry
    head: ModelHead
    place: int | None
    score: float | None
    interval: Interval | None
    tie: Tie = Tie.NONE
    first: bool = False
    must_haves: bool = False
    names: Mapping[str, str] | None = None
    tied: bool = False

    @property
    def key(self) -> str:
        """The model."""
        return self.entry.model_key

    @property
    def out(self) -> bool:
        """Whether it has no place and never could: drawn grey."""
        return self.entry.status in (EntryStatus.FAILED, EntryStatus.NO_DATA)

    @property
    def meets(self) -> bool:
        """Whether no must-have speaks against it."""
        return not self.entry.failures


def board_rows(board: Leaderboard, heads: Mapping[str, ModelHead], *, must_haves: bool) -> list[BoardRow]:
    """The rows best first, with their parts of the bracket in that order."""
    names = {entry.model_key: entry.label for entry in board.entries}
    rows = []
    for number, entry in enumerate(board.entries):
        rows.append(
            BoardRow(
                entry=entry,
                head=heads.get(entry.model_key) or ModelHead(entry.model_key, entry.label, number),
                place=entry.rank,
                score=entry.composite,
                interval=entry.composite_interval,
                first=number == 0 and entry.status is EntryStatus.RANKED,
                must_haves=must_haves,
                names=names,
                tied=entry.model_key in board.verdict.tied and len(board.verdict.tied) > 1,
            )
        )
    return bracketed(rows)


def bracketed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The rows with the pieces of the bracket that their order asks for.

    Neighbours share a piece. The group may be parted: by weights, by another order, by a filter.
    """
    found = []
    for number, row in enumerate(rows):
        above = number > 0 and rows[number - 1].tied
        below = number + 1 < len(rows) and rows[number + 1].tied
        tie = _PIECES[above, below] if row.tied else Tie.NONE
        found.append(row if row.tie is tie else replace(row, tie=tie))
    return found


_PIECES = {
    (False, True): Tie.FIRST,
    (True, True): Tie.MIDDLE,
    (True, False): Tie.LAST,
    (False, False): Tie.ALONE,
}


def _score_cell(row: BoardRow) -> ScoreCell:
    if row.score is None:
        return ScoreCell(None)
    low = row.interval.low * 100 if row.interval else None
    high = row.interval.high * 100 if row.interval else None
    return ScoreCell(row.score * 100, low, high, formats.points(row.score))


def _passed(row: BoardRow) -> str:
    if not row.entry.scored_cases:
        return UNKNOWN
    return _tr("{passed} of {tests}").format(
        passed=formats.whole(row.entry.passed_cases), tests=formats.whole(row.entry.scored_cases)
    )


def _answered(row: BoardRow) -> str:
    asked = row.entry.answered + row.entry.errors
    if not asked:
        return UNKNOWN
    return _tr("{answered} of {asked}").format(
        answered=formats.whole(row.entry.answered), asked=formats.whole(asked)
    )


def must_have_cell(row: BoardRow) -> Cell:
    """Whether the model meets the must-haves, or why it has no place."""
    if row.entry.failures:
        reason = row.entry.failures[0]
        links = (Link("key", _tr("Add key…")),) if reason.code == "no_key" else ()
        tone = Tone.NEUTRAL if reason.code in _NEUTRAL else Tone.WARN
        return ChipCell(short_reason(reason), tone, "key" if links else "", links)
    if row.entry.status is EntryStatus.INCOMPLETE:
        return ChipCell(_tr("Too few answers"), Tone.NEUTRAL)
    if any(warning.code in _MUST_HAVES for warning in row.entry.warnings):
        return IconTextCell("info", _tr("Not all stated"), "text2")
    if not row.must_haves:
        return IconTextCell("", _tr("No must-haves"), tone="text3")
    return IconTextCell("check", _tr("Meets all"))


def _must_have_text(row: BoardRow) -> str:
    cell = must_have_cell(row)
    return cell.text if isinstance(cell, ChipCell | IconTextCell) else ""


def row_remarks(row: BoardRow) -> str:
    """Everything that must be known about a model, as sentences."""
    reasons = (*row.entry.failures, *row.entry.warnings)
    return " ".join(dict.fromkeys(reason_sentence(reason, row.names) for reason in reasons))


def _place(row: BoardRow) -> str:
    return UNKNOWN if row.place is None else formats.whole(row.place)


def _place_spoken(row: BoardRow) -> str:
    if row.place is None:
        return _tr("no place")
    text = _tr("place {place}").format(place=row.place)
    return (
        text
        if row.tie is Tie.NONE
        else f"{text}, {_tr('too close to tell apart from the others in the bracket')}"
    )


def _raw(row: BoardRow, metric: str) -> float | None:
    value = row.entry.metrics.get(metric)
    return value.raw if value is not None else None


def leaderboard_columns(metrics: Sequence[str] = ()) -> list[Column[BoardRow]]:
    """All columns; `metrics` are the project's own measures, which get hidden ones of their own."""
    return [*_main_columns(), *_more_columns(), *[_own_column(name) for name in metrics]]


def _main_columns() -> list[Column[BoardRow]]:
    return [
        Column("place", _tr("Place"), _place, cell=lambda r: PlaceCell(_place(r), r.tie),
               sort=lambda r: r.place, spoken=_place_spoken, width=64, minimum=60, can_hide=False),
        Column("model", _tr("Model"), lambda r: r.head.label,
               cell=lambda r: ModelCell(r.head.label, r.head.index, r.head.suffix, strong=r.first),
               tip=row_remarks, width=190, stretch=2, can_hide=False),
        Column("passed", _tr("Tests passed"), _passed,
               sort=lambda r: r.entry.passed_cases / r.entry.scored_cases if r.entry.scored_cases else None,
               align=Align.RIGHT, width=110, drop=2),
        Column("score", _tr("Overall score"), lambda r: formats.out_of_100(r.score), cell=_score_cell,
               sort=lambda r: r.score, spoken=_score_spoken, width=238, stretch=1, minimum=160,
               align=Align.LEFT),
        Column("cost", _tr("Cost per 100"), lambda r: formats.per_100(r.entry.cost_per_1k_usd),
               sort=lambda r: r.entry.cost_per_1k_usd, align=Align.RIGHT, width=106),
        Column("wait", _tr("Usual wait"), lambda r: formats.waiting(r.entry.latency_p50_ms),
               sort=lambda r: r.entry.latency_p50_ms, align=Align.RIGHT, width=84, drop=1,
               help=_tr("Half of the answers came faster than this.")),
        Column("must", _tr("Must-haves"), _must_have_text, cell=must_have_cell, tip=row_remarks,
               spoken=lambda r: f"{_must_have_text(r)}. {row_remarks(r)}".strip(), width=196,
               minimum=150),
    ]  # fmt: skip


def _score_spoken(row: BoardRow) -> str:
    interval = row.interval
    return score_spoken(row.score, interval.low if interval else None, interval.high if interval else None)


def _more_columns() -> list[Column[BoardRow]]:
    right = Align.RIGHT
    return [
        Column("right", _tr("Getting it right"), lambda r: metric_value("accuracy", _raw(r, "accuracy")),
               sort=lambda r: _raw(r, "accuracy"), align=right, width=120, hidden=True),
        Column("answered", _tr("Came back"), _answered,
               sort=lambda r: _raw(r, "reliability"), align=right, width=110, hidden=True,
               help=_tr("Questions that came back with an answer. The others are not counted as wrong.")),
        Column("right_cost", _tr("Cost of a right answer"),
               lambda r: small_money(r.entry.cost_per_correct_usd),
               sort=lambda r: r.entry.cost_per_correct_usd, align=right, width=150, hidden=True,
               help=_tr("What the marked answers cost, shared by the tests that were passed.")),
        Column("first_word", _tr("First word"), lambda r: formats.waiting(r.entry.first_token_p50_ms),
               sort=lambda r: r.entry.first_token_p50_ms, align=right, width=100, hidden=True,
               help=_tr("Half of the streamed answers showed their first word faster than this.")),
        Column("slowest", _tr("Slowest answers"), lambda r: formats.waiting(r.entry.latency_p95_ms),
               sort=lambda r: r.entry.latency_p95_ms, align=right, width=124, hidden=True,
               help=_tr("19 of 20 answers came faster than this.")),
        Column("chance", _tr("Comes first"), _chance, sort=lambda r: r.entry.chance_first, align=right,
               width=110, hidden=True,
               help=_tr("How often it comes first when the tests are drawn again.")),
        Column("spent", _tr("Spent"), lambda r: formats.money_cell(_spent(r)), sort=_spent, align=right,
               width=90, hidden=True),
        Column("remarks", _tr("Remarks"), row_remarks, tip=row_remarks, width=260, hidden=True,
               tone="text2"),
    ]  # fmt: skip


def _spent(row: BoardRow) -> Decimal | None:
    """What a model cost. Without a single priced answer, nothing spent does not mean that it is free."""
    total = row.entry.total_cost_usd
    return None if total == 0 and row.entry.cost_per_1k_usd is None else total


def _chance(row: BoardRow) -> str:
    if row.entry.chance_first is None:
        return UNKNOWN
    return _tr("{share} of 100").format(share=formats.points(row.entry.chance_first))


def _own_column(metric: str) -> Column[BoardRow]:
    return Column(
        f"metric_{metric}",
        metric_name(metric),
        lambda r: metric_value(metric, _raw(r, metric)),
        sort=lambda r: _raw(r, metric),
        align=Align.RIGHT,
        width=120,
        hidden=True,
    )

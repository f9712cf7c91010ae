"""The saved runs of a project, and two of them side by side, as records and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import (
    UNKNOWN,
    Align,
    Cell,
    ChangeCell,
    ChipCell,
    Column,
    IconTextCell,
    Link,
    ModelCell,
    Tone,
)
from arena_desktop.itemmodels.lanes import ModelHead, model_cell
from arena_desktop.wording import compare as compared
from arena_desktop.wording import formats
from arena_desktop.wording.history import state_text
from arena_desktop.wording.metrics import metric_name, metric_value
from engine.domain import RunInfo, RunStatus
from engine.stats.compare import ModelChange
from engine.stats.samples import SHARES
from engine.storage.records import BoardRow


def _tr(text: str) -> str:
    return QCoreApplication.translate("HistoryTable", text)


# ---- runs


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One saved run. `best` None = no winner; `chosen` = its box is ticked.

    `metric` is the one its score is measured by, `usual` that of the column. `figures` are the
    winner's, None where they were not read.
    """

    info: RunInfo
    best: ModelHead | None
    chosen: bool = False
    can_carry_on: bool = False
    metric: str = "accuracy"
    usual: str = "accuracy"
    figures: BoardRow | None = None


_STATES: dict[RunStatus, tuple[Tone | None, str]] = {
    RunStatus.RUNNING: (None, "run"),
    RunStatus.COMPLETED: (None, "check"),
    RunStatus.CANCELLED: (Tone.NEUTRAL, "stop"),
    RunStatus.STOPPED_BUDGET: (Tone.WARN, "warn"),
    RunStatus.FAILED_FAST: (Tone.WARN, "warn"),
    RunStatus.ABORTED: (Tone.BAD, "bad"),
    RunStatus.INTERRUPTED: (Tone.WARN, "warn"),
}


def _state_cell(row: HistoryRow) -> Cell:
    tone, icon = _STATES[row.info.status]
    links = (Link("carry_on", _tr("Carry on")),) if row.can_carry_on else ()
    text = state_text(row.info)
    if tone is None:
        return IconTextCell(icon, text, "good" if icon == "check" else "accent", links=links)
    return ChipCell(text, tone, icon, links)


def _best(row: HistoryRow) -> Cell | None:
    return ModelCell(row.best.label, row.best.index) if row.best is not None else None


def _spent(cost: Decimal | None) -> str:
    return formats.money_cell(cost)


def history_columns(
    choose: Callable[[HistoryRow, bool], None], metric: str = "accuracy"
) -> list[Column[HistoryRow]]:
    """The columns of the history; `choose` takes the ticks, `metric` is the one that decides."""
    right = Align.RIGHT
    return [
        Column("chosen", "", lambda _r: "", checked=lambda r: r.chosen, check=choose, width=44, minimum=44,
               sortable=False, can_hide=False,
               spoken=lambda r: _tr("Run {number} chosen").format(number=r.info.number)
               if r.chosen else _tr("Run {number} not chosen").format(number=r.info.number)),
        Column("number", _tr("Run"), lambda r: str(r.info.number), sort=lambda r: r.info.number,
               weight="strong", width=64, can_hide=False),
        Column("when", _tr("When"), lambda r: formats.when(r.info.started_at),
               sort=lambda r: r.info.started_at, width=130, minimum=104, tone="text2"),
        Column("tests", _tr("Tests"), lambda r: formats.whole(r.info.cases), sort=lambda r: r.info.cases,
               align=right, width=72, drop=2),
        Column("models", _tr("Models"), lambda r: formats.whole(r.info.models),
               sort=lambda r: r.info.models, align=right, width=80, drop=1),
        Column("best", _tr("Best"), lambda r: r.best.label if r.best else UNKNOWN, cell=_best,
               width=170, stretch=1),
        Column("score", metric_name(metric), _score, sort=_sortable, spoken=_score_spoken,
               align=right, weight="strong", width=120, drop=5),
        Column("passed", _tr("Tests passed"), _passed,
               sort=lambda r: r.figures.passed_cases if r.figures else None, align=right, width=110,
               hidden=True),
        Column("cost", _tr("Cost per 100"),
               lambda r: formats.per_100(r.figures.cost_per_1k_usd if r.figures else None),
               sort=lambda r: r.figures.cost_per_1k_usd if r.figures else None, align=right, width=106,
               hidden=True),
        Column("wait", _tr("Usual wait"),
               lambda r: formats.waiting(r.figures.latency_p50_ms if r.figures else None),
               sort=lambda r: r.figures.latency_p50_ms if r.figures else None, align=right, width=96,
               hidden=True),
        Column("spent", _tr("Spent"), lambda r: _spent(r.info.cost_usd), sort=lambda r: r.info.cost_usd,
               align=right, width=96, drop=4),
        Column("state", _tr("State"), lambda r: state_text(r.info), cell=_state_cell, width=216, minimum=150),
        Column("note", _tr("Note"), lambda r: r.info.label, tip=lambda r: r.info.label, width=130, drop=3,
               tone="text2"),
    ]  # fmt: skip


def _score(row: HistoryRow) -> str:
    """The winner's deciding metric; under another name than the column's it is named."""
    score = row.info.winner_score
    if score is None:
        return UNKNOWN
    shown = formats.out_of_100(score) if row.metric in SHARES else metric_value(row.metric, score)
    return shown if row.metric == row.usual else f"{metric_name(row.metric)}: {shown}"


def _score_spoken(row: HistoryRow) -> str:
    return f"{metric_name(row.metric)}: {metric_value(row.metric, row.info.winner_score)}"


def _sortable(row: HistoryRow) -> float | None:
    """Values of other metrics stand last: they cannot be compared."""
    return row.info.winner_score if row.metric == row.usual else None


def _passed(row: HistoryRow) -> str:
    figures = row.figures
    if figures is None or not figures.scored_cases:
        return UNKNOWN
    return _tr("{passed} of {tests}").format(
        passed=formats.whole(figures.passed_cases), tests=formats.whole(figures.scored_cases)
    )


# ---- two runs


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One model in two runs. `change` None = it took part in one of them only (`missing` = the other)."""

    head: ModelHead
    deciding: str
    change: ModelChange | None
    missing: int | None = None

    @property
    def key(self) -> str:
        """The model."""
        return self.head.key


def compare_rows(
    changes: Sequence[ModelChange], heads: Mapping[str, ModelHead], deciding: str
) -> list[CompareRow]:
    """The models that took part in both, in project order."""
    found = {change.model_key: change for change in changes}
    return [CompareRow(head, deciding, found[key]) for key, head in heads.items() if key in found]


def _change_cell(row: CompareRow) -> Cell | None:
    change = row.change
    if change is None:
        return IconTextCell("", _change_text(row), tone="text3")
    text, tone = compared.change_words(change)
    before, after = change.before.mean, change.after.mean
    known = before is not None and after is not None and 0 <= before <= 1 and 0 <= after <= 1
    if not known or before is None or after is None:
        return ChangeCell(None, None, text, tone)
    return ChangeCell(before * 100, after * 100, text, tone)


def _change_text(row: CompareRow) -> str:
    if row.change is None:
        return compared.not_in(row.missing or 0)
    return compared.change_words(row.change)[0]


def _metric(row: CompareRow, name: str, *, after: bool) -> float | None:
    if row.change is None:
        return None
    side = row.change.after if after else row.change.before
    return side.metrics.get(name)


def _cost(row: CompareRow) -> str:
    return compared.cost_change(_metric(row, "cost", after=False), _metric(row, "cost", after=True))


def _wait(row: CompareRow) -> str:
    if row.change is None:
        return UNKNOWN
    return compared.wait_change(row.change.before.latency_p50_ms, row.change.after.latency_p50_ms)


def _moved(row: CompareRow) -> int | None:
    return None if row.change is None else len(row.change.better) - len(row.change.worse)


def compare_columns() -> list[Column[CompareRow]]:
    """The columns of Compare."""
    right = Align.RIGHT
    return [
        Column("model", _tr("Model"), lambda r: r.head.label, cell=lambda r: model_cell(r.head),
               width=220, stretch=1, can_hide=False),
        Column("before", _tr("Passed before"),
               lambda r: compared.passed_of(r.change.before) if r.change else UNKNOWN,
               sort=lambda r: r.change.before.passed_cases if r.change else None, align=right, width=124),
        Column("after", _tr("Passed now"),
               lambda r: compared.passed_of(r.change.after) if r.change else UNKNOWN,
               sort=lambda r: r.change.after.passed_cases if r.change else None, align=right, width=108),
        Column("change", _tr("Change"), _change_text, cell=_change_cell, sort=_moved,
               spoken=lambda r: compared.change_spoken(r.change, r.deciding) if r.change
               else _change_text(r), width=290, minimum=230),
        Column("cost", _tr("Cost per 100"), _cost, align=right, width=116, drop=1),
        Column("wait", _tr("Usual wait"), _wait, align=right, width=116, drop=2),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class MovedRow:
    """A test that went another way for one model."""

    number: int
    case_id: str
    title: str
    question: str
    before: bool | None
    after: bool | None
    better: bool


def _mark(passed: bool | None) -> Cell:
    if passed is None:
        return IconTextCell("minus", _tr("No mark"), "text3")
    if passed:
        return IconTextCell("check", _tr("Pass"), "good", "text")
    return IconTextCell("close", _tr("Fail"), "bad", "text")


def _mark_text(passed: bool | None) -> str:
    cell = _mark(passed)
    return cell.text if isinstance(cell, IconTextCell) else ""


def moved_columns(before: str, after: str) -> list[Column[MovedRow]]:
    """The columns of the tests that changed; the titles of the two runs are handed in."""
    return [
        Column(
            "number", _tr("No."), lambda r: str(r.number), sort=lambda r: r.number, tone="text2", width=56
        ),
        Column("test", _tr("Test"), lambda r: r.title, weight="name", width=200),
        Column("question", _tr("Question"), lambda r: r.question, tone="text2", width=320, stretch=1),
        Column("before", before, lambda r: _mark_text(r.before), cell=lambda r: _mark(r.before), width=110),
        Column("after", after, lambda r: _mark_text(r.after), cell=lambda r: _mark(r.after), width=110),
    ]

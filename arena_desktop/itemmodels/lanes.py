"""The models of a run as records and columns: before it and while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import (
    UNKNOWN,
    Align,
    Cell,
    ChipCell,
    Column,
    IconTextCell,
    LaneCell,
    Link,
    ModelCell,
    ProgressCell,
    Tone,
)
from arena_desktop.desks.run_progress import ModelProgress, RunProgress
from arena_desktop.wording import formats
from arena_desktop.wording import run as words
from arena_desktop.wording.reasons import error_words
from arena_desktop.wording.setup import ready_words
from engine.domain import SkippedModel
from engine.execution.estimate import CostRange
from engine.execution.events import LaneState


def _tr(text: str) -> str:
    return QCoreApplication.translate("LanesTable", text)


@dataclass(frozen=True, slots=True)
class ModelHead:
    """What a row says about its model, whatever the run does. `index` is its place in the project; None =
    it does not compete (the model that marks)."""

    key: str
    label: str
    index: int | None
    suffix: str = ""
    service: str = ""
    free: bool = False


def model_cell(head: ModelHead) -> ModelCell:
    """The model as every table shows it."""
    return ModelCell(head.label, head.index, head.suffix)


def chip_text(cell: Cell | None) -> str:
    """The words of a state."""
    return cell.text if isinstance(cell, ChipCell | IconTextCell) else ""


# ---- before


@dataclass(frozen=True, slots=True)
class ReadyRow:
    """One model before the run. `cost` None = it is not asked."""

    head: ModelHead
    questions: int
    cost: CostRange | None
    skipped: SkippedModel | None = None
    warning: str = ""


def _usd(cost: Decimal | None) -> str:
    return formats.money(cost)


def _ready_cell(row: ReadyRow) -> Cell:
    if row.skipped is not None:
        links = (Link("key", _tr("Add key…")),) if row.skipped.code == "no_key" else ()
        icon = "key" if row.skipped.code == "no_key" else ""
        tone = Tone.NEUTRAL if row.skipped.code in ("no_key", "no_trust") else Tone.WARN
        return ChipCell(ready_words(row.skipped), tone, icon, links)
    if row.warning:
        return IconTextCell("info", _tr("Ready, with a remark"), "accentText")
    return IconTextCell("check", _tr("Ready"))


def _ready_tip(row: ReadyRow) -> str:
    if row.skipped is not None:
        return f"{row.skipped.reason} {row.skipped.fix}".strip()
    return row.warning


def ready_columns() -> list[Column[ReadyRow]]:
    """The table of the Run page before a run."""
    return [
        Column("model", _tr("Model"), lambda r: r.head.label, cell=lambda r: model_cell(r.head),
               width=220, stretch=1, can_hide=False),
        Column("questions", _tr("Questions"), lambda r: formats.whole(r.questions) if r.cost else UNKNOWN,
               sort=lambda r: r.questions if r.cost else None, align=Align.RIGHT, width=104),
        Column("likely", _tr("Cost, about"), lambda r: _usd(r.cost.likely) if r.cost else UNKNOWN,
               sort=lambda r: r.cost.likely if r.cost else None, align=Align.RIGHT, width=132),
        Column("most", _tr("At most"), lambda r: _usd(r.cost.high) if r.cost else UNKNOWN,
               sort=lambda r: r.cost.high if r.cost else None, align=Align.RIGHT, width=132),
        Column("ready", _tr("Ready?"), lambda r: chip_text(_ready_cell(r)), cell=_ready_cell,
               spoken=lambda r: f"{chip_text(_ready_cell(r))}. {_ready_tip(r)}".strip(),
               tip=_ready_tip, width=260),
    ]  # fmt: skip


# ---- while it goes on


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One model while the run goes on. `shares` = the lane is drawn in another row."""

    head: ModelHead
    done: int
    failed: int
    planned: int
    passed: int | None
    spent: str
    spent_usd: Decimal | None
    lane: LaneCell | None
    state: Cell
    why: str = ""
    left_out: bool = False


def lane_rows(
    progress: RunProgress, heads: Mapping[str, ModelHead], *, stopping: bool, ended: bool
) -> list[LaneRow]:
    """All rows of a run as it stands, in project order. Cheap: ten times a second is fine."""
    shown: set[str] = set()
    rows = []
    for key, head in heads.items():
        model = progress.models.get(key)
        if model is None:
            continue
        rows.append(_lane_row(progress, model, head, _Moment(stopping, ended, model.lane not in shown)))
        shown.add(model.lane)
    return rows


@dataclass(frozen=True, slots=True)
class _Moment:
    stopping: bool
    ended: bool
    first: bool


def _lane_row(progress: RunProgress, model: ModelProgress, head: ModelHead, moment: _Moment) -> LaneRow:
    lane = progress.lanes.get(model.lane)
    left_out = model.skipped is not None
    state, why = _state(progress, model, lane, moment)
    return LaneRow(
        head=head,
        done=model.done,
        failed=model.failed,
        planned=model.planned,
        passed=model.passed if model.scored else None,
        spent=UNKNOWN if left_out else words.spent(model.spent_usd, free=head.free),
        spent_usd=None if left_out else model.spent_usd,
        lane=None if left_out else _lane_cell(progress, model.lane, lane, moment),
        state=state,
        why=why,
        left_out=left_out,
    )


def _lane_cell(progress: RunProgress, name: str, lane: LaneState | None, moment: _Moment) -> LaneCell:
    configured = lane.configured if lane is not None else progress.widths.get(name, 0)
    width = lane.width if lane is not None else configured
    if not moment.first:
        return LaneCell(0, 0, 0, words.shares_lane(width))
    used = 0 if lane is None or moment.ended else lane.active
    return LaneCell(used, width, configured, words.lane_text(width, configured))


def _state(
    progress: RunProgress, model: ModelProgress, lane: LaneState | None, moment: _Moment
) -> tuple[Cell, str]:
    """The state of a model as a cell, and the whole reason behind it."""
    if model.skipped is not None:
        links = (Link("key", _tr("Add key…")),) if model.skipped.code == "no_key" else ()
        chip = ChipCell(ready_words(model.skipped), Tone.NEUTRAL, "key" if links else "", links)
        return chip, f"{model.skipped.reason} {model.skipped.fix}".strip()
    if model.set_aside:
        reason = words.set_aside_text(
            model.set_aside, model.last_error, others=False, until=model.aside_until
        )
        return ChipCell(words.set_aside_chip(model.set_aside), Tone.BAD), reason
    if model.planned and model.done + model.failed >= model.planned:
        return _over(model), ""
    if moment.ended:
        return ChipCell(_tr("Not finished"), Tone.NEUTRAL, "stop"), ""
    if moment.stopping:
        finishing = _tr("Finishing") if model.running else _tr("Stopped")
        return IconTextCell("stop", finishing, "text2", "text"), ""
    if progress.paused:
        paused = _tr("Finishing, then paused") if model.running else _tr("Paused")
        return ChipCell(paused, Tone.WARN, "pause"), ""
    slowed = _slowed(progress, model, lane)
    if slowed is not None:
        return slowed, ""
    return _asking(model), _last_failure(model)


def _over(model: ModelProgress) -> Cell:
    if model.failed:
        text = formats.counted(model.failed, _tr("Finished, 1 failed"), _tr("Finished, {count} failed"))
        return IconTextCell("warn", text, "warn", "text")
    return IconTextCell("check", _tr("Finished"))


def _slowed(progress: RunProgress, model: ModelProgress, lane: LaneState | None) -> Cell | None:
    """What the lane says, where it says more than the model does."""
    if lane is None or (lane.reason is None and lane.width >= lane.configured):
        return None
    left = progress.closed_for(model.lane)
    if lane.reason == "stopped":
        return ChipCell(_tr("Stopped"), Tone.BAD)
    if lane.reason == "offline":
        return ChipCell(_tr("Offline"), Tone.WARN, "globe", after=_in(left))
    if lane.reason == "limit":
        if left <= 0 or model.running:
            return None
        return IconTextCell("clock", _tr("Waiting for its turn"), "text2", "text")
    if left > 0:
        return ChipCell(_tr("Waiting {time}").format(time=_seconds(left)), Tone.WARN, "clock")
    return ChipCell(_tr("Slowed down"), Tone.WARN, "clock")


def _seconds(left: float) -> str:
    return _tr("{count} s").format(count=max(1, round(left)))


def _in(left: float) -> str:
    return _tr("tries again in {time}").format(time=_seconds(left)) if left > 0 else ""


def _asking(model: ModelProgress) -> Cell:
    if model.running:
        return IconTextCell("run", _tr("Answering"), "accent", "text")
    if model.retrying:
        return IconTextCell("clock", _tr("Waiting to try again"), "warn", "text")
    return IconTextCell("minus", _tr("Next in line"), "text3")


def _last_failure(model: ModelProgress) -> str:
    error = model.last_error
    return error_words(error.kind, error.status) if error is not None else ""


def _done_text(row: LaneRow) -> str:
    return _tr("Left out") if row.left_out else words.done_of(row.done, row.planned)


def _done_spoken(row: LaneRow) -> str:
    failed = formats.counted(row.failed, _tr("1 failed"), _tr("{count} failed")) if row.failed else ""
    return ", ".join(part for part in (_done_text(row), failed) if part)


def _done_cell(row: LaneRow) -> Cell | None:
    if row.left_out:
        return None
    planned = max(1, row.planned)
    return ProgressCell(_done_text(row), row.done / planned, row.failed / planned)


def _lane_text(row: LaneRow) -> str:
    if row.lane is None:
        return UNKNOWN
    if not row.lane.configured:
        return row.lane.text
    return _tr("{used} of {width} in use").format(used=row.lane.used, width=row.lane.width)


def lane_columns() -> list[Column[LaneRow]]:
    """The table of a run that goes on."""
    return [
        Column("model", _tr("Model"), lambda r: r.head.label, cell=lambda r: model_cell(r.head),
               width=208, stretch=1, can_hide=False),
        Column("done", _tr("Done"), _done_text, cell=_done_cell, spoken=_done_spoken,
               sort=lambda r: None if r.left_out else r.done, width=200),
        Column("passed", _tr("Passed so far"),
               lambda r: UNKNOWN if r.passed is None else formats.whole(r.passed),
               sort=lambda r: r.passed, align=Align.RIGHT, width=108, drop=2),
        Column("spent", _tr("Spent"), lambda r: r.spent, sort=lambda r: r.spent_usd,
               align=Align.RIGHT, width=84),
        Column("lane", _tr("At the same time"), _lane_text, cell=lambda r: r.lane, width=180, drop=1,
               sortable=False),
        Column("state", _tr("What is happening"), _state_text, cell=lambda r: r.state,
               spoken=lambda r: f"{_state_text(r)}. {r.why}".strip(), tip=lambda r: r.why, width=204),
    ]  # fmt: skip


def _state_text(row: LaneRow) -> str:
    after = row.state.after if isinstance(row.state, ChipCell) else ""
    return f"{chip_text(row.state)} {after}".strip()

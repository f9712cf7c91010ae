"""What became of a call, as cells; and the newest answers of a run as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Align, Cell, Column, IconTextCell
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.itemmodels.lanes import ModelHead, chip_text, model_cell
from arena_desktop.wording import formats
from arena_desktop.wording.reasons import error_words
from engine.domain import CallDone, CallStatus
from engine.domain import Cell as CallCell

PREVIEW = 160
"""Characters of an answer in a table cell."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("CallCells", text)


@dataclass(frozen=True, slots=True)
class LatestRow:
    """One of the newest answers."""

    cell: CallCell
    head: ModelHead
    text: str
    state: Cell
    wait_ms: float | None


def latest_rows(progress: RunProgress, heads: Mapping[str, ModelHead]) -> list[LatestRow]:
    """The newest answers, newest first."""
    return [_latest(call, heads[call.cell.model_key]) for call in reversed(progress.latest)
            if call.cell.model_key in heads]  # fmt: skip


def _latest(call: CallDone, head: ModelHead) -> LatestRow:
    text = one_line(call.answer.text) if call.answer is not None else ""
    if call.status is CallStatus.ERROR and call.error is not None:
        text = error_words(call.error.kind, call.error.status)
    wait = call.answer.latency_ms if call.answer is not None else None
    return LatestRow(call.cell, head, text, call_state(call), wait)


def call_state(call: CallDone) -> Cell:
    """What became of a call, as a cell."""
    passed = call.score.passed if call.score is not None else None
    return state_cell(call.status, passed)


def state_cell(status: CallStatus | None, passed: bool | None) -> Cell:
    """Passed, failed, not marked, no answer, stopped: word and icon."""
    if status is CallStatus.ERROR:
        return IconTextCell("warn", _tr("No answer"), "warn", "text")
    if status is CallStatus.STOPPED or status is None:
        return IconTextCell("minus", _tr("Not asked"), "text3")
    if passed is None:
        return IconTextCell("info", _tr("Not marked"), "text2")
    if passed:
        return IconTextCell("check", _tr("Pass"), "good", "text")
    return IconTextCell("close", _tr("Fail"), "bad", "text")


def one_line(text: str) -> str:
    """The start of an answer on one line; line ends show as a pilcrow."""
    cut = text[: PREVIEW * 2].strip()
    line = " ¶ ".join(part.strip() for part in cut.splitlines() if part.strip())
    return line if len(line) <= PREVIEW and len(cut) == len(text.strip()) else f"{line[:PREVIEW]}…"


def latest_columns() -> list[Column[LatestRow]]:
    """The list of newest answers."""
    return [
        Column("model", _tr("Model"), lambda r: r.head.label, cell=lambda r: model_cell(r.head), width=190),
        Column("test", _tr("Test"), lambda r: r.cell.case_id, width=130),
        Column("answer", _tr("Answer"), lambda r: r.text, width=300, stretch=1),
        Column("state", _tr("Mark"), lambda r: chip_text(r.state), cell=lambda r: r.state, width=120),
        Column("wait", _tr("Wait"), lambda r: formats.waiting(r.wait_ms), sort=lambda r: r.wait_ms,
               align=Align.RIGHT, width=84),
    ]  # fmt: skip

"""The columns of the table of all calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import UNKNOWN, Align, Column
from arena_desktop.itemmodels.call_cells import one_line, state_cell
from arena_desktop.itemmodels.lanes import ModelHead, chip_text, model_cell
from arena_desktop.wording import formats
from arena_desktop.wording.reasons import error_words
from engine.domain import CallStatus
from engine.storage.rows import CallRow

ORDERS = {"model": "model", "test": "case", "trial": "trial", "state": "score", "score": "score",
          "wait": "latency", "cost": "cost", "tries": "attempts"}  # fmt: skip
"""Sort key of the store by column."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("CallsTable", text)


def call_columns(heads: Mapping[str, ModelHead], *, trials: int) -> list[Column[CallRow]]:
    """The columns of all calls. `trials` 1 hides which time it was asked."""
    right = Align.RIGHT

    def head(row: CallRow) -> ModelHead:
        key = row.cell.model_key
        return heads.get(key) or ModelHead(key, key, 0)

    return [
        Column("model", _tr("Model"), lambda r: head(r).label, cell=lambda r: model_cell(head(r)),
               width=180, can_hide=False),
        Column("test", _tr("Test"), lambda r: r.cell.case_id, width=140, can_hide=False),
        Column("trial", _tr("Time"), lambda r: str(r.cell.trial), align=right, width=64,
               hidden=trials == 1, help=_tr("Which time the question was asked.")),
        Column("state", _tr("Mark"), lambda r: chip_text(_state(r)), cell=_state, width=116),
        Column("answer", _tr("Answer"), _answer, width=300, stretch=2, sortable=False),
        Column("why", _tr("Why"), _why, width=200, stretch=1, drop=1, tone="text2", sortable=False),
        Column("score", _tr("Score"), lambda r: formats.out_of_100(r.score), align=right, width=72,
               hidden=True),
        Column("wait", _tr("Wait"), lambda r: formats.waiting(r.latency_ms), align=right, width=76),
        Column("cost", _tr("Cost"), lambda r: formats.money_cell(r.cost_usd), align=right, width=120,
               drop=2),
        Column("tries", _tr("Tries"), lambda r: str(r.attempts) if r.attempts else UNKNOWN, align=right,
               width=64, hidden=True),
    ]  # fmt: skip


def _state(row: CallRow) -> Any:
    return state_cell(row.status, row.passed)


def _answer(row: CallRow) -> str:
    return one_line(row.preview) if row.preview else UNKNOWN


def _why(row: CallRow) -> str:
    if row.status is CallStatus.ERROR:
        return error_words(row.error_kind or "", None)
    return one_line(row.reason) if row.reason else ""

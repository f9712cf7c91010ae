"""What a column says of a record and of itself, by Qt's roles. Shared by every item model over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt

from arena_desktop.cells import Align, Column, Role, Shown
from arena_desktop.wording.harmless import plain_tip

ALIGN = {
    Align.LEFT: Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
    Align.RIGHT: Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
    Align.CENTRE: Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter,
}


def shown(column: Column[Any], record: Any, *, muted: bool) -> Shown:
    """What is drawn of a record in a column."""
    cell = column.cell(record) if column.cell is not None else None
    text = column.text(record) if cell is None else ""
    return Shown(text, cell, _checked(column, record), muted)


def head_data(columns: Sequence[Column[Any]], section: int, orientation: Qt.Orientation, role: int) -> Any:
    """The head of a column; rows have none."""
    if orientation == Qt.Orientation.Vertical or not 0 <= section < len(columns):
        return None
    column = columns[section]
    if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
        return column.title
    if role == Qt.ItemDataRole.ToolTipRole:
        return column.help or None
    if role == Qt.ItemDataRole.TextAlignmentRole:
        return ALIGN[column.align]
    return column if role == Role.COLUMN else None


def _checked(column: Column[Any], record: Any) -> Any:
    if column.checked is None:
        return None
    return Qt.CheckState.Checked if column.checked(record) else Qt.CheckState.Unchecked


def _tip(column: Column[Any], record: Any) -> str | None:
    text = column.tip(record) if column.tip else None
    return plain_tip(text) if text else text


READERS: dict[int, Callable[[Column[Any], Any], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda column, record: column.text(record),
    Qt.ItemDataRole.EditRole: lambda column, record: (column.edit or column.text)(record),
    Qt.ItemDataRole.AccessibleTextRole: lambda column, record: (column.spoken or column.text)(record),
    Qt.ItemDataRole.ToolTipRole: _tip,
    Qt.ItemDataRole.TextAlignmentRole: lambda column, _record: ALIGN[column.align],
    Qt.ItemDataRole.CheckStateRole: _checked,
    Role.SORT: lambda column, record: column.sort(record) if column.sort else column.text(record).casefold(),
    Role.CELL: lambda column, record: column.cell(record) if column.cell else None,
}

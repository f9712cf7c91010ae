"""What an `ArenaTable` copies: the chosen cells as shown, also those that are not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QModelIndex, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QTableView

from arena_desktop.widgets.clipboard import Rows, to_html, to_tsv
from arena_desktop.widgets.table_keys import COPY_HEAD
from arena_desktop.widgets.table_menus import tr
from arena_desktop.widgets.table_selection import chosen_rows

if TYPE_CHECKING:
    from arena_desktop.widgets.table import ArenaTable

_MOST_AS_HTML = 5_000
"""More rows are copied as plain text only: no program takes such a table in."""


def make_copy_actions(table: ArenaTable) -> tuple[QAction, QAction]:
    """Copy, and copy with the heads, as actions of the table."""
    plain, with_head = QAction(tr("Copy"), table), QAction(tr("Copy with column heads"), table)
    plain.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
    with_head.setShortcut(COPY_HEAD)
    plain.triggered.connect(lambda _checked=False: table.copy())
    with_head.triggered.connect(lambda: table.copy(with_head=True))
    for action in (plain, with_head):
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        table.addAction(action)
    return plain, with_head


def copy_chosen(table: ArenaTable, *, with_head: bool) -> None:
    """Puts the chosen cells on the clipboard: at once, or as soon as their rows are read."""
    rows, sections = chosen_rows(table.selectionModel()), _chosen_sections(table)
    if not rows or not sections:
        return
    head = [table.rows.column_at(section).title for section in sections] if with_head else None

    def make(texts: Rows) -> tuple[str, str]:
        table_html = to_html(texts, head) if len(texts) <= _MOST_AS_HTML else ""
        return to_tsv([head, *texts] if head is not None else texts), table_html

    if not table.rows.read_texts(rows, sections, make, _put):
        _put(make(_texts(table, rows, sections)))


def _put(forms: tuple[str, str]) -> None:
    text, table_html = forms
    mime = QMimeData()
    mime.setText(text)
    if table_html:
        mime.setHtml(table_html)
    QGuiApplication.clipboard().setMimeData(mime)


def _chosen_sections(table: ArenaTable) -> list[int]:
    """The columns with a chosen cell, in the order on screen; those without a title say nothing."""
    columns: set[int] = set()
    for part in table.selectionModel().selection():
        columns.update(range(part.left(), part.right() + 1))
    return [s for s in table.shown_sections() if s in columns and table.rows.column_at(s).title]


def _texts(table: ArenaTable, rows: list[int], sections: list[int]) -> list[list[str]]:
    model, selection = table.model(), table.selectionModel()
    whole = table.selectionBehavior() == QTableView.SelectionBehavior.SelectRows

    def text(row: int, section: int) -> str:
        index = model.index(row, section)
        return _shown(index) if whole or selection.isSelected(index) else ""

    return [[text(row, section) for section in sections] for row in rows]


def _shown(index: QModelIndex) -> str:
    state = index.data(Qt.ItemDataRole.CheckStateRole)
    text = index.data(Qt.ItemDataRole.DisplayRole)
    if not text and state is not None:
        return tr("yes") if Qt.CheckState(state) == Qt.CheckState.Checked else tr("no")
    return str(text or "")

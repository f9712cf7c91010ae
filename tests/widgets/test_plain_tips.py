"""A tooltip shows the text of a project or a model as text, whatever it looks like."""

from __future__ import annotations

import html
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument

from arena_desktop.cells import Column
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.wording.harmless import escaped, plain_tip

EVIL = '<img src="file:///tmp/x.png"><b>winner</b>\n\u202etxt'


def read(tip: str) -> str:
    document = QTextDocument()
    document.setHtml(tip)
    return document.toPlainText()


def test_mark_up_is_shown_as_it_is_written(qapp: Any) -> None:
    tip = plain_tip(EVIL)
    assert "<img" not in tip
    assert read(tip).startswith('<img src="file:///tmp/x.png"><b>winner</b>')
    assert "\u202e" not in tip


def test_plain_text_stays_as_it_is() -> None:
    assert plain_tip("Ember & Co.\nbeta") == "Ember & Co.\nbeta"


def test_tables_give_tooltips_without_mark_up(qapp: Any) -> None:
    columns = [Column("name", "Name", lambda row: str(row), tip=lambda row: str(row))]
    table = ColumnTable(columns)
    table.set_rows([EVIL])
    assert "<img" not in table.data(table.index(0, 0), Qt.ItemDataRole.ToolTipRole)


def test_what_is_escaped_is_what_the_standard_library_escapes() -> None:
    text = """<a href='x' title="y">R&D &amp; more</a>\n"""
    assert escaped(text) == html.escape(text)

"""A chart as a table beside it, and as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSaveFile
from PySide6.QtWidgets import QFileDialog, QWidget

from arena_desktop.cells import Tone
from arena_desktop.itemmodels.text_table import text_table
from arena_desktop.widgets.chart_view import ChartCard
from arena_desktop.widgets.strip import Message
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_find import with_find_row

if TYPE_CHECKING:
    from arena_desktop.charts.data import Chart
    from arena_desktop.context import AppContext


def set_chart_table(card: ChartCard, chart: Chart, spoken: str) -> None:
    """Hands a chart's data to its card as a table as well."""

    def make() -> QWidget:
        from arena_desktop.charts.data import table_of

        table = ArenaTable(f"{card.view.objectName()}_table", spoken)
        table.setModel(text_table(*table_of(chart), parent=table))
        return with_find_row(table)

    card.set_table(make)


def save_chart(card: ChartCard, context: AppContext) -> None:
    """Asks for a file and saves the chart as a picture or as SVG, by the file's ending."""
    start = str(Path(context.settings.export_folder or Path.home()) / f"{card.head.title.text()}.png")
    kinds = card.tr("Picture (*.png);;Drawing (*.svg)")
    name, _kind = QFileDialog.getSaveFileName(card, card.tr("Save the picture"), start, kinds)
    if name:
        context.settings.export_folder = str(Path(name).parent)
        write_chart(card, Path(name), context)


def write_chart(card: ChartCard, path: Path, context: AppContext) -> None:
    """Writes the chart; a fault becomes a message and the file that was there stays."""
    file = QSaveFile(str(path))
    written = file.open(QSaveFile.OpenModeFlag.WriteOnly)
    if written and path.suffix.casefold() == ".svg":
        written = file.write(card.view.svg()) >= 0
    elif written:
        written = card.view.picture().save(file, "PNG")  # type: ignore[call-overload] - a QIODevice will do
    if written and file.commit():
        context.message_wanted.emit(Message("chart", Tone.GOOD, card.tr("The picture is saved."), str(path)))
        return
    context.message_wanted.emit(
        Message("chart", Tone.BAD, card.tr("The picture could not be saved."), file.errorString())
    )

"""What an `ArenaTable` remembers: its looks across starts, and who was chosen across a reset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QObject, QTimer

from arena_desktop.settings import Settings
from arena_desktop.widgets.table_selection import choose_rows, chosen_rows

if TYPE_CHECKING:
    from arena_desktop.widgets.table import ArenaTable

_SAVE_DELAY_MS = 300
_Flag = QItemSelectionModel.SelectionFlag


class TableMemory(QObject):
    """Restores the looks kept under the table's object name and keeps every change a moment later."""

    def __init__(self, table: ArenaTable) -> None:
        super().__init__(table)
        self._table = table
        self._place: tuple[Settings, Path | None] | None = None
        self._wait = QTimer(self, singleShot=True, interval=_SAVE_DELAY_MS)
        self._wait.timeout.connect(self._save)
        table.looks_changed.connect(self._on_changed)
        table.installEventFilter(self)

    @property
    def is_on(self) -> bool:
        """Whether changes are kept."""
        return self._place is not None

    def remember(self, settings: Settings, project: Path | None) -> None:
        """From now on, for this project (or for all). The same place again changes nothing.

        Another project begins without the filter of the one before.
        """
        if self._place == (settings, project):
            return
        if self._wait.isActive():
            self._wait.stop()
            self._save()
        was_on, self._place = self.is_on, None
        state = settings.view_state(self._table.objectName(), project)
        if state:
            self._table.restore(state)
        elif was_on:
            self._table.rows.set_filter("")
        self._place = (settings, project)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # A window that is closed at once must not lose the last change.
        if event.type() == QEvent.Type.Hide and self._wait.isActive() and self._place is not None:
            self._wait.stop()
            self._save()
            self._place[0].sync()
        return False

    def _on_changed(self) -> None:
        if self._place is not None:
            self._wait.start()

    def _save(self) -> None:
        if self._place is not None:
            settings, project = self._place
            settings.keep_view_state(self._table.objectName(), self._table.state(), project)


class KeptChoice:
    """Current and chosen rows by key, so that new data or a filter do not lose them."""

    def __init__(self, table: ArenaTable) -> None:
        self._table = table
        self._current: Any = None
        self._chosen: list[Any] = []

    def note(self) -> None:
        """Before a reset. Without a current row (all filtered away) the last one stays noted."""
        table = self._table
        if table.currentIndex().isValid():
            self._current = table.rows.row_key(table.currentIndex().row())
            self._chosen = [table.rows.row_key(row) for row in chosen_rows(table.selectionModel())]

    def bring_back(self) -> None:
        """After a reset: the same record current and the same ones chosen, as far as they are shown.

        Rows that would lie scattered in a thousand pieces are not chosen again.
        """
        table, model = self._table, self._table.model()
        row = table.rows.row_of(self._current) if self._current is not None else -1
        if row >= 0:
            index = model.index(row, table.first_section())
            table.selectionModel().setCurrentIndex(index, _Flag.NoUpdate)
        if self._chosen:
            choose_rows(table.selectionModel(), model, table.rows.rows_of(self._chosen))
        self.ensure_current()

    def ensure_current(self) -> None:
        """Screen readers need a current cell; it is not selected by this alone."""
        table = self._table
        if table.model() is None or table.currentIndex().isValid() or table.model().rowCount() == 0:
            return
        first = table.model().index(0, table.first_section())
        table.selectionModel().setCurrentIndex(first, _Flag.NoUpdate)

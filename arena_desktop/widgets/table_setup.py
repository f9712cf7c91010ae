"""How an `ArenaTable` differs from Qt's own table before anything is in it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView


def set_up(view: QTableView, *, cells: bool) -> None:
    """Rows (or with `cells` single cells) are chosen, Tab leaves, nothing scrolls sideways."""
    behaviour, trigger = QAbstractItemView.SelectionBehavior, QAbstractItemView.EditTrigger
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setSelectionBehavior(behaviour.SelectItems if cells else behaviour.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    view.setEditTriggers(trigger.EditKeyPressed | trigger.DoubleClicked if cells else trigger.NoEditTriggers)
    view.setTabKeyNavigation(False)
    view.setMouseTracking(True)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.verticalHeader().hide()
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.setCornerButtonEnabled(False)
    # The card behind has round corners that a view's own background would square off.
    view.setFrameShape(QTableView.Shape.NoFrame)
    view.setProperty("kind", "bare")
    view.viewport().setAutoFillBackground(False)

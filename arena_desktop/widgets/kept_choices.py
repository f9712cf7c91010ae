"""What a person set on a page and finds again at the next start: switches, choices, places of handles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QSplitter

from arena_desktop.settings import Settings

_Of = Callable[[], Path | None]


class KeptChoices(QObject):
    """Keeps the switches and choices of one page as they were left, by their object names.

    For all projects, or for the one that `of` names. A page that fills a combo anew blocks its signals.
    """

    def __init__(self, settings: Settings, page: str, parent: QObject, of: _Of = lambda: None) -> None:
        super().__init__(parent)
        self._settings, self._name, self._of = settings, f"choices_{page}", of

    def keep_switch(self, switch: QCheckBox) -> None:
        """Sets a switch as it was left. Call once it does what it should."""
        kept = self._read(switch)
        if isinstance(kept, bool):
            switch.setChecked(kept)
        switch.toggled.connect(lambda on: self._write(switch, on))

    def keep_choice(self, combo: QComboBox) -> None:
        """Chooses what was chosen, as far as its entries are there; see `chosen` for later ones."""
        at = combo.findData(self._read(combo)) if combo.count() else -1
        if at >= 0:
            combo.setCurrentIndex(at)
        combo.currentIndexChanged.connect(lambda _index: self._write(combo, combo.currentData()))

    def chosen(self, combo: QComboBox) -> object:
        """The data to choose after a combo was filled anew: of now, and at its first filling as kept."""
        return combo.currentData() if combo.count() else self._read(combo)

    def _read(self, control: QObject) -> object:
        return self._settings.view_state(self._name, self._of()).get(control.objectName())

    def _write(self, control: QObject, value: object) -> None:
        state = self._settings.view_state(self._name, self._of())
        self._settings.keep_view_state(self._name, {**state, control.objectName(): value}, self._of())


class SideSplitter(QSplitter):
    """Two parts of a page beside each other, or below each other when it is narrow.

    The page says what is usual (`set_usual`); where the person put the handle goes before it, for
    each of the two directions, and is kept by `remember`.
    """

    def __init__(self, name: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName(name)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(16)
        self._settings: Settings | None = None
        self._own: dict[str, list[int]] = {}
        self.splitterMoved.connect(self._on_moved)

    def set_usual(self, sizes: Sequence[int]) -> None:
        """Parts the room so, unless the person has parted it."""
        self.setSizes(self._own.get(self._direction()) or list(sizes))

    def setOrientation(self, orientation: Qt.Orientation) -> None:
        """As Qt's own; the person's place of the handle in that direction is taken up again."""
        super().setOrientation(orientation)
        own = self._own.get(self._direction())
        if own:
            self.setSizes(own)

    def remember(self, settings: Settings) -> None:
        """Takes up what was kept under the object name, and keeps it from now on."""
        self._settings = settings
        state = settings.view_state(self.objectName())
        self._own = {name: sizes for name, sizes in state.items() if self._fits(sizes)}
        own = self._own.get(self._direction())
        if own:
            self.setSizes(own)

    def _on_moved(self, *_place: int) -> None:
        self._own[self._direction()] = self.sizes()
        if self._settings is not None:
            self._settings.keep_view_state(self.objectName(), self._own)

    def _direction(self) -> str:
        return "across" if self.orientation() == Qt.Orientation.Horizontal else "down"

    def _fits(self, sizes: object) -> bool:
        return (
            isinstance(sizes, list)
            and len(sizes) == self.count()
            and all(type(size) is int and size >= 0 for size in sizes)
            and sum(sizes) > 0
        )

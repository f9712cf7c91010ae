"""Sliders that share a hundred: moving one moves the others in the proportion they had."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.widgets.fields import ShareSlider

WHOLE = 100


class ShareSliders(QWidget):
    """One slider per name. `moved` follows each move, `released` once at its end."""

    moved = Signal()
    released = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sliders: dict[str, ShareSlider] = {}
        self._held: dict[str, int] = {}
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(8)

    def set_shares(self, shares: Mapping[str, int], titles: Mapping[str, str]) -> None:
        """Other sliders, standing at these shares."""
        for slider in self.sliders.values():
            slider.hide()
            self._rows.removeWidget(slider)
            slider.deleteLater()
        self.sliders = {}
        for name, share in shares.items():
            slider = ShareSlider(titles[name], share, name=f"slider_{name}")
            slider.moved.connect(lambda _value, name=name: self._on_moved(name))
            slider.released.connect(lambda _value: self._on_released())
            self.sliders[name] = slider
            self._rows.addWidget(slider)
        self._held = self.shares()

    def shares(self) -> dict[str, int]:
        """Where the handles stand."""
        return {name: slider.value() for name, slider in self.sliders.items()}

    def place(self, shares: Mapping[str, int]) -> None:
        """Moves handles without telling."""
        self._put(shares)
        self._held = self.shares()

    def _put(self, shares: Mapping[str, int]) -> None:
        for name, share in shares.items():
            slider = self.sliders[name]
            slider.slider.blockSignals(True)
            slider.set_value(share)
            slider.slider.blockSignals(False)

    def _on_moved(self, name: str) -> None:
        others = {other: share for other, share in self._held.items() if other != name}
        if others:
            self._put(split(WHOLE - self.sliders[name].value(), others))
        self.moved.emit()

    def _on_released(self) -> None:
        shares = self.shares()
        # One share at 100 leaves the others at 0; what they were to each other is kept for the way back.
        if max(shares.values(), default=0) < WHOLE:
            self._held = shares
        self.released.emit()


def split(rest: int, parts: Mapping[str, int]) -> dict[str, int]:
    """`rest` in whole numbers in the proportion of the parts; evenly where all of them are 0."""
    parts = parts if any(parts.values()) else dict.fromkeys(parts, 1)
    whole = sum(parts.values())
    shares = {name: rest * part // whole for name, part in parts.items()}
    left = sorted(parts, key=lambda name: shares[name] - rest * parts[name] / whole)
    for name in left[: rest - sum(shares.values())]:
        shares[name] += 1
    return shares

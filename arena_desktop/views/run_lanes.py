"""How many questions each service gets at the same time: shown and changed while a run goes on."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout

from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.widgets.card import DENSE, Card
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.fields import Spin
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import run as words
from arena_desktop.wording import run_lanes as lane_words
from engine.execution.jobs import is_marker


class LaneControls(Collapsible):
    """One line per connection: its name, the field, what it does now. `width_wanted(lane, width)`."""

    width_wanted = Signal(str, int)

    def __init__(self) -> None:
        super().__init__("", name="button_lane_widths")
        card = Card(DENSE, spacing=8, name="card_lane_widths")
        card.body.addWidget(Label(lane_words.widths_text(), colour="text2", wrap=True))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(2, 1)
        card.body.addLayout(self._grid)
        self.content.addWidget(card)
        self._lines: dict[str, tuple[Label, Spin, Label]] = {}
        self._wanted: dict[str, int] = {}

    def begin(self) -> None:
        """Another run from now on."""
        for line in self._lines.values():
            for widget in line:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self._lines.clear()
        self._wanted.clear()

    def show_lanes(self, progress: RunProgress, heads: Mapping[str, ModelHead], *, going: bool) -> None:
        """What the lanes do now. Cheap enough for ten times a second; a field in use is left alone."""
        names = lane_names(progress, heads)
        widths = {lane: self._configured(progress, lane) for lane in names}
        _set_head(self, lane_words.widths_head(progress.concurrency, [(names[k], widths[k]) for k in names]))
        self.setVisible(going and bool(names))
        for lane, name in names.items():
            if lane not in self._lines:
                self._add(lane, name, progress.concurrency)
            _label, spin, told = self._lines[lane]
            if self._wanted.get(lane) == widths[lane]:
                del self._wanted[lane]
            if lane not in self._wanted and not spin.hasFocus() and spin.value() != widths[lane]:
                spin.blockSignals(True)
                spin.setValue(widths[lane])
                spin.blockSignals(False)
            state = progress.lanes.get(lane)
            text = "" if state is None else lane_words.lane_sentence(state, progress.closed_for(lane))
            if told.text() != text:
                told.setText(text)

    @staticmethod
    def _configured(progress: RunProgress, lane: str) -> int:
        state = progress.lanes.get(lane)
        return state.configured if state is not None else progress.widths.get(lane, 1)

    def _add(self, lane: str, name: str, most: int) -> None:
        row = len(self._lines)
        label = Label(name, "strong", name=f"label_lane_{row + 1}")
        spoken = lane_words.width_field(name)
        spin = Spin(spoken, 1, max(1, most), name=f"spin_lane_{row + 1}")
        spin.setKeyboardTracking(False)
        spin.valueChanged.connect(lambda width: self._on_wanted(lane, width))
        label.setBuddy(spin)
        told = Label("", colour="text2", wrap=True, name=f"label_lane_state_{row + 1}")
        for column, widget in enumerate((label, spin, told)):
            self._grid.addWidget(widget, row, column)
        self._lines[lane] = (label, spin, told)

    def _on_wanted(self, lane: str, width: int) -> None:
        self._wanted[lane] = width
        self.width_wanted.emit(lane, width)


def lane_names(progress: RunProgress, heads: Mapping[str, ModelHead]) -> dict[str, str]:
    """The name that people know of each lane of a run, in project order."""
    names: dict[str, str] = {}
    for key, head in heads.items():
        model = progress.models.get(key)
        if model is not None and model.lane:
            names.setdefault(model.lane, head.service or model.lane)
    markers = [lane for lane in {**progress.widths, **progress.lanes} if is_marker(lane)]
    return {**names, **{lane: words.marking_lane(lane) for lane in markers}}


def _set_head(part: Collapsible, text: str) -> None:
    if part.head.text() != text:
        part.head.setText(text)

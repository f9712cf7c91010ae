"""The parts around the leaderboard: why this one, what would change it, what matters most, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.views.setup_parts import Glyph, clear
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import DENSE, Card, CardHead, Divider
from arena_desktop.widgets.fields import ShareSlider
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.share_sliders import ShareSliders
from arena_desktop.wording import formats
from arena_desktop.wording.board import change_lines, weight_change_sentence, what_if_sentence
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.results import label_map
from engine.config.schema import Config
from engine.stats.board import EntryStatus, Leaderboard
from engine.stats.metrics import weight_shares
from engine.stats.reweigh import reweighed

_MORE = ("accuracy", "cost", "latency")
_ICONS = {
    "strength": ("check", "good"),
    "weakness": ("minus", "text2"),
    "caution": ("warn", "warn"),
    "change": ("compare", "accentText"),
}
_NOTES_AT_FIRST = 3


class Unfolded(QWidget):
    """What a button of the verdict card unfolds: a heading and lines with their icons."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__()
        self.setObjectName(name)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(Divider())
        layout.addSpacing(4)
        layout.addWidget(Label(title, "section"))
        self._lines = QVBoxLayout()
        self._lines.setSpacing(6)
        layout.addLayout(self._lines)
        self._texts: list[str] = []
        self.hide()

    def set_lines(self, lines: Sequence[tuple[str, str]]) -> None:
        """Other lines: (strength, weakness, caution or change; sentence)."""
        clear(self._lines)
        self._texts = [text for _kind, text in lines]
        for kind, text in lines:
            icon, tone = _ICONS[kind]
            line = QWidget()
            row = QHBoxLayout(line)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(8)
            row.addWidget(Glyph(icon, tone), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(Label(text, wrap=True).selectable(), 1)
            self._lines.addWidget(line)

    def texts(self) -> list[str]:
        """The sentences."""
        return list(self._texts)


class WhatIfCard(Card):
    """Sliders over the weights of a stored board. Nothing is asked again and nothing is spent.

    `previewed(Leaderboard | None)` follows each move with the board under the weights of the sliders;
    None = the project's own weights.
    """

    previewed = Signal(object)

    def __init__(self) -> None:
        super().__init__(DENSE, spacing=8, name="card_what_if")
        self._board: Leaderboard | None = None
        self._config: Config | None = None
        self._own: dict[str, int] = {}
        head = CardHead(self.tr("What matters most"))
        self.reset = Button(self.tr("Reset"), "quiet", name="button_reset_weights")
        self.reset.setAccessibleName(self.tr("Back to the weights of the project"))
        self.reset.clicked.connect(self._on_reset)
        head.controls.addWidget(self.reset)
        self.body.addWidget(head)
        self.body.addWidget(
            Label(
                self.tr(
                    "Move a slider. The table above follows at once."
                    " Nothing is asked again and nothing is spent."
                ),
                colour="text2",
                wrap=True,
            )
        )
        self._sliders = ShareSliders()
        self._sliders.moved.connect(self._try)
        self._sliders.released.connect(lambda: announce(self, self.sentence.text()))
        self.body.addWidget(self._sliders)
        self.body.addWidget(Divider())
        line = QHBoxLayout()
        line.setSpacing(8)
        self._sign = Glyph("check", "good")
        self.sentence = Label("", "strong", wrap=True, name="label_what_if")
        line.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.sentence, 1)
        self.body.addLayout(line)
        self.note = Label("", colour="text2", wrap=True, name="label_weight_change")
        self.body.addWidget(self.note)
        self.body.addStretch(1)

    def show_board(self, board: Leaderboard, config: Config) -> None:
        """Another board; the sliders stand at its own weights."""
        self._board, self._config = board, config
        self._own = whole_shares(board.weights)
        names = [*self._own, *[name for name in _MORE if name not in self._own and _differs(board, name)]]
        self._sliders.set_shares(
            {name: self._own.get(name, 0) for name in names}, {name: metric_name(name) for name in names}
        )
        self._say(board)
        self.reset.setEnabled(False)

    @property
    def sliders(self) -> dict[str, ShareSlider]:
        """The slider of each metric."""
        return self._sliders.sliders

    def weights(self) -> dict[str, float]:
        """The weights as the sliders stand, zeros left out."""
        return {name: float(s.value()) for name, s in self.sliders.items() if s.value() > 0}

    def _try(self) -> None:
        board, config = self._board, self._config
        if board is None or config is None:
            return
        weights = self.weights()
        changed = any(place != self._own.get(name, 0) for name, place in self._sliders.shares().items())
        self.reset.setEnabled(changed)
        trial = reweighed(board, config, weights) if changed and weights else None
        self._say(trial or board)
        self.previewed.emit(trial)

    def _on_reset(self) -> None:
        self._sliders.place({name: self._own.get(name, 0) for name in self.sliders})
        self._try()

    def _say(self, shown: Leaderboard) -> None:
        """Who comes first on the board that is shown, and what change of its weights would alter that."""
        board = self._board
        if board is None:
            return
        same = shown.winner is not None and shown.winner == board.winner
        self._sign.set_glyph("check" if same else "compare", "good" if same else "accentText")
        self.sentence.setText(what_if_sentence(board, shown.winner))
        change = shown.weight_change
        self.note.setText(weight_change_sentence(change, label_map(shown)) if change else "")
        self.note.setVisible(change is not None)


def whole_shares(weights: Mapping[str, float]) -> dict[str, int]:
    """Shares of 100 as whole numbers that sum to 100."""
    if not any(weight > 0 for weight in weights.values()):
        return dict.fromkeys(weights, 0)
    shares = weight_shares(weights)
    whole = {name: int(share * 100) for name, share in shares.items()}
    rest = sorted(shares, key=lambda name: whole[name] - shares[name] * 100)
    for name in rest[: 100 - sum(whole.values())]:
        whole[name] += 1
    return whole


def _differs(board: Leaderboard, metric: str) -> bool:
    """Whether a weight for this metric could move anything."""
    values = set()
    for entry in board.entries:
        if entry.status is EntryStatus.RANKED:
            found = entry.metrics.get(metric)
            values.add(found.raw if found is not None else None)
    return None not in values and len(values) > 1


def changes_unfolded(board: Leaderboard) -> list[tuple[str, str]]:
    """The lines of "What could change this?"."""
    return [("change", line) for line in change_lines(board)]


class NotesCard(Card):
    """What the reader of a result must know, the strongest three at first, and what no result tells."""

    def __init__(self) -> None:
        super().__init__(DENSE, spacing=8, name="card_notes")
        self.body.addWidget(CardHead(self.tr("Good to know")))
        self.label = Label("", wrap=True, name="label_notes").selectable()
        self.body.addWidget(self.label)
        self.more = Button("", "quiet", name="button_all_notes")
        self.more.clicked.connect(lambda: self._show(all_of_them=True))
        self.body.addWidget(self.more)
        self.body.addSpacing(4)
        self.body.addWidget(Label(self.tr("What this cannot tell you"), "strong"))
        self.cannot = Label("", colour="text2", wrap=True, name="label_cannot_tell").selectable()
        self.body.addWidget(self.cannot)
        self._lines: list[str] = []

    def set_lines(self, lines: Sequence[str], cannot_tell: Sequence[str]) -> None:
        """Other notes; what the result cannot tell always stands below them."""
        self._lines = list(lines)
        self.cannot.setText(" ".join(cannot_tell))
        self._show(all_of_them=False)

    def _show(self, *, all_of_them: bool) -> None:
        shown = self._lines if all_of_them else self._lines[:_NOTES_AT_FIRST]
        self.label.setText("\n".join(f"• {line}" for line in shown))
        hidden = len(self._lines) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.setText(self.tr("Show {count} more").format(count=formats.whole(hidden)))
        self.label.setVisible(bool(self._lines))

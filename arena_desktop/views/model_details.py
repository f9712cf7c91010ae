"""One model in plain words: why it cannot run, its settings, what is stated about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.itemmodels.models import ModelRow, price_text, ready_text
from arena_desktop.views.setup_parts import Glyph, RoomyArea, clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import ElidedLabel, Label
from arena_desktop.wording.must_haves import privacy_sentence, privacy_state, words_of
from arena_desktop.wording.reasons import reason_sentence
from arena_desktop.wording.setup import price_words
from engine.config.schema import Config

_COLUMNS = 4


class ModelDetails(Card):
    """One model: why it cannot run and what to do, its settings, what is stated about it.

    `remove_pressed(ModelRow)` asks to take it out of the project.
    """

    remove_pressed = Signal(object)

    def __init__(self) -> None:
        super().__init__(padding=20, spacing=12, name="detail")
        self._open = False
        self._listed: list[tuple[str, str, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        head = FlowLayout()
        self.title = ElidedLabel("", "section", name="label_model", fills=False)
        head.addWidget(self.title)
        head.addStretch(1)
        self._row: ModelRow | None = None
        self.button_remove = Button(self.tr("Take out of the project"), "quiet", name="button_remove_model")
        self.button_remove.clicked.connect(lambda: self.remove_pressed.emit(self._row))
        head.addWidget(self.button_remove)
        self.more = Button(self.tr("More"), "quiet", icon="down", name="button_more_settings")
        self.more.clicked.connect(self._on_more)
        head.addWidget(self.more)
        self.body.addLayout(head)
        self._reason = QWidget()
        row = QHBoxLayout(self._reason)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._sign = Glyph("warn", "warn")
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        self.reason = Label("", wrap=True, name="label_reason").selectable()
        row.addWidget(self.reason, 1)
        held = QWidget()
        held.setObjectName("scroll_body")
        column = QVBoxLayout(held)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self._reason)
        self._facts = QGridLayout()
        column.addLayout(self._facts)
        self._facts.setHorizontalSpacing(24)
        self._facts.setVerticalSpacing(12)
        for number in range(_COLUMNS):
            self._facts.setColumnStretch(number, 1)
        self._area = RoomyArea(held, self.tr("Settings of the model"))
        self.body.addWidget(self._area)

    def show_model(self, row: ModelRow | None, config: Config | None) -> None:
        """Shows a model of a project; None hides the card."""
        self.setVisible(row is not None and config is not None)
        if row is None or config is None:
            return
        self._row = row
        self.title.setText(self.tr("Settings for {model}").format(model=row.label))
        reason = self._reason_of(row)
        self._reason.setVisible(bool(reason))
        self.reason.setText(reason)
        good = row.state == "ready"
        self._sign.set_glyph("info" if good else "warn", "text2" if good else "warn")
        self._listed = self._facts_of(row, config)
        self._lay_out()

    def _lay_out(self) -> None:
        clear(self._facts)
        facts = self._listed if self._open else self._listed[:_COLUMNS]
        for number, (title, value, icon) in enumerate(facts):
            fact = _fact(title, value, icon)
            self._facts.addWidget(fact, number // _COLUMNS, number % _COLUMNS, Qt.AlignmentFlag.AlignTop)
        self._area.content_changed()

    def _on_more(self) -> None:
        self._open = not self._open
        self.more.set_icon("up" if self._open else "down")
        self.more.setText(self.tr("Less") if self._open else self.tr("More"))
        self._lay_out()

    def focus_reason(self) -> None:
        """Puts the focus on what is to be done."""
        self.reason.setFocus(Qt.FocusReason.OtherFocusReason)

    def _reason_of(self, row: ModelRow) -> str:
        if row.skipped is not None and row.failures:
            listed = " ".join(reason_sentence(reason) for reason in row.failures)
            return f"{listed} {row.skipped.fix}".strip()
        if row.skipped is not None:
            return f"{ready_text(row)}. {row.skipped.reason} {row.skipped.fix}".strip()
        if row.warning:
            return row.warning
        return " ".join(reason_sentence(reason) for reason in row.unknown)

    def _facts_of(self, row: ModelRow, config: Config) -> list[tuple[str, str, str]]:
        """Title, value and icon; the first row is always shown, the rest after More."""
        settings, promises = self._settings(row, config), self._promises(row, config)
        return [*settings[:2], *promises, *settings[2:]]

    def _settings(self, row: ModelRow, config: Config) -> list[tuple[str, str, str]]:
        entry, defaults = row.entry, config.defaults
        longest = entry.max_tokens or defaults.max_tokens
        variety = entry.temperature if entry.temperature is not None else defaults.temperature
        name = entry.model or entry.run or ""
        known = self.tr("{model} at {service}").format(model=name, service=row.service)
        own = self.tr("Its own") if entry.system is not None else self.tr("Those of the project")
        length = self.tr("About {words} words")
        price = f"{_capital(price_text(row))}. {price_words(row.price)}"
        return [
            (
                self.tr("Longest answer"),
                length.format(words=words_of(longest)) if longest else self.tr("As the service decides"),
                "",
            ),
            (
                self.tr("Variety"),
                f"{variety:g}" if variety is not None else self.tr("As the service decides"),
                "",
            ),
            (self.tr("Can read at once"), self._reads(row), ""),
            (self.tr("Instructions"), own, ""),
            (self.tr("What it is"), known, ""),
            (self.tr("Price per 100 answers"), price, ""),
        ]

    def _reads(self, row: ModelRow) -> str:
        size = row.card.context_tokens
        return self.tr("About {words} words").format(words=words_of(size)) if size else self.tr("Not known")

    def _promises(self, row: ModelRow, config: Config) -> list[tuple[str, str, str]]:
        found = []
        for name in config.constraints.privacy_required:
            words, icon = privacy_state(row.card, name)
            found.append((privacy_sentence(name), words, icon))
        return found


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_TONES = {"check": "good", "close": "bad", "info": "text2"}


def _fact(title: str, value: str, icon: str) -> QWidget:
    """A small label with its value below; a promise has its icon at the left."""
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    if icon:
        row.addWidget(Glyph(icon, _TONES[icon]), 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(2)
    words.addWidget(Label(title, "head", colour="text2", wrap=True))
    words.addWidget(Label(value, wrap=True).selectable())
    row.addLayout(words, 1)
    return line

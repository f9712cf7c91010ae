"""A model's answer: plain text only, marks where asked, hidden characters made visible, long ones cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QEvent, QLocale, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QSizePolicy, QTextEdit, QVBoxLayout, QWidget

from arena_desktop.theme import current
from arena_desktop.theme.switch import set_role
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import LOOK_CHANGES, Label
from arena_desktop.widgets.visible_text import VisibleText, visible

FIRST_CHARACTERS = 4_000
_LINE_HEIGHT = 137.0
_PARAGRAPH_GAP = 6.0


class MarkKind(StrEnum):
    """Why a piece of an answer is marked."""

    EXPECTED = "expected"
    AGAINST = "against"
    ONLY_HERE = "only_here"


_MARK_COLOURS = {
    MarkKind.EXPECTED: ("goodBg", "good"),
    MarkKind.AGAINST: ("badBg", "bad"),
    MarkKind.ONLY_HERE: ("diff", "warn"),
}


@dataclass(frozen=True, slots=True)
class TextMark:
    """A marked range of the answer as the model gave it (start included, end not)."""

    start: int
    end: int
    kind: MarkKind


class AnswerView(QWidget):
    """Read-only text of one answer. Shows the first 4,000 characters until asked for all.

    Never interprets the text: no HTML, no links, no Markdown. `scrolled` serves linked scrolling.
    """

    shown_all = Signal()

    def __init__(self, spoken: str, *, name: str = "") -> None:
        super().__init__()
        self._answer = ""
        self._marks: tuple[TextMark, ...] = ()
        self._all = False
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        self.edit = QTextEdit()
        self.edit.setReadOnly(True)
        self.edit.setAcceptRichText(False)
        self.edit.setProperty("kind", "answer")
        self.edit.setAccessibleName(spoken)
        self.edit.setTabChangesFocus(True)
        self.edit.setFrameShape(QTextEdit.Shape.NoFrame)
        self.edit.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.edit.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.edit.document().setDocumentMargin(0)
        self.edit.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        if name:
            self.edit.setObjectName(name)
        self.more = Button("", "quiet", name="button_show_all")
        self.more.clicked.connect(self.show_all)
        layout.addWidget(self.edit, 1)
        layout.addWidget(self.more)
        self.more.hide()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        set_role(self.edit, "body")

    def set_answer(self, text: str, marks: Iterable[TextMark] = ()) -> None:
        """Another answer; starts cut and at its top."""
        self._answer = text
        self._marks = tuple(marks)
        self._all = False
        self._render()

    def set_marks(self, marks: Iterable[TextMark]) -> None:
        """Other marks on the same answer; the place in the text stays."""
        fresh = tuple(marks)
        if fresh != self._marks:
            self._marks = fresh
            self._render_in_place()

    def _render_in_place(self) -> None:
        bar = self.edit.verticalScrollBar()
        at = bar.value()
        self._render()
        bar.setValue(at)

    def show_all(self) -> None:
        """The whole answer."""
        self._all = True
        bar = self.edit.verticalScrollBar()
        at = bar.value()
        self._render()
        bar.setValue(at)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self.shown_all.emit()

    def answer(self) -> str:
        """The answer as the model gave it."""
        return self._answer

    def scroll_bar(self) -> QScrollBar:
        """For linked scrolling."""
        return self.edit.verticalScrollBar()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # Character formats keep the colours of the theme they were made in.
        if event.type() in LOOK_CHANGES and hasattr(self, "more") and self._answer:
            self._render_in_place()

    def sizeHint(self) -> QSize:
        return QSize(280, 240)

    def _render(self) -> None:
        cut = self._answer if self._all else self._answer[:FIRST_CHARACTERS]
        shown = visible(cut)
        self.edit.setPlainText(shown.text)
        set_role(self.edit, "body")
        self._format_blocks()
        self._format_marks(shown, len(cut))
        hidden = len(cut) < len(self._answer)
        self.more.setVisible(hidden)
        if hidden:
            count = QLocale().toString(len(self._answer))
            self.more.setText(self.tr("Show all ({count} characters)").format(count=count))

    def _format_blocks(self) -> None:
        cursor = QTextCursor(self.edit.document())
        cursor.select(QTextCursor.SelectionType.Document)
        block = QTextBlockFormat()
        block.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        block.setBottomMargin(_PARAGRAPH_GAP)
        cursor.mergeBlockFormat(block)

    def _format_marks(self, shown: VisibleText, length: int) -> None:
        theme = current()
        for mark in self._marks:
            start, end = max(0, mark.start), min(mark.end, length)
            if start >= end:
                continue
            ground, ink = _MARK_COLOURS[mark.kind]
            look = QTextCharFormat()
            look.setBackground(theme.color(ground))
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            look.setUnderlineColor(theme.color(ink))
            self._merge(_utf16(shown.text, shown.place(start)), _utf16(shown.text, shown.place(end)), look)
        hidden = QTextCharFormat()
        hidden.setForeground(theme.color("warn"))
        hidden.setBackground(theme.color("warnBg"))
        for start, end in shown.named:
            self._merge(_utf16(shown.text, start), _utf16(shown.text, end), hidden)

    def _merge(self, start: int, end: int, look: QTextCharFormat) -> None:
        cursor = QTextCursor(self.edit.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)


class MarkLegend(QWidget):
    """What the marks mean: a swatch with underline and words for each."""

    def __init__(self, words: dict[MarkKind, str]) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for number, (kind, text) in enumerate(words.items()):
            if number:
                row.addSpacing(14)
            row.addWidget(_Swatch(kind))
            row.addWidget(Label(text, "caption", colour="text2"))
        row.addStretch(1)


class _Swatch(QWidget):
    def __init__(self, kind: MarkKind) -> None:
        super().__init__()
        self._kind = kind
        self.setFixedSize(18, 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        ground, ink = _MARK_COLOURS[self._kind]
        painter, theme = QPainter(self), current()
        painter.fillRect(self.rect(), theme.color(ground))
        painter.fillRect(0, self.height() - 2, self.width(), 2, theme.color(ink))


def _utf16(text: str, place: int) -> int:
    """Qt counts UTF-16 units: characters beyond the basic plane count twice."""
    return place + sum(1 for char in text[:place] if ord(char) > 0xFFFF)

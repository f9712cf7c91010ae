"""A file of the project to look at: plain text with line numbers, a line lit up. Never changed here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from arena_desktop.theme import F, current
from arena_desktop.theme.fonts import tabular
from arena_desktop.widgets.buttons import IconButton
from arena_desktop.widgets.card import Card
from arena_desktop.widgets.labels import LOOK_CHANGES, ElidedLabel
from engine.config.text_files import decode
from engine.domain import Problem, Severity

MOST_BYTES = 2_000_000
"""Of a larger file the beginning is shown."""


class _Numbers(QWidget):
    """The line numbers at the left of the text."""

    def __init__(self, text: FileText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(self._text.number_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_numbers(QPainter(self), event.rect())


class FileText(QPlainTextEdit):
    """Read-only text in a font of equal widths. `light(line, tone)` marks lines; keys scroll and select."""

    def __init__(self) -> None:
        super().__init__()
        self._tones: dict[int, str] = {}
        self._shown_line: int | None = None
        self.setObjectName("text_file")
        self.setReadOnly(True)
        self.setProperty("kind", "answer")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._numbers = _Numbers(self)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._on_update)
        self._apply_font()

    def set_file(self, text: str, tones: dict[int, str]) -> None:
        """Other text; `tones` lights lines (from 1) up as bad or warn."""
        self._tones, self._shown_line = tones, None
        self.setPlainText(text)
        self._make_room()
        self._light()

    def go_to(self, line: int | None) -> None:
        """Brings a line to the middle and lights it up."""
        self._shown_line = line
        block = self.document().findBlockByNumber((line or 1) - 1)
        cursor = QTextCursor(block if block.isValid() else self.document().firstBlock())
        self.setTextCursor(cursor)
        self.centerCursor()
        self._light()

    def lit_line(self) -> int | None:
        """The line that was asked for."""
        return self._shown_line

    def number_width(self) -> int:
        """Room for the numbers."""
        digits = len(str(max(1, self.blockCount())))
        return 16 + self.fontMetrics().horizontalAdvance("9") * max(2, digits)

    def paint_numbers(self, painter: QPainter, rect: QRect) -> None:
        """Draws the numbers of the blocks in `rect`."""
        theme = current()
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= rect.bottom():
            height = self.blockBoundingRect(block).height()
            tone = self._tones.get(block.blockNumber() + 1, "text3")
            painter.setPen(theme.color(tone))
            box = QRect(0, int(top), self._numbers.width() - 10, int(height))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            block, top = block.next(), top + height

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._numbers.setGeometry(inside.left(), inside.top(), self.number_width(), inside.height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (LOOK_CHANGES - {QEvent.Type.FontChange}) and hasattr(self, "_numbers"):
            self._apply_font()
            self._light()

    def _apply_font(self) -> None:
        font = tabular(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        size = F("body").pointSizeF()
        if size > 0:
            font.setPointSizeF(size)
        if font != self.font():
            self.setFont(font)
        self._make_room()

    def _make_room(self, *_count: int) -> None:
        self.setViewportMargins(self.number_width(), 0, 0, 0)

    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def _light(self) -> None:
        theme = current()
        lines = {line: theme.color(f"{tone}Bg") for line, tone in self._tones.items()}
        if self._shown_line is not None and self._shown_line not in lines:
            lines[self._shown_line] = theme.color("tint2")
        self.setExtraSelections([s for line, ground in lines.items() if (s := self._selection(line, ground))])

    def _selection(self, line: int, ground: QColor) -> QTextEdit.ExtraSelection | None:
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return None
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(ground)
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = QTextCursor(block)
        return selection


class FilePane(Card):
    """The pane with one file. `closed` when the person closes it (button or Esc)."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__(padding=16, spacing=8, name="detail")
        self._problems: Sequence[Problem] = ()
        self._root = Path()
        head = QHBoxLayout()
        head.setSpacing(8)
        self.title = ElidedLabel("", "section", name="label_file")
        head.addWidget(self.title, 1)
        self._close = IconButton("close", self.tr("Close the file"), name="button_close_file")
        self._close.clicked.connect(self.close_pane)
        head.addWidget(self._close)
        self.body.addLayout(head)
        self.text = FileText()
        self.body.addWidget(self.text, 1)
        self.setMinimumSize(280, 200)

    def set_faults(self, config_file: Path, problems: Sequence[Problem]) -> None:
        """The faults whose lines are lit up; a file that is on show is read again."""
        self._root, self._problems = config_file.parent, problems
        if self.isVisible():
            self.show_file(self._root / self.title.text(), self.text.lit_line())

    def show_file(self, file: Path, line: int | None = None) -> bool:
        """Shows a file at a line. False when it cannot be read."""
        try:
            with file.open("rb") as stream:
                data = stream.read(MOST_BYTES)
        except OSError:
            return False
        text, _encoding, _problems = decode(data, file.name)
        name = self._name_of(file)
        self.title.setText(name)
        self.text.setAccessibleName(self.tr("Text of {file}").format(file=name))
        self.text.set_file(text, self._tones(name))
        self.text.go_to(line)
        return True

    def close_pane(self) -> None:
        """Closes it as the person would."""
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_pane()
        else:
            super().keyPressEvent(event)

    def _name_of(self, file: Path) -> str:
        try:
            return file.relative_to(self._root).as_posix()
        except ValueError:
            return file.name

    def _tones(self, name: str) -> dict[int, str]:
        tones: dict[int, str] = {}
        for problem in self._problems:
            if problem.file == name and problem.line is not None:
                bad = problem.severity is Severity.ERROR
                tones[problem.line] = "bad" if bad else tones.get(problem.line, "warn")
        return tones

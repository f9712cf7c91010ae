"""Text on screen: labels by role, one-line labels that elide, a lead text with bold figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from arena_desktop.theme.switch import set_role
from arena_desktop.wording.harmless import escaped, plain_tip

_SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
LOOK_CHANGES = frozenset(
    {
        QEvent.Type.PaletteChange,
        QEvent.Type.StyleChange,
        QEvent.Type.ApplicationPaletteChange,
        QEvent.Type.FontChange,
    }
)
"""Events after which pictures and sizes that a widget keeps must be made again."""


class Label(QLabel):
    """Plain text in a role (see `theme.F`) and the colour of a token. Never guesses rich text."""

    def __init__(
        self,
        text: str = "",
        role: str = "body",
        *,
        colour: str = "text",
        wrap: bool = False,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        set_role(self, role, colour=colour)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        if name:
            self.setObjectName(name)
        self.setText(text)

    def selectable(self) -> Label:
        """Lets the text be marked and copied; returns itself."""
        self.setTextInteractionFlags(_SELECTABLE)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        return self


class ElidedLabel(Label):
    """One line that ends in an ellipsis when it does not fit; the whole text is in the tooltip."""

    def __init__(
        self, text: str = "", role: str = "body", *, colour: str = "text", name: str = "", fills: bool = True
    ) -> None:
        """With `fills` it takes whatever room there is, else the room of its text where that is free."""
        super().__init__(text, role, colour=colour, name=name)
        wide = QSizePolicy.Policy.Ignored if fills else QSizePolicy.Policy.Preferred
        self.setSizePolicy(wide, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        self.setToolTip(plain_tip(self.text()) if shown != self.text() else "")
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(self.rect(), int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a lead text; `bold` for the figures that matter."""

    text: str
    bold: bool = False


class LeadLabel(QLabel):
    """A wrapped text with bold figures, selectable. `text()` is the plain text, whatever is drawn."""

    def __init__(self, role: str = "lead", *, colour: str = "text", name: str = "") -> None:
        super().__init__()
        self._plain = ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(_SELECTABLE)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        set_role(self, role, colour=colour)
        if name:
            self.setObjectName(name)

    def set_spans(self, spans: Iterable[Span]) -> None:
        """Shows the pieces one after the other. Their text is escaped: models may not speak HTML here."""
        spans = tuple(spans)
        self._plain = "".join(span.text for span in spans)
        parts = []
        for span in spans:
            text = escaped(span.text).replace("\n", "<br>")
            parts.append(f'<span style="font-weight:600">{text}</span>' if span.bold else text)
        super().setText("".join(parts))
        self.setAccessibleName(self._plain)

    def setText(self, text: str) -> None:
        self.set_spans((Span(text),))

    def text(self) -> str:
        return self._plain

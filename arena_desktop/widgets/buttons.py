"""Buttons: four kinds, icon buttons with a name, the big cards of Home and the choice cards of Run."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QIcon, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QRadioButton, QSizePolicy, QToolButton, QWidget

from arena_desktop.theme import F, current, icon, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import card, rounded
from arena_desktop.theme.switch import restyle, set_role
from arena_desktop.theme.tokens import RADIUS_CARD
from arena_desktop.widgets.labels import LOOK_CHANGES
from arena_desktop.wording.harmless import plain_tip

_AIR = 3
_ICON_TONE = {"primary": "onAccent", "secondary": "text", "quiet": "accentText", "danger": "bad"}


class Button(QPushButton):
    """A button of one kind: primary (one a page), secondary, quiet, danger."""

    def __init__(
        self,
        text: str,
        kind: str = "secondary",
        *,
        icon: str = "",
        name: str = "",
        tip: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._icon_name = icon
        self.setProperty("kind", kind)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        set_role(self, "strong" if kind == "primary" else "button")
        if name:
            self.setObjectName(name)
        if tip:
            self.setToolTip(plain_tip(tip))
        self._retint()

    @property
    def kind(self) -> str:
        """The kind, as the style sheet sees it."""
        return str(self.property("kind"))

    def set_kind(self, kind: str) -> None:
        """Changes the kind live."""
        self.setProperty("kind", kind)
        set_role(self, "strong" if kind == "primary" else "button")
        restyle(self)
        self._retint()

    def set_icon(self, name: str) -> None:
        """Changes the icon by name; empty = none."""
        self._icon_name = name
        self._retint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_icon_name"):
            self._retint()

    def _retint(self) -> None:
        if self._icon_name:
            air = _AIR if self.text() else 0
            size = icon_size(16)
            self.setIcon(icon(self._icon_name, _ICON_TONE.get(self.kind, "text"), size=size, air=air))
            self.setIconSize(QSize(size + air, size))
        else:
            self.setIcon(QIcon())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not pressed_by_enter(self, event):
            super().keyPressEvent(event)


class IconButton(QToolButton):
    """A button with an icon alone: always with a spoken name, which is also its tooltip."""

    def __init__(
        self,
        icon: str,
        spoken: str,
        *,
        tone: str = "text2",
        size: int = 16,
        name: str = "",
        shortcut: str = "",
    ) -> None:
        super().__init__()
        self._icon_name, self._tone, self._size = icon, tone, size
        self.setAccessibleName(spoken)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if shortcut:
            self.setShortcut(QKeySequence(shortcut))
            spoken = f"{spoken} ({QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)})"
        self.setToolTip(plain_tip(spoken))
        if name:
            self.setObjectName(name)
        self._retint()

    def set_icon(self, icon_name: str, spoken: str) -> None:
        """Another icon with its spoken name."""
        self._icon_name = icon_name
        self.setAccessibleName(spoken)
        self.setToolTip(plain_tip(spoken))
        self._retint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_icon_name"):
            self._retint()

    def _retint(self) -> None:
        size = icon_size(self._size)
        self.setIcon(icon(self._icon_name, self._tone, size=size))
        self.setIconSize(QSize(size, size))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not pressed_by_enter(self, event):
            super().keyPressEvent(event)


class ActionCard(QPushButton):
    """A card that is a button: icon tile, title, sentence. `lead` fills the tile with the accent."""

    def __init__(self, icon: str, title: str, sentence: str, *, lead: bool = False, name: str = "") -> None:
        super().__init__(title)
        self._icon_name, self._sentence, self._lead = icon, sentence, lead
        self.setProperty("kind", "plain")
        self.setProperty("ring_radius", RADIUS_CARD)
        self.setAutoDefault(True)
        self.setAccessibleName(title)
        self.setAccessibleDescription(sentence)
        # A fixed height would be that of one line, whatever the width asks for.
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        if name:
            self.setObjectName(name)

    def sizeHint(self) -> QSize:
        title, body = QFontMetricsF(F("section")), QFontMetricsF(F("body"))
        width = max(title.horizontalAdvance(self.text()), body.horizontalAdvance(self._sentence)) + 40
        return QSize(int(width) + 1, self._height(1))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._height(1))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._height(len(self._sentence_lines(width - 40)))

    def _height(self, lines: int) -> int:
        title, body = QFontMetricsF(F("section")), QFontMetricsF(F("body"))
        height = 20 + 40 + 12 + title.height() + 6 + lines * body.height() + 32
        return -(-int(height) // 4) * 4

    def _sentence_lines(self, width: float) -> list[str]:
        """The sentence in at most two lines, the second one elided."""
        metrics = QFontMetricsF(F("body"))
        first = ""
        words = self._sentence.split(" ")
        for count in range(1, len(words) + 1):
            tried = " ".join(words[:count])
            if first and metrics.horizontalAdvance(tried) > width:
                rest = self._sentence[len(first) + 1 :]
                return [first, metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width)]
            first = tried
        return [metrics.elidedText(first, Qt.TextElideMode.ElideRight, width)]

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current()
        painter = QPainter(self)
        active = self.underMouse() and self.isEnabled()
        fill = "press" if self.isDown() else "hover" if active else "surface"
        card(
            painter,
            QRectF(self.rect()),
            RADIUS_CARD,
            theme.color(fill),
            theme.color("line3" if active else "line"),
        )
        tile = QRectF(20, 20, 40, 40)
        rounded(painter, tile, 8, theme.color("accent" if self._lead else "tint"))
        tone = theme["onAccent" if self._lead else "accentText"]
        theme_icons.draw(painter, self._icon_name, tone, tile.adjusted(10, 10, -10, -10))
        title = QFontMetricsF(F("section"))
        width = self.width() - 40.0
        top = tile.bottom() + 12
        shown = title.elidedText(self.text(), Qt.TextElideMode.ElideRight, width)
        lines = [("section", "text", shown)]
        lines += [("body", "text2", line) for line in self._sentence_lines(width)]
        for number, (role, tone_name, text) in enumerate(lines):
            painter.setFont(F(role))
            painter.setPen(theme.color(tone_name if self.isEnabled() else "dis"))
            height = QFontMetricsF(painter.font()).height()
            painter.drawText(QRectF(20, top, width, height), Qt.AlignmentFlag.AlignVCenter, text)
            top += height + (6 if number == 0 else 0)


class ChoiceCard(QRadioButton):
    """A radio button as a card: title and up to two sentences; the chosen one has the accent edge."""

    def __init__(self, title: str, first: str, second: str = "", *, name: str = "") -> None:
        super().__init__(title)
        self._lines = [line for line in (first, second) if line]
        self.setProperty("ring_radius", RADIUS_CARD)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)
        self.setAccessibleDescription(" ".join(self._lines))
        if name:
            self.setObjectName(name)

    def set_lines(self, first: str, second: str = "") -> None:
        """Other sentences, for live prices."""
        self._lines = [line for line in (first, second) if line]
        self.setAccessibleDescription(" ".join(self._lines))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        line = QFontMetricsF(F("body")).height() + 2
        height = 38 + (line - 18) * (1 + len(self._lines)) + 18 * len(self._lines) + 14
        return QSize(240, max(88, -(-int(height) // 4) * 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def hitButton(self, position) -> bool:
        return self.rect().contains(position)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        chosen = self.isChecked()
        fill = "tint" if chosen else "hover" if self.underMouse() else "surface"
        edge = "accent" if chosen else "line3"
        width = 2.0 if chosen else None
        card(painter, QRectF(self.rect()), RADIUS_CARD, theme.color(fill), theme.color(edge), width)
        line = QFontMetricsF(F("body")).height() + 2
        dot = QRectF(17, max(15.0, 14 + line / 2 - 9), 18, 18)
        if chosen:
            rounded(painter, dot, 9, theme.color("accent"))
            rounded(painter, dot.adjusted(5, 5, -5, -5), 4, theme.color("onAccent"))
        else:
            card(painter, dot, 9, theme.color("surface"), theme.color("line2"), 1.0)
        painter.setFont(F("strong"))
        metrics = QFontMetricsF(painter.font())
        painter.setPen(theme.color("text" if self.isEnabled() else "dis"))
        title = QRectF(43, dot.center().y() - metrics.height() / 2, self.width() - 56, metrics.height())
        painter.drawText(title, 0, self.text())
        painter.setFont(F("body"))
        painter.setPen(theme.color("text2" if self.isEnabled() else "dis"))
        top = max(38.0, 14 + line + 6)
        for text in self._lines:
            shown = QFontMetricsF(painter.font()).elidedText(
                text, Qt.TextElideMode.ElideRight, self.width() - 34
            )
            painter.drawText(QRectF(17, top, self.width() - 34, line), Qt.AlignmentFlag.AlignVCenter, shown)
            top += line


def give_kind(button: QPushButton, kind: str) -> None:
    """The look of a kind for a button that Qt made, as those of a message box."""
    button.setProperty("kind", kind)
    set_role(button, "strong" if kind == "primary" else "button")
    restyle(button)


def pressed_by_enter(button: QAbstractButton, event: QKeyEvent) -> bool:
    """Presses the button that has the keyboard, also in a dialog, where Enter on "Cancel" would else press
    the main button.

    A key that is held down presses once: what is there afterwards must not be pressed as well.
    """
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        return False
    if not event.isAutoRepeat():
        button.click()
    return True

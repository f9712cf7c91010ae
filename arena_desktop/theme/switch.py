"""Applies a theme to the running application, live: palette, style sheet, text size.

`Theme` is made once by the composition root. A widget that keeps pictures of its own listens to
`changeEvent` (PaletteChange, StyleChange) or to `Theme.changed`.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QWidget

from arena_desktop.theme import tokens as _tokens
from arena_desktop.theme.fonts import F, scaled, tabular
from arena_desktop.theme.palette import palette_for
from arena_desktop.theme.qss import style_sheet, write_pictures

TEXT_SMALLEST = 80
TEXT_LARGEST = 200
TEXT_STEP = 10
_ROLE_PROPERTY = "text_role"
_WIDTH_PROPERTY = "design_width"
_LEAST_PROPERTY = "least_design_width"


class Appearance(StrEnum):
    """What the person chose under View > Appearance."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def set_role(widget: QWidget, role: str, *, colour: str | None = None) -> None:
    """Gives a widget a text role (see `F`) that survives text size changes, and a colour token if named."""
    widget.setProperty(_ROLE_PROPERTY, role)
    widget.setFont(F(role))
    if colour is not None:
        set_colour(widget, colour)


def set_width(widget: QWidget, pixels: int, *, least: bool = False) -> None:
    """Gives a widget a width of the design, or a least one, that grows with the text size now and later."""
    widget.setProperty(_LEAST_PROPERTY if least else _WIDTH_PROPERTY, pixels)
    _widen(widget)


def set_colour(widget: QWidget, token: str) -> None:
    """Gives a widget's text the colour of a token, also after a theme switch."""
    widget.setProperty("text_colour", token)
    _colour(widget)


def restyle(widget: QWidget) -> None:
    """Makes the style sheet look at the widget's dynamic properties again."""
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    _renew(widget)
    widget.update()


def renew_roles(root: QWidget) -> None:
    """Text sizes again for everything below a widget that was moved to another parent.

    The style sheet then gives each widget back the font that it had when it was first shown, whatever
    the text size has become since.
    """
    for widget in (root, *root.findChildren(QWidget)):
        _renew(widget)


class Theme(QObject):
    """The theme in force. `cache` is a folder for generated pictures. GUI thread only."""

    changed = Signal()

    def __init__(
        self,
        app: QApplication,
        cache: Path,
        *,
        appearance: Appearance = Appearance.SYSTEM,
        text_percent: int = 100,
        font: QFont | None = None,
    ) -> None:
        super().__init__(app)
        self._app = app
        self._cache = cache
        self._appearance = appearance
        self._text_percent = _bounded(text_percent)
        self._base_font = tabular(font if font is not None else app.font())
        self._ours: Qt.ColorScheme | None = None
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)
        self.apply()

    @property
    def tokens(self) -> _tokens.Tokens:
        """The tokens in force."""
        base = _tokens.dark() if self.is_dark else _tokens.light()
        return _tokens.more_contrast(base.dark) if _tokens.wants_contrast() else base

    @property
    def is_dark(self) -> bool:
        """Whether the dark theme is in force."""
        if self._appearance is Appearance.SYSTEM:
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self._appearance is Appearance.DARK

    @property
    def appearance(self) -> Appearance:
        """The person's choice."""
        return self._appearance

    @property
    def text_percent(self) -> int:
        """Text size in per cent of the system's."""
        return self._text_percent

    def set_appearance(self, appearance: Appearance) -> None:
        """Switches live; nothing has to be restarted."""
        if appearance is self._appearance:
            return
        self._appearance = appearance
        self._tell_system()
        self.apply()

    def set_text_percent(self, percent: int) -> None:
        """Sets the text size, kept between 80 and 200 per cent."""
        percent = _bounded(percent)
        if percent == self._text_percent:
            return
        self._text_percent = percent
        self.apply()

    def zoom(self, steps: int) -> int:
        """Text larger or smaller by `steps`, 0 = back to 100 %. Returns the new per cent."""
        self.set_text_percent(100 if steps == 0 else self._text_percent + steps * TEXT_STEP)
        return self._text_percent

    def apply(self) -> None:
        """Palette, font, sheet and role fonts again."""
        theme = self.tokens
        font = QFont(self._base_font)
        if font.pointSizeF() > 0:
            font.setPointSizeF(self._base_font.pointSizeF() * self._text_percent / 100)
        else:
            font.setPixelSize(round(self._base_font.pixelSize() * self._text_percent / 100))
        self._app.setFont(font)
        self._app.setFont(F("button", base=font), "QPushButton")
        self._app.setPalette(palette_for(theme))
        # Where one sheet takes another's place Qt polishes every widget once for each of its parents,
        # thirty times in a page of the window; taking it away and giving one polishes it twice.
        self._app.setStyleSheet("")
        self._app.setStyleSheet(style_sheet(theme, write_pictures(theme, self._cache)))
        for widget in self._app.allWidgets():
            _renew(widget)
            if _widen(widget):
                # A label keeps the size that it wished with its width of before until its font changes.
                QApplication.sendEvent(widget, QEvent(QEvent.Type.FontChange))
        self.changed.emit()

    def retire(self) -> None:
        """Stops following the system; for programs that make a second theme, such as tests."""
        self._app.styleHints().colorSchemeChanged.disconnect(self._on_scheme_changed)

    def _tell_system(self) -> None:
        # Native frames and dialogs follow; where the platform ignores it our palette still rules.
        scheme = {
            Appearance.SYSTEM: Qt.ColorScheme.Unknown,
            Appearance.LIGHT: Qt.ColorScheme.Light,
            Appearance.DARK: Qt.ColorScheme.Dark,
        }[self._appearance]
        self._app.styleHints().setColorScheme(scheme)

    def _on_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        self.apply()


def _bounded(percent: int) -> int:
    return min(TEXT_LARGEST, max(TEXT_SMALLEST, int(percent)))


def _renew(widget: QWidget) -> None:
    role = widget.property(_ROLE_PROPERTY)
    if role:
        widget.setFont(F(str(role)))
    if widget.property("text_colour"):
        _colour(widget)


def _widen(widget: QWidget) -> bool:
    """Whether the width has become another."""
    width, least = widget.property(_WIDTH_PROPERTY), widget.property(_LEAST_PROPERTY)
    before = widget.minimumWidth()
    if width:
        widget.setFixedWidth(scaled(width))
    if least:
        widget.setMinimumWidth(scaled(least))
    return widget.minimumWidth() != before


def _colour(widget: QWidget) -> None:
    token = str(widget.property("text_colour"))
    palette = widget.palette()
    colour = _tokens.current().color(token)
    palette.setColor(palette.ColorRole.WindowText, colour)
    palette.setColor(palette.ColorRole.Text, colour)
    palette.setColor(palette.ColorRole.ButtonText, colour)
    widget.setPalette(palette)

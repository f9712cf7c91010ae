"""The Qt palette made from the tokens. Every role that Fusion or a style sheet falls back to is set."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

from arena_desktop.theme.tokens import Tokens

_Role = QPalette.ColorRole
_ROLES: dict[QPalette.ColorRole, str] = {
    _Role.Window: "page",
    _Role.WindowText: "text",
    _Role.Base: "surface",
    _Role.AlternateBase: "sunken",
    _Role.Text: "text",
    _Role.Button: "raised",
    _Role.ButtonText: "text",
    _Role.BrightText: "bad",
    _Role.Highlight: "accent",
    _Role.HighlightedText: "onAccent",
    _Role.Accent: "accent",
    _Role.Link: "accentText",
    _Role.LinkVisited: "accentText",
    _Role.ToolTipBase: "tip",
    _Role.ToolTipText: "tipText",
    # The default is half transparent and too faint.
    _Role.PlaceholderText: "text3",
    _Role.Light: "surface",
    _Role.Midlight: "hover",
    _Role.Mid: "line3",
    _Role.Dark: "line2",
}


def palette_for(tokens: Tokens) -> QPalette:
    """A full palette of the theme."""
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, tokens.color(name))
    palette.setColor(_Role.Shadow, QColor("#000000"))
    disabled = QPalette.ColorGroup.Disabled
    for role in (_Role.Text, _Role.WindowText, _Role.ButtonText, _Role.PlaceholderText):
        palette.setColor(disabled, role, tokens.color("dis"))
    palette.setColor(disabled, _Role.Highlight, tokens.color("line3"))
    palette.setColor(disabled, _Role.HighlightedText, tokens.color("text2"))
    return palette

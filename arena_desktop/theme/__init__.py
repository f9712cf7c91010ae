"""Look of the program: tokens, palette, style sheet, fonts, icons, shared drawing.

Everything exported here needs QtGui only. The switch that applies a theme to a running
application is `arena_desktop.theme.switch` (it needs QtWidgets).
"""

from arena_desktop.theme.fonts import F, control_height, icon_size, row_height, scaled, text_scale
from arena_desktop.theme.icons import icon, pixmap
from arena_desktop.theme.tokens import Tokens, current, dark, light

__all__ = [
    "F",
    "Tokens",
    "control_height",
    "current",
    "dark",
    "icon",
    "icon_size",
    "light",
    "pixmap",
    "row_height",
    "scaled",
    "text_scale",
]

"""The one style sheet of the application: `resources/theme/style.qss` filled with tokens.

Variants go by dynamic properties (`kind` on buttons, `state` on fields); after changing one call
`restyle`. No font size stands here: sizes in a sheet do not follow the text size. Pictures that a
sheet can only name as files (arrows, ticks) are written per theme into the cache folder.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from arena_desktop.theme.fonts import control_height, icon_size, scaled
from arena_desktop.theme.icons import svg_text
from arena_desktop.theme.tokens import Tokens
from resources import ROOT

_FILES = {
    "down": ("down", "text2"),
    "down_off": ("down", "dis"),
    "up": ("up", "text2"),
    "up_off": ("up", "dis"),
    "right": ("right", "text2"),
    "tick": ("check", "onAccent"),
    "tick_off": ("check", "dis"),
    "part": ("minus", "onAccent"),
    "menu_tick": ("check", "text2"),
}


def write_pictures(theme: Tokens, folder: Path) -> dict[str, str]:
    """Writes the coloured pictures of the theme below `folder`; returns paths by name. Raises OSError."""
    target = folder / ("dark" if theme.dark else "light")
    target.mkdir(parents=True, exist_ok=True)
    result = {}
    for name, (source, role) in _FILES.items():
        colour = theme[role]
        path = target / f"{name}-{colour[1:]}.svg"
        text = svg_text(source, colour, 24).replace('stroke-width="1.75"', 'stroke-width="2.4"')
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        result[name] = path.as_posix()
    return result


def style_sheet(theme: Tokens, pictures: dict[str, str]) -> str:
    """The whole sheet. Heights follow the application font, so build it again after a text size change."""
    control = control_height()
    values: dict[str, object] = dict(theme.colours)
    values.update({f"pic_{name}": path for name, path in pictures.items()})
    values.update(
        inner=control - 2,
        tight=control - 4,
        bar=control - 8,
        arrow=icon_size(16),
        step=icon_size(12),
        drop=icon_size(16) + 8,
        drop_tight=icon_size(16) + 7,
        box=icon_size(16),
        radio=icon_size(16) // 2 + 1,
        rim=icon_size(5),
        pupil=icon_size(16) + 2 - 2 * icon_size(5),
        menu_item=max(28, control - 4),
        menu_line=control - 10,
        spin=scaled(20),
    )
    return _template().substitute(values)


@cache
def _template() -> Template:
    return Template((ROOT / "theme" / "style.qss").read_text(encoding="utf-8"))

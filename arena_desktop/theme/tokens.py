"""The design tokens as values: colours by name, model colours and shapes, sizes.

The only source of a colour in the front end. Which set is in force is read from the application
palette, so nothing here keeps state: a widget that asks while it paints is right after a switch.
QtGui only, because charts and reports use it without any widget.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from PySide6.QtGui import QColor, QGuiApplication, QPalette

from resources import ROOT

RADIUS_CARD = 10
RADIUS_FIELD = 8
RADIUS_PAGE = 12
RAIL_WIDTH = 216
RAIL_ITEM = 36
TABLE_HEAD = 36
TABLE_ROW = 40
TABLE_ROW_TWO_LINES = 52
TABLE_ROW_LIST = 56
CONTROL = 32
CHIP = 22
MENU_BAR = 30
STATUS_BAR = 34
STRIP = 48
NARROW = 1100
"""Below this window width margins shrink and the detail pane goes below the table."""


@dataclass(frozen=True)
class Tokens:
    """One theme. `dark` tells which; `[name]` gives the hex text, `color(name)` a QColor."""

    dark: bool
    colours: Mapping[str, str]
    models: tuple[str, ...]
    shapes: tuple[str, ...]

    def __getitem__(self, name: str) -> str:
        return self.colours[name]

    def color(self, name: str, alpha: float = 1.0) -> QColor:
        """A fresh QColor; `alpha` 0..1."""
        colour = QColor(self.colours[name])
        if alpha < 1.0:
            colour.setAlphaF(alpha)
        return colour

    def model_color(self, index: int) -> QColor:
        """The colour of the model at `index` in project order; starts again after ten."""
        return QColor(self.models[index % len(self.models)])

    def model_shape(self, index: int) -> str:
        """The shape that goes with the same number."""
        return self.shapes[index % len(self.shapes)]

    def __hash__(self) -> int:
        return hash((self.dark, self.colours["line"]))


@cache
def _raw() -> dict[str, Any]:
    return json.loads((ROOT / "theme" / "tokens.json").read_text(encoding="utf-8"))


@cache
def light() -> Tokens:
    """The light theme; also what everything printed uses."""
    return _tokens("light")


@cache
def dark() -> Tokens:
    """The dark theme."""
    return _tokens("dark")


@cache
def more_contrast(is_dark: bool) -> Tokens:
    """The theme for people whose system asks for more contrast: lines and second text drawn stronger."""
    base = dark() if is_dark else light()
    colours = dict(base.colours)
    colours.update(line=base["line2"], line3=base["line2"], line2=base["text2"], text2=base["text"])
    colours.update(text3=base["text2"], dis=base["text3"])
    return Tokens(base.dark, MappingProxyType(colours), base.models, base.shapes)


def current(palette: QPalette | None = None) -> Tokens:
    """The theme in force, told from `palette` (default: the application's)."""
    palette = palette if palette is not None else QGuiApplication.palette()
    is_dark = palette.color(QPalette.ColorRole.Window).lightnessF() < 0.5
    if wants_contrast():
        return more_contrast(is_dark)
    return dark() if is_dark else light()


def wants_contrast() -> bool:
    """Whether the system asks for high contrast."""
    hints = QGuiApplication.styleHints()
    preference = hints.accessibility().contrastPreference()
    return preference.name == "HighContrast"


@dataclass(frozen=True, slots=True)
class TypeRole:
    """A text role: factor of the app font, weight, letter spacing in per cent."""

    factor: float
    weight: int
    spacing: float


@cache
def type_roles() -> Mapping[str, TypeRole]:
    """All text roles by name."""
    return MappingProxyType(
        {
            name: TypeRole(value["factor"], value["weight"], value.get("spacing", 100.0))
            for name, value in _raw()["type"].items()
        }
    )


def _tokens(name: str) -> Tokens:
    raw = _raw()
    return Tokens(
        dark=name == "dark",
        colours=MappingProxyType(dict(raw["themes"][name])),
        models=tuple(raw["models"][name]),
        shapes=tuple(raw["models"]["shapes"]),
    )

"""Fonts by role: factors of the application font, with figures of equal width.

Sizes are never set in the style sheet, because those would not follow the text size.
"""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF, QGuiApplication

from arena_desktop.theme.tokens import type_roles

_DESIGN_LINE_HEIGHT = 16.0
"""Line height of the app font in the design pictures (10 pt at 96 dpi)."""


def tabular(font: QFont) -> QFont:
    """The same font with figures that stand below each other."""
    result = QFont(font)
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def F(role: str, *, base: QFont | None = None, weight: int | None = None) -> QFont:
    """The font of a text role; the roles stand in `resources/theme/tokens.json`."""
    spec = type_roles()[role]
    font = tabular(base if base is not None else QGuiApplication.font())
    size = font.pointSizeF()
    if size > 0:
        font.setPointSizeF(size * spec.factor)
    else:
        font.setPixelSize(max(1, round(font.pixelSize() * spec.factor)))
    font.setWeight(QFont.Weight(weight if weight is not None else spec.weight))
    if spec.spacing != 100.0:
        font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, spec.spacing)
    return font


def text_scale() -> float:
    """How much taller the app font is than in the design pictures; at least 1.0."""
    height = QFontMetricsF(QGuiApplication.font()).height()
    return max(1.0, height / _DESIGN_LINE_HEIGHT)


def scaled(pixels: float) -> int:
    """A width of the design, grown with the text and rounded to a multiple of 4."""
    return max(4, round(pixels * text_scale() / 4) * 4)


def icon_size(pixels: float) -> int:
    """An icon or mark of the design, grown with the text; even."""
    return max(4, round(pixels * text_scale() / 2) * 2) if text_scale() > 1.0 else round(pixels)


def row_height(design: int, lines: int = 1) -> int:
    """A height of the design, never too low for `lines` of text plus air; a multiple of 4."""
    needed = QFontMetricsF(QGuiApplication.font()).height() * lines + (24 if lines == 1 else 16)
    return max(design, -(-int(needed + 0.999) // 4) * 4)


def control_height(design: int = 32) -> int:
    """The height of a button or field, never under the text plus 12; a multiple of 4."""
    needed = QFontMetricsF(QGuiApplication.font()).height() + 12
    return max(design, -(-int(needed + 0.999) // 4) * 4)

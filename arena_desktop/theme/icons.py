"""Icons: the SVG files of `resources/icons`, recoloured and rendered sharp for every pixel ratio.

`pixmap` for painters and delegates (cached), `icon` for buttons and actions, `svg_text` for files
that a style sheet names. Names are the file names without ending.
"""

from __future__ import annotations

from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from arena_desktop.theme.tokens import current
from resources import ROOT

_RATIOS = (1.0, 1.25, 1.5, 2.0, 3.0)
_SMALL = 16
_SMALL_LINE = "2.1"


@cache
def names() -> frozenset[str]:
    """All icon names."""
    return frozenset(path.stem for path in (ROOT / "icons").glob("*.svg"))


@cache
def _source(name: str) -> str:
    return (ROOT / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def svg_text(name: str, colour: str, size: float = 24) -> str:
    """The SVG text with the colour filled in; lines are thicker at 16 px and below."""
    text = _source(name).replace("currentColor", colour)
    if size <= _SMALL:
        text = text.replace('stroke-width="1.75"', f'stroke-width="{_SMALL_LINE}"')
    return text


@lru_cache(maxsize=1024)
def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """The icon as a pixmap of `size` logical pixels. Needs a QGuiApplication. Treat as read-only."""
    image = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer = QSvgRenderer(QByteArray(svg_text(name, colour, size).encode()))
    renderer.render(painter, QRectF(0, 0, size * ratio, size * ratio))
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image


def draw(painter: QPainter, name: str, colour: str | QColor, rect: QRectF) -> None:
    """Draws an icon into a square `rect`, sharp on the painter's device."""
    text = colour if isinstance(colour, str) else colour.name()
    ratio = painter.device().devicePixelRatioF()
    size = round(min(rect.width(), rect.height()))
    left = rect.x() + (rect.width() - size) / 2
    top = rect.y() + (rect.height() - size) / 2
    image = pixmap(name, text, size, ratio)
    place = QRectF(round(left * ratio) / ratio, round(top * ratio) / ratio, size, size)
    painter.drawPixmap(place, image, QRectF(image.rect()))


def icon(name: str, role: str = "text2", *, size: int = 16, air: int = 0) -> QIcon:
    """A QIcon in the colour of a token, with the disabled colour too. Ask again after a theme change.

    `air` adds empty pixels at the right, because the gap between icon and text of a button is fixed.
    """
    theme = current()
    return _icon(name, theme[role], theme["dis"], size, air)


@lru_cache(maxsize=256)
def _icon(name: str, colour: str, disabled: str, size: int, air: int) -> QIcon:
    result = QIcon()
    for ratio in _RATIOS:
        result.addPixmap(_widened(pixmap(name, colour, size, ratio), air))
        result.addPixmap(_widened(pixmap(name, disabled, size, ratio), air), QIcon.Mode.Disabled)
    return result


def _widened(image: QPixmap, air: int) -> QPixmap:
    if not air:
        return image
    ratio = image.devicePixelRatioF()
    wide = QPixmap(image.width() + round(air * ratio), image.height())
    wide.setDevicePixelRatio(ratio)
    wide.fill(Qt.GlobalColor.transparent)
    painter = QPainter(wide)
    painter.drawPixmap(0, 0, image)
    painter.end()
    return wide

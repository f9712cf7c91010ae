"""What all charts share: style, scale, grid, labels, and what can be pointed at."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPainter, QPen

from arena_desktop.theme.fonts import F
from arena_desktop.theme.paint import draw_shape, hline
from arena_desktop.theme.tokens import Tokens

MARKER = 9.0
WHISKER_ALPHA = 0.38
LABEL_STEP = 18.0
"""Names at line ends keep this distance."""
_STEPS = (5.0, 10.0, 20.0, 25.0)


@dataclass(frozen=True, slots=True)
class HitRow:
    """One line of a hover card: model number (None = no mark), name, value."""

    name: str
    value: str
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that can be pointed at: where, what the card says, what is spoken."""

    area: QRectF
    anchor: QPointF
    title: str
    rows: tuple[HitRow, ...]
    spoken: str
    rule: bool = False


@dataclass(slots=True)
class Drawing:
    """What a chart left on the paper."""

    plot: QRectF
    hits: list[Hit] = field(default_factory=list)

    def hit_at(self, point: QPointF) -> int:
        """The hit below a point, the nearest of several, or -1."""
        found = [n for n, hit in enumerate(self.hits) if hit.area.contains(point)]

        def distance(n: int) -> float:
            gap = self.hits[n].anchor - point
            return gap.x() ** 2 + gap.y() ** 2

        return min(found, key=distance) if found else -1


@dataclass(slots=True)
class Canvas:
    """Painter, tokens and base font of one drawing. `ground` is what lies behind (rings use it)."""

    painter: QPainter
    theme: Tokens
    font: QFont = field(default_factory=QGuiApplication.font)
    ground: str = "surface"

    def face(self, role: str) -> QFont:
        """A font by role from the base font."""
        return F(role, base=self.font)

    def metrics(self, role: str) -> QFontMetricsF:
        """Metrics of a role, for the device that is painted on."""
        return QFontMetricsF(self.face(role), self.painter.device())

    def text(
        self, point: QPointF, text: str, *, role: str = "caption", ink: str = "text3", side: str = "left"
    ) -> QRectF:
        """Text whose vertical middle is at `point`; `side` says which end of it is there."""
        metrics = self.metrics(role)
        width, height = metrics.horizontalAdvance(text), metrics.height()
        left = {"left": point.x(), "right": point.x() - width, "middle": point.x() - width / 2}[side]
        box = QRectF(left, point.y() - height / 2, width, height)
        self.painter.setFont(self.face(role))
        self.painter.setPen(self.theme.color(ink))
        self.painter.drawText(
            box.adjusted(-1, 0, 2, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text
        )
        return box

    def line(
        self, a: QPointF, b: QPointF, colour: QColor, width: float = 2.0, dash: list[float] | None = None
    ) -> None:
        """A line with round ends, dashed when `dash` is given (in pixels)."""
        pen = QPen(colour, width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap if dash else Qt.PenCapStyle.RoundCap)
        if dash:
            pen.setDashPattern([part / width for part in dash])
        self.painter.setPen(pen)
        self.painter.drawLine(a, b)

    def marker(self, centre: QPointF, index: int, *, muted: bool = False, size: float = MARKER) -> None:
        """A model's shape with a ring of the ground."""
        colour = self.theme.color("text3") if muted else self.theme.model_color(index)
        ring = self.theme.color(self.ground)
        draw_shape(self.painter, self.theme.model_shape(index), centre, size, colour, ring=ring)

    def ink_of(self, index: int, muted: bool, alpha: float = 1.0) -> QColor:
        """A model's colour, or grey where it is left out."""
        colour = self.theme.color("text3") if muted else self.theme.model_color(index)
        colour.setAlphaF(alpha)
        return colour


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight scale: `at(value)` in pixels. `ticks` are round values, four or five."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        """The place of a value; the ends hold what lies outside."""
        if self.high == self.low:
            return self.start
        share = (min(self.high, max(self.low, value)) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def score_scale(values: list[float], top: float, bottom: float) -> Scale:
    """A scale for scores up to 100 that starts below the least value but not lower than it must."""
    least = min([*values, 90.0])
    step = next((s for s in _STEPS if (100 - least) / s <= 4), 25.0)
    # The lowest line may stand half a step above the foot, so that no room is wasted.
    first = max(0.0, ((least + step / 2) // step) * step)
    foot = max(0.0, first - step / 2)
    count = int((100 - first) / step)
    return Scale(foot, 100.0, bottom, top, tuple(first + step * n for n in range(count + 1)))


def money_scale(most: float, left: float, right: float) -> Scale:
    """A scale from free to a round amount at or above `most`."""
    if most <= 0:
        return Scale(0.0, 1.0, left, right, (0.0,))
    step = _round_up(most / 4)
    return Scale(0.0, step * 4, left, right, tuple(step * n for n in range(5)))


def gutter(canvas: Canvas) -> float:
    """The room left of a plot for its figures."""
    return max(36.0, canvas.metrics("caption").horizontalAdvance("100") + 12)


def draw_grid(canvas: Canvas, plot: QRectF, scale: Scale) -> None:
    """Horizontal lines with their figures left, and the foot of the plot."""
    for tick in scale.ticks:
        y = scale.at(tick)
        if tick > scale.low:
            hline(canvas.painter, plot.x(), y, plot.width(), canvas.theme.color("line"))
        canvas.text(QPointF(plot.x() - 8, y), f"{tick:.0f}", side="right")
    hline(canvas.painter, plot.x(), plot.bottom(), plot.width(), canvas.theme.color("line3"))


def two_lines(metrics: QFontMetricsF, name: str, room: float, more: float = 0.0) -> list[str]:
    """A name in one line or two. The second has `more` room, and takes all of a name whose first word
    is too long for the first one; what does not fit at all is cut."""
    if metrics.horizontalAdvance(name) <= room:
        return [name]
    first = ""
    words = name.split(" ")
    while len(words) > 1 and metrics.horizontalAdvance(f"{first} {words[0]}".strip()) <= room:
        first = f"{first} {words.pop(0)}".strip()
    rest = name if not first else " ".join(words)
    return [first, metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room + more)]


def spread(wanted: list[float], step: float, top: float, bottom: float) -> list[float]:
    """Moves labels apart to at least `step`, as little as possible and inside the plot when they fit."""
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    placed: list[float] = []
    for n in order:
        placed.append(max(wanted[n], placed[-1] + step) if placed else max(wanted[n], top))
    for k in range(len(placed) - 1, -1, -1):
        limit = bottom if k == len(placed) - 1 else placed[k + 1] - step
        placed[k] = min(placed[k], limit)
    result = [0.0] * len(wanted)
    for place, n in zip(placed, order, strict=True):
        result[n] = place
    return result


def _round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** len(str(int(value))) / 10 if value >= 1 else 1.0
    while power > value and power > 1e-9:
        power /= 10
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= value - 1e-12)

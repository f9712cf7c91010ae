"""Progress of a run: one bar cut into done, failed, on their way, waiting."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy

from arena_desktop.theme import current

SQUARES = {"done": "accent", "failed": "bad", "under_way": "band", "waiting": "track"}
"""The token of each part; the counters' squares use the same."""
_GAP = 2.0
_LEAST = 3.0


class RunProgress(QProgressBar):
    """The bar of a run. Done and failed never fall; what is on its way is never counted as done."""

    def __init__(self, spoken: str, *, height: int = 10, name: str = "") -> None:
        super().__init__()
        self._parts = {"done": 0, "failed": 0, "under_way": 0, "waiting": 0}
        self._calm = ""
        self._height = height
        self.setTextVisible(False)
        self.setAccessibleName(spoken)
        self.setRange(0, 1)
        self.setValue(0)
        self.setFixedHeight(height)
        self.setProperty("kind", "run")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if name:
            self.setObjectName(name)

    def set_counts(self, *, done: int, failed: int, under_way: int, waiting: int) -> None:
        """The four counts; together they are the total."""
        self._parts = {"done": done, "failed": failed, "under_way": under_way, "waiting": waiting}
        total = max(1, sum(self._parts.values()))
        if total != self.maximum():
            self.setMaximum(total)
        self.setValue(done + failed)
        self.update()

    def set_calm(self, tone: str) -> None:
        """ "warn" while paused or waiting, "bad" only when all is blocked and the person can act, "" else."""
        if tone != self._calm:
            self._calm = tone
            self.update()

    def counts(self) -> dict[str, int]:
        """The four counts."""
        return dict(self._parts)

    def sizeHint(self) -> QSize:
        return QSize(240, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The sheet may give the widget more height than the bar has: the bar stays in the middle.
        top = (self.height() - self._height) // 2
        box = QRectF(0, top, self.width(), self._height)
        # The ends are round, the cuts straight: clip to the round bar, then fill pieces.
        path = QPainterPath()
        path.addRoundedRect(box, self._height / 2, self._height / 2)
        painter.setClipPath(path)
        left = 0.0
        for name, width in self._widths(box.width()):
            token = SQUARES[name]
            if name == "done" and self._calm:
                token = self._calm
            painter.fillRect(QRectF(left, top, width, self._height), theme.color(token))
            left += width + _GAP

    def _widths(self, room: float) -> list[tuple[str, float]]:
        shown = [(name, count) for name, count in self._parts.items() if count > 0]
        if not shown:
            return [("waiting", room)]
        room -= _GAP * (len(shown) - 1)
        total = sum(count for _name, count in shown)
        widths = {name: max(_LEAST, room * count / total) for name, count in shown}
        widest = max(widths, key=lambda name: widths[name])
        widths[widest] -= sum(widths.values()) - room
        return list(widths.items())

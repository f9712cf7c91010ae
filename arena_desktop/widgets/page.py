"""The frame of a page: header (title left, controls right), strips, body, and the plane it sits on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from arena_desktop.theme import control_height, current, text_scale
from arena_desktop.theme.paint import hairline_width
from arena_desktop.theme.switch import set_role
from arena_desktop.theme.tokens import NARROW, RADIUS_PAGE
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import LOOK_CHANGES, Label
from arena_desktop.widgets.strip import StripStack

MARGIN = 32
MARGIN_NARROW = 24
TOP = 24


def takes_keys(widget: QWidget) -> bool:
    """Whether Tab stops at a widget now."""
    stops = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return stops and widget.isEnabled() and widget.isVisible()


def first_focus(part: QWidget) -> QWidget | None:
    """The first widget in a part that takes the focus by Tab."""
    return next((widget for widget in (part, *part.findChildren(QWidget)) if takes_keys(widget)), None)


def is_narrow(width: int) -> bool:
    """Whether a window of this width is narrow: below 1100 px, more when the text is larger."""
    return width < NARROW * text_scale()


class PageHeader(QWidget):
    """Title with an optional sentence below; `controls` at the right, the primary button last.

    The sentence has the whole width, so that wide controls never press it into a narrow column.
    """

    _room = 0

    def __init__(self, title: str, subtitle: str = "") -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        words = QVBoxLayout(self)
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(4)
        self._row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(8)
        self.title = Label(title, "title", name="page_title")
        self.subtitle = Label(subtitle, "body", colour="text2", wrap=True)
        self.subtitle.setVisible(bool(subtitle))
        row.addWidget(self.title, 1, Qt.AlignmentFlag.AlignTop)
        self.controls = FlowLayout(right=True)
        row.addLayout(self.controls)
        words.addLayout(row)
        words.addWidget(self.subtitle)
        self._apply_height()

    def fit(self, width: int) -> None:
        """Puts the controls below the title where both do not fit into a line of this width."""
        self._room = width
        wanted = self.title.sizeHint().width() + self._row.spacing() + self.controls.minimumSize().width()
        way = QBoxLayout.Direction
        self._row.setDirection(way.LeftToRight if wanted <= width else way.TopToBottom)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and self._room:
            self.fit(self._room)
        return super().event(event)

    def set_lead(self, text: str) -> None:
        """A larger sentence below the title, as on Home."""
        set_role(self.subtitle, "lead")
        self.set_title(self.title.text(), text)

    def set_title(self, title: str, subtitle: str | None = None) -> None:
        """Other words; `subtitle` None leaves it."""
        self.title.setText(title)
        if subtitle is not None:
            self.subtitle.setText(subtitle)
            self.subtitle.setVisible(bool(subtitle))
        self._apply_height()

    def _apply_height(self) -> None:
        # The title stands in the middle beside the first line of controls.
        alone = self.subtitle.text() and not self.controls.count()
        self.title.setMinimumHeight(0 if alone else control_height())


class Page(QWidget):
    """Base of every page. Object name `page_<name>`.

    `header`, `strips` and `body` (a vertical layout) are there to be filled. With `scrolls` the page is
    as high as its content wishes; otherwise it fills the window, tables scroll by themselves, and the
    page scrolls as a whole only when its least heights do not fit. Pages override `set_narrow` to move
    a detail pane below when the window is narrow.
    """

    lands_on: tuple[str, ...] = ()
    """Object names of the controls where the keyboard goes when its place is gone; the first on show."""

    def __init__(self, name: str, title: str, *, scrolls: bool = False) -> None:
        super().__init__()
        self.setObjectName(f"page_{name}")
        self.setAccessibleName(title)
        self.page_name = name
        self.header = PageHeader(title)
        self.strips = StripStack()
        self._narrow = False
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        inner = QWidget() if scrolls else _FillingBody()
        inner.setObjectName("scroll_body")
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.viewport().setAutoFillBackground(False)
        self.scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll.setAccessibleName(title)
        self.scroll.setWidget(inner)
        inner.setAutoFillBackground(False)
        outer.addWidget(self.scroll)
        self._inner = QVBoxLayout(inner)
        self._inner.setSpacing(16)
        self._inner.addWidget(self.header)
        self._inner.addWidget(self.strips)
        self.body = QVBoxLayout()
        self.body.setSpacing(16)
        self._inner.addLayout(self.body, 1)
        self._set_margins()

    def take_window_strips(self, stack: StripStack) -> None:
        """The window's own messages stand below this page's header while it is shown."""
        self._inner.insertWidget(1, stack)
        stack.refresh()

    def set_narrow(self, narrow: bool) -> None:
        """Called when the window gets narrow or wide (see `is_narrow`)."""
        self._narrow = narrow
        self._set_margins()

    @property
    def narrow(self) -> bool:
        """Whether the window is narrow."""
        return self._narrow

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_header()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_inner"):
            self._fit_header()

    def _fit_header(self) -> None:
        margins = self._inner.contentsMargins()
        # Whether the page scrolls may depend on the header: it always leaves room for the bar.
        bar = self.scroll.verticalScrollBar().sizeHint().width()
        self.header.fit(self.width() - margins.left() - margins.right() - bar)

    def landing(self) -> QWidget | None:
        """The first of `lands_on` that can take the keyboard now."""
        named = (self.findChild(QWidget, name) for name in self.lands_on)
        return next((widget for widget in named if widget is not None and takes_keys(widget)), None)

    def _set_margins(self) -> None:
        side = MARGIN_NARROW if self._narrow else MARGIN
        self._inner.setContentsMargins(side, TOP, side, 20)


class _FillingBody(QWidget):
    """A body that may be pressed to its least height before its scroll area scrolls."""

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalMinimumHeightForWidth(width) if layout is not None else -1


class PageArea(QWidget):
    """The plane at the right of the rail: round top-left corner with a hairline; holds the pages."""

    def __init__(self) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 1, 0, 0)
        layout.setSpacing(0)
        self.stack = QStackedWidget()
        layout.addWidget(self.stack)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        thick = hairline_width(self.devicePixelRatioF())
        inset, radius = thick / 2, RADIUS_PAGE
        width, height = self.width() + 4.0, self.height() + 4.0
        path = QPainterPath()
        path.moveTo(inset, height)
        path.lineTo(inset, radius)
        path.arcTo(QRectF(inset, inset, 2 * radius, 2 * radius), 180, -90)
        path.lineTo(width, inset)
        path.lineTo(width, height)
        path.closeSubpath()
        painter.setPen(QPen(theme.color("line"), thick))
        painter.setBrush(theme.color("page"))
        painter.drawPath(path)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = is_narrow(self.window().width())
        for index in range(self.stack.count()):
            page = self.stack.widget(index)
            if isinstance(page, Page) and page.narrow != narrow:
                page.set_narrow(narrow)

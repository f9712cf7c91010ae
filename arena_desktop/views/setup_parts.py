"""What the set-up pages share: the states of a page without a project, values as text, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.theme import current, scaled
from arena_desktop.theme import icons as theme_icons
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, CardHead, Divider
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.forms import LABEL_WIDTH
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.scrolled import Scrolled
from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from arena_desktop.wording.setup import problem_parts
from engine.domain import Problem, Severity

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.project_desk import OpenProject
    from engine.execution.preflight import Preflight

SHOWN_CHARACTERS = 4_000
"""Of a long text this much is laid out at first; the rest on demand."""
_SHOWN_FAULTS = 40


class SetupView(Page):
    """A page about the open project. `content` takes its parts; without a project an empty state stands.

    Subclasses override `show_project` and `show_preflight`; both run on the GUI thread, the first also
    when the project's files were read again.
    """

    def __init__(self, context: AppContext, name: str, title: str, *, scrolls: bool = False) -> None:
        super().__init__(name, title, scrolls=scrolls)
        self.context = context
        self._nothing = EmptyState(
            self.tr("No project is open."),
            self.tr("Open one, or try the sample."),
            self.tr("Go to Home"),
        )
        self._nothing.pressed.connect(lambda: context.page_wanted.emit("home"))
        self._holder = QWidget()
        self.content = QVBoxLayout(self._holder)
        self.content.setContentsMargins(0, 0, 0, 0)
        self.content.setSpacing(16)
        self.body.addWidget(self._nothing, 1)
        self.body.addWidget(self._holder, 1)
        context.projects.opened.connect(self._on_opened)
        context.projects.examined.connect(self._on_examined)
        context.projects.closed.connect(self._on_closed)

    def begin(self) -> None:
        """Shows what is there now; the last step of a subclass's constructor."""
        opened, preflight = self.context.projects.current, self.context.projects.preflight
        if opened is None:
            self._on_closed()
            return
        self._on_opened(opened)
        if preflight is not None:
            self._on_examined(preflight)

    def show_project(self, opened: OpenProject) -> None:
        """The project was loaded, faults included; nothing is known yet about its connections."""

    def show_preflight(self, preflight: Preflight) -> None:
        """The project's connections were looked at."""

    def controls(self) -> Iterable[QWidget]:
        """The widgets of the header, hidden while no project is open."""
        layout = self.header.controls
        return [item for n in range(layout.count()) if (item := layout.itemAt(n).widget()) is not None]

    def _show_content(self, shown: bool) -> None:
        self._holder.setVisible(shown)
        self._nothing.setVisible(not shown)
        for widget in self.controls():
            widget.setVisible(shown)

    def _on_opened(self, opened: OpenProject) -> None:
        self.strips.close_all()
        self._show_content(True)
        self.show_project(opened)

    def _on_examined(self, preflight: Preflight) -> None:
        if self.context.projects.current is not None:
            self.show_preflight(preflight)

    def _on_closed(self) -> None:
        self.strips.close_all()
        self._show_content(False)


def clear(layout: QLayout) -> None:
    """Takes everything out of a layout, nested layouts too, and ends the widgets."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear(inner)


class Glyph(QWidget):
    """A small icon beside words that say the same: decoration for the eye."""

    def __init__(self, icon: str, token: str, size: int = 16) -> None:
        super().__init__()
        self._icon, self._token = icon, token
        self.setFixedSize(size, size)

    def set_glyph(self, icon: str, token: str) -> None:
        """Another icon."""
        self._icon, self._token = icon, token
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme_icons.draw(QPainter(self), self._icon, current()[self._token], QRectF(self.rect()))


class RoomyArea(Scrolled):
    """A scroll area that is as high as its content where there is room, and scrolls where there is not."""

    def __init__(self, content: QWidget, spoken: str, *, least: int = 64) -> None:
        super().__init__(content, spoken)
        self._least = least
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def content_changed(self) -> None:
        """To be called after other content was put in."""
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._wanted())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, min(self._wanted(), scaled(self._least)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def _wanted(self) -> int:
        layout = self.widget().layout()
        layout.activate()
        wide = self.viewport().width()
        return layout.heightForWidth(wide) if layout.hasHeightForWidth() else layout.sizeHint().height()


class ValueText(QWidget):
    """A text as it is, selectable. A long one is cut; "Show all" lays out the rest."""

    def __init__(self, text: str = "", *, missing: str = "", name: str = "", spoken: str = "") -> None:
        super().__init__()
        self._text = ""
        self._missing = missing or self.tr("Nothing")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        self.label = Label("", wrap=True, name=name).selectable()
        self._spoken = spoken
        self._more = Button("", "quiet", name="button_show_all")
        self._more.clicked.connect(self._on_more)
        layout.addWidget(self.label)
        layout.addWidget(self._more)
        self.set_text(text)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Shows another text from its beginning."""
        self._text = text
        cut = len(text) > SHOWN_CHARACTERS
        self.label.setText(text[:SHOWN_CHARACTERS] + "…" if cut else text or self._missing)
        if self._spoken:
            self.label.setAccessibleName(f"{self._spoken}: {self.label.text()}")
        self._more.setVisible(cut)
        words = self.tr("Show all ({count} characters)")
        self._more.setText(words.format(count=formats.whole(len(text))))

    def _on_more(self) -> None:
        self.label.setText(self._text)
        self._more.hide()


class ValueRows(QWidget):
    """Pairs of label and value: label left as in a form, value as text, help below the label."""

    def __init__(self, rows: Sequence[tuple[str, str]] = (), *, above: bool = False) -> None:
        super().__init__()
        self._above = above
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4 if above else 12)
        self._grid.setColumnStretch(0 if above else 1, 1)
        if not above:
            self._grid.setColumnMinimumWidth(0, scaled(LABEL_WIDTH))
        self.set_rows(rows)

    def set_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """Other pairs."""
        clear(self._grid)
        for number, (label, value) in enumerate(rows):
            self.add(number, label, ValueText(value, spoken=label))

    def add(self, number: int, label: str, value: QWidget, help_text: str = "") -> None:
        """Puts a pair into row `number`."""
        words = QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        role, colour = ("head", "text2") if self._above else ("name", "text")
        column.addWidget(Label(label, role, colour=colour, wrap=True))
        if help_text:
            column.addWidget(Label(help_text, "caption", colour="text2", wrap=True))
        if self._above:
            self._grid.addWidget(words, 3 * number, 0)
            self._grid.addWidget(value, 3 * number + 1, 0)
            self._grid.setRowMinimumHeight(3 * number + 2, 8)
            return
        column.addStretch(1)
        self._grid.addWidget(words, number, 0)
        self._grid.addWidget(value, number, 1, Qt.AlignmentFlag.AlignTop)


class FaultList(Card):
    """What is wrong in the project's files: where, what, what to do. Hidden while nothing is."""

    def __init__(self, show_place: Callable[[Problem], None] | None = None) -> None:
        super().__init__(name="card_faults")
        self._show_place = show_place
        self._head = CardHead("")
        self.body.addWidget(self._head)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(12)
        self.body.addLayout(self._rows)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Lists errors first; a very long list is cut."""
        ordered = sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR)
        errors = sum(problem.severity is Severity.ERROR for problem in ordered)
        self._head.title.setText(self._title(errors, len(ordered) - errors))
        self._head.set_caption(
            self.tr("The project can be looked at. It runs once these are mended.")
            if errors
            else self.tr("The project runs all the same.")
        )
        clear(self._rows)
        for number, problem in enumerate(ordered[:_SHOWN_FAULTS]):
            if number:
                self._rows.addWidget(Divider())
            self._rows.addWidget(self._row(problem))
        hidden = len(ordered) - _SHOWN_FAULTS
        if hidden > 0:
            more = self.tr("{count} more are not listed. Mend these first.")
            self._rows.addWidget(Label(more.format(count=formats.whole(hidden)), "caption", colour="text2"))
        self.setVisible(bool(ordered))

    def _title(self, errors: int, warnings: int) -> str:
        if errors:
            return counted(errors, self.tr("1 fault to mend"), self.tr("{count} faults to mend"))
        return counted(warnings, self.tr("1 thing to know"), self.tr("{count} things to know"))

    def _row(self, problem: Problem) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        bad = problem.severity is Severity.ERROR
        row.addWidget(
            Glyph("bad" if bad else "warn", "bad" if bad else "warn", 20), 0, Qt.AlignmentFlag.AlignTop
        )
        words = QVBoxLayout()
        words.setSpacing(2)
        message, fix = problem_parts(problem)
        words.addWidget(Label(message, "name", wrap=True).selectable())
        if fix:
            words.addWidget(Label(fix, wrap=True, colour="text2").selectable())
        row.addLayout(words, 1)
        if problem.file:
            row.addWidget(self._place(problem), 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _place(self, problem: Problem) -> QWidget:
        place = place_words(problem)
        if self._show_place is None:
            return Label(place, "caption", colour="text2")
        button = Button(place, "quiet", name="button_show_place")
        spoken = self.tr("Show {place}: {message}")
        button.setAccessibleName(spoken.format(place=place, message=problem_parts(problem)[0]))
        show = self._show_place
        button.clicked.connect(lambda: show(problem))
        return button


def place_words(problem: Problem) -> str:
    """Where a fault is: `config.yaml:12`."""
    return problem.file if problem.line is None else f"{problem.file}:{problem.line}"


class QuietNote(QWidget):
    """A grey sentence with a small icon, for what stands below a card."""

    def __init__(self, icon: str, text: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(Glyph(icon, "text2"), 0, Qt.AlignmentFlag.AlignTop)
        self.label = Label(text, "caption", colour="text2", wrap=True)
        row.addWidget(self.label, 1)

"""Nothing gets wider than its window: flow layout, pages, cards that turn."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from arena_desktop.theme.switch import Theme
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.facts import Fact, FactColumn
from arena_desktop.widgets.fields import Combo, TextArea
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label, Span
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.verdict_card import VerdictButton, VerdictCard, VerdictText


@pytest.fixture
def box(qtbot, theme: Theme) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def fill(box: QWidget, count: int, *, right: bool = False) -> tuple[FlowLayout, list[QPushButton]]:
    flow = FlowLayout(box, gap=10, line_gap=6, right=right)
    buttons = [Button(f"Number {n}") for n in range(count)]
    for button in buttons:
        button.setFixedSize(100, 32)
        flow.addWidget(button)
    return flow, buttons


def test_lines_are_broken_where_there_is_no_room(box: QWidget) -> None:
    flow, buttons = fill(box, 3)
    box.resize(330, 32)
    box.show()
    assert [b.y() for b in buttons] == [0, 0, 0]
    assert [b.x() for b in buttons] == [0, 110, 220]
    box.resize(250, 70)
    QApplication.processEvents()
    assert [(b.x(), b.y()) for b in buttons] == [(0, 0), (110, 0), (0, 38)]
    assert flow.heightForWidth(250) == 70
    assert flow.heightForWidth(90) == 3 * 32 + 2 * 6
    assert flow.minimumSize().width() == 100
    assert flow.sizeHint().width() == 320


def test_lines_can_stand_at_the_right(box: QWidget) -> None:
    _flow, buttons = fill(box, 2, right=True)
    box.resize(400, 32)
    box.show()
    assert [b.x() for b in buttons] == [190, 300]


def test_a_stretch_pushes_what_follows_to_the_right(box: QWidget) -> None:
    flow = FlowLayout(box, gap=10)
    left, right = Button("Left"), Button("Right")
    for button in (left, right):
        button.setFixedSize(100, 32)
    flow.addWidget(left)
    flow.addStretch(1)
    flow.addWidget(right)
    box.resize(400, 32)
    box.show()
    assert (left.x(), right.x()) == (0, 300)


def test_hidden_widgets_take_no_room(box: QWidget) -> None:
    flow, buttons = fill(box, 3)
    box.resize(330, 32)
    box.show()
    buttons[0].hide()
    QApplication.processEvents()
    assert buttons[1].x() == 0
    assert flow.sizeHint().width() == 210
    assert flow.takeAt(7) is None
    assert flow.itemAt(0).widget() is buttons[0]
    flow.insertWidget(1, Button("New"))
    assert flow.count() == 4
    assert flow.itemAt(2).widget() is buttons[1]


def make_page() -> Page:
    page = Page("demo", "A page with a title", scrolls=True)
    combo = Combo("Run")
    combo.addItem("Run 12, today 14:05, complete, with a long name")
    for control in (combo, Button("Export…"), Button("Run again", "primary", icon="run")):
        page.header.controls.addWidget(control)
    card = VerdictCard()
    card.set_text(
        VerdictText(
            "Use Claude Opus 5 for this project.",
            (Span("It passed 45 of your 50 tests. " * 4),),
            "Too close to call",
            buttons=(
                VerdictButton("why", "Why this one?"),
                VerdictButton("change", "What could change this?"),
            ),
            facts=(Fact("71 of 100", "How often it comes first"), Fact("40", "more tests would settle it")),
        )
    )
    page.body.addWidget(card)
    page.body.addWidget(TextArea("Instructions", lines=6))
    page.body.addWidget(Label("A caption that is quite long " * 5, "caption", wrap=True))
    page.body.addStretch(1)
    return page


@pytest.mark.parametrize(("width", "percent"), [(1064, 100), (744, 100), (900, 150), (980, 200)])
def test_a_page_is_never_wider_than_its_window(qtbot, theme: Theme, width: int, percent: int) -> None:
    theme.set_text_percent(percent)
    page = make_page()
    qtbot.addWidget(page)
    page.resize(width, 640)
    page.show()
    QApplication.processEvents()
    assert page.scroll.widget().width() <= page.scroll.viewport().width()
    card = page.findChild(VerdictCard)
    for part in (*card.findChildren(Button), card.sentence, card.lead, card.facts):
        corner = part.mapTo(card, part.rect().bottomRight())
        assert card.rect().contains(corner), part
        if part.hasHeightForWidth():
            assert part.height() >= part.heightForWidth(part.width()) - 1, part


def test_facts_stand_beside_each_other_when_the_card_is_narrow(qtbot, theme: Theme) -> None:
    page = make_page()
    qtbot.addWidget(page)
    page.resize(1100, 640)
    page.show()
    facts = page.findChild(FactColumn)
    first, second = facts.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert second.y() > first.y()
    page.resize(640, 640)
    QApplication.processEvents()
    first, second = facts.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert second.x() > first.x()
    assert second.y() == first.y()


def test_a_page_that_fills_its_window_scrolls_only_when_it_must(qtbot, theme: Theme) -> None:
    page = Page("demo", "Demo")
    area = TextArea("Instructions", lines=12)
    page.body.addWidget(area)
    page.body.addStretch(1)
    qtbot.addWidget(page)
    page.resize(700, 700)
    page.show()
    QApplication.processEvents()
    assert page.scroll.verticalScrollBar().maximum() == 0
    page.resize(700, 200)
    QApplication.processEvents()
    assert page.scroll.verticalScrollBar().maximum() > 0
    assert area.height() >= area.minimumSizeHint().height()


def test_a_height_is_reckoned_once_until_something_changes(qtbot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    layout = FlowLayout(holder)
    widgets = [QWidget() for _ in range(3)]
    for widget in widgets:
        widget.setFixedSize(100, 20)
        layout.addWidget(widget)
    asked: list[int] = []
    arrange = layout._arrange

    def count(rect: QRect, *, place: bool) -> int:
        asked.append(rect.width())
        return arrange(rect, place=place)

    layout._arrange = count
    heights = [layout.heightForWidth(width) for width in (400, 150, 400, 150, 400)]
    assert heights == [20, 76, 20, 76, 20]
    assert asked == [400, 150]
    widgets[0].setFixedSize(100, 50)
    assert layout.heightForWidth(150) == 106
    widgets[1].hide()
    layout.activate()
    assert layout.heightForWidth(150) == 78

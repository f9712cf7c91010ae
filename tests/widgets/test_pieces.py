"""Buttons, strips, verdict, counters, progress, chips, fields: what they say and do."""

from __future__ import annotations

from decimal import Decimal

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.cells import Tone
from arena_desktop.theme import current
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.buttons import ActionCard, Button, ChoiceCard, IconButton
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.facts import Counter, Fact
from arena_desktop.widgets.fields import Combo, FilterField, MoneySpin, ShareSlider, Spin, TextArea
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.forms import FieldNote, FormGrid
from arena_desktop.widgets.labels import ElidedLabel, Label, LeadLabel, Span
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.progress import RunProgress
from arena_desktop.widgets.strip import Message, MessageStrip, StripButton, StripStack
from arena_desktop.widgets.verdict_card import VerdictButton, VerdictCard, VerdictText


def name_of(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


@pytest.fixture
def show(qtbot, theme: Theme):
    """Shows a widget in an active window and keeps it."""
    kept = []

    def put(widget: QWidget) -> QWidget:
        kept.append(widget)
        qtbot.addWidget(widget)
        with qtbot.waitActive(widget):
            widget.show()
            widget.activateWindow()
        return widget

    return put


def message(key: str = "k", tone: Tone = Tone.WARN, **more) -> Message:
    return Message(key, tone, "Anthropic asked us to slow down.", "Next try in 18 seconds.", **more)


def test_a_strip_says_both_sentences_and_closes_by_escape(show, qtbot) -> None:
    strip = show(MessageStrip(message(buttons=(StripButton("Details", lambda: None),))))
    assert name_of(strip) == "Anthropic asked us to slow down. Next try in 18 seconds."
    button = strip.findChild(Button, "message_button_1")
    button.setFocus()
    with qtbot.waitSignal(strip.closed) as closed:
        QTest.keyClick(button, Qt.Key.Key_Escape)
    assert closed.args == ["k"]


def test_a_strip_that_leaves_by_itself_has_no_close(show) -> None:
    strip = show(MessageStrip(message(can_close=False)))
    assert not strip.findChild(IconButton).isVisible()


def test_two_strips_are_shown_and_the_rest_on_demand(show) -> None:
    stack = stacked(show)
    for number in range(4):
        stack.show_message(message(str(number)))
    strips = stack.findChildren(MessageStrip)
    assert [s.message.key for s in strips if s.isVisible()] == ["2", "3"]
    more = stack.findChild(Button, "button_more_messages")
    assert "2" in more.text()
    QTest.mouseClick(more, Qt.MouseButton.LeftButton)
    assert all(s.isVisible() for s in strips)
    assert [m.key for m in stack.messages()] == ["3", "2", "1", "0"]


def test_the_same_key_changes_the_strip_in_place(show) -> None:
    stack = stacked(show)
    pressed = []
    stack.show_message(message(buttons=(StripButton("Details", lambda: pressed.append("old")),)))
    strip = stack.findChild(MessageStrip)
    stack.show_message(message(buttons=(StripButton("Details", lambda: pressed.append("new")),)))
    assert stack.findChildren(MessageStrip) == [strip]
    QTest.mouseClick(strip.findChild(Button, "message_button_1"), Qt.MouseButton.LeftButton)
    assert pressed == ["new"]


def test_closing_takes_the_newest_that_may_go(show) -> None:
    stack = stacked(show)
    stack.show_message(message("stays", can_close=False))
    stack.show_message(message("goes"))
    assert stack.close_newest()
    assert [m.key for m in stack.messages()] == ["stays"]
    assert not stack.close_newest()
    stack.close_all()
    assert not stack.isVisible()
    stack.close_message("unknown")


def stacked(show) -> StripStack:
    """A stack in a window: alone it hides while it is empty."""
    box = QWidget()
    stack = StripStack()
    QVBoxLayout(box).addWidget(stack)
    show(box)
    return stack


def verdict() -> VerdictText:
    return VerdictText(
        "Use <b>Claude</b> for this project.",
        (Span("It passed "), Span("45 of your 50 tests", True), Span(" & <i>more</i>.")),
        "Too close to call",
        buttons=(VerdictButton("why", "Why this one?"), VerdictButton("copy", "Copy", True, "copy")),
        facts=(Fact("71 of 100", "first"), Fact("40", "more tests"), Fact("3", "too many")),
    )


def test_the_verdict_shows_what_it_is_given_and_interprets_nothing(show, qtbot) -> None:
    card = show(VerdictCard())
    card.set_text(verdict())
    sentence = card.findChild(Label, "label_verdict")
    assert sentence.text() == "Use <b>Claude</b> for this project."
    assert sentence.textFormat() == Qt.TextFormat.PlainText
    lead = card.findChild(LeadLabel, "label_recommendation")
    assert lead.text() == "It passed 45 of your 50 tests & <i>more</i>."
    assert name_of(lead) == lead.text()
    assert card.chip.text == "Too close to call"
    figures = [label.text() for label in card.facts.findChildren(Label)]
    assert figures == ["71 of 100", "first", "40", "more tests"]
    with qtbot.waitSignal(card.pressed) as pressed:
        QTest.mouseClick(card.button("why"), Qt.MouseButton.LeftButton)
    assert pressed.args == ["why"]
    assert verdict().plain().endswith("& <i>more</i>.")


def test_the_verdict_can_be_said_again_with_less(show) -> None:
    card = show(VerdictCard())
    card.set_text(verdict())
    card.set_text(VerdictText("No result yet."))
    assert not card.chip.isVisible()
    assert not card.facts.isVisible()
    assert not card.lead.isVisible()
    assert card.button("why") is None


def test_progress_counts_are_honest(show) -> None:
    bar = show(RunProgress("Answers", name="progress_run"))
    bar.resize(400, 10)
    bar.set_counts(done=50, failed=3, under_way=7, waiting=40)
    assert (bar.value(), bar.maximum()) == (53, 100)
    assert name_of(bar) == "Answers"
    widths = dict(bar._widths(400.0))
    assert sum(widths.values()) + 2 * 3 == pytest.approx(400.0)
    assert widths["done"] > widths["waiting"] > widths["under_way"] > widths["failed"]
    picture = bar.grab().toImage()
    assert picture.pixelColor(100, 5) == current().color("accent")
    assert picture.pixelColor(390, 5) == current().color("track")
    bar.set_calm("warn")
    assert bar.grab().toImage().pixelColor(100, 5) == current().color("warn")


def test_a_few_failures_among_many_can_still_be_seen(show) -> None:
    bar = show(RunProgress("Answers"))
    bar.set_counts(done=99_998, failed=1, under_way=1, waiting=0)
    assert min(width for _name, width in bar._widths(200.0)) >= 3.0
    bar.set_counts(done=0, failed=0, under_way=0, waiting=0)
    assert bar._widths(200.0) == [("waiting", 200.0)]


def test_counters_speak_their_caption(show) -> None:
    counter = show(Counter("Done", square="accent"))
    counter.set_figure("409")
    assert name_of(counter.figure) == "Done: 409"


def test_chips_and_icon_buttons_have_names(show) -> None:
    chip = show(Chip("Needs a key", Tone.WARN))
    assert name_of(chip) == "Needs a key"
    chip.set_chip("Ready", Tone.GOOD)
    assert name_of(chip) == "Ready"
    button = show(IconButton("close", "Close this message"))
    assert name_of(button) == "Close this message"
    assert button.toolTip() == "Close this message"


def test_buttons_take_their_kind_and_colour(show) -> None:
    button = show(Button("Run for about $1.52", "primary", icon="run"))
    button.resize(button.sizeHint())
    assert button.height() == 32
    assert button.grab().toImage().pixelColor(8, 16) == current().color("accent")
    button.set_kind("quiet")
    assert button.grab().toImage().pixelColor(8, 4) != current().color("accent")


def test_button_icons_follow_the_theme(show, theme: Theme) -> None:
    button = show(Button("Export…", icon="export"))
    before = button.icon().pixmap(16, 16).toImage()
    theme.set_appearance(Appearance.DARK)
    assert button.icon().pixmap(16, 16).toImage() != before


def test_cards_are_buttons(show, qtbot) -> None:
    card = show(ActionCard("sample", "Try the sample", "No key, no cost", lead=True))
    assert isinstance(card, QPushButton)
    assert name_of(card) == "Try the sample"
    card.setFocus()
    with qtbot.waitSignal(card.clicked):
        QTest.keyClick(card, Qt.Key.Key_Return)


def test_choice_cards_exclude_each_other(show) -> None:
    box = QWidget()
    layout = QVBoxLayout(box)
    quick, whole = ChoiceCard("Quick look", "5 tests"), ChoiceCard("All tests", "600 questions")
    layout.addWidget(quick)
    layout.addWidget(whole)
    show(box)
    quick.setChecked(True)
    QTest.mouseClick(whole, Qt.MouseButton.LeftButton, pos=QPoint(whole.width() - 5, whole.height() - 5))
    assert whole.isChecked()
    assert not quick.isChecked()


def test_long_words_end_in_an_ellipsis_and_stand_in_the_tooltip(show) -> None:
    label = show(ElidedLabel("A very long name of a model that does not fit"))
    label.resize(80, 24)
    label.grab()
    assert label.toolTip() == label.text()


def test_money_is_exact_and_may_be_none(show) -> None:
    box = show(MoneySpin("Stop a run at", none_text="none"))
    box.set_amount(Decimal("2.10"))
    assert box.amount() == Decimal("2.10")
    box.set_amount(None)
    assert box.amount() is None
    assert box.text() == "none"
    box.stepUp()
    assert box.amount() == Decimal("0.00")
    assert name_of(box) == "Stop a run at"


@pytest.mark.parametrize("make", [lambda: Combo("Service"), lambda: Spin("Times asked", 1, 20)])
def test_the_wheel_does_not_change_a_field_without_focus(show, make) -> None:
    field, other = make(), QLineEdit()
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.addWidget(field)
    layout.addWidget(other)
    if isinstance(field, Combo):
        field.addItems(["a", "b", "c"])
    show(box)
    other.setFocus()
    read = field.currentIndex if isinstance(field, Combo) else field.value
    before = read()

    def turn() -> None:
        where = QPointF(field.rect().center())
        QApplication.sendEvent(
            field,
            QWheelEvent(
                where,
                QPointF(field.mapToGlobal(field.rect().center())),
                QPoint(0, 0),
                QPoint(0, -120 if isinstance(field, Combo) else 120),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            ),
        )

    turn()
    assert read() == before
    field.setFocus()
    turn()
    assert read() != before


def test_forms_name_their_fields_and_notes_say_why(show) -> None:
    form = FormGrid()
    name, note = QLineEdit(), FieldNote()
    label = form.add("&Name", name, help_text="Shown in the list", note=note)
    show(form)
    assert name_of(name) == "Name"
    assert label.buddy() is name
    note.show_note(name, "bad", "A project needs a name.")
    assert note.isVisible()
    assert name.property("state") == "bad"
    assert name.accessibleDescription() == "A project needs a name."
    note.show_note(name, "bad", "")
    assert not note.isVisible()
    assert not name.property("state")


def test_fields_keep_their_height_when_focused(show) -> None:
    box = QWidget()
    layout = QVBoxLayout(box)
    fields = [QLineEdit("a"), Spin("Number", 0, 9), Combo("Choice"), FilterField("Filter")]
    for field in fields:
        layout.addWidget(field)
    show(box)
    for field in fields:
        before = field.height()
        field.setFocus()
        QApplication.processEvents()
        assert field.height() == before == 32, type(field).__name__


def test_the_filter_field_empties_by_escape(show, qtbot) -> None:
    field = show(FilterField("Filter models"))
    assert name_of(field) == "Filter models"
    QTest.keyClicks(field, "abc")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""
    with qtbot.waitSignal(field.down_pressed):
        QTest.keyClick(field, Qt.Key.Key_Down)


def test_tab_leaves_a_text_area(show) -> None:
    box = QWidget()
    layout = QVBoxLayout(box)
    area, after = TextArea("Instructions"), QLineEdit()
    layout.addWidget(area)
    layout.addWidget(after)
    show(box)
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_Tab)
    assert after.hasFocus()


def test_weights_move_and_show_their_share(show, qtbot) -> None:
    row = show(ShareSlider("Low cost", 25, name="slider_cost"))
    with qtbot.waitSignal(row.moved) as moved:
        QTest.keyClick(row.slider, Qt.Key.Key_Right)
    assert moved.args == [26]
    assert name_of(row.slider) == "Low cost"
    row.set_share(40)
    assert row.findChildren(Label)[1].text() == "40"


def test_a_part_unfolds(show, qtbot) -> None:
    part = Collapsible("More choices", name="button_more_choices")
    inside = QLineEdit()
    part.content.addWidget(inside)
    show(part)
    assert not inside.isVisible()
    with qtbot.waitSignal(part.toggled):
        QTest.mouseClick(part.head, Qt.MouseButton.LeftButton)
    assert inside.isVisible()
    assert part.head.accessibleDescription() == "open"


def test_nothing_is_cut_at_twice_the_text_size(show, theme: Theme) -> None:
    box = QScrollArea()
    inner = QWidget()
    layout = QVBoxLayout(inner)
    things = [
        Button("Run for about $1.52", "primary", icon="run"),
        Button("Columns…", "quiet"),
        Label("A label"),
    ]
    for thing in things:
        layout.addWidget(thing)
    card = VerdictCard()
    card.set_text(verdict())
    layout.addWidget(card)
    box.setWidget(inner)
    box.setWidgetResizable(True)
    show(box)
    theme.set_text_percent(200)
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    QApplication.processEvents()
    buttons = [*things[:2], *card.findChildren(Button)]
    for thing in [*buttons, things[2]]:
        assert thing.height() >= thing.sizeHint().height(), thing.text()
        assert thing.width() >= thing.sizeHint().width(), thing.text()


# ---- small room and large text


def test_the_sentence_of_an_action_card_takes_a_second_line(qtbot: QtBot, theme: Theme) -> None:
    sentence = "No key, no cost, about 15 seconds"
    made = ActionCard("sample", "Try the sample", sentence, name="card_sample")
    qtbot.addWidget(made)
    wide, narrow = made.sizeHint().width(), 180
    assert made._sentence_lines(wide) == [sentence]
    lines = made._sentence_lines(narrow - 40)
    assert len(lines) == 2
    assert " ".join(lines) == sentence
    assert made.heightForWidth(wide) == made.sizeHint().height()
    assert made.heightForWidth(narrow) > made.heightForWidth(wide)
    assert made._sentence_lines(60)[1].endswith("…")


def test_a_subtitle_has_the_whole_width_and_controls_go_below_a_title_they_would_press(
    qtbot: QtBot, theme: Theme
) -> None:
    page = Page("trial", "Leaderboard")
    qtbot.addWidget(page)
    for number in range(3):
        page.header.controls.addWidget(Button(f"A button with words {number}"))
    page.header.set_title("Leaderboard", "Practice result. These models are pretend.")
    page.resize(700, 400)
    page.show()
    header = page.header
    assert header.subtitle.width() == header.width()
    beside = header.controls.itemAt(0).widget().y()
    assert beside < header.title.y() + header.title.height()
    theme.set_text_percent(200)
    page.resize(360, 400)
    qtbot.waitUntil(lambda: header.controls.itemAt(0).widget().y() >= header.title.geometry().bottom())
    assert header.subtitle.height() >= header.subtitle.heightForWidth(header.subtitle.width())


def test_the_buttons_of_a_high_strip_stand_in_its_middle(qtbot: QtBot, theme: Theme) -> None:
    long = "A sentence that needs more than one line in a strip as narrow as this one is, and then some."
    strip = MessageStrip(Message("k", Tone.INFO, "First.", long, (StripButton("Undo", lambda: None),)))
    qtbot.addWidget(strip)
    strip.resize(320, 20)
    strip.show()
    strip.resize(320, strip.heightForWidth(320))
    undo = strip.findChild(Button, "message_button_1")
    close = strip.findChild(IconButton, "button_close_message")
    assert undo is not None
    assert close is not None
    assert strip.height() > 2 * undo.height()
    assert abs(undo.geometry().center().y() - strip.rect().center().y()) <= 2
    assert abs(close.geometry().center().y() - strip.rect().center().y()) <= 2


def test_a_ring_whose_target_is_gone_draws_nothing_and_raises_nothing(qtbot: QtBot, theme: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(200, 100)
    button = Button("Go", parent=window)
    ring = FocusRing(window)
    window.show()
    ring.show_on(button)
    assert ring.isVisible()
    shiboken6.delete(button)
    ring._follow()
    assert not ring.isVisible()
    ring.show_on(None)
    shiboken6.delete(ring)
    ring._on_focus(None, None)


def test_enter_presses_the_button_that_has_the_keyboard_once(qtbot, theme: Theme) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    main, cancel, icon = Button("Keep", "primary"), Button("Cancel"), IconButton("close", "Close")
    layout = QVBoxLayout(dialog)
    pressed: list[str] = []
    for name, button in (("main", main), ("cancel", cancel), ("icon", icon)):
        layout.addWidget(button)
        button.clicked.connect(lambda _on=False, name=name: pressed.append(name))
    main.setDefault(True)
    dialog.show()
    QTest.keyClick(cancel, Qt.Key.Key_Return)
    QTest.keyClick(icon, Qt.Key.Key_Enter)
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    QApplication.sendEvent(cancel, held)
    assert pressed == ["cancel", "icon"]

"""Answers: plain text, hidden characters made visible, marks in the right place, long ones cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from arena_desktop.theme import current
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.answer_view import FIRST_CHARACTERS, AnswerView, MarkKind, TextMark
from arena_desktop.widgets.visible_text import visible


@pytest.fixture
def view(qtbot, theme: Theme) -> AnswerView:
    made = AnswerView("Answer of Alpha")
    qtbot.addWidget(made)
    made.resize(300, 400)
    made.show()
    return made


def shown(view: AnswerView) -> str:
    return view.edit.toPlainText()


def marked(view: AnswerView, colour: QColor) -> str:
    """The text whose background has this colour."""
    cursor = QTextCursor(view.edit.document())
    found = ""
    for place in range(len(view.edit.document().toPlainText().encode("utf-16-le")) // 2):
        cursor.setPosition(place)
        cursor.setPosition(place + 1, QTextCursor.MoveMode.KeepAnchor)
        if cursor.charFormat().background().color() == colour and cursor.charFormat().hasProperty(0x820):
            found += cursor.selectedText()
    return found


def test_nothing_is_interpreted(view: AnswerView) -> None:
    text = "<b>bold</b> **also** [link](http://example.org) <img src='file:///etc/passwd'>"
    view.set_answer(text)
    assert shown(view) == text
    assert view.edit.isReadOnly()
    assert view.edit.document().allFormats()[0].isImageFormat() is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u202eb", "a[U+202E]b"),
        ("zero\u200bwidth", "zero[U+200B]width"),
        ("bell\x07", "bell[U+0007]"),
        ("nul\x00", "nul[U+0000]"),
        ("line\r\nbreak\rold", "line\nbreak\nold"),
        ("tab\tkept", "tab\tkept"),
        ("\ufeffmark", "[U+FEFF]mark"),
        ("lone \ud800", "lone [U+D800]"),
        ("a\u200db", "a[U+200D]b"),
        ("👩\u200d💻 works", "👩\u200d💻 works"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("Zürich – 東京", "Zürich – 東京"),
    ],
)
def test_hidden_characters_are_written_out(text: str, expected: str) -> None:
    assert visible(text).text == expected


@given(st.text(alphabet=st.characters(), max_size=60))
def test_places_are_kept_for_every_text(text: str) -> None:
    result = visible(text)
    for place, char in enumerate(text):
        if char.isalnum():
            assert result.text[result.place(place)] == char
    for start, end in result.named:
        assert result.text[start:end].startswith("[U+")
        assert result.text[end - 1] == "]"


def test_marks_stand_on_the_right_words_after_odd_characters(view: AnswerView) -> None:
    text = "😀\u202e no refund, get a voucher"
    start = text.index("voucher")
    view.set_answer(text, [TextMark(start, start + 7, MarkKind.EXPECTED)])
    assert marked(view, current().color("goodBg")) == "voucher"
    assert marked(view, current().color("warnBg")) == "[U+202E]"


def test_marks_change_colour_with_the_theme(view: AnswerView, theme: Theme) -> None:
    view.set_answer("against the rule", [TextMark(0, 7, MarkKind.AGAINST)])
    theme.set_appearance(Appearance.DARK)
    assert marked(view, current().color("badBg")) == "against"


def test_marks_outside_the_text_do_no_harm(view: AnswerView) -> None:
    view.set_answer("short", [TextMark(3, 99, MarkKind.ONLY_HERE), TextMark(50, 60, MarkKind.AGAINST)])
    assert marked(view, current().color("diff")) == "rt"


def test_long_answers_are_cut_until_asked(view: AnswerView, qtbot) -> None:
    text = "word " * 6_200
    view.set_answer(text)
    assert len(shown(view)) == FIRST_CHARACTERS
    assert view.more.isVisible()
    assert "31" in view.more.text()
    with qtbot.waitSignal(view.shown_all):
        view.more.click()
    assert shown(view) == text
    assert not view.more.isVisible()
    view.set_answer("short")
    assert shown(view) == "short"
    assert not view.more.isVisible()


def test_copied_text_is_the_text_shown(view: AnswerView, clipboard) -> None:
    view.set_answer("plain answer")
    view.edit.setFocus()
    QTest.keySequence(view.edit, "Ctrl+A")
    QTest.keySequence(view.edit, "Ctrl+C")
    assert QApplication.clipboard().text() == "plain answer"

"""The questions about a run under way say only what is true of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.dialogs.run_questions import Choice, RunQuestion, cancel_question, close_question
from arena_desktop.theme import current


@pytest.mark.parametrize(
    ("running", "free", "said"),
    [
        (0, True, "None is on its way."),
        (1, True, "1 is on its way."),
        (3, True, "3 are on their way."),
        (1, False, "1 is on its way and already paid for."),
        (3, False, "3 are on their way and already paid for."),
    ],
)
def test_nothing_is_called_paid_for_where_nothing_is_charged(
    qtbot: QtBot, running: int, free: bool, said: str
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    for ask in (cancel_question, close_question):
        question = ask(parent, 5, running, free=free)
        assert question.informativeText() == f"5 answers are saved. {said}"


@pytest.mark.parametrize(
    ("ask", "key", "meant"),
    [
        (close_question, Qt.Key.Key_Escape, Choice.NOTHING),
        (close_question, Qt.Key.Key_Return, Choice.KEEP),
        (cancel_question, Qt.Key.Key_Escape, Choice.KEEP),
    ],
)
def test_who_leaves_the_question_about_closing_changes_nothing(
    qtbot: QtBot, ask: Callable[..., RunQuestion], key: Qt.Key, meant: Choice
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    question = ask(parent, 5, 1)
    with qtbot.waitSignal(question.chosen) as chosen:
        question.open()
        QTest.keyClick(question, key)
    assert chosen.args == [meant]


def test_the_safe_answer_looks_like_the_next_thing_to_do(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    question = cancel_question(parent, 5, 1)
    question.open()
    picture = question.grab().toImage()
    kept = question.defaultButton()
    place = kept.mapTo(question, QPoint(4, kept.height() // 2))
    assert picture.pixelColor(place) == QColor(current()["accent"])
    assert kept.text() == "Keep running"
    question.done(0)

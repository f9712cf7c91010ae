"""Work in turns: in order, one piece each, replaced by other work, gone with its parent."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer

from arena_desktop.widgets.turns import Turns


def test_pieces_follow_each_other_and_the_loop_goes_on_between_them(qtbot) -> None:
    parent = QObject()
    turns = Turns(parent)
    done: list[str] = []

    def first() -> None:
        done.append("first")
        QTimer.singleShot(0, lambda: done.append("the loop"))

    turns.start(first, lambda: done.append("second"), lambda: done.append("third"))
    assert done == []
    qtbot.waitUntil(lambda: not turns.busy)
    assert [name for name in done if name != "the loop"] == ["first", "second", "third"]
    assert done.index("the loop") < done.index("third")


def test_other_work_replaces_what_is_left(qtbot) -> None:
    parent = QObject()
    turns = Turns(parent)
    done: list[str] = []
    turns.start(lambda: done.append("old"))
    turns.start(lambda: done.append("new"))
    qtbot.waitUntil(lambda: not turns.busy)
    assert done == ["new"]


def test_what_is_left_can_be_done_at_once(qapp) -> None:
    parent = QObject()
    turns = Turns(parent)
    done: list[int] = []
    turns.start(lambda: done.append(1), lambda: done.append(2))
    turns.finish()
    assert done == [1, 2]
    turns.finish()
    assert done == [1, 2]


def test_what_is_left_goes_with_the_parent(qapp) -> None:
    parent = QObject()
    turns = Turns(parent)
    done: list[int] = []
    turns.start(lambda: done.append(1))
    parent.deleteLater()
    QCoreApplication.sendPostedEvents(parent, QEvent.Type.DeferredDelete)
    QCoreApplication.processEvents()
    assert done == []

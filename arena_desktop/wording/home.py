"""The sentences of Home: what stopped, what it would take to carry on, what came out last."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats

if TYPE_CHECKING:
    from engine.stats.board import Leaderboard


def _tr(text: str) -> str:
    return QCoreApplication.translate("Home", text)


def stopped_sentence(name: str, done: int, planned: int, at: datetime | None) -> str:
    """Where a run stopped: "Customer replies stopped after 412 of 750 questions, yesterday 17:20."."""
    text = _tr("{name} stopped after {done} of {planned} questions, {when}.")
    return text.format(
        name=name, done=formats.whole(done), planned=formats.whole(planned), when=formats.when(at)
    )


def rest_sentence(missing: int, cost: Decimal | None) -> str:
    """What is left to ask; the cost only where it is known."""
    if cost is None:
        return _count(missing, _tr("1 question is left."), _tr("{count} questions are left."))
    if cost == 0:
        return _count(
            missing, _tr("1 question is left. It is free."), _tr("{count} questions are left. They are free.")
        )
    return _tr("The rest costs about {cost}.").format(cost=formats.money(cost))


def _count(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count=formats.whole(count))


def folder_words(path: Path) -> str:
    """Where a folder is, short: below the person's own folder without its start."""
    try:
        parts = path.relative_to(Path.home()).parts
    except ValueError:
        return str(path)
    return " / ".join(parts) if parts else str(path)


def used_words(iso: str) -> str:
    """When a project was last used; a dash where that is not known."""
    return formats.when(used_moment(iso))


def used_moment(iso: str) -> datetime | None:
    """The moment in an ISO text, or None."""
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def best_chip(board: Leaderboard) -> str:
    """The few words where no model can simply be named; empty where the winner's name says it."""
    if board.winner is None:
        return _tr("No recommendation")
    words = {
        1: _tr("Not enough tests"),
        2: _tr("Practically the same"),
        3: _tr("Not enough tests"),
        6: _tr("Practically the same"),
        7: _tr("Too close to call"),
    }
    return words.get(board.verdict.row or 0, "")


def passed_words(passed: int, tests: int) -> str:
    """How many tests the best model passed."""
    return _tr("{passed} of {tests} tests").format(passed=formats.whole(passed), tests=formats.whole(tests))

"""Runs that wait, as the whole window tells of them: ordered, removed with a way back, held for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from arena_desktop.desks.run_orders import Wait, WaitingRun
from arena_desktop.widgets.strip import Message, StripButton, Tone
from arena_desktop.wording import run_queue as words

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from arena_desktop.context import AppContext
    from arena_desktop.desks.run_desk import RunBegan

ORDERED, REMOVED, WITHOUT = "run_ordered", "runs_removed", "began_without"


class WaitingBar(QObject):
    """Follows the waiting list of one window."""

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._waiting = context.runs.waiting
        self._waiting.added.connect(self._on_added)
        self._waiting.removed.connect(self._on_removed)
        self._waiting.held.connect(self._on_held)
        self._waiting.changed.connect(self._on_changed)
        context.runs.began.connect(self._on_began)
        self._held: set[int] = set()

    def _on_added(self, entry: WaitingRun) -> None:
        if self._window.current_page() == "run":
            return  # the page lists it
        began = self._context.runs.current
        running = began.project.config.project if began is not None and self._context.runs.running else ""
        see = StripButton(self.tr("See what waits"), lambda: self._window.show_page("run"), closes=True)
        first, text = words.ordered_sentence(entry.order), words.ordered_text(running)
        self._window.show_message(Message(ORDERED, Tone.INFO, first, text, (see,)))

    def _on_removed(self, gone: tuple[WaitingRun, ...]) -> None:
        first = words.removed_sentence([entry.order for entry in gone])
        undo = StripButton(self.tr("Undo"), lambda: self._waiting.put_back(gone), closes=True)
        self._window.show_message(Message(REMOVED, Tone.INFO, first, "", (undo,)))

    def _on_held(self, entry: WaitingRun) -> None:
        number = entry.number
        self._held.add(number)
        if entry.wait is Wait.ASKS:
            do = StripButton(self.tr("Decide…"), lambda: self._decide(number), strong=True)
        else:
            do = StripButton(self.tr("Try again"), lambda: self._waiting.look_again(number), strong=True)
        drop = StripButton(self.tr("Remove"), lambda: self._waiting.remove([number]))
        message = Message(
            _key(number), Tone.WARN, words.held_sentence(entry), words.held_text(entry), (do, drop)
        )
        self._window.show_message(message)

    def _decide(self, number: int) -> None:
        entry = self._waiting.find(number)
        if entry is not None:
            from arena_desktop.dialogs.waiting_question import ask_to_agree

            ask_to_agree(self._window, self._waiting, entry)

    def _on_changed(self) -> None:
        """What is said about one that is held leaves when it is held no more."""
        held = {e.number for e in self._waiting.entries if e.wait in (Wait.ASKS, Wait.CANNOT)}
        for number in self._held - held:
            self._window.close_message(_key(number))
        self._held &= held
        if not self._waiting.entries:
            self._window.close_message(ORDERED)

    def _on_began(self, began: RunBegan) -> None:
        if not began.left_out:
            return
        labels = {entry.key: entry.label or entry.key for entry in began.project.config.models}
        first = words.began_without(
            began.project.config.project, [labels.get(key, key) for key in began.left_out]
        )
        self._window.show_message(Message(WITHOUT, Tone.WARN, first, words.began_without_text()))


def _key(number: int) -> str:
    return f"held_{number}"

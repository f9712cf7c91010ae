"""Undo and redo of what the window writes into the files of the open project."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop.desks.edit_steps import EditStep, do_again, file_edits, take_back
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from arena_desktop.desks.project_files import Written

MOST_STEPS = 100
MOST_BYTES = 64 * 1024 * 1024
"""Older steps are forgotten beyond either: a paste of 100,000 tests must not fill the memory."""

Failed = Callable[[ArenaError], None]


@dataclass(frozen=True, slots=True)
class _Turn:
    """Something to be done. `moves`: an undo or redo, which nobody misses once one has failed."""

    project: int
    work: Callable[[], object]
    done: Callable[[object], None]
    failed: Failed
    moves: bool = False
    can_start: Callable[[], bool] = lambda: True


class EditHistory(QObject):
    """The steps of one project, newest last. GUI thread only; files are touched in the background.

    Everything that writes goes through here, one thing after the other, so that a step and its undo
    never meet in a file. A step that cannot be taken back (a file is another one now) stays where it
    is: it can be, once the file is as it was.
    """

    changed = Signal()
    """What can be undone or redone is something else now, or work has begun or ended."""

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._undo: deque[EditStep] = deque()
        self._redo: list[EditStep] = []
        self._waiting: deque[_Turn] = deque()
        self._under_way = False
        self._project = 0

    @property
    def last(self) -> EditStep | None:
        """The step that undo takes back."""
        return self._undo[-1] if self._undo else None

    @property
    def undone(self) -> EditStep | None:
        """The step that redo does again."""
        return self._redo[-1] if self._redo else None

    @property
    def busy(self) -> bool:
        """Whether something is being written, or waits for it."""
        return self._under_way

    def forget(self, step: EditStep) -> None:
        """Drops a step that cannot be moved, if it is next, so that those behind it can be."""
        for steps in (self._undo, self._redo):
            if steps and steps[-1] is step:
                steps.pop()
                self.changed.emit()

    def clear(self) -> None:
        """Forgets all steps: another project is open, or none. What waits to be written still is."""
        self._project += 1
        self._undo.clear()
        self._redo.clear()
        self._drop_moves()
        self.changed.emit()

    def write(
        self, step: Callable[[], Written], name: str, done: Callable[[EditStep], None], failed: Failed
    ) -> None:
        """Does a step (called on another thread) and keeps it; what was undone before is forgotten.

        A step that left every file as it was is not kept.
        """

        def work() -> EditStep:
            return EditStep(name, file_edits(step().files()))

        def kept(result: object) -> None:
            made: EditStep = result  # type: ignore[assignment]
            if made.edits:
                self._keep(made)
            done(made)

        self._add(_Turn(self._project, work, kept, failed))

    def undo(self, done: Callable[[EditStep], None], failed: Failed, only: EditStep | None = None) -> None:
        """Takes the newest step back. `only`: nothing is done where that is another one."""

        def work(step: EditStep) -> None:
            take_back(step.edits)

        def moved(step: EditStep) -> None:
            self._undo.pop()
            self._redo.append(step)
            done(step)

        self._add_turn(lambda: self.last, work, moved, failed, only)

    def redo(self, done: Callable[[EditStep], None], failed: Failed, only: EditStep | None = None) -> None:
        """Does the step again that was undone last. `only`: as for `undo`."""

        def work(step: EditStep) -> None:
            do_again(step.edits)

        def moved(step: EditStep) -> None:
            self._redo.pop()
            self._undo.append(step)
            done(step)

        self._add_turn(lambda: self.undone, work, moved, failed, only)

    # inside

    def _keep(self, step: EditStep) -> None:
        self._redo.clear()
        self._undo.append(step)
        size = sum(kept.size for kept in self._undo)
        while len(self._undo) > MOST_STEPS or (size > MOST_BYTES and len(self._undo) > 1):
            size -= self._undo.popleft().size

    def _add_turn(
        self,
        which: Callable[[], EditStep | None],
        work: Callable[[EditStep], None],
        moved: Callable[[EditStep], None],
        failed: Failed,
        only: EditStep | None,
    ) -> None:
        # Which step it is shows when its turn comes: three quick presses take three steps back.
        chosen: list[EditStep] = []

        def choose() -> bool:
            step = which()
            if step is None or (only is not None and step is not only):
                return False
            chosen.append(step)
            return True

        self._add(
            _Turn(
                self._project,
                lambda: work(chosen[0]),
                lambda _nothing: moved(chosen[0]),
                failed,
                moves=True,
                can_start=choose,
            )
        )

    def _drop_moves(self) -> None:
        self._waiting = deque(turn for turn in self._waiting if not turn.moves)

    def _add(self, turn: _Turn) -> None:
        self._waiting.append(turn)
        self._next()

    def _next(self) -> None:
        while self._waiting and not self._under_way:
            turn = self._waiting.popleft()
            if turn.can_start():
                self._start(turn)

    def _start(self, turn: _Turn) -> None:
        self._under_way = True

        def work(_job: Job) -> object:
            return turn.work()

        def done(result: object) -> None:
            self._under_way = False
            if turn.project == self._project:
                turn.done(result)
            self._go_on()

        def failed(error: Exception) -> None:
            self._under_way = False
            # Whoever pressed three times does not want two older steps taken back without the newest.
            self._drop_moves()
            try:
                if not isinstance(error, ArenaError):
                    raise error
                turn.failed(error)
            finally:
                self._go_on()

        self._background.run(work, done, failed, name="edit project")
        self.changed.emit()

    def _go_on(self) -> None:
        self.changed.emit()
        self._next()

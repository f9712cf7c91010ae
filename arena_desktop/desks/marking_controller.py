"""A session of marking as a QObject: the same thread, signals and commands as a run's."""

from __future__ import annotations

from engine.execution.controller import RunController, ThreadPoolExecutor
from engine.execution.executor import ExecutorFactory
from engine.execution.mark_again import MarkAgain
from engine.execution.marking_session import MarkingSession
from engine.execution.request import RunRequest
from engine.execution.rescore import Rescored


class MarkingController(RunController):
    """Marks a saved run again. `cancel` keeps what is marked; `finished` is its last signal."""

    def __init__(self, marking: MarkAgain, make_executor: ExecutorFactory = ThreadPoolExecutor) -> None:
        self._marking = marking
        super().__init__(marking.request, make_executor)

    def _make_session(self, request: RunRequest, make_executor: ExecutorFactory) -> MarkingSession:
        self._marks = MarkingSession(self._marking, make_executor, self._wake)
        return self._marks

    @property
    def rescored(self) -> Rescored | None:
        """What was done, once `finished` came; None where it broke down."""
        return self._marks.rescored

"""The seam where a call runs: threads of this process today, other places tomorrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from engine.execution.messages import Ticket

Work: TypeAlias = Callable[[Ticket], None]
"""Carries out one attempt and posts what became of it. Called wherever the executor likes."""


class Executor(Protocol):
    """Takes admitted attempts. Nothing above it assumes a thread, a latency or this machine.

    `capacity` is how many attempts may be under way at once; it may change.
    """

    @property
    def capacity(self) -> int: ...

    def start(self, ticket: Ticket) -> None:
        """Begins one attempt and returns at once. Each ends in exactly one outcome posted."""
        ...

    def stop_now(self) -> None:
        """Abandons what has not begun and asks the rest to end."""
        ...

    def close(self, timeout_s: float) -> bool:
        """Ends. False where something did not come back in time and was left behind."""
        ...


ExecutorFactory: TypeAlias = Callable[[Work, int], Executor]
"""Makes the executor of one run from its work and the run's concurrency."""

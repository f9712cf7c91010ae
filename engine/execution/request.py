"""What a run is started with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from providers.base import ConnectionSettings, Provider
from providers.registry import create

from engine.domain import Cell, RunStatus
from engine.execution.plan import Plan
from engine.execution.preflight import Preflight
from engine.keystore import KeyStore
from engine.pricing import PriceBook

if TYPE_CHECKING:
    from engine.project import Project


@dataclass(frozen=True, slots=True)
class Clock:
    """Where moments come from. `monotonic` in seconds, `wall` in seconds since the epoch."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time

    def utc(self) -> datetime:
        """The wall clock as an aware moment."""
        return datetime.fromtimestamp(self.wall(), UTC)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Everything one run needs.

    `resume_from` names the run that is carried on; `resume_choice` is `snapshot` or `new` where
    the project has changed since, None = not chosen yet. With `retry_errors` the calls that failed
    for good are asked again too, and what comes now counts.

    With `again` only these calls of the run are asked and nothing else. A call without an answer
    gets one that counts; where one is stored it goes on counting, and the new one is kept beside
    it: an answer is not thrown again until it pleases. `resumed` fills in `left_as`, what such a
    run was before. `number_above`: see `RunHead`.
    """

    project: Project
    preflight: Preflight
    plan: Plan
    store_path: Path
    keystore: KeyStore
    pricebook: PriceBook
    resume_from: str | None = None
    resume_choice: str | None = None
    label: str = ""
    app_version: str = ""
    clock: Clock = field(default_factory=Clock)
    make_provider: Callable[[ConnectionSettings], Provider] = create
    retry_errors: bool = False
    again: tuple[Cell, ...] = ()
    left_as: RunStatus | None = None
    number_above: int = 0

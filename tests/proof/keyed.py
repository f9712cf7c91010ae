"""Runs whose connections need keys, and a clock that can be moved."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from engine.execution.plan import make_plan
from engine.execution.preflight import examine
from engine.execution.request import Clock, RunRequest
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from tests.execution.worlds import World, make_project
from tests.providers.scripted import Answer, Asked, Scripted


@dataclass
class KeyedWorld(World):
    """A world with environment variables of its own."""

    environ: Mapping[str, str] = field(default_factory=dict)

    def request(self, **more: Any) -> RunRequest:
        project = make_project(self.root / "project", self.config, self.cases)
        keystore = KeyStore(environ=dict(self.environ))
        pricebook = PriceBook.for_config(project.config, project.root)
        preflight = examine(project, keystore=keystore, pricebook=pricebook, environ={})
        plan = make_plan(project, preflight)
        request = RunRequest(project, preflight, plan, self.store_path, keystore, pricebook, **more)
        return replace(request, make_provider=self.service.make) if self.service else request


class MovableClock:
    """Both clocks of a run; `sleep` lets the computer sleep, `pass_time` lets time go by awake."""

    def __init__(self) -> None:
        self._wall = 0.0
        self._monotonic = 0.0

    def clock(self) -> Clock:
        return Clock(lambda: time.monotonic() + self._monotonic, lambda: time.time() + self._wall)

    def sleep(self, seconds: float) -> None:
        """The monotonic clock stands still in sleep on some systems: only the wall clock jumps."""
        self._wall += seconds

    def pass_time(self, seconds: float) -> None:
        self._monotonic += seconds


class Posts(Scripted):
    """Prepared replies for the questions alone; the look at the models before a run gets a list."""

    def next(self, asked: Asked) -> Answer:
        if asked.method == "GET":
            return Answer({"object": "list", "data": []})
        return super().next(asked)


@contextmanager
def posts(*answers: Answer) -> Iterator[Posts]:
    """A server with these replies."""
    server = Posts(list(answers))
    try:
        yield server
    finally:
        server.stop()

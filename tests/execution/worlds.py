"""Small projects, fake services and recorded runs for tests of whole runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from engine.domain import CallDone
from engine.execution.controller import run_to_end
from engine.execution.events import CallFinished, Event, RunFinished
from engine.execution.plan import make_plan
from engine.execution.preflight import examine
from engine.execution.request import RunRequest
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import Overrides, Project, load_project
from engine.storage.rows import StoredRun
from engine.storage.store import Store
from providers.base import ConnectionSettings, Finish, ModelInfo, Reply, Request, Usage
from providers.embedding import Embedded, EmbedRequest

Answering = Callable[[Request], Reply]
Embedding = Callable[[EmbedRequest], Embedded]


def reply(text: str = "ok", tokens: int = 5) -> Reply:
    return Reply(text, Finish.COMPLETE, "fake", Usage(tokens, tokens), latency_ms=1.0)


class FakeService:
    """One fake vendor behind every connection; counts what happens to it. Thread-safe."""

    def __init__(self, answer: Answering = lambda request: reply(), embed: Embedding | None = None) -> None:
        self._answer = answer
        self._embed = embed
        self.embeds: list[EmbedRequest] = []
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.made: list[ConnectionSettings] = []
        self.closed = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.flying = threading.Semaphore(0)

    def make(self, settings: ConnectionSettings) -> FakeProvider:
        with self._lock:
            self.made.append(settings)
        return FakeProvider(settings, self)

    def ask(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
        with self._counted():
            return self._answer(request)

    def embed(self, request: EmbedRequest) -> Embedded:
        with self._lock:
            self.embeds.append(request)
        with self._counted():
            assert self._embed is not None
            return self._embed(request)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.flying.release()
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1


class FakeProvider:
    """A connection to the fake vendor."""

    def __init__(self, settings: ConnectionSettings, service: FakeService) -> None:
        self.settings = settings
        self._service = service

    def complete(self, request: Request) -> Reply:
        return self._service.ask(request)

    def embed(self, request: EmbedRequest) -> Embedded:
        return self._service.embed(request)

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        return []

    def close(self) -> None:
        self._service.closed += 1


def make_project(folder: Path, config: dict[str, Any], cases: int | list[dict[str, Any]] = 3) -> Project:
    folder.mkdir(exist_ok=True)
    tests = (
        [{"id": f"c{i}", "input": f"say {i}", "reference": f"{i}"} for i in range(cases)]
        if isinstance(cases, int)
        else cases
    )
    (folder / "config.yaml").write_text(yaml.safe_dump({"project": "demo", **config}))
    (folder / "tests.yaml").write_text(yaml.safe_dump(tests))
    project = load_project(folder, Overrides())
    assert project.ok, project.problems
    return project


def models(*names: str, **params: Any) -> dict[str, Any]:
    return {"models": [{"key": n, "model": "mock:oracle", "params": params} for n in names]}


@dataclass
class World:
    """A folder with a project and a store."""

    root: Path
    config: dict[str, Any]
    cases: int | list[dict[str, Any]] = 3
    service: FakeService | None = None
    trust: bool = False
    probe: bool = True
    events: list[Event] = field(default_factory=list)

    @property
    def store_path(self) -> Path:
        return self.root / "arena.sqlite"

    def request(self, **more: Any) -> RunRequest:
        project = make_project(self.root / "project", self.config, self.cases)
        keystore = KeyStore(environ={"OPENAI_API_KEY": "k-open", "ANTHROPIC_API_KEY": "k-anth"})
        pricebook = PriceBook.for_config(project.config, project.root)
        looks = {"trust": self.trust, "probe": self.probe, "environ": {}}
        preflight = examine(project, keystore=keystore, pricebook=pricebook, **looks)
        plan = make_plan(project, preflight)
        request = RunRequest(project, preflight, plan, self.store_path, keystore, pricebook, **more)
        return replace(request, make_provider=self.service.make) if self.service else request

    def run(self, on_events: Callable[[tuple[Event, ...]], None] | None = None, **more: Any) -> StoredRun:
        """Runs to the end and returns what is stored."""
        stops = {k: more.pop(k) for k in ("stop", "stop_now") if k in more}

        def take(events: tuple[Event, ...]) -> None:
            self.events += events
            if on_events is not None:
                on_events(events)

        run_id = run_to_end(self.request(**more), take, **stops)
        return self.stored(run_id)

    def stored(self, run_id: str = "last") -> StoredRun:
        with Store.open(self.store_path) as store:
            return store.run(run_id)

    def calls(self, run_id: str = "last") -> list[CallDone]:
        with Store.open(self.store_path) as store:
            return store.calls(store.resolve(run_id))

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def finished(self) -> RunFinished:
        (event,) = self.of(RunFinished)
        return event

    def assert_each_once(self) -> None:
        cells = [event.done.cell for event in self.of(CallFinished)]
        assert len(cells) == len(set(cells))
        numbers = [event.seq for event in self.events]
        assert numbers == sorted(set(numbers))

"""What the Run page works out before a run, away from the GUI thread: prices, times, who takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from arena_desktop.desks.connections import judge_place
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.desks.run_desk import QUICK_CASES
from arena_desktop.itemmodels.lanes import ModelHead, ReadyRow
from arena_desktop.wording.run import comparing_model, marking_ai, practice_service
from arena_desktop.wording.run_start import RunPrice
from arena_desktop.wording.setup import service_name
from engine.config.embedder_key import PREFIX, is_embedder
from engine.config.embedders import Embedder, find_embedder
from engine.config.schema import Config, Connection
from engine.domain import Case, Note, SkippedModel
from engine.errors import ArenaError
from engine.execution.embed_rules import EMBEDDER_NOT_READY
from engine.execution.estimate import CostRange, Estimate, estimate, questions
from engine.execution.jobs import JUDGE_LANE
from engine.execution.judge_rules import NOT_READY
from engine.execution.preflight import Preflight
from engine.stats.gates import preflight_gates
from engine.storage.shelf import History
from providers.registry import KINDS, canonical_kind

_RUNS_LOOKED_AT = 400


@dataclass(frozen=True, slots=True)
class RunChoice:
    """One of the two ways to run. `seconds` None = not known. `confirm` are the project's own questions.

    `marked` is how often each of those that mark is likely to be asked.
    """

    tests: int
    asked: int
    price: RunPrice
    by_model: Mapping[str, CostRange] = field(default_factory=dict)
    seconds: float | None = None
    confirm: tuple[Note, ...] = ()
    marked: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Everything the page shows before a run."""

    opened: OpenProject
    preflight: Preflight
    heads: Mapping[str, ModelHead]
    whole: RunChoice
    quick: RunChoice

    def choice(self, quick: bool) -> RunChoice:
        """The chosen way."""
        return self.quick if quick else self.whole

    @property
    def labels(self) -> dict[str, str]:
        """The names people know, by key."""
        return {key: head.label for key, head in self.heads.items()}

    @property
    def gated(self) -> tuple[str, ...]:
        """The models that are asked although they break a must-have."""
        if not self.preflight.include_gated:
            return ()
        config = self.opened.project.config
        return tuple(
            model.entry.key
            for model in self.preflight.ready
            if preflight_gates(config, model.entry, model.card)
        )

    def rows(self, quick: bool) -> list[ReadyRow]:
        """The table of the page, in project order."""
        choice = self.choice(quick)
        each = choice.asked // max(1, len(self.preflight.ready))
        skipped = {skip.model_key: skip for skip in self.preflight.skipped}
        rows = [self._row(head, each, choice, skipped.get(key)) for key, head in self.heads.items()]
        judge, judge_skip = self.preflight.judge, self.preflight.judge_skip
        if judge is not None or judge_skip is not None:
            name = (judge.entry.label or judge.entry.model) if judge is not None else ""
            head = ModelHead(JUDGE_LANE, marking_ai(), None, suffix=name)
            asked = choice.asked * max(1, self.opened.project.config.judge.votes)
            rows.append(self._row(head, asked, choice, judge_skip))
        rows += self._comparing(choice)
        return rows

    def _comparing(self, choice: RunChoice) -> list[ReadyRow]:
        """The models that compare meanings."""
        skips = {skip.model_key: skip for skip in self.preflight.embedder_skips}
        keys = [*(model.entry.key for model in self.preflight.embedders), *skips]
        heads = [ModelHead(key, comparing_model(key.removeprefix(PREFIX)), None) for key in keys]
        return [self._row(h, choice.marked.get(h.key, 0), choice, skips.get(h.key)) for h in heads]

    def connection_of(self, key: str) -> str:
        """The connection of a row, whose key may be missing; empty where there is none."""
        config = self.opened.project.config
        if key == JUDGE_LANE:
            return judge_place(self.opened.project)
        if is_embedder(key):
            found = find_embedder(key.removeprefix(PREFIX), config)
            return found.entry.provider or "" if isinstance(found, Embedder) else ""
        return next((entry.provider or "" for entry in config.models if entry.key == key), "")

    def _row(self, head: ModelHead, each: int, choice: RunChoice, skipped: SkippedModel | None) -> ReadyRow:
        asked = skipped is None and not self.preflight.errors
        cost = choice.by_model.get(head.key, CostRange()) if asked else None
        return ReadyRow(head, each, cost, skipped, self.preflight.warnings.get(head.key, ""))


def model_heads(
    config: Config, connections: Mapping[str, Connection], free: Sequence[str] = ()
) -> dict[str, ModelHead]:
    """The models that take part, by key, in project order; their number counts those switched off too."""
    found = {}
    for index, entry in enumerate(config.models):
        if not entry.enabled:
            continue
        connection = connections.get(entry.provider or "")
        kind = canonical_kind(connection.kind if connection else entry.provider or "")
        service = service_name(entry, connection)
        if kind == "mock":
            named = connection.id if connection is not None else "mock"
            service = practice_service() if named == "mock" else named
        here = kind is not None and kind != "mock" and KINDS[kind].local
        found[entry.key] = ModelHead(
            key=entry.key,
            label=entry.label or entry.key,
            index=index,
            suffix=service.lower() if here else "",
            service=service,
            free=entry.key in free,
        )
    return found


def read_run_facts(
    opened: OpenProject, preflight: Preflight, open_shelf: Callable[[], History] | None
) -> RunFacts:
    """Works everything out. `open_shelf` None = nothing was ever run."""
    project = opened.project
    config = project.config
    connections = {connection.id: connection for connection in config.connections}
    free = [model.entry.key for model in preflight.ready if model.price is not None and model.price.free]
    waits = _waits(config.project, open_shelf)
    quick_cases = project.cases[:QUICK_CASES]
    whole = _choice(opened, preflight, project.cases, preflight.estimate, waits)
    few = preflight.estimate if preflight.errors else _estimate(config, quick_cases, preflight)
    quick = _choice(opened, preflight, quick_cases, few, waits)
    return RunFacts(opened, preflight, model_heads(config, connections, free), whole, quick)


def _estimate(config: Config, cases: Sequence[Case], preflight: Preflight) -> Estimate:
    priced = [(model.entry, model.price) for model in preflight.ready]
    return estimate(config, cases, priced, preflight.judge, preflight.embedders)


def _choice(
    opened: OpenProject,
    preflight: Preflight,
    cases: Sequence[Case],
    found: Estimate,
    waits: Mapping[str, float],
) -> RunChoice:
    config = opened.project.config
    each = len(cases) * config.run.trials
    labels = {model.entry.key: model.entry.label or model.entry.key for model in preflight.ready}
    labels[JUDGE_LANE] = marking_ai()
    for embedder in preflight.embedders:
        labels[embedder.entry.key] = embedder.entry.label
    # That nobody can mark the answers is asked about whatever the choice.
    unmarked = [note for note in preflight.confirm if note.code in (NOT_READY, EMBEDDER_NOT_READY)]
    return RunChoice(
        tests=len(cases),
        asked=each * len(preflight.ready),
        price=RunPrice(
            found.total,
            config.budgets.max_run_usd,
            config.budgets.on_exceed == "stop",
            tuple(labels.get(key, key) for key in found.unpriced),
        ),
        by_model={**found.by_model, **found.by_marker},
        seconds=_seconds(preflight, each, config.run.concurrency, waits),
        confirm=(*questions(config, found), *unmarked),
        marked=found.marker_calls,
    )


def _seconds(preflight: Preflight, each: int, concurrency: int, waits: Mapping[str, float]) -> float | None:
    """How long the run takes if the models answer as fast as in the newest runs."""
    if not preflight.ready or any(model.entry.key not in waits for model in preflight.ready):
        return None
    lanes: dict[str, float] = {}
    for model in preflight.ready:
        lanes[model.lane] = lanes.get(model.lane, 0.0) + each * waits[model.entry.key] / 1000.0
    slowest = max(total / max(1, preflight.lanes.get(lane, 1)) for lane, total in lanes.items())
    return max(slowest, sum(lanes.values()) / max(1, concurrency))


def _waits(project: str, open_shelf: Callable[[], History] | None) -> dict[str, float]:
    """The newest usual wait of each model of the project, in milliseconds."""
    if open_shelf is None:
        return {}
    try:
        points = open_shelf().model_history(project, limit=_RUNS_LOOKED_AT)
    except ArenaError:
        # The estimate goes without; the desk of saved runs tells what is wrong with the file.
        return {}
    found: dict[str, float] = {}
    for point in points:
        if point.row.latency_p50_ms is not None:
            found.setdefault(point.row.model_key, point.row.latency_p50_ms)
    return found

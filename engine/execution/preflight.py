"""Which models can run at all, found out before anything is spent.

Nothing here asks a model. A model that cannot run is skipped with the reason and the fix; only
faults of the project itself keep the whole run from starting.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from providers.base import ConnectionSettings, ProviderError
from providers.registry import KINDS, canonical_kind

from engine.config.schema import Card, Connection, ModelEntry
from engine.domain import Note, Problem, Severity, SkippedModel
from engine.errors import Cancelled, UserError
from engine.execution.estimate import Estimate, estimate, questions
from engine.execution.widths import LaneWidth, lane_widths, read_environment
from engine.hosts import base_url
from engine.keystore import KeyResult, KeyStore
from engine.price import Price
from engine.pricing import PriceBook
from engine.stats.board import Reason

if TYPE_CHECKING:
    from engine.project import Project

TIME_LIMIT_S = 5.0
_PROBE_TIMEOUT_S = 4.0
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class ReadyModel:
    """One model that can be asked, with everything a call needs. `settings` holds the key."""

    entry: ModelEntry
    connection: Connection
    settings: ConnectionSettings
    price: Price | None
    card: Card
    lane: str
    timeout_s: float
    first_call_allowance_s: float = 0.0

    @property
    def credential(self) -> str:
        """Models of one lane with the same text here share a key and an endpoint."""
        return f"{self.entry.api_key_env or ''}|{self.entry.api_base or ''}"


@dataclass(frozen=True, slots=True)
class Preflight:
    """What can run, what is left out and why, how wide the lanes are, what it will cost.

    `problems` are faults of the project; an error among them keeps the run from starting.
    `warnings` are sentences by model key. `confirm` lists what the project wants a yes for.
    """

    problems: tuple[Problem, ...]
    ready: tuple[ReadyModel, ...]
    skipped: tuple[SkippedModel, ...]
    widths: tuple[LaneWidth, ...]
    estimate: Estimate
    planned: int
    code_trusted: bool = False
    warnings: Mapping[str, str] = field(default_factory=dict)
    confirm: tuple[Note, ...] = ()

    @property
    def lanes(self) -> dict[str, int]:
        """Width by connection id."""
        return {width.lane: width.width for width in self.widths}

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The faults that keep the run from starting."""
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)


@dataclass(frozen=True, slots=True)
class Means:
    """What preflight works with. `include_gated` runs models that cannot qualify all the same."""

    keystore: KeyStore
    pricebook: PriceBook
    trust: bool = False
    probe: bool = True
    include_gated: bool = False
    environ: Mapping[str, str] | None = None
    should_stop: Callable[[], bool] | None = None


def examine(
    project: Project,
    *,
    keystore: KeyStore,
    pricebook: PriceBook,
    trust: bool = False,
    probe: bool = True,
    **more: object,
) -> Preflight:
    """Looks at everything that can be known for nothing, in at most about five seconds.

    `more` are the further fields of `Means`. Raises Cancelled when `should_stop` says so, and
    nothing else: faults become problems, models that cannot run are skipped.
    """
    means = Means(keystore, pricebook, trust, probe, **more)  # type: ignore[arg-type]
    return _Examination(project, means).run()


@dataclass(frozen=True, slots=True)
class _Finding:
    """What was found out about one connection: models that are ready, skipped, warned about."""

    ready: tuple[ReadyModel, ...] = ()
    skipped: tuple[SkippedModel, ...] = ()
    warnings: Mapping[str, str] = field(default_factory=dict)


class _Examination:
    """One look at one project."""

    def __init__(self, project: Project, means: Means) -> None:
        self._project = project
        self._config = project.config
        self._means = means
        self._entries = [entry for entry in project.config.models if entry.enabled]
        self._code_trusted = means.trust or means.keystore.trust_book.is_trusted(project)

    def run(self) -> Preflight:
        problems = [*self._project.problems, *self._means.pricebook.problems, *self._own_problems()]
        skipped: dict[str, SkippedModel] = {}
        groups: dict[str, list[ModelEntry]] = {}
        for entry in self._entries:
            skip = self._skip_by_rule(entry)
            if skip is not None:
                skipped[entry.key] = skip
            else:
                groups.setdefault(self._connection(entry).id, []).append(entry)
        findings = self._look_at(groups)
        ready: dict[str, ReadyModel] = {}
        warnings: dict[str, str] = {}
        for finding in findings:
            ready.update({model.entry.key: model for model in finding.ready})
            skipped.update({skip.model_key: skip for skip in finding.skipped})
            warnings.update(finding.warnings)
        in_order = tuple(ready[e.key] for e in self._entries if e.key in ready)
        widths = self._widths(in_order, problems)
        # Prompts of a faulty project cannot be built, so there is nothing to estimate from.
        faulty = any(p.severity is Severity.ERROR for p in problems)
        priced = [] if faulty else [(model.entry, model.price) for model in in_order]
        cost = estimate(self._config, self._project.cases, priced)
        return Preflight(
            problems=tuple(problems),
            ready=in_order,
            skipped=tuple(skipped[e.key] for e in self._entries if e.key in skipped),
            widths=widths,
            estimate=cost,
            planned=len(in_order) * len(self._project.cases) * self._config.run.trials,
            code_trusted=self._code_trusted,
            warnings=warnings,
            confirm=questions(self._config, cost),
        )

    # ---- the project's own faults

    def _own_problems(self) -> list[Problem]:
        from engine.scoring import validate_check

        found: list[Problem] = []
        if not self._project.cases:
            found.append(_error("no_cases", "The project has no test case.", "Add at least one test case."))
        if not self._entries:
            found.append(
                _error("no_models", "No model is switched on.", "Add a model, or set enabled: true on one.")
            )
        options = self._config.scorers.options
        for case in self._project.cases:
            for check in case.checks:
                found += validate_check(check, case, options, self._project.root)
        return [problem for problem in dict.fromkeys(found) if problem not in self._project.problems]

    def _widths(self, ready: Sequence[ReadyModel], problems: list[Problem]) -> tuple[LaneWidth, ...]:
        environ = os.environ if self._means.environ is None else self._means.environ
        try:
            environment = read_environment(environ)
        except UserError as error:
            problems.append(_error(error.code, error.message, error.hint))
            environment = {}
        used = {model.connection.id: model.connection for model in ready}
        return lane_widths(used.values(), self._config.run, environment)

    # ---- one model

    def _connection(self, entry: ModelEntry) -> Connection:
        return self._project.connection(entry.provider or "")

    def _skip_by_rule(self, entry: ModelEntry) -> SkippedModel | None:
        if entry.run and not self._code_trusted:
            return SkippedModel(
                entry.key,
                "no_trust",
                "This model is code of the project, and the project is not trusted.",
                "Say yes to the project's code, or use --trust on the command line.",
            )
        connection = self._connection(entry)
        kind = canonical_kind(connection.kind)
        if kind is None:
            known = ", ".join(info.kind for info in KINDS.values() if info.built)
            return SkippedModel(
                entry.key,
                "unknown_kind",
                f"Nobody knows the kind of connection {connection.kind!r}.",
                f"Use one of: {known}.",
            )
        if not KINDS[kind].built:
            return SkippedModel(
                entry.key,
                "not_built",
                f"{KINDS[kind].title} is not built into this program.",
                "Name the vendor's own kind, or openai_compatible with the address of a server.",
            )
        return None if self._means.include_gated else self._skip_by_gate(entry, connection)

    def _skip_by_gate(self, entry: ModelEntry, connection: Connection) -> SkippedModel | None:
        from engine.stats.gates import preflight_gates

        reasons = preflight_gates(self._config, entry, self._means.pricebook.card(entry, connection))
        if not reasons:
            return None
        return SkippedModel(
            entry.key,
            "breaks_gate",
            "It cannot meet a must-have: " + "; ".join(_gate_sentence(reason) for reason in reasons) + ".",
            "Change the must-have, or declare on the model's card what it offers.",
        )

    # ---- connections, side by side

    def _look_at(self, groups: Mapping[str, Sequence[ModelEntry]]) -> list[_Finding]:
        """Looks at all connections at once, each on a daemon thread, within the time limit."""
        answers: queue.SimpleQueue[tuple[str, _Finding]] = queue.SimpleQueue()
        for connection_id, entries in groups.items():
            threading.Thread(
                target=lambda c=connection_id, e=entries: answers.put((c, self._one_connection(e))),
                name=f"arena-preflight-{connection_id}",
                daemon=True,
            ).start()
        found: dict[str, _Finding] = {}
        end = time.monotonic() + TIME_LIMIT_S
        while len(found) < len(groups):
            if self._means.should_stop is not None and self._means.should_stop():
                raise Cancelled()
            left = end - time.monotonic()
            if left <= 0:
                break
            try:
                connection_id, finding = answers.get(timeout=min(_LOOK_S, left))
            except queue.Empty:
                continue
            found[connection_id] = finding
        return [found.get(c) or _too_late(entries) for c, entries in groups.items()]

    def _one_connection(self, entries: Sequence[ModelEntry]) -> _Finding:
        try:
            return self._reached(self._with_keys(entries))
        except Exception as error:
            # One connection's fault skips its models and never the run.
            reason = f"The connection could not be prepared: {type(error).__name__}: {error}"
            return _Finding(skipped=tuple(_build_failed(e, reason) for e in entries))

    def _with_keys(self, entries: Sequence[ModelEntry]) -> _Finding:
        ready: list[ReadyModel] = []
        skipped: list[SkippedModel] = []
        for entry in entries:
            result = self._ready_or_skipped(entry)
            if isinstance(result, SkippedModel):
                skipped.append(result)
            else:
                ready.append(result)
        return _Finding(tuple(ready), tuple(skipped))

    def _ready_or_skipped(self, entry: ModelEntry) -> ReadyModel | SkippedModel:
        connection = self._connection(entry)
        ask = {"trust": self._means.trust, "root": self._project.root, "code_trusted": self._code_trusted}
        key = self._means.keystore.resolve(connection, entry, **ask)  # type: ignore[arg-type]
        if not key.usable:
            return _no_key(entry, key)
        headers, missing = self._means.keystore.resolve_headers(connection, entry, **ask)  # type: ignore[arg-type]
        if missing is not None:
            return _no_key(entry, missing)
        return self._ready(entry, connection, key, headers)

    def _ready(
        self, entry: ModelEntry, connection: Connection, key: KeyResult, headers: Mapping[str, str]
    ) -> ReadyModel | SkippedModel:
        kind = canonical_kind(connection.kind) or connection.kind
        settings = ConnectionSettings(
            id=connection.id,
            kind=kind,
            base_url=base_url(connection, entry),
            api_key=key.value,
            headers=headers,
            proxy=connection.proxy,
            verify_tls=connection.verify_tls,
            model_prefix=connection.model_prefix,
            params=connection.params,
            width=self._config.run.concurrency,
            trusted=self._code_trusted,
            root=str(self._project.root),
        )
        # A probe builds the connector anyway.
        failed = None if self._means.probe else _cannot_be_built(settings)
        if failed is not None:
            return _build_failed(entry, failed)
        info = KINDS[kind]
        return ReadyModel(
            entry=entry,
            connection=connection,
            settings=settings,
            price=self._means.pricebook.price(entry, connection),
            card=self._means.pricebook.card(entry, connection),
            lane=connection.id,
            timeout_s=entry.timeout_s or connection.timeout_s or self._config.run.timeout_s,
            first_call_allowance_s=info.first_call_allowance_s,
        )

    def _reached(self, finding: _Finding) -> _Finding:
        """Asks local servers what they serve; one look per endpoint and key."""
        if not self._means.probe:
            return finding
        from providers.probe import probe

        same: dict[str, list[ReadyModel]] = {}
        for model in finding.ready:
            same.setdefault(model.credential, []).append(model)
        ready = list(finding.ready)
        skipped = list(finding.skipped)
        warnings: dict[str, str] = {}
        for models in same.values():
            seen = probe(models[0].settings, [m.entry.model for m in models], _PROBE_TIMEOUT_S)
            for model in models:
                skip = seen.skips.get(model.entry.model)
                if skip is not None:
                    ready.remove(model)
                    skipped.append(SkippedModel(model.entry.key, *skip))
                elif model.entry.model in seen.warnings:
                    warnings[model.entry.key] = seen.warnings[model.entry.model]
        return replace(finding, ready=tuple(ready), skipped=tuple(skipped), warnings=warnings)


def _cannot_be_built(settings: ConnectionSettings) -> str | None:
    from providers.registry import create

    try:
        create(settings).close()
    except ProviderError as error:
        return error.message
    except ImportError as error:
        return f"A part of this program is not installed: {error}."
    return None


def _error(code: str, message: str, fix: str) -> Problem:
    return Problem(Severity.ERROR, message, fix, code=code)


def _no_key(entry: ModelEntry, key: KeyResult) -> SkippedModel:
    return SkippedModel(entry.key, "no_key", key.reason, key.fix)


def _build_failed(entry: ModelEntry, reason: str) -> SkippedModel:
    return SkippedModel(entry.key, "build_failed", reason, "Check the connection's settings.")


def _too_late(entries: Sequence[ModelEntry]) -> _Finding:
    return _Finding(
        skipped=tuple(
            SkippedModel(
                entry.key,
                "not_reachable",
                f"The connection or its key could not be looked at within {TIME_LIMIT_S:g} seconds.",
                "Start the server or unlock the key store, then try again.",
            )
            for entry in entries
        )
    )


def _gate_sentence(reason: Reason) -> str:
    """The must-have in plain words, for the skip reason."""
    values = reason.values
    match reason.code:
        case "gate_context":
            return f"it reads {values['measured']} tokens, {values['required']} are needed"
        case "gate_features":
            return f"it does not offer {', '.join(values['missing'])}"
        case "gate_privacy":
            return f"it does not promise {', '.join(values['refused'])}"
        case "privacy_undeclared":
            return f"nobody has declared that it promises {', '.join(values['missing'])}"
        case "features_unknown":
            return f"nobody has declared whether it offers {', '.join(values['required'])}"
        case "context_unknown":
            return f"nobody knows how much it can read, {values['required']} tokens are needed"
    return reason.code

"""The models of a project looked at one connection at a time: keys, settings, what a server serves."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from providers.base import ConnectionSettings, ProviderError
from providers.registry import KINDS, canonical_kind

from engine.config.call_params import without_own
from engine.config.schema import Card, Connection, ModelEntry
from engine.domain import SkippedModel
from engine.errors import Cancelled
from engine.execution.widths import runs_here
from engine.hosts import base_url
from engine.keystore import KeyResult, KeyStore
from engine.price import Price
from engine.pricing import PriceBook

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
class Means:
    """What preflight works with. `include_gated` runs models that cannot qualify all the same."""

    keystore: KeyStore
    pricebook: PriceBook
    trust: bool = False
    probe: bool = True
    include_gated: bool = False
    environ: Mapping[str, str] | None = None
    should_stop: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one connection: models that are ready, skipped, warned about."""

    ready: tuple[ReadyModel, ...] = ()
    skipped: tuple[SkippedModel, ...] = ()
    warnings: Mapping[str, str] = field(default_factory=dict)


class Candidates:
    """Looks at the models of one project. Every look is thread-safe and raises nothing but Cancelled."""

    def __init__(self, project: Project, means: Means, *, code_trusted: bool) -> None:
        self._project = project
        self._config = project.config
        self._means = means
        self._code_trusted = code_trusted

    def look_at(self, groups: Mapping[str, Sequence[ModelEntry]]) -> list[Finding]:
        """Looks at all connections at once, each on a daemon thread, within the time limit."""
        answers: queue.SimpleQueue[tuple[str, Finding]] = queue.SimpleQueue()
        for connection_id, entries in groups.items():
            threading.Thread(
                target=lambda c=connection_id, e=entries: answers.put((c, self._one_connection(e))),
                name=f"arena-preflight-{connection_id}",
                daemon=True,
            ).start()
        found: dict[str, Finding] = {}
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

    def _one_connection(self, entries: Sequence[ModelEntry]) -> Finding:
        try:
            return self._reached(self._with_keys(entries))
        except Exception as error:
            # One connection's fault skips its models and never the run.
            reason = f"The connection could not be prepared: {type(error).__name__}: {error}"
            return Finding(skipped=tuple(_build_failed(e, reason) for e in entries))

    def _with_keys(self, entries: Sequence[ModelEntry]) -> Finding:
        ready: list[ReadyModel] = []
        skipped: list[SkippedModel] = []
        for entry in entries:
            result = self._ready_or_skipped(entry)
            if isinstance(result, SkippedModel):
                skipped.append(result)
            else:
                ready.append(result)
        return Finding(tuple(ready), tuple(skipped))

    def _ready_or_skipped(self, entry: ModelEntry) -> ReadyModel | SkippedModel:
        connection = self._project.connection(entry.provider or "")
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
            params=without_own(connection.params),
            width=self._config.run.concurrency,
            trusted=self._code_trusted,
            root=str(self._project.root),
        )
        # A probe builds the connector anyway.
        failed = None if self._means.probe else _cannot_be_built(settings)
        failed = failed or _cannot_be_loaded(entry, self._project.root)
        if failed is not None:
            return _build_failed(entry, failed)
        return ReadyModel(
            entry=entry,
            connection=connection,
            settings=settings,
            price=self._means.pricebook.price(entry, connection),
            card=self._means.pricebook.card(entry, connection),
            lane=connection.id,
            timeout_s=entry.timeout_s or connection.timeout_s or self._config.run.timeout_s,
            first_call_allowance_s=KINDS[kind].first_call_allowance_s if runs_here(connection) else 0.0,
        )

    def _reached(self, finding: Finding) -> Finding:
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


def _no_key(entry: ModelEntry, key: KeyResult) -> SkippedModel:
    return SkippedModel(entry.key, "no_key", key.reason, key.fix)


def _build_failed(entry: ModelEntry, reason: str) -> SkippedModel:
    return SkippedModel(entry.key, "build_failed", reason, "Check the connection's settings.")


def _too_late(entries: Sequence[ModelEntry]) -> Finding:
    return Finding(
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


def _cannot_be_loaded(entry: ModelEntry, root: Path) -> str | None:
    """Why the project's own code cannot be asked. Runs it, so only for trusted projects."""
    if not entry.run:
        return None
    from providers.callable import load_function

    try:
        load_function(entry.run, root)
    except ProviderError as error:
        return error.message
    return None

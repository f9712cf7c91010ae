"""Runs the checks of this computer and of the connections in use; for the window and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arena_desktop.desks.connections import KnownConnection, project_connections, vendor_connections
from engine import doctor
from engine.config.output_places import history_of
from engine.config.schema import Connection, ModelEntry
from engine.doctor import Finding, State
from engine.keystore import KeyStore
from engine.project import Project
from engine.storage.store import check_store

Asked = tuple[Connection, ModelEntry | None]


def connections_in_use(
    keys: KeyStore, own: Iterable[KnownConnection], project: Project | None
) -> list[Asked]:
    """A project's connections; without one those of the person that have a key or need none."""
    if project is not None:
        places = project_connections(project)
        named = {place.connection.id for place in places}
        rest = [c for c in project.config.connections if c.id not in named]
        return [*((place.connection, place.entry) for place in places), *((c, None) for c in rest)]
    kept = {(entry.connection, entry.host) for entry in keys.entries()}
    found: list[Asked] = []
    for place in (*vendor_connections(), *own):
        has_key = (place.holder, place.host) in kept or place.origin == "own"
        if has_key or keys.resolve(place.connection).value is not None:
            found.append((place.connection, place.entry))
    return found


def examine(
    keys: KeyStore, own: Iterable[KnownConnection], project: Project | None, store: Path, *, probe: bool
) -> list[Finding]:
    """Every check in the order a person would mend them. Blocks for seconds; changes nothing."""
    connections = connections_in_use(keys, own, project)
    root = project.root if project is not None else None
    findings = doctor.diagnose(
        keystore=keys, connections=connections, root=root, check_store=lambda: _check_stores(store, project)
    )
    if not connections:
        findings.append(_no_keys())
    if probe:
        findings = _beside(findings, doctor.probe(keys, connections, findings, root))
    return findings


def _check_stores(store: Path, project: Project | None) -> str | None:
    """The user's own history, and the one that the project keeps itself. As `check_store`."""
    fault = check_store(store)
    own = history_of(project.root, project.config) if project is not None else None
    return fault if fault is not None or own is None else check_store(own)


def _no_keys() -> Finding:
    sentence = "No access key is kept yet. Practice models and models on this computer need none."
    return Finding("keys", State.OK, "no_keys_yet", sentence)


def _beside(findings: Iterable[Finding], probed: Iterable[Finding]) -> list[Finding]:
    """What a connection answered stands right below whether it has its key."""
    answers = {finding.id.partition(":")[2]: finding for finding in probed}
    result: list[Finding] = []
    for finding in findings:
        result.append(finding)
        kind, _, name = finding.id.partition(":")
        if kind == "connection" and name in answers:
            result.append(answers.pop(name))
    return result

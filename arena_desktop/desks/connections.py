"""The connections that exist: the vendors', the person's own servers, and those of the open project.

A project brings its own connections in its config; what the person adds here is kept in the
preferences (address and name, never a key) and is written into a project when one of its models
is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from arena_desktop.settings import Settings
from engine.config.schema import Connection, ModelEntry
from engine.errors import UserError
from engine.hosts import base_url, endpoint_of
from engine.project import Project
from engine.secret_refs import SecretRef, parse_ref
from providers.addresses import host_of
from providers.registry import KINDS, canonical_kind

VENDORS = ("anthropic", "openai", "gemini", "openrouter", "groq")
"""The kinds of connection that have a vendor of their own, in the order of the screen."""
OWN_KINDS = ("openai_compatible", "ollama", "lmstudio", "llamacpp", "vllm")
"""What a server of the person's own can be."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A service or server that can be added without typing its address."""

    id: str
    kind: str
    title: str
    base_url: str
    needs_key: bool = False


PRESETS = (
    Preset("mistral", "openai_compatible", "Mistral", "https://api.mistral.ai/v1", True),
    Preset("deepseek", "openai_compatible", "DeepSeek", "https://api.deepseek.com/v1", True),
    Preset("xai", "openai_compatible", "xAI", "https://api.x.ai/v1", True),
    Preset("together", "openai_compatible", "Together", "https://api.together.xyz/v1", True),
    Preset("ollama", "ollama", "Ollama", "http://localhost:11434/v1"),
    Preset("lmstudio", "lmstudio", "LM Studio", "http://localhost:1234/v1"),
    Preset("llamacpp", "llamacpp", "llama.cpp", "http://localhost:8080/v1"),
)
_LISTED_AT_ONCE = ("mistral",)
_KEPT = "connections/own"
_NO_NETWORK = ("builtin", "mock", "callable", "litellm")


@dataclass(frozen=True, slots=True)
class KnownConnection:
    """One connection as the keys page lists it. `origin`: vendor, own, project.

    `host` is what its key is bound to, empty where the address cannot be read. `entry` and `root`
    are a project's, for keys that it takes from elsewhere.
    """

    connection: Connection
    origin: str
    title: str
    host: str = ""
    entry: ModelEntry | None = None
    root: Path | None = None

    @property
    def key(self) -> str:
        """Names it among all others: whose key, for which host."""
        return f"{self.holder}@{self.host}"

    @property
    def holder(self) -> str:
        """The name its key is kept under: its own, or the one a project's `${keyring:…}` names."""
        ref = _reference(self.connection)
        if ref is None or ref.scheme != "keyring":
            return self.connection.id
        return ref.value.rpartition("/")[2]

    @property
    def elsewhere(self) -> str:
        """Where the project takes the key from instead of the kept ones: env, file, cmd; else empty."""
        if self.entry is not None and self.entry.api_key_env:
            return "env"
        ref = _reference(self.connection)
        return ref.scheme if ref is not None and ref.scheme != "keyring" else ""

    @property
    def needs_key(self) -> bool:
        """Whether the service is known to answer nobody without a key."""
        kind = canonical_kind(self.connection.kind)
        paid = {host_of(preset.base_url) for preset in PRESETS if preset.needs_key}
        return bool(kind and KINDS[kind].needs_key) or self.host in paid

    @property
    def address(self) -> str:
        """Its whole address."""
        return base_url(self.connection, self.entry) or ""

    @property
    def local(self) -> bool:
        """Whether it is on this computer."""
        try:
            return endpoint_of(self.connection, self.entry).loopback
        except UserError:
            return False


def _reference(connection: Connection) -> SecretRef | None:
    """The reference a project writes instead of a key; what is none is said when the key is looked up."""
    try:
        return parse_ref(connection.api_key_ref) if connection.api_key_ref else None
    except UserError:
        return None


def known(
    connection: Connection,
    origin: str,
    title: str = "",
    *,
    entry: ModelEntry | None = None,
    root: Path | None = None,
) -> KnownConnection:
    """A connection with its host worked out."""
    try:
        host = endpoint_of(connection, entry).host
    except UserError:
        host = ""
    return KnownConnection(connection, origin, title or connection.id, host, entry, root)


def vendor_connections() -> list[KnownConnection]:
    """One for each vendor, at its usual address."""
    own_kind = [known(Connection(id=kind, kind=kind), "vendor", KINDS[kind].title) for kind in VENDORS]
    by_address = [
        known(Connection(id=p.id, kind=p.kind, base_url=p.base_url), "vendor", p.title)
        for p in PRESETS
        if p.id in _LISTED_AT_ONCE
    ]
    return [*own_kind, *by_address]


def project_connections(project: Project) -> list[KnownConnection]:
    """The connections of a project that may need a key, each at every address that is asked there: by
    its models, and by what marks their answers."""
    found: dict[str, KnownConnection] = {}
    asked = (*project.config.models, *_markers(project))
    for connection in project.config.connections:
        if (canonical_kind(connection.kind) or "") in _NO_NETWORK:
            continue
        users = [entry for entry in asked if entry.provider == connection.id]
        for entry in (*[e for e in users if e.api_base or e.api_key_env], None):
            item = known(connection, "project", entry=entry, root=project.root)
            found.setdefault(item.key, item)
    return list(found.values())


def judge_place(project: Project) -> str:
    """The key of the place where the project's judge is asked; the name of its connection where there
    is no such place, empty without a judge."""
    from engine.execution.judge_rules import judge_entry

    entry = judge_entry(project.config.judge)
    if entry is None:
        return ""
    connections = {connection.id: connection for connection in project.config.connections}
    connection = connections.get(entry.provider or "")
    return known(connection, "project", entry=entry).key if connection else entry.provider or ""


def _markers(project: Project) -> tuple[ModelEntry, ...]:
    """The judge and the models that make embeddings, as entries."""
    from engine.execution.embed_rules import embedder_entries
    from engine.execution.judge_rules import judge_entry

    judge = judge_entry(project.config.judge)
    embedders = embedder_entries(project.all_cases or project.cases, project.config)
    return (*([judge] if judge is not None else []), *embedders)


class OwnConnections:
    """The servers and services that the person added. GUI thread or command line only."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def list(self) -> list[KnownConnection]:
        """All of them, in the order they were added; what cannot be read is left out."""
        data = self._settings.read_json(_KEPT)
        found = []
        for item in data if isinstance(data, list) else []:
            if isinstance(item, dict) and isinstance(item.get("id"), str) and item.get("kind") in OWN_KINDS:
                connection = Connection(
                    id=item["id"], kind=item["kind"], base_url=str(item.get("base_url") or "") or None
                )
                found.append(known(connection, "own", str(item.get("title") or item["id"])))
        return found

    def keep(self, connection: Connection, title: str) -> KnownConnection:
        """Adds one, or replaces the one of the same id. Raises UserError `bad_base_url`."""
        endpoint_of(connection)
        kept = known(connection, "own", title)
        before = self.list()
        if any(item.connection.id == connection.id for item in before):
            after = [kept if item.connection.id == connection.id else item for item in before]
        else:
            after = [*before, kept]
        self._write(after)
        return kept

    def forget(self, connection_id: str) -> None:
        """Takes one off the list; its key is removed by the keys desk."""
        self._write([item for item in self.list() if item.connection.id != connection_id])

    def free_id(self, title: str) -> str:
        """An id made from a title that no other connection has."""
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "server"
        taken = {item.connection.id for item in self.list()} | set(KINDS)
        number = 1
        while True:
            name = plain if number == 1 else f"{plain}-{number}"
            if canonical_kind(name) is None and name not in taken:
                return name
            number += 1

    def _write(self, items: Iterable[KnownConnection]) -> None:
        self._settings.write_json(
            _KEPT,
            [
                {
                    "id": item.connection.id,
                    "kind": item.connection.kind,
                    "base_url": item.connection.base_url or "",
                    "title": item.title,
                }
                for item in items
            ],
        )


def all_connections(own: OwnConnections, project: Project | None = None) -> list[KnownConnection]:
    """Vendors, own servers, then what only the open project has; each (id, host) once."""
    found = {item.key: item for item in (*vendor_connections(), *own.list())}
    for item in project_connections(project) if project is not None else ():
        same = found.get(item.key)
        if same is None:
            found[item.key] = item
        elif item.connection != same.connection or item.entry is not None:
            # The same place, but the project says where the key is from or how it gets there.
            found[item.key] = replace(item, title=same.title)
    return list(found.values())

"""Which connection each model goes through: declared, named by kind, or known by the model's name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from providers.registry import KINDS, canonical_kind, infer_kind
from yaml.nodes import Node

from engine.config.faults import Faults, nearest
from engine.config.records import Found
from engine.config.schema import Config, Connection, Judge, ModelEntry
from engine.config.values import line_of, pairs

_PROXIES = ("http", "https", "socks5", "socks5h", "socks")
_RUN_TARGET = re.compile(r"(?P<where>.+):(?P<function>[A-Za-z_][A-Za-z0-9_]*)")


def connect(
    config: Config,
    faults: Faults,
    model_places: Mapping[str, tuple[Node, str]],
    connection_places: Sequence[tuple[Node, str]],
    blocks: Mapping[str, Found],
) -> Config:
    """Fills `provider` of every model and the judge; adds a connection for each bare kind in use."""
    links = _Links(_declared(config.connections, faults, connection_places), faults)
    models = []
    for entry in config.models:
        node, path = model_places.get(entry.key, (None, "models"))
        models.append(links.for_model(entry, node, path))
    judge = links.for_judge(config, models, blocks.get("judge"))
    connected = replace(config, models=tuple(models), judge=judge, connections=tuple(links.known.values()))
    _check_widths(connected, faults, blocks.get("run"))
    return connected


def _declared(
    connections: Sequence[Connection], faults: Faults, places: Sequence[tuple[Node, str]]
) -> dict[str, Connection]:
    """Declared connections by id, kinds in their canonical names, duplicates and odd kinds reported."""
    result: dict[str, Connection] = {}
    lines: dict[str, int] = {}
    for connection, (node, path) in zip(connections, places, strict=True):
        if connection.id in result:
            faults.error(
                node,
                path,
                "duplicate_connection",
                f"The connection `{connection.id}` is declared twice, in line {lines[connection.id]} and in "
                f"line {line_of(node)}.",
                "Give one of them another `id`.",
            )
            continue
        lines[connection.id] = line_of(node)
        kind = canonical_kind(connection.kind)
        if kind is None:
            _unknown_kind(connection.kind, faults, node, f"{path}.kind")
        elif not KINDS[kind].built:
            _not_built(KINDS[kind].title, faults, node, path)
        _check_url(connection.base_url, faults, node, f"{path}.base_url")
        _check_proxy(connection.proxy, faults, node, f"{path}.proxy")
        result[connection.id] = replace(connection, kind=kind or connection.kind)
    return result


def _unknown_kind(kind: str, faults: Faults, node: Node | None, path: str) -> None:
    known = [info.kind for info in KINDS.values() if info.built]
    close = nearest(kind, known)
    fix = f"Did you mean `{close}`?" if close else f"Use one of: {', '.join(known)}."
    faults.error(node, path, "unknown_kind", f"`{kind}` is not a kind of connection that is known.", fix)


def _not_built(title: str, faults: Faults, node: Node | None, path: str) -> None:
    faults.warning(
        node,
        path,
        "not_built",
        f"{title} is not built into this program; models that use it are skipped.",
        "Name the vendor's own kind, or `openai_compatible` with the address of a server.",
    )


def _check_url(url: str | None, faults: Faults, node: Node | None, path: str) -> None:
    if url is None:
        return
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        faults.error(
            node,
            path,
            "bad_url",
            "The address of the server is not a web address.",
            "Write it with its beginning, for instance `http://127.0.0.1:8080/v1`.",
        )


def _check_proxy(proxy: str | None, faults: Faults, node: Node | None, path: str) -> None:
    if proxy is None:
        return
    scheme, separator, place = proxy.strip().partition("://")
    if separator and scheme.lower() not in _PROXIES:
        close = nearest(scheme, _PROXIES)
        hint = f"Did you mean `{close}://{place}`? " if close else ""
        faults.error(
            node,
            path,
            "bad_proxy",
            f"`{scheme[:20]}` is no kind of proxy.",
            f"{hint}Use one of: {', '.join(_PROXIES)}.",
        )


class _Links:
    """The connections of one project while models are led to them."""

    def __init__(self, declared: dict[str, Connection], faults: Faults) -> None:
        self.known = declared
        self._faults = faults
        self._said_not_built: set[str] = set()

    def for_model(self, entry: ModelEntry, node: Node | None, path: str) -> ModelEntry:
        """The entry with its provider filled; None stays where nobody can tell it."""
        _check_url(entry.api_base, self._faults, node, f"{path}.api_base")
        if entry.run:
            return self._own_code(entry, node, path)
        provider = self.resolve(entry.provider, entry.model, entry.api_base)
        if provider is None:
            self._report(entry.provider, entry.model, node, path)
            return entry
        self._say(provider, node, path)
        return replace(entry, provider=provider)

    def _own_code(self, entry: ModelEntry, node: Node | None, path: str) -> ModelEntry:
        if not _RUN_TARGET.fullmatch(entry.run or ""):
            self._faults.error(
                node,
                f"{path}.run",
                "bad_run",
                "`run` does not name a function.",
                "Write `path/file.py:function` or `package.module:function`.",
            )
        named = self.known.get(entry.provider or "")
        if named is not None and named.kind == "callable":
            return entry
        return replace(entry, provider=self._implicit("callable", None))

    def for_judge(self, config: Config, models: Sequence[ModelEntry], found: Found | None) -> Judge:
        """The judge with its provider filled: named, like the compared model of that name, or inferred."""
        judge = config.judge
        if judge.model is None:
            return judge
        same = next((entry for entry in models if judge.model in (entry.key, entry.model)), None)
        if judge.provider is None and same is not None and same.provider:
            return replace(judge, model=same.model, provider=same.provider)
        provider = self.resolve(judge.provider, judge.model, judge.api_base)
        node, path = (None, "judge") if found is None else (found.value, found.path)
        if provider is None:
            self._report(judge.provider, judge.model, node, path)
            return judge
        self._say(provider, node, path)
        return replace(judge, provider=provider)

    def resolve(self, named: str | None, model: str, api_base: str | None) -> str | None:
        """The id of the connection; made where a bare kind is meant."""
        if named is not None:
            if named in self.known:
                return named
            kind = canonical_kind(named)
        else:
            kind = infer_kind(model)
            if kind in (None, "litellm") and api_base:
                kind = "openai_compatible"
        return None if kind is None else self._implicit(kind, api_base)

    def _implicit(self, kind: str, api_base: str | None) -> str:
        name = kind
        if api_base:
            name = f"{kind}@{api_base.split('://')[-1].split('/')[0]}"
        if name not in self.known:
            self.known[name] = Connection(id=name, kind=kind, base_url=api_base)
        return name

    def _say(self, provider: str, node: Node | None, path: str) -> None:
        info = KINDS.get(self.known[provider].kind)
        if info is not None and not info.built and provider not in self._said_not_built:
            self._said_not_built.add(provider)
            _not_built(info.title, self._faults, node, path)

    def _report(self, named: str | None, model: str, node: Node | None, path: str) -> None:
        kinds = [info.kind for info in KINDS.values() if info.built]
        declared = [name for name in self.known if name not in KINDS]
        if named is not None:
            close = nearest(named, [*declared, *kinds])
            both = f"declared: {', '.join(declared) or 'none'}; kinds: {', '.join(kinds)}"
            fix = f"Did you mean `{close}`? " if close else ""
            self._faults.error(
                node,
                f"{path}.provider",
                "unknown_provider",
                f"`{named}` is neither a declared connection nor a kind.",
                f"{fix}Use one of these ({both}).",
            )
        elif model:
            self._faults.error(
                node,
                path,
                "provider_missing",
                f"The name `{model}` does not tell which provider it belongs to.",
                f"Name it: `{{model: {model}, provider: openai}}`.",
            )


def _check_widths(config: Config, faults: Faults, run: Found | None) -> None:
    """`run.provider_concurrency` names connections or kinds that exist."""
    if run is None:
        return
    block = next((value for key, value in pairs(run.value) if key.value == "provider_concurrency"), None)
    if block is None:
        return
    known = {connection.id for connection in config.connections}
    for key, _ in pairs(block):
        if key.value in known or canonical_kind(key.value) is not None:
            continue
        close = nearest(key.value, [*known, *KINDS])
        faults.error(
            key,
            f"run.provider_concurrency.{key.value}",
            "unknown_provider",
            f"`{key.value}` is neither a connection nor a kind.",
            f"Did you mean `{close}`?" if close else f"Use one of: {', '.join(sorted(known))}.",
        )

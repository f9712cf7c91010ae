"""Which model makes the embeddings that a check compares texts by: the check names it, here it is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from providers.registry import KINDS, canonical_kind, infer_kind

from engine.config.embedder_key import PREFIX
from engine.config.faults import nearest
from engine.config.loading import Place
from engine.config.schema import Config, Connection, ModelEntry
from engine.domain import Case, CheckSpec, Problem, Severity

CHECK_NAMES = ("similarity", "semantic")
_EXAMPLES = "`model: openai/text-embedding-3-small`, or `model: mock:embedding` to practise"


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model that makes embeddings, as an entry whose key, address and price follow the rules of
    any model. `made` is the connection of a bare kind, where no declared one is meant."""

    entry: ModelEntry
    made: Connection | None = None


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """Why a name stands for no such model, and what to write instead."""

    message: str
    fix: str
    code: str


def model_wanted(check: str, own: Mapping[str, Any], project: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The model named by a check that compares by embeddings, "" where it names none.

    None: the check does not compare by embeddings. `project` are the `scorers.options`.
    """
    if check.strip() not in CHECK_NAMES:
        return None
    options: dict[str, Any] = {}
    for name in reversed(CHECK_NAMES):
        options.update(project.get(name) or {})
    options.update(own)
    if options.get("method") != "embedding":
        return None
    model = options.get("model")
    return "" if model is None or isinstance(model, (Mapping, list, tuple)) else str(model).strip()


def models_wanted(cases: Iterable[Case], config: Config) -> tuple[str, ...]:
    """The models that the checks of these cases compare by, each once; "" is none of them."""
    options = config.scorers.options
    found = (model_wanted(check.type, check.options, options) for case in cases for check in case.checks)
    return tuple(dict.fromkeys(name for name in found if name))


def find_embedder(name: str, config: Config) -> Embedder | NoEmbedder:
    """The model that a check names: the key of a model of the project, `connection/model`, or a name
    that tells its kind."""
    if not name:
        return NoEmbedder(
            "Comparing by meaning needs a model that makes embeddings, and the check names none.",
            f"Name one, for instance {_EXAMPLES}.",
            "embedder_missing",
        )
    entry = next((e for e in config.models if e.key == name), None)
    if entry is not None:
        return _checked(Embedder(entry), name, config)
    place, slash, model = name.partition("/")
    if slash and model and (found := _through(place, model, config)):
        return _checked(found, name, config)
    kind = infer_kind(name)
    if kind is None or not KINDS[kind].built:
        return _unknown(name, place if slash else "", config)
    found = _through(kind, name, config)
    return _unknown(name, "", config) if found is None else _checked(found, name, config)


def with_embedders(
    config: Config, cases: Sequence[Case], file: str, places: Mapping[str, Place]
) -> tuple[Config, list[Problem]]:
    """The config with the connections of all embedders in use, and what is wrong with their names.

    A name that cannot be used is told once: where the options of the project write it, else at the
    first test that asks for it.
    """
    problems: list[Problem] = []
    seen: set[str] = set()
    for case in cases:
        for check in case.checks:
            name = model_wanted(check.type, check.options, config.scorers.options)
            if name is None or name in seen:
                continue
            seen.add(name)
            found = find_embedder(name, config)
            if isinstance(found, NoEmbedder):
                problems.append(_problem(found, case, check, file, places))
            elif found.made is not None:
                config = replace(config, connections=(*config.connections, found.made))
    return config, problems


def _problem(
    found: NoEmbedder, case: Case, check: CheckSpec, file: str, places: Mapping[str, Place]
) -> Problem:
    told = Problem(Severity.ERROR, found.message, found.fix, code=found.code)
    paths = [f"scorers.options.{name}.{part}" for part in ("model", "method") for name in CHECK_NAMES]
    common = next((path for path in paths if path in places), None)
    own = "model" in check.options or "method" in check.options
    if own and not case.own_checks and "scorers.checks" in places:
        common = "scorers.checks"
    elif own or common is None:
        return replace(told, file=case.file or file, line=case.line, path=f"{case.id}.{check.type}.model")
    place = places[common]
    return replace(told, file=file, line=place.line, column=place.column, path=common)


def _through(place: str, model: str, config: Config) -> Embedder | None:
    """A model through a declared connection, or through that of a bare kind."""
    declared = next((c for c in config.connections if c.id == place), None)
    kind = None if declared is not None else canonical_kind(place)
    if declared is None and kind is None:
        return None
    made = None
    if declared is None and not any(c.id == kind for c in config.connections):
        made = Connection(id=kind or "", kind=kind or "")
    return Embedder(ModelEntry(model=model, provider=place if declared else kind), made)


def _checked(found: Embedder, name: str, config: Config) -> Embedder | NoEmbedder:
    """The embedder with its own key, unless its connection can make no embeddings."""
    entry = found.entry
    link = found.made or next((c for c in config.connections if c.id == entry.provider), None)
    kind = canonical_kind(link.kind) if link is not None else None
    if entry.run or (kind is not None and not KINDS[kind].embeds):
        title = KINDS[kind].title if kind is not None else "Own code"
        return NoEmbedder(
            f"{title} makes no embeddings, so `{name}` cannot be used to compare by meaning.",
            f"Name a model of another service or of this computer, for instance {_EXAMPLES}.",
            "embedder_makes_none",
        )
    named = replace(entry, key=f"{PREFIX}{name}", label=entry.label or name, enabled=True)
    return replace(found, entry=named)


def _unknown(name: str, place: str, config: Config) -> NoEmbedder:
    keys = [entry.key for entry in config.models]
    links = [connection.id for connection in config.connections]
    kinds = [info.kind for info in KINDS.values() if info.built and info.embeds]
    close = nearest(place, [*links, *kinds]) if place else nearest(name, keys)
    meant = f"{close}/{name.partition('/')[2]}" if place and close else close
    hint = f"Did you mean `{meant}`? " if meant else ""
    return NoEmbedder(
        f"`{name}` is neither the key of a model of this project nor a connection with its model.",
        f"{hint}Write `connection/model`, for instance {_EXAMPLES}.",
        "embedder_unknown",
    )

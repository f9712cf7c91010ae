"""The files of a project that hold scorers: found, read without running them, and loaded."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import sys
import threading
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.config.paths import inside
from engine.scoring import custom
from engine.scoring.base import CheckFault
from engine.scoring.custom import CustomScorer, Scorer, ScorerContext

FOLDER = "scorers"
MAX_FILE = 1_000_000
_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class LoadedScorers:
    """The scorers of a project by name, and why a file gave none."""

    scorers: Mapping[str, CustomScorer]
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedScorers:
    """The names that files seem to hold. `open_ended`: some may only be known by running them."""

    names: frozenset[str]
    open_ended: bool


def scorer_files(root: Path | None, paths: Sequence[str] = ()) -> tuple[Path, ...]:
    """The scorer files of a project, in order of their path, inside its folder only."""
    if root is None:
        return ()
    base = root.resolve()
    found: dict[Path, None] = {}
    for place in (FOLDER, *paths):
        start = base / place
        for path in sorted(start.glob("*.py")) if start.is_dir() else [start]:
            real = inside(base, str(path))
            if real is not None and real.is_file() and real.suffix == ".py":
                found[real] = None
    return tuple(found)


def scorer_names(root: Path | None, paths: Sequence[str] = ()) -> NamedScorers:
    """The scorer names of a project, read from its files without running them."""
    names: set[str] = set()
    open_ended = False
    for path in scorer_files(root, paths):
        try:
            found = _names_of(_source(path))
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
            open_ended = True
            continue
        names.update(name for name in found if name)
        open_ended = open_ended or "" in found
    return NamedScorers(frozenset(names), open_ended)


@functools.lru_cache(maxsize=64)
def _names_of(source: bytes) -> frozenset[str]:
    """The names in one file, "" among them where one is not written out."""
    return frozenset(name for node in ast.parse(source).body for name in _names_in(node))


def _names_in(node: ast.stmt) -> Iterator[str]:
    """The names a statement at the top of a file gives; "" for one that is not written out."""
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _called(decorator) == "scorer":
                yield _text(decorator.args[0]) if decorator.args else ""
    elif isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, (ast.Assign, ast.AnnAssign)) and _target(inner) == "name" and inner.value:
                yield _text(inner.value)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and _target(node) == "SCORERS":
        if isinstance(node.value, ast.Dict):
            yield from (_text(key) if key is not None else "" for key in node.value.keys)
        else:
            yield ""


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _target(node: ast.Assign | ast.AnnAssign) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id if isinstance(target, ast.Name) else ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _source(path: Path) -> bytes:
    if path.stat().st_size > MAX_FILE:
        raise ValueError(f"it is larger than {MAX_FILE:,} bytes")
    return path.read_bytes()


def load_scorers(
    root: Path | None, paths: Sequence[str] = (), sealed: frozenset[str] | None = None
) -> LoadedScorers:
    """Runs the scorer files of a trusted project, once for each content.

    A file that fails gives no scorers and its reason; the others still count. So does a file whose
    SHA-256 is not among `sealed`: it is not run. None = any may run.
    """
    sources: list[tuple[Path, bytes]] = []
    faults: dict[str, str] = {}
    for path in scorer_files(root, paths):
        try:
            source = _source(path)
        except (OSError, ValueError) as error:
            faults[path.name] = str(error)
            continue
        if sealed is None or hashlib.sha256(source).hexdigest() in sealed:
            sources.append((path, source))
        else:
            faults[path.name] = "it has changed since the project was trusted, so it was not run"
    with _loading:
        loaded = _loaded(tuple(sources))
    return LoadedScorers(loaded.scorers, {**faults, **loaded.faults})


@functools.lru_cache(maxsize=16)
def _loaded(sources: tuple[tuple[Path, bytes], ...]) -> LoadedScorers:
    scorers: dict[str, CustomScorer] = {}
    faults: dict[str, str] = {}
    for path, source in sources:
        try:
            module = _run(path, source)
            code = hashlib.sha256(source).hexdigest()
            found = _scorers_in(module, path.name)
            scorers.update((scorer.name, replace(scorer, code=code)) for scorer in found)
        except (Exception, SystemExit) as error:  # a file of a project must not end the program
            faults[path.name] = f"{type(error).__name__}: {error}"
    return LoadedScorers(scorers, faults)


def _run(path: Path, source: bytes) -> types.ModuleType:
    """A file run as a module of its own name.

    The source itself is compiled: a compiled file beside it could hold other code than was shown.
    """
    _lend_names()
    digest = hashlib.sha256(str(path).encode() + source).hexdigest()[:12]
    module = types.ModuleType(f"arena_scorer_{digest}_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the user trusted this code
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


def _lend_names() -> None:
    """Lets scorers written for the reference system import the three names they build on."""
    if "agent_arena" in sys.modules or importlib.util.find_spec("agent_arena") is not None:
        return
    package, scorers = types.ModuleType("agent_arena"), types.ModuleType("agent_arena.scorers")
    for name in ("Scorer", "ScoreResult", "scorer"):
        setattr(scorers, name, getattr(custom, name))
    package.__dict__["scorers"] = scorers
    for module in (package, scorers):
        # Whoever asks importlib about a module without a spec gets an error instead of an answer.
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
    sys.modules["agent_arena"], sys.modules["agent_arena.scorers"] = package, scorers


def _scorers_in(module: types.ModuleType, file: str) -> Iterator[CustomScorer]:
    """The scorers a module holds, those of `SCORERS` last so that they win."""
    values: list[Any] = list(vars(module).values())
    for value in values:
        if inspect.isclass(value):
            if value.__module__ == module.__name__ and issubclass(value, Scorer) and value.name:
                yield _scorer(value.name, value, file)
        elif name := getattr(value, "_arena_scorer_name", None):
            yield _scorer(str(name), value, file)
    declared = getattr(module, "SCORERS", {})
    if not isinstance(declared, Mapping):
        raise TypeError("SCORERS is not a mapping from names to scorers")
    for name, value in declared.items():
        yield _scorer(str(name), value, file)


def _scorer(name: str, value: Any, file: str) -> CustomScorer:
    """A scorer from a class, an object with `score`, or a function."""
    made = value() if isinstance(value, type) else value
    needs = getattr(made, "_arena_requires_reference", getattr(made, "requires_reference", True))
    method = getattr(made, "score", None)
    run = method if callable(method) else made
    if not callable(run):
        raise TypeError(f"the scorer {name!r} can neither be called nor has a method `score`")

    def call(output: str, reference: Any, context: ScorerContext) -> Any:
        return run(output, reference, context)

    return CustomScorer(name, call, bool(needs), file)


def find_scorer(
    name: str,
    root: Path | None,
    paths: Sequence[str],
    trusted: bool,
    sealed: frozenset[str] | None = None,
) -> CustomScorer | None:
    """The project's scorer of a name, None where the project has none of that name. `sealed` is as for
    `load_scorers`.

    Raises:
        CheckFault: The project is not trusted, or the file that should hold it failed.
    """
    named = scorer_names(root, paths)
    if name not in named.names and not named.open_ended:
        return None
    if not trusted:
        raise CheckFault(
            "no_trust",
            f"The scorer `{name}` is code of this project, which is not trusted. Trust it to use it.",
        )
    loaded = load_scorers(root, paths, sealed)
    if name in loaded.scorers:
        return loaded.scorers[name]
    if loaded.faults:
        file, why = next(iter(loaded.faults.items()))
        raise CheckFault(
            "scorer_file_failed", f"The scorer `{name}` cannot be loaded: {file}: {why}", file=file
        )
    return None

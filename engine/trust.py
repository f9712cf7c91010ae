"""What a project may do on this computer: its code, and the yeses the user gave.

A project that holds code is asked about once per content of that code, default No. The answers,
and the yeses for single keys, are kept under the program's own folder, never in the project.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import UserError
from engine.paths import caches_dir, home, private_folder, write_private

if TYPE_CHECKING:
    from engine.config.schema import Config
    from engine.domain import Case

TRUST_NAME = "trust.json"

_CODE_SUFFIXES = frozenset(
    (
        *(".py", ".pyc", ".pyd", ".pth", ".so", ".dll", ".dylib", ".exe", ".sh", ".bash", ".bat", ".cmd"),
        *(".ps1", ".js", ".mjs", ".rb", ".pl", ".zip", ".whl", ".egg"),
    )
)
# Written by Python and by version control while nobody changes any code; what lies in a
# __pycache__ is never run, see `shield_bytecode`.
_SKIPPED_FOLDERS = frozenset(("__pycache__", ".git", "node_modules"))
_FUNCTION = re.compile(r"[\w./\\ -]+\.py:\w+")
_COMMAND = re.compile(r"\$\{cmd:(.*?)\}", re.DOTALL)
_BLOCK = 1024 * 1024


class HasCode(Protocol):
    """The part of a loaded project that is looked at."""

    @property
    def root(self) -> Path: ...
    @property
    def config(self) -> Config: ...
    @property
    def cases(self) -> Sequence[Case]: ...


@dataclass(frozen=True, slots=True)
class CodeItem:
    """One thing a project would run. `kind` is scorer, hook, target, function or command;
    `place` is where it is named, `what` the file, function or command itself."""

    kind: str
    place: str
    what: str


class TrustState(StrEnum):
    """`changed`: this folder was trusted before, with other code."""

    NO_CODE = "no_code"
    TRUSTED = "trusted"
    NEVER_ASKED = "never_asked"
    CHANGED = "changed"


def code_in(project: HasCode) -> list[CodeItem]:
    """Everything in the project that runs code, in the order it is named."""
    config = project.config
    found = list(_scorers(project.root, config))
    found += [CodeItem("hook", f"hooks.{name}", what) for name, what in config.hooks.items() if what]
    found += [
        CodeItem("target", f"models[{number}].run", entry.run)
        for number, entry in enumerate(config.models)
        if entry.run
    ]
    found += _functions("scorers.options", config.scorers.options)
    for case in project.cases:
        for check in case.checks:
            found += _functions(f"case {case.id}", {"type": check.type, **check.options})
    for connection in config.connections:
        place = f"connections.{connection.id}"
        found += _commands(f"{place}.api_key_ref", connection.api_key_ref or "")
        for name, value in connection.headers.items():
            found += _commands(f"{place}.headers.{name}", value)
    return list(dict.fromkeys(found))


def content_hash(project: HasCode) -> str | None:
    """Hex SHA-256 over all code of the project and every place that names some; None = no code.

    Every file that could be run or imported counts, not only the named ones, because a named
    one may load the others.
    """
    found = seal(project)
    return None if found is None else found.digest


@dataclass(frozen=True, slots=True)
class CodeSeal:
    """The code of a project as it was at a moment. `digest` is as `content_hash` tells it, `files` are
    SHA-256 in hex over each file's bytes."""

    root: Path
    items: tuple[CodeItem, ...]
    digest: str
    files: frozenset[str] = frozenset()

    @property
    def is_broken(self) -> bool:
        """Whether the files hold other code now. Reads all of them."""
        return _hash(self.root, self.items)[0] != self.digest


def seal(project: HasCode) -> CodeSeal | None:
    """The code of a project as it is now; None where it has none."""
    items, root = tuple(code_in(project)), project.root.resolve()
    return CodeSeal(root, items, *_hash(root, items)) if items else None


def _hash(root: Path, items: Sequence[CodeItem]) -> tuple[str, frozenset[str]]:
    """Over everything together, and over each file alone."""
    files: set[str] = set()
    digest = hashlib.sha256()
    for item in items:
        digest.update(f"{item.kind}\0{item.what}\0".encode("utf-8", "surrogatepass"))
    for path in sorted(_code_files(root, items)):
        files.add(_add_file(digest, root, path))
    return digest.hexdigest(), frozenset(files)


class TrustBook:
    """The kept answers. Safe to use from several threads; an unreadable file means No."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def state(self, project: HasCode) -> TrustState:
        """Whether the project's code may run, and if not, what to say about it."""
        digest = content_hash(project)
        if digest is None:
            return TrustState.NO_CODE
        code = self._read()["code"]
        if digest in code:
            return TrustState.TRUSTED
        root = str(project.root.resolve())
        seen = any(isinstance(row, dict) and row.get("root") == root for row in code.values())
        return TrustState.CHANGED if seen else TrustState.NEVER_ASKED

    def is_trusted(self, project: HasCode) -> bool:
        """True where the project has no code or the user said yes to exactly this code."""
        return self.state(project) in (TrustState.NO_CODE, TrustState.TRUSTED)

    def trust(self, project: HasCode, *, seen: str | None = None) -> None:
        """Keeps a yes. `seen` is the hash that the question was about.

        Raises UserError `code_changed` when the code has changed since the question was shown.
        """
        digest = content_hash(project)
        if seen is not None and digest != seen:
            raise UserError(
                "code_changed",
                "The code of this project has changed while the question was open.",
                hint="Look at it again and answer again.",
            )
        if digest is None:
            return
        row = {"root": str(project.root.resolve()), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        with self._lock:
            data = self._read()
            data["code"][digest] = row
            self._write(data)

    def forget(self, project: HasCode) -> None:
        """Takes back every yes to code of this folder."""
        root = str(project.root.resolve())
        with self._lock:
            data = self._read()
            data["code"] = {
                key: row
                for key, row in data["code"].items()
                if not isinstance(row, dict) or row.get("root") != root
            }
            self._write(data)

    def allows(self, question: Sequence[str]) -> bool:
        """True where the user said yes to exactly this question, such as (env, NAME, host)."""
        return list(question) in self._read()["yes"]

    def allow(self, question: Sequence[str]) -> None:
        """Keeps a yes to exactly this question."""
        with self._lock:
            data = self._read()
            if list(question) not in data["yes"]:
                data["yes"].append(list(question))
                self._write(data)

    def _path(self) -> Path:
        return (self._folder or home()) / TRUST_NAME

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._path().read_text(encoding="utf-8"))
        except (OSError, ValueError):
            data = {}
        code = data.get("code") if isinstance(data, dict) else None
        yes = data.get("yes") if isinstance(data, dict) else None
        return {
            "code": code if isinstance(code, dict) else {},
            "yes": yes if isinstance(yes, list) else [],
        }

    def _write(self, data: Mapping[str, Any]) -> None:
        write_private(self._path(), json.dumps(data, indent=1, sort_keys=True) + "\n")


def is_trusted(project: HasCode) -> bool:
    """True where the project has no code or the user said yes to exactly this code."""
    return TrustBook().is_trusted(project)


def trust(project: HasCode, *, seen: str | None = None) -> None:
    """Keeps a yes to the project's code as it is now. See `TrustBook.trust`."""
    TrustBook().trust(project, seen=seen)


def shield_bytecode() -> None:
    """Keeps Python from running compiled files that came with a project; call before loading its code.

    Compiled files in a `__pycache__` are taken for the source beside them when a few bytes of
    their head fit, so they could hold other code than the one that was asked about. From here on
    this process reads and writes compiled files in the program's own cache folder only.
    """
    if sys.pycache_prefix is None:
        sys.pycache_prefix = str(private_folder(caches_dir() / "bytecode"))


def _scorers(root: Path, config: Config) -> Iterator[CodeItem]:
    for name in config.scorers.paths:
        yield CodeItem("scorer", "scorers.paths", name)
    folder = root / "scorers"
    if folder.is_dir():
        for path in sorted(folder.glob("*.py")):
            yield CodeItem("scorer", "scorers/", f"scorers/{path.name}")


def _functions(place: str, value: Any) -> Iterator[CodeItem]:
    """Options that name a function in a file, at any depth."""
    if isinstance(value, str):
        if _FUNCTION.fullmatch(value.strip()):
            yield CodeItem("function", place, value.strip())
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _functions(f"{place}.{name}", inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _functions(place, inner)


def _commands(place: str, text: str) -> Iterator[CodeItem]:
    for command in _COMMAND.findall(text):
        yield CodeItem("command", place, command)


def _code_files(root: Path, items: Sequence[CodeItem]) -> set[Path]:
    found = {path for item in items for path in _named_files(root, item)}
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if name not in _SKIPPED_FOLDERS]
        found.update(Path(folder, name) for name in names if Path(name).suffix.lower() in _CODE_SUFFIXES)
    # A pipe cannot be read to its end, and nothing can be loaded from it either.
    return {path for path in found if path.is_file() or not path.exists()}


def _named_files(root: Path, item: CodeItem) -> Iterator[Path]:
    """The files an item names itself, whatever they are called and wherever they lie."""
    if item.kind == "command":
        try:
            words = shlex.split(item.what)
        except ValueError:
            words = item.what.split()
    else:
        words = [item.what.rpartition(":")[0] or item.what]
    for word in words:
        path = root / word
        if path.is_file():
            yield path
        elif path.is_dir() and item.kind == "scorer":
            yield from (p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in _CODE_SUFFIXES)


def _add_file(digest: Any, root: Path, path: Path) -> str:
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    digest.update(f"\0{name}\0".encode("utf-8", "surrogatepass"))
    inner = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                inner.update(block)
    except OSError as error:
        inner.update(f"unreadable {error.errno}".encode())
    digest.update(inner.digest())
    return inner.hexdigest()

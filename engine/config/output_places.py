"""The places inside the project folder where a run also writes, as `output` names them.

Nothing of a project is trusted here: each place is looked up when it is about to be used, with links
resolved, and a file that is not a history of this program is never one.
"""

from __future__ import annotations

from pathlib import Path

from engine.config.paths import inside
from engine.config.schema import Config
from engine.domain import Problem, Severity

HISTORY_ID = 0x4172_4E61
"""Marks a history of this program in SQLite's header, so that a foreign database is never written to."""

REPORT_FOLDER = "results"
"""Where reports go if only their forms are named."""
USUAL_FORMS = ("markdown", "json")
"""The forms if only their folder is named."""
WRITTEN_FORMS = ("markdown", "json", "csv", "html")

_OTHER_NAMES = {"md": "markdown"}
_HEADER = b"SQLite format 3\0"
_HEADER_BYTES = 100
_ID_AT = 68


def history_of(root: Path, config: Config) -> Path | None:
    """The file in which runs of the project are kept; None = in the user's own history.

    None also where the file named is something else or lies outside the folder.
    """
    path = _named(root, config.output.db)
    return path if path is not None and _may_be_history(path) else None


def report_folder(root: Path, config: Config) -> Path | None:
    """Where reports are written after a run; None = nowhere."""
    if not config.output.dir and not config.output.formats:
        return None
    path = _named(root, config.output.dir or REPORT_FOLDER)
    return None if path is None or (path.exists() and not path.is_dir()) else path


def report_forms(config: Config) -> tuple[str, ...]:
    """The forms of a report that are asked for and can be written, each once."""
    names = [name.strip().lower() for name in config.output.formats or USUAL_FORMS]
    found = dict.fromkeys(_OTHER_NAMES.get(name, name) for name in names)
    return tuple(name for name in found if name in WRITTEN_FORMS)


def lies_in(store: Path | None, root: Path | None) -> bool:
    """Whether a history lies inside a project folder, links resolved. None = not known: no."""
    if store is None or root is None:
        return False
    try:
        return store.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return False


def output_problem(root: Path, config: Config) -> Problem | None:
    """A warning where `output.db` names a file that is something else."""
    path = _named(root, config.output.db)
    if path is None or _may_be_history(path):
        return None
    return Problem(
        Severity.WARNING,
        f"`{config.output.db}` is not a history of this program, so it is left alone.",
        "Runs are kept in your own history. Name a file that is not there yet to keep them in the project.",
        code="output_taken",
        path="output.db",
    )


def _named(root: Path, text: str | None) -> Path | None:
    return inside(root, text) if text else None


def _may_be_history(path: Path) -> bool:
    """Reads the first bytes only. A database with a log beside it may hold its mark in the log."""
    try:
        if not path.exists():
            return True
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            head = stream.read(_HEADER_BYTES)
    except OSError:
        # Whoever opens it says why it cannot be read.
        return True
    if not head:
        return True
    if not head.startswith(_HEADER):
        return False
    mark = int.from_bytes(head[_ID_AT : _ID_AT + 4], "big")
    return mark == HISTORY_ID or (mark == 0 and path.with_name(f"{path.name}-wal").exists())

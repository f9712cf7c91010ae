"""The histories that lie inside projects which were opened here, so that their runs are found again.

A list of paths in the program's own folder, newest first; it is a convenience, and nothing needs it to
open or run a project.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from engine.errors import ArenaError
from engine.paths import home, write_private

NAME = "project-histories.json"
KEPT = 50

_log = logging.getLogger(__name__)


def known_stores() -> list[Path]:
    """Those that are there now. A list that cannot be read is an empty one."""
    return [path for path in _listed() if _is_there(path)]


def remember_store(path: Path) -> None:
    """Puts one first. That it cannot be kept is no reason to stop anything."""
    path = path.expanduser().absolute()
    listed = _listed()
    if listed[:1] == [path]:
        return
    kept = [path, *(other for other in listed if other != path)][:KEPT]
    try:
        write_private(home() / NAME, json.dumps([str(item) for item in kept], indent=1) + "\n")
    except (OSError, ArenaError) as error:
        _log.info("the list of histories inside projects could not be kept: %s", error)


def _listed() -> list[Path]:
    try:
        data = json.loads((home() / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, ArenaError):
        return []
    items = data if isinstance(data, list) else []
    return [Path(item) for item in items if isinstance(item, str) and Path(item).is_absolute()]


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False

"""The list of kept keys: names and hosts only, never a key."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.paths import home, write_private

INDEX_NAME = "keys.json"
SERVICE = "agent-arena"


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One kept key. `where` is keyring or session; `kept_at` is ISO UTC, empty for session."""

    connection: str
    host: str
    where: str = "keyring"
    kept_at: str = ""

    @property
    def service(self) -> str:
        """The name in the system's key store. It holds the host, so that an entry cannot be moved
        to another one by editing the list."""
        return f"{SERVICE}/{self.connection}@{self.host}"


def read_index(folder: Path | None) -> list[KeyEntry]:
    """The kept entries; an unreadable list is an empty one, and no entry is then asked for."""
    try:
        data = json.loads((_path(folder)).read_text(encoding="utf-8"))
        return [
            KeyEntry(str(row["connection"]), str(row["host"]), "keyring", str(row.get("kept_at", "")))
            for row in data["entries"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_index(folder: Path | None, entries: list[KeyEntry]) -> None:
    """Replaces the list. Raises OSError."""
    rows = [
        {name: value for name, value in asdict(entry).items() if name != "where"}
        for entry in sorted(entries, key=lambda e: (e.connection, e.host))
    ]
    write_private(_path(folder), json.dumps({"version": 1, "entries": rows}, indent=1) + "\n")


def _path(folder: Path | None) -> Path:
    return (folder or home()) / INDEX_NAME

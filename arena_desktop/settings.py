"""Typed preferences of the person, kept in one INI file (below ARENA_HOME when that is set).

Values that are not plain go in as JSON text, because QSettings gives back `'true'` and `'3'` as text
and an empty list as None in the next process. A value that cannot be read counts as never set.
Nothing secret is ever put here. GUI thread only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

T = TypeVar("T", bool, int, float, str)

RECENT_LIMIT = 12
_STATE_VERSION = 1


@dataclass(frozen=True, slots=True)
class RecentProject:
    """One line of the list on Home. `best` and `used_at` (ISO time) as they were last shown."""

    path: str
    name: str
    best: str = ""
    used_at: str = ""


class Preference(Generic[T]):
    """A descriptor for one plain value: `settings.keep_awake` reads, assigning writes at once."""

    def __init__(self, key: str, default: T) -> None:
        self.key = key
        self.default = default

    def __get__(self, owner: Settings | None, _type: type[Settings] | None = None) -> T:
        if owner is None:
            return self  # type: ignore[return-value]
        return owner.read(self.key, self.default)

    def __set__(self, owner: Settings, value: T) -> None:
        owner.write(self.key, value)


class Settings(QObject):
    """All preferences. `changed(key)` follows every write that changed something."""

    changed = Signal(str)

    appearance = Preference("look/appearance", "system")
    text_percent = Preference("look/text_percent", 100)
    language = Preference("look/language", "")
    keep_awake = Preference("run/keep_awake", True)
    notify_done = Preference("run/notify_done", True)
    notify_failed = Preference("run/notify_failed", True)
    autosave = Preference("project/autosave", True)
    last_page = Preference("window/last_page", "home")
    last_project = Preference("window/last_project", "")
    is_going_on = Preference("window/is_going_on", False)
    last_folder = Preference("project/last_folder", "")
    export_folder = Preference("export/folder", "")
    export_format = Preference("export/format", "xlsx")
    look_for_updates = Preference("updates/look", False)
    asked_about_updates = Preference("updates/asked", False)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """`path` is the INI file; it need not be there."""
        super().__init__(parent)
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    @property
    def path(self) -> Path:
        """The file the preferences live in."""
        return Path(self._file.fileName())

    def read(self, key: str, default: T) -> T:
        """The value of a key in the type of `default`; `default` where it is missing or not readable."""
        if not self._file.contains(key):
            return default
        try:
            value = self._file.value(key, default, type=type(default))
        except (TypeError, ValueError):
            return default
        return default if value is None else value  # type: ignore[return-value]

    def write(self, key: str, value: bool | int | float | str) -> None:
        """Keeps a plain value."""
        if self._file.contains(key) and self.read(key, value) == value:
            return
        self._file.setValue(key, value)
        self.changed.emit(key)

    def read_json(self, key: str) -> Any:
        """A structured value, or None."""
        text = self.read(key, "")
        if not text:
            return None
        try:
            return json.loads(text)
        except ValueError:
            return None

    def write_json(self, key: str, value: Any) -> None:
        """Keeps a structured value."""
        self.write(key, json.dumps(value, ensure_ascii=True, sort_keys=True))

    def reset(self, key: str) -> None:
        """Back to the default."""
        if self._file.contains(key):
            self._file.remove(key)
            self.changed.emit(key)

    def reset_all(self) -> None:
        """Everything as at first: preferences, lists, remembered looks."""
        for key in self._file.allKeys():
            self.reset(key)

    def is_changed(self, key: str) -> bool:
        """Whether the person set this key."""
        return self._file.contains(key)

    def sync(self) -> None:
        """Writes to disk now."""
        self._file.sync()

    # what windows and tables remember

    def bytes_of(self, name: str) -> QByteArray:
        """Geometry or state of a window or splitter; empty when unknown."""
        text = self.read(f"window/{name}", "")
        return QByteArray.fromBase64(QByteArray(text.encode("ascii", "ignore")))

    def keep_bytes(self, name: str, value: QByteArray) -> None:
        """Keeps geometry or state."""
        self.write(f"window/{name}", bytes(value.toBase64().data()).decode("ascii"))

    def view_state(self, name: str, project: Path | None = None) -> dict[str, Any]:
        """What a table or page kept (see `keep_view_state`); empty when unknown or of another version."""
        data = self.read_json(self._view_key(name, project))
        if not isinstance(data, dict) or data.get("version") != _STATE_VERSION:
            return {}
        state = data.get("state")
        return state if isinstance(state, dict) else {}

    def keep_view_state(self, name: str, state: Mapping[str, Any], project: Path | None = None) -> None:
        """Keeps the state of a table or page, per project folder when one is given."""
        self.write_json(self._view_key(name, project), {"version": _STATE_VERSION, "state": dict(state)})

    # projects opened lately

    def recent(self) -> list[RecentProject]:
        """The projects opened lately, newest first. Folders that are gone stay in until removed."""
        data = self.read_json("project/recent")
        found = []
        for item in data if isinstance(data, list) else []:
            if isinstance(item, dict) and isinstance(item.get("path"), str):
                texts = {key: str(item.get(key) or "") for key in ("path", "name", "best", "used_at")}
                found.append(RecentProject(**texts))
        return found[:RECENT_LIMIT]

    def remember_project(self, project: RecentProject) -> None:
        """Puts a project first."""
        rest = [item for item in self.recent() if item.path != project.path]
        self._keep_recent([project, *rest])

    def forget_project(self, path: str) -> None:
        """Removes a project from the list; its folder is not touched."""
        self._keep_recent([item for item in self.recent() if item.path != path])

    def _keep_recent(self, items: list[RecentProject]) -> None:
        self.write_json("project/recent", [asdict(item) for item in items[:RECENT_LIMIT]])

    @staticmethod
    def _view_key(name: str, project: Path | None) -> str:
        if project is None:
            return f"views/{name}"
        digest = hashlib.sha256(str(project.absolute()).encode()).hexdigest()[:16]
        return f"views/{digest}/{name}"

"""Access keys: which connection has one, keeping, testing, removing. The work is in the background.

A key passes through here once, from the field to the key store, and is held nowhere. What is told
about it are its last four characters, where it is kept and what a test found.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QObject, Signal

from arena_desktop.background import Background, Job
from arena_desktop.desks.connections import KnownConnection
from arena_desktop.settings import Settings
from engine.connection_check import ConnectionCheck, check_connection, settings_for
from engine.errors import UserError
from engine.key_backends import BackendChoice
from engine.key_rules import Asked, KeyResult
from engine.keystore import KeyStore, StoreResult
from engine.paths import caches_dir
from providers.base import ConnectionSettings
from providers.checkup import ModelLists

_CHECKS = "keys/checks"
_SHOWN_FROM = 16
"""Shorter keys show no end: four characters would be too much of them."""


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """What the last test of a key found, and when. Kept in the preferences; holds nothing secret."""

    code: str
    at: datetime
    models: int = 0


@dataclass(frozen=True, slots=True)
class KeyState:
    """How a connection stands. `code` and `source` as in KeyResult; `ends_in` up to four characters.

    `kept_at` is set for a key in the key store. `checked` is the last test of this key.
    """

    place: KnownConnection
    code: str
    source: str
    ends_in: str = ""
    name: str = ""
    reason: str = ""
    fix: str = ""
    question: tuple[str, ...] = ()
    kept_at: datetime | None = None
    checked: CheckRecord | None = None
    has_key: bool = False

    @property
    def kept_here(self) -> bool:
        """Whether there is a key of this program that could be removed."""
        return self.source in ("keyring", "session") or self.kept_at is not None


@dataclass(frozen=True, slots=True)
class Saved:
    """A key was kept, or not."""

    place: KnownConnection
    result: StoreResult


@dataclass(frozen=True, slots=True)
class Tested:
    """A key was tested: the kept one, or one that was only pasted."""

    place: KnownConnection
    check: ConnectionCheck
    pasted: bool = False


class KeyDesk(QObject):
    """GUI thread only. Every method returns at once; answers come as signals."""

    states_changed = Signal(object)
    """tuple[KeyState, ...] in the order asked for."""
    store_known = Signal(object)
    """BackendChoice: where keys are kept here."""
    saved = Signal(object)
    """Saved; when it was kept, `tested` follows."""
    tested = Signal(object)
    """Tested."""
    removed = Signal(object)
    """Saved with what became of removing."""
    failed = Signal(object)
    """An exception that is a fault of the program."""

    def __init__(
        self, background: Background, keys: KeyStore, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background, self._keys, self._settings = background, keys, settings
        self._busy = 0
        self.choice: BackendChoice | None = None
        self.lists = ModelLists(caches_dir() / "models.json")

    @property
    def busy(self) -> bool:
        """Whether a key is being kept, tested or removed."""
        return self._busy > 0

    def look(self, places: Sequence[KnownConnection]) -> None:
        """Finds out how every connection stands; `states_changed` and `store_known` follow."""
        checks = self._checks()
        keys = self._keys

        def work(job: Job) -> tuple[tuple[KeyState, ...], BackendChoice]:
            choice = keys.choice()
            states = []
            for place in places:
                job.check()
                states.append(state_of(keys, place, checks.get(place.key)))
            return tuple(states), choice

        self._background.run(work, self._on_looked, self._on_failed, name="keys: look", replace=True)

    def save(self, place: KnownConnection, key: str, *, session_only: bool = False) -> None:
        """Keeps a key, then tests it. May wait a minute for the system's own prompt."""
        keys = self._keys
        holder = replace(place.connection, id=place.holder)

        def work(_job: Job) -> Saved:
            try:
                result = keys.store(holder, key, entry=place.entry, session_only=session_only)
            except UserError as error:
                result = StoreResult(False, error.code, error.message, error.hint)
            return Saved(place, result)

        self._busy += 1
        self._background.run(work, self._on_saved, self._on_work_failed, name="keys: save")

    def test(self, place: KnownConnection, pasted: str | None = None) -> None:
        """Asks the service with the kept key, or with a pasted one that is not kept."""
        keys, lists = self._keys, self.lists

        def work(_job: Job) -> Tested:
            found = check_place(keys, place, pasted)
            if found.ok and found.models and pasted is None:
                # The list is only a cache: a full disk does not make a good key a bad one.
                with contextlib.suppress(OSError):
                    lists.keep(_list_name(place), found.models)
            return Tested(place, found, pasted is not None)

        self._busy += 1
        self._background.run(work, self._on_tested, self._on_work_failed, name="keys: test")

    def remove(self, place: KnownConnection) -> None:
        """Removes the kept key of a connection for its host."""
        keys = self._keys

        def work(_job: Job) -> Saved:
            return Saved(place, keys.remove(place.holder, place.host))

        self._busy += 1
        self._background.run(work, self._on_removed, self._on_work_failed, name="keys: remove")

    def permit(self, state: KeyState) -> None:
        """Keeps the person's yes to the question of a state."""
        self._keys.permit(KeyResult(question=state.question))

    # answers

    def _on_looked(self, answer: tuple[tuple[KeyState, ...], BackendChoice]) -> None:
        states, self.choice = answer
        self.store_known.emit(self.choice)
        self.states_changed.emit(states)

    def _on_saved(self, saved: Saved) -> None:
        self._busy -= 1
        if saved.result.ok:
            self._note_check(saved.place, None)
        self.saved.emit(saved)
        if saved.result.ok:
            self.test(saved.place)

    def _on_tested(self, tested: Tested) -> None:
        self._busy -= 1
        if not tested.pasted:
            found = tested.check
            record = CheckRecord(found.code, datetime.now(UTC), len(found.models))
            self._note_check(tested.place, record)
        self.tested.emit(tested)

    def _on_removed(self, removed: Saved) -> None:
        self._busy -= 1
        if removed.result.ok:
            self._note_check(removed.place, None)
        self.removed.emit(removed)

    def _on_work_failed(self, error: Exception) -> None:
        self._busy -= 1
        self._on_failed(error)

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(error)

    # what tests found

    def _checks(self) -> dict[str, CheckRecord]:
        data = self._settings.read_json(_CHECKS)
        found = {}
        for name, item in (data if isinstance(data, dict) else {}).items():
            record = _record(item)
            if record is not None:
                found[str(name)] = record
        return found

    def _note_check(self, place: KnownConnection, record: CheckRecord | None) -> None:
        checks = self._checks()
        checks.pop(place.key, None)
        if record is not None:
            checks[place.key] = record
        rows = {
            name: {"code": item.code, "at": item.at.isoformat(), "models": item.models}
            for name, item in checks.items()
        }
        self._settings.write_json(_CHECKS, rows)


def state_of(keys: KeyStore, place: KnownConnection, checked: CheckRecord | None = None) -> KeyState:
    """How one connection stands. May wait five seconds for the key store; runs no command."""
    if place.elsewhere == "cmd":
        return KeyState(place, "needs_yes", "command", checked=checked)
    result = keys.resolve(place.connection, place.entry, root=place.root)
    entries = [e for e in keys.entries() if (e.connection, e.host) == (place.holder, place.host)]
    kept_at = next((_moment(e.kept_at) for e in entries if e.kept_at), None)
    value = result.value or ""
    # A service that is reached by its address alone is not known to the rules as one that needs a key.
    missing = result.usable and not value and place.needs_key
    return KeyState(
        place,
        "missing" if missing else result.code,
        result.source,
        ends_in=value[-4:] if len(value) >= _SHOWN_FROM and result.source != "config" else "",
        name=result.name,
        reason=result.reason,
        fix=result.fix,
        question=result.question,
        kept_at=kept_at,
        checked=checked,
        has_key=bool(value) and result.source != "config",
    )


def check_place(keys: KeyStore, place: KnownConnection, pasted: str | None = None) -> ConnectionCheck:
    """Asks a connection, with a pasted key or with the kept one. Blocks; see `check_connection`."""
    if pasted is None and place.needs_key:
        kept = keys.resolve(place.connection, place.entry, root=place.root, interactive=True)
        if kept.usable and kept.value is None:
            enter = f"Enter one for {place.host} in Settings > Keys"
            fix = f"{enter}, or run: arena-desktop keys set {place.holder}"
            return ConnectionCheck("missing", place.host, fix=fix)
    asked = Asked(place.connection, place.entry, place.root, interactive=True)
    return check_connection(keys, asked, pasted=pasted)


def _list_name(place: KnownConnection) -> ConnectionSettings:
    """What a kept list of models goes by: kind and address, no key."""
    return settings_for(place.connection, place.entry)


def _record(item: Any) -> CheckRecord | None:
    if not isinstance(item, dict):
        return None
    at = _moment(str(item.get("at", "")))
    count = item.get("models")
    return CheckRecord(str(item.get("code", "")), at, count if isinstance(count, int) else 0) if at else None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None

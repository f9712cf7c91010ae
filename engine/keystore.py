"""Keys: kept in the system's key store, bound to their host, handed out for one request at a time.

Nothing here logs or prints a key. Every call to the key store runs on a daemon thread with a
time limit, so a window of the system that nobody sees can never stop the program.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from engine.hosts import endpoint_of
from engine.key_backends import (
    CALL_TIMEOUT_S,
    PROMPT_TIMEOUT_S,
    WINDOWS_LIMIT_BYTES,
    Backend,
    BackendChoice,
    KeyStoreError,
    choose_backend,
    too_long,
    within,
)
from engine.key_index import KeyEntry, read_index, write_index
from engine.key_rules import Asked, KeyResult, resolve, resolve_header
from engine.key_text import PasteProblem, clean_pasted_key, guess_vendor
from engine.trust import TrustBook

if TYPE_CHECKING:
    from engine.config.schema import Connection, ModelEntry

__all__ = [
    "KeyEntry",
    "KeyResult",
    "KeyStore",
    "PasteProblem",
    "StoreResult",
    "clean_pasted_key",
    "guess_vendor",
]

_PROBE = KeyEntry("self-test", "localhost")


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What became of keeping, removing or testing. `code`: stored, session, removed, ok, memory,
    or why not: bad_key, too_long, locked, refused, no_answer, no_backend, refused_backend,
    not_kept, failed. `where` is keyring, session or empty."""

    ok: bool
    code: str
    sentence: str
    fix: str = ""
    where: str = ""
    problems: tuple[PasteProblem, ...] = field(default=())


class KeyStore:
    """The one place that hands out keys. Safe to use from several threads.

    Args:
        folder: where the list of entries lies; None = the program's own folder.
        backend: a back end to use instead of the system's; for tests.
        environ: the variables to read; None = those of the process.
        trust_book: the kept yeses; None = those of the program's own folder.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        backend: Backend | None = None,
        environ: Mapping[str, str] | None = None,
        trust_book: TrustBook | None = None,
        timeout_s: float = CALL_TIMEOUT_S,
        prompt_timeout_s: float = PROMPT_TIMEOUT_S,
    ) -> None:
        self._folder = folder
        self.environ = os.environ if environ is None else environ
        self.trust_book = trust_book or TrustBook(folder)
        self._timeout_s = timeout_s
        self._prompt_timeout_s = prompt_timeout_s
        # Two locks: one may be held while the system's prompt is open, the other never is, so that
        # lists and redaction answer at once.
        self._asking = threading.RLock()
        self._lock = threading.RLock()
        self._choice = (
            BackendChoice(type(backend).__name__, "ok", "Keys are kept.", backend=backend)
            if backend
            else None
        )
        self._session: dict[tuple[str, str], str] = {}
        self._read: dict[tuple[str, str], str] = {}
        self._denied: dict[tuple[str, str], KeyStoreError] = {}
        self._known: set[str] = set()

    def resolve(
        self,
        connection: Connection,
        entry: ModelEntry | None = None,
        *,
        trust: bool = False,
        root: Path | None = None,
        code_trusted: bool = False,
        interactive: bool = False,
    ) -> KeyResult:
        """The key for a call of `entry` on `connection`, or why there is none. Never raises.

        Args:
            trust: a yes to every question, as the command line's `--trust` gives it.
            root: the project folder, for `${file:…}` and `${cmd:…}`.
            code_trusted: the user trusts the project's code, so `${cmd:…}` may run.
            interactive: the user is waiting for exactly this, so a prompt gets 60 seconds and an
                earlier refusal of the key store is asked about again.
        """
        asked = Asked(connection, entry, root, trust, code_trusted, interactive)
        result = resolve(self, asked)
        if result.value is not None:
            with self._lock:
                self._known.add(result.value)
        return result

    def resolve_headers(
        self,
        connection: Connection,
        entry: ModelEntry | None = None,
        *,
        trust: bool = False,
        root: Path | None = None,
        code_trusted: bool = False,
    ) -> tuple[dict[str, str], KeyResult | None]:
        """The connection's headers with references filled in, and the first that could not be.

        A header whose key was not found or not allowed is left out.
        """
        asked = Asked(connection, entry, root, trust, code_trusted)
        headers: dict[str, str] = {}
        first: KeyResult | None = None
        for name, text in connection.headers.items():
            result = resolve_header(self, asked, name, text)
            if result.value is None:
                first = first or result
                continue
            headers[name] = result.value
            if result.source != "none":
                with self._lock:
                    self._known.add(result.value.rpartition(" ")[2])
        return headers, first

    def permit(self, result: KeyResult) -> None:
        """Keeps the user's yes to the question a `needs_yes` result carries."""
        if result.question:
            self.trust_book.allow(result.question)

    def store(
        self, connection: Connection, key: str, *, entry: ModelEntry | None = None, session_only: bool = False
    ) -> StoreResult:
        """Keeps a key for this connection and the host it asks now. Raises UserError
        `bad_base_url` where that host cannot be told; everything else is in the result.

        Without a key store the key is kept for this session, never in a file. A key kept before
        stays when the new one cannot be kept.
        """
        host = endpoint_of(connection, entry).host
        cleaned, problems = clean_pasted_key(key)
        if problems:
            fix = "Copy the key again from the vendor's page."
            return StoreResult(False, "bad_key", str(problems[0]), fix, problems=problems)
        place = KeyEntry(connection.id, host, kept_at=datetime.now(UTC).isoformat(timespec="seconds"))
        choice = self.choice()
        with self._lock:
            self._known.add(cleaned)
        if session_only or choice.backend is None:
            with self._lock:
                self._session[place.connection, place.host] = cleaned
            sentence = f"The key for {host or connection.id} is kept until the program ends."
            if not session_only:
                sentence = f"{choice.sentence} {sentence}"
            return StoreResult(True, "session", sentence, "" if session_only else choice.fix, "session")
        try:
            self._keep(choice.backend, place, cleaned)
        except KeyStoreError as error:
            return StoreResult(False, error.code, error.message, error.hint)
        except OSError as error:
            sentence = f"The list of keys cannot be written: {error.strerror or error}."
            return StoreResult(False, "failed", sentence, "Free the place or set ARENA_HOME.")
        return StoreResult(True, "stored", f"The key is kept for {host or connection.id}.", where="keyring")

    def remove(self, connection_id: str, host: str) -> StoreResult:
        """Deletes a kept key everywhere. One that is gone already is fine."""
        place = KeyEntry(connection_id, host)
        with self._lock:
            self._session.pop((connection_id, host), None)
        if any((e.connection, e.host) == (connection_id, host) for e in read_index(self._folder)):
            backend = self.choice().backend
            if backend is None:
                choice = self.choice()
                return StoreResult(False, choice.code, choice.sentence, choice.fix)
            try:
                within(self._prompt_timeout_s, lambda: _delete(backend, place))
                self._reindex(remove=place)
            except KeyStoreError as error:
                return StoreResult(False, error.code, error.message, error.hint)
            except OSError as error:
                return StoreResult(False, "failed", f"The list of keys cannot be written: {error}.")
        with self._lock:
            self._read.pop((connection_id, host), None)
            self._denied.pop((connection_id, host), None)
        return StoreResult(True, "removed", f"The key for {host or connection_id} is removed.")

    def entries(self) -> list[KeyEntry]:
        """Every kept key by connection and host, without asking the key store."""
        kept = {(e.connection, e.host): e for e in read_index(self._folder)}
        with self._lock:
            for name, host in self._session:
                kept[name, host] = KeyEntry(name, host, "session")
        return sorted(kept.values(), key=lambda e: (e.connection, e.host))

    def choice(self) -> BackendChoice:
        """The key store in use; looked for once, at most 5 seconds."""
        with self._asking:
            if self._choice is None:
                try:
                    self._choice = within(self._timeout_s, lambda: choose_backend(self.environ))
                except KeyStoreError as error:
                    return BackendChoice("none", error.code, error.message, error.hint)
            return self._choice

    def self_test(self) -> StoreResult:
        """Writes, reads and deletes a test entry: the only proof that a key store works."""
        choice = self.choice()
        backend = choice.backend
        if backend is None:
            return StoreResult(False, choice.code, choice.sentence, choice.fix)
        probe = "round-trip"
        try:
            within(self._timeout_s, lambda: _round_trip(backend, _PROBE, probe))
            within(self._timeout_s, lambda: _delete(backend, _PROBE))
        except KeyStoreError as error:
            return StoreResult(False, error.code, error.message, error.hint)
        return StoreResult(True, choice.code, choice.sentence, choice.fix, "keyring")

    def known_values(self) -> tuple[str, ...]:
        """Every key seen in this session, for redaction only."""
        with self._lock:
            return tuple(self._known)

    def forget_session(self) -> None:
        """Drops keys kept for this session, read values and remembered refusals."""
        with self._lock:
            for kept in (self._session, self._read, self._denied):
                kept.clear()

    def kept_hosts(self, connection_id: str) -> tuple[str, ...]:
        """The hosts that this connection has keys for."""
        return tuple(e.host for e in self.entries() if e.connection == connection_id)

    def read_kept(self, connection_id: str, host: str, interactive: bool = False) -> tuple[str | None, str]:
        """The kept key of exactly this connection and host, and where it is from.

        The key store is asked only for entries this program wrote, once per session; a refusal
        is remembered until the user asks again. Raises KeyStoreError.
        """
        name = (connection_id, host)
        with self._asking:
            with self._lock:
                if name in self._session:
                    return self._session[name], "session"
                if name in self._read:
                    return self._read[name], "keyring"
                if name in self._denied and not interactive:
                    raise self._denied[name]
            if host not in (e.host for e in read_index(self._folder) if e.connection == connection_id):
                return None, "none"
            value = self._ask(KeyEntry(connection_id, host), interactive)
            with self._lock:
                self._denied.pop(name, None)
                if value:
                    self._read[name] = value
        return value, "keyring"

    def _ask(self, place: KeyEntry, interactive: bool) -> str | None:
        choice = self.choice()
        backend = choice.backend
        if backend is None:
            raise KeyStoreError(choice.code, choice.sentence, hint=choice.fix)
        limit = self._prompt_timeout_s if interactive else self._timeout_s
        try:
            return within(limit, lambda: backend.get_password(place.service, place.connection))
        except KeyStoreError as error:
            with self._lock:
                self._denied[place.connection, place.host] = error
            raise

    def _keep(self, backend: Backend, place: KeyEntry, key: str) -> None:
        on_windows = type(backend).__module__ == "keyring.backends.Windows"
        if on_windows and len(key.encode("utf-16-le")) > WINDOWS_LIMIT_BYTES:
            raise too_long()
        kept = within(self._prompt_timeout_s, lambda: _round_trip(backend, place, key), key)
        if not kept:
            raise KeyStoreError(
                "not_kept",
                "The key store took the key but does not give it back.",
                hint="Use this key for the session only, or set the vendor's variable.",
            )
        self._reindex(add=place)
        name = (place.connection, place.host)
        with self._lock:
            self._read[name] = key
            self._session.pop(name, None)
            self._denied.pop(name, None)

    def _reindex(self, *, add: KeyEntry | None = None, remove: KeyEntry | None = None) -> None:
        gone = add or remove
        with self._lock:
            entries = [
                e
                for e in read_index(self._folder)
                if gone is None or (e.connection, e.host) != (gone.connection, gone.host)
            ]
            write_index(self._folder, [*entries, add] if add else entries)


def _round_trip(backend: Backend, place: KeyEntry, key: str) -> bool:
    backend.set_password(place.service, place.connection, key)
    return backend.get_password(place.service, place.connection) == key


def _delete(backend: Backend, place: KeyEntry) -> None:
    """Deletes an entry; one that is not there is as good as deleted."""
    if backend.get_password(place.service, place.connection) is not None:
        backend.delete_password(place.service, place.connection)

"""Which key store of the system is used, and what its faults mean in plain words."""

from __future__ import annotations

import importlib
import logging
import os
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from engine.errors import WorldError
from engine.redact import redact

T = TypeVar("T")

CALL_TIMEOUT_S = 5.0
PROMPT_TIMEOUT_S = 60.0
WINDOWS_LIMIT_BYTES = 2560

# The real key stores of the systems. Anything else (plain files, chains, null) is never used.
_ALLOWED = {
    "SecretService": ("keyring.backends.SecretService", "Keyring"),
    "KWallet": ("keyring.backends.kwallet", "DBusKeyring"),
    "libsecret": ("keyring.backends.libsecret", "Keyring"),
    "macOS Keychain": ("keyring.backends.macOS", "Keyring"),
    "Windows Credential Manager": ("keyring.backends.Windows", "WinVaultKeyring"),
}
_INSTALL = (
    "Start a key store (GNOME Keyring, KWallet or KeePassXC with its Secret Service), then restart Agent "
    "Arena. A variable of the service, such as OPENAI_API_KEY, works too."
)
_DENIED_CODES = ("-25293", "-128", "-25308")
_log = logging.getLogger(__name__)


class Backend(Protocol):
    """What is used of a `keyring` back end."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


class KeyStoreError(WorldError):
    """The system's key store did not do what it was asked. Codes: locked, refused, absent,
    no_answer, too_long, failed."""


class MemoryBackend:
    """Keys of this process only, for `ARENA_KEYRING=memory`."""

    _kept: dict[tuple[str, str], str] = {}  # noqa: RUF012 - one memory for the whole process is the point

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._kept.pop((service, username), None)


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """The key store in use. `backend` None = there is none; `sentence` and `fix` then say why."""

    name: str
    code: str
    sentence: str
    fix: str = ""
    backend: Backend | None = None


def choose_backend(environ: Mapping[str, str] | None = None) -> BackendChoice:
    """The best allowed key store that works here. Asks the system; may take seconds.

    `keyring`'s own choice is not taken: it follows a config file and a variable that can name
    any class, plain-text files included. The variable is honoured for an allowed class and for
    switching off.
    """
    env = os.environ if environ is None else environ
    wish = env.get("ARENA_KEYRING", "").strip().lower()
    if wish == "memory":
        sentence = "Keys are kept in memory, for this process only (ARENA_KEYRING=memory)."
        return BackendChoice("memory", "memory", sentence, backend=MemoryBackend())
    named = env.get("PYTHON_KEYRING_BACKEND", "").strip()
    if named and named not in {".".join(path) for path in _ALLOWED.values()}:
        return BackendChoice(
            "none",
            "refused_backend",
            f"PYTHON_KEYRING_BACKEND names {named}, which is no protected key store, so it is not used.",
            "Remove the variable. Until then keys are kept for this session only.",
        )
    found = [
        choice
        for name, path in _ALLOWED.items()
        if (not named or ".".join(path) == named) and (choice := _try(name, *path)) is not None
    ]
    if not found:
        sentence = (
            "This computer has no key store that is running, so keys can be kept for this session only."
        )
        return BackendChoice("none", "no_backend", sentence, _INSTALL)
    _, name, backend = max(found, key=lambda choice: choice[0])
    return BackendChoice(name, "ok", f"Keys are kept in {name}.", backend=backend)


def _try(name: str, module: str, class_name: str) -> tuple[float, str, Backend] | None:
    try:
        cls = getattr(importlib.import_module(module), class_name)
        return float(cls.priority), name, cls()
    except Exception as error:
        # A back end that cannot be used says so by any exception at all.
        _log.debug("key store %s is not usable: %s", name, type(error).__name__)
        return None


def within(timeout_s: float, work: Callable[[], T], secret: str = "") -> T:
    """Runs one call to the key store on a daemon thread and waits at most `timeout_s`.

    A prompt of the system may stand open for ever; the thread is then left behind, it does not
    keep the program from ending. Raises KeyStoreError, whose text never holds `secret`.
    """
    answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer.put((True, work()))
        except BaseException as error:  # handed over, not swallowed
            answer.put((False, error))

    threading.Thread(target=run, name="key-store", daemon=True).start()
    try:
        done, value = answer.get(timeout=timeout_s)
    except queue.Empty:
        raise KeyStoreError(
            "no_answer",
            f"The key store did not answer within {timeout_s:g} seconds. It may be waiting for its password.",
            hint="Unlock it (look for its window) and try again.",
        ) from None
    if done:
        return value  # type: ignore[no-any-return]
    # The cause is left out on purpose: its text may hold the key.
    raise explain(value, secret) from None


def explain(error: BaseException, secret: str = "") -> KeyStoreError:
    """A back end's exception as a code and a sentence without the secret in it."""
    if isinstance(error, KeyStoreError):
        return error
    text = redact(str(error), [secret])[:200]
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & {"KeyringLocked", "LockedException", "PromptDismissedException"}:
        return KeyStoreError(
            "locked",
            "The key store is locked, and it was not unlocked.",
            hint="Unlock it with its password and try again.",
        )
    if _number_of(error) == 1783 or "1783" in text:
        return too_long()
    if any(code in text for code in _DENIED_CODES) or isinstance(error, PermissionError):
        return KeyStoreError(
            "refused",
            "The key store refused this program.",
            hint="Allow Agent Arena in the key store's settings (macOS: Keychain Access) and try again.",
        )
    if names & {"NoKeyringError", "InitError", "SecretServiceNotAvailableException"}:
        return KeyStoreError("no_backend", "The key store cannot be reached.", hint=_INSTALL)
    return KeyStoreError(
        "failed",
        f"The key store failed ({type(error).__name__}: {text}).",
        hint="Try again; if it stays, set the vendor's variable such as OPENAI_API_KEY.",
    )


def too_long() -> KeyStoreError:
    """The sentence for a key above what Windows can keep."""
    return KeyStoreError(
        "too_long",
        f"The key is too long for the Windows Credential Manager, which keeps {WINDOWS_LIMIT_BYTES // 2} "
        "characters at most. Nothing was changed; a key kept before is still there.",
        hint="Paste the key alone, or put it into a variable and write api_key_ref: ${env:NAME}.",
    )


def _number_of(error: BaseException) -> int | None:
    number = getattr(error, "winerror", None) or getattr(error, "errno", None)
    if number is None and error.args and isinstance(error.args[0], int):
        number = error.args[0]
    return number

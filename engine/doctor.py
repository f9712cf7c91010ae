"""Looks whether this computer and a project are fit to run, each finding with its exact fix.

No widgets, nothing is changed, and no network unless it is asked to probe. What only others can
know (the store's integrity) is handed in as a function.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from engine.config.schema import Connection, ModelEntry
from engine.connection_check import check_connection as ask_connection
from engine.errors import ArenaError
from engine.key_rules import Asked
from engine.keystore import KeyStore
from engine.paths import home

OLDEST_PYTHON = (3, 11)
_NO_NETWORK = ("builtin", "mock", "callable", "litellm")
_PACKAGES = ("PySide6.QtCore", "yaml", "pydantic", "openai", "anthropic", "google.genai", "keyring")


class State(StrEnum):
    """`warn` does not keep anything from running."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `fix` is empty where nothing needs mending."""

    id: str
    state: State
    code: str
    sentence: str
    fix: str = ""


def diagnose(
    *,
    keystore: KeyStore,
    connections: Iterable[tuple[Connection, ModelEntry | None]] = (),
    root: Path | None = None,
    trust: bool = False,
    check_store: Callable[[], str | None] | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Every check in the order a person would mend them. `check_store` returns a fault or None."""
    findings = [
        check_python(),
        check_packages(),
        check_display(environ),
        check_home(),
        check_key_store(keystore),
    ]
    if check_store is not None:
        findings.append(check_integrity(check_store))
    for connection, entry in connections:
        findings.append(check_connection(keystore, connection, entry, root=root, trust=trust))
    return findings


def probe(
    keystore: KeyStore,
    connections: Iterable[tuple[Connection, ModelEntry | None]],
    findings: Iterable[Finding],
    root: Path | None = None,
) -> list[Finding]:
    """Asks each connection that `diagnose` found to have what it needs whether it answers.

    Free, but it uses the network, and each connection may take 15 seconds.
    """
    sound = {finding.id for finding in findings if finding.state is State.OK}
    return [
        probe_connection(keystore, Asked(connection, entry, root))
        for connection, entry in connections
        if f"connection:{connection.id}" in sound and connection.kind not in _NO_NETWORK
    ]


def worst(findings: Iterable[Finding]) -> State:
    """The state of all together."""
    order = (State.OK, State.WARN, State.FAIL)
    return max((finding.state for finding in findings), key=order.index, default=State.OK)


def check_python(version: tuple[int, ...] | None = None) -> Finding:
    """Whether this Python is new enough."""
    number = version or sys.version_info[:3]
    shown = ".".join(str(part) for part in number[:3])
    if tuple(number[:2]) < OLDEST_PYTHON:
        needed = ".".join(str(part) for part in OLDEST_PYTHON)
        return Finding(
            "python",
            State.FAIL,
            "python_too_old",
            f"This is Python {shown}; the program needs {needed} or newer.",
            f"Install Python {needed} or newer and run: python3 start.py",
        )
    return Finding("python", State.OK, "python_ok", f"Python {shown}.")


def check_packages() -> Finding:
    """Whether the packages are there that the program cannot do without."""
    missing = [name for name in _PACKAGES if not _is_there(name)]
    if missing:
        return Finding(
            "packages",
            State.FAIL,
            "packages_missing",
            f"These packages are not installed: {', '.join(missing)}.",
            "Run: python3 start.py",
        )
    return Finding("packages", State.OK, "packages_ok", "All packages are installed.")


def check_display(environ: Mapping[str, str] | None = None, platform: str | None = None) -> Finding:
    """Whether a window could open. The command line needs none, so this only warns."""
    env = os.environ if environ is None else environ
    chosen = env.get("QT_QPA_PLATFORM", "")
    if chosen in ("offscreen", "minimal"):
        sentence = f"QT_QPA_PLATFORM={chosen}: the program runs without a visible window."
        return Finding("display", State.WARN, "display_hidden", sentence, "Unset QT_QPA_PLATFORM to see it.")
    on_linux = (platform or sys.platform).startswith("linux")
    if on_linux and not (env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")):
        return Finding(
            "display",
            State.WARN,
            "no_display",
            "There is no display here; the command line works, the window does not.",
            "Start it in a desktop session, or set DISPLAY or WAYLAND_DISPLAY.",
        )
    return Finding("display", State.OK, "display_ok", "A display is there.")


def check_home() -> Finding:
    """Whether the program's own folder can be written."""
    try:
        folder = home()
    except ArenaError as error:
        return Finding("home", State.FAIL, error.code, error.message, error.hint)
    if not os.access(folder, os.W_OK):
        return Finding(
            "home",
            State.FAIL,
            "home_read_only",
            f"The folder {folder} cannot be written, so no run can be kept.",
            "Make it writable, or set ARENA_HOME to another folder.",
        )
    return Finding("home", State.OK, "home_ok", f"Runs and settings are kept in {folder}.")


def check_key_store(keystore: KeyStore) -> Finding:
    """Which key store is used. Asks for its state only; `KeyStore.self_test` writes."""
    choice = keystore.choice()
    state = State.OK if choice.code == "ok" else State.WARN
    return Finding("key_store", state, choice.code, choice.sentence, choice.fix)


def check_integrity(check_store: Callable[[], str | None]) -> Finding:
    """Whether the store of all runs is sound, by the store's own check."""
    try:
        fault = check_store()
    except ArenaError as error:
        return Finding("store", State.FAIL, error.code, error.message, error.hint)
    if fault:
        fix = "Close the program, move the file away, and restore the newest dated copy beside it."
        return Finding("store", State.FAIL, "store_damaged", fault, fix)
    return Finding("store", State.OK, "store_ok", "The store of all runs is sound.")


def check_connection(
    keystore: KeyStore,
    connection: Connection,
    entry: ModelEntry | None = None,
    *,
    root: Path | None = None,
    trust: bool = False,
) -> Finding:
    """Whether a connection has its key and from where. Shows no key; a command runs only with `trust`."""
    name = f"connection:{connection.id}"
    if "${cmd:" in (connection.api_key_ref or "") and not trust:
        sentence = f"{connection.id} gets its key from a command, which this check does not run."
        return Finding(name, State.WARN, "needs_yes", sentence, "Trust the project, or use --trust.")
    result = keystore.resolve(connection, entry, root=root, trust=trust)
    if not result.usable:
        return Finding(name, State.FAIL, result.code, f"{connection.id}: {result.reason}", result.fix)
    if result.value is None:
        return Finding(name, State.OK, "no_key_needed", f"{connection.id} needs no key.")
    origin = {
        "keyring": "from the key store",
        "session": "kept for this session",
        "environment": f"from the variable {result.name}",
        "file": f"from the file {result.name}",
        "command": "from a command",
        "config": "a placeholder in the project",
    }[result.source]
    where = f" for {result.host}" if result.host else ""
    return Finding(name, State.OK, "key_found", f"{connection.id}: the key{where} is there, {origin}.")


def probe_connection(keystore: KeyStore, asked: Asked) -> Finding:
    """Whether a connection answers and takes its key. Uses the network for up to 15 seconds."""
    found = ask_connection(keystore, asked)
    name, connection = f"reachable:{asked.connection.id}", asked.connection.id
    if found.ok:
        models = f" and offers {len(found.models)} models" if found.models else ""
        return Finding(name, State.OK, "works", f"{connection}: {found.host} answers{models}.")
    fix = found.fix or _PROBE_FIXES.get(found.code, "Check the connection's settings, then try again.")
    return Finding(name, State.FAIL, found.code, f"{connection}: {found.detail}", fix)


_PROBE_FIXES: Mapping[str, str] = {
    "key_refused": "Enter the key again: Settings > Access keys, or arena-desktop keys set.",
    "no_credit": "Add credit on the billing page of the service.",
    "slow_down": "The key is right. Wait a minute and try again.",
    "service_down": "Usually this passes. Try again in a few minutes.",
    "offline": "Connect to the network and try again.",
    "not_reachable": "Check the address and the network, then try again.",
    "not_running": "Start the server on this computer, then try again.",
    "wrong_address": "Correct base_url; it usually ends in /v1.",
}


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False

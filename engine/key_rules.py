"""Which key may go to which host: the order of sources and every refusal, as one result."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.errors import UserError
from engine.hosts import Endpoint, endpoint_of, kind_info
from engine.key_backends import KeyStoreError
from engine.secret_refs import (
    SecretRef,
    is_placeholder,
    is_routing_header,
    is_secret_header,
    looks_like_key,
    parse_ref,
    read_file_secret,
    run_secret_command,
    vendor_hosts,
)

if TYPE_CHECKING:
    from engine.config.schema import Connection, ModelEntry
    from engine.trust import TrustBook

_IN_HEADER = re.compile(r"(\S+\s+)?(\$\{[A-Za-z]+:.*\})\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class KeyResult:
    """A key, or why there is none.

    `source`: keyring, environment, session, file, command, config (a placeholder word), none.
    `code`: found (with value None: none is needed), missing, refused_host, needs_yes, locked,
    no_backend, refused. `reason` and `fix` are sentences; `question` is what a `needs_yes` asks,
    to be given to `KeyStore.permit` on a yes. `name` is the variable, file or entry.
    """

    value: str | None = field(default=None, repr=False)
    source: str = "none"
    code: str = "missing"
    reason: str = ""
    fix: str = ""
    question: tuple[str, ...] = ()
    host: str = ""
    name: str = ""

    @property
    def usable(self) -> bool:
        """True where a call can be made, with the key or without one."""
        return self.code == "found"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question for a key, as `KeyStore.resolve` got it."""

    connection: Connection
    entry: ModelEntry | None = None
    root: Path | None = None
    trust: bool = False
    code_trusted: bool = False
    interactive: bool = False


class Keys(Protocol):
    """The part of the key store that the rules ask."""

    environ: Mapping[str, str]
    trust_book: TrustBook

    def read_kept(
        self, connection_id: str, host: str, interactive: bool = False
    ) -> tuple[str | None, str]: ...
    def kept_hosts(self, connection_id: str) -> tuple[str, ...]: ...


def resolve(keys: Keys, asked: Asked) -> KeyResult:
    """The key for a call, or why there is none. Never raises for anything a project can hold."""
    try:
        place = endpoint_of(asked.connection, asked.entry)
        if not place.host:
            return KeyResult(code="found", reason="No key is needed: nothing leaves this computer.")
        found = _find(keys, asked, place)
    except UserError as error:
        code = "refused_host" if error.code == "bad_base_url" else "refused"
        return KeyResult(code=code, reason=error.message, fix=error.hint)
    except KeyStoreError as error:
        return _from_fault(error)
    found = replace(found, host=place.host)
    return _guarded(keys, asked, place, found, _unusual(asked.connection, with_headers=True))


def resolve_header(keys: Keys, asked: Asked, name: str, text: str) -> KeyResult:
    """One header's value with its reference filled in, by the same rules."""
    if not name or not name.isprintable() or not text.isprintable():
        return KeyResult(
            code="refused",
            reason=f"The header {name!r} holds a line break or another hidden character, so it is not sent.",
            fix="Write it on one line, in visible characters.",
            name=name,
        )
    match = _IN_HEADER.fullmatch(text)
    if match is None:
        if is_secret_header(name) and looks_like_key(text):
            return _literal(asked.connection, f"the header {name}")
        return KeyResult(text, code="found")
    try:
        place = endpoint_of(asked.connection, asked.entry)
        ref = parse_ref(match.group(2))
        found = _from_ref(keys, asked, place, ref) if ref else KeyResult()
    except UserError as error:
        code = "refused_host" if error.code == "bad_base_url" else "refused"
        return KeyResult(code=code, reason=error.message, fix=error.hint, name=name)
    except KeyStoreError as error:
        return _from_fault(error)
    found = _guarded(
        keys, asked, place, replace(found, host=place.host), _unusual(asked.connection, with_headers=False)
    )
    return found if found.value is None else replace(found, value=(match.group(1) or "") + found.value)


def _find(keys: Keys, asked: Asked, place: Endpoint) -> KeyResult:
    named = asked.entry.api_key_env if asked.entry else None
    if named:
        if not _NAME.fullmatch(named) or looks_like_key(named):
            return _literal(asked.connection, "api_key_env")
        return _from_env(keys, asked, place, named)
    text = asked.connection.api_key_ref
    if not text:
        return _usual(keys, asked, place)
    ref = parse_ref(text)
    if ref is not None:
        return _from_ref(keys, asked, place, ref)
    if is_placeholder(text):
        return KeyResult(text.strip(), "config", "found", "A placeholder, not a key.")
    return _literal(asked.connection, "api_key_ref")


def _usual(keys: Keys, asked: Asked, place: Endpoint) -> KeyResult:
    """The kept key, then the vendor's own variables, then none where none is needed."""
    connection, info = asked.connection, kind_info(asked.connection)
    fault: KeyStoreError | None = None
    try:
        value, source = keys.read_kept(connection.id, place.host, asked.interactive)
        if value:
            return KeyResult(value, source, "found", name=connection.id)
    except KeyStoreError as error:
        fault = error
    variables = info.key_env if info else ()
    filled = next((name for name in variables if _variable(keys, name)), None)
    if filled and place.host in vendor_hosts(filled):
        return KeyResult(_variable(keys, filled), "environment", "found", name=filled)
    if fault is not None:
        return _from_fault(fault)
    return _nothing(keys, asked, place, filled)


def _nothing(keys: Keys, asked: Asked, place: Endpoint, filled: str | None) -> KeyResult:
    connection, info = asked.connection, kind_info(asked.connection)
    others = [host for host in keys.kept_hosts(connection.id) if host != place.host]
    enter = f"Enter a key for {place.host} in Settings > Keys, or run: arena-desktop keys set {connection.id}"
    if others:
        reason = (
            f"The key of the connection {connection.id} is kept for {others[0]}. "
            f"This project asks {place.host}, so the key is not sent."
        )
        return KeyResult(code="refused_host", reason=reason, fix=enter)
    if info is not None and not info.needs_key:
        return KeyResult(code="found", reason="This connection needs no key.")
    if filled:
        hosts = " and ".join(vendor_hosts(filled))
        reason = f"{filled} goes to {hosts} only, and this connection asks {place.host}."
        return KeyResult(code="refused_host", reason=reason, fix=enter, name=filled)
    variables = info.key_env if info and place.host == info.host else ()
    if variables:
        enter += f", or set {variables[0]}"
    reason = f"There is no key for the connection {connection.id} ({place.host})."
    return KeyResult(code="missing", reason=reason, fix=f"{enter}.")


def _from_ref(keys: Keys, asked: Asked, place: Endpoint, ref: SecretRef) -> KeyResult:
    if ref.scheme == "env":
        return _from_env(keys, asked, place, ref.value)
    if ref.scheme == "keyring":
        return _from_keyring(keys, asked, place, ref.value)
    if ref.scheme == "file":
        value = read_file_secret(asked.root, ref.value)
        return _found(
            value, "file", ref.value, f"The file {ref.value} holds no key.", "Write the key into it."
        )
    if not (asked.trust or asked.code_trusted):
        return KeyResult(
            code="needs_yes",
            reason=f"This project wants to run a command to get its key: {ref.value}",
            fix="Trust the project's code, or run with --trust.",
            name=ref.value,
        )
    value = run_secret_command(asked.root, ref.value)
    return _found(value, "command", ref.value, "The command gave no key.", "Run it yourself to see why.")


def _from_env(keys: Keys, asked: Asked, place: Endpoint, name: str) -> KeyResult:
    own = vendor_hosts(name)
    if own and place.host not in own:
        reason = f"{name} goes to {' and '.join(own)} only, and this connection asks {place.host}."
        fix = "Enter a key for this host in the program, or name a variable that is made for it."
        return KeyResult(code="refused_host", reason=reason, fix=fix, name=name)
    if not own and not place.loopback and not asked.trust:
        question = ("env", name, place.host)
        if not keys.trust_book.allows(question):
            return KeyResult(
                code="needs_yes",
                reason=f"This project wants to send what {name} holds to {place.host}.",
                fix="Say yes if that key is meant for that host, or run with --trust.",
                question=question,
                name=name,
            )
    value = _variable(keys, name)
    return _found(
        value, "environment", name, f"The variable {name} is not set.", f"Set {name} and start again."
    )


def _from_keyring(keys: Keys, asked: Asked, place: Endpoint, value: str) -> KeyResult:
    service, slash, account = value.rpartition("/")
    if slash and service not in ("agent-arena", "arena"):
        return KeyResult(
            code="refused",
            reason=f"${{keyring:{value}}} was not kept by this program, so it is not read.",
            fix="Enter the key in the program and write ${keyring:NAME} with the connection's name.",
            name=value,
        )
    key, source = keys.read_kept(account, place.host, asked.interactive)
    if key:
        return KeyResult(key, source, "found", name=account)
    hosts = keys.kept_hosts(account)
    if hosts:
        reason = (
            f"The key {account} is kept for {hosts[0]}. This project asks {place.host}, so it is not sent."
        )
        return KeyResult(
            code="refused_host", reason=reason, fix=f"Enter a key for {place.host}.", name=account
        )
    fix = f"Enter it in Settings > Keys, or run: arena-desktop keys set {account}"
    return KeyResult(code="missing", reason=f"No key called {account} is kept.", fix=fix, name=account)


def _guarded(
    keys: Keys, asked: Asked, place: Endpoint, found: KeyResult, unusual: Mapping[str, str]
) -> KeyResult:
    """A key of the user's own is not used on a line that the project bends, until that is confirmed."""
    if found.value is None or not unusual or found.source not in ("keyring", "session", "environment"):
        return found
    bent = hashlib.sha256(json.dumps(sorted(unusual.items())).encode()).hexdigest()
    question = ("line", asked.connection.id, place.host, bent)
    if asked.trust or keys.trust_book.allows(question):
        return found
    return replace(
        found,
        value=None,
        code="needs_yes",
        reason=f"The project sets {', '.join(unusual)} for {place.host}, so your key is not sent there yet.",
        fix="Say yes if you know why, or run with --trust.",
        question=question,
    )


def _unusual(connection: Connection, *, with_headers: bool) -> dict[str, str]:
    """What the project changes about the line to the host: in words, with the value it sets."""
    found: dict[str, str] = {}
    if connection.proxy:
        found[f"the proxy {connection.proxy.rpartition('@')[2]}"] = connection.proxy
    if connection.verify_tls is False:
        found["no check of the server's certificate"] = "false"
    elif connection.verify_tls is not True:
        found[f"its own certificates ({connection.verify_tls})"] = str(connection.verify_tls)
    if with_headers:
        for name, value in connection.headers.items():
            if is_secret_header(name) or is_routing_header(name):
                found[f"the header {name}"] = value
    return found


def _variable(keys: Keys, name: str) -> str | None:
    return keys.environ.get(name, "").strip() or None


def _found(value: str | None, source: str, name: str, reason: str, fix: str) -> KeyResult:
    if value:
        return KeyResult(value, source, "found", name=name)
    return KeyResult(code="missing", reason=reason, fix=fix, name=name)


def _literal(connection: Connection, where: str) -> KeyResult:
    return KeyResult(
        code="refused",
        reason=f"A key stands in the project file itself ({where} of {connection.id}). It is not used: "
        "everybody who gets the project would have it.",
        fix="Let the program move it to the key store, or write ${env:NAME} instead.",
        name=connection.id,
    )


def _from_fault(error: KeyStoreError) -> KeyResult:
    """Not available now is `locked` whatever the cause; no store at all is `no_backend`."""
    none = error.code in ("no_backend", "refused_backend")
    return KeyResult(code="no_backend" if none else "locked", reason=error.message, fix=error.hint)

"""Whom a connection talks to, in the form that keys are bound to and that is shown in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from providers.addresses import is_loopback, split_address
from providers.base import ProviderError
from providers.registry import KINDS, KindInfo, canonical_kind

from engine.errors import UserError

if TYPE_CHECKING:
    from engine.config.schema import Connection, ModelEntry

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`host` is what a key is bound to: the bare name for https on its usual port, the port
    where it is another one, and `http://` in front where a remote host is asked without
    encryption, so that a key is never moved from the safe to the open line. Empty = no network."""

    host: str
    loopback: bool

    @property
    def is_remote(self) -> bool:
        """True where the request leaves this computer."""
        return bool(self.host) and not self.loopback


NOWHERE = Endpoint("", False)


def kind_info(connection: Connection) -> KindInfo | None:
    """Facts about the connection's kind; None where nobody knows the kind."""
    kind = canonical_kind(connection.kind)
    return KINDS[kind] if kind else None


def base_url(connection: Connection, entry: ModelEntry | None = None) -> str | None:
    """The address in force: the entry's own, else the connection's, else the kind's usual one."""
    own = entry.api_base if entry else None
    info = kind_info(connection)
    return own or connection.base_url or (info.default_base_url if info else None)


def endpoint_of(connection: Connection, entry: ModelEntry | None = None) -> Endpoint:
    """Where a call of this entry on this connection goes. Raises UserError `bad_base_url`."""
    url = base_url(connection, entry)
    return endpoint(url) if url else NOWHERE


def endpoint(url: str) -> Endpoint:
    """Reads the host out of an address by the very rules the connectors go by.

    What two readers could understand differently (names and passwords, escapes, hidden
    characters) is refused. Raises UserError `bad_base_url`.
    """
    try:
        parts = split_address(url)
    except ProviderError as error:
        raise _bad(url, error.message) from error
    name = parts.hostname or ""
    if "@" in parts.netloc or "%" in parts.netloc or not parts.netloc.isprintable():
        raise _bad(url, "The name of its server holds characters that do not belong there.")
    return _as_endpoint(parts.scheme, _ascii_name(name, url), parts.port)


def _as_endpoint(scheme: str, name: str, port: int | None) -> Endpoint:
    loopback = is_loopback(name)
    shown = f"[{name}]" if ":" in name else name
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        shown = f"{shown}:{port}"
    if scheme == "http" and not loopback:
        shown = f"http://{shown}"
    return Endpoint(shown, loopback)


def _ascii_name(name: str, url: str) -> str:
    """Lower case, no final dot, other alphabets in their xn-- form: two names that look the
    same but are not are then shown differently."""
    name = name.rstrip(".").lower()
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise _bad(url, "Its host name cannot be written in the form that networks use.") from error


def _bad(url: str, why: str) -> UserError:
    return UserError(
        "bad_base_url",
        why if why.startswith("The address") else f"The address {url.strip()!r} cannot be used. {why}",
        hint="Write it like https://api.example.com/v1 or http://localhost:11434/v1.",
        url=url,
    )

"""Whom a connection talks to, in the form that keys are bound to and that is shown in full."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from providers.registry import KINDS, KindInfo, canonical_kind

from engine.config.schema import Connection, ModelEntry
from engine.errors import UserError

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
    """Reads the host out of an address, strictly: what two readers could understand
    differently (names and passwords, backslashes, escapes, hidden characters) is refused.

    Raises UserError `bad_base_url`.
    """
    text = url.strip()
    if any(ch.isspace() or not ch.isprintable() or ch in "\\%" for ch in _authority(text)):
        raise _bad(url, "it holds a character that does not belong into a host name")
    if "://" not in text:
        # The open line is the careful reading where it is not said: a key for https stays away.
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise _bad(url, "it is not an address") from error
    if parts.scheme not in _DEFAULT_PORTS:
        raise _bad(url, "it begins with neither http:// nor https://")
    if not name:
        raise _bad(url, "it names no host")
    if "@" in parts.netloc:
        raise _bad(url, "it holds a user name or password in front of the host")
    name = _ascii_name(name, url)
    return _as_endpoint(parts.scheme, name, port)


def is_loopback(name: str) -> bool:
    """True for this computer: localhost and the loopback addresses, nothing that needs a look-up."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _as_endpoint(scheme: str, name: str, port: int | None) -> Endpoint:
    loopback = is_loopback(name)
    shown = f"[{name}]" if ":" in name else name
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        shown = f"{shown}:{port}"
    if scheme == "http" and not loopback:
        shown = f"http://{shown}"
    return Endpoint(shown, loopback)


def _authority(text: str) -> str:
    rest = text.split("://", 1)[-1]
    for end in "/?#":
        rest = rest.split(end, 1)[0]
    return rest


def _ascii_name(name: str, url: str) -> str:
    """Lower case, no final dot, other alphabets in their xn-- form: two names that look the
    same but are not are then shown differently."""
    name = name.rstrip(".").lower()
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise _bad(url, "its host name cannot be written in the form that networks use") from error


def _bad(url: str, why: str) -> UserError:
    return UserError(
        "bad_base_url",
        f"The address {url.strip()!r} cannot be used: {why}.",
        hint="Write it like https://api.example.com/v1 or http://localhost:11434/v1.",
        url=url,
    )

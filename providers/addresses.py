"""Server addresses as people type them, and which of them mean this computer."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from providers.base import ErrorKind, ProviderError

_ENDINGS = ("/chat/completions", "/completions", "/responses", "/embeddings", "/models")


def normalise_base_url(text: str) -> str:
    """The base address of an OpenAI-style API: scheme, host, path, no slash at the end.

    A missing scheme is http for this computer and for host:port, https otherwise. An address
    without a path gets /v1; a pasted endpoint such as /chat/completions is cut off. Any other
    path is kept as typed.

    Raises:
        ProviderError: no usable address; the sentence says why.
    """
    parts = split_address(text)
    path = parts.path.rstrip("/")
    ending = next((e for e in _ENDINGS if path.endswith(e)), "")
    path = path.removesuffix(ending).rstrip("/")
    if not path and not ending:
        path = "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}"


def split_address(text: str) -> SplitResult:
    """Scheme, host and path of a typed address, with the scheme filled in.

    Raises:
        ProviderError: no usable address; the sentence says why.
    """
    typed = text.strip()
    if typed.isdigit():
        raise _bad(typed, f"That looks like a port only. Type http://localhost:{typed}")
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", typed):
        typed = f"{_missing_scheme(typed)}://{typed}"
    try:
        parts = urlsplit(typed)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _bad(text, f"It cannot be read ({error}).") from None
    if parts.scheme not in ("http", "https"):
        raise _bad(text, f"It must begin with http:// or https://, not {parts.scheme}://.")
    if not host or re.search(r"[\s\\<>\"'{}|^`]", parts.netloc) or port == 0:
        raise _bad(text, "The name of the server is missing or cannot be read.")
    if parts.username or parts.password:
        raise _bad(text.rpartition("@")[2], "It must not hold a name or password; store those as a key.")
    return parts


def host_of(address: str) -> str:
    """The lower-case host of an address, "" where it has none."""
    try:
        return (split_address(address).hostname or "").lower()
    except ProviderError:
        return ""


def is_loopback(host: str) -> bool:
    """True where a host name or address can only mean this computer."""
    name = host.strip().strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def proxy_for(base_url: str, explicit: str | None) -> str | None:
    """The proxy a connection uses: the one it names, else the system's, never one for loopback.

    An explicit proxy is taken at its word, loopback included.
    """
    if explicit:
        return explicit
    parts = split_address(base_url)
    host = parts.hostname or ""
    # Brings http, email and ssl with it, which the window does not need for its first paint.
    import urllib.request

    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if found and "://" not in found:
        found = f"http://{found}"
    return found or None


def _missing_scheme(typed: str) -> str:
    place = typed.partition("/")[0]
    host = place if place.startswith("[") else place.partition(":")[0]
    host = host.partition("]")[0].strip("[")
    has_port = bool(re.search(r":\d+$", place)) and not place.endswith(":443")
    return "http" if is_loopback(host) or has_port else "https"


def _bad(text: str, why: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REQUEST,
        f"The address {text.strip()!r} cannot be used. {why}",
        should_retry=False,
        code="bad_address",
    )

"""Our own HTTP client: sockets that the watchdog can end, no redirects, honest proxies and TLS."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2
from httpcore2._backends.sync import SyncStream

from providers.addresses import host_of, proxy_for
from providers.base import ConnectionSettings, ErrorKind, ProviderError
from providers.bounded import bound
from providers.pool import KeepAlivePool
from providers.watchdog import TICK_S, Call, current_call

KEEPALIVE_S = 20.0
GATHERED_BYTES = 64 * 1024

# Headers that SDKs take from the vendor's environment variables.
_FROM_ENVIRONMENT = ("openai-organization", "openai-project")
# Operating system, processor and Python release, which SDKs add to every request.
_ABOUT_THIS_COMPUTER = tuple(
    f"x-stainless-{fact}"
    for fact in ("lang", "package-version", "os", "arch", "runtime", "runtime-version", "async")
)
_CUSTOM_HEADER_VARIABLES = ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS")


def build_client(
    settings: ConnectionSettings, base_url: str, *, auth: Mapping[str, str], vendor_host: str | None = None
) -> httpx2.Client:
    """The one client of a connection, closed by its owner.

    Environment settings are read here and not by httpx2: its own reading raises on
    ALL_PROXY=socks://… and sends loopback calls through proxies. The headers of `auth` and of
    the connection are what is sent, whatever an SDK makes of environment variables; those
    variables reach the vendor's own host only.

    Raises:
        ProviderError: the proxy or the CA file cannot be used.
    """
    fixed = {**auth, **settings.headers}
    unwanted = {"authorization", "x-api-key", "x-goog-api-key", *_ABOUT_THIS_COMPUTER}
    if host_of(base_url) != vendor_host:
        unwanted.update(_FROM_ENVIRONMENT, _custom_header_names())
    proxy = proxy_for(base_url, settings.proxy)
    speaks_tls = base_url.startswith("https:") or (proxy or "").startswith("https:")
    # Reading the trust store takes a while; a context without it trusts nobody.
    context = ssl_context(settings.verify_tls) if speaks_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    transport = WatchedTransport(settings, proxy, context, HeaderRule(frozenset(unwanted), fixed))
    return httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=None)


def _custom_header_names() -> Iterator[str]:
    for variable in _CUSTOM_HEADER_VARIABLES:
        for line in os.environ.get(variable, "").split("\n"):
            if ":" in line:
                yield line.partition(":")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """What every request of a connection must not and must carry."""

    dropped: frozenset[str]
    fixed: Mapping[str, str]

    def apply(self, headers: httpx2.Headers) -> httpx2.Headers:
        """The headers of one request as they are sent."""
        unwanted = {name.encode() for name in self.dropped}
        kept = httpx2.Headers([pair for pair in headers.raw if pair[0].lower() not in unwanted])
        if self.fixed:
            kept.update(self.fixed)
        return kept


def ssl_context(verify_tls: bool | str) -> ssl.SSLContext:
    """The system's trust store, a CA file of one's own, or no verification at all.

    Raises:
        ProviderError: the CA file cannot be read.
    """
    if not isinstance(verify_tls, str):
        return httpx2.create_ssl_context(verify=verify_tls)
    try:
        return ssl.create_default_context(cafile=verify_tls)
    except (OSError, ssl.SSLError) as error:
        raise ProviderError(
            ErrorKind.BAD_REQUEST,
            f"The certificate file {verify_tls!r} named by verify_tls cannot be read ({error}). "
            "Name a PEM file with the certificates to trust.",
            should_retry=False,
            code="bad_ca_file",
        ) from None


class WatchedTransport(httpx2.HTTPTransport):
    """Speaks HTTP/1.1 over watched sockets and notes status and headers on the current call."""

    def __init__(
        self, settings: ConnectionSettings, proxy: str | None, context: ssl.SSLContext, rule: HeaderRule
    ) -> None:
        self._rule = rule
        options: dict[str, Any] = {
            "ssl_context": context,
            "keepalive_expiry": KEEPALIVE_S,
            "network_backend": WatchedBackend(settings.connect_timeout_s),
        }
        maker = httpcore2.ConnectionPool(**options) if proxy is None else _proxied(proxy, context, options)
        self._pool = KeepAlivePool(maker, max(1, settings.width))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends one request. The body of anything but a plain success is read here, so that
        its meaning does not depend on what an SDK keeps of it."""
        call = current_call()
        call.status, call.headers, call.body = None, {}, b""
        request.headers = self._rule.apply(request.headers)
        response = super().handle_request(request)
        call.status = response.status_code
        call.headers = dict(response.headers.items())
        bound(response)
        if response.status_code >= 300 or "text/html" in response.headers.get("content-type", ""):
            call.body = response.read()
        return response


def _proxied(proxy: str, context: ssl.SSLContext, options: dict[str, Any]) -> httpcore2.ConnectionPool:
    try:
        if not urlsplit(proxy).hostname:
            raise ValueError(proxy)
        parsed = httpx2.Proxy(url=proxy.replace("socks://", "socks5://", 1))
        if parsed.url.scheme in ("socks5", "socks5h"):
            return httpcore2.SOCKSProxy(proxy_url=str(parsed.url), proxy_auth=parsed.raw_auth, **options)
        return httpcore2.HTTPProxy(
            proxy_url=str(parsed.url),
            proxy_auth=parsed.raw_auth,
            proxy_ssl_context=context if parsed.url.scheme == "https" else None,
            **options,
        )
    except (ValueError, httpx2.InvalidURL):
        problem = "cannot be used; it must look like http://host:port"
    except (ImportError, RuntimeError):
        problem = "is a SOCKS proxy, for which the package socksio must be installed"
    raise ProviderError(
        ErrorKind.BAD_REQUEST,
        f"The proxy of this connection {problem}. Set proxy: on the connection, or HTTPS_PROXY, to an "
        "HTTP proxy, or name the host in NO_PROXY.",
        should_retry=False,
        code="bad_proxy",
    )


class WatchedBackend(httpcore2.NetworkBackend):
    """Opens sockets; looking up a name and connecting end at the call's deadline and on stop."""

    def __init__(self, connect_timeout_s: float) -> None:
        self._connect_timeout_s = connect_timeout_s

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connects to the first address that answers."""
        call = current_call()
        until = time.monotonic() + min(self._connect_timeout_s, call.remaining())
        with _connect_errors():
            last: OSError = OSError(f"{host} has no address")
            places = _resolve(host, port, until, call)
            for left, (family, kind, proto, _, address) in zip(
                range(len(places), 0, -1), places, strict=True
            ):
                # An address that swallows packets must leave time for the next one.
                share = time.monotonic() + (until - time.monotonic()) / min(left, 2)
                try:
                    return WatchedStream(SyncStream(_connect((family, kind, proto), address, share, call)))
                except OSError as error:
                    last = error
                if call.check():
                    break
            raise last

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.NetworkStream:
        """Not used by any connection."""
        raise httpcore2.UnsupportedProtocol("Unix sockets are not used here.")


class WatchedStream(httpcore2.NetworkStream):
    """A stream that tells the current call its socket before every blocking operation."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner
        self._unsent = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Reads, at most until the call's deadline."""
        if self._unsent:
            # A service may refuse and hang up before it has heard everything: its answer counts.
            with contextlib.suppress(httpcore2.WriteError):
                self._send(timeout)
        return self._inner.read(max_bytes, self._enter(httpcore2.ReadTimeout, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Writes, at most until the call's deadline. What is short leaves with the first read:
        head and body of a request are then one packet and one system call."""
        self._unsent += buffer
        if len(self._unsent) > GATHERED_BYTES:
            self._send(timeout)

    def _send(self, timeout: float | None) -> None:
        unsent, self._unsent = self._unsent, b""
        self._inner.write(unsent, self._enter(httpcore2.WriteTimeout, timeout))

    def close(self) -> None:
        """Closes the socket."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """The handshake takes the socket over, so the watchdog holds a duplicate meanwhile."""
        limit = self._enter(httpcore2.ConnectTimeout, timeout)
        guard = self._inner.get_extra_info("socket").dup()
        call = current_call()
        call.attach(guard)
        try:
            return WatchedStream(self._inner.start_tls(ssl_context, server_hostname, limit))
        finally:
            call.attach(None)
            guard.close()

    def get_extra_info(self, info: str) -> Any:
        """As the wrapped stream."""
        return self._inner.get_extra_info(info)

    def _enter(self, error: type[Exception], timeout: float | None) -> float | None:
        call = current_call()
        call.attach(self._inner.get_extra_info("socket"))
        if call.check():
            raise error(f"The call was cut ({call.reason}).")
        left = call.remaining()
        limit = left if timeout is None else min(left, timeout)
        return None if limit == float("inf") else max(limit, 0.001)


@contextlib.contextmanager
def _connect_errors() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout(str(error)) from error
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(str(error)) from error


def _pause(until: float, call: Call) -> float:
    """The next slice of waiting; raises where there is no time left or the call was cut."""
    left = until - time.monotonic()
    if call.check() or left <= 0:
        raise TimeoutError("no connection in time")
    return min(TICK_S, left)


def _resolve(host: str, port: int, until: float, call: Call) -> list[Any]:
    """Looks a name up on a thread of its own: getaddrinfo cannot be interrupted."""
    try:
        return socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)
    except socket.gaierror:
        pass  # a name, not a number
    found: list[Any] = []
    failed: list[Exception] = []
    done = threading.Event()

    def look_up() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            failed.append(error)
        finally:
            done.set()

    threading.Thread(target=look_up, name=f"look-up {host}", daemon=True).start()
    while not done.wait(_pause(until, call)):
        continue
    if failed:
        raise failed[0]
    return found


def _connect(kind: tuple[int, int, int], address: Any, until: float, call: Call) -> socket.socket:
    sock = socket.socket(*kind)
    try:
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect(address)
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_WRITE)
            while not selector.select(_pause(until, call)):
                continue
        if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(code, os.strerror(code))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(True)
    except BaseException:
        sock.close()
        raise
    return sock

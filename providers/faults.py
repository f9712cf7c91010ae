"""Turns whatever went wrong in a call into the one error of this package."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from providers.addresses import host_of, is_loopback
from providers.base import ConnectionSettings, ErrorKind, ProviderError
from providers.limits import read_limits
from providers.redact import redact
from providers.refusals import Cause, cause_of, page_cause, read_refusal
from providers.waits import names_day_quota, retry_after_s, should_retry
from providers.watchdog import Call

_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id", "cf-ray")


@dataclass(frozen=True, slots=True)
class Place:
    """Whom a call asked: for sentences, and for what must not be in them."""

    settings: ConnectionSettings
    base_url: str = ""
    model: str = ""

    def clean(self, text: str) -> str:
        """Text without this connection's secrets, bounded."""
        known = (self.settings.api_key, *self.settings.headers.values(), self.settings.proxy)
        return redact(text, known)


def from_response(place: Place, status: int, headers: Mapping[str, str], body: Any) -> ProviderError:
    """The error an HTTP refusal means; `body` is bytes or parsed JSON. Never raises."""
    refusal = read_refusal(status, body)
    page = page_cause(status, headers, body if isinstance(body, bytes) else b"", place.base_url)
    cause = page or cause_of(refusal, place.model)
    said = "" if page or refusal.message in cause.sentence else refusal.message
    wait = retry_after_s(headers, refusal.body)
    return ProviderError(
        cause.kind,
        place.clean(f"{cause.sentence} {said}".strip()),
        status=status,
        retry_after_s=cause.wait_s if wait is None else wait,
        should_retry=False if cause.final else should_retry(headers),
        day_quota=status == 429 and names_day_quota(refusal.body),
        request_id=request_id(headers),
        code=cause.code,
        limits=read_limits(headers),
    )


def from_exception(place: Place, error: BaseException, call: Call) -> ProviderError:
    """The error an exception of an SDK or of the transport means. Never raises."""
    if isinstance(error, ProviderError):
        return error
    if call.reason == "stopped":
        return ProviderError(ErrorKind.CANCELLED, "Stopped before the answer was complete.")
    if call.reason == "deadline" or call.remaining() <= 0:
        return ProviderError(ErrorKind.TIMEOUT, "No complete answer within the time allowed.")
    told = next((inner for inner in _chain(error) if isinstance(inner, ProviderError)), None)
    if told is not None:
        return told
    if call.status is not None and (call.status >= 300 or call.body):
        return from_response(place, call.status, call.headers, call.body)
    cause = network_cause(list(_chain(error)), place.base_url)
    if call.status is None and cause.kind is ErrorKind.BAD_REPLY:
        sentence = f"The request cannot be sent. ({error})"
        cause = Cause(ErrorKind.BAD_REQUEST, sentence, "cannot_send", final=True)
    return ProviderError(
        cause.kind,
        place.clean(cause.sentence),
        status=call.status,
        should_retry=False if cause.final else None,
        request_id=request_id(call.headers),
        code=cause.code,
    )


def request_id(headers: Mapping[str, str]) -> str | None:
    """The vendor's id of a request, None where it sends none."""
    low = {name.lower(): value for name, value in headers.items()}
    return next((low[name] for name in _REQUEST_IDS if low.get(name)), None)


def bad_reply(place: Place, call: Call, why: str) -> ProviderError:
    """A success that cannot be read as an answer; a web page is called one."""
    if call.body:
        return from_response(place, call.status or 200, call.headers, call.body)
    return ProviderError(
        ErrorKind.BAD_REPLY,
        place.clean(f"The reply of {host_of(place.base_url) or 'the service'} cannot be read: {why}"),
        status=call.status,
        request_id=request_id(call.headers),
        code="unreadable",
    )


def network_cause(chain: Sequence[BaseException], base_url: str) -> Cause:
    """The cause of a failure below HTTP, from an exception and all it came from."""
    names = {type(error).__name__ for error in chain}
    texts = " | ".join(dict.fromkeys(str(error) for error in chain if str(error)))
    host = host_of(base_url) or "the service"
    for test, cause in _NETWORK:
        if test(chain, names, texts):
            return cause(texts, host, base_url)
    return Cause(ErrorKind.UNKNOWN, f"{type(chain[0]).__name__}: {texts}")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


_Test = Callable[[Sequence[BaseException], set[str], str], bool]
_UNREACHABLE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL}


def _named(*wanted: str) -> _Test:
    return lambda chain, names, texts: bool(names & set(wanted))


def _is(*kinds: type[BaseException]) -> _Test:
    return lambda chain, names, texts: any(isinstance(error, kinds) for error in chain)


def _no_trust(chain: Sequence[BaseException], names: set[str], texts: str) -> bool:
    return _is(ssl.SSLCertVerificationError)(chain, names, texts) or "CERTIFICATE_VERIFY_FAILED" in texts


def _no_way(chain: Sequence[BaseException], names: set[str], texts: str) -> bool:
    return any(isinstance(error, OSError) and error.errno in _UNREACHABLE for error in chain)


def _tls(texts: str, host: str, base_url: str) -> Cause:
    if "self-signed" in texts or "self signed" in texts or "unable to get local issuer" in texts:
        return Cause(
            ErrorKind.CONNECT,
            f"The certificate of {host} was not issued by anyone this computer trusts: probably your network "
            "replaces certificates to inspect traffic. Add your company's certificate to the system's trust "
            "store, or name its file in verify_tls of the connection.",
            "tls_intercepted",
            final=True,
        )
    return Cause(
        ErrorKind.CONNECT, f"The certificate of {host} is not valid: {texts}", "tls_invalid", final=True
    )


def _refused(texts: str, host: str, base_url: str) -> Cause:
    if is_loopback(host):
        return Cause(
            ErrorKind.CONNECT,
            f"Nothing answers at {base_url} on this computer. Start the server, or correct the address.",
            "not_running",
        )
    return Cause(ErrorKind.CONNECT, f"{host} refused the connection. Check the address.", "refused")


def _says(kind: ErrorKind, sentence: str, code: str = "", final: bool = False) -> Callable[..., Cause]:
    return lambda texts, host, base_url: Cause(
        kind, sentence.replace("{host}", host).replace("{texts}", texts[:200]), code, final
    )


_NETWORK: tuple[tuple[_Test, Callable[[str, str, str], Cause]], ...] = (
    (_no_trust, _tls),
    (
        _is(ssl.SSLError),
        _says(
            ErrorKind.CONNECT,
            "No secure connection to {host}. Check http:// or https:// in the address. ({texts})",
            "tls_failed",
            True,
        ),
    ),
    (
        _is(socket.gaierror),
        _says(
            ErrorKind.OFFLINE,
            "The name {host} cannot be found. Check the network and the address.",
            "no_name",
        ),
    ),
    (
        _no_way,
        _says(
            ErrorKind.OFFLINE,
            "There is no way to {host} from this computer. Check the network.",
            "no_network",
        ),
    ),
    (
        _named("ConnectTimeout"),
        _says(ErrorKind.CONNECT_TIMEOUT, "{host} did not take the connection in time."),
    ),
    (
        _named("ProxyError"),
        _says(ErrorKind.CONNECT, "The proxy refused to connect to {host}. ({texts})", "proxy_refused"),
    ),
    (lambda chain, names, texts: "ConnectError" in names, _refused),
    (
        _named("ReadError", "RemoteProtocolError", "WriteError", "ReadTimeout", "WriteTimeout"),
        _says(ErrorKind.UNKNOWN, "The connection was cut before the answer was complete.", "connection_cut"),
    ),
    (
        _named("LocalProtocolError", "UnsupportedProtocol", "InvalidURL"),
        _says(ErrorKind.BAD_REQUEST, "The request cannot be sent. ({texts})", "cannot_send", True),
    ),
    (
        _is(ValueError),
        _says(ErrorKind.BAD_REPLY, "The reply of {host} cannot be read. ({texts})", "unreadable"),
    ),
)

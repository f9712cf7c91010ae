"""Failures below HTTP, told apart by what caused them."""

from __future__ import annotations

import errno
import json
import socket
import ssl

import pytest

from providers.base import ConnectionSettings, ErrorKind
from providers.faults import Place, from_exception, network_cause
from providers.watchdog import Call
from tests.providers.scripted import CASES

PLACE = Place(
    ConnectionSettings("c", "openai", api_key="sk-very-secret-1"), "https://api.example.com/v1", "m"
)


def named(name: str, text: str = "") -> Exception:
    error: Exception = type(name, (Exception,), {})(text)
    return error


def test_a_replaced_certificate_by_the_words_alone() -> None:
    texts = json.loads((CASES / "error_texts_tls.json").read_text("utf-8"))["exception_chain"]
    chain = [named(*text.split(": ", 1)) for text in texts]
    cause = network_cause(chain, PLACE.base_url)
    assert (cause.kind, cause.code, cause.final) == (ErrorKind.CONNECT, "tls_intercepted", True)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (socket.gaierror(-2, "Name or service not known"), ErrorKind.OFFLINE, "no_name"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), ErrorKind.OFFLINE, "no_network"),
        (ssl.SSLCertVerificationError("certificate has expired"), ErrorKind.CONNECT, "tls_invalid"),
        (ssl.SSLError("handshake failure"), ErrorKind.CONNECT, "tls_failed"),
        (named("ConnectTimeout"), ErrorKind.CONNECT_TIMEOUT, ""),
        (named("ProxyError", "407"), ErrorKind.CONNECT, "proxy_refused"),
        (named("ConnectError", "refused"), ErrorKind.CONNECT, "refused"),
        (named("RemoteProtocolError"), ErrorKind.UNKNOWN, "connection_cut"),
        (named("LocalProtocolError", "Illegal header value"), ErrorKind.BAD_REQUEST, "cannot_send"),
        (ValueError("no JSON"), ErrorKind.BAD_REPLY, "unreadable"),
        (RuntimeError("surprise"), ErrorKind.UNKNOWN, ""),
    ],
)
def test_causes(error: Exception, kind: ErrorKind, code: str) -> None:
    wrapped = RuntimeError("Connection error.")
    wrapped.__cause__ = error
    call = Call(10, None)
    call.status = 200 if code == "unreadable" else None
    found = from_exception(PLACE, wrapped, call)
    assert (found.kind, found.code) == (kind, code)
    assert found.message


def test_a_secret_in_an_exception_does_not_come_out() -> None:
    found = from_exception(PLACE, RuntimeError("header sk-very-secret-1 is odd"), Call(10, None))
    assert "secret-1" not in found.message


def test_the_deadline_and_stop_go_before_what_they_caused() -> None:
    late, stopped = Call(0, None), Call(10, None)
    stopped.reason = "stopped"
    assert from_exception(PLACE, named("ReadError"), late).kind is ErrorKind.TIMEOUT
    assert from_exception(PLACE, named("ReadError"), stopped).kind is ErrorKind.CANCELLED

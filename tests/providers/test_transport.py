"""Calls that end when they must: deadlines, stop, refused and broken connections, proxies, TLS."""

from __future__ import annotations

import socket
import ssl
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from providers import registry
from providers.base import ConnectionSettings, ErrorKind, Provider, ProviderError, Reply
from tests.providers.conftest import KEY, failure, outcome, question
from tests.providers.scripted import Answer, chat_body, scripted

Connect = Callable[..., Provider]
KINDS = ("openai_compatible", "anthropic", "gemini")


@pytest.fixture(autouse=True, scope="module")
def _sdks_are_loaded() -> None:
    """Importing an SDK takes seconds once and must not be in the times measured here."""
    with scripted(Answer({}, 500)) as server:
        for kind in KINDS:
            provider = registry.create(ConnectionSettings("c", kind, base_url=server.url, api_key=KEY))
            outcome(provider, question())
            provider.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["drip", "hang"])
def test_the_total_deadline_holds_against_any_server(connect: Connect, kind: str, mode: str) -> None:
    with scripted(Answer(chat_body("x" * 2000), mode=mode)) as server:
        began = time.monotonic()
        error = failure(connect(kind, server.url), question(timeout_s=0.4))
        took = time.monotonic() - began
    assert error.kind is ErrorKind.TIMEOUT
    assert 0.35 < took < 2.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["drip", "hang"])
def test_stop_ends_a_call_that_is_under_way(connect: Connect, kind: str, mode: str) -> None:
    stop = threading.Event()
    results: list[Reply | ProviderError] = []
    with scripted(Answer(chat_body("x" * 2000), mode=mode)) as server:
        provider = connect(kind, server.url)
        thread = threading.Thread(
            target=lambda: results.append(outcome(provider, question(stop_event=stop, timeout_s=60)))
        )
        thread.start()
        assert server.arrived.wait(10)
        began = time.monotonic()
        stop.set()
        thread.join(10)
        took = time.monotonic() - began
    assert took < 1.0
    assert isinstance(results[0], ProviderError)
    assert results[0].kind is ErrorKind.CANCELLED


def test_a_stopped_connection_is_really_closed(connect: Connect) -> None:
    with scripted(Answer(mode="hang")) as server:
        failure(connect("openai_compatible", server.url), question(timeout_s=0.3))
        assert server.hung_up.wait(5)


def test_a_call_that_is_stopped_before_it_starts_asks_nothing(connect: Connect) -> None:
    stop = threading.Event()
    stop.set()
    with scripted(Answer(chat_body())) as server:
        error = failure(connect("openai_compatible", server.url), question(stop_event=stop))
        assert server.asked == []
    assert error.kind is ErrorKind.CANCELLED


def test_the_connection_serves_again_after_a_deadline(connect: Connect) -> None:
    with scripted(Answer(mode="hang"), Answer(chat_body("ok"))) as server:
        provider = connect("openai_compatible", server.url)
        failure(provider, question(timeout_s=0.3))
        assert provider.complete(question()).text == "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_answer_is_no_answer(connect: Connect, kind: str) -> None:
    with scripted(Answer(chat_body("Lisbon" * 100), mode="cut")) as server:
        error = failure(connect(kind, server.url), question())
        assert len(server.asked) == 1
    assert (error.kind, error.code) == (ErrorKind.UNKNOWN, "connection_cut")


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_there(connect: Connect, kind: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        error = failure(connect(kind, url), question())
    assert (error.kind, error.code) == (ErrorKind.CONNECT, "not_running")
    assert "Start the server" in error.message


def test_a_server_that_does_not_take_connections(connect: Connect) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = []
        try:
            for _ in range(4):  # fills the queue of the listener, which accepts nobody
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(full.getsockname())
                fillers.append(filler)
            url = f"http://127.0.0.1:{full.getsockname()[1]}"
            provider = connect("openai_compatible", url, connect_timeout_s=0.3)
            error = failure(provider, question(timeout_s=20))
        finally:
            for filler in fillers:
                filler.close()
    assert error.kind is ErrorKind.CONNECT_TIMEOUT


def test_a_name_nobody_knows_is_offline(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def look_up(host: str, *rest: object) -> object:
        if host == "nowhere.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    error = failure(connect("openai_compatible", "https://nowhere.invalid"), question())
    assert (error.kind, error.code) == (ErrorKind.OFFLINE, "no_name")


def test_a_name_server_that_never_answers_does_not_outlast_the_call(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def look_up(host: str, *rest: object) -> object:
        if "numeric" not in host and rest[-1] == socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "not a number")
        over.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    try:
        error = failure(connect("openai_compatible", "https://slow.invalid"), question(timeout_s=0.3))
    finally:
        over.set()
    assert error.kind is ErrorKind.TIMEOUT


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as target:
        moved = Answer({}, 307, {"location": f"{target.url}/v1/chat/completions"})
        for kind in KINDS:
            with scripted(moved) as server:
                error = failure(connect(kind, server.url), question())
                assert len(server.asked) == 1
            assert (error.kind, error.code, error.should_retry) == (ErrorKind.BAD_REQUEST, "redirect", False)
            assert "127.0.0.1" in error.message
        assert target.asked == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_variable_of_any_kind_neither_breaks_nor_diverts_local_calls(
    connect: Connect, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "socks://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with scripted(Answer({"error": {"message": "seen"}}, 418)) as server:
        error = failure(connect(kind, server.url), question())
        assert len(server.asked) == 1
    assert error.status == 418


def test_a_proxy_of_the_connection_is_used_even_for_this_computer(connect: Connect) -> None:
    with scripted(Answer(chat_body("through the proxy"))) as proxy:
        provider = connect("openai_compatible", "http://127.0.0.1:9/v1", proxy=proxy.url)
        assert provider.complete(question()).text == "through the proxy"
        assert proxy.asked[0].path == "http://127.0.0.1:9/v1/chat/completions"


@pytest.mark.parametrize("proxy", ["socks5://me:hunter22@127.0.0.1:9", "htp://x", "http://["])
def test_an_unusable_proxy_is_a_sentence(connect: Connect, proxy: str) -> None:
    error = failure(connect("openai_compatible", "http://127.0.0.1:9/v1", proxy=proxy), question())
    assert (error.kind, error.code) == (ErrorKind.BAD_REQUEST, "bad_proxy")
    assert "hunter22" not in error.message


def test_headers_of_the_connection_go_along_and_no_key_means_no_header(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as server:
        connect("openai_compatible", server.url, api_key=None, headers={"X-Team": "a"}).complete(question())
        connect("openai_compatible", server.url, headers={"Authorization": "Basic abcd"}).complete(question())
    assert "authorization" not in server.asked[0].headers
    assert server.asked[0].headers["x-team"] == "a"
    assert server.asked[1].headers["authorization"] == "Basic abcd"


@pytest.mark.parametrize("kind", KINDS)
def test_the_vendors_variables_do_not_reach_another_host(
    connect: Connect, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "OPENAI_API_KEY": "leak-1",
        "OPENAI_ORG_ID": "leak-2",
        "OPENAI_PROJECT_ID": "leak-3",
        "OPENAI_CUSTOM_HEADERS": "X-Own: leak-4",
        "ANTHROPIC_API_KEY": "leak-5",
        "ANTHROPIC_AUTH_TOKEN": "leak-6",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Own: leak-7\nAuthorization: leak-8",
        "GOOGLE_API_KEY": "leak-9",
        "GEMINI_API_KEY": "leak-10",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with scripted(Answer({}, 500)) as server:
        for key in (KEY, None):
            failure(connect(kind, server.url, api_key=key), question())
    assert len(server.asked) == 2
    assert "leak" not in str([asked.headers for asked in server.asked])
    assert KEY in str(server.asked[0].headers)
    assert KEY not in str(server.asked[1].headers)


def test_an_impossible_key_is_named_before_anything_is_sent(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as server:
        error = failure(connect("openai_compatible", server.url, api_key="sk-te\u200bst"), question())
        assert server.asked == []
    assert (error.kind, error.code) == (ErrorKind.AUTH, "bad_key")


@pytest.mark.parametrize("kind", ["openai_compatible", "anthropic"])
def test_what_cannot_be_sent_is_not_blamed_on_the_reply(connect: Connect, kind: str) -> None:
    with scripted(Answer(chat_body())) as server:
        surrogate = failure(connect(kind, server.url), question(text="half \ud83d of a sign"))
        header = failure(connect(kind, server.url, headers={"X-A": "\u2014"}), question())
        assert server.asked == []
    assert (surrogate.kind, surrogate.code) == (ErrorKind.BAD_REQUEST, "cannot_send")
    assert (header.kind, header.code) == (ErrorKind.BAD_REQUEST, "cannot_send")


def test_an_error_shows_nothing_of_the_sdks_own_error(connect: Connect) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    with scripted(Answer(body, 500)) as server:
        error = failure(connect("openai_compatible", server.url), question())
    assert KEY not in "".join(traceback.format_exception(error))


def test_a_closed_connection_says_so(connect: Connect) -> None:
    provider = connect("openai_compatible", "http://127.0.0.1:9")
    provider.close()
    assert failure(provider, question()).kind is ErrorKind.CANCELLED


class _Hello(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        data = b'{"choices": [{"message": {"content": "safe"}, "finish_reason": "stop"}]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Quiet."""


class _TlsServer(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust us hangs up; that is what is tested."""


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server with a certificate of its own making: its address and the certificate."""
    certificate, key = _self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = _TlsServer(("127.0.0.1", 0), _Hello)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_address[1]}", certificate
    server.shutdown()
    server.server_close()
    thread.join(5)


def _self_signed(folder: Path) -> tuple[Path, Path]:
    pytest.importorskip("cryptography", reason="needs a package that makes certificates")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "own.pem", folder / "own.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files


@pytest.mark.parametrize("kind", KINDS)
def test_a_replaced_certificate_is_named_and_not_retried(
    connect: Connect, kind: str, tls_server: tuple[str, Path]
) -> None:
    error = failure(connect(kind, tls_server[0]), question())
    assert (error.kind, error.code, error.should_retry) == (ErrorKind.CONNECT, "tls_intercepted", False)
    assert "your network replaces certificates" in error.message
    assert "verify_tls" in error.message


def test_a_certificate_file_or_no_check_at_all(connect: Connect, tls_server: tuple[str, Path]) -> None:
    url, certificate = tls_server
    assert connect("openai_compatible", url, verify_tls=str(certificate)).complete(question()).text == "safe"
    assert connect("openai_compatible", url, verify_tls=False).complete(question()).text == "safe"


def test_an_unreadable_certificate_file_is_a_sentence(connect: Connect, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    error = failure(connect("openai_compatible", "https://localhost:9", verify_tls=missing), question())
    assert (error.kind, error.code) == (ErrorKind.BAD_REQUEST, "bad_ca_file")


def test_https_spoken_to_a_plain_server(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as server:
        error = failure(connect("openai_compatible", server.url.replace("http:", "https:")), question())
    assert (error.kind, error.code) == (ErrorKind.CONNECT, "tls_failed")

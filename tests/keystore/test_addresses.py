"""The host a key is bound to, read the careful way."""

from __future__ import annotations

import pytest

from engine.config.schema import Connection, ModelEntry
from engine.errors import UserError
from engine.hosts import endpoint, endpoint_of


@pytest.mark.parametrize(
    ("url", "host", "loopback"),
    [
        ("https://api.openai.com/v1", "api.openai.com", False),
        ("https://API.OpenAI.com.:443/v1?x=1", "api.openai.com", False),
        ("http://api.openai.com", "http://api.openai.com", False),
        ("https://api.openai.com:8443", "api.openai.com:8443", False),
        ("api.openai.com", "api.openai.com", False),
        ("https://\u0430pi.openai.com", "xn--pi-6kc.openai.com", False),
        ("localhost:11434", "localhost:11434", True),
        ("http://127.8.9.1/v1", "127.8.9.1", True),
        ("http://[::1]:8000/v1", "[::1]:8000", True),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]", True),
        ("http://me.localhost", "me.localhost", True),
        ("http://127.0.0.1.evil.com", "http://127.0.0.1.evil.com", False),
        ("https://localhost.evil.com", "localhost.evil.com", False),
        ("http://10.0.0.7:8000", "http://10.0.0.7:8000", False),
        ("https://evil.com#@api.openai.com", "evil.com", False),
        ("https://evil.com?@api.openai.com", "evil.com", False),
    ],
)
def test_hosts(url: str, host: str, loopback: bool) -> None:
    found = endpoint(url)
    assert (found.host, found.loopback) == (host, loopback)
    assert found.is_remote is not loopback


@pytest.mark.parametrize(
    "url",
    [
        *("", "http://", "11434", "htp://localhost", "file:///etc/passwd", "https://a b.com", "https://:443"),
        *("https://u:p@api.openai.com", "https://@api.openai.com", "https://api.openai.com%2eevil.com"),
        *("https://evil.com\\.openai.com", "https://x:99999"),
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(UserError) as fault:
        endpoint(url)
    assert fault.value.code == "bad_base_url"
    assert fault.value.hint


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(UserError) as fault:
        endpoint("https://user:hunter2secret@example.com/v1")
    assert "hunter2secret" not in str(fault.value)


def test_the_address_in_force() -> None:
    openai = Connection(id="o", kind="openai")
    assert endpoint_of(openai).host == "api.openai.com"
    own = ModelEntry(model="m", api_base="http://localhost:1234/v1")
    assert endpoint_of(openai, own).host == "localhost:1234"
    assert endpoint_of(Connection(id="m", kind="mock")).host == ""
    assert endpoint_of(Connection(id="x", kind="nobody knows")).host == ""

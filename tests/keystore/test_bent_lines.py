"""Headers of a project that could lead a key astray without moving its address."""

from __future__ import annotations

import pytest

from engine.config.schema import Connection
from engine.keystore import KeyStore
from tests.keystore.fakes import FakeStore

KEY = "sk-test-0123456789abcdef"


@pytest.mark.parametrize(
    "name", ["Host", "host", "X-Forwarded-Host", "Forwarded", "X-Original-URL", "X-Rewrite-Url", ":authority"]
)
def test_a_header_that_names_another_host_needs_a_yes(name: str) -> None:
    keys = KeyStore(backend=FakeStore(), environ={})
    plain = Connection(id="openai", kind="openai")
    keys.store(plain, KEY)
    bent = Connection(id="openai", kind="openai", headers={name: "elsewhere.example.com"})
    asked = keys.resolve(bent)
    assert (asked.value, asked.code) == (None, "needs_yes")
    assert name in asked.reason
    assert keys.resolve(plain).value == KEY
    assert keys.resolve(Connection(id="openai", kind="openai", headers={"x-team": "support"})).value == KEY


@pytest.mark.parametrize(
    "header", [("x-a", "1\r\nHost: elsewhere"), ("x\nb", "1"), ("x-a", "a\u202eb"), ("", "x")]
)
def test_a_header_with_hidden_characters_is_refused(header: tuple[str, str]) -> None:
    keys = KeyStore(backend=FakeStore(), environ={})
    _, missing = keys.resolve_headers(Connection(id="openai", kind="openai", headers=dict([header])))
    assert missing is not None
    assert missing.code == "refused"

"""Addresses as people type them, proxies and what means this computer."""

from __future__ import annotations

import json

import pytest

from providers.addresses import host_of, is_loopback, normalise_base_url, proxy_for
from providers.base import ProviderError
from tests.providers.scripted import CASES

TYPED = json.loads((CASES / "base_urls.json").read_text("utf-8"))


@pytest.mark.parametrize("typed", TYPED["inputs"])
def test_typed_addresses_end_at_one(typed: str) -> None:
    assert normalise_base_url(typed) == TYPED["must_normalise_to"]


@pytest.mark.parametrize(
    "typed", [*TYPED["must_reject"], "", "http://a b", "http://x:99999", "ftp://x", "http://[::1"]
)
def test_unusable_addresses_are_refused_with_a_reason(typed: str) -> None:
    with pytest.raises(ProviderError, match=r"cannot be used\. .{10}"):
        normalise_base_url(typed)


def test_a_port_alone_is_understood() -> None:
    with pytest.raises(ProviderError, match="http://localhost:11434"):
        normalise_base_url("11434")


@pytest.mark.parametrize(
    ("typed", "base"),
    [
        ("api.example.com", "https://api.example.com/v1"),
        ("gpu-box:8000", "http://gpu-box:8000/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://x.example/openai/", "https://x.example/openai"),
        ("https://x.example/chat/completions", "https://x.example"),
        ("https://x.example/v4/models/", "https://x.example/v4"),
    ],
)
def test_other_forms(typed: str, base: str) -> None:
    assert normalise_base_url(typed) == base


def test_a_name_and_password_in_an_address_are_refused_without_showing_them() -> None:
    with pytest.raises(ProviderError) as caught:
        normalise_base_url("http://me:secret@host/v1")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "a.localhost", "LOCALHOST.", "::ffff:127.0.0.1"],
)
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["localhost.evil.com", "10.0.0.1", "example.com", "", "128.0.0.1", "::2"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_host_of() -> None:
    assert host_of("HTTPS://API.Example.com:8443/v1") == "api.example.com"
    assert host_of("htp://x") == ""


@pytest.fixture
def proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_system_proxies_are_honoured_but_never_for_this_computer(proxies: pytest.MonkeyPatch) -> None:
    case = json.loads((CASES / "env_proxy_localhost.json").read_text("utf-8"))
    for name, value in case["env"].items():
        proxies.setenv(name, value)
    assert proxy_for(case["base_url"], None) is None
    assert proxy_for("http://localhost:1234/v1", None) is None
    assert proxy_for("http://gpu-box:8000/v1", None) == "http://127.0.0.1:9"
    assert proxy_for("https://api.openai.com/v1", None) is None
    proxies.setenv("https_proxy", "proxy:3128")
    assert proxy_for("https://api.openai.com/v1", None) == "http://proxy:3128"
    proxies.setenv("no_proxy", "openai.com")
    assert proxy_for("https://api.openai.com/v1", None) is None


def test_an_explicit_proxy_is_taken_at_its_word(proxies: pytest.MonkeyPatch) -> None:
    assert proxy_for("http://127.0.0.1:1/v1", "http://p:1") == "http://p:1"


def test_all_proxy_is_the_last_choice(proxies: pytest.MonkeyPatch) -> None:
    proxies.setenv("all_proxy", "socks://p:1")
    assert proxy_for("https://api.openai.com/v1", None) == "socks://p:1"
    proxies.setenv("https_proxy", "http://q:2")
    assert proxy_for("https://api.openai.com/v1", None) == "http://q:2"

"""Connections to throw-away servers, closed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from providers import registry
from providers.base import ConnectionSettings, Message, Provider, ProviderError, Reply, Request
from tests.stub import StubServer, start_stub

KEY = "sk-test-0001-abcdefgh"


@pytest.fixture
def connect() -> Iterator[Callable[..., Provider]]:
    """Builds connections by kind and address."""
    made: list[Provider] = []

    def build(kind: str, url: str | None = None, **more: Any) -> Provider:
        provider = registry.create(
            ConnectionSettings(more.pop("id", "c"), kind, base_url=url, **{"api_key": KEY, **more})
        )
        made.append(provider)
        return provider

    yield build
    for provider in made:
        provider.close()


def question(model: str = "alpha-small", text: str = "Capital of Portugal?", **more: Any) -> Request:
    return Request(model, (Message("user", text),), **{"timeout_s": 20.0, **more})


def outcome(provider: Provider, request: Request) -> Reply | ProviderError:
    """What a call gives, an error included."""
    try:
        return provider.complete(request)
    except ProviderError as error:
        return error


def failure(provider: Provider, request: Request) -> ProviderError:
    """The error of a call that must fail."""
    with pytest.raises(ProviderError) as caught:
        provider.complete(request)
    return caught.value


@pytest.fixture(scope="session")
def stub() -> Iterator[StubServer]:
    """One protocol stub for all tests of this folder."""
    with start_stub() as server:
        yield server

"""The connectors of one run: one client per connection and key, built late, closed at the end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from providers.base import ConnectionSettings, Provider
from providers.registry import create

from engine.execution.preflight import ReadyModel

_log = logging.getLogger(__name__)


class Clients:
    """Thread-safe. `provider_for` may be called from any worker; `close` ends all clients."""

    def __init__(
        self, widths: dict[str, int], make: Callable[[ConnectionSettings], Provider] = create
    ) -> None:
        self._widths = widths
        self._make = make
        self._lock = threading.Lock()
        self._providers: dict[tuple[str, str, str], Provider] = {}

    def provider_for(self, model: ReadyModel) -> Provider:
        """The client for a model; built at its first use. Raises ProviderError."""
        key = (model.lane, model.credential, model.entry.run or "")
        with self._lock:
            provider = self._providers.get(key)
            if provider is None:
                width = max(model.settings.width, self._widths.get(model.lane, 1))
                provider = self._make(replace(model.settings, width=width))
                self._providers[key] = provider
            return provider

    def close(self) -> None:
        """Closes every client; one that fails to close does not keep the others open."""
        with self._lock:
            providers, self._providers = list(self._providers.values()), {}
        for provider in providers:
            try:
                provider.close()
            except Exception:
                _log.exception("a connection could not be closed")

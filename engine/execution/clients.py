"""The connectors of one run: one client per connection and key, built late, closed at the end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from providers.base import ConnectionSettings, Provider, Reply, Request
from providers.embedding import Embedded, EmbedRequest, embed
from providers.registry import create

from engine.execution.preflight import ReadyModel
from engine.redact import mask_known

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

    def ask(self, model: ReadyModel, request: Request) -> Reply:
        """Asks a model once. A reply that repeats the access key comes back without it.

        Raises ProviderError.
        """
        reply = self.provider_for(model).complete(request)
        key = model.settings.api_key
        return _without_key(reply, key) if key else reply

    def embed(self, model: ReadyModel, request: EmbedRequest) -> Embedded:
        """Asks a model for embeddings once. Raises ProviderError."""
        return embed(self.provider_for(model), request)

    def close(self) -> None:
        """Closes every client; one that fails to close does not keep the others open."""
        with self._lock:
            providers, self._providers = list(self._providers.values()), {}
        for provider in providers:
            try:
                provider.close()
            except Exception:
                _log.exception("a connection could not be closed")


def _without_key(reply: Reply, key: str) -> Reply:
    told = (reply.text, reply.reasoning, reply.model_reported, reply.request_id)
    text, reasoning, model, request_id = (None if t is None else mask_known(t, (key,)) for t in told)
    if (text, reasoning, model, request_id) == told:
        return reply
    notes = tuple(
        (code, {name: mask_known(v, (key,)) if isinstance(v, str) else v for name, v in values.items()})
        for code, values in reply.notes
    )
    return replace(
        reply,
        text=text or "",
        reasoning=reasoning,
        model_reported=model,
        request_id=request_id,
        notes=(*notes, ("key_masked", {})),
    )

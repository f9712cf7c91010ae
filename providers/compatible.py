"""Servers that speak OpenAI's chat completions: local ones, gateways and other vendors."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

from providers.addresses import normalise_base_url
from providers.base import ConnectionSettings, ErrorKind, ProviderError, Reply, Request
from providers.chat_client import ChatProvider
from providers.registry import KINDS, canonical_kind
from providers.session import outgoing_model
from providers.watchdog import TICK_S, waiting_for

_STILL_LOADING = 503


class CompatibleProvider(ChatProvider):
    """One server with an address of its own.

    On local servers a model is loaded before its first call, within an allowance of its own
    and outside the call's timeout and latency. Where the server has no way to ask for that, the
    first answer gets a note that its latency may include loading; what its timeout should allow
    for that (`KindInfo.first_call_allowance_s`) is the caller's to add.
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        info = KINDS[canonical_kind(settings.kind) or "openai_compatible"]
        base_url = normalise_base_url(settings.base_url or info.default_base_url or "")
        super().__init__(settings, base_url, info.host)
        self._kind = info.kind
        self._allowance_s = info.first_call_allowance_s
        self._loading = threading.Lock()
        self._loaded: set[str] = set()

    def complete(self, request: Request) -> Reply:
        """Asks once, after the model has been loaded."""
        model = outgoing_model(self.settings, request.model)
        if not self._allowance_s or model in self._loaded:
            return super().complete(request)
        # One load at a time; others wait for it, not for each other's answers.
        with waiting_for(self._loading, request.stop_event) as held:
            if not held:
                raise ProviderError(ErrorKind.CANCELLED, "Stopped before the model was loaded.")
            known = model in self._loaded or self._load(model, request)
            self._loaded.add(model)
        if known:
            return super().complete(request)
        try:
            reply = super().complete(request)
        except ProviderError:
            self._loaded.discard(model)
            raise
        return replace(reply, notes=(*reply.notes, ("loading_included", {})))

    def _load(self, model: str, request: Request) -> bool:
        """True where the server says the model is loaded; False where it cannot be asked."""
        root = self.session.base_url.removesuffix("/v1")
        if self._kind == "ollama":
            return self._ask_server(f"{root}/api/generate", request, {"model": model}) is not None
        if self._kind == "lmstudio":
            return self._load_lmstudio(f"{root}/api/v1/models", model, request)
        return self._wait_until_healthy(f"{root}/health", request)

    def _load_lmstudio(self, url: str, model: str, request: Request) -> bool:
        """Looks first: asked to load a loaded model, LM Studio loads it a second time."""
        listing = self._ask_server(url, request)
        entries = listing.get("models") if listing else None
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("key") == model:
                loaded = bool(entry.get("loaded_instances"))
                return loaded or self._ask_server(f"{url}/load", request, {"model": model}) is not None
        return False

    def _ask_server(self, url: str, request: Request, body: dict[str, str] | None = None) -> Any:
        """The JSON object of a server's own interface, None where it has none or refuses."""
        client = self.session.client()
        with self.session.call(self._allowance_s, request.stop_event, request.model):
            response = client.get(url) if body is None else client.post(url, json=body)
            if response.status_code != 200:
                return None
            try:
                found = response.json()
            except ValueError:
                return None
        return found if isinstance(found, dict) and "error" not in found else None

    def _wait_until_healthy(self, url: str, request: Request) -> bool:
        client = self.session.client()
        stop = request.stop_event or threading.Event()
        until = time.monotonic() + self._allowance_s
        while time.monotonic() < until:
            with self.session.call(until - time.monotonic(), request.stop_event):
                status = client.get(url).status_code
            if status != _STILL_LOADING:
                return status == 200
            if stop.wait(10 * TICK_S):
                raise ProviderError(ErrorKind.CANCELLED, "Stopped while the model was being loaded.")
        return False

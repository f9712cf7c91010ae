"""What every connector over HTTP shares: one client, one way to ask, one way to fail."""

from __future__ import annotations

import contextlib
import importlib.util
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from providers.base import ConnectionSettings, ErrorKind, MissingExtraError, ModelInfo, ProviderError
from providers.faults import Place, bad_reply, from_exception, from_response
from providers.heavy_import import heavy_import
from providers.keytext import clean_key
from providers.watchdog import Call, watched

if TYPE_CHECKING:
    import httpx2

_T = TypeVar("_T")
MODELS_LIMIT = 5000


class Session:
    """Owns the HTTP client of one connection. Thread-safe; made at the first use.

    `auth` turns the key into the headers that carry it.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        base_url: str,
        auth: Callable[[str], Mapping[str, str]],
        vendor_host: str | None = None,
    ) -> None:
        self.settings = settings
        self.base_url = base_url
        self._auth = auth
        self._vendor_host = vendor_host
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._made: dict[str, Any] = {}
        self._closed = False

    def place(self, model: str = "") -> Place:
        """Whom a call asks, for error sentences."""
        return Place(self.settings, self.base_url, model)

    def client(self) -> httpx2.Client:
        """The HTTP client.

        Raises:
            ProviderError: key, proxy or CA file cannot be used, or the session is closed.
        """
        with self._lock:
            return self._open()

    def sdk(self, name: str, make: Callable[[httpx2.Client, str], _T]) -> _T:
        """The vendor's client on top of ours, made once; `make` may take seconds to import."""
        with self._lock:
            if name not in self._made:
                with heavy_import():
                    self._made[name] = make(self._open(), self._key())
            made: _T = self._made[name]
            return made

    @contextlib.contextmanager
    def call(
        self, timeout_s: float, stop_event: threading.Event | None = None, model: str = ""
    ) -> Iterator[Call]:
        """Everything inside ends at the deadline or on stop, and fails as ProviderError only."""
        if stop_event is not None and stop_event.is_set():
            raise ProviderError(ErrorKind.CANCELLED, "Stopped before it was asked.")
        with watched(timeout_s, stop_event) as call:
            try:
                yield call
            except ProviderError:
                raise
            except Exception as error:
                # The SDK's own error may hold the key or the prompt, and tracebacks are printed.
                raise from_exception(self.place(model), error, call) from None

    def get_json(self, url: str, timeout_s: float, *, params: Mapping[str, Any] | None = None) -> Any:
        """One GET with the connection's own headers; parsed JSON.

        Raises:
            ProviderError: anything but a JSON answer with a success status.
        """
        client = self.client()
        with self.call(timeout_s) as call:
            response = client.get(url, params=params)
            if response.status_code >= 300 or call.body:
                raise from_response(self.place(), response.status_code, response.headers, response.content)
            try:
                return response.json()
            except ValueError as error:
                raise bad_reply(self.place(), call, str(error)) from None

    def close(self) -> None:
        """Closes the client; safe to call twice."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
            self._made.clear()
        if client is not None:
            client.close()

    def _open(self) -> httpx2.Client:
        if self._closed:
            raise ProviderError(ErrorKind.CANCELLED, "The connection is closed.")
        if self._client is None:
            from providers.transport import build_client

            key = self._key()
            auth = self._auth(key) if key else {}
            self._client = build_client(
                self.settings, self.base_url, auth=auth, vendor_host=self._vendor_host
            )
        return self._client

    def _key(self) -> str:
        return clean_key(self.settings.api_key) if self.settings.api_key else ""


def need_package(module: str, package: str) -> None:
    """Says how to install an SDK that is missing, without importing it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise MissingExtraError(
            f"The package {package} is not installed, which this connection needs. "
            f"Install it with: python -m pip install {package}"
        )


def bearer(key: str) -> Mapping[str, str]:
    """The usual header of a key."""
    return {"Authorization": f"Bearer {key}"}


def outgoing_model(settings: ConnectionSettings, model: str) -> str:
    """The name that is sent: without a prefix that only routes, with the connection's own prefix."""
    for route in (settings.kind, "local"):
        rest = model.removeprefix(f"{route}/")
        if rest != model and (route != "openrouter" or "/" in rest):
            model = rest
            break
    prefix = settings.model_prefix
    return f"{prefix}{model}" if prefix and not model.startswith(prefix) else model


def read_model_list(body: Any) -> list[ModelInfo]:
    """The models of a listing in any of the shapes servers use; [] where none is recognised."""
    entries: Any = body
    if isinstance(body, Mapping):
        entries = body.get("data") if isinstance(body.get("data"), list) else body.get("models")
    found: dict[str, ModelInfo] = {}
    for entry in entries[:MODELS_LIMIT] if isinstance(entries, list) else ():
        if isinstance(entry, str):
            found.setdefault(entry, ModelInfo(entry))
        elif isinstance(entry, Mapping):
            name = next((entry[k] for k in ("id", "model", "name") if isinstance(entry.get(k), str)), None)
            if name:
                found.setdefault(name, ModelInfo(name, _title(entry), _context(entry)))
    return list(found.values())


def _title(entry: Mapping[str, Any]) -> str | None:
    for name in ("display_name", "displayName", "name"):
        if isinstance(entry.get(name), str):
            return str(entry[name])
    return None


def _context(entry: Mapping[str, Any]) -> int | None:
    for name in (
        "context_length",
        "max_model_len",
        "max_context_length",
        "context_window",
        "max_input_tokens",
    ):
        if isinstance(entry.get(name), int) and entry[name] > 0:
            return int(entry[name])
    return None


def elapsed_ms(began: float) -> float:
    """Milliseconds since a `time.perf_counter()` reading."""
    return (time.perf_counter() - began) * 1000

"""Asks a connection whether it works, with the key that would really be sent, and says so by code.

The one way from a connection of a project or of the settings to `providers.checkup`: for the
keys page, for `keys test` and for `doctor --probe`. Blocks for seconds; never on a GUI thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from providers.base import ConnectionSettings, ErrorKind, ModelInfo, ProviderError
from providers.checkup import Checkup, check
from providers.registry import canonical_kind

from engine.config.call_params import without_own
from engine.config.schema import Connection, ModelEntry
from engine.errors import UserError
from engine.hosts import base_url, endpoint_of
from engine.key_rules import Asked, KeyResult, resolve
from engine.keystore import KeyStore
from engine.redact import redact
from engine.trust import TrustBook

CHECK_TIMEOUT_S = 15.0
# Their list of models is public, so only a question shows whether the key is right.
_PUBLIC_LISTS = ("openrouter",)
_AWAY = (ErrorKind.CONNECT, ErrorKind.CONNECT_TIMEOUT, ErrorKind.TIMEOUT)
_CODES: Mapping[ErrorKind, str] = {
    ErrorKind.AUTH: "key_refused",
    ErrorKind.QUOTA: "no_credit",
    ErrorKind.RATE_LIMIT: "slow_down",
    ErrorKind.OVERLOADED: "service_down",
    ErrorKind.OFFLINE: "offline",
    ErrorKind.NOT_FOUND: "wrong_address",
    ErrorKind.BAD_REPLY: "wrong_address",
}


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """What a check found out.

    `code`: works; key_refused, no_credit, slow_down (the key was accepted), service_down, offline,
    not_reachable, not_running (nothing answers on this computer), wrong_address, failed; or why
    nothing was asked: missing, refused_host, needs_yes, locked, no_backend, refused, bad_base_url.
    `sent_key` tells whether a key went along; `proves_key` is False where a success says nothing
    about it. `detail` is the other side's
    own sentence without any key in it; `fix` what to do. `base_url` is the address that worked
    where it differs from the one asked for.
    """

    code: str
    host: str = ""
    detail: str = ""
    fix: str = ""
    models: tuple[ModelInfo, ...] = ()
    base_url: str | None = None
    sent_key: bool = False
    proves_key: bool = True
    question: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True where the other side answered as it should."""
        return self.code == "works"


@dataclass(slots=True)
class Pasted:
    """Stands in for the key store while a key is tried that is not kept yet."""

    key: str = field(repr=False)
    trust_book: TrustBook
    environ: Mapping[str, str] = field(default_factory=dict)

    def read_kept(self, connection_id: str, host: str, interactive: bool = False) -> tuple[str | None, str]:
        """The pasted key, whoever asks: it is meant for exactly this try."""
        return self.key, "session"

    def kept_hosts(self, connection_id: str) -> tuple[str, ...]:
        """None: nothing is kept."""
        return ()


def check_connection(
    keystore: KeyStore, asked: Asked, *, pasted: str | None = None, timeout_s: float = CHECK_TIMEOUT_S
) -> ConnectionCheck:
    """Asks for the list of models: free everywhere. Never raises for anything a connection can hold.

    Args:
        asked: the connection, and what decides which key it may have.
        pasted: a key to try instead of the kept one; it goes only where a kept one would go.
    """
    connection, entry = asked.connection, asked.entry
    try:
        host = endpoint_of(connection, entry).host
    except UserError as error:
        return ConnectionCheck("bad_base_url", detail=error.message, fix=error.hint)
    more = {"trust": asked.trust, "root": asked.root, "code_trusted": asked.code_trusted}
    if pasted is not None:
        result = resolve(Pasted(pasted, keystore.trust_book), asked)
    else:
        result = keystore.resolve(connection, entry, **more, interactive=asked.interactive)  # type: ignore[arg-type]
    if not result.usable:
        return _without_key(result, host)
    headers, missing = keystore.resolve_headers(connection, entry, **more)  # type: ignore[arg-type]
    if missing is not None:
        return _without_key(missing, host)
    settings = settings_for(connection, entry, result.value, headers)
    found = check_settings(settings, host, (*keystore.known_values(), pasted or ""), timeout_s)
    return replace(found, sent_key=result.value is not None and result.source != "config")


def settings_for(
    connection: Connection,
    entry: ModelEntry | None = None,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> ConnectionSettings:
    """What a connector is built from. `headers` are the connection's own with their references filled in."""
    return ConnectionSettings(
        id=connection.id,
        kind=canonical_kind(connection.kind) or connection.kind,
        base_url=base_url(connection, entry),
        api_key=key,
        headers=dict(headers or {}),
        proxy=connection.proxy,
        verify_tls=connection.verify_tls,
        model_prefix=connection.model_prefix,
        params=without_own(connection.params),
        width=1,
    )


def check_settings(
    settings: ConnectionSettings, host: str, secrets: tuple[str, ...], timeout_s: float
) -> ConnectionCheck:
    """The check itself, for settings that hold their key."""
    public = settings.kind in _PUBLIC_LISTS and bool(settings.api_key)
    try:
        found = check(settings, timeout_s=timeout_s)
        if found.ok and public:
            return _tried_with_a_question(settings, host, found, secrets, timeout_s)
    except ProviderError as error:
        # A connector that cannot be built at all.
        found = Checkup(False, error.message, error=error)
    return _as_check(found, host, secrets)


def _tried_with_a_question(
    settings: ConnectionSettings, host: str, listed: Checkup, secrets: tuple[str, ...], timeout_s: float
) -> ConnectionCheck:
    """One word from a model that costs nothing; without such a model the key stays unproved."""
    free = next((model.id for model in listed.models if model.id.endswith(":free")), None)
    if free is None:
        return ConnectionCheck("works", host, models=listed.models, proves_key=False)
    asked = check(settings, free, timeout_s)
    code = _code(asked, host)
    if code in ("works", "slow_down"):
        return ConnectionCheck("works", host, models=listed.models)
    if code in ("key_refused", "no_credit"):
        return _as_check(asked, host, secrets)
    return ConnectionCheck("works", host, models=listed.models, proves_key=False)


def _as_check(found: Checkup, host: str, secrets: tuple[str, ...]) -> ConnectionCheck:
    detail = "" if found.ok else redact(found.sentence, secrets)
    return ConnectionCheck(_code(found, host), host, detail, models=found.models, base_url=found.base_url)


def _code(found: Checkup, host: str) -> str:
    if found.ok:
        return "works"
    if found.error is None:
        return "failed"
    kind = found.error.kind
    if kind in _AWAY:
        local = host.startswith(("localhost", "127.", "[::1]"))
        return "not_running" if local else "not_reachable"
    return _CODES.get(kind, "failed")


def _without_key(result: KeyResult, host: str) -> ConnectionCheck:
    return ConnectionCheck(result.code, host, result.reason, result.fix, question=result.question)

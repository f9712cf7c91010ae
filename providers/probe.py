"""What can be known about a connection before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from providers.addresses import is_loopback, normalise_base_url
from providers.base import ConnectionSettings, ErrorKind, MissingExtraError, ProviderError
from providers.registry import KINDS, KindInfo, canonical_kind, create
from providers.session import need_package, outgoing_model

Finding = tuple[str, str, str]

_PACKAGES = {
    "anthropic": ("anthropic", "anthropic"),
    "gemini": ("google.genai", "google-genai"),
}
_NO_PACKAGE = frozenset({"mock", "callable", "builtin", "litellm"})
# Only for these does the server's own list decide what can be asked.
_LIST_DECIDES = frozenset({"ollama", "lmstudio", "llamacpp"})
_SHOWN = 6
_DOWN = (ErrorKind.CONNECT, ErrorKind.CONNECT_TIMEOUT, ErrorKind.OFFLINE, ErrorKind.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Probe:
    """`skips`: per model None or (code, reason, fix). `warnings`: per model a sentence.

    `served` is what the server lists, None where it was not asked or does not tell.
    """

    skips: Mapping[str, Finding | None]
    warnings: Mapping[str, str] = field(default_factory=dict)
    served: tuple[str, ...] | None = None


def probe(settings: ConnectionSettings, models: Sequence[str], timeout_s: float) -> Probe:
    """Looks at one connection without spending anything. Never raises ProviderError."""
    info = KINDS.get(canonical_kind(settings.kind) or "")
    if found := _cannot_be_built(settings, info):
        return Probe(dict.fromkeys(models, found))
    if info is None or info.kind in ("mock", "callable"):
        return Probe(dict.fromkeys(models))
    if info.kind == "builtin":
        return Probe({model: _builtin(model) for model in models})
    if not (info.local or _on_this_computer(settings, info)):
        return Probe(dict.fromkeys(models))
    return _ask_server(settings, info, models, timeout_s)


def _cannot_be_built(settings: ConnectionSettings, info: KindInfo | None) -> Finding | None:
    try:
        if info is not None and info.kind not in _NO_PACKAGE:
            need_package(*_PACKAGES.get(info.kind, ("openai", "openai")))
        create(settings).close()
    except MissingExtraError as error:
        return "extra_missing", error.message, "Install the package, then try again."
    except ProviderError as error:
        return "not_built", error.message, f"Correct the connection {settings.id!r} in the project."
    return None


def _builtin(name: str) -> Finding | None:
    from providers.builtin import missing_part
    from providers.weights import BUILTIN_MODELS, builtin_model

    if builtin_model(name) is None:
        known = ", ".join(BUILTIN_MODELS)
        return "not_served", f"There is no demonstration model {name!r}.", f"Choose one of: {known}."
    missing = missing_part(name)
    if missing is None:
        return None
    reason, _, fix = missing.message.partition(". ")
    return "extra_missing", f"{reason}.", fix


def _on_this_computer(settings: ConnectionSettings, info: KindInfo) -> bool:
    address = settings.base_url or info.default_base_url
    return bool(address) and is_loopback(urlsplit(normalise_base_url(address or "")).hostname or "")


def _ask_server(
    settings: ConnectionSettings, info: KindInfo, models: Sequence[str], timeout_s: float
) -> Probe:
    provider = create(settings)
    try:
        served = tuple(model.id for model in provider.list_models(timeout_s))
    except ProviderError as error:
        down = error.kind in _DOWN
        return Probe(
            dict.fromkeys(models, ("not_reachable", error.message, _start_hint(info)) if down else None)
        )
    finally:
        provider.close()
    missing = [
        model for model in models if served and not _is_served(outgoing_model(settings, model), served)
    ]
    if info.kind in _LIST_DECIDES:
        return Probe(
            {m: _not_served(info, m, served) if m in missing else None for m in models}, served=served
        )
    warnings = {model: _not_served(info, model, served)[1] for model in missing}
    return Probe(dict.fromkeys(models), warnings, served)


def _is_served(model: str, served: Sequence[str]) -> bool:
    wanted = _stem(model)
    return any(name == model or name.startswith(f"{model}:") or _stem(name) == wanted for name in served)


def _stem(name: str) -> str:
    """A file's own name: llama.cpp lists the path of its weights."""
    return name.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gguf")


def _not_served(info: KindInfo, model: str, served: Sequence[str]) -> Finding:
    shown = ", ".join(served[:_SHOWN]) + (" and more" if len(served) > _SHOWN else "")
    fix = {
        "ollama": f"Download it with: ollama pull {model}",
        "lmstudio": "Download or load it in LM Studio.",
    }.get(info.kind, "Start the server with this model, or name one it serves.")
    return "not_served", f"{info.title} does not serve {model!r}. It serves: {shown}.", fix


def _start_hint(info: KindInfo) -> str:
    return {
        "ollama": "Start Ollama, or run: ollama serve",
        "lmstudio": "Start the server in LM Studio's developer page.",
        "llamacpp": "Start llama-server.",
    }.get(info.kind, "Start the server, or correct base_url.")

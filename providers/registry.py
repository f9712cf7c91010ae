"""Which kinds of connection exist, which one a model name means, and how one is built.

Imports no SDK: a connector's module is loaded when it is created, its SDK at its first call.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from providers.base import ConnectionSettings, ErrorKind, Provider, ProviderError
from providers.weights import BUILTIN_NAMES

LOCAL_ALLOWANCE_S = 120.0
OLLAMA_URL = "http://localhost:11434/v1"


@dataclass(frozen=True, slots=True)
class KindInfo:
    """Facts about one kind. `host` is the vendor's own host, the only one its variables go to.

    `local` marks servers on this computer that answer one question at a time;
    `first_call_allowance_s` is what loading a model may take on top of a call's timeout.
    `built` False = known from other projects' files but not available here. `embeds` False = no
    model of this kind makes embeddings.
    """

    kind: str
    aliases: tuple[str, ...] = ()
    needs_key: bool = False
    local: bool = False
    default_base_url: str | None = None
    key_env: tuple[str, ...] = ()
    host: str | None = None
    title: str = ""
    first_call_allowance_s: float = 0.0
    built: bool = True
    embeds: bool = True


_KINDS = (
    KindInfo(
        "anthropic",
        needs_key=True,
        default_base_url="https://api.anthropic.com",
        key_env=("ANTHROPIC_API_KEY",),
        host="api.anthropic.com",
        title="Anthropic",
        embeds=False,
    ),
    KindInfo(
        "openai",
        needs_key=True,
        default_base_url="https://api.openai.com/v1",
        key_env=("OPENAI_API_KEY",),
        host="api.openai.com",
        title="OpenAI",
    ),
    KindInfo(
        "gemini",
        aliases=("google",),
        needs_key=True,
        default_base_url="https://generativelanguage.googleapis.com",
        key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        host="generativelanguage.googleapis.com",
        title="Google Gemini",
    ),
    KindInfo(
        "openai_compatible",
        aliases=("local",),
        default_base_url=OLLAMA_URL,
        title="OpenAI-compatible server",
    ),
    KindInfo(
        "ollama",
        local=True,
        default_base_url=OLLAMA_URL,
        title="Ollama",
        first_call_allowance_s=LOCAL_ALLOWANCE_S,
    ),
    KindInfo(
        "lmstudio",
        local=True,
        default_base_url="http://localhost:1234/v1",
        title="LM Studio",
        first_call_allowance_s=LOCAL_ALLOWANCE_S,
    ),
    KindInfo("vllm", default_base_url="http://localhost:8000/v1", title="vLLM"),
    KindInfo(
        "llamacpp",
        local=True,
        default_base_url="http://localhost:8080/v1",
        title="llama.cpp",
        first_call_allowance_s=LOCAL_ALLOWANCE_S,
    ),
    KindInfo(
        "openrouter",
        needs_key=True,
        default_base_url="https://openrouter.ai/api/v1",
        key_env=("OPENROUTER_API_KEY",),
        host="openrouter.ai",
        title="OpenRouter",
    ),
    KindInfo(
        "groq",
        needs_key=True,
        default_base_url="https://api.groq.com/openai/v1",
        key_env=("GROQ_API_KEY",),
        host="api.groq.com",
        title="Groq",
    ),
    KindInfo(
        "builtin",
        local=True,
        title="Small demonstration models",
        first_call_allowance_s=LOCAL_ALLOWANCE_S,
    ),
    KindInfo("mock", title="Practice"),
    KindInfo("callable", aliases=("pipeline",), title="Own code", embeds=False),
    KindInfo("litellm", title="LiteLLM", built=False, embeds=False),
)

KINDS: Mapping[str, KindInfo] = MappingProxyType({info.kind: info for info in _KINDS})
_NAMES = {name: info.kind for info in _KINDS for name in (info.kind, *info.aliases)}

_CONNECTORS = {
    "anthropic": ("providers.anthropic", "AnthropicProvider"),
    "openai": ("providers.openai", "OpenAIProvider"),
    "gemini": ("providers.gemini", "GeminiProvider"),
    "builtin": ("providers.builtin", "BuiltinProvider"),
    "mock": ("providers.mock", "MockProvider"),
    "callable": ("providers.callable", "CallableProvider"),
}
_COMPATIBLE = ("providers.compatible", "CompatibleProvider")

# Reference A12, first match wins; names without a server prefix mean Ollama, whose usual
# address is the default one.
_PREFIXES: tuple[tuple[str, str], ...] = (
    (r"claude[-.]|anthropic\.", "anthropic"),
    (r"gpt[-.]|o[134]-|o[134]$|chatgpt|text-davinci|text-embedding-", "openai"),
    (r"gemini-|models/gemini", "gemini"),
    (r"mock-|mock:|mock$", "mock"),
    (r"ollama/|local/", "ollama"),
    (r"(lmstudio|llamacpp|vllm|openrouter|groq)/", ""),
    (r"llama|qwen|mistral|mixtral|phi|gemma|deepseek|codellama", "ollama"),
    (r"nomic-embed|mxbai-embed|embeddinggemma|snowflake-arctic-embed|all-minilm|bge-", "ollama"),
    (r".*/", "litellm"),
)


def canonical_kind(name: str) -> str | None:
    """The kind a config's `kind` or alias means; None where nobody knows it."""
    return _NAMES.get(name.strip().lower())


def infer_kind(model_id: str) -> str | None:
    """The kind a model id means by its name alone; None where the name tells nothing."""
    name = model_id.strip().lower()
    if name in BUILTIN_NAMES:
        return "builtin"
    for pattern, kind in _PREFIXES:
        if match := re.match(pattern, name):
            return kind or match.group(1)
    return None


def create(settings: ConnectionSettings) -> Provider:
    """Builds the connector of a connection. Opens nothing and imports no SDK.

    Raises:
        ProviderError: the kind is unknown or not available, or a setting cannot be used.
    """
    kind = canonical_kind(settings.kind)
    if kind is None:
        known = ", ".join(info.kind for info in _KINDS if info.built)
        raise ProviderError(
            ErrorKind.BAD_REQUEST,
            f"The connection {settings.id!r} has the unknown kind {settings.kind!r}. Use one of: {known}.",
        )
    if not KINDS[kind].built:
        raise ProviderError(
            ErrorKind.BAD_REQUEST,
            f"{KINDS[kind].title} is not built into this program. Name the vendor's own kind, or "
            "openai_compatible with the address of a server.",
        )
    module, name = _CONNECTORS.get(kind, _COMPATIBLE)
    provider: Provider = getattr(importlib.import_module(module), name)(settings)
    return provider


def preflight(
    settings: ConnectionSettings, models: Sequence[str], timeout_s: float
) -> Mapping[str, tuple[str, str, str] | None]:
    """Looks, without spending anything, whether the models of one connection can be asked.

    Returns per model None, or (code, reason, fix) with a code of `SkippedModel`. Never raises.
    """
    from providers.probe import probe

    return probe(settings, models, timeout_s).skips

"""What the AI services are, for people who have never seen an access key: who, where, what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from providers.registry import KINDS, canonical_kind


def _tr(text: str) -> str:
    return QCoreApplication.translate("Connections", text)


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """What a card says about a service. `starts` is how its keys usually begin; addresses may be empty."""

    what: str
    steps: tuple[str, ...] = ()
    key_page: str = ""
    billing_page: str = ""
    starts: str = ""


def service_title(kind: str, fallback: str = "") -> str:
    """The name of a kind of service as people know it."""
    titles = {"gemini": _tr("Google"), "openai_compatible": _tr("Other service")}
    name = canonical_kind(kind) or kind
    info = KINDS.get(name)
    return titles.get(name) or fallback or (info.title if info else kind)


def service_facts(kind: str, host: str = "") -> ServiceFacts:
    """The facts of a service by its kind; those of a server of the person's own otherwise."""
    facts = _vendors().get(canonical_kind(kind) or kind)
    return facts or _others().get(host) or _own(host)


def _vendors() -> dict[str, ServiceFacts]:
    return {
        "anthropic": ServiceFacts(
            _tr("Anthropic makes the Claude models. You pay for what you ask, apart from any Claude plan."),
            (
                _tr("Sign in to your Anthropic account, or make one."),
                _tr("Choose API keys, then Create key."),
                _tr("Copy it and paste it above."),
            ),
            "https://platform.claude.com/settings/keys",
            "https://platform.claude.com/settings/billing",
            "sk-ant-",
        ),
        "openai": ServiceFacts(
            _tr("OpenAI makes the GPT models. You pay for what you ask, apart from any ChatGPT plan."),
            (
                _tr("Sign in to your OpenAI account, or make one."),
                _tr("Choose API keys, then Create new key."),
                _tr("Copy it and paste it above."),
            ),
            "https://platform.openai.com/api-keys",
            "https://platform.openai.com/settings/organization/billing",
            "sk-",
        ),
        "gemini": ServiceFacts(
            _tr("Google makes the Gemini models. A small amount is free, then you pay for what you ask."),
            (
                _tr("Sign in to Google AI Studio with your Google account."),
                _tr("Choose Get API key, then Create API key."),
                _tr("Copy it and paste it above."),
            ),
            "https://aistudio.google.com/apikey",
            "https://aistudio.google.com/usage",
            "AIza",
        ),
        "openrouter": ServiceFacts(
            _tr("OpenRouter passes questions on to many services. One key and one bill for all of them."),
            (
                _tr("Sign in to OpenRouter, or make an account."),
                _tr("Choose Keys, then Create key."),
                _tr("Copy it and paste it above."),
            ),
            "https://openrouter.ai/settings/keys",
            "https://openrouter.ai/settings/credits",
            "sk-or-",
        ),
        "groq": ServiceFacts(
            _tr("Groq runs open models very fast. A small amount is free, then you pay for what you ask."),
            (
                _tr("Sign in to the Groq console, or make an account."),
                _tr("Choose API Keys, then Create API key."),
                _tr("Copy it and paste it above."),
            ),
            "https://console.groq.com/keys",
            "https://console.groq.com/settings/billing",
            "gsk_",
        ),
    }


def _others() -> dict[str, ServiceFacts]:
    """Services that are reached by address, by their host."""
    pages = {
        "api.mistral.ai": ("Mistral", "https://console.mistral.ai/api-keys"),
        "api.deepseek.com": ("DeepSeek", "https://platform.deepseek.com/api_keys"),
        "api.x.ai": ("xAI", "https://console.x.ai"),
        "api.together.xyz": ("Together", "https://api.together.ai/settings/api-keys"),
    }
    found = {}
    for host, (name, page) in pages.items():
        steps = (
            _tr("Sign in to your {service} account, or make one.").format(service=name),
            _tr("Look for API keys and make a new one."),
            _tr("Copy it and paste it above."),
        )
        what = _tr("An AI service. You pay {service} for what you ask.").format(service=name)
        found[host] = ServiceFacts(what, steps, page)
    return found


def _own(host: str) -> ServiceFacts:
    if host.startswith(("localhost", "127.", "[::1]")):
        return ServiceFacts(
            _tr("A server on this computer. What you ask stays here, and it usually needs no key.")
        )
    return ServiceFacts(
        _tr("A server that speaks like OpenAI's. Ask the person who runs it whether it needs a key.")
    )


def how_to_start(kind: str) -> str:
    """How a server on this computer is started."""
    words = {
        "ollama": _tr("Open the Ollama app, or type “ollama serve” in a terminal."),
        "lmstudio": _tr("Open LM Studio, choose Developer, and switch the server on."),
        "llamacpp": _tr("Start llama-server with a model in a terminal."),
    }
    return words.get(canonical_kind(kind) or kind, _tr("Start the server, then check again."))

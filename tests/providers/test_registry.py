"""Which kind a name means, and that finding out costs nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from providers import registry, session
from providers.base import ConnectionSettings, ErrorKind, MissingExtraError, ProviderError

BUILT = [info.kind for info in registry.KINDS.values() if info.built]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("google", "gemini"),
        ("local", "openai_compatible"),
        ("pipeline", "callable"),
        (" OpenAI ", "openai"),
        ("vllm", "vllm"),
        ("litellm", "litellm"),
        ("acme", None),
    ],
)
def test_canonical_kind(name: str, kind: str | None) -> None:
    assert registry.canonical_kind(name) == kind


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("claude-sonnet-5", "anthropic"),
        ("anthropic.claude-v2", "anthropic"),
        ("gpt-5", "openai"),
        ("GPT-4o", "openai"),
        ("o3-mini", "openai"),
        ("o3", "openai"),
        ("chatgpt-4o-latest", "openai"),
        ("gemini-3-pro", "gemini"),
        ("models/gemini-3-pro", "gemini"),
        ("mock", "mock"),
        ("mock:flaky", "mock"),
        ("mock-small", "mock"),
        ("mocking", None),
        ("ollama/llama3", "ollama"),
        ("lmstudio/qwen", "lmstudio"),
        ("vllm/x", "vllm"),
        ("llama3.2:1b", "ollama"),
        ("qwen2.5", "ollama"),
        ("gemma3:270m", "ollama"),
        ("smollm2-135m", "builtin"),
        ("smollm2", "builtin"),
        ("gemma3-270m", "builtin"),
        ("openrouter/anthropic/claude", "openrouter"),
        ("vendor/model", "litellm"),
        ("unknown", None),
        ("", None),
    ],
)
def test_infer_kind(model: str, kind: str | None) -> None:
    assert registry.infer_kind(model) == kind


@pytest.mark.parametrize("kind", BUILT)
def test_every_kind_is_built_without_its_sdk(kind: str) -> None:
    provider = registry.create(ConnectionSettings("c", kind, api_key="sk-test-0001"))
    provider.close()
    provider.close()


def test_facts_of_kinds() -> None:
    assert registry.KINDS["openai"].host == "api.openai.com"
    assert registry.KINDS["gemini"].key_env == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert registry.KINDS["ollama"].local
    assert registry.KINDS["ollama"].first_call_allowance_s == 120
    assert not registry.KINDS["mock"].needs_key
    assert not registry.KINDS["litellm"].built


@pytest.mark.parametrize(("kind", "words"), [("acme", "'acme'.*openai_compatible"), ("litellm", "not built")])
def test_what_cannot_be_built_says_so(kind: str, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        registry.create(ConnectionSettings("c", kind))
    assert caught.value.kind is ErrorKind.BAD_REQUEST


def test_a_missing_package_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"python -m pip install anthropic"):
        session.need_package("anthropic", "anthropic")


def test_building_every_kind_imports_no_sdk_and_no_qt() -> None:
    code = f"""
import sys
import providers
from providers import registry, probe, checkup
from providers.base import ConnectionSettings
for kind in {BUILT!r}:
    registry.create(ConnectionSettings("c", kind, api_key="sk-test-0001")).close()
registry.infer_kind("gpt-5")
heavy = ("openai", "anthropic", "google", "httpx2", "numpy", "pydantic", "xllamacpp", "PySide6", "engine")
print([name for name in heavy if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

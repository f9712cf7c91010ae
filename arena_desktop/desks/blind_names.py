"""Covers names by which an answer gives away whose it is, for judging it blind. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from engine.storage.records import RunModel

_SPOKEN = {
    "claude": ("claude", "anthropic"),
    "gpt": ("gpt", "chatgpt", "openai"),
    "chatgpt": ("gpt", "chatgpt", "openai"),
    "gemini": ("gemini", "google deepmind"),
    "gemma": ("gemma", "google deepmind"),
    "qwen": ("qwen", "tongyi qianwen"),
    "deepseek": ("deepseek",),
    "mistral": ("mistral", "mistral ai"),
    "mixtral": ("mixtral", "mistral ai"),
    "grok": ("grok", "xai"),
    "kimi": ("kimi", "moonshot ai"),
}
"""What models call themselves and their makers, by the first word of their ids. Names that are plain
words as well are left out: covering them would spoil answers that mean the word."""

_TAIL = r"(?:[-\s]?(?:v?\d[\w.]*|sonnet|opus|haiku|turbo|mini|nano|pro|flash|ultra|large|small|medium)\b)*"


def telling_names(models: Iterable[RunModel]) -> tuple[str, ...]:
    """Patterns of the names that tell a compared model, the longest first.

    A key or label of one plain word is none: nobody but the person knows it, and it may be a word.
    """
    found: set[str] = set()
    for model in models:
        last = model.model.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
        for name in (model.key, model.label, model.model, last):
            if len(name) > 3 and re.search(r"[\d\s_/.:-]", name.strip()):
                found.add(re.escape(name.strip()))
        word = re.match(r"[a-z]+", last.lower())
        if word is not None:
            found |= {re.escape(name) + _TAIL for name in _SPOKEN.get(word[0], ())}
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


def covered(text: str, names: Sequence[str], cover: str) -> str:
    """The text with `cover` in place of each name, as whole words in any case."""
    if not names:
        return text
    return re.sub(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", lambda _found: cover, text, flags=re.IGNORECASE)

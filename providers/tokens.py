"""Token estimates for peers that report none."""

from __future__ import annotations

from collections.abc import Iterable

from providers.base import Message, Request, Usage


def estimate_tokens(text: str) -> int:
    """A quarter of the characters, at least 1; 0 for empty text (reference rule A12)."""
    return max(1, len(text) // 4) if text else 0


def prompt_text(messages: Iterable[Message], system: str | None) -> str:
    """All that is sent, joined; only good for counting."""
    return "\n".join(([system] if system else []) + [message.content for message in messages])


def estimated_usage(request: Request, answer: str) -> Usage:
    """Usage marked as ours, for a reply that came without one."""
    return Usage(
        input=estimate_tokens(prompt_text(request.messages, request.system)),
        output=estimate_tokens(answer),
        estimated=True,
    )

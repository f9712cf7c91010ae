"""Reads chat completions as OpenAI and the servers that imitate it write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from providers.base import MOST_USD, ErrorKind, Finish, ProviderError, Request, Usage
from providers.faults import Place, from_response
from providers.tokens import estimate_tokens, estimated_usage, prompt_text

Note = tuple[str, Mapping[str, Any]]
_TEXT_PARTS = ("text", "output_text")
_THINKING_PARTS = ("thinking", "reasoning")
# A prompt of this length whose tokens are counted at fewer than one per 8 characters was cut:
# no common tokenizer packs prose that tightly.
_CUT_MIN_CHARS = 4000
_CUT_CHARS_PER_TOKEN = 8


@dataclass(slots=True)
class Collected:
    """One answer as it came in, whole or in pieces."""

    text: str = ""
    refusal: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    model: str | None = None
    request_id: str | None = None
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    notes: list[Note] = field(default_factory=list)
    choices_seen: bool = False


def read_body(body: Any, place: Place, headers: Mapping[str, str]) -> Collected:
    """A complete answer.

    Raises:
        ProviderError: the success holds an error, or nothing that can be read.
    """
    if isinstance(body, Mapping) and body.get("error") and not body.get("choices"):
        raise error_in_success(place, headers, body)
    if not isinstance(body, Mapping) or not isinstance(body.get("choices"), list) or not body["choices"]:
        raise ProviderError(
            ErrorKind.BAD_REPLY,
            place.clean(f"The reply holds no answer: {str(body)[:200]}"),
            status=200,
            code="unreadable",
        )
    into = Collected()
    add_chunk(into, body, message_name="message")
    return into


def add_chunk(into: Collected, chunk: Mapping[str, Any], message_name: str = "delta") -> bool:
    """Adds a whole reply or one piece of a stream; True where visible text came with it."""
    into.model = _str(chunk.get("model")) or into.model
    into.request_id = _str(chunk.get("id")) or into.request_id
    usage = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage")
    if isinstance(usage, Mapping):
        into.usage = read_usage(usage) or into.usage
        into.cost_usd = _money(usage.get("cost")) or into.cost_usd
    before = len(into.text)
    choices = chunk.get("choices")
    for choice in choices[:1] if isinstance(choices, list) else ():
        if not isinstance(choice, Mapping):
            continue
        into.choices_seen = True
        into.finish_reason = _str(choice.get("finish_reason")) or into.finish_reason
        message = choice.get(message_name)
        _add_message(into, message if isinstance(message, Mapping) else {"content": choice.get("text")})
        if isinstance(choice.get("error"), Mapping):
            into.finish_reason = "error"
    return len(into.text) > before


def _add_message(into: Collected, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    if isinstance(content, str):
        into.text += content
    elif isinstance(content, list):
        into.text += "".join(_part_texts(content, _TEXT_PARTS))
        into.reasoning += "".join(_part_texts(content, _THINKING_PARTS))
    into.refusal += _str(message.get("refusal")) or ""
    into.reasoning += _str(message.get("reasoning_content")) or _str(message.get("reasoning")) or ""


def _part_texts(parts: list[Any], kinds: tuple[str, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str) and kinds is _TEXT_PARTS:
            yield part
        elif isinstance(part, Mapping) and part.get("type") in kinds:
            value = part.get("text") or part.get("thinking") or part.get("reasoning")
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                yield from _part_texts(value, _TEXT_PARTS)


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Usage in this package's meaning; None where the server reports nothing but zeros."""
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if not prompt and not completion:
        return None
    inside = usage.get("prompt_tokens_details") or {}
    outside = usage.get("completion_tokens_details") or {}
    cached = _count(inside.get("cached_tokens")) if isinstance(inside, Mapping) else None
    reasoning = _count(outside.get("reasoning_tokens")) if isinstance(outside, Mapping) else None
    total = _count(usage.get("total_tokens"))
    output = completion
    # Some servers leave reasoning out of completion_tokens; only the total shows it.
    if (
        reasoning
        and prompt is not None
        and completion is not None
        and total == prompt + completion + reasoning
    ):
        output = completion + reasoning
    return Usage(
        input=prompt,
        output=output,
        cache_read=cached if cached is not None else _count(usage.get("prompt_cache_hit_tokens")),
        reasoning=reasoning,
    )


def finish_of(got: Collected, place: Place) -> Finish:
    """How an answer ended; adds notes.

    Raises:
        ProviderError: the service blocked it, or the stream ended with an error.
    """
    if got.finish_reason == "content_filter":
        raise ProviderError(
            ErrorKind.BLOCKED,
            "The service blocked the answer by its content filter.",
            status=200,
            should_retry=False,
            request_id=got.request_id,
            usage=got.usage,
            code="blocked",
        )
    if got.finish_reason == "error":
        raise ProviderError(
            ErrorKind.UNKNOWN, "The service broke off with an error.", usage=got.usage, code="connection_cut"
        )
    if got.refusal.strip():
        return Finish.REFUSED
    if not got.text.strip():
        got.notes.append(_why_empty(got))
        return Finish.EMPTY
    return Finish.LENGTH if got.finish_reason in ("length", "max_tokens") else Finish.COMPLETE


def _why_empty(got: Collected) -> Note:
    if got.finish_reason in ("length", "max_tokens"):
        return ("tokens_used_up_thinking", {})
    if got.reasoning.strip():
        return ("only_reasoning", {})
    return ("empty_answer", {"finish_reason": got.finish_reason})


def settle_usage(got: Collected, request: Request) -> Usage:
    """The reported usage, or an estimate that says so; notes a prompt that was cut."""
    if got.usage is None or got.usage.input is None or got.usage.output is None:
        got.notes.append(("usage_estimated", {}))
        ours = estimated_usage(request, got.text + got.reasoning)
        reported = got.usage or Usage()
        return Usage(
            input=ours.input if reported.input is None else reported.input,
            output=ours.output if reported.output is None else reported.output,
            cache_read=reported.cache_read,
            reasoning=reported.reasoning,
            estimated=True,
        )
    sent = prompt_text(request.messages, request.system)
    if len(sent) > _CUT_MIN_CHARS and got.usage.input * _CUT_CHARS_PER_TOKEN < len(sent):
        got.notes.append(("prompt_cut", {"counted": got.usage.input, "expected": estimate_tokens(sent)}))
    return got.usage


def model_note(asked: str, answered: str | None) -> list[Note]:
    """A note where another model answered than was asked; dated names of the same model are none."""
    if not answered:
        return []
    left, right = _plain(asked), _plain(answered)
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    same = longer == shorter or bool(
        longer.startswith(shorter) and _VARIANT.fullmatch(longer[len(shorter) :])
    )
    return [] if same else [("model_differs", {"asked": asked, "answered": answered})]


def error_in_success(place: Place, headers: Mapping[str, str], body: Mapping[str, Any]) -> ProviderError:
    """The error a body with a success status holds; its own code is taken as the status."""
    return from_response(place, status_inside(body), headers, body)


# What a service may add to the name of one and the same model: dates, releases, quantisation.
_VARIANT = re.compile(r"(-(\d+|latest|preview|instruct|it|chat|exp|gguf|free|fp\d+|bf16|q\d\w*|k|[kms]))+")

_TYPES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def status_inside(body: Mapping[str, Any]) -> int:
    """The HTTP status an error object means; 200, that of its reply, where it tells none."""
    inner = body.get("error")
    error = inner if isinstance(inner, Mapping) else body
    code = error.get("code")
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    if isinstance(code, int) and 400 <= code <= 599:
        return code
    return _TYPES.get(str(error.get("type")), 200)


def _plain(model: str) -> str:
    name = model.strip().lower().rstrip("/").rpartition("/")[2]
    name = re.sub(r"(:latest|:free|\.gguf)$", "", name)
    return re.sub(r"[-_.:@ ]+", "-", name)


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _money(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= MOST_USD else None

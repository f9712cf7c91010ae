"""Anthropic's messages, through its own SDK."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from providers import answer_form
from providers.addresses import split_address
from providers.base import (
    ConnectionSettings,
    ErrorKind,
    Finish,
    ModelInfo,
    ProviderError,
    Reply,
    Request,
    Usage,
)
from providers.chat import Note, error_in_success, model_note
from providers.faults import bad_reply, from_exception, request_id
from providers.limits import read_limits
from providers.quirks import Quirks, Refused
from providers.refusals import read_refusal
from providers.session import Session, bearer, elapsed_ms, need_package, outgoing_model, read_model_list
from providers.tokens import estimated_usage
from providers.watchdog import Call

if TYPE_CHECKING:
    import httpx2

    import anthropic

BASE_URL = "https://api.anthropic.com"
HOST = "api.anthropic.com"
DEFAULT_MAX_TOKENS = 1024
STREAM_ABOVE_TOKENS = 16_000
_MAX_TOKENS = ("max_tokens", "model_context_window_exceeded")


@dataclass(slots=True)
class _Message:
    """One answer as it came in, whole or in events."""

    text: str = ""
    reasoning: str = ""
    stop_reason: str = ""
    model: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    first_ms: float | None = None


class AnthropicProvider:
    """One Anthropic connection. Thread-safe."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self.settings = settings
        parts = split_address(settings.base_url or BASE_URL)
        path = parts.path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
        self.session = Session(settings, f"{parts.scheme}://{parts.netloc}{path}", bearer, HOST)
        self._quirks = Quirks()

    def complete(self, request: Request) -> Reply:
        """Asks once; streams long outputs; a parameter the model refuses is left out and said."""
        need_package("anthropic", "anthropic")
        sdk = self.session.sdk("anthropic", self._make_sdk)
        model = outgoing_model(self.settings, request.model)

        def ask(sent: dict[str, Any], notes: list[Note], timeout_s: float) -> Reply | Refused:
            return self._ask(sdk, request, sent, notes, timeout_s)

        return self._quirks.ask(model, self._body(request, model), request.timeout_s, ask)

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """The models this key may use."""
        url = f"{self.session.base_url}/v1/models"
        return read_model_list(self.session.get_json(url, timeout_s, params={"limit": 1000}))

    def close(self) -> None:
        """Ends the client."""
        self.session.close()

    def _make_sdk(self, client: httpx2.Client, key: str) -> anthropic.Anthropic:
        import anthropic

        return anthropic.Anthropic(
            api_key=key or "none",
            base_url=self.session.base_url,
            http_client=client,
            max_retries=0,
            timeout=None,
            default_headers={"anthropic-version": "2023-06-01"},
        )

    def _body(self, request: Request, model: str) -> dict[str, Any]:
        params = {**self.settings.params, **request.params}
        inside = [m.content for m in request.messages if m.role == "system"]
        system = "\n\n".join(([request.system] if request.system else []) + inside)
        body: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": m.role, "content": m.content} for m in request.messages if m.role != "system"
            ],
            "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
        }
        if system:
            body["system"] = system
        if request.temperature is not None and params.get("send_temperature") is not False:
            body["temperature"] = request.temperature
        stream = params.pop("stream", None) is True
        params.pop("send_temperature", None)
        body.update(params)
        if request.answer_schema is not None:
            answer_form.ask_anthropic(body, request.answer_schema)
        if stream or body["max_tokens"] > STREAM_ABOVE_TOKENS:
            body["stream"] = True
        return body

    def _ask(
        self,
        sdk: anthropic.Anthropic,
        request: Request,
        sent: dict[str, Any],
        notes: list[Note],
        timeout_s: float,
    ) -> Reply | Refused:
        import anthropic

        place = self.session.place(sent["model"])
        with self.session.call(timeout_s, request.stop_event, sent["model"]) as call:
            began = time.perf_counter()
            try:
                got = self._stream(sdk, sent, began) if sent.get("stream") else self._whole(sdk, sent, call)
            except anthropic.APIStatusError as error:
                if call.status is not None and 400 <= call.status < 500:
                    return Refused(from_exception(place, error, call), read_refusal(call.status, call.body))
                if call.status == 200 and isinstance(error.body, Mapping):
                    raise error_in_success(place, call.headers, error.body) from None
                raise
            return _reply(got, request, [*notes, *model_note(sent["model"], got.model)], began, call)

    def _whole(self, sdk: anthropic.Anthropic, sent: dict[str, Any], call: Call) -> _Message:
        raw = sdk.messages.with_raw_response.create(**_arguments(sent))
        place = self.session.place(sent["model"])
        try:
            body = json.loads(raw.http_response.content)
        except (ValueError, RecursionError) as error:
            raise bad_reply(place, call, str(error)) from None
        if isinstance(body, Mapping) and (body.get("type") == "error" or "error" in body):
            raise error_in_success(place, call.headers, body)
        if not isinstance(body, Mapping) or not isinstance(body.get("content"), list):
            raise bad_reply(place, call, str(body)[:200])
        got = _Message()
        _take_head(got, body)
        for block in body["content"]:
            if isinstance(block, Mapping):
                got.text += _text(block, "text", "text")
                got.reasoning += _text(block, "thinking", "thinking")
        return got

    def _stream(self, sdk: anthropic.Anthropic, sent: dict[str, Any], began: float) -> _Message:
        got = _Message()
        ended = False
        with sdk.messages.create(**_arguments(sent), stream=True) as events:
            for event in events:
                ended = _take_event(got, event.to_dict(), began) or ended
        if not ended:
            raise ProviderError(
                ErrorKind.UNKNOWN,
                "The connection was cut before the answer was complete.",
                code="connection_cut",
            )
        return got


def _arguments(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Named arguments for what the SDK demands by name, the body for everything else."""
    named = ("model", "messages", "max_tokens")
    extra = {name: value for name, value in sent.items() if name not in (*named, "stream")}
    return {**{name: sent[name] for name in named}, "extra_body": extra}


def _take_event(got: _Message, event: Mapping[str, Any], began: float) -> bool:
    """Adds one event of a stream; True for the last one."""
    kind = event.get("type")
    delta = event.get("delta") or {}
    if kind == "message_start":
        _take_head(got, event.get("message") or {})
    elif kind == "content_block_start":
        block = event.get("content_block") or {}
        got.text += _text(block, "text", "text")
    elif kind == "content_block_delta":
        got.text += _text(delta, "text_delta", "text")
        got.reasoning += _text(delta, "thinking_delta", "thinking")
    elif kind == "message_delta":
        got.stop_reason = delta.get("stop_reason") or got.stop_reason
        got.usage.update({k: v for k, v in (event.get("usage") or {}).items() if v is not None})
    if got.first_ms is None and got.text:
        got.first_ms = elapsed_ms(began)
    return kind == "message_stop"


def _take_head(got: _Message, message: Mapping[str, Any]) -> None:
    got.stop_reason = message.get("stop_reason") or ""
    got.model = message.get("model") if isinstance(message.get("model"), str) else None
    usage = message.get("usage")
    got.usage.update(usage if isinstance(usage, Mapping) else {})


def _text(block: Mapping[str, Any], kind: str, name: str) -> str:
    value = block.get(name) if block.get("type") == kind else ""
    return value if isinstance(value, str) else ""


def _reply(got: _Message, request: Request, notes: Iterable[Note], began: float, call: Call) -> Reply:
    all_notes = list(notes)
    finish = Finish.COMPLETE
    if got.stop_reason == "refusal":
        finish = Finish.REFUSED
    elif not got.text.strip():
        finish = Finish.EMPTY
        all_notes.append(_why_empty(got))
    elif got.stop_reason in _MAX_TOKENS:
        finish = Finish.LENGTH
    usage = _usage(got.usage)
    if usage is None:
        usage = estimated_usage(request, got.text + got.reasoning)
        all_notes.append(("usage_estimated", {}))
    return Reply(
        text=got.text,
        finish=finish,
        model_reported=got.model,
        usage=usage,
        request_id=request_id(call.headers),
        latency_ms=elapsed_ms(began),
        first_token_ms=got.first_ms,
        reasoning=got.reasoning or None,
        notes=tuple(all_notes),
        limits=read_limits(call.headers),
    )


def _why_empty(got: _Message) -> Note:
    if got.stop_reason in _MAX_TOKENS:
        return ("tokens_used_up_thinking", {})
    return ("only_reasoning", {}) if got.reasoning else ("empty_answer", {"finish_reason": got.stop_reason})


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """Anthropic counts cached tokens apart; here `input` is all of them."""
    fresh, output = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    if fresh is None or output is None:
        return None
    read = _count(usage, "cache_read_input_tokens")
    write = _count(usage, "cache_creation_input_tokens")
    details = usage.get("output_tokens_details")
    return Usage(
        input=fresh + (read or 0) + (write or 0),
        output=output,
        cache_read=read,
        cache_write=write,
        reasoning=_count(details, "thinking_tokens") if isinstance(details, Mapping) else None,
    )


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

"""Google Gemini, through its own SDK."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

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
from providers.embedding import Embedded, EmbedRequest, as_final, checked, embed_usage, read_count
from providers.faults import bad_reply, request_id
from providers.session import Session, elapsed_ms, need_package, outgoing_model
from providers.tokens import estimated_usage
from providers.watchdog import Call

if TYPE_CHECKING:
    import httpx2
    from google import genai
    from google.genai import types

BASE_URL = "https://generativelanguage.googleapis.com"
HOST = "generativelanguage.googleapis.com"
API_VERSION = "v1beta"
_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
    }
)
_PAGES = 5
_Config = TypeVar("_Config", "types.GenerateContentConfig", "types.EmbedContentConfig")


@dataclass(slots=True)
class _Answer:
    """One answer as it came in, whole or in pieces."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    block_reason: str = ""
    model: str | None = None
    response_id: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    candidate_seen: bool = False
    first_ms: float | None = None


class GeminiProvider:
    """One Gemini connection. Thread-safe."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self.settings = settings
        parts = split_address(settings.base_url or BASE_URL)
        path = parts.path.rstrip("/").removesuffix("/models")
        version = re.search(r"/(v\d\w*)$", path)
        self._version = version.group(1) if version else API_VERSION
        path = path.removesuffix(f"/{self._version}")
        base_url = f"{parts.scheme}://{parts.netloc}{path}"
        self._no_form: set[str] = set()
        self.session = Session(settings, base_url, lambda key: {"x-goog-api-key": key}, HOST)

    def complete(self, request: Request) -> Reply:
        """Asks once; a form of the answer that the model refuses is left out and said."""
        need_package("google.genai", "google-genai")
        sdk = self.session.sdk("genai", self._make_sdk)
        model = outgoing_model(self.settings, request.model)
        if request.answer_schema is None or model in self._no_form:
            return self._ask(sdk, replace(request, answer_schema=None), model)
        try:
            return self._ask(sdk, request, model)
        except ProviderError as error:
            if not answer_form.is_refused(error.status, error.message):
                raise
        self._no_form.add(model)
        reply = self._ask(sdk, replace(request, answer_schema=None), model)
        return replace(reply, notes=(*reply.notes, answer_form.LEFT_OUT))

    def _ask(self, sdk: genai.Client, request: Request, model: str) -> Reply:
        params = {**self.settings.params, **request.params}
        stream = params.pop("stream", None) is True
        arguments = {
            "model": in_address(model),
            "contents": _contents(request),
            "config": self._config(request, params),
        }
        with self.session.call(request.timeout_s, request.stop_event, model) as call:
            began = time.perf_counter()
            got = self._stream(sdk, arguments, began) if stream else self._whole(sdk, arguments, call)
            return self._reply(got, request, model, began, call)

    def embed(self, request: EmbedRequest) -> Embedded:
        """Asks once for embeddings. The connection's own params are meant for answers and not sent."""
        need_package("google.genai", "google-genai")
        from google.genai import types

        sdk = self.session.sdk("genai", self._make_sdk)
        model = outgoing_model(self.settings, request.model)
        config = _checked(types.EmbedContentConfig, request.params, request.timeout_s)
        contents = [types.Content(parts=[types.Part(text=text)]) for text in request.texts]
        try:
            with self.session.call(request.timeout_s, request.stop_event, model) as call:
                began = time.perf_counter()
                # A list of contents: the SDK joins plain texts into one for some models.
                got = sdk.models.embed_content(model=in_address(model), contents=contents, config=config)
                found = [item.values for item in got.embeddings or ()]
                vectors = checked(found, len(request.texts), self.session.place(model))
        except ProviderError as error:
            raise as_final(error, model) from None
        usage = got.usage_metadata.model_dump() if got.usage_metadata else None
        return Embedded(
            vectors,
            None,
            embed_usage(read_count(usage, "prompt_token_count"), request.texts),
            request_id(call.headers),
            elapsed_ms(began),
        )

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """The models that answer text questions."""
        url = f"{self.session.base_url}/{self._version}/models"
        found: dict[str, ModelInfo] = {}
        page: str | None = None
        for _ in range(_PAGES):
            params = {"pageSize": 1000} | ({"pageToken": page} if page else {})
            body = self.session.get_json(url, timeout_s, params=params)
            for info in _listed(body):
                found.setdefault(info.id, info)
            page = body.get("nextPageToken") if isinstance(body, Mapping) else None
            if not page:
                break
        return list(found.values())

    def close(self) -> None:
        """Ends the client."""
        self.session.close()

    def _make_sdk(self, client: httpx2.Client, key: str) -> genai.Client:
        import ssl

        import httpx2
        from google import genai
        from google.genai import types

        options = types.HttpOptions(
            base_url=self.session.base_url,
            api_version=self._version,
            httpx_client=client,
            # Never used, but the SDK would build one that reads the proxy variables and fails.
            httpx_async_client=httpx2.AsyncClient(
                trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            ),
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        return genai.Client(vertexai=False, api_key=key or "none", http_options=options)

    def _config(self, request: Request, params: dict[str, Any]) -> types.GenerateContentConfig:
        from google.genai import types

        inside = [m.content for m in request.messages if m.role == "system"]
        system = "\n\n".join(([request.system] if request.system else []) + inside)
        values: dict[str, Any] = dict(params)
        if system:
            values["system_instruction"] = system
        if request.max_tokens is not None:
            values["max_output_tokens"] = request.max_tokens
        if request.temperature is not None and values.get("send_temperature") is not False:
            values["temperature"] = request.temperature
        values.pop("send_temperature", None)
        if request.answer_schema is not None and not {"response_schema", "response_json_schema"} & set(
            values
        ):
            values.setdefault("response_mime_type", "application/json")
            values["response_json_schema"] = dict(request.answer_schema)
        return _checked(types.GenerateContentConfig, values, request.timeout_s)

    def _whole(self, sdk: genai.Client, arguments: dict[str, Any], call: Call) -> _Answer:
        config = arguments["config"].model_copy(update={"should_return_http_response": True})
        raw = sdk.models.generate_content(**{**arguments, "config": config}).sdk_http_response
        place = self.session.place(arguments["model"])
        try:
            body = json.loads((raw.body if raw else None) or "")
        except (ValueError, RecursionError) as error:
            raise bad_reply(place, call, str(error)) from None
        if not isinstance(body, Mapping):
            raise bad_reply(place, call, str(body)[:200])
        if "error" in body:
            raise error_in_success(place, call.headers, body)
        got = _Answer()
        _take(got, body)
        return got

    def _stream(self, sdk: genai.Client, arguments: dict[str, Any], began: float) -> _Answer:
        got = _Answer()
        for chunk in sdk.models.generate_content_stream(**arguments):
            _take(got, chunk.model_dump(mode="json", by_alias=True, exclude_none=True))
            if got.first_ms is None and got.text:
                got.first_ms = elapsed_ms(began)
        if got.candidate_seen and not got.finish_reason:
            raise ProviderError(
                ErrorKind.UNKNOWN,
                "The connection was cut before the answer was complete.",
                code="connection_cut",
            )
        return got

    def _reply(self, got: _Answer, request: Request, model: str, began: float, call: Call) -> Reply:
        usage = _usage(got.usage)
        if blocked := _blocked(got):
            raise ProviderError(
                ErrorKind.BLOCKED,
                f"The service blocked this ({blocked}).",
                status=200,
                should_retry=False,
                request_id=got.response_id,
                usage=usage,
                code="blocked",
            )
        if not got.candidate_seen:
            raise bad_reply(self.session.place(model), call, "it holds no answer")
        notes = model_note(model.removeprefix("models/"), got.model)
        if usage is None:
            usage = estimated_usage(request, got.text + got.reasoning)
            notes.append(("usage_estimated", {}))
        return Reply(
            text=got.text,
            finish=_finish(got, notes),
            model_reported=got.model,
            usage=usage,
            request_id=request_id(call.headers) or got.response_id,
            latency_ms=elapsed_ms(began),
            first_token_ms=got.first_ms,
            reasoning=got.reasoning or None,
            notes=tuple(notes),
        )


def in_address(model: str) -> str:
    """A model's name as a part of the address, where `#` or `?` would end it."""
    return quote(model, safe="/")


def _checked(kind: type[_Config], values: Mapping[str, Any], timeout_s: float) -> _Config:
    options = {"timeout": max(1, int(timeout_s * 1000))}
    try:
        return kind.model_validate({**values, "http_options": options})
    except ValueError as error:
        raise ProviderError(
            ErrorKind.BAD_REQUEST,
            f"The params of this model do not fit Gemini: {_first_fault(error)}",
            should_retry=False,
            code="bad_params",
        ) from error


def _contents(request: Request) -> list[dict[str, Any]]:
    return [
        {"role": "model" if m.role == "assistant" else "user", "parts": [{"text": m.content}]}
        for m in request.messages
        if m.role != "system"
    ]


def _take(got: _Answer, body: Mapping[str, Any]) -> None:
    """Adds a whole reply or one piece of a stream."""
    got.model = body.get("modelVersion") or got.model
    got.response_id = body.get("responseId") or got.response_id
    usage = body.get("usageMetadata")
    got.usage.update(usage if isinstance(usage, Mapping) else {})
    feedback = body.get("promptFeedback")
    if isinstance(feedback, Mapping):
        got.block_reason = str(feedback.get("blockReason") or got.block_reason)
    candidates = body.get("candidates")
    for candidate in candidates[:1] if isinstance(candidates, list) else ():
        if not isinstance(candidate, Mapping):
            continue
        got.candidate_seen = True
        got.finish_reason = str(candidate.get("finishReason") or got.finish_reason)
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        for part in parts if isinstance(parts, list) else ():
            text = part.get("text") if isinstance(part, Mapping) else None
            if isinstance(text, str) and part.get("thought"):
                got.reasoning += text
            elif isinstance(text, str):
                got.text += text


def _blocked(got: _Answer) -> str:
    if got.block_reason and not got.candidate_seen:
        return got.block_reason
    return got.finish_reason if got.finish_reason in _BLOCKED else ""


def _finish(got: _Answer, notes: list[Note]) -> Finish:
    if got.text.strip():
        return Finish.LENGTH if got.finish_reason == "MAX_TOKENS" else Finish.COMPLETE
    if got.finish_reason == "MAX_TOKENS":
        notes.append(("tokens_used_up_thinking", {}))
    elif got.reasoning:
        notes.append(("only_reasoning", {}))
    else:
        notes.append(("empty_answer", {"finish_reason": got.finish_reason}))
    return Finish.EMPTY


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """Gemini counts thoughts apart from the answer; here `output` is both."""
    prompt = _count(usage, "promptTokenCount")
    if prompt is None:
        return None
    thoughts = _count(usage, "thoughtsTokenCount")
    return Usage(
        input=prompt + (_count(usage, "toolUsePromptTokenCount") or 0),
        output=(_count(usage, "candidatesTokenCount") or 0) + (thoughts or 0),
        cache_read=_count(usage, "cachedContentTokenCount"),
        reasoning=thoughts,
    )


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _listed(body: Any) -> list[ModelInfo]:
    entries = body.get("models") if isinstance(body, Mapping) else None
    found = []
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            continue
        methods = entry.get("supportedGenerationMethods")
        if isinstance(methods, list) and "generateContent" not in methods:
            continue
        context = entry.get("inputTokenLimit")
        found.append(
            ModelInfo(
                entry["name"].removeprefix("models/"),
                entry.get("displayName") if isinstance(entry.get("displayName"), str) else None,
                context if isinstance(context, int) else None,
            )
        )
    return found


def _first_fault(error: ValueError) -> str:
    faults = getattr(error, "errors", None)
    if callable(faults) and (found := faults()):
        where = ".".join(str(part) for part in found[0].get("loc", ()))
        return f"{where}: {found[0].get('msg', '')}"
    return str(error)[:200]

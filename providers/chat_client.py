"""Asks for chat completions through the `openai` SDK: shared by OpenAI and its imitators."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from providers import answer_form
from providers.base import ConnectionSettings, ModelInfo, ProviderError, Reply, Request
from providers.chat import (
    Collected,
    Note,
    add_chunk,
    error_in_success,
    finish_of,
    model_note,
    read_body,
    settle_usage,
)
from providers.embedding import Embedded, EmbedRequest, as_final, embed_usage, read_count, read_list
from providers.faults import bad_reply, from_exception, request_id
from providers.limits import read_limits
from providers.quirks import Quirks, Refused
from providers.refusals import read_refusal
from providers.session import Session, bearer, elapsed_ms, need_package, outgoing_model, read_model_list
from providers.watchdog import Call

if TYPE_CHECKING:
    import httpx2

    import openai

_PATH = "/chat/completions"
_EMBEDDINGS = "/embeddings"
# Settings of ours inside `params`; everything else goes to the model as it is.
_OURS = frozenset({"stream", "token_param", "send_temperature", "trusted"})


class ChatProvider:
    """One connection that speaks chat completions. Thread-safe."""

    token_param = "max_tokens"  # noqa: S105 - the name of a parameter

    def __init__(self, settings: ConnectionSettings, base_url: str, vendor_host: str | None = None) -> None:
        self.settings = settings
        self.session = Session(settings, base_url, bearer, vendor_host)
        self._quirks = Quirks()

    def complete(self, request: Request) -> Reply:
        """Asks once; a parameter the model refuses is left out and asked again at once."""
        need_package("openai", "openai")
        sdk = self.session.sdk("openai", self._make_sdk)
        model = outgoing_model(self.settings, request.model)

        def ask(sent: dict[str, Any], notes: list[Note], timeout_s: float) -> Reply | Refused:
            return self._ask(sdk, request, sent, notes, timeout_s)

        return self._quirks.ask(model, self._body(request, model), request.timeout_s, ask)

    def embed(self, request: EmbedRequest) -> Embedded:
        """Asks once for embeddings. The connection's own params are meant for answers and not sent."""
        need_package("openai", "openai")
        sdk = self.session.sdk("openai", self._make_sdk)
        model = outgoing_model(self.settings, request.model)
        place = self.session.place(model)
        sent = {**request.params, "model": model, "input": list(request.texts)}
        try:
            with self.session.call(request.timeout_s, request.stop_event, model) as call:
                began = time.perf_counter()
                body = self._post(sdk, _EMBEDDINGS, sent, call)
                vectors = read_list(body, len(request.texts), place, call.headers)
        except ProviderError as error:
            raise as_final(error, model) from None
        reported = body.get("model")
        return Embedded(
            vectors,
            reported if isinstance(reported, str) else None,
            embed_usage(read_count(body.get("usage"), "prompt_tokens"), request.texts),
            request_id(call.headers),
            elapsed_ms(began),
            read_limits(call.headers),
        )

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """The models the service names."""
        return read_model_list(self.session.get_json(f"{self.session.base_url}/models", timeout_s))

    def close(self) -> None:
        """Ends the client."""
        self.session.close()

    def _make_sdk(self, client: httpx2.Client, key: str) -> openai.OpenAI:
        import openai

        # The key and the headers are set by the transport; the SDK only must not look for its own.
        return openai.OpenAI(
            api_key=key or "none",
            base_url=self.session.base_url,
            http_client=client,
            max_retries=0,
            timeout=None,
        )

    def _body(self, request: Request, model: str) -> dict[str, Any]:
        params = {**self.settings.params, **request.params}
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {"model": model, "messages": messages}
        if request.max_tokens is not None:
            body[str(params.get("token_param") or self.token_param)] = request.max_tokens
        if request.temperature is not None and params.get("send_temperature") is not False:
            body["temperature"] = request.temperature
        body.update({name: value for name, value in params.items() if name not in _OURS})
        if request.answer_schema is not None:
            answer_form.ask_chat(body, request.answer_schema)
        if params.get("stream") is True:
            body["stream"] = True
            body.setdefault("stream_options", {"include_usage": True})
        return body

    def _ask(
        self, sdk: openai.OpenAI, request: Request, sent: dict[str, Any], notes: list[Note], timeout_s: float
    ) -> Reply | Refused:
        import openai

        place = self.session.place(sent["model"])
        with self.session.call(timeout_s, request.stop_event, sent["model"]) as call:
            began = time.perf_counter()
            try:
                got, first_ms = self._send(sdk, sent, call, began)
            except openai.APIStatusError as error:
                if error.status_code >= 500:
                    raise
                refusal = read_refusal(error.status_code, call.body)
                return Refused(from_exception(place, error, call), refusal)
            finish = finish_of(got, place)
            return Reply(
                text=got.text or got.refusal,
                finish=finish,
                model_reported=got.model,
                usage=settle_usage(got, request),
                request_id=request_id(call.headers) or got.request_id,
                latency_ms=elapsed_ms(began),
                first_token_ms=first_ms,
                reasoning=got.reasoning or None,
                notes=(*notes, *got.notes, *model_note(sent["model"], got.model)),
                cost_usd=got.cost_usd,
                limits=read_limits(call.headers),
            )

    def _send(
        self, sdk: openai.OpenAI, sent: dict[str, Any], call: Call, began: float
    ) -> tuple[Collected, float | None]:
        if sent.get("stream"):
            return self._stream(sdk, sent, call, began)
        body = self._post(sdk, _PATH, sent, call)
        return read_body(body, self.session.place(sent["model"]), call.headers), None

    def _post(self, sdk: openai.OpenAI, path: str, sent: dict[str, Any], call: Call) -> Any:
        """The parsed body of one reply.

        The SDK's own `create` would look up every part of the body in its type declarations,
        which takes longer than all the rest of a call; the body is plain JSON already.
        """
        import httpx2

        raw = sdk.post(path, cast_to=httpx2.Response, body=sent)
        try:
            return json.loads(raw.content)
        except (ValueError, RecursionError) as error:
            raise bad_reply(self.session.place(sent["model"]), call, str(error)) from None

    def _stream(
        self, sdk: openai.OpenAI, sent: dict[str, Any], call: Call, began: float
    ) -> tuple[Collected, float | None]:
        import openai

        place = self.session.place(sent["model"])
        extra = {name: value for name, value in sent.items() if name not in ("model", "messages", "stream")}
        got = Collected()
        first_ms: float | None = None
        try:
            with sdk.chat.completions.create(
                model=sent["model"], messages=sent["messages"], stream=True, extra_body=extra
            ) as chunks:
                for chunk in chunks:
                    if add_chunk(got, chunk.to_dict()) and first_ms is None:
                        first_ms = elapsed_ms(began)
        except openai.APIStatusError:
            raise
        except openai.APIError as error:
            if isinstance(error.body, Mapping) and call.status == 200:
                raise error_in_success(place, call.headers, {"error": error.body}) from None
            raise
        if not got.choices_seen:
            raise bad_reply(place, call, "the stream held no answer")
        return got, first_ms

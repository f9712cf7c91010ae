"""One request for embeddings that a check compares by, carried out in a worker. Never raises."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from providers.base import Finish, Reply
from providers.embedding import EmbedRequest

from engine.config.call_params import without_own
from engine.config.embedder_key import PREFIX
from engine.domain import CallError, SkippedModel
from engine.execution.budget import Worst
from engine.execution.candidates import ReadyModel
from engine.execution.clients import Clients
from engine.execution.estimate import text_tokens_at_most, worst_of_tokens
from engine.execution.messages import JudgeSaid, Ticket, WorkerMessage
from engine.execution.settling import cost_of, refused, used_of
from engine.scoring.seams import EmbedAsk, EmbedSaid


class EmbedCaller:
    """Asks the models that make embeddings. Thread-safe: `attempt` is called from many workers at once.

    Args:
        models: Those that can be asked.
        skipped: Those that cannot, with the reason.
        clients: Of the run.
        stop_event: Set where nothing is awaited any more.
    """

    def __init__(
        self,
        models: Sequence[ReadyModel],
        skipped: Sequence[SkippedModel],
        clients: Clients,
        stop_event: threading.Event,
    ) -> None:
        self._models = {model.entry.key: model for model in models}
        self._skipped: Mapping[str, SkippedModel] = {skip.model_key: skip for skip in skipped}
        self._clients = clients
        self._stop_event = stop_event
        self._warm: set[str] = set()

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes, and so the payers, of the models that can be asked."""
        return tuple(self._models)

    def lane_of(self, ask: EmbedAsk) -> str:
        """The lane that a request waits in."""
        return f"{PREFIX}{ask.model}"

    def cannot(self, ask: EmbedAsk) -> CallError | None:
        """Why a request cannot be sent at all; None where it can."""
        key = self.lane_of(ask)
        if key in self._models:
            return None
        skip = self._skipped.get(key)
        if skip is None:
            return CallError("embedder_missing", f"Nobody knows a model `{ask.model}` that makes embeddings.")
        return CallError(skip.code, f"{skip.reason} {skip.fix}".strip())

    def worst_of(self, ask: EmbedAsk) -> Worst:
        """The most one attempt of this request can use. What comes back is numbers and costs nothing."""
        model = self._models[self.lane_of(ask)]
        return worst_of_tokens(text_tokens_at_most(ask.texts), 0, model.price)

    def attempt(self, ticket: Ticket, ask: EmbedAsk, post: Callable[[WorkerMessage], None]) -> None:
        """Asks once and posts what became of it."""
        began, clock = datetime.now(UTC), time.perf_counter()
        model = self._models[self.lane_of(ask)]
        try:
            found = self._clients.embed(model, self._request(model, ask))
        except BaseException as error:  # whatever a connector raises, no mark is ever lost
            post(refused(ticket, error, model, began, (time.perf_counter() - clock) * 1000))
            return
        self._warm.add(model.entry.key)
        priced = Reply("", Finish.COMPLETE, usage=found.usage)
        usd, source = cost_of(priced, model)
        post(JudgeSaid(ticket, EmbedSaid(found.vectors), used_of(usd, source, priced), usd, found.limits))

    def _request(self, model: ReadyModel, ask: EmbedAsk) -> EmbedRequest:
        loading = 0.0 if model.entry.key in self._warm else model.first_call_allowance_s
        return EmbedRequest(
            model=model.entry.model,
            texts=ask.texts,
            params=without_own(model.entry.params),
            timeout_s=model.timeout_s + loading,
            stop_event=self._stop_event,
        )

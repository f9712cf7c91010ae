"""Answers that share vectors: what is known is handed over, what is under way is waited for together."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from engine.execution.embed_pool import EmbedPool
from engine.scoring.seams import EmbedAsk, EmbedSaid, MarkReply, MarkRequest

if TYPE_CHECKING:
    from engine.execution.judging import Asking


class SharedVectors:
    """Belongs to a desk and to its thread."""

    def __init__(self) -> None:
        self._pool = EmbedPool()
        self._also: dict[int, list[Asking]] = {}

    def want(self, asking: Asking, ask: EmbedAsk) -> tuple[EmbedAsk, ...]:
        """Gives what is known, joins what is under way; returns what has to be asked anew."""
        wanted = self._pool.want(ask)
        for asked, said in wanted.known:
            asking.marking.take(asked, said, Decimal(0))
        for item in wanted.under_way:
            if item not in asking.open:
                asking.open.add(item)
                self._also.setdefault(item, []).append(asking)
        return wanted.asks

    def begin(self, item: int, request: MarkRequest) -> None:
        """A request is under way as this item."""
        if isinstance(request, EmbedAsk):
            self._pool.begin(item, request)

    def end(self, item: int, request: MarkRequest, reply: MarkReply | None) -> list[Asking]:
        """A request is over; None: it was not asked because the run ends. Returns who else waited for
        it and waits for nothing more."""
        if not isinstance(request, EmbedAsk):
            return []
        said = reply if isinstance(reply, EmbedSaid) else None
        self._pool.end(request, said)
        others = self._also.pop(item, [])
        for other in others:
            other.open.discard(item)
            if said is None:
                other.left = True
            else:
                other.marking.take(request, said, Decimal(0))
        return [other for other in others if not other.open]

"""The vectors of a run: each distinct text is asked once, however many answers are compared with it.

Knows what is there, what is under way and who asks; one thread owns it. What is there is bounded,
the texts used longest ago go first: their case is behind, and forgetting costs one request more.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from engine.scoring.seams import EmbedAsk, EmbedSaid

MOST_BYTES = 128 * 1024 * 1024
MOST_TEXTS = 64
"""Texts of one request; the least that a service takes at once is a hundred."""

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be done for a request: `known` is answered already, `under_way` are items that will
    answer a part of it, `asks` are new requests for the rest."""

    known: tuple[tuple[EmbedAsk, EmbedSaid], ...]
    under_way: frozenset[int]
    asks: tuple[EmbedAsk, ...]


class EmbedPool:
    """Vectors by model and text."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: OrderedDict[_Key, array[float]] = OrderedDict()
        self._under_way: dict[_Key, int] = {}

    def want(self, ask: EmbedAsk) -> Wanted:
        """What is there for a request, and what has to be asked."""
        known: list[tuple[EmbedAsk, EmbedSaid]] = []
        items: set[int] = set()
        new: list[str] = []
        for text in ask.texts:
            key = (ask.model, text)
            vector = self._known.get(key)
            if vector is not None:
                self._known.move_to_end(key)
                known.append((EmbedAsk(ask.model, (text,)), EmbedSaid((vector,))))
            elif key in self._under_way:
                items.add(self._under_way[key])
            else:
                new.append(text)
        asks = [
            EmbedAsk(ask.model, tuple(new[start : start + MOST_TEXTS]))
            for start in range(0, len(new), MOST_TEXTS)
        ]
        return Wanted(tuple(known), frozenset(items), tuple(asks))

    def begin(self, item: int, ask: EmbedAsk) -> None:
        """A request is under way as this item."""
        for text in ask.texts:
            self._under_way[ask.model, text] = item

    def end(self, ask: EmbedAsk, said: EmbedSaid | None) -> None:
        """A request is over. Only vectors are kept: what failed is asked anew by who wants it next."""
        for text in ask.texts:
            self._under_way.pop((ask.model, text), None)
        if said is not None and said.error is None:
            for text, vector in zip(ask.texts, said.vectors, strict=False):
                self._keep((ask.model, text), vector)

    def _keep(self, key: _Key, vector: Sequence[float]) -> None:
        before = self._known.pop(key, None)
        kept = vector if isinstance(vector, array) else array("d", vector)
        self._known[key] = kept
        self._bytes += _size(key, kept) - (_size(key, before) if before is not None else 0)
        while self._bytes > self._most_bytes and len(self._known) > 1:
            gone, old = self._known.popitem(last=False)
            self._bytes -= _size(gone, old)


def _size(key: _Key, vector: array[float]) -> int:
    return len(vector) * vector.itemsize + len(key[1])

"""Each distinct text is asked once; what failed is asked again; memory is bounded."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from engine.domain import CallError
from engine.execution.embed_pool import MOST_TEXTS, EmbedPool
from engine.scoring.seams import EmbedAsk, EmbedSaid

FAILED = EmbedSaid(error=CallError("timeout", "late"))


def ask(*texts: str, model: str = "m") -> EmbedAsk:
    return EmbedAsk(model, texts)


def said(asked: EmbedAsk, length: int = 2) -> EmbedSaid:
    return EmbedSaid(tuple(array("d", [float(len(text))] * length) for text in asked.texts))


def test_what_is_known_or_under_way_is_not_asked_again() -> None:
    pool = EmbedPool()
    first = pool.want(ask("a", "ref"))
    assert (first.known, first.under_way, first.asks) == ((), frozenset(), (ask("a", "ref"),))
    pool.begin(7, first.asks[0])
    second = pool.want(ask("b", "ref"))
    assert (second.known, second.under_way, second.asks) == ((), {7}, (ask("b"),))
    pool.end(first.asks[0], said(first.asks[0]))
    third = pool.want(ask("ref", "c"))
    assert third.known == ((ask("ref"), EmbedSaid((array("d", [3.0, 3.0]),))),)
    assert (third.under_way, third.asks) == (frozenset(), (ask("c"),))


def test_the_same_text_of_another_model_is_another_vector() -> None:
    pool = EmbedPool()
    pool.end(ask("a"), said(ask("a")))
    assert pool.want(ask("a", model="n")).asks == (ask("a", model="n"),)


def test_what_failed_or_was_dropped_is_asked_by_who_wants_it_next() -> None:
    pool = EmbedPool()
    for outcome in (FAILED, None):
        pool.begin(1, ask("a"))
        pool.end(ask("a"), outcome)
        assert pool.want(ask("a")).asks == (ask("a"),)


def test_many_texts_are_shared_among_requests_that_services_take() -> None:
    wanted = EmbedPool().want(ask(*map(str, range(2 * MOST_TEXTS + 1))))
    assert [len(one.texts) for one in wanted.asks] == [MOST_TEXTS, MOST_TEXTS, 1]


@given(st.lists(st.integers(0, 30), max_size=200))
def test_memory_is_bounded_and_what_was_used_last_stays(numbers: list[int]) -> None:
    pool = EmbedPool(most_bytes=10 * (8 * 4 + 3))
    for number in numbers:
        one = ask(f"{number:03}")
        for rest in pool.want(one).asks:
            pool.end(rest, said(rest, 4))
        assert pool._bytes <= 10 * (8 * 4 + 3)
        assert pool.want(one).asks == ()
    recent = list(dict.fromkeys(reversed(numbers)))[:10]
    assert all(pool.want(ask(f"{number:03}")).asks == () for number in recent)

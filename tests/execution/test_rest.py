"""What is left of a saved run: its price is that of what is missing, and what is told is what is asked."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.domain import Cell
from engine.errors import UserError
from engine.execution.rest import Rest, look_at_rest
from engine.execution.resume import NEW, SNAPSHOT
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_embed_run import compared, embedded
from tests.execution.test_judge import GOOD, JUDGE, PRICE, asked, cases, service
from tests.execution.test_pairs import by_order, comparing, entries, says
from tests.execution.worlds import FakeService, World, reply

DEAR = {"key": "a", "model": "m-a", "provider": "openai", "card": PRICE}
ILL = {"key": "c", "model": "m-c", "provider": "openai", "card": PRICE}


class Refusing:
    """Answers like `says`, but the model of the name `ill` refuses until it is well."""

    def __init__(self, ill: str = "m-c") -> None:
        self.ill = ill

    def __call__(self, request: Request) -> str:
        if request.model == self.ill:
            raise ProviderError(ErrorKind.BAD_REQUEST, "No.", status=400)
        return says(request)


def failed(made: World, ill: Refusing) -> None:
    """A run in which every question to one model failed; it is well from here on."""
    stored = made.run()
    assert stored.info.errors > 0
    ill.ill = ""
    assert made.service is not None
    made.service.requests.clear()


def look(made: World, **more: Any) -> Rest:
    return look_at_rest(made.request(resume_from="last", **more))


def test_only_what_is_missing_is_priced_and_what_was_spent_is_told(tmp_path: Path, qapp) -> None:
    ill = Refusing()
    config = {"models": [DEAR, ILL], "run": {"trials": 2}}
    made = World(tmp_path, config, cases=4, service=service(lambda _: GOOD, ill))
    failed(made, ill)
    whole = made.request().preflight.estimate
    rest = look(made, retry_errors=True)
    # Both models are asked the same words at the same price, so half of the project is missing.
    assert rest.expected.calls == 8
    assert rest.expected.by_model == {"c": whole.by_model["c"]}
    assert rest.expected.total.high == whole.total.high / 2
    assert rest.before == made.stored().info.cost_usd > 0
    assert rest.expected.judge is None
    one = look(made, again=(Cell("a", "c1", 1),))
    assert (one.expected.calls, one.expected.total.high) == (1, whole.total.high / 16)
    assert (rest.kept, one.kept) == (0, 1)


def test_the_project_asks_by_what_is_missing(tmp_path: Path, qapp) -> None:
    ill = Refusing()
    made = World(tmp_path, {"models": [DEAR, ILL]}, cases=4, service=service(lambda _: GOOD, ill))
    failed(made, ill)
    high = look(made, retry_errors=True).expected.total.high
    assert high is not None
    for limit, codes in ((high, []), (high - Decimal("0.01"), ["above"])):
        made.config["budgets"] = {"confirm_above_usd": float(limit)}
        assert [note.code for note in look(made, retry_errors=True).confirm] == codes
    made.config["models"] = [DEAR, {**ILL, "card": {}}]
    made.config["budgets"] = {"max_run_usd": 50}
    rest = look(made, retry_errors=True, resume_choice=NEW)
    assert (rest.expected.unpriced, rest.expected.total.high) == (("c",), None)
    assert [note.code for note in rest.confirm] == ["unpriced_under_ceiling"]
    # Nothing of a model without a price is missing: the one that has one can be asked unasked.
    assert look(made, again=(Cell("a", "c0", 1),)).confirm == ()


def test_as_planned_is_priced_by_the_words_of_then(tmp_path: Path, qapp) -> None:
    ill = Refusing()
    made = World(tmp_path, {"models": [DEAR, ILL]}, cases=2, service=service(lambda _: GOOD, ill))
    failed(made, ill)
    then = look(made, retry_errors=True).expected.total.high
    made.config["defaults"] = {"system": "Be brief. " * 50}
    with pytest.raises(UserError) as caught:
        look(made, retry_errors=True)
    assert caught.value.code == "resume_differs"
    assert look(made, retry_errors=True, resume_choice=SNAPSHOT).expected.total.high == then
    assert look(made, retry_errors=True, resume_choice=NEW).expected.total.high > then


@pytest.mark.parametrize("check", ["llm_judge", "pairwise_judge"])
def test_the_judge_is_asked_as_often_as_told(tmp_path: Path, qapp, check: str) -> None:
    ill = Refusing()
    tests = comparing(3) if check == "pairwise_judge" else cases(3)
    judge = by_order("abc") if check == "pairwise_judge" else lambda _: GOOD
    pricing = {"models": {"judge-x": PRICE, **{f"m-{key}": PRICE for key in "abc"}}}
    config = {"models": entries(*"abc"), "judge": JUDGE, "pricing": pricing, "run": {"trials": 2}}
    made = World(tmp_path, config, cases=tests, service=service(judge, ill))
    failed(made, ill)
    rest = look(made, retry_errors=True)
    assert rest.expected.judge is not None
    whole = made.request().preflight.estimate
    assert rest.expected.judge.high is not None
    assert rest.expected.judge.high * whole.judge_calls == whole.judge.high * rest.expected.judge_calls
    made.run(resume_from="last", retry_errors=True)
    assert made.service is not None
    assert rest.expected.judge_calls == len(asked(made.service)) > 0
    assert rest.expected.calls == len(made.service.requests) - len(asked(made.service)) == 6


def test_answers_without_a_mark_cost_their_mark_only(tmp_path: Path, qapp) -> None:
    def away(_request: Request) -> str:
        raise ProviderError(ErrorKind.BAD_REQUEST, "No.", status=400)

    fake = service(away)
    made = World(tmp_path, {"models": [DEAR], "judge": JUDGE}, cases=cases(3), service=fake)
    made.run()
    rest = look(made)
    assert (rest.expected.calls, rest.expected.judge_calls, rest.expected.by_model) == (0, 3, {})


def test_models_that_compare_meanings_are_counted(tmp_path: Path, qapp) -> None:
    ill = Refusing()
    fake = FakeService(lambda request: reply(ill(request)), embedded)
    made = World(tmp_path, {"models": [DEAR, ILL]}, cases=compared(3), service=fake)
    failed(made, ill)
    rest = look(made, retry_errors=True)
    assert list(rest.expected.marker_calls.values()) == [3]
    assert len(rest.expected.by_marker) == 1

"""A stored run in which a judge compared the models' answers with each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.config.schema import Judge
from engine.domain import Answer, CallDone, Case, Cell, CheckSpec, Outcome
from engine.scoring.base import ScoringContext
from engine.scoring.pairs import Meeting, PairTerms, Verdict, meeting, pair_terms, questions
from engine.scoring.score import combine, run_check
from engine.scoring.seams import JudgeReply
from engine.storage.records import DoneWrite, RunModel
from engine.storage.store import Store
from tests.storage import samples
from tests.views.duel_world import CONFIG, MODELS, case, text_of
from tests.views.stored_run import finish, head_of

CASES = 20
WINS = {(0, 1): (14, 0), (0, 2): (15, 2), (1, 2): (11, 2)}
"""How often the first of two models wins, and ties; in the rest it loses."""


def _verdict(pair: tuple[int, int], number: int, first: int, flips: bool) -> Verdict:
    wins, ties = WINS[pair]
    if flips:
        return Verdict("A")
    if wins <= number < wins + ties:
        return Verdict("tie")
    better = pair[0] if number < wins else pair[1]
    return Verdict("A" if first == better else "B")


def _met(cell: Cell, keys: list[str], number: int, flips: bool) -> list[Meeting]:
    terms, own = pair_terms({}, "models", Judge(model="j")), keys.index(cell.model_key)
    found = []
    for rival in range(len(keys)):
        if rival == own:
            continue
        pair = (min(own, rival), max(own, rival))
        said = {
            question: _verdict(pair, number, keys.index(question.first), flips and pair == (1, 2))
            for question in questions(terms, (cell.model_key, keys[rival]))
        }
        found.append(meeting(cell.model_key, keys[rival], terms, said))
    return found


def _call(cell: Cell, test: Case, models: tuple[RunModel, ...], number: int, flips: bool) -> CallDone:
    keys = [model.key for model in models]
    text = text_of(keys.index(cell.model_key), number, cell.trial)

    def meet(_terms: PairTerms) -> list[Meeting]:
        return _met(cell, keys, number, flips)

    context = ScoringContext(judge=lambda _request: JudgeReply("x"), meet=meet)
    result = run_check(test.checks[0], Answer(text, Outcome.COMPLETE), test, context)
    return replace(samples.plain_call(cell, text=text), score=combine([result]))


def write_run(
    path: Path,
    run_id: str = "run_1",
    models: tuple[RunModel, ...] = MODELS,
    flips: int = 0,
    cases: int = CASES,
) -> str:
    """Writes the run; on the first `flips` tests the order decided between the last two models."""
    check = CheckSpec("pairwise_judge", {"against": "models"})
    tests = tuple(replace(case(number), checks=(check,)) for number in range(cases))
    head = head_of(run_id, CONFIG, models, tests)
    number = {test.id: place for place, test in enumerate(tests)}
    with Store.open(path) as store:
        store.create_run(head)
        for planned in head.cells:
            place = number[planned.cell.case_id]
            call = _call(planned.cell, tests[place], models, place, place < flips)
            store.write([DoneWrite(run_id, call)])
        finish(store, run_id)
    return run_id

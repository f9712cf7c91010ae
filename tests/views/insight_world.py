"""A stored run with every kind of failure, wavering tests and own marks beside a judge's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.domain import (
    CallDone,
    CallError,
    CallStatus,
    CaseScore,
    Cell,
    CheckResult,
    Outcome,
    ScoreState,
)
from engine.scoring import combine
from engine.storage.records import DoneWrite
from engine.storage.store import Store
from tests.storage import samples
from tests.views.duel_world import CONFIG, MODELS, case, text_of
from tests.views.stored_run import finish, head_of

CASES, TRIALS = 24, 2


def _label_check(found: str, wanted: str) -> CheckResult:
    passed = found == wanted
    return CheckResult(
        "classification",
        ScoreState.SCORED,
        float(passed),
        passed,
        f'The answer names "{found}", not "{wanted}".',
        "right_label" if passed else "wrong_label",
        {"prediction": found, "accepted": [wanted]},
    )


def _judge_check(passed: bool | None) -> CheckResult:
    if passed is None:
        reason = "The reply of the judge cannot be read."
        return CheckResult("llm_judge", ScoreState.ERRORED, reason=reason, reason_code="judge_unreadable")
    code = "judge_passed" if passed else "judge_failed_it"
    return CheckResult("llm_judge", ScoreState.SCORED, float(passed), passed, f"{code}.", code)


def _is_good(cell: Cell) -> bool:
    """What a fair reader would say: the first model is right on nearly all, the last on half."""
    model, number = [item.key for item in MODELS].index(cell.model_key), int(cell.case_id.split("-")[1])
    wavers = model == 1 and number % 6 == 1 and cell.trial == 2
    return (number % (6 - 2 * model) != 0) != wavers


def _call(cell: Cell) -> CallDone:
    model, number = [item.key for item in MODELS].index(cell.model_key), int(cell.case_id.split("-")[1])
    done = samples.plain_call(cell, text=text_of(model, number, cell.trial))
    if model == 2 and number % 11 == 5:
        error = CallError("timeout", "It gave no answer in 120 s.")
        return replace(
            done, status=CallStatus.ERROR, outcome=Outcome.FAILED, answer=None, score=None, error=error
        )
    if model == 2 and number == 7:
        mark = CaseScore(ScoreState.SCORED, 0.0, False, "The model refused to answer.")
        return replace(done, outcome=Outcome.REFUSED, score=mark)
    label = _label_check("delivery" if model == 2 and number % 8 == 0 else "refund", "refund")
    judge = _judge_check(None if number == 20 and model == 1 else _is_good(cell))
    outcome = Outcome.LENGTH if model == 1 and number % 12 == 0 else Outcome.COMPLETE
    return replace(done, outcome=outcome, score=combine([label, replace(judge, must_pass=True)]))


def write_run(path: Path, run_id: str = "run_1", marks: int = 30) -> str:
    """Writes the run; the first `marks` answers of the plan are marked by a person who disagrees
    with the judge on every ninth."""
    tests = tuple(case(number) for number in range(CASES))
    head = head_of(run_id, CONFIG, MODELS, tests, TRIALS)
    with Store.open(path) as store:
        store.create_run(head)
        store.write([DoneWrite(run_id, _call(planned.cell)) for planned in head.cells])
        finish(store, run_id)
        for number, planned in enumerate(list(head.cells)[:marks]):
            good = _is_good(planned.cell) != (number % 9 == 4)
            store.set_mark(run_id, planned.cell, "good" if good else "bad")
    return run_id

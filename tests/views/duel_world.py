"""A stored run with answers worth reading, for duels, marks and insights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.domain import CallStatus, Case, CaseScore, Cell, CheckResult, Outcome, ScoreState
from engine.storage.records import DoneWrite, RunModel
from engine.storage.store import Store
from tests.storage import samples
from tests.views.stored_run import finish, head_of

MODELS = (
    RunModel("aster", "Aster Large", "aster-large-2026-05-01", "mock"),
    RunModel("birch", "Birch Mini", "birch-mini", "mock"),
    RunModel("cedar", "Cedar Mini", "cedar-mini", "mock"),
)
QUESTIONS = (
    "I bought this jacket 40 days ago and the zip broke. Can I get my money back?",
    "Where is my parcel? It was due on Monday and nobody answers the phone.",
    "This is a disgrace. I have written three times and got the same reply.",
    "How do I change the delivery address of an order that is already on its way?",
)
ANSWERS = (
    "Thank you for writing. Our time limit for refunds is 30 days, so I cannot pay the money back. I would"
    " like to offer you a voucher of the same value, or a free repair of the zip. Which one do you prefer?",
    "Sorry, refunds are possible within 30 days only.",
    "You will get a full refund in the next few days. Please send the jacket back to us.",
)
CONFIG = {
    "project": "Customer replies",
    "models": [
        {"key": model.key, "model": model.model, "provider": "mock", "label": model.label, "enabled": True}
        for model in MODELS
    ],
    "statistics": {"resamples": 100},
}


def case(number: int) -> Case:
    """One of the questions, numbered so that each is a test of its own."""
    return Case(
        id=f"mail-{number:02d}",
        input=f"{QUESTIONS[number % len(QUESTIONS)]} (mail {number})",
        reference="No refund after 30 days; offer a voucher.",
        fingerprint=str(number),
        metadata={"name": f"Mail {number}"},
    )


def text_of(model: int, number: int, trial: int = 1) -> str:
    """What a model said. No answer names its model."""
    return f"{ANSWERS[(model + number) % len(ANSWERS)]} This answers mail {number}.{' ' * (trial - 1)}"


def failed_check(code: str, kind: str = "contains", passed: bool = False) -> CheckResult:
    """A check that decided."""
    return CheckResult(kind, ScoreState.SCORED, float(passed), passed, "It does not mention a voucher.", code)


def write_run(
    path: Path, *, run_id: str = "run_1", cases: int = 8, trials: int = 1, models: Sequence[RunModel] = MODELS
) -> str:
    """Writes a finished run: the first model is right on most, the others on fewer tests."""
    keys = tuple(model.key for model in models)
    tests = tuple(case(number) for number in range(cases))
    head = head_of(run_id, CONFIG, models, tests, trials)
    with Store.open(path) as store:
        store.create_run(head)
        store.write([DoneWrite(run_id, _call(planned.cell, keys)) for planned in head.cells])
        finish(store, run_id)
    return run_id


def _call(cell: Cell, keys: Sequence[str]) -> object:
    model, number = keys.index(cell.model_key), int(cell.case_id.split("-")[1])
    passed = (number + cell.trial * (model == 2)) % (4 - model) != 0
    check = failed_check("mentioned" if passed else "not_mentioned", passed=passed)
    done = samples.plain_call(cell, text=text_of(model, number, cell.trial))
    mark = CaseScore(ScoreState.SCORED, float(passed), passed, check.reason, checks=(check,))
    return replace(done, status=CallStatus.OK, outcome=Outcome.COMPLETE, score=mark)

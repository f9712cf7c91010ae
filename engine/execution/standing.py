"""Which models are worth asking: nobody gets hundreds of equal failures.

Key refused or no credit: everything behind that key stops after the second in a row. Model
unknown: that model stops after the first. Any other same final cause on a model's first eight
calls: the model is set aside. Set-aside models keep their cells and may be offered again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from providers.base import ErrorKind

from engine.execution.jobs import ModelPlan, SetAside
from engine.execution.retry import Failure

DENIALS = 2
EQUAL_FAILURES = 8


@dataclass(slots=True)
class _Record:
    answered: bool = False
    cause: tuple[str, int | None] | None = None
    equal: int = 0


class Standing:
    """The rules by model number. Not thread-safe; the dispatcher owns it."""

    def __init__(self, models: tuple[ModelPlan, ...]) -> None:
        self._models = models
        self._records = [_Record() for _ in models]
        self._denied: dict[tuple[str, str], int] = {}
        self.aside: dict[int, SetAside] = {}
        self.closed: set[int] = set()

    def _credential(self, model: int) -> tuple[str, str]:
        plan = self._models[model]
        return (plan.lane, plan.credential)

    def answered(self, model: int) -> None:
        """The model answered: nothing it did before counts any more."""
        self._records[model].answered = True
        self._denied.pop(self._credential(model), None)

    def failed(self, model: int, failure: Failure) -> SetAside | None:
        """A call of the model failed for good. Returns who is set aside now, if anybody."""
        plan = self._models[model]
        if failure.denied:
            credential = self._credential(model)
            self._denied[credential] = self._denied.get(credential, 0) + 1
            if self._denied[credential] < DENIALS:
                return None
            same = [i for i in range(len(self._models)) if self._credential(i) == credential]
            code = "denied" if failure.kind is ErrorKind.AUTH else "no_credit"
            return self.set_aside(same, plan.lane, code, failure)
        self._denied.pop(self._credential(model), None)
        if failure.kind is ErrorKind.NOT_FOUND:
            return self.set_aside([model], plan.lane, "model_unknown", failure)
        return self._equal(model, plan, failure)

    def _equal(self, model: int, plan: ModelPlan, failure: Failure) -> SetAside | None:
        record = self._records[model]
        if record.answered:
            return None
        if record.equal and record.cause != failure.cause:
            record.answered = True  # its failures differ: it is not one cause
            return None
        record.cause = failure.cause
        record.equal += 1
        if record.equal < EQUAL_FAILURES:
            return None
        return self.set_aside([model], plan.lane, "same_failure", failure)

    def set_aside(
        self,
        models: Iterable[int],
        lane: str,
        code: str,
        failure: Failure | None,
        until: float | None = None,
    ) -> SetAside | None:
        """Sets models aside; those that already are keep their first reason."""
        fresh = [m for m in models if m not in self.aside and m not in self.closed]
        if not fresh:
            return None
        change = SetAside(tuple(self._models[m].key for m in fresh), lane, code, failure, until)
        for m in fresh:
            self.aside[m] = change
        return change

    def offer_again(self, model: int) -> bool:
        """Forgets what the model did; False where it was not set aside."""
        if self.aside.pop(model, None) is None:
            return False
        self._records[model] = _Record()
        self._denied.pop(self._credential(model), None)
        return True

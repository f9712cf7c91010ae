"""Which tests and which calls the Answers page shows: the person's choice as one value."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from arena_desktop.itemmodels.answer_tests import TestRow
from arena_desktop.views.insights import AnswersWanted
from engine.domain import CallStatus
from engine.storage.rows import CallFilter

Keep = Callable[[TestRow], bool]

_SHOWS: dict[str, tuple[Keep, CallFilter]] = {
    "all": (lambda _row: True, CallFilter()),
    "differ": (lambda row: row.differ, CallFilter(differ=True)),
    "failed": (lambda row: row.failed, CallFilter(passed=False)),
    "passed": (lambda row: row.passed, CallFilter(passed=True)),
    "unasked": (lambda row: row.unasked, CallFilter(statuses=(CallStatus.ERROR, CallStatus.STOPPED))),
    "marked": (lambda _row: True, CallFilter(marked=True)),
}


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """`show` is a key of the choice box, `text` what is searched for, `only` the tests another page named."""

    show: str = "all"
    text: str = ""
    only: AnswersWanted | None = None

    @property
    def narrows(self) -> bool:
        """Whether something may be left out."""
        return self.show != "all" or bool(self.text) or self.only is not None

    def calls(self) -> CallFilter:
        """The same for single calls."""
        chosen = replace(_SHOWS[self.show][1], text=self.text)
        if self.only is None:
            return chosen
        models = (self.only.model_key,) if self.only.model_key else ()
        return replace(chosen, cases=self.only.case_ids, models=models)

    def keep(self, *, found: Collection[str] | None, marked: Collection[str]) -> Keep:
        """Tells of a test whether it is shown.

        `found` are the tests with the text in an answer, None while they are being looked for;
        `marked` those with a mark of the person.
        """
        fits, text = _SHOWS[self.show][0], self.text.casefold()
        only = frozenset(self.only.case_ids) if self.only is not None else None
        marks = marked if self.show == "marked" else None

        def keep(row: TestRow) -> bool:
            case_id = row.case.id
            if not fits(row) or (marks is not None and case_id not in marks):
                return False
            if only is not None and case_id not in only:
                return False
            return not text or text in row.searched or (found is not None and case_id in found)

        return keep

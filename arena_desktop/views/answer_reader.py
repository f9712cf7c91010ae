"""What the Answers page asks the store, in the background: tests with their marks, answers, a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from arena_desktop.desks.result_desk import ResultDesk
from arena_desktop.itemmodels.answer_tests import TestRow, make_test_rows
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.views.answer_pane import CaseAnswers
from arena_desktop.views.result_parts import ResultFacts
from engine.domain import Case
from engine.errors import ArenaError
from engine.storage.rows import CallFilter
from engine.storage.store import Store

Work = Callable[[Store, Callable[[], bool]], Any]
_MANY_CALLS = 20_000


class AnswerReader(QObject):
    """Answers of a run that is no longer the one on show are dropped. GUI thread only."""

    tests = Signal(object)
    """list[TestRow] of the run."""
    answers = Signal(object)
    """CaseAnswers of the test asked for last."""
    found = Signal(str, object)
    """A text, and the ids of the tests (frozenset[str]) with it in some answer."""
    failed = Signal(object)
    """ArenaError: something could not be read."""

    def __init__(self, results: ResultDesk) -> None:
        super().__init__()
        self._results = results
        self._run_id = ""
        self._heads: tuple[ModelHead, ...] = ()
        self._trials = 1
        self._state = 0
        self._asked: tuple[str, str, int] | None = None

    def set_facts(self, facts: ResultFacts, heads: tuple[ModelHead, ...]) -> None:
        """The run to read, or newer figures of the same one."""
        self._state += 1
        self._run_id, self._heads, self._trials = facts.info.run_id, heads, facts.info.trials

    def read_tests(self, cases: tuple[Case, ...], *, first: bool) -> None:
        """The tests with what each model did on them. `first`: nothing is on show yet."""
        run_id, keys = self._run_id, [head.key for head in self._heads]
        if first and len(cases) * len(keys) * self._trials > _MANY_CALLS:
            # The marks of very many calls take a moment; the tests themselves need not wait for them.
            self.read(
                lambda _store, _stop: (run_id, make_test_rows(cases, (), ())),
                self._on_tests,
                "tests without marks",
            )

        def work(store: Store, _stop: Callable[[], bool]) -> tuple[str, list[TestRow]]:
            return run_id, make_test_rows(cases, store.case_marks(run_id), keys)

        self.read(work, self._on_tests, "answer tests")

    def read_answers(self, case: Case) -> None:
        """The answers to a test, unless they are known or on their way already."""
        asked = (self._run_id, case.id, self._state)
        if not self._run_id or asked == self._asked:
            return
        self._asked = asked
        run_id, heads, trials = self._run_id, self._heads, self._trials

        def work(store: Store, _stop: Callable[[], bool]) -> CaseAnswers:
            calls = store.calls(run_id, case_id=case.id)
            return CaseAnswers(run_id, case, heads, trials, {call.cell: call for call in calls})

        self.read(work, self._on_answers, "answers of a test")

    def search(self, text: str) -> None:
        """The tests with a text in an answer; an older search ends."""
        run_id = self._run_id
        if not run_id:
            return

        def work(store: Store, stop: Callable[[], bool]) -> tuple[str, str, frozenset[str]]:
            return run_id, text, store.matching_cases(run_id, CallFilter(text=text), should_stop=stop)

        self.read(work, self._on_found, "answer search")

    def read(
        self,
        work: Work,
        done: Callable[[Any], None],
        name: str,
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Any other question; where it has no answer `failed` is called, and the signal follows."""

        def no_answer(error: Exception) -> None:
            # Unlike a method this is kept: the page may be gone by now.
            if isValid(self):
                if failed is not None:
                    failed()
                self._on_failed(error)

        no_way = no_answer if failed is not None else self._on_failed
        self._results.read(work, done, no_way, name=name, run_id=self._run_id)

    def store(self) -> Store:
        """The store of the run, for a few rows that cannot wait."""
        return self._results.store(self._run_id)

    def _on_tests(self, answer: tuple[str, list[TestRow]]) -> None:
        if answer[0] == self._run_id:
            self.tests.emit(answer[1])

    def _on_answers(self, answers: CaseAnswers) -> None:
        if answers.run_id == self._run_id:
            self.answers.emit(answers)

    def _on_found(self, answer: tuple[str, str, frozenset[str]]) -> None:
        if answer[0] == self._run_id:
            self.found.emit(answer[1], answer[2])

    def _on_failed(self, error: Exception) -> None:
        self._asked = None
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)

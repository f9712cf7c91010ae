"""Answers that wait for each other: which pairs can be compared now, and which marks are complete.

A group is one test and trial. Its answers come in any order; a pair is asked as soon as both are
there, and an answer's mark can be made when each of its rivals has come or will not come and every
question about its pairs is over. No threads, no store: one thread owns it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from engine.domain import Answer, Case, Cell
from engine.execution.jobs import Grid
from engine.scoring.pairs import (
    ABSENT,
    Meeting,
    Met,
    PairTerms,
    Question,
    Verdict,
    compared_text,
    meeting,
    pair_request,
    print_of,
    questions,
    rivals,
    without_asking,
)
from engine.scoring.seams import JudgeRequest

Place = tuple[str, int]
"""Test and trial."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question that is due. `owner` is an answer that waits for it, `prints` are of its texts."""

    place: Place
    owner: Cell
    question: Question
    prints: tuple[str, str]
    request: JudgeRequest


@dataclass(frozen=True, slots=True)
class Complete:
    """An answer whose pairs are over. `met` None: a question was left because the run ends."""

    cell: Cell
    met: Met | None


@dataclass(frozen=True, slots=True)
class Steps:
    """What follows from an event: questions that are due, answers whose pairs are over."""

    due: tuple[Asked, ...] = ()
    over: tuple[Complete, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """A verdict of an earlier session, about texts with these prints."""

    question: Question
    verdict: Verdict
    prints: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier sessions left: places of the plan that are done, groups of which some calls are
    answered and some missing, and verdicts."""

    done: frozenset[int] = frozenset()
    mixed: frozenset[Place] = frozenset()
    known: Mapping[Place, tuple[Known, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class _Group:
    """`awaited` are models whose calls are not over; `mixed`: some were over before this session, and
    `late`: those are not read yet."""

    case: Case
    trial: int
    awaited: set[str]
    mixed: bool
    late: bool
    answers: dict[str, Answer] = field(default_factory=dict)
    asking: dict[str, tuple[PairTerms, ...]] = field(default_factory=dict)
    verdicts: dict[Question, Verdict] = field(default_factory=dict)
    begun: set[Question] = field(default_factory=set)
    left: set[Question] = field(default_factory=set)
    texts: dict[tuple[str, bool], str] = field(default_factory=dict)

    def text(self, key: str, keep_reasoning: bool) -> str:
        """The words of a model that are compared; "" where it says nothing."""
        found = self.texts.get((key, keep_reasoning))
        if found is None:
            found = self.texts[key, keep_reasoning] = compared_text(self.answers[key], keep_reasoning)
        return found


class PairGroups:
    """All groups of a run in which answers meet.

    Args:
        grid: The plan.
        cases: The tests that may compare models, by id; answers to others are not looked at.
        nobody: Models that meet nobody, because they are the judge itself.
        earlier: What earlier sessions left; its answers come by `earlier`.
    """

    def __init__(
        self,
        grid: Grid,
        cases: Mapping[str, Case],
        *,
        nobody: Iterable[str] = (),
        earlier: Earlier | None = None,
    ) -> None:
        self._models = [model.key for model in grid.models]
        self._find, self._cases = grid.index(), cases
        before = earlier or Earlier()
        self._done, self._mixed, self._known = before.done, before.mixed, before.known
        self._nobody = frozenset(nobody)
        self._groups: dict[Place, _Group] = {}
        self._all_earlier = not before.done
        self._finished: set[Place] = set()
        self._seed = secrets.token_hex(16)

    # ---- what comes

    def answered(self, cell: Cell, answer: Answer | None, wanted: Iterable[PairTerms] = ()) -> Steps:
        """A model's call is over; None: without an answer that can be compared. `wanted`: its own
        mark waits for its pairs."""
        group = self._group(cell)
        if group is None or cell.model_key not in group.awaited:
            return Steps()
        group.awaited.discard(cell.model_key)
        if answer is not None:
            group.answers[cell.model_key] = answer
        if terms := tuple(wanted):
            group.asking[cell.model_key] = terms
        return self._look(group)

    def earlier(self, place: Place, answers: Mapping[str, Answer]) -> Steps:
        """The answers of an earlier session in one group, all at once; models out of the plan too."""
        group = self._group(Cell("", *place))
        if group is None or not group.late:
            return Steps()
        group.late = False
        group.answers = {**answers, **group.answers}
        return self._look(group)

    def asks(self, cell: Cell, wanted: Iterable[PairTerms]) -> Steps:
        """An answer of an earlier session waits for its pairs."""
        group = self._group(cell)
        if group is None:
            return Steps((), (Complete(cell, None),))
        group.asking[cell.model_key] = tuple(wanted)
        return self._look(group)

    def said(self, asked: Asked, verdict: Verdict) -> Steps:
        """A verdict is there, and kept."""
        group = self._groups[asked.place]
        group.verdicts[asked.question] = verdict
        return self._look(group, (asked.question.first, asked.question.second))

    def left(self, asked: Asked) -> Steps:
        """A question will not be asked because the run ends."""
        group = self._groups[asked.place]
        group.left.add(asked.question)
        return self._look(group, (asked.question.first, asked.question.second))

    def forget(self, cell: Cell) -> None:
        """An answer waits no more. It can still be met."""
        group = self._groups.get((cell.case_id, cell.trial))
        if group is not None:
            group.asking.pop(cell.model_key, None)

    def nothing_earlier(self) -> Steps:
        """Nothing of an earlier session comes any more."""
        self._all_earlier = True
        due: list[Asked] = []
        over: list[Complete] = []
        for place, group in list(self._groups.items()):
            steps = self.earlier(place, {}) if group.late else self._look(group)
            due += steps.due
            over += steps.over
        return Steps(tuple(due), tuple(over))

    # ---- what follows

    def _group(self, cell: Cell) -> _Group | None:
        place = (cell.case_id, cell.trial)
        case = self._cases.get(cell.case_id)
        if case is None or place in self._finished:
            return None
        if place not in self._groups:
            indexes = {key: self._find(Cell(key, *place)) for key in self._models}
            awaited = {key for key, at in indexes.items() if at is not None and at not in self._done}
            mixed = len(awaited) < len(self._models) or place in self._mixed
            self._groups[place] = _Group(case, cell.trial, awaited, mixed, mixed and not self._all_earlier)
        return self._groups[place]

    def _look(self, group: _Group, keys: Iterable[str] | None = None) -> Steps:
        """What can be asked now, and who waits no more, among some models or all."""
        due: list[Asked] = []
        over: list[Complete] = []
        for key in list(group.asking) if keys is None else [k for k in keys if k in group.asking]:
            cell, done, left = Cell(key, group.case.id, group.trial), True, False
            for terms in group.asking[key]:
                due += self._due(group, cell, terms)
                done &= self._is_over(group, key, terms)
                left |= self._is_left(group, key, terms)
            if done:
                wanted = group.asking.pop(key)
                over.append(Complete(cell, None if left else self._met(group, key, wanted)))
        self._drop_if_over(group)
        return Steps(tuple(due), tuple(over))

    def _drop_if_over(self, group: _Group) -> None:
        """Nobody can ask about this group any more: its texts need not be kept."""
        place = (group.case.id, group.trial)
        waits = group.awaited or group.late or group.asking or (group.mixed and not self._all_earlier)
        if not waits and not self._open(group):
            self._groups.pop(place, None)
            self._finished.add(place)

    def _open(self, group: _Group) -> bool:
        return bool(group.begun - set(group.verdicts) - group.left)

    def _rivals(self, group: _Group, key: str, terms: PairTerms) -> list[str]:
        models = dict.fromkeys((*self._models, *group.answers))
        return rivals(terms, key, [name for name in models if name not in self._nobody])

    def _asked(self, group: _Group, key: str, terms: PairTerms) -> list[Question]:
        """All questions that the pairs of an answer need, of rivals that have answered."""
        found: list[Question] = []
        for rival in self._rivals(group, key, terms):
            if rival in group.answers and self._free(group, key, rival, terms) is None:
                found += questions(terms, (key, rival))
        return found

    def _free(self, group: _Group, key: str, rival: str, terms: PairTerms) -> Meeting | None:
        keeps = terms.keep_reasoning
        return without_asking(group.text(key, keeps), group.text(rival, keeps), rival)

    def _due(self, group: _Group, cell: Cell, terms: PairTerms) -> Iterable[Asked]:
        place = (group.case.id, group.trial)
        for question in self._asked(group, cell.model_key, terms):
            if question in group.begun or question in group.verdicts:
                continue
            texts = tuple(group.text(k, terms.keep_reasoning) for k in (question.first, question.second))
            prints = (print_of(texts[0]), print_of(texts[1]))
            known = next(
                (k for k in self._known.get(place, ()) if (k.question, k.prints) == (question, prints)), None
            )
            if known is not None:
                group.verdicts[question] = known.verdict
                continue
            group.begun.add(question)
            fence = self._fence(place, question)
            request = pair_request(group.case, (texts[0], texts[1]), question, terms, fence)
            yield Asked(place, cell, question, prints, request)

    def _fence(self, place: Place, question: Question) -> Callable[[], str]:
        text = f"{self._seed}/{place}/{question}"
        return lambda: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _is_over(self, group: _Group, key: str, terms: PairTerms) -> bool:
        if group.late or any(rival in group.awaited for rival in self._rivals(group, key, terms)):
            return False
        return all(q in group.verdicts or q in group.left for q in self._asked(group, key, terms))

    def _is_left(self, group: _Group, key: str, terms: PairTerms) -> bool:
        return any(question in group.left for question in self._asked(group, key, terms))

    def _met(self, group: _Group, key: str, wanted: tuple[PairTerms, ...]) -> Met:
        return {
            terms.place: tuple(
                self._meeting(group, key, rival, terms) for rival in self._rivals(group, key, terms)
            )
            for terms in wanted
        }

    def _meeting(self, group: _Group, key: str, rival: str, terms: PairTerms) -> Meeting:
        if rival not in group.answers:
            return Meeting(rival, None, ABSENT)
        free = self._free(group, key, rival, terms)
        return free if free is not None else meeting(key, rival, terms, group.verdicts)

"""A person's own marks: the results under them, and how far a judge agrees. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from engine.domain import CallDone, CallStatus, CaseScore, Cell, ScoreState
from engine.stats.agreement import Agreement, Corrected, agreement, corrected_rate

FEWEST = 10
"""Fewer marks than this say too little to correct a rate by."""


@dataclass(frozen=True, slots=True)
class OwnView:
    """What a person thinks of an answer: whether it is good, and a score 0..1 where one was given."""

    good: bool
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ModelRate:
    """One model's pass rate: by the rater, and put right by the person's marks.

    `corrected` None = there are too few marks of both kinds, or the rater is no better than chance.
    """

    model_key: str
    passed: int
    rated: int
    corrected: Corrected | None = None


@dataclass(frozen=True, slots=True)
class RaterReport:
    """The rater (a judge, or the checks as a whole) beside the person.

    `agreement` is over the `both` answers that both marked, None before the first. `too_kind` counts
    answers that only the rater passed, `too_strict` those that only the person did. The corrected
    rate is None with fewer than `FEWEST` marks or where it cannot be computed. `waiting` counts own
    marks on answers the rater did not mark.
    """

    agreement: Agreement | None
    both: int
    too_kind: int
    too_strict: int
    passed: int
    rated: int
    corrected: Corrected | None
    models: tuple[ModelRate, ...] = ()
    waiting: int = 0

    @property
    def observed(self) -> float | None:
        """The rater's pass rate; None before it rated anything."""
        return self.passed / self.rated if self.rated else None


def rater_report(
    rated: Mapping[Cell, bool],
    own: Mapping[Cell, OwnView],
    counts: Mapping[str, tuple[int, int]] | None = None,
) -> RaterReport:
    """Holds what a rater said of all answers against what the person said of some.

    Args:
        rated: Whether the rater passed each answer it marked.
        own: The person's marks.
        counts: Passed and rated answers by model, where `rated` has only those with an own mark.
    """
    pairs = [(rated[cell], view.good) for cell, view in own.items() if cell in rated]
    words = [("good" if judge else "bad", "good" if user else "bad") for judge, user in pairs]
    usable = pairs if len(pairs) >= FEWEST else []
    counts = _counts(rated) if counts is None else counts
    passed, total = (sum(count[place] for count in counts.values()) for place in (0, 1))
    # One model has too few marks: each rate is put right by how the rater does over all models.
    models = (ModelRate(key, yes, of, corrected_rate(yes, of, usable)) for key, (yes, of) in counts.items())
    return RaterReport(
        agreement=agreement(words),
        both=len(pairs),
        too_kind=sum(judge and not user for judge, user in pairs),
        too_strict=sum(user and not judge for judge, user in pairs),
        passed=passed,
        rated=total,
        corrected=corrected_rate(passed, total, usable),
        models=tuple(models),
        waiting=len(own) - len(pairs),
    )


def _counts(rated: Mapping[Cell, bool]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for cell, passed in rated.items():
        before = counts.get(cell.model_key, (0, 0))
        counts[cell.model_key] = (before[0] + passed, before[1] + 1)
    return counts


def with_own_marks(calls: Iterable[CallDone], own: Mapping[Cell, OwnView]) -> Iterator[CallDone]:
    """The calls as the person sees them: an own mark takes the place of the checks' mark.

    A score given beside the mark is the score, otherwise good is 1 and bad is 0. Calls without an
    answer stay as they are: a failure is not a wrong answer.
    """
    for call in calls:
        view = own.get(call.cell)
        if view is None or call.status is not CallStatus.OK:
            yield call
            continue
        score = view.score if view.score is not None else float(view.good)
        before = call.score or CaseScore(ScoreState.UNSCORED)
        mark = replace(before, state=ScoreState.SCORED, score=score, passed=view.good, reason="")
        yield replace(call, score=mark)

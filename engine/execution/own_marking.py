"""A person's mark of a stored answer: kept beside the checks, and the mark of a check made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.domain import CaseScore, Cell, CheckResult, ScoreState
from engine.scoring.score import combine, with_mark
from engine.stats.own_marks import OwnView, RaterReport, rater_report
from engine.storage.records import ScoreWrite
from engine.storage.store import Store

JUDGES = ("llm_judge", "pairwise_judge")
BY_JUDGE, BY_CHECKS = "judge", "checks"
_BY_HAND = "manual"


@dataclass(frozen=True, slots=True)
class MarkBook:
    """A person's marks in one run, and the rater they are held against: the judge where there is
    one, else the checks as a whole."""

    run_id: str
    own: Mapping[Cell, OwnView]
    by: str
    report: RaterReport


def give_mark(store: Store, run_id: str, cell: Cell, mark: str | None, score: float | None = None) -> bool:
    """Keeps a mark (`good`, `bad`, None = none) and a score 0..1 where one was given.

    Where the test is marked by hand, that check gets the mark too, as history of the answer; True
    then, because the leaderboard is another one now.
    """
    store.set_mark(run_id, cell, mark, score)
    call = store.call(run_id, cell)
    before = call.score if call is not None else None
    after = _by_hand(before, mark, score) if before is not None else None
    if after is None or after == before:
        return False
    store.write([ScoreWrite(store.resolve(run_id), cell, after, datetime.now(UTC), "rescore")])
    return True


def _by_hand(before: CaseScore, mark: str | None, score: float | None) -> CaseScore | None:
    """The mark with its first check made by hand set or taken back; None where it has no such check."""
    place = next((n for n, check in enumerate(before.checks) if check.type == _BY_HAND), None)
    if place is None:
        return None
    if mark is not None:
        return with_mark(before, place, score if score is not None else float(mark == "good"))
    checks = list(before.checks)
    checks[place] = _waiting(checks[place])
    return combine(checks)


def _waiting(check: CheckResult) -> CheckResult:
    return replace(
        check,
        state=ScoreState.UNSCORED,
        score=None,
        passed=None,
        reason="Waits for a person to mark it.",
        reason_code=_BY_HAND,
    )


def read_marks(store: Store, run_id: str) -> MarkBook:
    """A person's marks with what the rater said of the same answers."""
    run_id = store.resolve(run_id)
    own = {m.cell: OwnView(m.mark == "good", m.score) for m in store.own_marks(run_id)}
    judged = store.rated_by(run_id, JUDGES)
    by, rated = (
        (BY_JUDGE, judged) if judged.counts else (BY_CHECKS, store.rated_as_a_whole(run_id, (_BY_HAND,)))
    )
    return MarkBook(run_id, own, by, rater_report(rated.marked, own, rated.counts))

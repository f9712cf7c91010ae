"""What a judge's comparisons of models say together, and how far a person's blind votes agree. Pure.

The unit of evidence is the test: what was said of a pair on one test, in all trials, is one vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.domain import Cell
from engine.stats.duels import LEFT, RIGHT, Choice, DuelResult, result_of_votes
from engine.stats.votes import Vote

_WORTH = {"win": 1.0, "tie": 0.5, "loss": 0.0}


@dataclass(frozen=True, slots=True)
class Pair:
    """One comparison of an answer with that of `rival` in the same test and trial.

    `result` is win, tie or loss of `cell`. `votes` are verdicts in both orders, `flips` those that
    the order decided.
    """

    cell: Cell
    rival: str
    result: str
    votes: int = 1
    flips: int = 0


@dataclass(frozen=True, slots=True)
class PairReport:
    """The ranking, and how steady the judge was.

    `pairs` counts comparisons, `unasked` those of them that needed no judge. Of `votes` verdicts
    `flipped` were decided by the order. Of `both` pairs on which judge and person each named a winner,
    `same` have the same one.
    """

    result: DuelResult
    pairs: int
    unasked: int
    votes: int
    flipped: int
    both: int = 0
    same: int = 0


def pair_report(pairs: Sequence[Pair], own: Iterable[Choice] = ()) -> PairReport | None:
    """What the comparisons say; None where there are none. `own` are a person's votes on them."""
    if not pairs:
        return None
    both, same = _agreement(pairs, own)
    return PairReport(
        result=result_of_votes(votes_of(pairs)),
        pairs=len(pairs),
        unasked=sum(pair.votes == 0 for pair in pairs),
        votes=sum(pair.votes for pair in pairs),
        flipped=sum(pair.flips for pair in pairs),
        both=both,
        same=same,
    )


def votes_of(pairs: Iterable[Pair]) -> list[Vote]:
    """One vote for each test and two models: the mean of what was said of them there."""
    said: dict[tuple[str, str, str], list[float]] = {}
    for pair in pairs:
        one, two = sorted((pair.cell.model_key, pair.rival))
        worth = _WORTH[pair.result]
        said.setdefault((pair.cell.case_id, one, two), []).append(
            worth if pair.cell.model_key == one else 1.0 - worth
        )
    return [Vote(one, two, sum(worth) / len(worth)) for (_, one, two), worth in said.items()]


def _agreement(pairs: Iterable[Pair], own: Iterable[Choice]) -> tuple[int, int]:
    """On how many pairs both named a winner, and on how many of them the same."""
    judged: dict[tuple[Cell, Cell], list[float]] = {}
    for pair in pairs:
        other = Cell(pair.rival, pair.cell.case_id, pair.cell.trial)
        worth = _WORTH[pair.result]
        judged.setdefault((pair.cell, other), []).append(worth)
        judged.setdefault((other, pair.cell), []).append(1.0 - worth)
    both = same = 0
    for choice in own:
        worth_of_left = judged.get((choice.left, choice.right))
        if worth_of_left is None or choice.choice not in (LEFT, RIGHT):
            continue
        mean = sum(worth_of_left) / len(worth_of_left)
        if mean == 0.5:
            continue
        both += 1
        same += (mean > 0.5) == (choice.choice == LEFT)
    return both, same

"""Blind duels: which two answers come next, on which sides, and what the votes say. Pure.

Everything follows from the seed and the votes given so far, so a duel that was left can be taken
up again, and an undone vote brings the same two answers back on the same sides.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from engine.domain import Cell
from engine.stats.board import Interval
from engine.stats.paired import holm
from engine.stats.planner import NEVER_ABOVE, NEVER_FACTOR
from engine.stats.special import normal_quantile
from engine.stats.votes import Strengths, Vote, bradley_terry

LEFT, RIGHT, TIE, SKIP = "left", "right", "tie", "skip"
CHOICES = (LEFT, RIGHT, TIE, SKIP)

FEWEST_VOTES = 6
"""Fewer votes than this cannot tell two models apart, however they fall."""

MOST_MEETINGS = 200
"""So many meetings of a pair are kept ready: more votes than a person gives."""

_CLOSE = 0.05
_ALPHA = 0.05
_POWER = 0.80
_EDGE = 1e-6
_SMALL = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """One given vote: the two answers and left, right, tie or skip."""

    left: Cell
    right: Cell
    choice: str


@dataclass(frozen=True, slots=True)
class Match:
    """Two answers to one case, on their sides."""

    case_id: str
    left: Cell
    right: Cell


@dataclass(frozen=True, slots=True)
class Arena:
    """Who can meet: the answers that may be shown, and how close the models are.

    `answers` are cells with an answer worth reading; `prints` say which of them are equal, so that
    nobody is asked to choose between two of the same. `standing` is each model's mark 0..1 where
    it has one: close models meet first.
    """

    answers: tuple[Cell, ...]
    prints: Mapping[Cell, Hashable]
    standing: Mapping[str, float]
    seed: int = 0


class Fixtures:
    """All matches of an arena in a fixed order per pair of models. Made once, asked often."""

    def __init__(self, arena: Arena) -> None:
        self._seed = arena.seed
        self._gaps: dict[tuple[str, str], float] = {}
        self._matches: dict[tuple[str, str], list[tuple[Cell, Cell]]] = {}
        self.equal_answers = 0
        """How many meetings are left out because both said the same."""
        by_place: dict[tuple[str, int], dict[str, Cell]] = {}
        for cell in arena.answers:
            by_place.setdefault((cell.case_id, cell.trial), {})[cell.model_key] = cell
        models = sorted({cell.model_key for cell in arena.answers})
        for pair in combinations(models, 2):
            found = list(self._meetings(pair, by_place, arena.prints))
            random.Random(f"{arena.seed} cases {pair}").shuffle(found)  # noqa: S311 - a fair order, no secret
            if found:
                self._matches[pair] = _first_trials(found)[:MOST_MEETINGS]
                self._gaps[pair] = _gap(arena.standing, pair)

    def _meetings(
        self,
        pair: tuple[str, str],
        by_place: Mapping[tuple[str, int], Mapping[str, Cell]],
        prints: Mapping[Cell, Hashable],
    ) -> Iterator[tuple[Cell, Cell]]:
        for answers in by_place.values():
            if pair[0] not in answers or pair[1] not in answers:
                continue
            one, two = answers[pair[0]], answers[pair[1]]
            if one in prints and prints[one] == prints.get(two):
                self.equal_answers += 1
                continue
            yield one, two

    @property
    def total(self) -> int:
        """How many votes can be given."""
        return sum(len(found) for found in self._matches.values())

    @property
    def models(self) -> int:
        """How many models meet anybody."""
        return len({key for pair in self._matches for key in pair})

    def next_match(self, given: Sequence[Choice]) -> Match | None:
        """The next two answers; None when every meeting has been shown.

        The pair with the fewest meetings for its closeness comes next: a pair of equals meets about
        ten times as often as one that is half the scale apart. Skipped meetings count as shown. Of
        a pair's meetings those on a case that was not just shown come first.
        """
        shown: Counter[tuple[str, str]] = Counter()
        gone: set[tuple[Cell, Cell]] = set()
        for vote in given:
            shown[_pair(vote.left, vote.right)] += 1
            gone |= {(vote.left, vote.right), (vote.right, vote.left)}
        recent = {vote.left.case_id for vote in given[-1:]}
        waiting = {
            pair: [both for both in found if both not in gone] for pair, found in self._matches.items()
        }
        open_pairs = [pair for pair, found in waiting.items() if found]
        if not open_pairs:
            return None
        pair = min(open_pairs, key=lambda p: ((shown[p] + 1) * (_CLOSE + self._gaps[p]), self._gaps[p], p))
        both = next((b for b in waiting[pair] if b[0].case_id not in recent), waiting[pair][0])
        return self._seated(both, shown[pair])

    def _seated(self, both: tuple[Cell, Cell], number: int) -> Match:
        """The two on their sides: of every two meetings of a pair, one is each way round."""
        pair = _pair(*both)
        draw = random.Random(f"{self._seed} sides {pair} {number // 2}").random() < 0.5  # noqa: S311
        turned = draw if number % 2 == 0 else not draw
        left, right = both[::-1] if turned else both
        return Match(left.case_id, left, right)


def _pair(one: Cell, two: Cell) -> tuple[str, str]:
    first, second = sorted((one.model_key, two.model_key))
    return first, second


def _gap(standing: Mapping[str, float], pair: tuple[str, str]) -> float:
    """How far two models are apart; half the scale where it is not known."""
    known = [standing[key] for key in pair if key in standing]
    return abs(known[0] - known[1]) if len(known) == 2 else 0.5


def _first_trials(found: list[tuple[Cell, Cell]]) -> list[tuple[Cell, Cell]]:
    """Every case once before any case again: the case is the unit of evidence."""
    seen: Counter[str] = Counter()
    rounds: list[tuple[int, int]] = []
    for place, (one, _) in enumerate(found):
        rounds.append((seen[one.case_id], place))
        seen[one.case_id] += 1
    return [found[place] for _, place in sorted(rounds)]


@dataclass(frozen=True, slots=True)
class Preference:
    """One model in the votes: the chance 0..1 that its answer is preferred to another model's.

    `interval` is where that chance most likely lies. `wins`, `losses`, `ties` are votes.
    """

    model_key: str
    chance: float
    interval: Interval
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True)
class DuelResult:
    """What the votes say.

    `code`: no_votes; few_votes (fewer than `FEWEST_VOTES`); preferred (`first` is preferred to
    `second`, and more votes are not needed for that); too_close. `more` is how many more votes would
    settle a gap of the size seen, None with `may_never` where they may never, or where it is settled.
    `rows` are best first. `rough`: somebody won or lost every vote, so chances are held back.
    """

    code: str
    votes: int
    skipped: int
    rows: tuple[Preference, ...] = ()
    first: str | None = None
    second: str | None = None
    more: int | None = None
    may_never: bool = False
    rough: bool = False


def duel_result(given: Sequence[Choice]) -> DuelResult:
    """Bradley-Terry over the votes, ties half a win each, skipped ones left out."""
    counted = [vote for vote in given if vote.choice != SKIP]
    skipped = len(given) - len(counted)
    if not counted:
        return DuelResult("no_votes", 0, skipped)
    outcome = {LEFT: 1.0, RIGHT: 0.0, TIE: 0.5}
    votes = [Vote(v.left.model_key, v.right.model_key, outcome[v.choice]) for v in counted]
    return result_of_votes(votes, skipped)


def result_of_votes(votes: Sequence[Vote], skipped: int = 0) -> DuelResult:
    """What at least one vote says. An outcome between a win and a tie counts as won."""
    strengths = bradley_terry(votes)
    rows = sorted(
        (_preference(key, strengths, votes) for key in strengths.theta),
        key=lambda row: (-round(row.chance, 9), row.model_key),
    )
    names = (rows[0].model_key, rows[1].model_key)
    told = DuelResult("few_votes", len(votes), skipped, tuple(rows), *names, rough=strengths.ridged)
    return _decided(told, strengths, votes)


def _preference(key: str, strengths: Strengths, votes: Sequence[Vote]) -> Preference:
    chance, interval = _chance(key, strengths)
    mine = [v.outcome if v.a == key else 1.0 - v.outcome for v in votes if key in (v.a, v.b)]
    won, lost = sum(outcome > 0.5 for outcome in mine), sum(outcome < 0.5 for outcome in mine)
    return Preference(key, chance, interval, won, lost, len(mine) - won - lost)


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0.0 else math.exp(x) / (1.0 + math.exp(x))


def _chance(key: str, strengths: Strengths) -> tuple[float, Interval]:
    """The mean chance against each of the others, its error by the delta method on the logit."""
    others = [name for name in strengths.theta if name != key]
    chances = {name: _logistic(strengths.theta[key] - strengths.theta[name]) for name in others}
    mean = sum(chances.values()) / len(others)
    slope = {name: -p * (1.0 - p) / len(others) for name, p in chances.items()}
    slope[key] = -sum(slope.values())
    variance = sum(slope[a] * slope[b] * strengths.covariance[a, b] for a in slope for b in slope)
    inside = min(1.0 - _EDGE, max(_EDGE, mean))
    half = normal_quantile(0.975) * math.sqrt(max(0.0, variance)) / (inside * (1.0 - inside))
    middle = math.log(inside / (1.0 - inside))
    return mean, Interval(_logistic(middle - half), _logistic(middle + half))


def _decided(told: DuelResult, strengths: Strengths, votes: Sequence[Vote]) -> DuelResult:
    first, second = str(told.first), str(told.second)
    if told.votes < FEWEST_VOTES:
        return replace(told, more=FEWEST_VOTES - told.votes)
    pairs = list(combinations(strengths.theta, 2))
    p_values = holm([_p(*strengths.gap(a, b)) for a, b in pairs])
    p_of = {frozenset(pair): p for pair, p in zip(pairs, p_values, strict=True)}
    p = p_of[frozenset((first, second))]
    if p is not None and p <= _ALPHA and _signs_agree(first, second, votes):
        return replace(told, code="preferred")
    more = _more_votes(strengths.gap(first, second), told.votes, len(pairs))
    return replace(told, code="too_close", more=more, may_never=more is None)


def _p(gap: float, error: float) -> float:
    """Two-sided p of a gap; without an error nothing is shown."""
    if error <= 0.0:
        return 1.0
    return math.erfc(abs(gap) / error / math.sqrt(2.0))


def _signs_agree(first: str, second: str, votes: Sequence[Vote]) -> bool:
    """With few votes, the exact sign test over the votes that the two are judged by must agree.

    Those are the votes between the two; where they hardly met, all votes of the first.
    """
    if len(votes) >= _SMALL:
        return True
    direct = [v for v in votes if {v.a, v.b} == {first, second}]
    told = direct if len(direct) >= FEWEST_VOTES else [v for v in votes if first in (v.a, v.b)]
    outcomes = [v.outcome if v.a == first else 1.0 - v.outcome for v in told]
    wins, losses = sum(outcome > 0.5 for outcome in outcomes), sum(outcome < 0.5 for outcome in outcomes)
    total = wins + losses
    tail = sum(math.comb(total, k) for k in range(max(wins, losses), total + 1)) / 2.0**total
    return min(1.0, 2.0 * tail) <= _ALPHA


def _more_votes(gap: tuple[float, float], votes: int, pairs: int) -> int | None:
    """How many more votes of this kind would show a gap of this size 4 times in 5."""
    size, error = gap
    if size <= 0.0 or error <= 0.0:
        return None
    wanted = normal_quantile(1.0 - _ALPHA / pairs / 2.0) + normal_quantile(_POWER)
    total = votes * (wanted * error / size) ** 2
    if total > NEVER_ABOVE or total > NEVER_FACTOR * votes:
        return None
    return max(1, math.ceil(total - votes - 1e-9))

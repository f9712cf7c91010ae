"""Releases of one model over the runs of a project, and what got worse from one to the next. Pure.

A release is a model id together with the version that the service said it was. A version that was
not told is unknown: it never makes a release of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from engine.config.schema import Config
from engine.domain import Case
from engine.stats.board import PairResult
from engine.stats.inputs import seeds
from engine.stats.paired import holm
from engine.stats.samples import make_grid
from engine.stats.verdict import Contestant, Terms, compare_two, verdict_row

_SAME = 1e-9

# What a vendor puts behind a name to tell releases apart: a date, a build, "latest" or "preview".
_RELEASE_ENDING = re.compile(
    r"(?:[-_@:.]?\d{4}[-_.]?\d{2}[-_.]?\d{2}"
    r"|[-_@:.](?:\d{2}-\d{4}|\d{2}-\d{2}|latest|preview|exp|experimental|stable|v\d+|\d{3,4}))$"
)
_NUMBERS = re.compile(r"(\d+)")


class Step(StrEnum):
    """How one release followed another: under another id of the same name, under the same id by
    the service itself, or as another model under the same key."""

    NEW_ID = "new_id"
    SILENT = "silent"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Appearance:
    """One entry in one run. `number` counts the runs of the project."""

    run_id: str
    number: int
    at: datetime
    model_key: str
    label: str
    model: str
    reported: str | None = None

    @property
    def release(self) -> str:
        """What tells releases apart: the id, and the version the service reported where it differs."""
        told = self.reported
        return self.model if not told or told == self.model else f"{self.model} ({told})"


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """From one release to the next; both are compared in the runs named here."""

    family: str
    kind: Step
    before: Appearance
    after: Appearance


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """A step with what it changed on the cases that both were asked unchanged.

    `pair` is after - before on the mean mark, with its row of the verdict; None where nothing was
    marked in both. `worse` and `better` are case ids, largest change first. `other_cases` counts
    cases that are not in both or were changed.
    """

    step: ReleaseStep
    pair: PairResult | None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    other_cases: int = 0

    @property
    def got_worse(self) -> bool:
        """Whether the tests show that the newer release is worse."""
        pair = self.pair
        return pair is not None and pair.row in (4, 5) and (pair.delta or 0.0) < 0.0


def family(model: str) -> str:
    """The name of a model without what tells its releases apart: `gpt-x-2026-05-01` is `gpt-x`."""
    name = model.strip().lower().rsplit("/", 1)[-1]
    while True:
        shorter = _RELEASE_ENDING.sub("", name)
        if shorter == name or not any(letter.isalpha() for letter in shorter):
            return name
        name = shorter


def release_steps(appearances: Sequence[Appearance]) -> tuple[ReleaseStep, ...]:
    """All steps from one release to the next, newest first.

    Releases that took part in one run are compared there, in the newest such run; otherwise the
    last run of the older one stands against the first run of the newer one.
    """
    steps: list[ReleaseStep] = []
    for name, members in _families(appearances).items():
        releases = _releases(members)
        for before, after in pairwise(releases):
            steps.append(_step(name, before, after))
    steps += _replacements(appearances)
    return tuple(sorted(steps, key=lambda step: (step.after.at, step.after.model_key), reverse=True))


def _families(appearances: Sequence[Appearance]) -> dict[str, list[Appearance]]:
    found: dict[str, list[Appearance]] = {}
    for seen in sorted(appearances, key=lambda item: item.at):
        if seen.model:
            found.setdefault(family(seen.model), []).append(seen)
    return found


def _releases(members: Sequence[Appearance]) -> list[list[Appearance]]:
    """The appearances of a family by release, in the order the releases came."""
    told: dict[tuple[str, str], str] = {}
    for seen in members:
        if seen.reported:
            told.setdefault((seen.model_key, seen.model), seen.reported)
    found: dict[str, list[Appearance]] = {}
    for seen in members:
        known = seen.reported or told.get((seen.model_key, seen.model))
        found.setdefault(replace(seen, reported=known).release, []).append(seen)
    return sorted(found.values(), key=lambda group: (group[0].at, _natural(group[0].release)))


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts numbers inside names as numbers."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in _NUMBERS.split(text))


def _step(name: str, before: Sequence[Appearance], after: Sequence[Appearance]) -> ReleaseStep:
    there = {seen.run_id: seen for seen in before}
    together = [seen for seen in after if seen.run_id in there]
    old, new = (there[together[-1].run_id], together[-1]) if together else (before[-1], after[0])
    kind = Step.SILENT if old.model == new.model else Step.NEW_ID
    return ReleaseStep(name, kind, old, new)


def _replacements(appearances: Sequence[Appearance]) -> list[ReleaseStep]:
    """Steps where another model took the place behind a key."""
    steps: list[ReleaseStep] = []
    last: dict[str, Appearance] = {}
    for seen in sorted(appearances, key=lambda item: item.at):
        before = last.get(seen.model_key)
        last[seen.model_key] = seen
        if before is None or not before.model or not seen.model:
            continue
        if family(before.model) != family(seen.model):
            steps.append(ReleaseStep(seen.model_key, Step.REPLACED, before, seen))
    return steps


@dataclass(frozen=True, slots=True)
class ReleaseMarks:
    """The mean marks of a step's two sides by case; `cases` are those that are the same in both."""

    step: ReleaseStep
    cases: tuple[Case, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]
    other_cases: int = 0


def compare_releases(
    steps: Sequence[ReleaseMarks], config: Config, *, should_stop: Callable[[], bool] | None = None
) -> tuple[ReleaseChange, ...]:
    """What each step changed, with Holm over all steps that can be compared."""
    changes = [_change(marks, config, should_stop) for marks in steps]
    adjusted = holm([change.pair.p if change.pair else None for change in changes if change.pair])
    result, place = [], 0
    for change in changes:
        if change.pair is None:
            result.append(change)
            continue
        pair = replace(change.pair, p_holm=adjusted[place])
        place += 1
        row = verdict_row(pair, config.statistics.margin)
        result.append(replace(change, pair=replace(pair, row=row)))
    return tuple(result)


def _change(marks: ReleaseMarks, config: Config, should_stop: Callable[[], bool] | None) -> ReleaseChange:
    import numpy as np

    grid = make_grid(marks.cases)

    def side(name: str, means: Mapping[str, float]) -> Contestant:
        values = np.array([means.get(case, np.nan) for case in grid.case_ids], dtype=np.float64)
        known = values[~np.isnan(values)]
        return Contestant(name, float(known.mean()) if len(known) else 0.0, None, values)

    terms = Terms(
        grid.weights,
        grid.unit_of,
        config.statistics.margin,
        seed=seeds(config),
        should_stop=should_stop,
    )
    pair = compare_two(side("after", marks.after), side("before", marks.before), terms)
    gaps = [
        (marks.after[name] - marks.before[name], name)
        for name in grid.case_ids
        if name in marks.after and name in marks.before
    ]
    better = sorted((-gap, name) for gap, name in gaps if gap > _SAME)
    worse = sorted((gap, name) for gap, name in gaps if gap < -_SAME)
    return ReleaseChange(
        step=marks.step,
        pair=pair if pair.cases else None,
        better=tuple(name for _, name in better),
        worse=tuple(name for _, name in worse),
        same=tuple(name for gap, name in gaps if abs(gap) <= _SAME),
        other_cases=marks.other_cases,
    )

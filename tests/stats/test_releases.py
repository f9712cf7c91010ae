"""Releases of a model: what belongs together, what follows what, what got worse."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.config.schema import Config
from engine.domain import Case
from engine.stats.releases import (
    Appearance,
    ReleaseMarks,
    ReleaseStep,
    Step,
    compare_releases,
    family,
    release_steps,
)

START = datetime(2026, 11, 3, 14, 5, tzinfo=UTC)


def seen(run: int, model: str, key: str = "m", reported: str | None = None) -> Appearance:
    return Appearance(f"run_{run}", run, START + timedelta(days=run), key, key.title(), model, reported)


def told(steps: tuple[ReleaseStep, ...]) -> list[tuple[str, str, str, int, int]]:
    return [
        (step.kind.value, step.before.release, step.after.release, step.before.number, step.after.number)
        for step in steps
    ]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-x-2026-05-01", "gpt-x"),
        ("claude-y-4-5-20261022", "claude-y-4-5"),
        ("anthropic/claude-y@20261022", "claude-y"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("command-r-08-2026", "command-r"),
        ("gpt-4-1106-preview", "gpt-4"),
        ("model-v2", "model"),
        ("Mistral-Large-Latest", "mistral-large"),
        ("llama-3.2-1b", "llama-3.2-1b"),
        ("gpt-5", "gpt-5"),
        ("phi-3-mini-128k", "phi-3-mini-128k"),
        ("2026-05-01", "2026-05-01"),
        ("", ""),
    ],
)
def test_the_name_of_a_model_without_its_release(model: str, name: str) -> None:
    assert family(model) == name


def test_the_same_release_over_many_runs_is_no_step() -> None:
    assert release_steps([seen(1, "gpt-x"), seen(2, "gpt-x"), seen(3, "gpt-x", reported="gpt-x")]) == ()


def test_a_new_id_follows_the_last_run_of_the_old_one() -> None:
    steps = release_steps([seen(1, "gpt-x-0613"), seen(2, "gpt-x-0613"), seen(3, "gpt-x-1106")])
    assert told(steps) == [("new_id", "gpt-x-0613", "gpt-x-1106", 2, 3)]


def test_a_version_that_the_service_changed_by_itself_is_a_step() -> None:
    steps = release_steps(
        [
            seen(1, "gpt-x", reported="gpt-x-2026-01-01"),
            seen(2, "gpt-x", reported="gpt-x-2026-01-01"),
            seen(3, "gpt-x", reported="gpt-x-2026-06-01"),
        ]
    )
    assert told(steps) == [("silent", "gpt-x (gpt-x-2026-01-01)", "gpt-x (gpt-x-2026-06-01)", 2, 3)]


def test_a_version_that_was_not_told_is_no_release_of_its_own() -> None:
    steps = release_steps(
        [seen(1, "gpt-x"), seen(2, "gpt-x", reported="gpt-x-2026-01-01"), seen(3, "gpt-x", reported=None)]
    )
    assert steps == ()


def test_two_releases_side_by_side_are_compared_in_the_newest_common_run() -> None:
    steps = release_steps(
        [
            seen(1, "gpt-x-0613", "old"),
            seen(2, "gpt-x-0613", "old"),
            seen(2, "gpt-x-1106", "new"),
            seen(3, "gpt-x-0613", "old"),
            seen(3, "gpt-x-1106", "new"),
            seen(4, "gpt-x-1106", "new"),
        ]
    )
    (step,) = steps
    assert (step.before.model_key, step.after.model_key) == ("old", "new")
    assert (step.before.number, step.after.number) == (3, 3)


def test_releases_that_came_in_one_run_follow_each_other_by_their_numbers() -> None:
    steps = release_steps([seen(1, "model-v10", "b"), seen(1, "model-v9", "a")])
    assert told(steps) == [("new_id", "model-v9", "model-v10", 1, 1)]


def test_another_model_behind_a_key_is_a_replacement() -> None:
    steps = release_steps([seen(1, "gpt-x"), seen(2, "claude-y")])
    assert told(steps) == [("replaced", "gpt-x", "claude-y", 1, 2)]
    assert steps[0].kind is Step.REPLACED


def test_steps_come_newest_first() -> None:
    steps = release_steps([seen(3, "a-v3"), seen(1, "a-v1"), seen(2, "a-v2")])
    assert [step.after.model for step in steps] == ["a-v3", "a-v2"]


CASES = tuple(Case(id=f"c{number:02}", fingerprint=str(number)) for number in range(40))
STEP = ReleaseStep("a", Step.NEW_ID, seen(1, "a-v1"), seen(2, "a-v2"))


def marks(before: float, after: float, count: int = 40) -> ReleaseMarks:
    """`before` of the cases were right, then `after` of them, each from the first on."""
    cases = CASES[:count]

    def means(share: float) -> dict[str, float]:
        return {case.id: float(number < share * count) for number, case in enumerate(cases)}

    return ReleaseMarks(STEP, cases, means(before), means(after), other_cases=3)


def test_a_release_that_got_worse_is_told_with_its_cases() -> None:
    (change,) = compare_releases([marks(0.9, 0.5)], Config())
    assert change.got_worse
    assert change.pair is not None
    assert (change.pair.row, change.pair.delta) == (4, pytest.approx(-0.4))
    assert len(change.worse) == 16
    assert change.better == ()
    assert len(change.same) == 24
    assert change.other_cases == 3


def test_a_small_fall_is_not_called_worse() -> None:
    (change,) = compare_releases([marks(0.9, 0.85)], Config())
    assert change.worse == ("c34", "c35")
    assert not change.got_worse
    (better,) = compare_releases([marks(0.5, 0.9)], Config())
    assert not better.got_worse


def test_the_largest_fall_comes_first() -> None:
    sides = {"c00": 1.0, "c01": 1.0}, {"c00": 0.8, "c01": 0.2}
    (change,) = compare_releases([ReleaseMarks(STEP, CASES[:2], *sides)], Config())
    assert change.worse == ("c01", "c00")


def test_many_steps_are_held_to_the_same_bar_together() -> None:
    alone = compare_releases([marks(0.8, 0.62)], Config())[0]
    several = compare_releases([marks(0.8, 0.62), *[marks(0.5, 0.5)] * 30], Config())[0]
    assert alone.pair is not None
    assert several.pair is not None
    assert alone.pair.p == several.pair.p
    assert (alone.got_worse, several.got_worse) == (True, False)


def test_nothing_marked_in_both_is_no_comparison() -> None:
    (change,) = compare_releases([ReleaseMarks(STEP, CASES[:2], {"c00": 1.0}, {"c01": 1.0})], Config())
    assert change.pair is None
    assert not change.got_worse
    (empty,) = compare_releases([ReleaseMarks(STEP, (), {}, {})], Config())
    assert empty.pair is None


def test_groups_are_one_unit() -> None:
    cases = tuple(Case(id=f"c{n:02}", group=f"g{n // 10}") for n in range(40))
    before = dict.fromkeys((case.id for case in cases), 1.0)
    after = {case.id: float(n >= 20) for n, case in enumerate(cases)}
    (change,) = compare_releases([ReleaseMarks(STEP, cases, before, after)], Config())
    assert change.pair is not None
    assert change.pair.unit_count == 4
    assert not change.got_worse

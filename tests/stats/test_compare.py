"""Two runs on the cases both share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.config.schema import Defaults, MetricRule
from engine.domain import Case
from engine.stats.compare import compare_runs
from tests.stats.builders import board_input, config_with, patterns, scored


def cases(count: int, *, changed: tuple[int, ...] = (), start: int = 0) -> list[Case]:
    return [Case(id=f"c{n:03}", fingerprint=f"{n}{'x' if n in changed else ''}") for n in range(start, count)]


def test_only_unchanged_shared_cases_count() -> None:
    before = board_input(patterns({"a": "1 1 0 0 1 1 1 1"}), cases=cases(8))
    after = board_input(patterns({"a": "1 1 1 1 0 1 1 1 1"}), cases=cases(9, changed=(7,), start=1))
    found = compare_runs(before, after)
    assert found.shared == ("c001", "c002", "c003", "c004", "c005", "c006")
    assert (found.changed, found.only_before, found.only_after) == (("c007",), ("c000",), ("c008",))
    (change,) = found.models
    assert (change.before.passed_cases, change.after.passed_cases) == (4, 5)
    assert change.before.scored_cases == 6
    assert (change.better, change.worse) == (("c002", "c003"), ("c004",))
    assert len(change.same) == 3
    assert change.pair is not None
    assert (change.pair.a, change.pair.b, change.pair.row) == ("after", "before", 3)
    assert change.pair.delta == pytest.approx(1 / 6)


def test_a_clear_improvement_is_row_4() -> None:
    before = board_input(patterns({"a": "0 " * 20 + "1 " * 20, "b": "1 0 " * 20}))
    after = board_input(patterns({"a": "1 " * 40, "b": "1 0 " * 20}))
    found = compare_runs(before, after)
    assert [(c.model_key, c.pair.row if c.pair else None) for c in found.models] == [("a", 4), ("b", 3)]
    assert found.composite_comparable


def test_less_is_better_turns_better_and_worse() -> None:
    config = config_with(deciding="latency")
    before = board_input([scored("a", "c0", 1, 1.0, latency=100.0)], config=config)
    after = board_input([scored("a", "c0", 1, 1.0, latency=50.0)], config=config)
    (change,) = compare_runs(before, after).models
    assert change.better == ("c0",)
    assert (change.before.latency_p50_ms, change.after.latency_p50_ms) == (100.0, 50.0)


@pytest.mark.parametrize(("metric", "direction"), [("accuracy", "min"), ("latency", "max")])
def test_the_direction_is_the_one_the_project_gives(metric: str, direction: str) -> None:
    config = config_with(deciding=metric, rules={metric: MetricRule(direction=direction)})
    before = board_input([scored("a", "c0", 1, 0.0, latency=50.0)], config=config)
    after = board_input([scored("a", "c0", 1, 1.0, latency=100.0)], config=config)
    (change,) = compare_runs(before, after).models
    assert change.less_is_better == (direction == "min")
    assert (change.better, change.worse) == ((), ("c0",)) if direction == "min" else (("c0",), ())


def test_what_is_not_in_both_is_named() -> None:
    before = board_input(patterns({"a": "1", "old": "1"}))
    after = board_input(patterns({"a": "1", "new": "1"}))
    found = compare_runs(before, after)
    assert (found.models_only_before, found.models_only_after) == (("old",), ("new",))
    assert [change.model_key for change in found.models] == ["a"]


def test_nothing_shared_is_a_problem_and_not_a_zero() -> None:
    before = board_input(patterns({"a": "1"}), cases=[Case(id="c000", fingerprint="1")])
    after = board_input(patterns({"a": "1"}), cases=[Case(id="c000", fingerprint="2")])
    found = compare_runs(before, after)
    assert found.problem is not None
    assert found.problem.code == "no_shared_cases"
    assert found.models == ()
    other = compare_runs(board_input(patterns({"a": "1"})), board_input(patterns({"b": "1"})))
    assert other.problem is not None
    assert other.problem.code == "no_shared_models"


def test_a_model_without_marks_has_no_pair() -> None:
    before = board_input([scored("a", "c0", 1, None)])
    after = board_input([scored("a", "c0", 1, 1.0)])
    (change,) = compare_runs(before, after).models
    assert change.pair is None
    assert (change.before.mean, change.after.mean) == (None, 1.0)


def test_changed_instructions_and_entries_are_told() -> None:
    before = board_input(patterns({"a": "1"}))
    after = replace(before, config=replace(before.config, defaults=Defaults(system="Be kind.")))
    after = replace(after, entries=(replace(before.entries[0], temperature=0.5, label="other words"),))
    found = compare_runs(before, after)
    assert found.instructions_changed
    assert found.models[0].entry_changed
    same = compare_runs(before, replace(before, entries=(replace(before.entries[0], label="other"),)))
    assert not same.models[0].entry_changed
    assert not same.instructions_changed


def test_composites_compare_only_on_the_same_scale() -> None:
    plain = board_input(patterns({"a": "1"}))
    relative = replace(plain, config=config_with({"accuracy": 1, "cost": 1}))
    other = replace(plain, config=config_with({"reliability": 1}))
    assert compare_runs(plain, plain).composite_comparable
    assert not compare_runs(plain, relative).composite_comparable
    assert not compare_runs(relative, relative).composite_comparable
    assert not compare_runs(plain, other).composite_comparable

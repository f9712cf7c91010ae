"""What must hold for every project: hypothesis looks for one where it does not."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config.schema import Config, Constraints, MetricRule, Metrics, Statistics
from engine.domain import CallDone, Case
from engine.stats.board import Entry, EntryStatus, Leaderboard
from engine.stats.leaderboard import BoardInput, board_from_json, board_to_json, build_board
from engine.stats.metrics import reading
from tests.stats.builders import board_input, failed, scored, stopped

QUICK = Statistics(resamples=100)
METRICS = ("accuracy", "cost", "latency", "latency_p95", "reliability", "tokens", "pass_rate")


@st.composite
def projects(draw: st.DrawFn) -> BoardInput:
    """A small run of anything: errors, stops, unmarked answers, unknown prices, groups, weights, gates."""
    models = draw(st.integers(1, 5))
    count, trials = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    grade = st.sampled_from([0.0, 1.0]) if draw(st.booleans()) else st.sampled_from([0.0, 0.25, 0.7, 1.0])
    weight = st.sampled_from([1.0, 1.0, 0.3, 4.0, 0.0]) if draw(st.booleans()) else st.just(1.0)
    group = st.sampled_from([None, "g", "h"]) if draw(st.booleans()) else st.none()
    cases = [Case(id=f"c{n}", weight=draw(weight), group=draw(group)) for n in range(count)]
    calls: list[CallDone] = []
    for model in range(models):
        priced = draw(st.booleans())
        price = draw(st.sampled_from(["0", "0.001", "0.002", "0.02"]))
        wait = draw(st.sampled_from([10.0, 10.0, 200.0, 3000.0]))
        for case in cases:
            for trial in range(1, trials + 1):
                kind = draw(st.integers(0, 11))
                cell = (f"m{model}", case.id, trial)
                if kind == 0:
                    calls.append(failed(*cell))
                elif kind == 1:
                    calls.append(stopped(*cell))
                else:
                    score = None if kind == 2 else draw(grade)
                    calls.append(scored(*cell, score, cost=price if priced else None, latency=wait))
    weights = draw(st.dictionaries(st.sampled_from(METRICS), st.floats(0.05, 3), min_size=1, max_size=4))
    rules = (
        {"cost": MetricRule(target=1.5), "latency": MetricRule(target=150.0)} if draw(st.booleans()) else {}
    )
    metrics = Metrics(
        weights=weights,
        tie_breaker=draw(st.sampled_from(METRICS)),
        deciding=draw(st.sampled_from(["accuracy", "accuracy", "pass_rate", "latency", "cost"])),
        rules=rules,
    )
    gates = draw(st.sampled_from([Constraints(), Constraints(min_accuracy=0.5),
                                  Constraints(max_cost_per_1k_calls_usd=Decimal("1.5"))]))  # fmt: skip
    statistics = replace(QUICK, min_coverage=draw(st.sampled_from([0.0, 0.9])))
    config = replace(Config(), metrics=metrics, constraints=gates, statistics=statistics)
    keys = [f"m{n}" for n in range(models)]
    return board_input(calls, cases=cases, config=config, models=keys, trials=trials)


def ranked(board: Leaderboard) -> list[Entry]:
    return [entry for entry in board.entries if entry.rank is not None]


def is_dominated(one: Entry, by: Entry, config: Config) -> bool:
    """No better on any weighted metric, worse on one, all values known."""
    worse = False
    for name, weight in config.metrics.weights.items():
        mine, theirs = one.metrics[name].raw, by.metrics[name].raw
        if weight <= 0:
            continue
        if mine is None or theirs is None:
            return False
        rule = reading(name, config.metrics.rules)
        if rule.better(mine, theirs):
            return False
        worse = worse or (
            rule.better(theirs, mine) and abs(mine - theirs) > 1e-9 * max(abs(mine), abs(theirs))
        )
    return worse


@settings(deadline=None, max_examples=120)
@given(projects())
def test_a_dominated_model_never_outranks_its_better(data: BoardInput) -> None:
    board = build_board(data)
    order = ranked(board)
    for place, upper in enumerate(order):
        for lower in order[place + 1 :]:
            assert not is_dominated(upper, lower, data.config)


@settings(deadline=None, max_examples=80)
@given(projects())
def test_ranks_follow_the_composite_and_share_ties(data: BoardInput) -> None:
    board = build_board(data)
    order = ranked(board)
    assert [entry.status for entry in order] == [EntryStatus.RANKED] * len(order)
    for place, entry in enumerate(order, start=1):
        if place > 1 and entry.rank != place:
            above = order[place - 2]
            assert entry.rank == above.rank
            assert abs((entry.composite or 0) - (above.composite or 0)) <= 1e-9
    behind = {entry.model_key for entry in order for item in entry.warnings if item.code == "dominated"}
    free = [entry.composite or 0.0 for entry in order if entry.model_key not in behind]
    assert all(above >= below - 1e-9 for above, below in itertools.pairwise(free))
    assert board.winner == (order[0].model_key if order else None)


@settings(deadline=None, max_examples=80)
@given(projects(), st.randoms(use_true_random=False))
def test_order_changes_nothing(data: BoardInput, rng: random.Random) -> None:
    board = build_board(data)
    calls, cases, entries = list(data.calls), list(data.cases), list(data.entries)
    for items in (calls, cases, entries):
        rng.shuffle(items)
    assert build_board(replace(data, calls=calls, cases=tuple(cases), entries=tuple(entries))) == board


@settings(deadline=None, max_examples=60)
@given(projects())
def test_renumbering_trials_changes_no_number(data: BoardInput) -> None:
    board = build_board(data)
    turned = [
        replace(call, cell=call.cell._replace(trial=data.trials + 1 - call.cell.trial)) for call in data.calls
    ]
    again = build_board(replace(data, calls=turned))
    assert [entry.model_key for entry in again.entries] == [entry.model_key for entry in board.entries]
    for one, two in zip(board.entries, again.entries, strict=True):
        assert (one.rank, one.status, one.passed_cases) == (two.rank, two.status, two.passed_cases)
        assert (one.composite is None) == (two.composite is None)
        assert abs((one.composite or 0.0) - (two.composite or 0.0)) < 1e-9


@settings(deadline=None, max_examples=80)
@given(projects())
def test_gates_exclude(data: BoardInput) -> None:
    board = build_board(data)
    for entry in board.entries:
        limits = data.config.constraints
        broken = False
        if limits.min_accuracy is not None:
            known = entry.metrics["accuracy"].raw
            broken = known is None or known < limits.min_accuracy - 1e-9
        if limits.max_cost_per_1k_calls_usd is not None:
            cost = entry.metrics["cost"].raw
            broken = cost is None or cost > float(limits.max_cost_per_1k_calls_usd) + 1e-9
        if broken and entry.answered:
            assert entry.status is EntryStatus.FAILED
            assert entry.rank is None
            assert entry.chance_first is None
            assert entry.failures
        assert (entry.status is EntryStatus.FAILED) == (broken and entry.answered > 0)


@settings(deadline=None, max_examples=80)
@given(projects())
def test_what_is_ruled_out_or_empty_never_moves_a_range(data: BoardInput) -> None:
    """Taking such models out of the project changes no composite of the others."""
    board = build_board(data)
    out = {e.model_key for e in board.entries if e.status in (EntryStatus.FAILED, EntryStatus.NO_DATA)}
    kept = tuple(entry for entry in data.entries if entry.key not in out)
    smaller = build_board(replace(data, entries=kept))
    before = {
        e.model_key: (e.rank, e.composite, e.chance_first) for e in board.entries if e.model_key not in out
    }
    assert before == {e.model_key: (e.rank, e.composite, e.chance_first) for e in smaller.entries}
    assert smaller.verdict.row == board.verdict.row
    assert smaller.pairs == board.pairs


@settings(deadline=None, max_examples=80)
@given(projects())
def test_unknown_never_counts(data: BoardInput) -> None:
    board = build_board(data)
    for entry in board.entries:
        total = sum(term.contribution or 0.0 for term in entry.metrics.values())
        used = sum(term.weight for term in entry.metrics.values())
        for term in entry.metrics.values():
            if term.raw is None:
                assert (term.normalized, term.contribution, term.weight) == (None, None, 0.0)
        if entry.composite is None:
            assert used == 0.0
            assert entry.rank is None
        else:
            assert abs(used - 1.0) < 1e-9
            assert abs(total - entry.composite) < 1e-9


@settings(deadline=None, max_examples=80)
@given(projects())
def test_boards_are_finite_and_survive_storing(data: BoardInput) -> None:
    board = build_board(data)
    text = json.dumps(board_to_json(board), allow_nan=False)
    assert board_from_json(json.loads(text)) == board


@settings(deadline=None, max_examples=80)
@given(projects())
def test_chances_and_verdict_hold_together(data: BoardInput) -> None:
    board = build_board(data)
    chances = [entry.chance_first for entry in board.entries if entry.chance_first is not None]
    if chances:
        assert abs(sum(chances) - 1.0) < 1e-9
    verdict = board.verdict
    status = {entry.model_key: entry.status for entry in board.entries}
    assert all(status[key] is EntryStatus.RANKED for key in verdict.tied)
    if verdict.row is None:
        assert verdict.code in ("none_ranked", "only_one", "nothing_scored")
        return
    assert verdict.leader == verdict.a == verdict.tied[0]
    assert verdict.pair is not None
    assert verdict.pair.row == verdict.row
    assert {verdict.pair.a, verdict.pair.b} == {verdict.a, verdict.b}
    assert (verdict.planner is not None) == (verdict.row in (1, 3, 7))
    count = sum(entry.deciding_place is not None for entry in board.entries)
    assert len(board.pairs) == count * (count - 1) // 2
    for pair in board.pairs:
        if pair.p is not None:
            assert pair.p_holm is not None
            assert pair.p <= pair.p_holm <= 1.0
        assert pair.differing <= pair.unit_count <= pair.cases
        assert pair.units <= pair.unit_count + 1e-6

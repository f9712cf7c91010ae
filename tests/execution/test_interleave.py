"""Lanes are mixed in proportion to their widths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.execution.interleave import SmoothRoundRobin, interleave
from tests.execution.sim import Bad, Ok, Sim, plan, rate_limited


def test_the_worked_example() -> None:
    rows = {"A": "AAAAAA", "B": "BB", "C": "CCCC"}
    assert "".join(interleave(rows, {"A": 3, "B": 1, "C": 2})) == "ACABCAACABCA"


def test_the_second_worked_example() -> None:
    rows = {"A": "A" * 8, "B": "B" * 8}
    assert "".join(interleave(rows, {"A": 6, "B": 3})) == "ABAABAABAABABBBB"


def test_the_dispatcher_starts_in_that_order() -> None:
    # Six, two and four cells in three lanes, and nothing that holds them back but the weights.
    robin: SmoothRoundRobin[str] = SmoothRoundRobin()
    left = {"A": 6, "B": 2, "C": 4}
    widths = {"A": 3, "B": 1, "C": 2}
    order = ""
    while any(left.values()):
        key = robin.pick([(k, widths[k]) for k in left if left[k]])
        left[key] -= 1
        order += key
    assert order == "ACABCAACABCA"
    sim = Sim(plan({"A": "a", "B": "b", "C": "c"}, 1, {"a": 3, "b": 1, "c": 2}))
    sim.ask()
    assert sim.order() == "ACB"


def test_nothing_to_pick_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing"):
        SmoothRoundRobin[str]().pick([])


@given(
    st.dictionaries(st.sampled_from("ABCDE"), st.tuples(st.integers(0, 20), st.integers(1, 9)), min_size=1)
)
def test_every_row_comes_once_and_each_lane_keeps_its_order(lanes: dict[str, tuple[int, int]]) -> None:
    rows = {k: [(k, i) for i in range(n)] for k, (n, _) in lanes.items()}
    out = list(interleave(rows, {k: w for k, (_, w) in lanes.items()}))
    assert sorted(out) == sorted(row for items in rows.values() for row in items)
    for key, items in rows.items():
        assert [row for row in out if row[0] == key] == items


@pytest.mark.parametrize("closed_s", [30.0, 120.0])
@pytest.mark.parametrize("widths", [(4, 4), (2, 6), (6, 2)])
def test_a_lane_that_reopens_gets_its_share_and_no_more(closed_s: float, widths: tuple[int, int]) -> None:
    """A closed lane earns no credit: what it missed is not made up for at the cost of the other."""
    told: list[str] = []

    def service(job, now):
        if job.lane == "a" and not told:
            told.append(job.lane)
            return Bad(rate_limited(closed_s), 0.01)
        return Ok(1.0)

    lanes = dict(zip("ab", widths, strict=True))
    sim = Sim(plan({"A": "a", "B": "b"}, 700, lanes, concurrency=2), service).run()
    # The width that was halved meanwhile is the share that counts.
    width = max(1, widths[0] // 2)
    reopened = min(at for at, job in sim.started if job.lane == "a" and at > closed_s)
    after = "".join(job.lane for at, job in sim.started if at >= reopened)[:24]
    share = width / (width + widths[1])
    assert abs(after.count("a") - share * len(after)) <= 2
    longest = max(len(run) for run in after.replace("b", " ").split())
    assert longest <= max(1, width)

"""Bradley-Terry, kappa, Rogan-Gladen."""

from __future__ import annotations

import math

import pytest

from engine.stats.agreement import agreement, corrected_rate
from engine.stats.votes import Vote, bradley_terry


def votes(a: str, b: str, won: int, lost: int, tied: int = 0) -> list[Vote]:
    return [Vote(a, b, 1.0)] * won + [Vote(a, b, 0.0)] * lost + [Vote(a, b, 0.5)] * tied


EX7 = votes("A", "B", 14, 6) + votes("A", "C", 15, 3, 2) + votes("B", "C", 11, 7, 2)


def test_example_7() -> None:
    found = bradley_terry(EX7)
    assert [found.theta[key] for key in "ABC"] == pytest.approx([0.740570, -0.149102, -0.591468], abs=5e-7)
    assert [found.se[key] for key in "ABC"] == pytest.approx([0.235289, 0.219230, 0.219376], abs=5e-7)
    gap, error = found.gap("A", "B")
    assert (gap, error) == (pytest.approx(0.889672, abs=5e-7), pytest.approx(0.398396, abs=5e-7))
    assert not found.ridged


def test_order_and_side_of_the_votes_do_not_matter() -> None:
    turned = [Vote(v.b, v.a, 1.0 - v.outcome) for v in reversed(EX7)]
    found, again = bradley_terry(EX7), bradley_terry(turned)
    assert [found.theta[key] for key in "ABC"] == pytest.approx([again.theta[key] for key in "ABC"])
    assert [found.se[key] for key in "ABC"] == pytest.approx([again.se[key] for key in "ABC"])


@pytest.mark.parametrize(
    "given",
    [
        votes("A", "B", 5, 0) + votes("B", "C", 3, 2),
        votes("A", "B", 0, 5) + votes("B", "C", 3, 2),
        votes("A", "B", 3, 2) + votes("C", "D", 1, 1),
    ],
)
def test_winning_everything_stays_finite(given: list[Vote]) -> None:
    found = bradley_terry(given)
    assert found.ridged
    assert all(math.isfinite(value) for value in (*found.theta.values(), *found.se.values()))
    assert sum(found.theta.values()) == pytest.approx(0.0, abs=1e-9)


def test_only_ties_are_equal() -> None:
    found = bradley_terry(votes("A", "B", 0, 0, 6))
    assert found.theta == {"A": pytest.approx(0.0), "B": pytest.approx(0.0)}


def test_no_votes() -> None:
    assert bradley_terry([]).theta == {}
    assert bradley_terry([Vote("A", "A", 1.0)]).theta == {}


def test_kappa_of_a_textbook_table() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: agreement .70, kappa .40."""
    marks = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    found = agreement(marks)
    assert found is not None
    assert (found.n, found.agree, found.share) == (50, 35, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.kappa_interval is not None
    assert found.kappa_interval.low == pytest.approx(0.1511, abs=5e-4)
    assert found.kappa_interval.high == pytest.approx(0.6489, abs=5e-4)


def test_full_agreement_claims_no_certainty() -> None:
    found = agreement([("yes", "yes")] * 5 + [("no", "no")] * 5)
    assert found is not None
    assert (found.kappa, found.kappa_interval) == (1.0, None)
    assert found.share_interval.low < 0.75


def test_one_mark_only_has_no_kappa() -> None:
    found = agreement([("yes", "yes")] * 4)
    assert found is not None
    assert (found.share, found.kappa, found.kappa_interval) == (1.0, None, None)
    assert agreement([]) is None


def test_rogan_gladen() -> None:
    marks = [(True, True)] * 18 + [(False, True)] * 2 + [(True, False)] * 3 + [(False, False)] * 7
    found = corrected_rate(60, 100, marks)
    assert found is not None
    assert (found.sensitivity, found.specificity) == (0.9, 0.7)
    assert found.rate == pytest.approx((0.6 + 0.7 - 1) / (0.9 + 0.7 - 1))
    assert found.interval.low < found.rate < found.interval.high
    assert found.interval.low >= 0.0
    assert found.interval.high <= 1.0


def test_a_judge_no_better_than_a_coin_corrects_nothing() -> None:
    marks = [(True, True), (False, True), (True, False), (False, False)]
    assert corrected_rate(5, 10, marks) is None
    assert corrected_rate(5, 10, [(True, True)]) is None
    assert corrected_rate(0, 0, [(True, True), (False, False)]) is None


def test_corrected_rates_stay_inside() -> None:
    marks = [(True, True)] * 9 + [(False, True)] + [(False, False)] * 8 + [(True, False)] * 2
    found = corrected_rate(100, 100, marks)
    assert found is not None
    assert found.rate == 1.0
    assert found.interval.high == 1.0

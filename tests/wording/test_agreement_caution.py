"""A judge that agrees with the person little more than a coin is told as such."""

from __future__ import annotations

from arena_desktop.wording.marks import agreement_sentences
from engine.execution.own_marking import BY_CHECKS, BY_JUDGE
from engine.stats.own_marks import rater_report
from tests.stats.test_own_marks import rated

LITTLE = "That is little. Do not choose by {} alone: mend what it looks at, or take another one."


def test_little_agreement_is_a_caution() -> None:
    report = rater_report(*rated((10, True, True), (9, True, False), (9, False, True), (10, False, False)))
    assert LITTLE.format("its marks") in agreement_sentences(report, BY_JUDGE)
    assert LITTLE.format("the checks") in agreement_sentences(report, BY_CHECKS)


def test_good_agreement_is_none() -> None:
    report = rater_report(*rated((20, True, True), (2, True, False), (1, False, True), (17, False, False)))
    assert not any(said.startswith("That is little.") for said in agreement_sentences(report, BY_JUDGE))

"""Our special functions against scipy, to 1e-10."""

from __future__ import annotations

import math

import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.stats import special

LIMIT = 1e-10


@settings(deadline=None, max_examples=300)
@given(a=st.floats(0.05, 5e4), b=st.floats(0.05, 5e4), x=st.floats(0.0, 1.0))
def test_incomplete_beta(a: float, b: float, x: float) -> None:
    assert special.incomplete_beta(a, b, x) == pytest.approx(scipy.special.betainc(a, b, x), abs=LIMIT)


@given(b=st.floats(0.05, 1e6))
def test_log_beta(b: float) -> None:
    """B(1, b) = 1 / b exactly; scipy itself is only good to 1e-11 here."""
    assert special.log_beta(1.0, b) == pytest.approx(-math.log(b), rel=1e-13, abs=1e-13)
    assert special.log_beta(b, 2.0) == pytest.approx(-math.log(b) - math.log1p(b), rel=1e-13, abs=1e-13)


@settings(deadline=None, max_examples=300)
@given(t=st.floats(-60, 60), df=st.floats(0.2, 1e5))
def test_t_two_sided(t: float, df: float) -> None:
    assert special.t_two_sided(t, df) == pytest.approx(2 * scipy.stats.t.sf(abs(t), df), abs=LIMIT)


@settings(deadline=None, max_examples=100)
@given(confidence=st.floats(0.5, 0.999), df=st.floats(0.8, 1e4))
def test_t_quantile(confidence: float, df: float) -> None:
    expected = scipy.stats.t.ppf(0.5 + confidence / 2, df)
    assert special.t_quantile(confidence, df) == pytest.approx(expected, rel=LIMIT)


@settings(deadline=None, max_examples=100)
@given(share=st.floats(0.01, 0.99), a=st.floats(0.5, 500), b=st.floats(0.5, 500))
def test_beta_quantile(share: float, a: float, b: float) -> None:
    expected = scipy.special.betaincinv(a, b, share)
    assert special.beta_quantile(share, a, b) == pytest.approx(expected, abs=LIMIT)


@given(share=st.floats(1e-9, 1 - 1e-9))
def test_normal(share: float) -> None:
    z = special.normal_quantile(share)
    assert z == pytest.approx(scipy.stats.norm.ppf(share), rel=LIMIT, abs=LIMIT)
    assert special.normal_cdf(z) == pytest.approx(share, abs=LIMIT)


def test_edges() -> None:
    assert special.incomplete_beta(2, 3, 0) == 0.0
    assert special.incomplete_beta(2, 3, 1) == 1.0
    assert special.t_two_sided(0.0, 5) == 1.0
    assert special.t_two_sided(math.inf, 5) == 0.0
    assert special.t_two_sided(1e200, 5) == 0.0
    assert math.isinf(special.t_quantile(0.95, 0.001))

"""No number, however odd, ends in an exception where it is shown."""

from __future__ import annotations

import math
from typing import Any

import pytest

from arena_desktop.wording import formats


@pytest.mark.parametrize("value", [1e308, -1e308, 2.0**63, 2.0**53, 1e18])
def test_huge_numbers_are_grouped_digits(value: float, qapp: Any) -> None:
    said = formats.whole(value)
    assert sum(char.isdigit() for char in said) == len(str(abs(int(value))))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_not_known(value: float) -> None:
    assert formats.whole(value) == formats.UNKNOWN


def test_endless_waits_can_be_said() -> None:
    assert formats.about_time(1e305)
    assert formats.exact_seconds(1e305)

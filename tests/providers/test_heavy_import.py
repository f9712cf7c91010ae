"""What is imported in one go is left out of later collections, and collecting goes on as before."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from providers.heavy_import import heavy_import


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def test_nothing_is_collected_meanwhile_and_what_stays_is_set_aside() -> None:
    before = gc.get_freeze_count()
    with heavy_import():
        assert not gc.isenabled()
        made = [[number] for number in range(1_000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(made)


def test_collecting_goes_on_after_a_failed_import() -> None:
    with pytest.raises(ImportError), heavy_import():
        raise ImportError("not there")
    assert gc.isenabled()


def test_who_has_switched_collecting_off_finds_it_off() -> None:
    gc.disable()
    with heavy_import():
        pass
    assert not gc.isenabled()

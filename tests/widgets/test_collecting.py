"""Collections take place on the GUI thread, and not all at once."""

from __future__ import annotations

import gc
import threading

import pytest

from arena_desktop.collecting import FULL_EVERY_S, MIDDLE_EVERY, YOUNG, Collector


class FakeGc:
    def __init__(self) -> None:
        self.young = 0
        self.enabled = True
        self.collected: list[int] = []

    def collect(self, generation: int = 2, /) -> int:
        self.collected.append(generation)
        return 0

    def get_count(self) -> tuple[int, int, int]:
        return self.young, 0, 0

    def disable(self) -> None:
        self.enabled = False

    def enable(self) -> None:
        self.enabled = True


@pytest.fixture
def fake() -> FakeGc:
    return FakeGc()


def test_nothing_is_collected_while_little_is_new(qapp, fake: FakeGc) -> None:
    collector = Collector(collecting=fake, clock=lambda: 0.0)
    fake.young = YOUNG - 1
    collector.tick()
    assert fake.collected == []
    fake.young = YOUNG
    collector.tick()
    assert fake.collected == [0]


def test_older_objects_are_looked_at_less_often(qapp, fake: FakeGc) -> None:
    now = [0.0]
    collector = Collector(collecting=fake, clock=lambda: now[0])
    fake.young = YOUNG
    ticks = (MIDDLE_EVERY + 1) * MIDDLE_EVERY
    for _ in range(ticks):
        collector.tick()
    assert fake.collected.count(0) == MIDDLE_EVERY * MIDDLE_EVERY
    assert fake.collected.count(1) == MIDDLE_EVERY
    # All of them at most once a minute, however much is new.
    collector.tick()
    assert 2 not in fake.collected
    now[0] = FULL_EVERY_S
    collector.tick()
    assert fake.collected[-1] == 2
    collector.tick()
    assert fake.collected[-1] == 0


def test_the_interpreter_collects_before_and_after(qapp, fake: FakeGc) -> None:
    collector = Collector(collecting=fake)
    collector.start()
    assert not fake.enabled
    collector.stop()
    assert fake.enabled


def test_a_worker_that_makes_many_objects_collects_nothing(qapp) -> None:
    collector = Collector()
    threads: list[str] = []

    def seen(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            threads.append(threading.current_thread().name)

    gc.callbacks.append(seen)
    collector.start()
    try:
        made: list[list[int]] = []
        worker = threading.Thread(target=lambda: made.extend([number] for number in range(20_000)))
        worker.start()
        worker.join()
        collector.tick()
    finally:
        collector.stop()
        gc.callbacks.remove(seen)
    assert threads
    assert set(threads) == {threading.current_thread().name}

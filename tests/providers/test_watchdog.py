"""The thread that ends blocked calls."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from providers import watchdog
from providers.watchdog import Call, Watchdog, current_call, waiting_for, watched


def blocked_read(timeout_s: float, stop: threading.Event | None) -> tuple[str, float]:
    """Reads from a peer that says nothing; why and after how long it ended."""
    ours, theirs = socket.socketpair()
    with ours, theirs, watched(timeout_s, stop) as call:
        call.attach(ours)
        began = time.monotonic()
        assert ours.recv(1) == b""
        return call.reason, time.monotonic() - began


def test_the_deadline_ends_a_read_that_has_no_timeout() -> None:
    reason, took = blocked_read(0.2, None)
    assert reason == "deadline"
    assert 0.15 < took < 1.0


def test_a_call_that_comes_later_does_not_wait_out_the_pause_of_an_earlier_one() -> None:
    stop = threading.Event()
    results: list[tuple[str, float]] = []
    with watched(3600, None):
        thread = threading.Thread(target=lambda: results.append(blocked_read(3600, stop)))
        thread.start()
        stop.set()
        thread.join(5)
    assert results
    assert results[0][0] == "stopped"
    assert results[0][1] < 1.0


def test_a_finished_call_leaves_its_socket_alone() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with watched(0.0) as call:
            pass
        call.attach(ours)
        call.check()
        theirs.sendall(b"x")
        assert ours.recv(1) == b"x"


def test_calls_nest_and_belong_to_their_thread() -> None:
    with watched(10) as outer:
        with watched(5) as inner:
            assert current_call() is inner
        assert current_call() is outer
    assert current_call().remaining() == float("inf")
    assert current_call().stop_event is None


def test_the_thread_ends_when_there_is_nothing_to_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_LINGER_S", 0.05)
    dog = Watchdog()
    call = Call(10, threading.Event())
    dog.add(call)
    thread = dog._thread
    assert thread is not None
    dog.remove(call)
    thread.join(5)
    assert not thread.is_alive()
    dog.add(call)
    assert dog._thread is not None
    dog.remove(call)


def test_waiting_for_a_lock_ends_on_stop() -> None:
    lock, stop = threading.Lock(), threading.Event()
    with waiting_for(lock, None) as held:
        assert held
        stop.set()
        with waiting_for(lock, stop) as second:
            assert not second
        assert lock.locked()
    assert not lock.locked()

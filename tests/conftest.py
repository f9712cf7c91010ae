"""Every test runs with a home of its own, keys in memory, no screen and no network but loopback."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

_connect = socket.socket.connect
_ENDED = pytest.StashKey[int]()


def _loopback_only(self: socket.socket, address: object) -> None:
    host = address[0] if isinstance(address, tuple) else address
    if self.family in (socket.AF_INET, socket.AF_INET6) and str(host) not in (
        "127.0.0.1",
        "::1",
        "localhost",
    ):
        raise OSError(f"a test tried to reach {host}: only this computer may be reached")
    _connect(self, address)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "arena-home"))
    monkeypatch.setenv("ARENA_KEYRING", "memory")
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "ARENA_PROVIDER_CONCURRENCY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remembers how the suite ended, for the very end."""
    session.config.stash[_ENDED] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves without taking hundreds of windows apart once more.

    When the interpreter goes down, Qt and Python destroy what is left of all tests' windows in an order
    that neither expects. That the program itself ends cleanly is a test of its own (`test_exit`).
    """
    ended = config.stash.get(_ENDED, None)
    if ended is None:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended)

"""The protocol stub as a process of its own: OpenAI, Anthropic and Gemini on one loopback port."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

_SERVER = Path(__file__).with_name("stub_server.py")
# Environment proxies must not stand between a test and the stub.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class StubServer:
    """A running stub. `url` has no path: add /v1 for OpenAI, nothing for Anthropic and Gemini."""

    url: str
    process: subprocess.Popen[str]

    def stats(self) -> dict[str, Any]:
        """What came in so far: total, by_status, by_model, max_in_flight, keys_seen …"""
        with _DIRECT.open(f"{self.url}/_stats", timeout=10) as reply:
            found: dict[str, Any] = json.load(reply)
        return found

    def reset(self) -> None:
        """Zeroes the counters and refills the rate-limit buckets."""
        request = urllib.request.Request(f"{self.url}/_reset", data=b"{}", method="POST")
        with _DIRECT.open(request, timeout=10) as reply:
            reply.read()

    def stop(self) -> None:
        """Ends the process; safe to call twice."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> StubServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_stub(**options: Any) -> StubServer:
    """Starts a stub on a free port; options are its command line, such as latency_ms=50, jitter,
    rate_limit, burst, error_rate, require_key, words, models, seed.

    Ends with the test process at the latest: by `stop`, or by itself after `max_seconds`.
    """
    options.setdefault("max_seconds", 600)
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    process = subprocess.Popen([sys.executable, str(_SERVER), *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith("stub listening on "):
        process.terminate()
        process.wait(10)
        process.stdout.close()
        raise RuntimeError(f"the stub did not start: {line!r}")
    return StubServer(line.removeprefix("stub listening on ").strip(), process)

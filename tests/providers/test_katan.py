"""The three SDKs against a protocol server that others wrote (`llm-katan` in echo mode)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from providers.base import Finish, Provider
from tests.providers.conftest import question

pytest.importorskip("llm_katan", reason="the development group is not installed")

# This server asks for the key where older SDKs put it; today's put it elsewhere.
HEADERS = {
    "openai": {},
    "anthropic": {"x-api-key": "any"},
    "gemini": {"Authorization": "Bearer any"},
}


@pytest.fixture(scope="module")
def katan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address. The server ends with the module."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder: Path = tmp_path_factory.mktemp("katan")
    command = [sys.executable, "-m", "llm_katan.cli", "-m", "echo-model", "-b", "echo"]
    command += ["--providers", "openai,anthropic,vertexai", "-h", "127.0.0.1", "-p", str(port)]
    command += ["--stats-file", str(folder / "stats.json"), "--log-level", "error"]
    environment = {**os.environ, "HOME": str(folder)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until the port answers; connecting is the clock, so that no pause is guessed."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            _moment(process)
        else:
            return
    raise RuntimeError("the server did not start")


def _moment(process: subprocess.Popen[bytes]) -> None:
    """Gives the server a moment, and notices when it has ended instead."""
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"])
def test_the_sdk_speaks_with_a_foreign_server(
    katan: str, connect: Callable[..., Provider], vendor: str, stream: bool
) -> None:
    asked = question("echo-model", "Where is parcel 4711?", params={"stream": True} if stream else {})
    reply = connect(vendor, katan, headers=HEADERS[vendor]).complete(asked)
    assert "Where is parcel 4711?" in reply.text
    assert reply.finish is Finish.COMPLETE
    assert reply.usage.input
    assert reply.usage.output
    assert reply.latency_ms > 0

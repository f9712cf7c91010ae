"""A tiny HTTP server that gives prepared replies in order and keeps what it was asked."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent.parent / "data" / "cases"


@dataclass
class Answer:
    """One prepared reply. `mode`: whole, drip (a byte at a time, for ever), hang (no head),
    cut (half of the body). `hung_up` of the server is set when a hanging client left."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    mode: str = "whole"
    content_type: str = "application/json"

    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Scripted:
    """The server. The last reply is repeated when more is asked; GETs are counted too."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = answers
        self.asked: list[Asked] = []
        self.stopped = threading.Event()
        self.hung_up = threading.Event()
        self.arrived = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.script = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def next(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            self.arrived.set()
            return self.answers[min(len(self.asked), len(self.answers)) - 1]

    def stop(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: Scripted


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._reply("GET")

    def do_POST(self) -> None:
        self._reply("POST")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Quiet."""

    def _reply(self, method: str) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(method, self.path, headers, json.loads(raw) if raw else None)
        answer = self.server.script.next(asked)
        with contextlib.suppress(OSError):
            if answer.mode == "hang":
                self._wait_for_hang_up()
            else:
                self._send(answer, answer.data())

    def _send(self, answer: Answer, data: bytes) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if answer.mode == "drip":
            for at in range(len(data)):
                self.wfile.write(data[at : at + 1])
                if self.server.script.stopped.wait(0.05):
                    return
        elif answer.mode == "cut":
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.wfile.write(data)

    def _wait_for_hang_up(self) -> None:
        self.close_connection = True
        self.connection.settimeout(0.05)
        while not self.server.script.stopped.is_set():
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
        self.server.script.hung_up.set()


@contextlib.contextmanager
def scripted(*answers: Answer) -> Iterator[Scripted]:
    """A server with these replies."""
    server = Scripted(list(answers))
    try:
        yield server
    finally:
        server.stop()


def case_answers(name: str) -> list[Answer]:
    """The replies of a field case file."""
    text = (CASES / name).read_text("utf-8")
    if name.endswith(".txt"):
        return [Answer(text.replace("\r\n", "\n"), content_type="text/event-stream")]
    return [
        Answer(reply["body"], reply["status"], reply.get("headers") or {})
        for reply in json.loads(text)["responses"]
    ]


def chat_body(text: Any = "ok", **more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI writes it."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    choice = {"index": 0, "finish_reason": more.pop("finish_reason", "stop"), "message": message}
    body = {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1750000000,
        "model": "alpha-small",
        "choices": [choice],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }
    return {**body, **more}

"""Code of the project as a model: trust, what it is given, what it may return, how it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from providers.base import ErrorKind, Finish, PracticeContext, Provider, ProviderError, Reply, Usage
from tests.providers.conftest import failure, outcome, question

Connect = Callable[..., Provider]

CODE = """
import threading
never = threading.Event()

def plain(prompt):
    return prompt.upper()

def everything(prompt, **kwargs):
    return {"output": sorted(kwargs), "cost_usd": "0.002", "input_tokens": 3, "output_tokens": 4,
            "latency_ms": 12.5, "metrics": {"hops": 2, "bad": "x", "huge": 10**400, "none": float("nan")}}

def some(prompt, system, trial, *, reference="not given"):
    return f"{system}|{trial}|{reference}"

async def later(prompt):
    return prompt + "!"

class Result:
    text = "from an object"

def thing(prompt):
    return Result()

def nothing(prompt):
    return None

def raises(prompt):
    raise ValueError("no luck with sk-test-0001-abcdefgh")

def leaves(prompt):
    raise SystemExit(3)

def hangs(prompt):
    never.wait()

def empty(prompt):
    return "  "

number = 5
"""


@pytest.fixture
def own(connect: Connect, tmp_path: Path) -> Provider:
    (tmp_path / "own.py").write_text(CODE)
    return connect("callable", root=str(tmp_path), trusted=True)


def test_without_trust_nothing_is_loaded(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit('was loaded')")
    provider = connect("callable", root=str(tmp_path), params={"trusted": True})
    error = failure(provider, question("own.py:plain", params={"trusted": True}))
    assert (error.kind, error.code, error.should_retry) == (ErrorKind.BAD_REQUEST, "no_trust", False)


def test_text(own: Provider) -> None:
    reply = own.complete(question("own.py:plain", "hi"))
    assert (reply.text, reply.finish, reply.usage.estimated) == ("HI", Finish.COMPLETE, True)
    assert own.complete(question("a-name", "hi", params={"run": "own.py:plain"})).text == "HI"


def test_everything_reported_is_kept(own: Provider) -> None:
    reply = own.complete(question("own.py:everything"))
    assert reply.text == '["messages", "params", "system", "test_id", "trial"]'
    assert reply.usage == Usage(3, 4)
    assert (reply.cost_usd, reply.latency_ms, reply.metrics) == (Decimal("0.002"), 12.5, {"hops": 2.0})


@pytest.mark.parametrize(("passed", "text"), [(False, "s|2|not given"), (True, "s|2|Lisbon")])
def test_the_reference_is_passed_only_on_request(own: Provider, passed: bool, text: str) -> None:
    practice = PracticeContext("c", 2, "m", "Lisbon", pass_reference=passed)
    assert own.complete(question("own.py:some", system="s", practice=practice)).text == text


@pytest.mark.parametrize(
    ("target", "text"), [("own.py:later", "hi!"), ("own.py:thing", "from an object"), ("own.py:empty", "  ")]
)
def test_other_ways_to_answer(own: Provider, target: str, text: str) -> None:
    assert own.complete(question(target, "hi")).text == text


def test_an_installed_module_can_be_named(own: Provider) -> None:
    assert own.complete(question("textwrap:dedent", "  hi")).text == "hi"


@pytest.mark.parametrize(
    ("target", "kind", "words"),
    [
        ("own.py:nothing", ErrorKind.BAD_REPLY, "NoneType"),
        ("own.py:raises", ErrorKind.UNKNOWN, "ValueError: no luck"),
        ("own.py:leaves", ErrorKind.UNKNOWN, "SystemExit"),
        ("own.py:missing", ErrorKind.BAD_REQUEST, "no function 'missing'"),
        ("own.py:number", ErrorKind.BAD_REQUEST, "no function"),
        ("other.py:f", ErrorKind.BAD_REQUEST, "no file other.py"),
        ("../own.py:f", ErrorKind.BAD_REQUEST, "outside the project folder"),
        ("own.py", ErrorKind.BAD_REQUEST, "names no function"),
        ("no.such.module:f", ErrorKind.BAD_REQUEST, "cannot be loaded"),
    ],
)
def test_what_goes_wrong_is_said(own: Provider, target: str, kind: ErrorKind, words: str) -> None:
    error = failure(own, question(target))
    assert error.kind is kind
    assert words in error.message
    assert "sk-test" not in error.message


def test_a_link_out_of_the_folder_is_refused(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(CODE)
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "own.py").symlink_to(tmp_path / "own.py")
    provider = connect("callable", root=str(inside), trusted=True)
    assert "outside" in failure(provider, question("own.py:plain")).message


def test_the_deadline_holds(own: Provider) -> None:
    assert failure(own, question("own.py:hangs", timeout_s=0.2)).kind is ErrorKind.TIMEOUT


def test_stop_does_not_wait_for_the_function(own: Provider) -> None:
    stop = threading.Event()
    results: list[Reply | ProviderError] = []
    request: Any = question("own.py:hangs", timeout_s=60, stop_event=stop)
    thread = threading.Thread(target=lambda: results.append(outcome(own, request)))
    thread.start()
    stop.set()
    thread.join(5)
    assert isinstance(results[0], ProviderError)
    assert results[0].kind is ErrorKind.CANCELLED


def test_nothing_is_listed(own: Provider) -> None:
    assert own.list_models() == []

"""The practice connection: reference vectors, modes, waiting and faults."""

from __future__ import annotations

import threading

import pytest

from providers.base import (
    ConnectionSettings,
    ErrorKind,
    Finish,
    Message,
    PracticeContext,
    ProviderError,
    Reply,
    Request,
)
from providers.mock import MockProvider, draw, reference_text


def ask(
    model: str = "mock", *, case: str = "c1", trial: int = 1, reference: object = "Lisbon", **params: object
) -> Reply:
    return MockProvider(ConnectionSettings("mock", "mock")).complete(
        request(model, case, trial, reference, params)
    )


def request(
    model: str, case: str = "c1", trial: int = 1, reference: object = "Lisbon", params: object = None
) -> Request:
    return Request(
        model=model,
        messages=(Message("user", "Capital of Portugal?"),),
        params=params or {},  # type: ignore[arg-type]
        practice=PracticeContext(case, trial, model, reference),
    )


@pytest.mark.parametrize(
    ("model", "seed", "case", "trial", "expected"),
    [
        ("mock:flaky", "", "case_a", 1, 99.37),
        ("mock:flaky", "", "case_a", 2, 40.03),
        ("mock:flaky", "", "case_b", 1, 61.91),
        ("mock:small", "", "double_charge", 1, 26.13),
        ("mock:small", "7", "double_charge", 1, 35.22),
    ],
)
def test_draw_follows_the_reference_vectors(
    model: str, seed: str, case: str, trial: int, expected: float
) -> None:
    assert draw(model, seed, case, trial) == expected


def test_flaky_is_right_exactly_below_its_accuracy() -> None:
    assert ask("mock:small", case="double_charge", mode="flaky", accuracy=26.14).text == "Lisbon"
    assert ask("mock:small", case="double_charge", mode="flaky", accuracy=26.13).text == "I am not sure."
    assert (
        ask("mock:small", case="double_charge", mode="flaky", accuracy=30, seed=7, wrong_text="No.").text
        == "No."
    )


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("x", "x"),
        (["a", "b"], "a"),
        ({"day": 3, "ü": None}, '{"day": 3, "ü": null}'),
        (42, "42"),
        (True, "true"),
        (None, ""),
        ([], ""),
        ([{"a": 1}], '{"a": 1}'),
    ],
)
def test_oracle_writes_any_reference(reference: object, text: str) -> None:
    assert reference_text(reference) == text
    assert ask(reference=reference).text == text


def test_modes() -> None:
    assert ask("mock:echo").text == "Capital of Portugal?"
    assert ask("mock:fixed", text="Porto").text == "Porto"
    empty = ask("mock:empty")
    assert (empty.text, empty.finish, empty.usage.output) == ("", Finish.EMPTY, 0)
    assert ask("mock", mode="oracle", finish="refused").finish is Finish.REFUSED


def test_unknown_mode_says_what_to_do() -> None:
    with pytest.raises(ProviderError, match=r"'small'.*params\.mode.*oracle") as caught:
        ask("mock:small")
    assert caught.value.kind is ErrorKind.BAD_REQUEST


@pytest.mark.parametrize(
    "params",
    [
        {"accuracy": 120},
        {"accuracy": "high"},
        {"latency_ms": -1},
        {"sleep": "yes"},
        {"fail_rate": 5},
        {"finish": "x"},
        {"latency_ms": True},
    ],
)
def test_bad_settings_are_named(params: dict[str, object]) -> None:
    with pytest.raises(ProviderError, match=next(iter(params))):
        ask(**params)


def test_tokens_are_counted_and_reported() -> None:
    usage = ask().usage
    assert (usage.input, usage.output, usage.estimated) == (5, 1, False)


def test_latency_is_reported_without_waiting() -> None:
    assert ask(latency_ms=3_600_000).latency_ms == 3_600_000


def test_sleep_really_waits_on_the_stop_event() -> None:
    class Watched(threading.Event):
        waited: float | None = None

        def wait(self, timeout: float | None = None) -> bool:
            self.waited = timeout
            return False

    event = Watched()
    plain = request("mock", params={"sleep": True, "latency_ms": 250})
    reply = MockProvider(ConnectionSettings("mock", "mock")).complete(
        Request(plain.model, plain.messages, params=plain.params, practice=plain.practice, stop_event=event)
    )
    assert event.waited == 0.25
    assert reply.latency_ms == 250


def test_sleep_ends_at_once_on_stop_and_at_the_deadline() -> None:
    stopped = threading.Event()
    stopped.set()
    provider = MockProvider(ConnectionSettings("mock", "mock", params={"sleep": True, "latency_ms": 60_000}))
    message = (Message("user", "x"),)
    with pytest.raises(ProviderError) as caught:
        provider.complete(Request("mock", message, stop_event=stopped))
    assert caught.value.kind is ErrorKind.CANCELLED
    with pytest.raises(ProviderError) as caught:
        provider.complete(Request("mock", message, timeout_s=0.01))
    assert caught.value.kind is ErrorKind.TIMEOUT


def test_failures_are_repeatable_and_a_retry_may_succeed() -> None:
    def outcomes() -> list[bool]:
        provider = MockProvider(ConnectionSettings("mock", "mock", params={"fail_rate": 0.5}))
        results = []
        for n in range(20):
            try:
                provider.complete(request("mock", f"case{n}"))
                results.append(True)
            except ProviderError:
                results.append(False)
        return results

    first = outcomes()
    assert first == outcomes()
    assert 3 < sum(first) < 17
    provider = MockProvider(ConnectionSettings("mock", "mock", params={"fail_rate": 0.5}))
    failing = f"case{first.index(False)}"
    answered = False
    for _ in range(12):
        try:
            answered = provider.complete(request("mock", failing)).text == "Lisbon"
            break
        except ProviderError:
            continue
    assert answered


@pytest.mark.parametrize(
    ("params", "kind", "status"),
    [
        ({"error_status": 401}, ErrorKind.AUTH, 401),
        ({"error_status": 404}, ErrorKind.NOT_FOUND, 404),
        ({"error_status": 422}, ErrorKind.BAD_REQUEST, 422),
        ({"error_status": 503}, ErrorKind.UNKNOWN, 503),
        ({"error_status": 529}, ErrorKind.OVERLOADED, 529),
        ({"error_kind": "offline"}, ErrorKind.OFFLINE, None),
        ({"error_kind": "quota", "error_status": 429}, ErrorKind.QUOTA, 429),
    ],
)
def test_every_fault_on_demand(params: dict[str, object], kind: ErrorKind, status: int | None) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(**params)
    assert (caught.value.kind, caught.value.status) == (kind, status)


def test_rate_limit_lets_through_and_opens_again() -> None:
    now = [100.0]
    settings = ConnectionSettings("m", "mock", params={"rate_limit_after": 2, "rate_limit_window_s": 10})
    provider = MockProvider(settings, clock=lambda: now[0])
    provider.complete(request("mock"))
    now[0] = 103.0
    provider.complete(request("mock"))
    with pytest.raises(ProviderError) as caught:
        provider.complete(request("mock"))
    assert (caught.value.kind, caught.value.status, caught.value.retry_after_s) == (
        ErrorKind.RATE_LIMIT,
        429,
        7.0,
    )
    now[0] = 110.0
    assert provider.complete(request("mock")).text == "Lisbon"


def test_lists_a_model_per_mode_and_closes() -> None:
    provider = MockProvider(ConnectionSettings("m", "mock"))
    assert [m.id for m in provider.list_models()] == [
        "mock:oracle",
        "mock:flaky",
        "mock:fixed",
        "mock:echo",
        "mock:empty",
        "mock:judge",
    ]
    provider.close()
    provider.close()

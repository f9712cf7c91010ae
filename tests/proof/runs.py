"""Real runs against the protocol stub, and a process that carries out runs which may be killed.

Run as a program it reads lines of JSON and forks for each: a fork costs milliseconds where a new
process would import the SDKs again, so that many runs can be killed in little time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MODELS = ("stub-small", "stub-large")


def config(url: str, *, models: tuple[str, ...] = MODELS, width: int = 4, **more: Any) -> dict[str, Any]:
    """A project whose models are all behind one stub; prices are known, marks are repeatable."""
    card = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 2}
    run = {"concurrency": width, "provider_concurrency": {"stub": width}, **more.pop("run", {})}
    return {
        "providers": [{"id": "stub", "kind": "openai_compatible", "base_url": f"{url}/v1"}],
        "models": [{"key": m, "model": m, "provider": "stub", "card": card} for m in models],
        "run": run,
        "metrics": {"weights": {"accuracy": 1.0}},
        **more,
    }


def cases(count: int) -> list[dict[str, Any]]:
    """Questions of which the stub gets about half right, always the same ones."""
    check = {"eval_type": "regex", "params": {"pattern": "ANSWER [0-7]"}}
    return [{"id": f"c{i}", "input": f"Question {i}?", **check} for i in range(count)]


@dataclass
class Forge:
    """The process that forks. `start` gives the process id of a new run."""

    process: subprocess.Popen[str]

    def start(self, folder: Path, settings: dict[str, Any], count: int, resume: str | None = None) -> int:
        """Begins a run, or carries one on, in a process of its own."""
        work = {"folder": str(folder), "config": settings, "cases": count, "resume": resume}
        return self._say(work)

    def wait(self) -> int:
        """The exit code of the run that was started last; negative = the signal that ended it."""
        return self._say("wait")

    def kill(self, pid: int) -> int:
        """Kills as a power cut would; returns how the run ended, 0 where it was over before."""
        # Nobody has asked yet how it ended, so its number is still its own.
        os.kill(pid, signal.SIGKILL)
        return self.wait()

    def _say(self, what: Any) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def is_over(pid: int) -> bool:
    """Whether a process has ended, asked for or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


@contextmanager
def forge(home: Path) -> Iterator[Forge]:
    """A forge, ended with the block."""
    env = {
        **os.environ,
        "ARENA_HOME": str(home),
        "ARENA_KEYRING": "memory",
        "QT_QPA_PLATFORM": "offscreen",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.proof.runs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        cwd=ROOT,
    )
    try:
        yield Forge(process)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def _carry_out(work: dict[str, Any]) -> int:
    from tests.execution.worlds import World

    world = World(Path(work["folder"]), work["config"], cases(work["cases"]))
    world.run(resume_from=work["resume"]) if work["resume"] else world.run()
    return 0


def main() -> None:
    """A line of work forks and answers with the process id; `wait` answers how that process ended."""
    import openai  # noqa: F401 - imported once, before the forks
    from PySide6 import QtWidgets  # noqa: F401

    import engine.stats.leaderboard  # noqa: F401
    from tests.execution import worlds  # noqa: F401

    pid = 0
    for line in sys.stdin:
        work = json.loads(line)
        if work == "wait":
            said = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        else:
            said = pid = os.fork()
            if pid == 0:
                _in_the_fork(work)
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()


def _in_the_fork(work: dict[str, Any]) -> None:
    code = 1
    try:
        code = _carry_out(work)
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()

"""The code check: what counts as the code of an answer, and what counts as working."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from pathlib import Path

import pytest

from engine.domain import Answer, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring import ScoringContext, run_check, try_check, validate_check
from engine.scoring.code import extract_code
from engine.scoring.sandbox import Sandbox, SandboxState, is_installed
from engine.scoring.seams import SandboxRequest, SandboxResult

needs_sandbox = pytest.mark.skipif(not is_installed(), reason="the extra `sandbox` is not installed")


def in_process(request: SandboxRequest) -> SandboxResult:
    """Runs the program of a test right here: the same source, no isolation, own code only."""
    out, code, err = io.StringIO(), 0, ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(request.source, "<test>", "exec"), {"__name__": "__main__"})
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException as error:
            code, err = 1, f"Traceback\n{type(error).__name__}: {error}\n"
    return SandboxResult(code, out.getvalue(), err)


def _run(
    answer: str, sandbox: object = in_process, reference: object = None, **options: object
) -> CheckResult:
    spec = CheckSpec("code_exec", options)
    case = Case(id="c", reference=reference, checks=(spec,))
    return run_check(spec, Answer(answer, Outcome.COMPLETE), case, ScoringContext(sandbox=sandbox))  # type: ignore[arg-type]


ADD = "Here:\n```python\ndef add(a, b):\n    return a + b\n```\nDone."
TESTS = "assert add(2, 3) == 5\nassert add(-1, 1) == 0"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx = 1\n```", "x = 1\n"),
        ("```py\na\n```\ntext\n```python\nb\n```", "a\n\nb\n"),
        ("```bash\nls\n```\n```python\nb\n```", "b\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("```bash\nls\n```", None),
        ("```python\ncut = 1", "cut = 1"),
    ],
)
def test_the_code_of_an_answer(text: str, code: str | None) -> None:
    assert extract_code(text) == code


def test_working_code_passes_and_broken_code_does_not() -> None:
    assert _run(ADD, reference=TESTS).passed
    wrong = _run(ADD.replace("a + b", "a - b"), tests=TESTS)
    assert (wrong.passed, wrong.reason_code) == (False, "code_failed")
    assert "AssertionError" in wrong.reason
    assert _run("```bash\nls\n```").reason_code == "no_code"
    assert "SyntaxError" in _run("def f(:").reason


def test_own_output_and_setup_do_not_matter() -> None:
    result = _run("print(BASE)", setup="BASE = 7", tests="assert BASE == 7")
    assert result.passed
    assert result.detail["stdout"] == "7"


@pytest.mark.parametrize("leave", ["import sys; sys.exit(0)", "raise SystemExit", "exit()"])
def test_code_that_leaves_early_does_not_skip_its_tests(leave: str) -> None:
    assert not _run(f"def add(a, b): return 0\n{leave}", tests=TESTS).passed
    assert _run(f"def add(a, b): return a + b\nif __name__ == '__main__':\n    {leave}", tests=TESTS).passed


def test_an_exit_code_of_zero_without_the_proof_is_no_pass() -> None:
    result = _run("x = 1", lambda request: SandboxResult(0, "all tests passed\n"))
    assert (result.passed, result.reason_code) == (False, "code_left")


def test_without_a_sandbox_the_check_says_how_to_get_it() -> None:
    result = try_check({"type": "code_exec"}, "x = 1")
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "sandbox_missing")
    assert 'pip install "arena-desktop[sandbox]"' in result.reason


@pytest.mark.parametrize("fault", ["sandbox_preparing", "sandbox_failed"])
def test_a_fault_of_the_sandbox_is_not_one_of_the_answer(fault: str) -> None:
    result = _run("x = 1", lambda request: SandboxResult(fault=fault, reason="Not now."))
    assert (result.state, result.reason_code, result.reason) == (ScoreState.ERRORED, fault, "Not now.")


def test_tests_that_are_no_code_are_found_at_load() -> None:
    spec = CheckSpec("code_exec", {"tests": "assert add(1\n"})
    assert [p.code for p in validate_check(spec, Case(id="c", checks=(spec,)), {}, None)] == ["tests_bad"]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("caches"))


@needs_sandbox
def test_code_runs_in_the_sandbox(sandbox: Sandbox) -> None:
    assert _run(ADD, sandbox, reference=TESTS).passed
    assert sandbox.state is SandboxState.READY
    assert not _run(ADD.replace("+", "-"), sandbox, reference=TESTS).passed
    assert _run("x = 'Grüße \U0001f600 \\x00'", sandbox, tests="assert len(x) == 9").passed


@needs_sandbox
def test_the_compiled_interpreter_is_kept_and_loads_at_once(sandbox: Sandbox) -> None:
    sandbox.prepare()
    (kept,) = sandbox._cache.glob("*.compiled")
    assert kept.stat().st_mode & 0o077 == 0
    again = Sandbox(sandbox._cache)
    assert again.is_kept
    start = time.monotonic()
    assert again.prepare() is SandboxState.READY
    assert time.monotonic() - start < 3


@needs_sandbox
def test_a_damaged_cache_is_compiled_anew(tmp_path: Path, sandbox: Sandbox) -> None:
    sandbox.prepare()
    (kept,) = sandbox._cache.glob("*.compiled")
    (tmp_path / kept.name).write_bytes(b"not machine code")
    assert Sandbox(tmp_path).prepare() is SandboxState.READY


@needs_sandbox
@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd').read()",
        "import os; os.listdir('/')",
        "open('x', 'w')",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import subprocess; subprocess.run(['ls'])",
        "import os; assert os.environ.get('ARENA_HOME')",
    ],
)
def test_there_are_no_files_no_network_and_no_environment(sandbox: Sandbox, code: str) -> None:
    result = _run(code, sandbox)
    assert (result.state, result.passed) == (ScoreState.SCORED, False)


@needs_sandbox
@pytest.mark.parametrize("code", ["while True: pass", "import time\nwhile True: time.sleep(1000)"])
def test_code_that_never_ends_is_stopped(sandbox: Sandbox, code: str) -> None:
    sandbox.prepare()
    start = time.monotonic()
    result = _run(code, sandbox, timeout_s=1)
    assert (result.passed, result.reason_code) == (False, "code_timeout")
    assert time.monotonic() - start < 10


@needs_sandbox
def test_sleeping_does_not_wait(sandbox: Sandbox) -> None:
    sandbox.prepare()
    start = time.monotonic()
    assert _run("import time; time.sleep(30)", sandbox).passed
    assert time.monotonic() - start < 10


@needs_sandbox
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("x = [0] * 10**9", "code_memory"),
        ("x = 'a'\nwhile True: x += x", "code_memory"),
        ("def f(n): return f(n + 1)\nf(0)", "code_failed"),
        ("(" * 5000, "code_failed"),
        ("import os; os.fork()", "code_failed"),
    ],
)
def test_floods_end_in_a_verdict(sandbox: Sandbox, code: str, why: str) -> None:
    result = _run(code, sandbox, timeout_s=10, memory_mb=100)
    assert (result.state, result.passed, result.reason_code) == (ScoreState.SCORED, False, why)
    assert ("100 MB" in result.reason) is (why == "code_memory")


@needs_sandbox
def test_other_threads_go_on_while_code_runs(sandbox: Sandbox) -> None:
    sandbox.prepare()
    ended, turns = threading.Event(), 0
    flood = threading.Thread(
        target=lambda: (_run("while True: print('x' * 9_000)", sandbox, timeout_s=0.5), ended.set())
    )
    flood.start()
    while not ended.wait(0.001):
        turns += 1
    flood.join()
    assert turns > 50, "a thread that holds the interpreter would leave no turns at all"


@needs_sandbox
def test_fifty_answers_need_seconds(sandbox: Sandbox) -> None:
    sandbox.prepare()
    before = time.process_time()
    assert all(_run(ADD, sandbox, reference=TESTS).passed for _ in range(5))
    assert (time.process_time() - before) * 10 < 20


@needs_sandbox
def test_much_output_is_bounded(sandbox: Sandbox) -> None:
    result = sandbox(SandboxRequest("for _ in range(200): print('x' * 100_000)\nprint('end')", 20))
    assert result.exit_code == 0
    assert len(result.stdout) < 300_000
    assert result.stdout.endswith("end\n")


@needs_sandbox
def test_runs_at_the_same_time_do_not_stop_each_other(sandbox: Sandbox) -> None:
    sandbox.prepare()
    results: dict[str, CheckResult] = {}

    def run(name: str, code: str, timeout_s: float) -> None:
        results[name] = _run(code, sandbox, timeout_s=timeout_s)

    work = [("short", "while True: pass", 0.5), ("long", "sum(i for i in range(3_000_000))", 30.0)]
    threads = [threading.Thread(target=run, args=item) for item in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["short"].reason_code == "code_timeout"
    assert results["long"].passed, results["long"].reason
    deadline = time.monotonic() + 2
    while (
        any(t.name.startswith("arena-sandbox") for t in threading.enumerate()) and time.monotonic() < deadline
    ):
        threading.Event().wait(0.01)
    assert not [t.name for t in threading.enumerate() if t.name.startswith("arena-sandbox")]

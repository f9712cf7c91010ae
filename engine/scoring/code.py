"""The check that the code in an answer works. The code runs in a sandbox or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from engine.scoring.base import (
    CheckFault,
    CheckInput,
    CheckType,
    Fault,
    Finding,
    Option,
    Setup,
    as_texts,
    never_needs,
)
from engine.scoring.fences import fenced_blocks
from engine.scoring.seams import SANDBOX_MISSING, SandboxRequest, SandboxResult

_PYTHON = ("python", "py", "python3")
_KEPT = 2000
_TOLD = 300
_MAX_CODE = 1_000_000
_PARTS = ("setup", "answer", "tests")

# Runs inside the sandbox. The proof is printed only after everything ran, so that code that
# ends the program early does not pass by its exit code.
_PROGRAM = """\
import sys
parts = {parts}
space = {{"__name__": "__main__", "__builtins__": __builtins__}}
for name, source in parts:
    try:
        exec(compile(source, "<" + name + ">", "exec"), space)
    except SystemExit as end:
        if name != "answer" or end.code not in (None, 0):
            raise
sys.stdout.flush()
print()
print({proof})
"""


def extract_code(text: str, language: str = "python") -> str | None:
    """The code of an answer: all blocks marked with the language, joined; else all unmarked ones.

    Without any fence the whole answer is code; with only foreign fences there is none.
    """
    wanted = {language.lower(), *(_PYTHON if language.lower() in _PYTHON else ())}
    blocks = list(fenced_blocks(text))
    for found in ([b for b in blocks if b.language in wanted], [b for b in blocks if not b.language]):
        if found:
            return "\n".join(block.body for block in found)
    return None if blocks else text


def program(code: str, setup: str, tests: str, proof: str) -> str:
    """The source to run: setup, answer and tests one after the other in one space of names."""
    parts = [(name, source) for name, source in zip(_PARTS, (setup, code, tests), strict=True) if source]
    return _PROGRAM.format(parts=ascii(parts), proof=ascii(proof))


def _code_exec(given: CheckInput) -> Finding:
    """Passes when setup, code and tests run to their end without an error."""
    options = given.options
    code = extract_code(given.text, options["fence_language"])
    if code is None:
        return Finding(0.0, False, "The answer holds no Python code", "no_code")
    if len(code) > _MAX_CODE:
        return Finding(0.0, False, f"The code is longer than {_MAX_CODE:,} characters", "code_too_long")
    if given.context.sandbox is None:
        raise CheckFault("sandbox_missing", SANDBOX_MISSING)
    tests = options["tests"] if options["tests"] is not None else given.reference
    proof = secrets.token_hex(16)
    source = program(
        code, options["setup"] or "", "\n".join(as_texts(tests)) if tests is not None else "", proof
    )
    result = given.context.sandbox(
        SandboxRequest(source, float(options["timeout_s"]), int(options["memory_mb"]))
    )
    if result.fault:
        raise CheckFault(result.fault, result.reason or "The sandbox could not run the code.")
    return _finding(result, proof, options)


def _finding(result: SandboxResult, proof: str, options: Mapping[str, Any]) -> Finding:
    output = result.stdout.rstrip()
    proven = result.exit_code == 0 and output.endswith(proof)
    detail = {
        "exit_code": result.exit_code,
        "stdout": output.removesuffix(proof).rstrip()[-_KEPT:],
        "stderr": result.stderr[-_KEPT:],
    }
    if proven:
        return Finding(1.0, True, "The code works", "code_works", detail)
    if result.timed_out:
        fact = f"The code did not end within {float(options['timeout_s']):g} s"
        return Finding(0.0, False, fact, "code_timeout", detail)
    # Code nested too deeply to be read ends in a MemoryError as well, but before any of it ran.
    if result.out_of_memory and any(f'File "<{part}>"' in result.stderr for part in _PARTS):
        fact = f"The code needed more than {options['memory_mb']} MB of memory"
        return Finding(0.0, False, fact, "code_memory", detail)
    if result.exit_code == 0:
        return Finding(
            0.0, False, "The code ended the program before the tests were done", "code_left", detail
        )
    lines = [line for line in result.stderr.strip().splitlines() if line.strip()]
    told = lines[-1].strip()[:_TOLD] if lines else f"exit code {result.exit_code}"
    return Finding(0.0, False, f"The code does not work: {told}", "code_failed", detail)


def _faults(setup: Setup) -> list[Fault]:
    tests = setup.options["tests"] if setup.options["tests"] is not None else setup.reference
    if tests is None:
        return []
    try:
        compile("\n".join(as_texts(tests)), "<tests>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        place = f" in line {line}" if line else ""
        message = f"The tests are not Python code{place}: {getattr(error, 'msg', error)}."
        return [Fault(message, "Mend the tests.", "tests_bad", option="tests")]
    return []


CODE_EXEC = CheckType(
    name="code_exec",
    title="the code works",
    rule="The code in the answer runs in a sandbox, without files and network, and its tests hold.",
    run=_code_exec,
    validate=_faults,
    needs_reference=never_needs,
    opposite="it must not",
    options=(
        Option("language", "choice", "python", "Language", choices=("python",)),
        Option("timeout_s", "number", 15.0, "Stops after seconds", minimum=0.1, maximum=300),
        Option("memory_mb", "int", 256, "Most memory in MB", minimum=64, maximum=2048),
        Option("setup", "text", "", "Code before the answer"),
        Option("tests", "any", None, "Tests after the answer"),
        Option("fence_language", "text", "python", "Code blocks are marked with"),
    ),
)

"""`score` and `verdict`: one check on one answer, and statistics on scores from elsewhere."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_desktop.cli.output import out, print_json, say
from arena_desktop.cli.parser import EXIT_OK
from engine.errors import UserError

if TYPE_CHECKING:
    from engine.scoring.base import ScoringContext

LONGEST_PATH = 240


def _existing_file(text: str) -> Path | None:
    """The file that an option may name; long or odd text is not a path."""
    if len(text) > LONGEST_PATH or "\n" in text or "\0" in text:
        return None
    path = Path(text)
    return path if path.is_file() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise UserError(
            "file_unreadable",
            f"The file {path} cannot be read: {error.strerror}.",
            hint="Check its name and that you may read it.",
        ) from error


def _answer(option: str) -> str:
    if option == "-":
        return sys.stdin.read()
    path = Path(option)
    if not path.is_file():
        raise UserError(
            "file_missing", f"There is no answer file {option}.", hint="Name a text file, or - for input."
        )
    return _read(path)


def _check(option: str) -> dict[str, Any]:
    path = _existing_file(option)
    text = _read(path) if path else option
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UserError(
            "check_not_json",
            f"The check is not JSON: {error}.",
            hint='Write it as {"type": "contains", "reference": "voucher"}.',
        ) from error
    if not isinstance(found, dict):
        raise UserError(
            "check_not_json",
            "The check must be one JSON object.",
            hint='Write it as {"type": "contains", "reference": "voucher"}.',
        )
    return found


def _with_sandbox(quiet: bool) -> ScoringContext:
    """What a check needs that runs code; preparing takes seconds the first time."""
    from engine.scoring.base import ScoringContext
    from engine.scoring.sandbox import is_installed, program_sandbox

    if not is_installed():
        return ScoringContext()
    sandbox = program_sandbox()
    if not sandbox.is_kept:
        say("Preparing the sandbox. The first time this takes some seconds.", quiet=quiet)
    return ScoringContext(sandbox=sandbox)


def score(options: argparse.Namespace) -> int:
    """Tries one check on one answer, through the code of a run."""
    from engine.scoring.try_check import try_check

    reference: str | None = options.reference
    if reference is not None:
        path = _existing_file(reference)
        reference = _read(path) if path else reference
    reply = _answer(options.judge_reply) if options.judge_reply else None
    check, answer = _check(options.check), _answer(options.answer)
    runs_code = check.get("type", check.get("eval_type")) == "code_exec"
    context = _with_sandbox(options.quiet) if runs_code else None
    result = try_check(check, answer, reference, reply, context=context)
    if options.json:
        print_json(
            {
                "state": result.state,
                "score": result.score,
                "passed": result.passed,
                "reason": result.reason,
                "detail": dict(result.detail),
                "metrics": dict(result.metrics),
            }
        )
        return EXIT_OK
    outcome = {True: "passed", False: "not passed", None: "no mark"}[result.passed]
    mark = "" if result.score is None else f", score {result.score:g}"
    out(f"{result.state.value}: {outcome}{mark}. {result.reason}")
    return EXIT_OK


def verdict(options: argparse.Namespace) -> int:
    """Reads scores from elsewhere and prints the verdict on them."""
    from arena_desktop.wording.verdict_rows import pair_sentence, verdict_sentence
    from engine.stats.verdict_file import file_verdict_json, verdict_from_rows

    result = verdict_from_rows(Path(options.file), options.margin)
    document = file_verdict_json(result, verdict_sentence(result.board), pair_sentence)
    if options.json:
        print_json(document)
        return EXIT_OK
    out(document["sentence"])
    for model in document["models"]:
        mean = "not measured" if model["mean"] is None else f"{model['mean'] * 100:.1f} of 100"
        say(f"  {model['key']}: {mean}", quiet=options.quiet)
    return EXIT_OK

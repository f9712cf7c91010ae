"""What the command line prints: sentences to standard error, one JSON document to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from arena_desktop.wording.harmless import harmless
from engine.domain import Problem
from engine.errors import ArenaError
from engine.export.plain import plain, unicode_text

_WIDEST_CELL = 200


def say(text: str, *, quiet: bool = False) -> None:
    """Prints a line for people; standard output stays free for results."""
    if not quiet:
        print(harmless(text), file=sys.stderr, flush=True)


def out(text: str = "") -> None:
    """Prints a result for people on standard output."""
    print(harmless(text))


def print_json(document: Any) -> None:
    """Prints one JSON document; text outside ASCII stays readable, lone surrogates are escaped."""
    text = unicode_text(json.dumps(plain(document), ensure_ascii=False, indent=2))
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.flush()


def print_error(error: ArenaError, as_json: bool) -> None:
    """Says what went wrong and what to do; with `--json` also as a document."""
    say(error.message)
    if error.hint:
        say(error.hint)
    if as_json:
        print_json({"error": {"code": error.code, "message": error.message, "hint": error.hint}})


def print_problems(problems: Iterable[Problem]) -> None:
    """One line per fault: file, line, place, what, and how to mend it."""
    for problem in problems:
        say(f"{problem.severity.value}: {problem}")


def _cell(text: str) -> str:
    """A name as one bounded line, so that no cell can pass for a row of its own."""
    line = harmless(" ".join(text.splitlines()))
    return line if len(line) <= _WIDEST_CELL else line[: _WIDEST_CELL - 1] + "…"


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows as aligned text columns; `right` names the columns that are set to the right."""
    rows = [[_cell(text) for text in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)

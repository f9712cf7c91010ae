"""Faults of a YAML parser in words that need no knowledge of parsers."""

from __future__ import annotations

import re

import yaml
from yaml.nodes import MappingNode, Node

from engine.domain import Problem, Severity

# First match wins: what the parser says -> code, what it means, what to do.
_SAYINGS: tuple[tuple[str, str, str, str], ...] = (
    (
        "duplicate anchor",
        "duplicate_anchor",
        "The same `&name` is given twice.",
        "Use a different name for one of them.",
    ),
    (
        "undefined alias",
        "undefined_alias",
        "An alias (`*name`) has no `&name` before it.",
        "Put the text in quotes if the star is part of it, or define the name above.",
    ),
    (
        "another document",
        "several_documents",
        "The file holds several documents, separated by `---`.",
        "Keep one document per file and remove the line `---`.",
    ),
    (
        "mapping values are not allowed",
        "colon_in_text",
        "A colon followed by a space stands where none may be.",
        "Put the whole text in quotes, or check the indentation of this line.",
    ),
    (
        "block sequence entries are not allowed",
        "dash_in_text",
        "A list item (`- `) cannot start here.",
        "Put the list on lines of its own below the key.",
    ),
    (
        "unknown escape",
        "bad_escape",
        "A backslash in double quotes starts an escape that does not exist.",
        "Use single quotes, or write the backslash twice.",
    ),
    (
        "invalid Unicode|escape code",
        "bad_escape",
        "An escape in double quotes is not a valid character.",
        "Write the character itself, or use single quotes.",
    ),
    (
        "end of stream|document indicator",
        "open_quote",
        "A quote that is opened here is never closed.",
        "Close the quote, or put the text in the other kind of quotes.",
    ),
    (
        "expected ',' or",
        "open_bracket",
        "A bracket that was opened is never closed, or a comma is missing.",
        "Check the brackets and commas up to this line.",
    ),
    ("nesting", "too_deep", "The file is nested too deeply.", "Make the structure flatter."),
    (
        "cannot start any token",
        "bad_start",
        "A value cannot start with this character unless it is in quotes.",
        "Put the value in quotes.",
    ),
    (
        "expected key|block end|'-' indicator|expected ':'",
        "bad_indent",
        "This line does not fit to the lines above: usually its indentation is wrong or a quote is missing.",
        "Give entries of one list or block the same number of spaces.",
    ),
    (
        "control characters|unacceptable|invalid",
        "bad_character",
        "The file contains a character that no text may hold.",
        "Delete the invisible character and type the text anew.",
    ),
    (
        "tag|directive",
        "bad_tag",
        "A mark that starts with `!` or `%` is not understood.",
        "Put the value in quotes if the mark is part of the text.",
    ),
)

_PLACEHOLDER = re.compile(r"^(?P<head>\s*(?:- )*(?:[^\s:#'\"{}]+:\s+|- ))(?P<value>\{\{.*)$")


def explain(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """The one problem behind a parser error, with the place a person would look at."""
    line, column = _place(error, text)
    lines = text.splitlines()
    shown = lines[line - 1] if line is not None and line <= len(lines) else ""
    for number in (line, None if line is None else line - 1):
        if number and number <= len(lines) and (match := _PLACEHOLDER.match(lines[number - 1])):
            return _placeholder_problem(file, number, len(match["head"]) + 1, match["head"], match["value"])
    if "\t" in shown[: len(shown) - len(shown.lstrip())]:
        return Problem(
            Severity.ERROR,
            "The line is indented with a Tab, which YAML does not allow.",
            "Replace the Tab by spaces.",
            file,
            line,
            1,
            "",
            "tab_indent",
        )
    said = " ".join(
        str(part) for part in (getattr(error, "context", ""), getattr(error, "problem", ""), error)
    )
    for pattern, code, message, fix in _SAYINGS:
        if re.search(pattern, said):
            return Problem(Severity.ERROR, message, fix, file, line, column, "", code)
    return Problem(
        Severity.ERROR,
        "This line cannot be read as YAML.",
        "Check its indentation, quotes and brackets.",
        file,
        line,
        column,
        "",
        "bad_yaml",
    )


def _place(error: yaml.YAMLError, text: str) -> tuple[int | None, int | None]:
    problem, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    said = str(getattr(error, "problem", ""))
    # An open quote is noticed at the end of the file; the reader needs its beginning.
    mark = context if context is not None and "end of stream" in said else problem or context
    if mark is not None:
        return mark.line + 1, mark.column + 1
    position = getattr(error, "position", None)
    if isinstance(position, int):
        head = text[:position]
        return head.count("\n") + 1, position - (head.rfind("\n") + 1) + 1
    return None, None


def unquoted_placeholder(key: Node, parent: MappingNode, text: str, file: str) -> Problem:
    """A key that is itself a block or list: nearly always a `{{name}}` without quotes."""
    lines = text.splitlines()
    number = parent.start_mark.line + 1
    match = _PLACEHOLDER.match(lines[number - 1]) if number <= len(lines) else None
    if match:
        return _placeholder_problem(file, number, len(match["head"]) + 1, match["head"], match["value"])
    inner = text[parent.start_mark.index : parent.end_mark.index]
    if inner.startswith("{{"):
        column = parent.start_mark.column + 1
        return _placeholder_problem(file, number, column, "", inner)
    return Problem(
        Severity.ERROR,
        "A block or list stands where the name of a setting should be.",
        "Put the text in quotes if the brackets are part of it.",
        file,
        key.start_mark.line + 1,
        key.start_mark.column + 1,
        "",
        "bad_key",
    )


def _placeholder_problem(file: str, line: int, column: int, head: str, value: str) -> Problem:
    quoted = value.rstrip().replace("\\", "\\\\").replace('"', '\\"')
    return Problem(
        Severity.ERROR,
        "A value that starts with `{{` must be in quotes.",
        f'Write: {head.strip()} "{quoted}"'.replace(":  ", ": "),
        file,
        line,
        column,
        "",
        "unquoted_placeholder",
    )

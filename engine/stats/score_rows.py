"""Scores from elsewhere: rows `model, case, trial, score` in CSV, JSON or JSON lines, read strictly.

Every fault names the file, the row and the column. Rows count as they do in a spreadsheet (the
header is row 1) or by their place in a JSON list.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config.schema import MOST_WEIGHT
from engine.domain import CallStatus
from engine.errors import UserError

REQUIRED = ("model", "case", "score")
KNOWN = ("model", "case", "trial", "score", "group", "weight", "status")
_WORDS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One answer. `score` None = not marked (blank, or not a finite number)."""

    model: str
    case: str
    trial: int
    score: float | None
    status: CallStatus
    group: str | None
    weight: float
    row: int


@dataclass(frozen=True, slots=True)
class _Source:
    name: str
    comma: bool = False

    def fault(self, row: int | None, column: str | None, message: str, hint: str = "") -> UserError:
        place = ", ".join(
            part
            for part in (self.name, f"row {row}" if row else "", f"column {column}" if column else "")
            if part
        )
        return UserError(
            "bad_scores", f"{place}: {message}", hint=hint, row=row, column=column, file=self.name
        )


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(
            "unreadable", f"{path.name} cannot be read: {error.strerror or error}.", hint="Check the path."
        ) from error
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UserError(
            "bad_scores", f"{path.name} is not UTF-8 text.", hint="Save it as “CSV UTF-8”.", file=path.name
        ) from error


def _csv_rows(text: str, source: _Source, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip().lower() for cell in cells]
                _check_header(header, source)
                continue
            if len(cells) != len(header):
                message = f"the row has {len(cells)} cells, the header has {len(header)}."
                raise source.fault(reader.line_num, None, message, "Put text with commas in quotes.")
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise source.fault(reader.line_num, None, f"the row cannot be read: {error}.") from error
    if header is None:
        raise source.fault(None, None, "the file is empty.", f"It needs the columns {', '.join(REQUIRED)}.")


def _check_header(header: list[str], source: _Source) -> None:
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        message = f"there is no column {' and no column '.join(missing)}; found: {', '.join(header)}."
        raise source.fault(1, missing[0], message, f"The columns are {', '.join(KNOWN)}.")
    doubled = next((name for name in header if name in KNOWN and header.count(name) > 1), None)
    if doubled:
        raise source.fault(1, doubled, "the column is there twice.", "Keep one of them.")


def _json_rows(text: str, source: _Source, lines: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    if lines:
        items: Any = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
        items = [(n, _parsed(line, source, n)) for n, line in items]
    else:
        data = _parsed(text, source, None)
        data = data.get("rows") if isinstance(data, dict) else data
        if not isinstance(data, list):
            hint = 'Write [{"model": "a", "case": "1", "trial": 1, "score": 1}, …].'
            raise source.fault(None, None, "the file holds no list of rows.", hint)
        items = list(enumerate(data, start=1))
    for number, item in items:
        if not isinstance(item, dict):
            raise source.fault(number, None, "the row is not a map of names and values.")
        yield number, {str(name).strip().lower(): value for name, value in item.items()}


def _parsed(text: str, source: _Source, row: int | None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise source.fault(row, None, f"this is not JSON: {error}.") from error


def _required(item: Mapping[str, Any], column: str, source: _Source, row: int) -> str:
    value = item.get(column)
    text = "" if value is None or isinstance(value, (dict, list)) else str(value).strip()
    if not text:
        raise source.fault(row, column, "the cell is empty.", f"Every row needs a {column}.")
    return text


def _number(value: Any, column: str, source: _Source, row: int) -> float | None:
    """A number; None for an empty cell. Infinite and NaN are given back as they are."""
    if value is None or isinstance(value, bool):
        return None if value is None else float(value)
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    text = str(value).strip()
    if not text or text.lower() in ("null", "none"):
        return None
    if text.lower() in _WORDS and column == "score":
        return _WORDS[text.lower()]
    try:
        return float(text.replace(",", ".") if source.comma else text)
    except ValueError:
        raise source.fault(row, column, f"“{text[:40]}” is not a number.", "Write it like 0.5.") from None


def _score(item: Mapping[str, Any], source: _Source, row: int) -> float | None:
    if "score" not in item:
        raise source.fault(row, "score", "there is no score.", "Write null for an answer that is not marked.")
    value = _number(item["score"], "score", source, row)
    if value is None or not math.isfinite(value):
        return None
    if not 0.0 <= value <= 1.0:
        raise source.fault(
            row, "score", f"{value:g} is outside 0 to 1.", "Divide by the best possible score."
        )
    return value


def _trial(item: Mapping[str, Any], source: _Source, row: int) -> int:
    value = _number(item.get("trial"), "trial", source, row)
    if value is None:
        return 1
    if not math.isfinite(value) or value != int(value) or value < 1:
        raise source.fault(
            row, "trial", f"{value:g} is not a whole number from 1.", "Number repeats 1, 2, 3."
        )
    return int(value)


def _weight(item: Mapping[str, Any], source: _Source, row: int) -> float:
    value = _number(item.get("weight"), "weight", source, row)
    if value is None:
        return 1.0
    if not 0.0 <= value <= MOST_WEIGHT:
        raise source.fault(
            row, "weight", f"{value:g} is not a weight.", f"A weight is between 0 and {MOST_WEIGHT:,.0f}."
        )
    return value


def _status(item: Mapping[str, Any], source: _Source, row: int) -> CallStatus:
    text = str(item.get("status") or "ok").strip().lower() or "ok"
    try:
        return CallStatus(text)
    except ValueError:
        raise source.fault(
            row, "status", f"“{text[:40]}” is not a status.", "Use ok, error or stopped."
        ) from None


def _row(item: Mapping[str, Any], source: _Source, row: int) -> ScoreRow:
    group = item.get("group")
    name = "" if group is None else str(group).strip()
    status = _status(item, source, row)
    score = _score(item, source, row) if status is CallStatus.OK else None
    return ScoreRow(
        model=_required(item, "model", source, row),
        case=_required(item, "case", source, row),
        trial=_trial(item, source, row),
        score=score,
        status=status,
        group=name or None,
        weight=_weight(item, source, row),
        row=row,
    )


def _check_together(rows: list[ScoreRow], source: _Source) -> None:
    """No answer twice, and one group and weight per case."""
    cells: dict[tuple[str, str, int], int] = {}
    facts: dict[str, ScoreRow] = {}
    for item in rows:
        cell = (item.model, item.case, item.trial)
        if cell in cells:
            message = (
                f"model {item.model}, case {item.case}, trial {item.trial} is already in row {cells[cell]}."
            )
            raise source.fault(item.row, "trial", message, "Number repeats of a case 1, 2, 3 in `trial`.")
        cells[cell] = item.row
        first = facts.setdefault(item.case, item)
        for column in ("group", "weight"):
            mine, theirs = getattr(item, column), getattr(first, column)
            if mine != theirs:
                message = f"case {item.case} has {theirs} in row {first.row} and {mine} here."
                raise source.fault(item.row, column, message, "A case has one group and one weight.")


def read_rows(path: Path) -> list[ScoreRow]:
    """All rows of the file. Raises UserError: `unreadable`, or `bad_scores` naming row and column."""
    text = _text(path)
    start = text.lstrip()[:1]
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        source = _Source(path.name)
        raw = _json_rows(text, source, lines=True)
    elif suffix == ".json" or start in ("[", "{"):
        source = _Source(path.name)
        raw = _json_rows(text, source, lines=False)
    else:
        head = text.lstrip().split("\n", 1)[0]
        delimiter = max(",;\t", key=head.count)
        source = _Source(path.name, comma=delimiter == ";")
        raw = _csv_rows(text, source, delimiter)
    rows = [_row(item, source, number) for number, item in raw]
    if not rows:
        raise source.fault(None, None, "the file holds no rows.", f"The columns are {', '.join(KNOWN)}.")
    _check_together(rows, source)
    return rows

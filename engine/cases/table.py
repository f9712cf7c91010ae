"""CSV and TSV text to rows: delimiter and quoting found out, every odd row named, nothing shifted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.cases.fields import COLUMN_OF
from engine.config.faults import Faults
from engine.domain import Problem, Severity

LONG_CELL = 131_072
_DELIMITERS = (",", ";", "\t", "|")
# Stands in no text a person writes: the delimiter of a file with one column.
_NO_DELIMITER = "\x1f"
_HINT = re.compile(r"sep=(?P<delimiter>.)\r?\n?", re.IGNORECASE)
_SHORTENED = re.compile(r"-?\d(?:[.,]\d+)?E\+\d{2,}")
_SAMPLE_ROWS = 40
_SAMPLE_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Row:
    """One record; `line` is the physical line it starts in, counted from 1."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as read. `header` has trimmed names; every row has as many cells as the header.

    `delimiter` is None for a single column. `skipped` counts blank rows.
    """

    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    delimiter: str | None = None
    quote: str = '"'
    skipped: int = 0
    header_line: int = 1
    problems: tuple[Problem, ...] = field(default=())


def parse_table(text: str, file: str) -> Table:
    """Reads a whole table. Faulty rows become problems and are left out; the others stay."""
    faults = Faults(file)
    hint = _HINT.match(text)
    start = hint.end() if hint else 0
    body, first_line = text[start:], 2 if hint else 1
    if not body.strip():
        _add(faults, None, "empty_file", "The file is empty.", "Add a header row and one row per test.")
        return Table(problems=tuple(faults.items))
    quote = "'" if re.match(r"\s*'[^'\n]*'\s*[,;\t|\r\n]", body) else '"'
    expected = "\t" if file.lower().endswith(".tsv") else ""
    delimiter = hint["delimiter"] if hint else _detect(body, quote, expected)
    spaced = _needs_space_skip(body, delimiter, quote)
    records = list(_records(body, delimiter, quote, first_line, spaced))
    _check_open_quote(body, delimiter, quote, records, faults)
    return _checked(records, delimiter, quote, faults)


def _reader(text: str, delimiter: str, quote: str, spaced: bool) -> Iterator[tuple[int, list[str]]]:
    """Records with the number of the line they start in, counted from 0."""
    # The size of the file is the bound; the module's own, of the whole process, must not be below it.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, skipinitialspace=spaced
    )
    before = 0
    for record in reader:
        yield before, record
        before = reader.line_num


def _records(text: str, delimiter: str, quote: str, first_line: int, spaced: bool) -> Iterator[Row]:
    for line, record in _reader(text, delimiter, quote, spaced):
        cells = [cell.replace("\r\n", "\n").replace("\r", "\n") if "\r" in cell else cell for cell in record]
        yield Row(line + first_line, tuple(cells))


def _detect(text: str, quote: str, expected: str) -> str:
    """The delimiter under which the header holds most known names and rows are most even.

    `expected` wins where its header has two columns or more.
    """
    sample = text[:_SAMPLE_CHARS]
    best, best_score = _NO_DELIMITER, (0.0, 0.0, 0)
    for delimiter in _DELIMITERS:
        rows: list[list[str]] = []
        for _, record in _reader(sample, delimiter, quote, False):
            if any(cell.strip() for cell in record):
                rows.append(record)
            if len(rows) == _SAMPLE_ROWS:
                break
        if not rows or len(rows[0]) < 2:
            continue
        known = sum(cell.strip().strip("\"'").lower() in COLUMN_OF for cell in rows[0])
        even = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        score = (float("inf") if delimiter == expected else float(known), even, len(rows[0]))
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _needs_space_skip(text: str, delimiter: str, quote: str) -> bool:
    """True where quotes stand after a blank (`a, "b, c"`) and rows only fit without it."""
    if f"{delimiter} {quote}" not in text:
        return False

    def uneven(spaced: bool) -> int:
        lengths = [len(record) for _, record in _reader(text[:_SAMPLE_CHARS], delimiter, quote, spaced)]
        return sum(length != lengths[0] for length in lengths)

    return uneven(True) < uneven(False)


def _check_open_quote(text: str, delimiter: str, quote: str, records: list[Row], faults: Faults) -> None:
    """A quote that is never closed swallows the rest of the file into one cell."""
    if not records:
        return
    last = records[-1]
    if "\n" not in "".join(last.cells):
        return
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True):
            pass
    except csv.Error as error:
        if "end of data" in str(error):
            records.pop()
            _add(
                faults,
                last.line,
                "open_quote",
                "A quote opened in this row is never closed, so the rest of the file belongs to one cell.",
                "Close the quote; inside a quoted cell a quote is written twice.",
            )


def _checked(records: list[Row], delimiter: str, quote: str, faults: Faults) -> Table:
    filled = [row for row in records if any(cell.strip() for cell in row.cells)]
    if not filled:
        return Table(problems=tuple(faults.items))
    top = filled[0]
    names = [cell.strip() for cell in top.cells]
    while names and not names[-1]:
        names.pop()
    shown = None if delimiter == _NO_DELIMITER else delimiter
    if not _unique(names, top.line, faults):
        return Table(tuple(names), (), shown, quote, 0, top.line, tuple(faults.items))
    rows = [row for row in (_fit(row, names, faults) for row in filled[1:]) if row is not None]
    # Line ends after the last row are no rows; `csv` gives none for them.
    skipped = sum(1 for row in records if row.line > top.line and row.cells) - len(filled) + 1
    if skipped > 0:
        what = "1 blank row was" if skipped == 1 else f"{skipped} blank rows were"
        faults.items.append(
            Problem(
                Severity.WARNING,
                f"{what} skipped.",
                "Nothing needs to be done.",
                faults.file,
                code="blank_rows",
            )
        )
    _look_at_cells(names, rows, faults)
    return Table(tuple(names), tuple(rows), shown, quote, max(skipped, 0), top.line, tuple(faults.items))


def _unique(names: list[str], line: int, faults: Faults) -> bool:
    seen: dict[str, int] = {}
    good = True
    for number, name in enumerate(names, 1):
        key = name.casefold()
        if key and key in seen:
            good = False
            _add(
                faults,
                line,
                "duplicate_column",
                f"Two columns have the same name: column {seen[key]} `{names[seen[key] - 1]}` and column "
                f"{number} `{name}`.",
                "Rename one of them.",
            )
        seen.setdefault(key, number)
    return good


def _fit(row: Row, names: list[str], faults: Faults) -> Row | None:
    """The row cut to the header; None where cells are missing or too many."""
    width = len(names)
    extra = [cell for cell in row.cells[width:] if cell.strip()]
    unnamed = [i for i, name in enumerate(names) if not name and i < len(row.cells) and row.cells[i].strip()]
    if len(row.cells) >= width and not extra and not unnamed:
        return Row(row.line, row.cells[:width])
    if unnamed and not extra:
        _add(
            faults,
            row.line,
            "unnamed_column",
            f"Column {unnamed[0] + 1} has no name in the header, but holds text in this row.",
            "Name the column, or put the cell before it in quotes if it contains the delimiter.",
        )
        return None
    cells = (
        len(row.cells)
        if not extra
        else width + max(i + 1 for i, cell in enumerate(row.cells[width:]) if cell.strip())
    )
    message = f"The row has {cells} {'cell' if cells == 1 else 'cells'}, the header has {width}."
    if extra:
        text = ", ".join(cell.strip() for cell in extra)[:60]
        message += f" Too many: `{text}`."
        fix = "Put a cell that contains the delimiter or quotes in quotes, and write its inner quotes twice."
    else:
        fix = f"Add the missing cells ({', '.join(names[len(row.cells) :])}), or empty ones."
    _add(faults, row.line, "row_length", message, fix)
    return None


def _look_at_cells(names: list[str], rows: list[Row], faults: Faults) -> None:
    for row in rows:
        for number, cell in enumerate(row.cells):
            if len(cell) > LONG_CELL:
                message = f"Column {number + 1} (`{names[number]}`) holds {len(cell):,} characters."
                fix = "Long texts cost more and may not fit into a model; shorten it if that is not meant."
                _warn(faults, row.line, number + 1, "long_cell", message, fix)
            elif "E+" in cell and _SHORTENED.fullmatch(cell.strip()):
                message = (
                    f"Column {number + 1} (`{names[number]}`): `{cell.strip()}` looks like a long "
                    "number that a spreadsheet shortened; its digits are lost."
                )
                fix = "Format the column as text in the spreadsheet, type the number again and save."
                _warn(faults, row.line, number + 1, "shortened_number", message, fix)


def _add(faults: Faults, line: int | None, code: str, message: str, fix: str) -> None:
    faults.items.append(Problem(Severity.ERROR, message, fix, faults.file, line, code=code))


def _warn(faults: Faults, line: int, column: int, code: str, message: str, fix: str) -> None:
    faults.items.append(Problem(Severity.WARNING, message, fix, faults.file, line, column, code=code))

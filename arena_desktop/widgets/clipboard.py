"""Table text on the clipboard: tab-separated and as an HTML table, and back again."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from arena_desktop.wording.harmless import escaped

Rows = Sequence[Sequence[str]]
_AT_ONCE = 1_000


def to_tsv(rows: Rows) -> str:
    """Tab-separated text as spreadsheets write and read it: fields with breaks, tabs or quotes are quoted."""
    # In parts: one call for 100,000 rows would not let another thread draw before it is done.
    return "\r\n".join(_tsv(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE))


def _tsv(rows: Rows) -> str:
    stream = io.StringIO()
    csv.writer(stream, dialect="excel-tab", lineterminator="\r\n").writerows(rows)
    return stream.getvalue().removesuffix("\r\n")


def from_tsv(text: str) -> list[list[str]]:
    """Cells of pasted text; the inverse of `to_tsv`. A trailing line break makes no row."""
    return [list(row) for row in csv.reader(io.StringIO(text, newline=""), dialect="excel-tab")]


def to_html(rows: Rows, head: Sequence[str] | None = None) -> str:
    """A plain HTML table; everything is escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        inside = "".join(f"<{tag}>{escaped(cell).replace(chr(10), '<br>')}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    body = "".join(line(row, "td") for row in rows)
    top = f"<thead>{line(head, 'th')}</thead>" if head is not None else ""
    return f"<table>{top}<tbody>{body}</tbody></table>"

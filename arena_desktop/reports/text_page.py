"""A result as one page of Markdown: verdict, board, cautions. All text of projects and models is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication

from arena_desktop.reports.page import NOTHING, caution_lines, head_line
from arena_desktop.wording import formats
from arena_desktop.wording.board import practice_sentence
from arena_desktop.wording.exact import cannot_tell
from arena_desktop.wording.harmless import harmless
from arena_desktop.wording.reasons import short_reason
from arena_desktop.wording.results import label_map
from arena_desktop.wording.verdict import verdict_words
from engine.stats.board import Entry, EntryStatus, Leaderboard
from engine.storage.rows import StoredRun

_MARKUP = re.compile(r"([\\`*_\[\]<>|~#&])")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Report", text)


def escape(text: str) -> str:
    """Text on one line that is nothing but text: no mark-up, no link."""
    line = " ".join(harmless(text).split())
    return _MARKUP.sub(r"\\\1", line).replace("://", "\\://")


def text_page(stored: StoredRun, board: Leaderboard | None) -> str:
    """Returns the whole page."""
    return (
        "\n\n".join(part for part in _parts(stored, board or Leaderboard((), None, NOTHING)) if part) + "\n"
    )


def _parts(stored: StoredRun, board: Leaderboard) -> Iterator[str]:
    words = verdict_words(board)
    yield f"# {escape(stored.info.project)}"
    yield escape(head_line(stored, board))
    if stored.info.practice:
        yield escape(practice_sentence())
    yield f"## {escape(words.headline)}"
    yield from dict.fromkeys(escape(text) for text in (words.lead, words.sentence))
    if board.entries:
        yield _table(board)
    cautions = caution_lines(stored, board, label_map(board))
    if cautions:
        yield f"## {escape(_tr('What to know'))}"
        yield "\n".join(f"- {escape(line)}" for line in cautions)
    yield f"## {escape(_tr('What this cannot tell you'))}"
    yield escape(" ".join(cannot_tell(board)))


def _table(board: Leaderboard) -> str:
    head = (
        _tr("Place"), _tr("Model"), _tr("Tests passed"), _tr("Overall score"), _tr("Likely between"),
        _tr("Cost per 100"), _tr("Usual wait"), "",
    )  # fmt: skip
    lines = [_line(head), "|---:|---|---:|---:|---:|---:|---:|---|"]
    return "\n".join([*lines, *(_line(_cells(entry)) for entry in board.entries)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(escape(cell) for cell in cells)} |"


def _cells(entry: Entry) -> tuple[str, ...]:
    between, span = formats.UNKNOWN, entry.composite_interval
    if span is not None:
        between = _tr("{low} and {high}").format(low=formats.points(span.low), high=formats.points(span.high))
    state = short_reason(entry.failures[0]) if entry.failures else ""
    if entry.status is EntryStatus.INCOMPLETE:
        state = _tr("Too few answers")
    return (
        formats.UNKNOWN if entry.rank is None else str(entry.rank),
        entry.label,
        f"{entry.passed_cases} / {entry.scored_cases}" if entry.scored_cases else formats.UNKNOWN,
        formats.out_of_100(entry.composite),
        between,
        formats.per_100(entry.cost_per_1k_usd),
        formats.waiting(entry.latency_p50_ms),
        state,
    )

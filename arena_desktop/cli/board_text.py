"""A stored result as text for a terminal: the sentence first, then the board, then what to know."""

from __future__ import annotations

from arena_desktop.cli.output import table
from arena_desktop.wording import formats
from arena_desktop.wording.reasons import note_sentence, reason_sentence, short_reason
from arena_desktop.wording.results import label_map, state_word
from arena_desktop.wording.verdict import verdict_words
from engine.stats.board import Entry, EntryStatus, Leaderboard
from engine.storage.rows import StoredRun

HEAD = ("Place", "Model", "Tests passed", "Overall score", "Likely between", "Cost per 100", "Usual wait", "")
RIGHT = (0, 2, 3, 4, 5, 6)


def _cells(entry: Entry) -> tuple[str, ...]:
    passed = f"{entry.passed_cases} of {entry.scored_cases}" if entry.scored_cases else formats.UNKNOWN
    between = formats.UNKNOWN
    if entry.composite_interval is not None:
        low, high = entry.composite_interval.low, entry.composite_interval.high
        between = f"{formats.points(low)} and {formats.points(high)}"
    state = short_reason(entry.failures[0]) if entry.failures else ""
    if entry.status is EntryStatus.INCOMPLETE:
        state = "Too few answers"
    return (
        str(entry.rank) if entry.rank is not None else formats.UNKNOWN,
        entry.label,
        passed,
        formats.out_of_100(entry.composite),
        between,
        formats.per_100(entry.cost_per_1k_usd),
        formats.waiting(entry.latency_p50_ms),
        state,
    )


def board_table(board: Leaderboard) -> str:
    """The rows of the board as aligned columns."""
    return table([HEAD, *(_cells(entry) for entry in board.entries)], RIGHT)


def _cautions(board: Leaderboard, stored: StoredRun) -> list[str]:
    names = label_map(board)
    out = (EntryStatus.FAILED, EntryStatus.NO_DATA)
    lines = [
        f"{entry.label}: {reason_sentence(entry.failures[0], names)}"
        for entry in board.entries
        if entry.status in out and entry.failures
    ]
    lines += [note_sentence(note, names) for note in stored.notes]
    return lines


def board_text(stored: StoredRun, board: Leaderboard | None) -> str:
    """The whole result of a run for people."""
    info = stored.info
    head = f"{info.project}: {state_word(info.status)}, {info.completed} of {info.planned} answers"
    spent = f"{head}, spent {formats.money(info.cost_usd)}. Run {info.run_id}."
    if board is None:
        return f"{spent}\nNo answer has been marked yet."
    words = verdict_words(board)
    paragraphs = [words.headline, words.sentence]
    if words.recommendation:
        paragraphs.append(words.lead)
    text = "\n".join(dict.fromkeys(line for line in paragraphs if line))
    cautions = "\n".join(f"- {line}" for line in _cautions(board, stored))
    return "\n\n".join(part for part in (text, board_table(board), cautions, spent) if part)

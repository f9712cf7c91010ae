"""A stored result as text for a terminal: the sentence first, then the board, then what to know."""

from __future__ import annotations

from arena_desktop.cli.output import table
from arena_desktop.wording import formats
from arena_desktop.wording.board import change_lines, note_lines
from arena_desktop.wording.exact import cannot_tell, small_money
from arena_desktop.wording.reasons import reason_sentence, short_reason
from arena_desktop.wording.results import label_map, state_word
from arena_desktop.wording.verdict import chance_fact, verdict_words
from engine.stats.board import Entry, EntryStatus, Leaderboard
from engine.storage.rows import StoredRun

HEAD = (
    "Place", "Model", "Tests passed", "Overall score", "Likely between", "Cost per 100", "A right answer",
    "Usual wait", "",
)  # fmt: skip
RIGHT = (0, 2, 3, 4, 5, 6, 7)
_SAID_ELSEWHERE = frozenset({"incomplete", "metric_unknown", "dominated"})


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
        small_money(entry.cost_per_correct_usd),
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
    for entry in board.entries:
        said = [reason_sentence(r, names) for r in entry.warnings if r.code not in _SAID_ELSEWHERE]
        if said:
            lines.append(f"{entry.label}: {' '.join(said)}")
    return lines + note_lines(board, stored.notes)


def _sure(board: Leaderboard) -> list[str]:
    """How sure the result is, what would change it, and what it cannot tell."""
    # What would settle it is told by the lines about changes.
    chance = chance_fact(board)
    lines = [f"{chance.meaning}: {chance.figure}."] if chance is not None else []
    if board.winner is not None:
        lines += change_lines(board)
    return [*lines, "What this cannot tell you: " + " ".join(cannot_tell(board))]


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
    parts = (text, board_table(board), "\n".join(_sure(board)), cautions, spent)
    return "\n\n".join(part for part in parts if part)

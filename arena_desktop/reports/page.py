"""A run as one web page: verdict, board, cautions, every answer. Self-contained and without scripts.

All text from projects and models is escaped; nothing in the page asks another computer for anything.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.exact import cannot_tell
from arena_desktop.wording.harmless import harmless
from arena_desktop.wording.reasons import error_words, note_sentence, reason_sentence, short_reason
from arena_desktop.wording.results import label_map, state_word
from arena_desktop.wording.verdict import verdict_words
from engine.domain import CallDone, CallStatus
from engine.errors import WorldError
from engine.paths import home, private_folder, write_private
from engine.stats.board import Entry, EntryStatus, Leaderboard, Verdict
from engine.stats.board_json import board_from_json
from engine.storage.rows import StoredRun
from engine.storage.store import Store

ANSWER_CHARS = 600
BAR_WIDTH = 168
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NOTHING = Verdict(None, "nothing_scored")

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1a1d23;background:#fafafb;margin:0;padding:32px}
main{max-width:1040px;margin:0 auto}h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:32px 0 8px}
.card{background:#fff;border:1px solid #e5e7eb;border-radius:10px;padding:24px;margin:16px 0}
.chip{display:inline-block;border-radius:11px;background:#edf0fc;color:#3150c8;font-weight:600;
font-size:13px;padding:2px 12px}
.lead{font-size:17px;margin:8px 0 0}.quiet{color:#565d69}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-size:13px;color:#565d69;text-align:left;border-bottom:1px solid #d3d7dd;padding:8px 12px}
td{border-bottom:1px solid #e5e7eb;padding:8px 12px;vertical-align:top}.n{text-align:right}
.out td{color:#646b77}.good{color:#17714a}.bad{color:#b3261e}pre{white-space:pre-wrap;font:inherit;margin:0}
"""


def escape(text: str) -> str:
    """Text as the page may hold it: no mark-up, and nothing that hides or reorders what is read."""
    return html.escape(harmless(text))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Report", text)


def _bar(entry: Entry) -> str:
    """The score as a band (where the true score most likely lies) and a dot."""
    if entry.composite is None:
        return ""
    band = ""
    if entry.composite_interval is not None:
        low = max(0.0, entry.composite_interval.low) * BAR_WIDTH
        high = min(1.0, entry.composite_interval.high) * BAR_WIDTH
        band = (
            f'<rect x="{low:.1f}" y="4" width="{max(1.0, high - low):.1f}" height="8" rx="4" fill="#b7c3f0"/>'
        )
    at = min(1.0, max(0.0, entry.composite)) * BAR_WIDTH
    return (
        f'<svg width="{BAR_WIDTH + 8}" height="16" role="img"'
        f' aria-label="{formats.out_of_100(entry.composite)}">'
        f'<rect y="7" width="{BAR_WIDTH}" height="2" fill="#e3e6eb"/>{band}'
        f'<circle cx="{at:.1f}" cy="8" r="4.5" fill="#3656d4"/></svg>'
    )


def _board_row(entry: Entry) -> str:
    passed = f"{entry.passed_cases} / {entry.scored_cases}" if entry.scored_cases else formats.UNKNOWN
    state = short_reason(entry.failures[0]) if entry.failures else ""
    if entry.status is EntryStatus.INCOMPLETE:
        state = _tr("Too few answers")
    cells = (
        ("n", formats.UNKNOWN if entry.rank is None else str(entry.rank)),
        ("", escape(entry.label)),
        ("n", passed),
        ("", _bar(entry)),
        ("n", formats.out_of_100(entry.composite)),
        ("n", formats.per_100(entry.cost_per_1k_usd)),
        ("n", formats.waiting(entry.latency_p50_ms)),
        ("", escape(state)),
    )
    row = "".join(f'<td class="{kind}">{text}</td>' for kind, text in cells)
    return f'<tr class="{"" if entry.rank is not None else "out"}">{row}</tr>'


def _board(board: Leaderboard) -> str:
    heads = (
        ("n", _tr("Place")),
        ("", _tr("Model")),
        ("n", _tr("Tests passed")),
        ("", _tr("Overall score")),
        ("n", ""),
        ("n", _tr("Cost per 100")),
        ("n", _tr("Usual wait")),
        ("", ""),
    )
    head = "".join(f'<th class="{kind}">{escape(text)}</th>' for kind, text in heads)
    return f"<table><tr>{head}</tr>{''.join(_board_row(entry) for entry in board.entries)}</table>"


def _mark(done: CallDone) -> str:
    if done.status is not CallStatus.OK:
        cause = error_words(done.error.kind, done.error.status) if done.error else _tr("It was stopped.")
        return f'<span class="quiet">{escape(cause)}</span>'
    if done.score is None or done.score.passed is None:
        return f'<span class="quiet">{escape(_tr("not marked"))}</span>'
    good = done.score.passed
    word = _tr("passed") if good else _tr("not passed")
    return f'<span class="{"good" if good else "bad"}">{escape(word)}</span>'


def _answer_row(done: CallDone, names: dict[str, str]) -> str:
    text = done.answer.text if done.answer else ""
    if len(text) > ANSWER_CHARS:
        text = text[:ANSWER_CHARS] + " …"
    reason = done.score.reason if done.score else ""
    label = names.get(done.cell.model_key, done.cell.model_key)
    return (
        f"<tr><td>{escape(done.cell.case_id)}</td><td>{escape(label)}</td>"
        f"<td><pre>{escape(text)}</pre></td><td>{_mark(done)}</td><td>{escape(reason)}</td></tr>"
    )


def caution_lines(stored: StoredRun, board: Leaderboard, names: dict[str, str]) -> list[str]:
    """What to know about a result, one sentence each."""
    lines = [
        f"{entry.label}: {reason_sentence(entry.failures[0], names)}"
        for entry in board.entries
        if entry.failures
    ]
    return lines + [note_sentence(note, names) for note in stored.notes]


def _cautions(stored: StoredRun, board: Leaderboard, names: dict[str, str]) -> str:
    lines = caution_lines(stored, board, names)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(_tr('What to know'))}</h2><ul>{items}</ul>"


def _cannot_tell(board: Leaderboard) -> str:
    said = " ".join(cannot_tell(board))
    return f"<h2>{escape(_tr('What this cannot tell you'))}</h2><p>{escape(said)}</p>"


def head_line(stored: StoredRun, board: Leaderboard) -> str:
    """How far the run got, what it asked, and when."""
    asked = _tr("asked once each") if board.trials == 1 else _tr("asked {trials} times each")
    tests = _tr("{tests} tests, {asked}, {models} models").format(
        tests=len(stored.cases), asked=asked.format(trials=board.trials), models=len(board.entries)
    )
    return f"{state_word(stored.info.status)}. {tests}. {formats.date_time(stored.info.started_at)}."


def report_page(stored: StoredRun, board: Leaderboard, calls: Iterable[CallDone]) -> str:
    """Returns the whole page."""
    info, names, words = stored.info, label_map(board), verdict_words(board)
    line = head_line(stored, board)
    practice = _tr("Practice result. These models are pretend.") if info.practice else ""
    rows = "".join(_answer_row(done, names) for done in calls)
    heads = (_tr("Test"), _tr("Model"), _tr("Answer"), _tr("Mark"), _tr("Why"))
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return (
        "<!doctype html><html><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(info.project)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(info.project)}</h1><div class='quiet'>{escape(line)} {escape(practice)}</div>"
        f"<div class='card'><span class='chip'>{escape(words.chip)}</span>"
        f"<h1>{escape(words.headline)}</h1><p class='lead'>{escape(words.lead)}</p>"
        f"<p>{escape(words.sentence)}</p></div>"
        f"<div class='card'>{_board(board)}</div>{_cautions(stored, board, names)}{_cannot_tell(board)}"
        f"<h2>{escape(_tr('All answers'))}</h2><div class='card'><table><tr>{head}</tr>{rows}</table></div>"
        "</main></body></html>"
    )


def write_report(store: Store, run_id: str, path: Path | None = None) -> Path:
    """Writes the report of a stored run and returns its path.

    Without a path it goes into `reports` below the program's own folder. Raises WorldError.
    """
    stored = store.run(run_id)
    board = board_from_json(stored.board) if stored.board else Leaderboard((), None, NOTHING)
    target = path or private_folder(home() / "reports") / f"{stored.info.run_id}.html"
    page = report_page(stored, board, store.iter_calls(stored.info.run_id))
    try:
        write_private(target, page)
    except OSError as error:
        raise WorldError(
            "report_not_written",
            f"The report could not be written to {target}: {error.strerror or error}.",
            hint="Free some space or choose another folder. The run itself is saved.",
        ) from error
    return target

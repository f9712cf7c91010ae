"""The reports that a project asks for: written into its folder after a run, in the forms `output` names.

A file gets a name of its own (day, number of the run) and takes the place of none that is there. It
appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from arena_desktop.reports.page import NOTHING, report_page
from arena_desktop.reports.text_page import text_page
from arena_desktop.wording.harmless import harmless
from arena_desktop.wording.results import run_words
from engine.config.output_places import report_folder, report_forms
from engine.domain import RunInfo
from engine.errors import WorldError
from engine.export.plain import plain, unicode_text
from engine.export.run_document import flat_calls, run_document
from engine.paths import private_folder, write_private
from engine.project import Project
from engine.stats.board import Leaderboard
from engine.stats.board_json import board_from_json
from engine.storage.rows import StoredRun
from engine.storage.store import Store

COLUMNS = (
    "case_id", "model_key", "trial", "status", "outcome", "score", "score_state", "passed", "answer",
    "reason", "latency_ms", "input_tokens", "output_tokens", "cost_usd", "attempts", "throttled", "error",
)  # fmt: skip
_STEERS = ("=", "+", "-", "@", "\t", "\r")
_TRIES = 1_000


def write_reports(store: Store, run_id: str, project: Project) -> tuple[Path, ...]:
    """Writes what the project asks for and returns the files; none where it asks for nothing.

    For a background thread. Raises WorldError `report_not_written`; what was written stays.
    """
    folder, forms = report_folder(project.root, project.config), report_forms(project.config)
    if folder is None or not forms:
        return ()
    stored = store.run(run_id)
    board = board_from_json(stored.board) if stored.board else None
    return tuple(_write(folder, stored.info, form, _WRITERS[form](store, stored, board)) for form in forms)


def _write(folder: Path, info: RunInfo, form: str, text: str) -> Path:
    target = folder
    try:
        target = _free_name(private_folder(folder), info, _ENDINGS[form])
        try:
            # The name is ours from here on: the empty file is replaced by the whole one in one step.
            write_private(target, text)
        except BaseException:
            with contextlib.suppress(OSError):
                target.unlink()
            raise
    except (OSError, WorldError) as error:
        why = error.message if isinstance(error, WorldError) else str(error.strerror or error)
        raise WorldError(
            "report_not_written",
            f"The report could not be written to {target}: {why.rstrip('.')}.",
            hint="Free some space, allow writing there, or change `output.dir`. The run itself is saved.",
            path=str(target),
        ) from error
    return target


def _free_name(folder: Path, info: RunInfo, ending: str) -> Path:
    """A name that no file has, taken by an empty file."""
    stem = f"{info.started_at.astimezone():%Y-%m-%d}-run-{info.number}"
    for count in range(1, _TRIES):
        path = folder / f"{stem}{f'-{count}' if count > 1 else ''}{ending}"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path
    raise FileExistsError(17, "there are too many files of that name")


def _json(store: Store, stored: StoredRun, board: Leaderboard | None) -> str:
    calls = store.iter_calls(stored.info.run_id)
    document = plain(run_document(stored, board, calls, run_words(board)))
    return unicode_text(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _csv(store: Store, stored: StoredRun, _board: Leaderboard | None) -> str:
    text = io.StringIO()
    # The mark tells spreadsheets that the text is UTF-8.
    text.write("\ufeff")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for call in flat_calls(store.iter_calls(stored.info.run_id)):
        writer.writerow([_cell(call, name) for name in COLUMNS])
    return text.getvalue()


def _cell(call: Mapping[str, Any], name: str) -> str:
    """A cell that a spreadsheet shows and does not carry out. Unknown is empty."""
    value = call[name]
    if name == "error":
        value = value["message"] or value["kind"] if value else None
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(plain(value))
    steers = value.startswith(_STEERS)
    return f"'{harmless(value)}" if steers else harmless(value)


def _html(store: Store, stored: StoredRun, board: Leaderboard | None) -> str:
    shown = board or Leaderboard((), None, NOTHING)
    return report_page(stored, shown, store.iter_calls(stored.info.run_id))


def _markdown(_store: Store, stored: StoredRun, board: Leaderboard | None) -> str:
    return text_page(stored, board)


_Writer = Callable[[Store, StoredRun, Leaderboard | None], str]
_WRITERS: Mapping[str, _Writer] = {"json": _json, "csv": _csv, "html": _html, "markdown": _markdown}
_ENDINGS = {"json": ".json", "csv": ".csv", "html": ".html", "markdown": ".md"}

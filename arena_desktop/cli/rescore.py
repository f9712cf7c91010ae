"""`rescore`: new checks or weights on the stored answers of a run; no model is asked.

`--json` prints `{run_id, project, answers, changed, unmarked, kept{judge, sandbox, embedding,
own_code}, waiting{…}, asked_otherwise[], gone[], winner_before, winner, verdict{…}, leaderboard[…]}`:
`changed` counts answers whose mark is another one now, `unmarked` answers without a usable mark;
`kept` and `waiting` count checks whose old mark stayed, or that have none yet, because what makes
them was not at hand; `asked_otherwise` and `gone` are ids of cases that keep their marks, because
their question changed or the project no longer has them. `verdict` and `leaderboard` are those of
`show --json`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from arena_desktop.cli.board_text import board_text
from arena_desktop.cli.output import out, print_json, print_problems, say
from arena_desktop.cli.parser import EXIT_OK
from arena_desktop.cli.saved import open_store
from arena_desktop.wording.marks import rescored_sentences
from arena_desktop.wording.results import run_words
from engine.domain import RunInfo
from engine.errors import UserError
from engine.execution.rescore import Rescored, Tools, rescore, sandbox_for
from engine.export.run_document import entry_document, verdict_document
from engine.keystore import KeyStore
from engine.project import Project, load_project


def _project(option: str | None, info: RunInfo) -> Project:
    """The project that `--project` names, else the folder that the run came from."""
    if option:
        return load_project(Path(option))
    if info.project_root is None or not info.project_root.is_dir():
        raise UserError(
            "project_missing",
            f"The folder of the project “{info.project}” is not where it was when the run was made.",
            hint="Name it: rescore RUN --project FOLDER.",
        )
    return load_project(info.project_root)


def rescored_document(result: Rescored, project: str) -> dict[str, Any]:
    """What `rescore --json` prints."""
    words = run_words(result.board)
    return {
        "run_id": result.run_id,
        "project": project,
        "answers": result.answers,
        "changed": result.changed,
        "unmarked": result.unmarked,
        "kept": dict(result.kept),
        "waiting": dict(result.waiting),
        "asked_otherwise": list(result.asked_otherwise),
        "gone": list(result.gone),
        "winner_before": result.before.winner if result.before else None,
        "winner": result.board.winner,
        "verdict": verdict_document(result.board, words),
        "leaderboard": [entry_document(entry, words) for entry in result.board.entries],
    }


def _progress(quiet: bool) -> Any:
    live = sys.stderr.isatty() and not quiet

    def show(done: int, total: int) -> None:
        if live:
            sys.stderr.write(f"\rMarked {done} of {total}")
            sys.stderr.write("\n" if done >= total else "")
            sys.stderr.flush()

    return show


def rescore_run(options: argparse.Namespace) -> int:
    """Marks the answers of a run anew by the project as it is now."""
    with open_store(options) as store:
        store.mark_interrupted()
        info = store.run(options.run).info
        project = _project(options.project, info)
        print_problems(project.problems)
        trusted = options.trust or KeyStore().trust_book.is_trusted(project)
        tools = Tools(trusted, sandbox=sandbox_for(project), progress=_progress(options.quiet))
        result = rescore(store, info.run_id, project, tools)
        stored = store.run(info.run_id)
    if options.json:
        print_json(rescored_document(result, info.project))
        return EXIT_OK
    for sentence in rescored_sentences(result):
        say(sentence, quiet=options.quiet)
    out(board_text(stored, result.board))
    return EXIT_OK

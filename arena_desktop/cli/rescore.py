"""`rescore`: new checks, weights or a new judge on the stored answers of a run; no model is asked again.

Where a judge has to be asked, its price is told first; it must be confirmed with `--yes` where the
project says so, and `--no-judge` leaves its earlier marks. Exit 0; 1 error or no yes; 3 stopped early by
the ceiling or Ctrl-C; 130 stopped before any mark.

`--json` prints `{run_id, project, answers, changed, unmarked, kept{judge, sandbox, embedding,
own_code}, waiting{…}, asked_otherwise[], gone[], winner_before, winner, verdict{…}, leaderboard[…],
status, asked (null or {answers, marked, calls, estimate{low, likely, high}}), cost_usd}`:
`changed` counts answers whose mark is another one now, `unmarked` answers without a usable mark;
`kept` and `waiting` count checks whose old mark stayed, or that have none yet, because what makes
them was not at hand; `asked_otherwise` and `gone` are ids of cases that keep their marks, because
their question changed or the project no longer has them. `verdict` and `leaderboard` are those of
`show --json`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_desktop import __version__
from arena_desktop.cli.board_text import board_text
from arena_desktop.cli.output import out, print_json, print_problems, say
from arena_desktop.cli.parser import EXIT_INTERRUPTED, EXIT_OK, EXIT_STOPPED
from arena_desktop.cli.saved import open_shelf
from arena_desktop.wording.mark_again import ended_sentence, skipped_sentence
from arena_desktop.wording.marks import rescored_sentences
from arena_desktop.wording.results import run_words
from engine.config.output_places import lies_in
from engine.domain import RunInfo, RunStatus
from engine.errors import UserError
from engine.execution.candidates import Means
from engine.execution.rescore import Rescored, Tools, rescore, sandbox_for
from engine.export.run_document import entry_document, verdict_document
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import Project, load_project
from engine.storage.store import Store

if TYPE_CHECKING:
    from engine.execution.mark_again import MarkAgain


def _project(option: str | None, info: RunInfo, main: Store) -> Project:
    """The project that `--project` names, else the folder that the run came from.

    A history inside a project may have come from anybody, and names no other project.
    """
    if option:
        return load_project(Path(option))
    root = info.project_root
    if root is None or not root.is_dir() or not (info.store == main.path or lies_in(info.store, root)):
        raise UserError(
            "project_missing",
            f"The folder of the project “{info.project}” is not where it was when the run was made.",
            hint="Name it: rescore RUN --project FOLDER.",
        )
    return load_project(root)


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
    with open_shelf(options) as shelf:
        shelf.mark_interrupted()
        store, run_id = shelf.find(options.run)
        info = store.run(run_id).info
        project = _project(options.project, info, shelf.main)
        print_problems(project.problems)
        done = _by_judge(store, info.run_id, project, options) or _free(store, info.run_id, project, options)
        stored = store.run(info.run_id)
    if options.json:
        print_json({**rescored_document(done.result, info.project), **done.document(stored.info)})
        return done.code
    for sentence in rescored_sentences(done.result):
        say(sentence, quiet=options.quiet)
    if early := ended_sentence(done.status):
        say(early, quiet=options.quiet)
    out(board_text(stored, done.result.board))
    return done.code


@dataclass(frozen=True, slots=True)
class _Done:
    """What was done, and how a session that asked the judge ended. `found` None: none was."""

    result: Rescored
    found: MarkAgain | None = None
    status: RunStatus = RunStatus.COMPLETED
    marked: int = 0

    @property
    def code(self) -> int:
        """0, 3 where it was stopped early, 130 where it was stopped before any mark."""
        if self.status is RunStatus.COMPLETED:
            return EXIT_OK
        nothing = not self.marked and self.status is RunStatus.CANCELLED
        return EXIT_INTERRUPTED if nothing else EXIT_STOPPED

    def document(self, info: RunInfo) -> dict[str, Any]:
        """Its part of the JSON document."""
        asked = None
        if self.found is not None:
            cost = self.found.cost
            asked = {
                "answers": self.found.answers,
                "marked": self.marked,
                "calls": self.found.calls,
                "estimate": {"low": cost.low, "likely": cost.likely, "high": cost.high},
            }
        return {"status": self.status, "asked": asked, "cost_usd": info.cost_usd}


def _by_judge(store: Store, run_id: str, project: Project, options: argparse.Namespace) -> _Done | None:
    """Marks with the judge where it has to be asked; None where it has not."""
    from arena_desktop.cli.marking import confirm, mark
    from engine.execution.mark_again import look

    if options.no_judge:
        return None
    book = PriceBook.for_config(project.config, project.root)
    found = look(store, run_id, project, Means(KeyStore(), book, options.trust), app_version=__version__)
    skip = found.request.preflight.judge_skip
    if skip is not None and found.changed:
        say(skipped_sentence(skip), quiet=options.quiet)
    if not found.asks:
        return None
    confirm(found, yes=options.yes, quiet=options.quiet)
    result, status, marked = mark(found, quiet=options.quiet)
    return _Done(result, found, status, marked)


def _free(store: Store, run_id: str, project: Project, options: argparse.Namespace) -> _Done:
    trusted = options.trust or KeyStore().trust_book.is_trusted(project)
    tools = Tools(trusted, sandbox=sandbox_for(project), progress=_progress(options.quiet))
    return _Done(rescore(store, run_id, project, tools))

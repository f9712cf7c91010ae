"""`runs` and `show`: what the stores hold, and which stores are read."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from arena_desktop.cli.board_text import board_text
from arena_desktop.cli.output import out, print_json, say, table
from arena_desktop.cli.parser import EXIT_OK
from arena_desktop.wording import formats
from arena_desktop.wording.results import run_words, state_word
from engine.config.output_places import history_of
from engine.domain import RunInfo
from engine.errors import ArenaError
from engine.export.run_document import run_document, run_summary
from engine.paths import store_path
from engine.project import Project, load_project
from engine.stats.board_json import board_from_json
from engine.storage.known_stores import known_stores, remember_store
from engine.storage.shelf import Shelf
from engine.storage.store import Store


def open_shelf(options: argparse.Namespace, project: Project | None = None) -> Shelf:
    """The store that `--store` names, else the user's own with those inside projects.

    With a project only that one's is read beside the user's own. What cannot be read is told.
    """
    if options.store:
        return Shelf(Store.open(Path(options.store)))
    shelf = Shelf(Store.open(store_path()))
    if project is None:
        inside = known_stores()
    else:
        own = history_of(project.root, project.config)
        inside = [] if own is None else [own]
    for path in inside:
        if shelf.add(path) and project is not None:
            remember_store(path)
    for error in shelf.faults.values():
        say(f"{error.message} Its runs are left out.")
    return shelf


def project_at(option: str | None) -> Project | None:
    """The project in the folder that is named; None for a name, or a folder that is no project any more."""
    if option and Path(option).exists():
        with suppress(ArenaError):
            return load_project(Path(option))
    return None


def _row(info: RunInfo) -> tuple[str, ...]:
    return (
        info.run_id,
        info.project,
        state_word(info.status),
        formats.when(info.started_at),
        f"{info.completed} of {info.planned}",
        formats.money(info.cost_usd),
        info.winner or formats.UNKNOWN,
    )


def runs(options: argparse.Namespace) -> int:
    """Lists the saved runs, newest first."""
    project = project_at(options.project)
    with open_shelf(options, project) as shelf:
        found = shelf.runs(project.config.project if project is not None else options.project)
        if not found and project is not None:
            # Runs of before the project got another name.
            found = shelf.runs(str(project.root.resolve()))
    if options.json:
        print_json({"runs": [run_summary(info) for info in found]})
        return EXIT_OK
    if not found:
        say("No run has been saved yet.")
        return EXIT_OK
    head = ("Run", "Project", "State", "When", "Answers", "Spent", "Best")
    out(table([head, *(_row(info) for info in found)]))
    return EXIT_OK


def print_run(store: Store, run_id: str, as_json: bool) -> None:
    """Prints a stored run: the document, or sentence and board for people."""
    stored = store.run(run_id)
    board = board_from_json(stored.board) if stored.board else None
    if as_json:
        print_json(run_document(stored, board, store.calls(stored.info.run_id), run_words(board)))
        return
    out(board_text(stored, board))


def show(options: argparse.Namespace) -> int:
    """Prints one saved run."""
    with open_shelf(options) as shelf:
        store, run_id = shelf.find(options.run)
        print_run(store, run_id, options.json)
    return EXIT_OK

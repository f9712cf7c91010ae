"""`runs` and `show`: what the store holds."""

from __future__ import annotations

import argparse
from pathlib import Path

from arena_desktop.cli.board_text import board_text
from arena_desktop.cli.output import out, print_json, say, table
from arena_desktop.cli.parser import EXIT_OK
from arena_desktop.wording import formats
from arena_desktop.wording.results import run_words, state_word
from engine.domain import RunInfo
from engine.export.run_document import run_document, run_summary
from engine.paths import store_path
from engine.stats.board_json import board_from_json
from engine.storage.store import Store


def open_store(options: argparse.Namespace) -> Store:
    """The store that `--store` names, else the user's own."""
    return Store.open(Path(options.store) if options.store else store_path())


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
    with open_store(options) as store:
        found = store.runs(options.project)
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
    with open_store(options) as store:
        print_run(store, options.run, options.json)
    return EXIT_OK

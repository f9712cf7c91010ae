"""`compare`: two saved runs on the tests that both share unchanged.

`--json` prints `{before{…}, after{…}, headline, sentence, caution, problem, deciding, shared[],
changed[], only_before[], only_after[], instructions_changed, composite_comparable,
models_only_before[], models_only_after[], models[{model_key, label, before{mean, scored_cases,
passed_cases, latency_p50_ms, metrics{}}, after{…}, change, pair{delta, p_holm, ci95, ci90, units,
differing, row}, better[], worse[], entry_changed}]}`. `before` and `after` at the top are as in
`runs --json`; `pair` is after - before on the deciding metric with its row of the verdict (4 and 5: a
real difference), null where nothing is marked in both; `better` and `worse` are ids of cases;
`problem` is null or why nothing can be compared: `no_shared_cases`, `no_shared_models`, `same_run`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from arena_desktop.cli.output import out, print_json, say, table
from arena_desktop.cli.parser import EXIT_OK
from arena_desktop.cli.saved import open_shelf
from arena_desktop.wording import formats
from arena_desktop.wording.compare import (
    change_words,
    compare_words,
    cost_change,
    passed_of,
    problem_words,
    shared_sentence,
    wait_change,
)
from arena_desktop.wording.results import label_map
from engine.errors import UserError
from engine.execution.stored_board import board_input, stored_calls
from engine.export.run_document import pair_document, run_summary
from engine.stats.board import Leaderboard
from engine.stats.board_json import board_from_json
from engine.stats.compare import Comparison, ModelChange, SideFigures, compare_runs
from engine.storage.rows import StoredRun
from engine.storage.shelf import Shelf

HEAD = ("Model", "Passed before", "Passed now", "Change", "Cost", "Wait")
SHOWN = 10


def _side(side: SideFigures) -> dict[str, Any]:
    return {
        "mean": side.mean,
        "scored_cases": side.scored_cases,
        "passed_cases": side.passed_cases,
        "latency_p50_ms": side.latency_p50_ms,
        "metrics": dict(side.metrics),
    }


def _model(change: ModelChange, names: Mapping[str, str]) -> dict[str, Any]:
    pair = pair_document(change.pair)
    return {
        "model_key": change.model_key,
        "label": names.get(change.model_key, change.model_key),
        "before": _side(change.before),
        "after": _side(change.after),
        "change": change_words(change)[0],
        "pair": None if pair is None or change.pair is None else {**pair, "row": change.pair.row},
        "better": list(change.better),
        "worse": list(change.worse),
        "entry_changed": change.entry_changed,
    }


def comparison_document(
    found: Comparison, before: StoredRun, after: StoredRun, sentences: tuple[str, str, str], names: Any
) -> dict[str, Any]:
    """What `compare --json` prints. `sentences`: headline, sentence, caution."""
    headline, sentence, caution = sentences
    return {
        "before": run_summary(before.info),
        "after": run_summary(after.info),
        "headline": headline,
        "sentence": sentence,
        "caution": caution,
        "problem": found.problem.code if found.problem else None,
        "deciding": found.deciding,
        "shared": list(found.shared),
        "changed": list(found.changed),
        "only_before": list(found.only_before),
        "only_after": list(found.only_after),
        "instructions_changed": found.instructions_changed,
        "composite_comparable": found.composite_comparable,
        "models_only_before": list(found.models_only_before),
        "models_only_after": list(found.models_only_after),
        "models": [_model(change, names) for change in found.models],
    }


def _board(stored: StoredRun) -> Leaderboard | None:
    return board_from_json(stored.board) if stored.board else None


def _ranks(before: Leaderboard | None, after: Leaderboard | None) -> dict[str, tuple[Any, Any]]:
    old = {entry.model_key: entry.rank for entry in before.entries} if before else {}
    new = {entry.model_key: entry.rank for entry in after.entries} if after else {}
    return {key: (old.get(key), new.get(key)) for key in {*old, *new}}


def _sentences(
    found: Comparison, names: Mapping[str, str], boards: tuple[Leaderboard | None, Leaderboard | None]
) -> tuple[str, str, str]:
    if found.problem is not None:
        return (*problem_words(found.problem.code), "")
    words = compare_words(found, names, _ranks(*boards))
    return words.headline, words.lead, " ".join(part for part in shared_sentence(found) if part)


def _row(change: ModelChange, names: Mapping[str, str]) -> tuple[str, ...]:
    return (
        names.get(change.model_key, change.model_key),
        passed_of(change.before),
        passed_of(change.after),
        change_words(change)[0],
        cost_change(change.before.metrics.get("cost"), change.after.metrics.get("cost")),
        wait_change(change.before.latency_p50_ms, change.after.latency_p50_ms),
    )


def _moved(change: ModelChange, names: Mapping[str, str]) -> list[str]:
    name = names.get(change.model_key, change.model_key)
    lines = []
    for word, cases in (("worse", change.worse), ("better", change.better)):
        if cases:
            more = f" and {formats.whole(len(cases) - SHOWN)} more" if len(cases) > SHOWN else ""
            lines.append(f"  {name}, {word}: {', '.join(cases[:SHOWN])}{more}")
    return lines


def _read(shelf: Shelf, options: argparse.Namespace) -> tuple[StoredRun, StoredRun, Comparison]:
    after = shelf.run(options.after)
    before = shelf.run(options.before)
    if before.info.run_id == after.info.run_id:
        first, then = problem_words("same_run")
        raise UserError("same_run", first, hint=then)
    ids = [run.info.run_id for run in (before, after)]
    calls = [stored_calls(shelf.of(run_id), run_id) for run_id in ids]
    sides = [board_input(run, made) for run, made in zip((before, after), calls, strict=True)]
    return before, after, compare_runs(*sides)


def compare(options: argparse.Namespace) -> int:
    """Holds two saved runs against each other."""
    with open_shelf(options) as shelf:
        before, after, found = _read(shelf, options)
    boards = (_board(before), _board(after))
    names = {**label_map(boards[0]), **label_map(boards[1])}
    sentences = _sentences(found, names, boards)
    if options.json:
        print_json(comparison_document(found, before, after, sentences, names))
        return EXIT_OK
    out("\n".join(sentence for sentence in sentences if sentence))
    if not found.models:
        return EXIT_OK
    out()
    out(table([HEAD, *(_row(change, names) for change in found.models)]))
    lines = [line for change in found.models for line in _moved(change, names)]
    if lines:
        say("Tests that changed:", quiet=options.quiet)
        say("\n".join(lines), quiet=options.quiet)
    return EXIT_OK

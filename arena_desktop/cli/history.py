"""`history`: how the models of a project did over its saved runs, and what new releases changed.

`--json` prints `{project, runs[…], models[{model_key, label, points[{run_id, number, started_at,
status, model, reported, rank, score, low, high, composite, passed_cases, scored_cases,
cost_per_1k_usd, latency_p50_ms}], drift{score, baseline, baseline_runs}}], releases[{kind (new_id /
silent / replaced), before{run_id, model_key, model, reported}, after{…}, row, delta, got_worse, better[],
worse[], other_cases, sentence}]}`. `runs` are as in `runs --json`, `points` newest first; `score` is the
metric the verdict goes by, `low` and `high` where it most likely lies; `baseline` is the mean of up to
five runs before the newest. Unknown numbers are null.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from arena_desktop.cli.output import out, print_json, say, table
from arena_desktop.cli.parser import EXIT_OK
from arena_desktop.cli.saved import open_shelf, project_at
from arena_desktop.wording import formats
from arena_desktop.wording.metrics import metric_value
from arena_desktop.wording.releases import change_sentence, step_words
from arena_desktop.wording.results import state_word
from engine.domain import RunInfo
from engine.errors import UserError
from engine.execution.release_history import project_releases
from engine.export.run_document import run_summary
from engine.project import Project
from engine.stats.releases import Appearance, ReleaseChange
from engine.stats.samples import SHARES
from engine.storage.rows import Drift, ModelPoint
from engine.storage.shelf import Shelf

HEAD = ("Run", "When", "State", "Model", "Place", "Score", "Likely between", "Tests passed", "Cost per 100")
RIGHT = (0, 4, 5, 6, 7, 8)


def _project_name(store: Shelf, option: str, project: Project | None) -> str:
    """The name under which the store keeps the project's runs: the option itself, its folder, or the
    name in the folder's config."""
    folder = Path(option)
    wanted = [option]
    if folder.exists():
        # A folder that is no project any more may still have runs under its path.
        wanted.append(str(folder.resolve()))
        if project is not None:
            wanted.append(project.config.project)
    for name in wanted:
        if store.runs(name, 1):
            return name
    raise UserError(
        "no_runs",
        f"No run of {option} has been saved yet.",
        hint="`runs` lists what there is; `run` makes one.",
    )


def _point(point: ModelPoint) -> dict[str, Any]:
    row = point.row
    return {
        "run_id": point.run_id,
        "number": point.number,
        "started_at": point.started_at,
        "status": point.run_status,
        "model": point.model,
        "reported": point.reported,
        "rank": row.rank,
        "score": row.score,
        "low": row.low,
        "high": row.high,
        "composite": row.composite,
        "passed_cases": row.passed_cases,
        "scored_cases": row.scored_cases,
        "cost_per_1k_usd": row.cost_per_1k_usd,
        "latency_p50_ms": row.latency_p50_ms,
    }


def _drift(drift: Drift | None) -> dict[str, Any] | None:
    if drift is None:
        return None
    return {"score": drift.score, "baseline": drift.baseline, "baseline_runs": drift.baseline_runs}


def _appearance(seen: Appearance) -> dict[str, Any]:
    return {
        "run_id": seen.run_id,
        "model_key": seen.model_key,
        "model": seen.model,
        "reported": seen.reported,
    }


def release_document(change: ReleaseChange) -> dict[str, Any]:
    """One step from a release to the next."""
    return {
        "kind": change.step.kind,
        "before": _appearance(change.step.before),
        "after": _appearance(change.step.after),
        "row": change.pair.row if change.pair else None,
        "delta": change.pair.delta if change.pair else None,
        "got_worse": change.got_worse,
        "better": list(change.better),
        "worse": list(change.worse),
        "other_cases": change.other_cases,
        "sentence": f"{step_words(change)} {change_sentence(change)}",
    }


def _document(
    project: str,
    runs: list[RunInfo],
    points: list[ModelPoint],
    drifts: list[Drift],
    releases: tuple[ReleaseChange, ...],
) -> dict[str, Any]:
    by_key: dict[str, list[ModelPoint]] = {}
    for point in points:
        by_key.setdefault(point.row.model_key, []).append(point)
    drift_of = {drift.model_key: drift for drift in drifts}
    return {
        "project": project,
        "runs": [run_summary(info) for info in runs],
        "models": [
            {
                "model_key": key,
                "label": found[0].label,
                "points": [_point(point) for point in found],
                "drift": _drift(drift_of.get(key)),
            }
            for key, found in by_key.items()
        ],
        "releases": [release_document(change) for change in releases],
    }


def _row(point: ModelPoint, metric: str) -> tuple[str, ...]:
    """One result in words; `metric` is the one that decided its run."""
    row = point.row
    between = formats.UNKNOWN
    if row.low is not None and row.high is not None:
        between = f"{_value(metric, row.low)} and {_value(metric, row.high)}"
    passed = f"{row.passed_cases} of {row.scored_cases}" if row.scored_cases else formats.UNKNOWN
    return (
        str(point.number),
        formats.when(point.started_at),
        state_word(point.run_status),
        point.label or row.model_key,
        str(row.rank) if row.rank is not None else formats.UNKNOWN,
        _value(metric, row.score),
        between,
        passed,
        formats.per_100(row.cost_per_1k_usd),
    )


def _value(metric: str, value: float | None) -> str:
    return formats.out_of_100(value) if metric in SHARES else metric_value(metric, value)


def _of_model(change: ReleaseChange, model: str | None) -> bool:
    step = change.step
    return model is None or model in (step.before.model_key, step.after.model_key)


def history(options: argparse.Namespace) -> int:
    """Prints the results of a project's models, newest run first."""
    opened = project_at(options.project)
    with open_shelf(options, opened) as store:
        project = _project_name(store, options.project, opened)
        runs = store.runs(project)
        points = store.model_history(project, options.model)
        if options.model and not points:
            raise UserError(
                "model_unknown",
                f"No saved run of this project has a model {options.model!r}.",
                hint="Use its key, as `show` prints it.",
            )
        drifts, metrics = store.drift(project), store.deciding_metrics(project)
        releases = tuple(c for c in project_releases(store, project) if _of_model(c, options.model))
    if options.json:
        print_json(_document(runs[0].project, runs, points, drifts, releases))
        return EXIT_OK
    out(table([HEAD, *(_row(point, metrics.get(point.run_id, "accuracy")) for point in points)], RIGHT))
    for change in releases:
        say(f"{step_words(change)} {change_sentence(change)}", quiet=options.quiet)
    return EXIT_OK

"""What History reads from the store, away from the GUI thread: names of the best, scores over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arena_desktop.charts.data import Change, Line, Lines, Measure
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.wording import formats
from arena_desktop.wording.history import change_text, over_time_sentence, run_heading
from engine.domain import RunInfo
from engine.storage.records import BoardRow
from engine.storage.rows import ModelPoint, StoredRun
from engine.storage.shelf import History

RUNS_DRAWN = 12
"""The newest runs with a result are drawn."""
_POINTS = 2_000


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """`heads` by model key over all runs; `chart` None = nothing can be drawn on 0 to 100.

    `deciding` is the metric of the newest run with a result, `metrics` that of each run, by run id.
    `best` holds the figures of each run's winner; only the newest runs' are read.
    """

    project: str
    heads: Mapping[str, ModelHead] = field(default_factory=dict)
    chart: Lines | None = None
    sentence: str = ""
    deciding: str = "accuracy"
    metrics: Mapping[str, str] = field(default_factory=dict)
    best: Mapping[str, BoardRow] = field(default_factory=dict)


def read_history(store: History, project: str, runs: Sequence[RunInfo]) -> HistoryFacts:
    """Reads labels and lines of a project's runs."""
    points = store.model_history(project, limit=_POINTS)
    by_run: dict[str, list[ModelPoint]] = {}
    for point in points:
        by_run.setdefault(point.run_id, []).append(point)
    with_result = [run for run in runs if run.run_id in by_run]
    metrics = store.deciding_metrics(project)
    deciding = metrics.get(with_result[0].run_id, "accuracy") if with_result else "accuracy"
    # Scores on different metrics are no line.
    drawn = [run for run in with_result if metrics.get(run.run_id) == deciding][:RUNS_DRAWN][::-1]
    stored = {run.run_id: store.run(run.run_id) for run in drawn}
    heads = _heads(points, list(stored.values())[::-1])
    facts = HistoryFacts(project, heads, deciding=deciding, metrics=metrics, best=_best(runs, by_run))
    chart = _lines(drawn, stored, by_run, heads) if drawn else None
    if chart is None:
        return facts
    return replace(facts, chart=chart, sentence=_sentence(chart, drawn, heads))


def _best(runs: Sequence[RunInfo], by_run: Mapping[str, Sequence[ModelPoint]]) -> dict[str, BoardRow]:
    found = {}
    for run in runs:
        for point in by_run.get(run.run_id, ()):
            if point.row.model_key == run.winner:
                found[run.run_id] = point.row
    return found


def _heads(points: Sequence[ModelPoint], stored: Sequence[StoredRun]) -> dict[str, ModelHead]:
    """Every model that ever took part; those of the newest run keep the places they have there."""
    labels: dict[str, str] = {}
    for run in stored:
        for model in run.models:
            labels.setdefault(model.key, model.label or model.key)
    for point in points:
        labels.setdefault(point.row.model_key, point.label or point.row.model_key)
    return {key: ModelHead(key, label, number) for number, (key, label) in enumerate(labels.items())}


def _lines(
    drawn: Sequence[RunInfo],
    stored: Mapping[str, StoredRun],
    by_run: Mapping[str, Sequence[ModelPoint]],
    heads: Mapping[str, ModelHead],
) -> Lines | None:
    lines = []
    for key, head in heads.items():
        measures = tuple(_measure(by_run[run.run_id], key) for run in drawn)
        if any(measure is not None for measure in measures):
            lines.append(Line(head.label, head.index, measures))
    shares = [m.value for line in lines for m in line.points if m is not None]
    if not lines or not all(0.0 <= value <= 100.0 for value in shares):
        return None
    days = tuple(formats.when(run.started_at) for run in drawn)
    titles = tuple(run_heading(run.number, day) for run, day in zip(drawn, days, strict=True))
    return Lines(days, tuple(lines), titles, _changes(drawn, stored))


def _measure(points: Sequence[ModelPoint], key: str) -> Measure | None:
    row = next((point.row for point in points if point.row.model_key == key), None)
    if row is None or row.score is None:
        return None
    low = row.low * 100 if row.low is not None else None
    high = row.high * 100 if row.high is not None else None
    return Measure(row.score * 100, low, high, formats.points(row.score))


def _changes(drawn: Sequence[RunInfo], stored: Mapping[str, StoredRun]) -> tuple[Change, ...]:
    found = []
    for number in range(1, len(drawn)):
        before, after = stored[drawn[number - 1].run_id], stored[drawn[number].run_id]
        text = change_text(
            instructions=before.config.get("defaults") != after.config.get("defaults"),
            tests_added=after.info.cases - before.info.cases,
        )
        if text:
            found.append(Change(number, text))
    return tuple(found)


def _sentence(chart: Lines, drawn: Sequence[RunInfo], heads: Mapping[str, ModelHead]) -> str:
    """About the best of the newest run, or the first line."""
    winner = next((run.winner for run in reversed(drawn) if run.winner), None)
    name = heads[winner].label if winner in heads else ""
    line = next((line for line in chart.lines if line.name == name), chart.lines[0])
    known = [point.value for point in line.points if point is not None]
    same = not chart.changes
    return over_time_sentence(line.name, known[0], known[-1], len(known), same_questions=same)

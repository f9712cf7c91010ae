"""The verdict on scores that were made elsewhere: the same statistics, no project, no run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config.schema import Config
from engine.domain import Answer, CallDone, CallStatus, Case, CaseScore, Cell, Outcome, ScoreState
from engine.errors import UserError
from engine.stats.board import (
    Entry,
    EntryStatus,
    Interval,
    Leaderboard,
    PairResult,
    Planner,
    Reason,
    Verdict,
)
from engine.stats.board_json import plain
from engine.stats.collecting import collect
from engine.stats.intervals import clustered, mean_interval
from engine.stats.samples import Grid, ModelSample, deciding_sample, make_grid
from engine.stats.score_rows import ScoreRow, read_rows
from engine.stats.verdict import Contestant, Terms, compare_all, decide, pair_of, plan, standing

_SLACK = 1e-9
_METRIC = "accuracy"


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """What the rows say. `board` is a leaderboard without composites, for wording; `planner` is
    that of the headline pair whatever its row; `unscored` counts answers without a mark."""

    board: Leaderboard
    planner: Planner | None
    unscored: int

    @property
    def verdict(self) -> Verdict:
        """The headline."""
        return self.board.verdict


def _call(row: ScoreRow) -> CallDone:
    cell = Cell(row.model, row.case, row.trial)
    if row.status is CallStatus.ERROR:
        return CallDone(cell, CallStatus.ERROR, Outcome.FAILED)
    if row.status is CallStatus.STOPPED:
        return CallDone(cell, CallStatus.STOPPED, Outcome.STOPPED)
    state = ScoreState.UNSCORED if row.score is None else ScoreState.SCORED
    return CallDone(
        cell, CallStatus.OK, Outcome.COMPLETE, Answer("", Outcome.COMPLETE), CaseScore(state, row.score)
    )


def _entry(sample: ModelSample, grid: Grid, confidence: float, least: float) -> Entry:
    seen = deciding_sample(sample, _METRIC, grid)
    spread = clustered(seen.values, seen.weights, seen.unit_of)
    planned = len(grid.case_ids)
    coverage = float((sample.answered > 0.0).sum()) / planned
    status = EntryStatus.RANKED if coverage >= least - _SLACK else EntryStatus.INCOMPLETE
    return Entry(
        model_key=sample.key,
        label=sample.key,
        status=status if sample.counts.answered else EntryStatus.NO_DATA,
        interval=mean_interval(seen, confidence),
        coverage=coverage,
        failures=() if sample.counts.answered else (Reason("every_call_failed", {"kind": "unknown"}),),
        answered=sample.counts.answered,
        errors=sample.counts.errors,
        stopped=sample.counts.stopped,
        scored_cases=int((sample.scored > 0.0).sum()),
        passed_cases=int((sample.pass_means >= 0.5 - _SLACK).sum()),
        deciding_mean=spread.mean if spread is not None else None,
    )


def _contestant(entry: Entry, sample: ModelSample, grid: Grid) -> Contestant:
    trials = deciding_sample(sample, _METRIC, grid).trials
    return Contestant(
        entry.model_key,
        entry.deciding_mean or 0.0,
        None,
        sample.score_means,
        sample.within,
        float((1.0 / trials).mean()),
    )


def _headline(
    complete: Sequence[Contestant], entries: Sequence[Entry], pairs: Sequence[PairResult], terms: Terms
) -> Verdict:
    if not any(entry.status is EntryStatus.RANKED for entry in entries):
        reasons = tuple(Reason(entry.status.value, {"models": [entry.model_key]}) for entry in entries)
        return Verdict(None, "none_ranked", reasons=reasons)
    if not complete:
        return Verdict(None, "nothing_scored")
    if len(complete) == 1:
        key = complete[0].key
        return Verdict(None, "only_one", key, key, tied=(key,))
    return decide(complete, pairs, terms, None)


def _planner(board: Leaderboard, by_key: Mapping[str, Contestant], terms: Terms) -> Planner | None:
    a, b = board.verdict.a, board.verdict.b
    pair = pair_of(board.pairs, a, b) if a is not None and b is not None else None
    return plan(pair, by_key[pair.a], by_key[pair.b], terms, len(board.pairs)) if pair is not None else None


def _margin(margin: float | None) -> float:
    if margin is None:
        return Config().statistics.margin
    if not 0.0 < margin < 1.0:
        hint = "Give a share between 0 and 1, like 0.05."
        raise UserError("bad_margin", f"A margin of {margin:g} cannot be used.", hint=hint)
    return margin


def verdict_from_rows(path: Path, margin: float | None = None) -> FileVerdict:
    """Reads the file and judges it. All models are compared in pairs; the headline goes by the
    complete ones (scores for at least 9 of 10 cases). Raises UserError for anything unreadable.
    """
    settings, gap = Config().statistics, _margin(margin)
    rows = read_rows(path)
    grid = make_grid([Case(id=row.case, weight=row.weight, group=row.group) for row in _one_per_case(rows)])
    samples = collect(grid, sorted({row.model for row in rows}), [_call(row) for row in rows])
    entries = {
        key: _entry(sample, grid, settings.confidence, settings.min_coverage)
        for key, sample in samples.items()
    }
    trials = max(row.trial for row in rows)
    terms = Terms(grid.weights, grid.unit_of, gap, trials=trials, seed=(settings.seed, 0))
    marked = [entry for entry in entries.values() if entry.deciding_mean is not None]
    ordered = standing([_contestant(entry, samples[entry.model_key], grid) for entry in marked])
    by_key = {item.key: item for item in ordered}
    pairs = compare_all(ordered, terms)
    complete = [item for item in ordered if entries[item.key].status is EntryStatus.RANKED]
    board = Leaderboard(
        entries=(*(entries[key] for key in by_key), *(e for key, e in entries.items() if key not in by_key)),
        winner=None,
        verdict=_headline(complete, list(entries.values()), pairs, terms),
        pairs=pairs,
        cases=len(grid.case_ids),
        trials=trials,
        planned=len(rows),
        finished=sum(row.status is not CallStatus.STOPPED for row in rows),
        margin=gap,
    )
    unscored = sum(row.status is CallStatus.OK and row.score is None for row in rows)
    return FileVerdict(board, _planner(board, by_key, terms), unscored)


def _one_per_case(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """One row of each case; group and weight are the same in all of them."""
    return list({row.case: row for row in rows}.values())


def _span(interval: Interval | None) -> Mapping[str, float] | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


def _pair_json(pair: PairResult, sentence: str) -> dict[str, Any]:
    whole = pair.units == int(pair.units)
    return {
        "a": pair.a,
        "b": pair.b,
        "delta": pair.delta,
        "se": pair.se,
        "t": pair.t,
        "df": pair.df,
        "p": pair.p,
        "p_holm": pair.p_holm,
        "flip": pair.flip,
        "ci95": _span(pair.ci95),
        "ci90": _span(pair.ci90),
        "units": int(pair.units) if whole else pair.units,
        "differing": pair.differing,
        "row": pair.row,
        "sentence": sentence,
    }


def file_verdict_json(
    result: FileVerdict, headline: str, word: Callable[[PairResult], str]
) -> dict[str, Any]:
    """The document of `verdict FILE --json`. Sentences are handed in: `headline` for the whole, and
    `word` for each pair."""
    board = result.board
    models = [
        {"key": entry.model_key, "mean": entry.deciding_mean, "interval": _span(entry.interval)}
        for entry in board.entries
    ]
    return {
        "models": models,
        "pairs": [_pair_json(pair, word(pair)) for pair in board.pairs],
        "tied": list(board.verdict.tied),
        "row": board.verdict.row,
        "sentence": headline,
        "planner": plain(result.planner),
    }

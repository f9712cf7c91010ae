"""One stored run as a plain document: the same for `run --json`, `show --json` and exports.

The document's fields are a contract of the command line. Numbers that are not known are None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from engine.domain import CallDone, Note, RunInfo
from engine.stats.board import Entry, Interval, Leaderboard, MetricValue, PairResult, Planner, Reason
from engine.storage.rows import StoredRun


@dataclass(frozen=True, slots=True)
class Sentences:
    """The words that the front end hands in: the verdict, and a wording for reasons and notes."""

    verdict: str
    reason: Callable[[Reason], str]
    note: Callable[[Note], str]


def run_document(
    stored: StoredRun, board: Leaderboard | None, calls: Iterable[CallDone], sentences: Sentences
) -> dict[str, Any]:
    """Returns the whole document; `completed + errors + stopped` is `planned` once the run has ended."""
    info = stored.info
    return {
        "run_id": info.run_id,
        "project": info.project,
        "status": info.status.value,
        "planned": info.planned,
        "completed": info.completed,
        "errors": info.errors,
        "stopped": info.stopped,
        "duration_s": duration_s(info),
        "started_at": info.started_at.isoformat(),
        "finished_at": info.finished_at.isoformat() if info.finished_at else None,
        "cost_usd": money(info.cost_usd),
        "skipped": [
            {"model_key": item.model_key, "code": item.code, "reason": item.reason, "fix": item.fix}
            for item in stored.skipped
        ],
        "notes": [sentences.note(note) for note in stored.notes],
        "lanes": dict(stored.lanes),
        "verdict": verdict_document(board, sentences),
        "winner": board.winner if board else None,
        "leaderboard": [entry_document(entry, sentences) for entry in board.entries] if board else [],
        "calls": [call_document(done) for done in calls],
    }


def run_summary(info: RunInfo) -> dict[str, Any]:
    """One line of `runs --json`."""
    return {
        "run_id": info.run_id,
        "number": info.number,
        "project": info.project,
        "status": info.status.value,
        "started_at": info.started_at.isoformat(),
        "finished_at": info.finished_at.isoformat() if info.finished_at else None,
        "planned": info.planned,
        "completed": info.completed,
        "errors": info.errors,
        "stopped": info.stopped,
        "cost_usd": money(info.cost_usd),
        "winner": info.winner,
        "label": info.label,
    }


def duration_s(info: RunInfo) -> float | None:
    """Seconds from the start of a run to its end; None while it goes on."""
    if info.finished_at is None:
        return None
    return round((info.finished_at - info.started_at).total_seconds(), 3)


def money(usd: Decimal | None) -> float | None:
    """Money as a JSON number; None stays unknown."""
    return None if usd is None else float(usd)


def interval_document(interval: Interval | None) -> dict[str, float] | None:
    """A range as `{low, high}`."""
    return None if interval is None else {"low": interval.low, "high": interval.high}


def planner_document(planner: Planner | None) -> dict[str, Any] | None:
    """How much more evidence would settle it; None where the question does not arise."""
    if planner is None:
        return None
    return {
        "more_cases": planner.more_cases,
        "total_cases": planner.total_cases,
        "may_never": planner.may_never,
        "cost_usd": money(planner.cost_usd),
        "minutes": planner.minutes,
        "trials": planner.trials,
    }


def pair_document(pair: PairResult | None) -> dict[str, Any] | None:
    """The headline comparison with its numbers."""
    if pair is None:
        return None
    return {
        "a": pair.a,
        "b": pair.b,
        "delta": pair.delta,
        "p_holm": pair.p_holm,
        "ci95": interval_document(pair.ci95),
        "ci90": interval_document(pair.ci90),
        "units": pair.units,
        "differing": pair.differing,
    }


def verdict_document(board: Leaderboard | None, sentences: Sentences) -> dict[str, Any]:
    """The verdict with its sentence; row None with a code where there is no pair to judge."""
    if board is None:
        return {
            "row": None,
            "code": "nothing_scored",
            "sentence": sentences.verdict,
            "leader": None,
            "tied": [],
            "planner": None,
            "pair": None,
        }
    verdict = board.verdict
    return {
        "row": verdict.row,
        "code": verdict.code,
        "sentence": sentences.verdict,
        "leader": verdict.leader,
        "tied": list(verdict.tied),
        "planner": planner_document(verdict.planner),
        "pair": pair_document(verdict.pair),
    }


def _metric(value: MetricValue) -> dict[str, Any]:
    return {
        "raw": value.raw,
        "normalized": value.normalized,
        "weight": value.weight,
        "contribution": value.contribution,
    }


def entry_document(entry: Entry, sentences: Sentences) -> dict[str, Any]:
    """One row of the leaderboard."""
    return {
        "model_key": entry.model_key,
        "label": entry.label,
        "status": entry.status.value,
        "rank": entry.rank,
        "composite": entry.composite,
        "metrics": {name: _metric(value) for name, value in entry.metrics.items()},
        "interval": interval_document(entry.interval),
        "composite_interval": interval_document(entry.composite_interval),
        "chance_first": entry.chance_first,
        "coverage": entry.coverage,
        "passed_cases": entry.passed_cases,
        "scored_cases": entry.scored_cases,
        "errors": entry.errors,
        "cost_usd": money(entry.total_cost_usd),
        "cost_per_correct_usd": entry.cost_per_correct_usd,
        "latency_p50_ms": entry.latency_p50_ms,
        "failures": [sentences.reason(reason) for reason in entry.failures],
        "warnings": [sentences.reason(reason) for reason in entry.warnings],
    }


def call_document(done: CallDone) -> dict[str, Any]:
    """One call; what is not there is None."""
    answer, score, error = done.answer, done.score, done.error
    return {
        "model_key": done.cell.model_key,
        "case_id": done.cell.case_id,
        "trial": done.cell.trial,
        "status": done.status.value,
        "outcome": done.outcome.value,
        "score": score.score if score else None,
        "score_state": score.state.value if score else None,
        "passed": score.passed if score else None,
        "answer": answer.text if answer else None,
        "reason": score.reason if score else None,
        "latency_ms": answer.latency_ms if answer else None,
        "input_tokens": answer.usage.input if answer else None,
        "output_tokens": answer.usage.output if answer else None,
        "cost_usd": money(answer.cost_usd) if answer else None,
        "attempts": done.attempts,
        "throttled": done.throttled,
        "error": None
        if error is None
        else {"kind": error.kind, "status": error.status, "message": error.message},
    }


def flat_calls(calls: Iterable[CallDone]) -> Iterator[Mapping[str, Any]]:
    """The calls one by one, for writers that do not hold a whole run in memory."""
    for done in calls:
        yield call_document(done)

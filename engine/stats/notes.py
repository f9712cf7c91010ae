"""What the reader of a board must know besides the rows: codes with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.config.schema import Config
from engine.domain import Note, RunStatus
from engine.stats.board import EntryStatus, Reason
from engine.stats.entries import Draft
from engine.stats.metrics import relative_metrics

_WORTH_SAYING_S = 1.0


def _unknown(drafts: Sequence[Draft], name: str) -> list[str]:
    return [d.key for d in drafts if d.status is not EntryStatus.NO_DATA and d.raw.get(name) is None]


def _quality(config: Config, drafts: Sequence[Draft]) -> list[Note]:
    notes = []
    weights = {name: weight for name, weight in config.metrics.weights.items() if weight > 0.0}
    errors = sum(d.sample.counts.errors for d in drafts)
    attempted = errors + sum(d.sample.counts.answered for d in drafts)
    if errors and "reliability" not in weights:
        notes.append(Note("errors_unweighted", {"errors": errors, "calls": attempted}))
    for name in weights:
        models = _unknown(drafts, name)
        if models:
            code = "cost_unknown" if name == "cost" else "metric_unknown"
            notes.append(Note(code, {"metric": name, "models": models}))
    answered = [d for d in drafts if d.status is not EntryStatus.NO_DATA]
    if (
        answered
        and all(d.mean is None for d in answered)
        and any(d.raw.get("accuracy") is not None for d in answered)
    ):
        notes.append(Note("deciding_unmeasured", {"metric": config.metrics.deciding}))
    broken = sum(d.sample.counts.score_errors for d in drafts)
    if broken:
        notes.append(Note("score_errors", {"count": broken}))
    waiting = sum(d.sample.counts.unscored for d in drafts)
    if waiting:
        notes.append(Note("unscored", {"count": waiting}))
    return notes


def _field(config: Config, drafts: Sequence[Draft]) -> list[Note]:
    notes = []
    of = {status: [d.key for d in drafts if d.status is status] for status in EntryStatus}
    ranked, failed = of[EntryStatus.RANKED], of[EntryStatus.FAILED]
    if len(ranked) == 1 and failed:
        notes.append(Note("only_one_ranked", {"model": ranked[0], "failed": failed}))
    if of[EntryStatus.INCOMPLETE]:
        values = {"models": of[EntryStatus.INCOMPLETE], "required": config.statistics.min_coverage}
        notes.append(Note("incomplete", values))
    relative = relative_metrics(config)
    if relative and len(ranked) > 1:
        notes.append(Note("relative_scores", {"metrics": list(relative)}))
    return notes


def board_notes(
    config: Config,
    drafts: Sequence[Draft],
    *,
    waits: Mapping[str, float],
    status: RunStatus,
    finished: int,
    planned: int,
) -> tuple[Note, ...]:
    """All notes of a board, in a fixed order."""
    notes = _quality(config, drafts) + _field(config, drafts)
    for lane, seconds in sorted(waits.items()):
        if seconds >= _WORTH_SAYING_S:
            notes.append(Note("waited", {"lane": lane, "seconds": seconds}))
    if not config.statistics.enabled:
        notes.append(Note("statistics_off"))
    if status not in (RunStatus.RUNNING, RunStatus.COMPLETED):
        notes.append(Note("stopped_early", {"status": str(status), "finished": finished, "planned": planned}))
    return tuple(notes)


def common_reasons(drafts: Sequence[Draft]) -> tuple[Reason, ...]:
    """Why nothing could be ranked, equal causes told once with the models they hold for."""
    groups: dict[tuple[str, str], tuple[Reason, list[str]]] = {}
    for draft in drafts:
        cause = next(iter((*draft.failures, *draft.warnings)), Reason("not_asked"))
        told = {name: value for name, value in cause.values.items() if name != "count"}
        group = (cause.code, repr(sorted(told.items())))
        groups.setdefault(group, (Reason(cause.code, told), []))[1].append(draft.key)
    return tuple(Reason(cause.code, {**cause.values, "models": models}) for cause, models in groups.values())

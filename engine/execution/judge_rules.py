"""What preflight must know of the judge: whether one is needed, who it is, whom it does not mark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.config.schema import Config, Judge, ModelEntry
from engine.domain import Case, Problem, Severity, SkippedModel
from engine.execution.jobs import JUDGE_LANE
from engine.scoring.remark import JUDGE, OWN_CODE, need_of, needs_of

NOT_READY = "judge_not_ready"
"""Code of the warning, the question and the note about a judge that cannot be asked."""


def wants_judge(cases: Iterable[Case], config: Config) -> bool:
    """Whether a run over these cases asks a judge: a check needs one, or own code may use it."""
    needs = needs_of(cases, config)
    return JUDGE in needs or (OWN_CODE in needs and config.judge.model is not None)


def judge_entry(judge: Judge) -> ModelEntry | None:
    """The judge as an entry, so that its key, address and price follow the rules of any model."""
    if judge.model is None:
        return None
    return ModelEntry(
        model=judge.model,
        key=JUDGE_LANE,
        provider=judge.provider,
        label=judge.model,
        params=judge.params,
        api_key_env=judge.api_key_env,
        api_base=judge.api_base,
        max_tokens=judge.max_tokens,
        temperature=judge.temperature,
    )


def is_judge(entry: ModelEntry, judge: Judge) -> bool:
    """Whether a compared entry is the judge's own model. Practice models differ by their settings."""
    if judge.model is None or entry.run or entry.model.lower() != judge.model.lower():
        return False
    return not entry.model.startswith("mock:") or dict(entry.params) == dict(judge.params)


def unmarked_entries(config: Config) -> tuple[str, ...]:
    """Keys of the entries that the judge does not mark, because they are itself."""
    if config.judge.mark_itself:
        return ()
    return tuple(e.key for e in config.models if e.enabled and is_judge(e, config.judge))


def judge_terms(judge: Judge) -> tuple[object, ...]:
    """All of the judge's settings that decide a mark; how it is reached is not among them."""
    return (
        judge.model,
        judge.provider,
        judge.system,
        judge.rubric,
        judge.prompt,
        judge.scale,
        judge.votes,
        judge.max_tokens,
        judge.temperature or 0.0,
        dict(judge.params),
        judge.mark_itself,
    )


def judge_problems(cases: Sequence[Case], config: Config) -> list[Problem]:
    """What is wrong with the judge before it is looked at."""
    found: list[Problem] = []
    if config.judge.model is None:
        found += _missing(cases, config)
    for entry in config.models:
        if entry.enabled and is_judge(entry, config.judge):
            found.append(_takes_part(entry, config.judge.mark_itself))
    return found


def _missing(cases: Sequence[Case], config: Config) -> list[Problem]:
    for case in cases:
        for check in case.checks:
            if need_of(check, config) == JUDGE:
                return [
                    Problem(
                        Severity.ERROR,
                        f"The check `{check.type}` of the test `{case.id}` needs a second AI that marks, "
                        "and the project names none.",
                        "Name one, for instance `judge: {model: gpt-5.5}`, or choose another check.",
                        case.file,
                        case.line,
                        path="judge.model",
                        code="judge_missing",
                    )
                ]
    return []


def _takes_part(entry: ModelEntry, marks_itself: bool) -> Problem:
    name = entry.label or entry.key
    if marks_itself:
        message = f"`{name}` marks its own answers too, as the project says. Judges favour their own answers."
        fix = "Choose a judge that does not take part."
    else:
        message = f"`{name}` is also the second AI, so its own answers get no mark from it."
        fix = "Choose a judge that does not take part, or write `mark_itself: true` under `judge`."
    return Problem(Severity.WARNING, message, fix, path="judge.model", code="judge_takes_part")


def not_ready_problem(skip: SkippedModel) -> Problem:
    """The judge cannot be asked: the run may go on, but these checks give no mark."""
    return Problem(
        Severity.WARNING,
        f"The second AI cannot be asked: {skip.reason} Its checks give no mark.",
        skip.fix,
        path="judge",
        code=NOT_READY,
    )


def served_problem(warning: str) -> Problem:
    """The judge's server does not name its model."""
    return Problem(Severity.WARNING, f"About the second AI: {warning}", path="judge", code="judge_served")

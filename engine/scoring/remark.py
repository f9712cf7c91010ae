"""Marks a stored answer anew, and keeps what cannot be made again: a person's and a paid mark. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from engine.config.canonical import digest
from engine.config.embedders import Embedder, find_embedder, model_wanted
from engine.config.schema import Config
from engine.domain import Answer, Case, CaseScore, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring.base import CheckFault, ScoringContext
from engine.scoring.custom import ASKED, CODE
from engine.scoring.custom_files import find_scorer
from engine.scoring.pairs import ABSENT, NO_ANSWER
from engine.scoring.registry import CHECKS, canonical_check, reference_of
from engine.scoring.score import combine, run_check

JUDGE, SANDBOX, EMBEDDING, OWN_CODE, PERSON = "judge", "sandbox", "embedding", "own_code", "person"
"""What a check needs beside the answer."""

TERMS = "terms"
"""Where a judge's mark keeps what it was asked for, so that it is not paid for twice."""
UNKNOWN_TERMS = "unknown"
"""Stands there for an old mark of which nobody knows any more what it was asked for."""

_JUDGES = frozenset({"llm_judge", "pairwise_judge"})
_NOT_ASKED = frozenset({"judge_failed", "embedding_failed", "no_rivals"})
_NO_TERMS = frozenset({"api_key_env", "api_base", "mark_itself"})
_NOT_OF_PAIRS = frozenset({"prompt", "scale", "votes"})
_NO_ANSWER = (Outcome.BLOCKED, Outcome.FAILED, Outcome.STOPPED)


@dataclass(frozen=True, slots=True)
class Side:
    """A case with the config it is or was marked under."""

    case: Case
    config: Config


@dataclass(frozen=True, slots=True)
class Remark:
    """The new mark. `kept` names, once per check, what was not at hand so that the old mark stays;
    `waiting` those checks that have no old mark to keep."""

    score: CaseScore
    kept: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def need_of(spec: CheckSpec, config: Config) -> str | None:
    """What the check needs that the answer alone does not give; None = it is free and quick."""
    name = canonical_check(spec.type)
    if name is None:
        return OWN_CODE
    if name in _JUDGES:
        return JUDGE
    if model_wanted(spec.type, spec.options, config.scorers.options) is not None:
        return EMBEDDING
    return {"code_exec": SANDBOX, "manual": PERSON}.get(name)


def at_hand(need: str | None, context: ScoringContext) -> bool:
    """Whether the context offers what a check needs."""
    offers = {
        None: True,
        JUDGE: context.judge is not None,
        SANDBOX: context.sandbox is not None,
        EMBEDDING: context.embed is not None,
        OWN_CODE: context.trusted,
        PERSON: False,
    }
    return offers[need]


def terms_of(spec: CheckSpec, side: Side) -> str:
    """A digest of all that decides what the check says about a given answer."""
    name = canonical_check(spec.type) or spec.type
    options = _project_options(name, side.config)
    own = canonical_check(spec.type) is None
    judge = _judge_terms(name, side.config) if name in _JUDGES or own else None
    terms = [name, spec.options, spec.negate, reference_of(spec, side.case), options, judge]
    model = model_wanted(spec.type, spec.options, side.config.scorers.options)
    return digest(terms if model is None else [*terms, _embedder_terms(model, side.config)])


def _project_options(name: str, config: Config) -> Mapping[str, Any]:
    """The project's options of a check, whichever of its names they are written under."""
    given = config.scorers.options
    aliases = CHECKS[name].aliases if name in CHECKS else ()
    if not any(alias in given for alias in aliases):
        return given.get(name, {})
    return {key: value for other in (*aliases, name) for key, value in given.get(other, {}).items()}


def _embedder_terms(name: str, config: Config) -> list[Any]:
    """All that decides what vectors a model gives; how it is reached is not among it."""
    found = find_embedder(name, config)
    if not isinstance(found, Embedder):
        return [name]
    return [found.entry.model, found.entry.provider, dict(found.entry.params)]


def _judge_terms(name: str, config: Config) -> dict[str, Any]:
    """The judge's settings that decide a mark: not how it is reached, nor what a comparison does not use."""
    unused = {*_NO_TERMS, *(_NOT_OF_PAIRS if name == "pairwise_judge" else ())}
    judge = replace(config.judge, temperature=config.judge.temperature or 0.0)
    return {key: value for key, value in asdict(judge).items() if key not in unused}


def remark(answer: Answer, mark: CaseScore | None, old: Side, new: Side, context: ScoringContext) -> Remark:
    """The mark of a stored answer by the checks as they are now. Never raises.

    * Free checks are made again, whether they changed or not.
    * A judge's, sandbox's or embedding's mark whose terms are the same is taken over; where they
      changed it is made again if the context offers what it needs, else the old one stays and
      keeps the terms it was made under.
    * A judge that could not be asked takes no earlier mark away.
    * Own code that asked a judge counts as the judge's mark.
    * A person's mark stays. Own code that may not run leaves its old marks.
    * Measures that the service itself reported with the answer stay.
    """
    if answer.outcome in _NO_ANSWER:
        return Remark(CaseScore(ScoreState.UNSCORED, reason="There is no answer to mark."))
    earlier = _Earlier(mark, old)
    specs = list(new.case.checks)
    taken = earlier.assign([(canonical_check(spec.type) or spec.type, terms_of(spec, new)) for spec in specs])
    made = [
        _one(spec, None if before is None else earlier.at(before), (answer, new, context))
        for spec, before in zip(specs, taken, strict=True)
    ]
    score = combine([result for result, _, _ in made])
    return Remark(
        replace(score, metrics={**_reported(mark), **score.metrics}),
        tuple(kept for _, kept, _ in made if kept),
        tuple(waiting for _, _, waiting in made if waiting),
    )


_Found = tuple[CheckResult, str | None]
"""An old result and the terms it was made under; None = they are not known."""


def _one(
    spec: CheckSpec, before: _Found | None, given: tuple[Answer, Side, ScoringContext]
) -> tuple[CheckResult, str, str]:
    """One result, and what was not at hand for it: where the old one stayed, where there is none."""
    answer, new, context = given
    need = need_of(spec, new.config)
    found = before[0] if before is not None else None
    if need == PERSON:
        return _by_person(spec, found, answer, new.case, context), "", ""
    same = before is not None and before[1] == terms_of(spec, new)
    if need == OWN_CODE and context.trusted and found is not None and ASKED in found.detail:
        need, same = JUDGE, same and found.detail.get(CODE) == _code_of(spec, context)
    if (
        found is not None
        and same
        and (_is_worth_keeping(found, need, context) or _asked_in_vain(need, context))
    ):
        return _carried(found, spec), "", ""
    if at_hand(need, context):
        result = _made(spec, answer, new, context)
        if before is None or not _could_not_be_asked(result) or before[0].state is not ScoreState.SCORED:
            return result, "", ""
    if before is not None:
        return _carried(before[0], spec, before[1] or UNKNOWN_TERMS), str(need), ""
    return _waits(spec, str(need)), "", str(need)


def _asked_in_vain(need: str | None, context: ScoringContext) -> bool:
    """Whether a judge gave no mark by these very terms and is not at hand: nothing is new then."""
    return need == JUDGE and context.judge is None


def _code_of(spec: CheckSpec, context: ScoringContext) -> str:
    """The digest of the file that holds the project's own check now."""
    try:
        scorer = find_scorer(spec.type, context.root, context.scorer_paths, context.trusted, context.sealed)
    except CheckFault:
        return ""
    return scorer.code if scorer is not None else ""


def _could_not_be_asked(result: CheckResult) -> bool:
    return result.state is ScoreState.ERRORED and result.reason_code in _NOT_ASKED


class _Earlier:
    """The old results of an answer and what each was asked for."""

    def __init__(self, mark: CaseScore | None, old: Side) -> None:
        self.results: tuple[CheckResult, ...] = mark.checks if mark is not None else ()
        specs = old.case.checks
        fits = len(specs) == len(self.results) and all(
            (canonical_check(spec.type) or spec.type) == result.type
            for spec, result in zip(specs, self.results, strict=True)
        )
        self.terms: list[str | None] = [
            result.detail.get(TERMS) or (terms_of(specs[place], old) if fits else None)
            for place, result in enumerate(self.results)
        ]

    def at(self, place: int) -> _Found:
        """An old result with its terms."""
        return self.results[place], self.terms[place]

    def assign(self, wanted: Sequence[tuple[str, str]]) -> list[int | None]:
        """The old result of each wanted (type, terms): one of equal terms, else one of its type."""
        places: list[int | None] = [None] * len(wanted)
        free = set(range(len(self.results)))
        for exact in (True, False):
            for number, (name, terms) in enumerate(wanted):
                if places[number] is not None:
                    continue
                for place in sorted(free):
                    if self.results[place].type == name and (not exact or self.terms[place] == terms):
                        places[number] = place
                        free.discard(place)
                        break
        return places


def _is_worth_keeping(result: CheckResult, need: str | None, context: ScoringContext) -> bool:
    """Whether an unchanged check need not be made again: it costs something and it did decide.

    What came of comparing models is made again, from the verdicts that are kept, where they meet and
    there may be more answers now, or where the judge left some pair undecided.
    """
    if result.reason_code == "no_pair":
        return not context.new_rivals
    undecided = {str(pair.get("why")) for pair in result.detail.get("left_out", ())}
    again = context.new_rivals or undecided - {ABSENT, NO_ANSWER}
    if context.meet is not None and "pairs" in result.detail and again:
        return False
    return need in (JUDGE, SANDBOX, EMBEDDING) and result.state is ScoreState.SCORED


def _carried(result: CheckResult, spec: CheckSpec, terms: str = "") -> CheckResult:
    """An old result in its new place. `terms`: what it was made under, where that is not what holds now."""
    detail = {**result.detail, TERMS: terms} if terms else result.detail
    return replace(result, weight=spec.weight, must_pass=spec.must_pass, detail=detail)


def _made(spec: CheckSpec, answer: Answer, new: Side, context: ScoringContext) -> CheckResult:
    return with_terms(run_check(spec, answer, new.case, context), spec, new)


def with_terms(result: CheckResult, spec: CheckSpec, side: Side) -> CheckResult:
    """The result with its terms where a judge or embeddings made it, so that it is paid for once."""
    compared = model_wanted(spec.type, spec.options, side.config.scorers.options) is not None
    if result.type not in _JUDGES and ASKED not in result.detail and not compared:
        return result
    return replace(result, detail={**result.detail, TERMS: terms_of(spec, side)})


def _by_person(
    spec: CheckSpec, found: CheckResult | None, answer: Answer, case: Case, context: ScoringContext
) -> CheckResult:
    if found is not None and found.state is ScoreState.SCORED:
        return _carried(found, spec)
    return run_check(spec, answer, case, context)


def _waits(spec: CheckSpec, need: str) -> CheckResult:
    sentences = {
        JUDGE: "The second AI has not been asked about this answer.",
        SANDBOX: "The sandbox that tries the code is not installed.",
        EMBEDDING: "There is no connection that makes embeddings.",
        OWN_CODE: "The project's own check may not run, because the project is not trusted.",
    }
    return CheckResult(
        type=canonical_check(spec.type) or spec.type,
        state=ScoreState.UNSCORED,
        reason=sentences[need],
        reason_code=f"waits_{need}",
        weight=spec.weight,
        must_pass=spec.must_pass,
    )


def _reported(mark: CaseScore | None) -> dict[str, float]:
    """Measures of the old mark that none of its checks made: they came with the answer."""
    if mark is None:
        return {}
    made = {name for result in mark.checks for name in result.metrics}
    return {name: value for name, value in mark.metrics.items() if name not in made}


def needs_of(cases: Iterable[Case], config: Config) -> frozenset[str]:
    """Everything that the checks of these cases need beside the answers."""
    needs = {need_of(spec, config) for case in cases for spec in case.checks}
    return frozenset(need for need in needs if need is not None)

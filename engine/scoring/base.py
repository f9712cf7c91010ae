"""What every check is made of: its options, what it sees, what it finds, how it is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.config.schema import Judge
from engine.domain import Answer, Case, CheckSpec, ScoreState, Severity
from engine.scoring.seams import EmbedAsk, EmbedSaid, JudgeReply, JudgeRequest, SandboxRequest, SandboxResult

if TYPE_CHECKING:
    from engine.scoring.pairs import Meet


class CheckFault(Exception):  # noqa: N818 - a fault of the check, in the words of the house
    """The check itself cannot decide: its result is errored, never a mark.

    Args:
        code: Stable reason code.
        reason: One plain sentence that says what happened and what to do.
        detail: Values for the screen.
    """

    def __init__(self, code: str, reason: str, **detail: Any) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of a check. `kind` is bool, int, number, text, texts, choice or any.

    `title` is the plain word for the screen. `aliases` are other accepted spellings.
    """

    name: str
    kind: str
    default: Any = None
    title: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: bool = False
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """What the checks of one run share.

    `options` are the project's `scorers.options`, by check type. `root` is the project folder.
    `trusted` allows the project's own scorers to run. `cost_usd` and `latency_ms` None = take
    them from the answer. `judge`, `embed` and `sandbox` do what needs a model call or an
    isolated interpreter; None = not available, and a check that needs one is errored.
    `scorer_paths` are the project's `scorers.paths`, beside its folder `scorers/`.
    `meet` tells how the answer did against other models' answers; None = they are not at hand.
    `new_rivals`: there may be more of them than when the answer was marked.
    `sealed` are digests of the files that were trusted: no other file's scorers run. None = any may.
    `fence` makes the random part of the marks around untrusted text; None = from `secrets`.
    """

    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    root: Path | None = None
    trusted: bool = False
    model_key: str = ""
    cost_usd: Decimal | None = None
    latency_ms: float | None = None
    judge: Callable[[JudgeRequest], JudgeReply] | None = None
    judge_settings: Judge = field(default_factory=Judge)
    embed: Callable[[EmbedAsk], EmbedSaid] | None = None
    sandbox: Callable[[SandboxRequest], SandboxResult] | None = None
    fence: Callable[[], str] | None = None
    scorer_paths: tuple[str, ...] = ()
    meet: Meet | None = None
    new_rivals: bool = False
    sealed: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class CheckInput:
    """What one check sees: `text` without reasoning, options with their defaults filled in.

    `own_reference` says that the reference was written on the check, not on the case.
    """

    text: str
    reference: Any
    options: Mapping[str, Any]
    answer: Answer
    case: Case
    spec: CheckSpec
    context: ScoringContext
    own_reference: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, before `not` and weight.

    `fact` is a sentence without its full stop about the answer, true as it stands also when the
    check is turned around. `note` is a further whole sentence. `score` is within 0..1.
    """

    score: float
    passed: bool
    fact: str
    code: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    state: ScoreState = ScoreState.SCORED


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with how a check is set up, found without an answer."""

    message: str
    fix: str
    code: str
    severity: Severity = Severity.ERROR
    option: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """What validation of a check may look at. `reference` None = there is none."""

    options: Mapping[str, Any]
    reference: Any
    case: Case
    spec: CheckSpec
    root: Path | None
    judge: Judge | None = None


def no_faults(setup: Setup) -> list[Fault]:
    """The validation of a check that can be set up in no wrong way beyond its options."""
    return []


def never_needs(options: Mapping[str, Any]) -> bool:
    """Answer of a check that marks without a reference."""
    return False


def always_needs(options: Mapping[str, Any]) -> bool:
    """Answer of a check that compares with a reference whatever its options are."""
    return True


@dataclass(frozen=True, slots=True)
class CheckType:
    """One way of marking. `title` and `rule` are the words for the screen.

    `opposite` completes "…, but it must not": the words for a turned-around check.
    `needs_reference` says, given the options, whether a reference must be there.
    """

    name: str
    title: str
    rule: str
    run: Callable[[CheckInput], Finding]
    options: tuple[Option, ...] = ()
    aliases: tuple[str, ...] = ()
    needs_reference: Callable[[Mapping[str, Any]], bool] = always_needs
    validate: Callable[[Setup], list[Fault]] = no_faults
    opposite: str = "it must not"
    paid: bool = False


def accepted(reference: Any) -> tuple[Any, ...]:
    """The accepted values: a list means any of them."""
    if isinstance(reference, (list, tuple)):
        return tuple(reference)
    return (reference,)


def has_reference(reference: Any) -> bool:
    """Whether there is something to compare with: an empty text or list is nothing."""
    return reference is not None and reference != "" and reference not in ([], ())


def as_text(value: Any) -> str:
    """A reference value as the text it stands for: text as written, the rest as JSON."""
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def as_texts(reference: Any) -> tuple[str, ...]:
    """The accepted texts of a reference."""
    return tuple(as_text(value) for value in accepted(reference))


def quoted(text: str, limit: int = 80) -> str:
    """Text in quotes for a sentence: one line, bounded."""
    flat = " ".join(text[: limit * 4].split())
    return f'"{flat[: limit - 1]}…"' if len(flat) > limit else f'"{flat}"'

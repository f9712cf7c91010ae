"""The sentences of Compare: what changed between two runs, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from engine.stats.board import PairResult
from engine.stats.compare import Comparison, ModelChange, SideFigures
from engine.stats.samples import SHARES

_REAL = (4, 5)
_SAME = (2, 6)
_SAME_COST_USD = 0.005
_SAME_WAIT_MS = 50.0


def _tr(text: str) -> str:
    return QCoreApplication.translate("Compare", text)


@dataclass(frozen=True, slots=True)
class CompareWords:
    """The card of the page. `kind` is the chip's: good, warn, info or neutral."""

    chip: str
    kind: str
    headline: str
    lead: str


def is_real(change: ModelChange) -> bool:
    """Whether the tests can tell a difference."""
    return change.pair is not None and change.pair.row in _REAL


def got_better(change: ModelChange) -> bool:
    """The direction of a change on the deciding metric, as the project reads it."""
    delta = _delta(change)
    return delta < 0 if change.less_is_better else delta > 0


def compare_words(
    found: Comparison, names: Mapping[str, str], ranks: Mapping[str, tuple[int | None, int | None]]
) -> CompareWords:
    """What changed. `ranks` are the places before and now of each model."""
    real = sorted((c for c in found.models if is_real(c)), key=lambda c: -abs(_delta(c)))
    if not real:
        return _nothing_real(found, names)
    first = real[0]
    better = got_better(first)
    chip = _tr("A real difference")
    return CompareWords(
        chip,
        "good" if better else "warn",
        _headline(first, names, ranks.get(first.model_key, (None, None)), better=better),
        _lead(found, first, names),
    )


def _delta(change: ModelChange) -> float:
    return change.pair.delta or 0.0 if change.pair is not None else 0.0


def _nothing_real(found: Comparison, names: Mapping[str, str]) -> CompareWords:
    compared = [c for c in found.models if c.pair is not None]
    if not compared:
        return CompareWords(
            _tr("Nothing to compare"),
            "neutral",
            _tr("No model has marked answers in both runs."),
            _tr("Only answers with a mark can be compared."),
        )
    if all(c.pair is not None and c.pair.row in _SAME for c in compared):
        return CompareWords(
            _tr("Practically the same"), "info", _tr("Nothing changed."), _moved(found, compared, names)
        )
    if not any(c.better or c.worse for c in compared):
        # Nothing moved, which is less than proof that nothing changed.
        return CompareWords(_tr("No difference seen"), "info", _all_same(), _of_both(found))
    return CompareWords(
        _tr("Too close to call"),
        "info",
        _tr("No change is large enough to be sure of it."),
        _moved(found, compared, names),
    )


def _all_same() -> str:
    return _tr("Every model passed the same tests as before.")


def _of_both(found: Comparison) -> str:
    if len(found.shared) == 1:
        return _tr("1 test is in both runs.")
    return _tr("{tests} tests are in both runs.").format(tests=formats.whole(len(found.shared)))


def _moved(found: Comparison, compared: list[ModelChange], names: Mapping[str, str]) -> str:
    """The model that moved most, although it is too close to call."""
    most = max(compared, key=lambda c: abs(_delta(c)))
    if not most.better and not most.worse:
        return f"{_all_same()} {_of_both(found)}"
    name = names.get(most.model_key, most.model_key)
    return _tr("{name} moved most: {change}, out of {tests} tests.").format(
        name=name, change=better_worse(most), tests=formats.whole(len(found.shared))
    )


def _headline(
    change: ModelChange, names: Mapping[str, str], ranks: tuple[int | None, int | None], *, better: bool
) -> str:
    name = names.get(change.model_key, change.model_key)
    before, after = ranks
    if before is None or after is None or before == after:
        return (_tr("{name} got better.") if better else _tr("{name} got worse.")).format(name=name)
    text = (
        _tr("{name} got better, and moved from place {before} to {after}.")
        if better
        else _tr("{name} got worse, and moved from place {before} to {after}.")
    )
    return text.format(name=name, before=before, after=after)


def _lead(found: Comparison, first: ModelChange, names: Mapping[str, str]) -> str:
    text = _tr("It passed {now} of the {tests} tests both runs share, and {before} before.")
    parts = [
        text.format(
            now=first.after.passed_cases, tests=first.after.scored_cases, before=first.before.passed_cases
        )
    ]
    others = [c for c in found.models if c is not first]
    for other in others:
        if is_real(other):
            name = names.get(other.model_key, other.model_key)
            verb = _tr("{name} got better.") if got_better(other) else _tr("{name} got worse.")
            parts.append(verb.format(name=name))
    close = sum(not is_real(other) for other in others)
    if close == 1:
        parts.append(_tr("The other one is too close to call."))
    elif close > 1:
        parts.append(_tr("The other {count} are too close to call.").format(count=close))
    return " ".join(parts)


# ---- the strip


def shared_sentence(found: Comparison) -> tuple[str, str]:
    """First sentence and text of the strip: what is compared, and what is not. Empty = all is the same."""
    changes = _changes(found)
    if not changes:
        return "", ""
    first = _tr("Only the {count} shared tests are compared.").format(count=formats.whole(len(found.shared)))
    if not (found.changed or found.only_before or found.only_after):
        first = _tr("The instructions changed between these runs.")
        return first, _tr("The tests are the same.")
    return first, _tr("What differs: {changes}.").format(changes=", ".join(changes))


def _changes(found: Comparison) -> list[str]:
    parts = []
    counts = (
        # A quick look asks fewer tests than there are: nobody removed any.
        (len(found.only_after), _tr("1 test was asked only now"), _tr("{count} tests were asked only now")),
        (
            len(found.only_before),
            _tr("1 test was asked only before"),
            _tr("{count} tests were asked only before"),
        ),
        (len(found.changed), _tr("1 test was changed"), _tr("{count} tests were changed")),
    )
    for count, one, many in counts:
        if count:
            parts.append(one if count == 1 else many.format(count=formats.whole(count)))
    if found.instructions_changed:
        parts.append(_tr("the instructions changed"))
    return parts


def problem_words(code: str) -> tuple[str, str]:
    """Heading and sentence where two runs cannot be compared."""
    words = {
        "no_shared_cases": (
            _tr("These two runs share no test."),
            _tr("Tests count as the same while question, right answer and marking are the same."),
        ),
        "no_shared_models": (
            _tr("No model took part in both runs."),
            _tr("A model counts as the same while it has the same key in the project."),
        ),
        "same_run": (_tr("This is one and the same run."), _tr("Choose two different runs.")),
    }
    return words.get(code, (_tr("These two runs cannot be compared."), ""))


# ---- the table


def passed_of(side: SideFigures) -> str:
    """How many of the shared tests a model passed."""
    if not side.scored_cases:
        return formats.UNKNOWN
    return _tr("{passed} of {tests}").format(
        passed=formats.whole(side.passed_cases), tests=formats.whole(side.scored_cases)
    )


def better_worse(change: ModelChange) -> str:
    """How many tests went which way."""
    return _tr("{better} better, {worse} worse").format(
        better=formats.whole(len(change.better)), worse=formats.whole(len(change.worse))
    )


def change_words(change: ModelChange) -> tuple[str, str]:
    """What the table says about a change, and its tone: good, bad or text2."""
    pair = change.pair
    if pair is None:
        return _tr("not marked in both runs"), "text2"
    if is_real(change):
        return better_worse(change), "good" if got_better(change) else "bad"
    if not (change.better or change.worse):
        return _tr("same on every test"), "text2"
    if pair.row in _SAME:
        return _tr("practically the same"), "text2"
    return _tr("too close to call"), "text2"


def change_spoken(change: ModelChange, deciding: str) -> str:
    """The change for a screen reader, with the likely range where there is one."""
    text, _tone = change_words(change)
    said = f"{text}. {better_worse(change)}"
    gap = _gap(change.pair) if deciding in SHARES else ""
    return f"{said}. {gap}" if gap else said


def _gap(pair: PairResult | None) -> str:
    if pair is None or pair.ci95 is None:
        return ""
    return _tr("The true change most likely lies between {low} and {high} points.").format(
        low=formats.points(pair.ci95.low), high=formats.points(pair.ci95.high)
    )


def cost_change(before: float | None, after: float | None) -> str:
    """How the cost of 100 answers moved; both are per 1,000."""
    if before is None or after is None:
        return formats.UNKNOWN
    gap = (after - before) / 10
    if before == 0 and after == 0:
        return _tr("free")
    if abs(gap) < _SAME_COST_USD:
        return _tr("same")
    text = _tr("{cost} more") if gap > 0 else _tr("{cost} less")
    return text.format(cost=formats.money(abs(gap)))


def wait_change(before: float | None, after: float | None) -> str:
    """How the usual wait moved."""
    if before is None or after is None:
        return formats.UNKNOWN
    gap = after - before
    if abs(gap) < _SAME_WAIT_MS or formats.waiting(before) == formats.waiting(after):
        return _tr("same")
    text = _tr("{time} slower") if gap > 0 else _tr("{time} faster")
    return text.format(time=formats.waiting(abs(gap)))


def not_in(number: int) -> str:
    """A model that took no part in one of the runs."""
    return _tr("Not in run {number}").format(number=number)

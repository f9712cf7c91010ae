"""Failure groups, wavering tests and telling tests in words."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.reasons import error_words
from engine.stats.failure_groups import Detail, Failing, FailureGroup
from engine.storage.rows import FlakyCase

_MODELS_NAMED = 4
_DETAILS_NAMED = 3


def _tr(text: str) -> str:
    return QCoreApplication.translate("Insights", text)


def _wrong_words() -> dict[str, str]:
    return {
        "not_equal": _tr("It is not exactly the right answer"),
        "not_mentioned": _tr("It does not mention what it should"),
        "mentioned": _tr("It mentions what it must not"),
        "not_matched": _tr("It does not fit the pattern"),
        "captured_other": _tr("The pattern found something else"),
        "wrong_label": _tr("It names the wrong label"),
        "several_labels": _tr("It names several labels"),
        "no_label": _tr("It names none of the labels"),
        "wrong_number": _tr("The number is not the right one"),
        "no_number": _tr("It holds no number"),
        "several_numbers": _tr("It holds several numbers"),
        "other_number_style": _tr("The number is written in another style"),
        "fields_missing": _tr("Fields are missing"),
        "fields_different": _tr("Fields hold something else"),
        "json_different": _tr("The data is not the same"),
        "json_missing": _tr("It holds none of the data it should"),
        "json_truncated": _tr("The data breaks off"),
        "json_bad": _tr("The data is not written as it should be"),
        "json_duplicate_key": _tr("A field is there twice"),
        "schema_not_met": _tr("The data has another shape"),
        "not_alike": _tr("It does not mean the same"),
        "too_short": _tr("It is too short"),
        "too_long": _tr("It is too long"),
        "too_slow": _tr("It took too long"),
        "too_expensive": _tr("It cost too much"),
        "judge_failed_it": _tr("The second AI did not pass it"),
        "pair_right": _tr("The second AI likes the right answer better"),
        "pairs_lost": _tr("The second AI likes the answers of other models better"),
        "code_failed": _tr("The code does not work"),
        "code_timeout": _tr("The code did not end"),
        "code_memory": _tr("The code needed too much memory"),
        "code_left": _tr("The code ended too early"),
        "no_code": _tr("It holds no code"),
        "scorer_not_passed": _tr("The project's own check did not pass it"),
        "marked": _tr("You marked it as bad"),
    }


def _unmarked_words(group: FailureGroup) -> str:
    words = {
        "judge_failed": _tr("The second AI could not be asked"),
        "judge_declined": _tr("The second AI declined to mark it"),
        "judge_cut_off": _tr("The reply of the second AI was cut off"),
        "no_judge": _tr("No second AI is chosen"),
        "no_pair": _tr("No other model gave an answer to compare with"),
        "no_rivals": _tr("The answers of other models are not at hand"),
        "sandbox_missing": _tr("The sandbox that tries code is not installed"),
        "cost_unknown": _tr("What it cost is not known"),
        "no_trust": _tr("The project's own check may not run without your yes"),
    }
    if group.code in words:
        return words[group.code]
    if group.code.startswith("judge_"):
        return _tr("The second AI gave no clear mark")
    return _plain(group.sample) or _tr("The check could not decide")


def _plain(sentence: str) -> str:
    return sentence.strip().rstrip(".")


def _cut_off(also: str) -> str:
    """Answers that were cut off are grouped by what is wrong with what is there, so that is said too."""
    cut = _tr("The answer was cut off at its longest length")
    return f"{cut}: {_lower_first(also)}" if also else cut


def group_title(group: FailureGroup) -> str:
    """Why, in a few words without a full stop."""
    words = _wrong_words()
    titles = {
        Failing.REFUSED: _tr("The model refused to answer"),
        Failing.EMPTY: _tr("The answer held only its thinking")
        if group.code == "only_reasoning"
        else _tr("The answer was empty"),
        Failing.FAILED: _plain(error_words(group.code, group.status)),
        Failing.CUT_OFF: _cut_off(words.get(group.code, "")),
    }
    if group.kind in titles:
        return titles[group.kind]
    if group.kind is Failing.UNMARKED:
        return _tr("Could not be marked: {why}").format(why=_lower_first(_unmarked_words(group)))
    return words.get(group.code) or _plain(group.sample) or _tr("It is not right")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def group_count(group: FailureGroup) -> str:
    """How many answers, or questions that brought none."""
    count = formats.whole(group.count)
    if group.kind is Failing.FAILED:
        return _tr("1 question") if group.count == 1 else _tr("{count} questions").format(count=count)
    return _tr("1 answer") if group.count == 1 else _tr("{count} answers").format(count=count)


def group_caption(group: FailureGroup, names: Mapping[str, str]) -> str:
    """On how many tests, by which models, and what is common among them."""
    tests = len(group.cases)
    parts = [_tr("on 1 test") if tests == 1 else _tr("on {count} tests").format(count=formats.whole(tests))]
    parts.append(_by_model(group, names))
    details = "; ".join(detail_words(detail) for detail in group.details[:_DETAILS_NAMED])
    if details:
        parts.append(details)
    return " · ".join(part for part in parts if part)


def _by_model(group: FailureGroup, names: Mapping[str, str]) -> str:
    shown = list(group.by_model.items())[:_MODELS_NAMED]
    told = [f"{names.get(key, key)} {formats.whole(count)}" for key, count in shown]
    more = len(group.by_model) - len(shown)
    if more > 0:
        text = _tr("1 more model") if more == 1 else _tr("{count} more models")
        told.append(text.format(count=formats.whole(more)))
    return ", ".join(told)


def detail_words(detail: Detail) -> str:
    """What a group's failures have in common more closely."""
    if detail.kind == "swap":
        text = _tr("“{found}” instead of “{wanted}” {count} times")
        once = _tr("“{found}” instead of “{wanted}” once")
    else:
        text, once = _tr("“{found}” {count} times"), _tr("“{found}” once")
    chosen = once if detail.count == 1 else text
    return chosen.format(
        found=detail.found[:40], wanted=detail.wanted[:40], count=formats.whole(detail.count)
    )


def groups_caption(groups: tuple[FailureGroup, ...]) -> str:
    """The sentence below the heading of the groups."""
    total = sum(group.count for group in groups)
    if not groups:
        return _tr("Every answer is right.")
    kinds = {group.kind is Failing.FAILED for group in groups}
    if total == 1:
        return _tr("One question failed.") if kinds == {True} else _tr("One answer failed.")
    what = {
        (True,): _tr("{total} questions failed"),
        (False,): _tr("{total} answers failed"),
    }.get(tuple(kinds), _tr("{total} answers or questions failed"))
    causes = _tr("all for one cause") if len(groups) == 1 else _tr("for {causes} causes")
    text = f"{what}, {causes}."
    return text.format(total=formats.whole(total), causes=formats.whole(len(groups)))


def flaky_caption(flaky: tuple[FlakyCase, ...], trials: int) -> str:
    """The sentence below the heading of the wavering tests."""
    if trials < 2:
        return _tr("Each question was asked once, so it cannot be seen which answers waver.")
    if not flaky:
        return _tr("Every model marked the same each time it was asked.")
    return _tr("Asked {trials} times, a model did not always do equally well here.").format(
        trials=formats.whole(trials)
    )


def flaky_words(case: FlakyCase, names: Mapping[str, str]) -> str:
    """How one model wavers on one test."""
    name = names.get(case.model_key, case.model_key)
    if (case.lowest, case.highest) == (0.0, 1.0):
        right = case.mean * case.trials
        if abs(right - round(right)) < 1e-6:
            text = _tr("{name}: right {right} of {trials} times")
            return text.format(name=name, right=round(right), trials=case.trials)
    text = _tr("{name}: between {low} and {high} of 100, {mean} on average")
    return text.format(
        name=name,
        low=formats.points(case.lowest),
        high=formats.points(case.highest),
        mean=formats.points(case.mean),
    )


def separating_title(first: str, second: str) -> str:
    """The heading of the telling tests."""
    return _tr("Tests that tell {first} and {second} apart").format(first=first, second=second)


def separating_caption(differing: int, units: int) -> str:
    """On how many tests the two differ."""
    if not differing:
        return _tr("They did equally well on every test.")
    return _tr("They differ on {differing} of {units} tests.").format(
        differing=formats.whole(differing), units=formats.whole(units)
    )


def separating_words(first: str, second: str, scores: tuple[float | None, float | None]) -> str:
    """How the two did on one test."""
    return _tr("{first} {a}, {second} {b}").format(
        first=first, second=second, a=formats.out_of_100(scores[0]), b=formats.out_of_100(scores[1])
    )

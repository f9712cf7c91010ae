"""The words for choosing how answers are marked: what each setting is called, what it does, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.setup import option_value
from engine.domain import Problem
from engine.scoring.base import CheckType, Option
from engine.scoring.options import COMMON

FIRST: Mapping[str, tuple[str, ...]] = {
    "contains": ("mode",),
    "regex": ("pattern",),
    "classification": ("labels",),
    "numeric": ("abs_tol", "select"),
    "json_match": ("mode",),
    "json_valid": ("lenient",),
    "json_schema": ("schema",),
    "similarity": ("method", "model", "threshold"),
    "llm_judge": ("rubric", "threshold"),
    "pairwise_judge": ("against", "rubric"),
    "code_exec": ("tests",),
    "length": ("max_words", "min_words", "max_chars", "min_chars"),
    "latency": ("max_ms",),
    "cost": ("max_usd",),
}
"""The settings that are shown at once; the others unfold."""

NOT_OFFERED: Mapping[tuple[str, str], str] = {
    ("code_exec", "language"): "there is only one language",
}
"""Settings without a field, and why."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("CheckChoice", text)


def first_options(check: CheckType) -> list[Option]:
    """Those shown at once, in their order."""
    named = {option.name: option for option in check.options}
    return [named[name] for name in FIRST.get(check.name, ())]


def more_options(check: CheckType) -> list[Option]:
    """Those that unfold."""
    first = FIRST.get(check.name, ())
    return [
        option
        for option in (*check.options, *COMMON)
        if option.name not in first and (check.name, option.name) not in NOT_OFFERED
    ]


def option_title(check: CheckType, option: Option) -> str:
    """What a setting is called in the dialog: plainer than in the file, in units that people use."""
    words = {
        ("regex", "pattern"): _tr("Pattern"),
        ("regex", "expect_group"): _tr("The part that the pattern catches must be"),
        ("classification", "labels"): _tr("Labels, one in each line"),
        ("numeric", "rel_tol"): _tr("May be off by, of 100"),
        ("numeric", "locale"): _tr("How numbers are written"),
        ("json_match", "ignore_keys"): _tr("Fields that do not count, one in each line"),
        ("json_match", "lenient"): _tr("Small slips in the JSON are fine, such as extra commas"),
        ("json_schema", "schema"): _tr("File that says the shape"),
        ("contains", "threshold"): _tr("Passes from, of 100"),
        ("json_match", "threshold"): _tr("Passes from, of 100"),
        ("similarity", "threshold"): _tr("Passes from, of 100"),
        ("llm_judge", "threshold"): _tr("Passes from, of 100"),
        ("llm_judge", "rubric"): _tr("What it looks at"),
        ("pairwise_judge", "rubric"): _tr("What it looks at"),
        ("llm_judge", "max_tokens"): _tr("Longest answer of the second AI, in pieces of words"),
        ("llm_judge", "prompt"): _tr("Own question to the second AI"),
        ("llm_judge", "system"): _tr("Own instructions to the second AI"),
        ("pairwise_judge", "against"): _tr("Compared with"),
        ("latency", "max_ms"): _tr("Longest wait, in seconds"),
        ("cost", "max_usd"): _tr("Highest price of an answer"),
    }
    return words.get((check.name, option.name), option.title)


def of_100(check: CheckType, option: Option) -> bool:
    """Whether people read a share of 1 as points of 100."""
    return (check.name, option.name) == ("numeric", "rel_tol") or (option.minimum, option.maximum) == (0, 1)


def setting_row(check: CheckType, option: Option, value: Any) -> tuple[str, str]:
    """A setting where it is only shown: what it is called, and its value in that unit; empty = not set."""
    key = (check.name, option.name)
    titles = {
        ("classification", "labels"): _tr("Labels"),
        ("json_match", "ignore_keys"): _tr("Fields that do not count"),
    }
    return titles.get(key) or option_title(check, option), _shown(check, option, value)


def _shown(check: CheckType, option: Option, value: Any) -> str:
    key = (check.name, option.name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and of_100(check, option):
        return f"{value * 100:g}"
    if is_number and key == ("latency", "max_ms"):
        return f"{value / 1000:g}"
    if is_number and key == ("cost", "max_usd"):
        return f"${value:g}"
    if isinstance(value, str) and option.name == "against":
        return against_words(value)
    if key == ("numeric", "locale"):
        return dict(language_words()).get(value) or option_value(option, value)
    if option.name == "rubric" and isinstance(value, list | tuple):
        value = [item.get("name", "") if isinstance(item, Mapping) else item for item in value]
    return option_value(option, value)


def option_help(check: CheckType, option: Option) -> str:
    """A sentence below the field; empty where the title says all."""
    words = {
        ("regex", "pattern"): _tr("Empty: the right answer of each test is the pattern"),
        ("numeric", "locale"): _tr("Decides whether 1,5 is one and a half"),
        ("json_schema", "schema"): _tr("A JSON Schema inside the project folder"),
        ("similarity", "threshold"): _tr("100 is the same text, or the same meaning"),
        ("llm_judge", "rubric"): _tr("Empty: what the second AI of the project looks at"),
        ("pairwise_judge", "rubric"): _tr("Empty: what the second AI of the project looks at"),
        ("llm_judge", "scale"): _tr("Not set: it gives marks from 0 to 1"),
        ("code_exec", "tests"): _tr("Empty: the right answer of each test is its code"),
        ("code_exec", "timeout_s"): _tr("Code that takes longer has failed"),
    }
    return words.get((check.name, option.name), "")


def not_set_words(check: CheckType) -> str:
    """What a field says while nothing is given."""
    if check.name in ("llm_judge", "pairwise_judge"):
        return _tr("As the project says")
    return _tr("No limit") if check.name == "length" else _tr("Not set")


def against_words(value: str) -> str:
    """Whom answers meet."""
    words = {"reference": _tr("The right answer"), "models": _tr("The answers of the other models")}
    return words.get(value, _tr("The answers of {model}").format(model=value))


def language_words() -> list[tuple[str, str]]:
    """How numbers can be written: the value for the file, and an example."""
    return [
        ("en", _tr("1,234.5 as in English")),
        ("de", _tr("1.234,5 as in German")),
        ("fr", _tr("1 234,5 as in French")),
    ]


def fault_words(problem: Problem) -> str:
    """What is wrong with a setting, beside its field."""
    words = {
        "option_missing": _tr("This must be given."),
        "no_limit": _tr("Give at least one of these limits."),
        "embedder_missing": _tr("Name the model that compares meanings."),
    }
    return words.get(problem.code) or f"{problem.message} {problem.fix}".strip()


def scope_sentence(following: int) -> str:
    """For which tests the choice holds."""
    if following == 0:
        return _tr("For tests that have no way of marking of their own. There is none now.")
    if following == 1:
        return _tr("For the test that has no way of marking of its own.")
    text = _tr("For the {count} tests that have no way of marking of their own.")
    return text.format(count=formats.whole(following))


def one_test_sentence(name: str) -> str:
    """The same, in the dialog of one test."""
    return _tr("For the test “{name}” alone.").format(name=name)


def own_too_words(own: int) -> str:
    """The box that makes other tests follow."""
    if own == 1:
        return _tr("Also for the test that has its own way of marking")
    text = _tr("Also for the {count} tests that have their own way of marking")
    return text.format(count=formats.whole(own))


def keeping_sentence(kept: int, files: Sequence[str]) -> str:
    """Tests that cannot be made to follow here, and the files they stand in."""
    place = files[0] if len(files) == 1 else _tr("{count} files").format(count=formats.whole(len(files)))
    if kept == 1:
        text = _tr("1 test in {file} cannot be changed here and keeps its own way of marking.")
        return text.format(file=place)
    text = _tr("{count} tests in {file} cannot be changed here and keep their own way of marking.")
    return text.format(count=formats.whole(kept), file=place)


def missing_sentence(tests: int, of: int) -> str:
    """How many tests have nothing to compare with."""
    text = _tr("{tests} of {all} tests have no right answer, and this way of marking needs one.")
    return text.format(tests=formats.whole(tests), all=formats.whole(of))


def unfit_sentence(tests: int, of: int, first: Problem) -> str:
    """How many tests could not be marked so, and why the first of them."""
    text = _tr("{tests} of {all} tests could not be marked so. The first: {why}")
    why = f"{first.message} {first.fix}".strip()
    return text.format(tests=formats.whole(tests), all=formats.whole(of), why=why)


def nothing_counts_sentence() -> str:
    """Said where every weight is 0."""
    return _tr("Every check counts 0. Let one count.")


def kind_sentence(check: CheckType | None) -> str:
    """What a way of marking does, what it costs, and where the rest of it is chosen."""
    if check is None:
        return _tr("Code of the project marks the answer. Its settings stay in the file as they are.")
    if check.paid:
        where = _tr("Which AI it is, is chosen on Scoring, under “The second AI that marks”.")
        return f"{check.rule} {where}"
    return check.rule


def turned_words() -> str:
    """The box that turns a check around."""
    return _tr("Turn it around: an answer passes only where this is not so")


def not_tried_sentence() -> str:
    """Why the tester offers nothing."""
    return _tr("This way of marking asks a model, needs a run, or waits for you. It cannot be tried here.")

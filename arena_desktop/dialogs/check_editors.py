"""Which field edits which setting of a check, made from what the check itself declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.dialogs.check_fields import (
    Area,
    Field,
    FilePick,
    Kept,
    Line,
    Many,
    Number,
    Pick,
    Rubric,
    Tick,
    criteria_of,
)
from arena_desktop.wording import check_choice as words
from arena_desktop.wording.setup import option_value
from engine.config.schema import Config
from engine.project import Project
from engine.scoring.base import CheckType, Option

_UNLIMITED = 1_000_000_000.0
_LONG_TEXTS = frozenset({"prompt", "system", "setup"})


def _tr(text: str) -> str:
    return QCoreApplication.translate("CheckEditors", text)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a field stands: the check and its setting, the value in force, the project, an object name."""

    check: CheckType
    option: Option
    value: Any
    project: Project
    name: str

    @property
    def key(self) -> tuple[str, str]:
        """Check and setting by name."""
        return self.check.name, self.option.name

    @property
    def title(self) -> str:
        """What it is called."""
        return words.option_title(self.check, self.option)


def make_field(place: Place) -> Field:
    """The field of a setting."""
    special = _SPECIAL.get(place.key)
    return special(place) if special is not None else _BY_KIND[place.option.kind](place)


def has_field(check: CheckType, option: Option) -> bool:
    """Whether a setting can be edited, told without making its field."""
    return (check.name, option.name) in _SPECIAL or option.kind in _BY_KIND


def _tick(place: Place) -> Field:
    return Tick(place.title, place.value, place.name)


def _choice(place: Place) -> Field:
    choices = {choice: option_value(place.option, choice) for choice in place.option.choices}
    return Pick(place.title, choices, place.value, place.name)


def _number(place: Place) -> Field:
    option = place.option
    low = 0.0 if option.minimum is None else float(option.minimum)
    high = _UNLIMITED if option.maximum is None else float(option.maximum)
    field = Number(place.title, place.value, place.name, low=low, high=high, whole=option.kind == "int")
    of_100 = words.of_100(place.check, option)
    none = words.not_set_words(place.check) if option.default is None else ""
    return field.show(scale=100.0 if of_100 else 1.0, none_text=none)


def _seconds(place: Place) -> Field:
    field = Number(place.title, place.value, place.name, low=0.0, high=_UNLIMITED)
    return field.show(scale=0.001, none_text=words.not_set_words(place.check), suffix=_tr(" s"))


def _dollars(place: Place) -> Field:
    field = Number(place.title, place.value, place.name, low=0.0, high=_UNLIMITED)
    return field.show(none_text=words.not_set_words(place.check), prefix="$ ")


def _text(place: Place) -> Field:
    if place.option.name in _LONG_TEXTS:
        return Area(place.title, place.value, place.name)
    return Line(place.title, place.value, place.name)


def _texts(place: Place) -> Field:
    return Many(place.title, place.value or None, place.name, lines=5)


def _lone_or_many(place: Place) -> Field:
    """A text or a list of them; what has line breaks of its own, or is neither, stays in the file."""
    value = place.value
    texts = value if isinstance(value, list | tuple) else [] if value is None else [value]
    if not all(isinstance(text, str) and "\n" not in text for text in texts):
        return Kept(place.title, value)
    return Many(place.title, value, place.name, single=True, lines=2)


def _code(place: Place) -> Field:
    if place.value is not None and not isinstance(place.value, str):
        return Kept(place.title, place.value)
    return Area(place.title, place.value, place.name, lines=4)


def _schema(place: Place) -> Field:
    if place.value is not None and not isinstance(place.value, str):
        return Kept(place.title, place.value)
    return FilePick(place.title, place.value, place.name, Path(place.project.root))


def _rubric(place: Place) -> Field:
    value = place.value
    if value is not None and not isinstance(value, str) and criteria_of(value) is None:
        return Kept(place.title, value)
    return Rubric(place.title, value, place.name)


def _against(place: Place) -> Field:
    keys = [entry.key for entry in place.project.config.models if entry.enabled]
    choices: dict[Any, str] = {None: words.not_set_words(place.check)}
    choices.update({name: words.against_words(name) for name in ("reference", "models", *keys)})
    return Pick(place.title, choices, place.value, place.name)


def _language(place: Place) -> Field:
    choices: dict[Any, str] = {None: words.not_set_words(place.check), **dict(words.language_words())}
    return Pick(place.title, choices, place.value, place.name)


def _embedder(place: Place) -> Field:
    return Line(place.title, place.value or None, place.name, placeholder=_example(place.project.config))


def _example(config: Config) -> str:
    """A name as this project could use it: through a connection of its own where it has one."""
    kinds = [link.id for link in config.connections if link.kind in ("openai", "openai_compatible")]
    return f"{kinds[0] if kinds else 'openai'}/text-embedding-3-small"


_BY_KIND: Mapping[str, Callable[[Place], Field]] = {
    "bool": _tick,
    "choice": _choice,
    "int": _number,
    "number": _number,
    "text": _text,
    "texts": _texts,
}
_SPECIAL: Mapping[tuple[str, str], Callable[[Place], Field]] = {
    ("regex", "pattern"): _lone_or_many,
    ("regex", "expect_group"): _lone_or_many,
    ("json_schema", "schema"): _schema,
    ("llm_judge", "rubric"): _rubric,
    ("pairwise_judge", "rubric"): _rubric,
    ("pairwise_judge", "against"): _against,
    ("code_exec", "tests"): _code,
    ("numeric", "locale"): _language,
    ("similarity", "model"): _embedder,
    ("latency", "max_ms"): _seconds,
    ("cost", "max_usd"): _dollars,
}

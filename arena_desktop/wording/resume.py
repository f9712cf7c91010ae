"""Carrying on in words: what the project would ask differently now, and failures asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats

if TYPE_CHECKING:
    from engine.execution.resume import Difference

_SHOWN = 4
_NAMED = 3


def _tr(text: str) -> str:
    return QCoreApplication.translate("Resume", text)


def _number(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count=formats.whole(count))


def changed_title(number: int | None) -> str:
    """The first sentence of the question."""
    if number is None:
        return _tr("The project has changed since this run was planned.")
    return _tr("The project has changed since run {number} was planned.").format(number=number)


def what_word(what: str) -> str:
    """One thing that is another one now."""
    words = {
        "model": _tr("another model behind the name"),
        "connection": _tr("another connection"),
        "host": _tr("another web address"),
        "system": _tr("other instructions"),
        "prompt": _tr("other words of the question"),
        "params": _tr("other model settings"),
        "max_tokens": _tr("another longest answer"),
        "temperature": _tr("another variety"),
        "files": _tr("other files"),
        "case": _tr("another test"),
        "gone": _tr("no longer in the project"),
    }
    return words.get(what, what.replace("_", " "))


def difference_lines(found: Sequence[Difference], labels: Mapping[str, str]) -> list[str]:
    """What would be asked differently, one line per kind of change."""
    groups: dict[tuple[str, ...], list[Difference]] = {}
    for difference in found:
        groups.setdefault(difference.what, []).append(difference)
    lines = [_line(what, group, labels) for what, group in groups.items()]
    hidden = len(lines) - _SHOWN
    if hidden > 0:
        more = _number(hidden, _tr("1 more change."), _tr("{count} more changes."))
        return [*lines[:_SHOWN], more]
    return lines


def _line(what: tuple[str, ...], group: Sequence[Difference], labels: Mapping[str, str]) -> str:
    names = [labels.get(item.model_key, item.model_key) for item in group]
    named = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        named = _tr("{models} and {count} more").format(models=named, count=len(names) - _NAMED)
    cases = len({case for item in group for case in item.cases})
    return _tr("{models}: {changes}, {tests}.").format(
        models=named,
        changes=", ".join(what_word(name) for name in what),
        tests=_number(cases, _tr("1 test"), _tr("{count} tests")),
    )


def as_planned_text() -> str:
    """What the first choice means."""
    return _tr("As planned: the rest is asked as the first part was. The result stays of one piece.")


def as_now_text() -> str:
    """What the second choice means."""
    return _tr(
        "As it is now: the rest is asked by the changed project. Answers to both then stand in one result."
    )


def retry_button(failed: int) -> str:
    """The button that asks what failed once more."""
    return _number(failed, _tr("Try the failed one again"), _tr("Try the {count} failed again"))


def retry_sentence(failed: int) -> str:
    """What happens to what failed."""
    return _number(
        failed,
        _tr("One question failed. It can be asked again, and the new answer counts."),
        _tr("{count} questions failed. They can be asked again, and the new answers count."),
    )

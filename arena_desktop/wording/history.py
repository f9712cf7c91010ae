"""The sentences of History: states of runs, removing and bringing back, scores over time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.results import state_word
from engine.domain import RunInfo


def _tr(text: str) -> str:
    return QCoreApplication.translate("History", text)


def state_text(info: RunInfo) -> str:
    """The state of a run; a run of pretend models says so."""
    state = state_word(info.status)
    return _tr("{state}, practice").format(state=state) if info.practice else state


def removed_sentence(numbers: Sequence[int]) -> str:
    """What was removed, in the past tense."""
    if len(numbers) == 1:
        return _tr("Run {number} is removed.").format(number=numbers[0])
    return _tr("{count} runs are removed.").format(count=len(numbers))


def restored_sentence(numbers: Sequence[int]) -> str:
    """What came back."""
    if len(numbers) == 1:
        return _tr("Run {number} is back.").format(number=numbers[0])
    return _tr("{count} runs are back.").format(count=len(numbers))


def removed_text() -> str:
    """Where removed runs are."""
    return _tr("Nothing is lost yet: it can be brought back.")


def chosen_button(count: int) -> str:
    """The button that compares."""
    return _tr("Compare chosen ({count})").format(count=count)


def run_heading(number: int, when: str) -> str:
    """A run in the hover card of the chart."""
    return _tr("Run {number}, {when}").format(number=number, when=when)


def over_time_title(metric: str) -> str:
    """The title of the chart."""
    return _tr("{metric} over time").format(metric=metric_name(metric))


def over_time_sentence(
    name: str, first: float, last: float, runs: int, *, same_questions: bool = True
) -> str:
    """What the lines say about one model, and what the bands are. Scores 0..100.

    `same_questions` False: some of the runs asked other tests, or with other instructions.
    """
    bands = _tr("The bands show where the true score most likely lies.")
    old, new = formats.whole(first), formats.whole(last)
    if runs < 2:
        said = _tr("{name} had {new} of 100 in the only run so far.").format(name=name, new=new)
    elif old == new:
        said = _tr("{name} stayed at {new} over {runs} runs.").format(name=name, new=new, runs=runs)
    elif last > first:
        said = _tr("{name} rose from {old} to {new} over {runs} runs.").format(
            name=name, old=old, new=new, runs=runs
        )
    else:
        said = _tr("{name} fell from {old} to {new} over {runs} runs.").format(
            name=name, old=old, new=new, runs=runs
        )
    if runs > 1 and not same_questions:
        said = f"{said} {_tr('The runs did not all ask the same; the dashed lines say what changed.')}"
    return f"{said} {bands}"


def change_text(*, instructions: bool, tests_added: int) -> str:
    """What is different from one run to the next; empty where nothing is."""
    parts = []
    if instructions:
        parts.append(_tr("instructions changed"))
    if tests_added > 0:
        parts.append(_tr("1 test added") if tests_added == 1 else
                     _tr("{count} tests added").format(count=tests_added))  # fmt: skip
    elif tests_added < 0:
        parts.append(_tr("1 test fewer") if tests_added == -1 else
                     _tr("{count} tests fewer").format(count=-tests_added))  # fmt: skip
    return ", ".join(parts)

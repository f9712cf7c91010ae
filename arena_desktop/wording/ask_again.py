"""Asking single questions again, in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording.formats import counted


def _tr(text: str) -> str:
    return QCoreApplication.translate("AskAgain", text)


def asked_again(done: int, failed: int) -> tuple[str, str]:
    """What came of questions that were asked again: `done` were answered, `failed` not."""
    first = counted(
        done + failed, _tr("1 question was asked again."), _tr("{count} questions were asked again.")
    )
    if not done:
        return first, _tr("It was not answered. What was there before stays.") if failed == 1 else _tr(
            "None was answered. What was there before stays."
        )
    text = _tr(
        "An answer that was there goes on counting; the new one stands beside it. Where there was none,"
        " the new one counts."
    )
    if failed:
        text += " " + counted(failed, _tr("1 was not answered."), _tr("{count} were not answered."))
    return first, text


def ask_again_button(count: int) -> str:
    """The button or menu line."""
    return counted(count, _tr("Ask again"), _tr("Ask these {count} again"))


def ask_again_title(count: int) -> str:
    """The question before."""
    return counted(count, _tr("Ask this question again?"), _tr("Ask these {count} questions again?"))


def ask_again_text(answered: int, unanswered: int) -> str:
    """What happens to what is there: `answered` have an answer, `unanswered` have none."""
    parts = []
    if answered:
        parts.append(
            counted(
                answered,
                _tr("One has an answer, and that goes on counting. The new one can be seen beside it."),
                _tr("{count} have an answer, and that goes on counting. The new ones can be seen beside it."),
            )
        )
    if unanswered:
        parts.append(
            counted(
                unanswered,
                _tr("One has no answer yet; there the new one counts."),
                _tr("{count} have no answer yet; there the new ones count."),
            )
        )
    return " ".join(parts)


def ask_again_spoken(name: str) -> str:
    """The button below one model's answer, for a screen reader."""
    return _tr("Ask {model} again").format(model=name)


def versions_spoken(name: str) -> str:
    """The choice between the answers of one model."""
    return _tr("Which answer of {model}").format(model=name)


def version_name(place: int, count: int) -> str:
    """One of several answers to the same question. `place` 0 = the one that counts, then newest first."""
    if place == 0:
        return _tr("The answer that counts")
    if count == 2:
        return _tr("The other answer")
    return _tr("Other answer {number}").format(number=count - place)


def version_why(reason: str) -> str:
    """Why an answer that does not count got its mark."""
    return _tr("This answer does not count. {reason}").format(reason=reason).strip()


def do_not_ask() -> str:
    """The button that spends nothing."""
    return _tr("Do not ask")


def needs_project(name: str) -> str:
    """Asking needs the project with its keys and files."""
    return _tr("To ask again, open the project {name} first.").format(name=name)


def goes_on() -> str:
    """The run is being asked already."""
    return _tr("This run is being asked already, or waits for it.")


def goes_on_text() -> str:
    """What to do about it."""
    return _tr("Ask again when it has ended.")


def too_few(labels: Sequence[str]) -> str:
    """Models that got no place because of answers that are missing."""
    if len(labels) == 1:
        return _tr("{model} answered too few tests for a place.").format(model=labels[0])
    return _tr("{count} models answered too few tests for a place.").format(count=len(labels))


def missing_text(missing: int) -> str:
    """How many questions have no answer."""
    return counted(missing, _tr("1 question has no answer."), _tr("{count} questions have no answer."))


def ask_missing(missing: int) -> str:
    """The button that asks what is missing, and nothing else."""
    return counted(missing, _tr("Ask the missing one"), _tr("Ask the {count} missing ones"))

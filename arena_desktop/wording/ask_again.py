"""Asking single questions again, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording.run import counted


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
                _tr(
                    "Its first answer goes on counting. The new one stands beside it under Earlier and later"
                    " answers, and does not count."
                ),
                _tr(
                    "{count} have an answer, and that goes on counting. The new ones stand beside it under"
                    " Earlier and later answers, and do not count."
                ),
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

"""A step that wrote into a project's file, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.saving import save_text
from engine.config.text_files import TextFile


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written, and the text it had before: enough to take the step back.

    `also` are further files of the same step.
    """

    file: TextFile
    before: str
    also: tuple[Written, ...] = ()


def take_back(written: Written) -> None:
    """Gives each file the text it had before the step, unless it was changed since.

    Raises:
        UserError: `changed_on_disk`, `not_encodable`.
        WorldError: the file cannot be written.
    """
    for each in (written, *written.also):
        save_text(each.file, each.before)

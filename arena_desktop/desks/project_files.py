"""A step that wrote into a project's file, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.saving import save_text
from engine.config.text_files import TextFile


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written, and the text it had before: enough to take the step back."""

    file: TextFile
    before: str


def take_back(written: Written) -> None:
    """Gives a file the text it had before the step, unless it was changed since.

    Raises:
        UserError: `changed_on_disk`, `not_encodable`.
        WorldError: the file cannot be written.
    """
    save_text(written.file, written.before)

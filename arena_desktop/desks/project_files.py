"""A step that wrote into a project's file, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena_desktop.desks import edit_steps
from engine.config.saving import SavedFile


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written, and the text it had before: enough to take the step back.

    `also` are further files of the same step.
    """

    file: SavedFile
    before: str
    also: tuple[Written, ...] = ()

    def files(self) -> Iterator[SavedFile]:
        """Every file of the step."""
        yield self.file
        for other in self.also:
            yield from other.files()


def take_back(written: Written) -> None:
    """Gives each file the bytes it had before the step, unless one was changed since.

    Raises:
        UserError: `changed_on_disk`.
        WorldError: a file cannot be read or written.
    """
    edit_steps.take_back(edit_steps.file_edits(written.files()))

"""Answers to questions that were asked again although they have one: kept beside it, and not counted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from engine.domain import Cell
from engine.storage.recorder import Recorder
from engine.storage.records import AnswerWrite, DoneWrite, Write


class BesideRecorder(Recorder):
    """A recorder under which what is written of the cells `beside` leaves their counting answer alone."""

    def __init__(self, beside: Collection[Cell], *parts: Any) -> None:
        """`parts` are those of a Recorder."""
        super().__init__(*parts)
        self._beside = frozenset(beside)

    def submit(self, *writes: Write) -> None:
        """Writes to be committed together; safe from any thread."""
        if self._beside:
            writes = tuple(self._aside(write) for write in writes)
        super().submit(*writes)

    def _aside(self, write: Write) -> Write:
        if isinstance(write, AnswerWrite) and write.cell in self._beside:
            return replace(write, counts=False)
        if isinstance(write, DoneWrite) and write.done.cell in self._beside:
            return replace(write, counts=False)
        return write

"""What becomes of results that the store could not take: kept in memory until they are on a disk."""

from __future__ import annotations

from pathlib import Path

from engine.execution.opening import Opening
from engine.storage.recorder import Recorder

SAVE_AGAIN_S = 90.0
"""Longer than a recorder waits for a file that another program holds."""


def rescue(recorder: Recorder, opening: Opening, path: Path) -> int:
    """Saves the run with everything kept to another file; returns how many writes were saved.

    Raises the faults of that file, and then everything is kept as before.
    """
    saved = recorder.rescue(path, opening.head)
    close_store(recorder, opening)
    return saved


def save_again(recorder: Recorder, opening: Opening) -> bool:
    """Tries the usual place once more. True = everything is there now. Waits for the disk."""
    recorder.retry()
    saved = recorder.flush(SAVE_AGAIN_S)
    if saved:
        close_store(recorder, opening)
    return saved


def close_store(recorder: Recorder, opening: Opening) -> None:
    """Nothing is left to save."""
    recorder.close()
    opening.store.close()

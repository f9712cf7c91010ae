"""How large a dialog may be: as the design says, grown with the text, and never larger than the screen."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from arena_desktop.theme import scaled

_AIR = 80
"""Kept free for the frame of the window and the bars of the desktop."""


def resize_within_screen(dialog: QWidget, width: int, height: int) -> None:
    """Gives a top-level widget a size of the design, as far as its screen has room."""
    room = dialog.screen().availableGeometry()
    dialog.resize(min(scaled(width), room.width() - _AIR), min(scaled(height), room.height() - _AIR))

"""The error tree: whose fault it is decides how it is shown."""

from __future__ import annotations

from typing import Any


class ArenaError(Exception):
    """Base of every error this program raises on purpose.

    `code` is stable and is what the front end words; `details` carries the values for the
    sentence; `str(error)` is a plain English sentence for logs and the command line; `hint`
    says what to do.
    """

    def __init__(self, code: str, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details


class UserError(ArenaError):
    """Something the user gave cannot be used: a file, a value, a choice."""


class WorldError(ArenaError):
    """The world outside failed: disk, network, key store, a server."""


class Cancelled(ArenaError):  # noqa: N818 - stopping is not an error
    """The user stopped it. Never shown as a fault."""

    def __init__(self, message: str = "Stopped.") -> None:
        super().__init__("cancelled", message)

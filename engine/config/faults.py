"""Collects every fault of one file, so that all are reported together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from yaml.nodes import Node

from engine.config.values import column_of, line_of
from engine.domain import Problem, Severity


class Faults:
    """The problems of one file in the order they were found."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.items: list[Problem] = []

    def error(self, node: Node | None, path: str, code: str, message: str, fix: str = "") -> None:
        """Adds a fault that keeps the project from running."""
        self._add(Severity.ERROR, node, path, code, message, fix)

    def warning(self, node: Node | None, path: str, code: str, message: str, fix: str = "") -> None:
        """Adds something the user should know; the project runs all the same."""
        self._add(Severity.WARNING, node, path, code, message, fix)

    def _add(
        self, severity: Severity, node: Node | None, path: str, code: str, message: str, fix: str
    ) -> None:
        line, column = (None, None) if node is None else (line_of(node), column_of(node))
        self.items.append(Problem(severity, message, fix, self.file, line, column, path, code))


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name most like this one, None where none is."""
    close = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), 1, cutoff)
    return close[0] if close else None


def join(path: str, key: str | int) -> str:
    """A dotted path one step deeper: `models[2].params`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key

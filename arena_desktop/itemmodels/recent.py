"""The list of recent projects as records and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import (
    UNKNOWN,
    Cell,
    ChipCell,
    Column,
    IconTextCell,
    Link,
    LinksCell,
    ModelCell,
    Tone,
    TwoLineCell,
)
from arena_desktop.settings import RecentProject
from arena_desktop.wording.home import folder_words, used_moment, used_words


def _tr(text: str) -> str:
    return QCoreApplication.translate("RecentTable", text)


@dataclass(frozen=True, slots=True)
class Best:
    """What the newest result of a project says: a model with its place in the project, or a chip."""

    name: str = ""
    index: int | None = None
    passed: str = ""
    chip: str = ""

    @property
    def text(self) -> str:
        """All of it in words."""
        return self.chip or f"{self.name} {self.passed}".strip()


@dataclass(frozen=True, slots=True)
class RecentRow:
    """One project of the list. `found` False = its folder is not where it was."""

    path: str
    name: str
    place: str
    found: bool
    said: str
    used: datetime | None
    used_text: str
    best: Best | None = None


def recent_rows(
    projects: Iterable[RecentProject], found: Mapping[str, bool], best: Mapping[str, Best]
) -> list[RecentRow]:
    """The rows. A project that nobody has looked for yet counts as found."""
    return [
        RecentRow(
            item.path,
            item.name or Path(item.path).name,
            folder_words(Path(item.path)),
            found.get(item.path, True),
            item.best,
            used_moment(item.used_at),
            used_words(item.used_at),
            best.get(item.path),
        )
        for item in projects
    ]


def _second_line(row: RecentRow) -> str:
    if row.found:
        return row.place
    return _tr("Not found: {place}").format(place=row.place)


def _best_text(row: RecentRow) -> str:
    if not row.found:
        return UNKNOWN
    if row.best is not None:
        return row.best.text
    return row.said or _tr("Not run yet")


def _best_cell(row: RecentRow) -> Cell | None:
    if not row.found:
        return None
    if row.best is None:
        return IconTextCell("", _best_text(row))
    if row.best.chip:
        return ChipCell(row.best.chip, Tone.INFO, "compare")
    return ModelCell(row.best.name, row.best.index, row.best.passed)


def _links(row: RecentRow) -> LinksCell:
    if row.found:
        return LinksCell((Link("open", _tr("Open")),))
    return LinksCell((Link("find", _tr("Find it…")), Link("remove", _tr("Remove from list"))))


def recent_columns() -> list[Column[RecentRow]]:
    """Project with its folder, best so far, last used, what can be done."""
    return [
        Column(
            "name",
            _tr("Project"),
            lambda row: row.name,
            cell=lambda row: TwoLineCell(row.name, _second_line(row)),
            spoken=lambda row: f"{row.name}, {_second_line(row)}",
            tip=lambda row: row.path,
            width=360,
            minimum=180,
            stretch=1,
            can_hide=False,
        ),
        Column("best", _tr("Best so far"), _best_text, cell=_best_cell, width=260, minimum=140),
        Column(
            "used",
            _tr("Last used"),
            lambda row: row.used_text,
            sort=lambda row: row.used.timestamp() if row.used else None,
            tone="text2",
            width=140,
            minimum=100,
            drop=1,
        ),
        Column(
            "do",
            "",
            lambda row: ", ".join(link.text for link in _links(row).links),
            cell=_links,
            sortable=False,
            width=200,
            minimum=196,
        ),
    ]

"""A small made-up table that the tests of model and view share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from arena_desktop.cells import UNKNOWN, Align, ChipCell, Column, Link, ModelCell, ScoreCell, Tone
from arena_desktop.itemmodels.table import ColumnTable


@dataclass(frozen=True)
class Model:
    """A row."""

    key: str
    name: str
    score: float | None
    cost: float | None = 1.0
    note: str = ""
    chosen: bool = False
    out: bool = False


ROWS = (
    Model("a", "Alpha", 88.0, 0.42),
    Model("b", "Beta", None, None, note="No key"),
    Model("c", "Gamma", 91.0, 0.10),
    Model("d", "Delta", 70.0, 2.00, out=True),
)


def spoken_score(row: Model) -> str:
    """As a screen reader says it."""
    return f"Overall score {row.score:.0f} of 100" if row.score is not None else "not measured"


def columns(table: list[ColumnTable[Model]] | None = None) -> list[Column[Model]]:
    """Five columns with everything a column can have. `table` receives edits."""

    def put(row: Model, value: object) -> bool:
        if not str(value).strip():
            return False
        table[0].replace(replace(row, note=str(value)))
        return True

    def check(row: Model, on: bool) -> None:
        table[0].replace(replace(row, chosen=on))

    def note(row: Model) -> ChipCell | None:
        return ChipCell(row.note, Tone.NEUTRAL, links=(Link("add_key", "Add key…"),)) if row.note else None

    return [
        Column(
            "use",
            "",
            lambda row: "",
            checked=lambda row: row.chosen,
            check=check if table is not None else None,
            width=48,
            sortable=False,
        ),
        Column(
            "model",
            "Model",
            lambda row: row.name,
            cell=lambda row: ModelCell(row.name, 0),
            stretch=1,
            width=200,
            can_hide=False,
        ),
        Column(
            "score",
            "Overall score",
            lambda row: f"{row.score:.0f}" if row.score is not None else UNKNOWN,
            cell=lambda row: ScoreCell(row.score, text=UNKNOWN if row.score is None else f"{row.score:.0f}"),
            sort=lambda row: row.score,
            spoken=spoken_score,
            align=Align.RIGHT,
        ),
        Column(
            "cost",
            "Cost per 100",
            lambda row: f"${row.cost:.2f}" if row.cost is not None else UNKNOWN,
            sort=lambda row: row.cost,
            align=Align.RIGHT,
            drop=1,
        ),
        Column("note", "Note", lambda row: row.note, cell=note, put=put if table is not None else None),
    ]


def make_table(rows: tuple[Model, ...] = ROWS) -> ColumnTable[Model]:
    """A model over the rows, editable."""
    holder: list[ColumnTable[Model]] = []
    holder.append(ColumnTable(columns(holder), rows, key=lambda row: row.key, muted=lambda row: row.out))
    return holder[0]

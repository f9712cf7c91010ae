"""The result of a blind duel as a table: who is preferred how often."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Align, Column, ModelCell, ScoreCell
from arena_desktop.wording import formats
from arena_desktop.wording.duel import chance_text, range_text
from engine.stats.duels import Preference


def _tr(text: str) -> str:
    return QCoreApplication.translate("DuelTable", text)


@dataclass(frozen=True, slots=True)
class DuelRow:
    """One model in the votes. `index` is its number in the project."""

    name: str
    index: int
    preference: Preference

    @property
    def met(self) -> int:
        """How many votes it was in."""
        return self.preference.wins + self.preference.losses + self.preference.ties


def _score(row: DuelRow) -> ScoreCell:
    found = row.preference
    low, high = found.interval.low * 100, found.interval.high * 100
    return ScoreCell(found.chance * 100, low, high, chance_text(found))


def _spoken(row: DuelRow) -> str:
    return _tr("Preferred {chance} of 100 times, likely {range}").format(
        chance=chance_text(row.preference), range=range_text(row.preference)
    )


def duel_columns() -> list[Column[DuelRow]]:
    """Model, chance with its range, votes won, lost and the same."""
    return [
        Column(
            "model",
            _tr("Model"),
            lambda row: row.name,
            cell=lambda row: ModelCell(row.name, row.index),
            minimum=160,
        ),
        Column(
            "chance",
            _tr("Preferred, of 100"),
            lambda row: chance_text(row.preference),
            cell=_score,
            sort=lambda row: row.preference.chance,
            spoken=_spoken,
            width=300,
            stretch=1,
        ),
        Column(
            "range",
            _tr("Likely between"),
            lambda row: range_text(row.preference),
            sort=lambda row: row.preference.interval.low,
            align=Align.RIGHT,
        ),
        _count("wins", _tr("Won"), lambda row: row.preference.wins),
        _count("losses", _tr("Lost"), lambda row: row.preference.losses),
        _count("ties", _tr("The same"), lambda row: row.preference.ties),
    ]


def _count(name: str, title: str, figure: object) -> Column[DuelRow]:
    return Column(
        name,
        title,
        lambda row: formats.whole(figure(row)),  # type: ignore[operator]
        sort=figure,  # type: ignore[arg-type]
        align=Align.RIGHT,
    )

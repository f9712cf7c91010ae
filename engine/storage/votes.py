"""A person's own judgement in the store: thumbs and scores of answers, and blind votes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from engine.domain import Cell
from engine.storage import codec, housekeeping

CHOICES = ("left", "right", "tie", "skip")
MARKS = ("good", "bad")


@dataclass(frozen=True, slots=True)
class OwnMark:
    """What a person thinks of an answer: good or bad, and a score 0..1 where one was given."""

    cell: Cell
    mark: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class StoredVote:
    """One blind choice between two answers to one case. `choice` is left, right, tie or skip.

    `vote_id` is made by the asker, so that a vote can be taken back before it is stored.
    """

    vote_id: str
    left: Cell
    right: Cell
    choice: str
    at: datetime


_CELL = "m.model_key, k.case_id, c.trial"

_JOINED = "JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case"

_VOTES = """SELECT v.vote_id, lm.model_key, lk.case_id, lc.trial, rm.model_key, rk.case_id, rc.trial,
        v.choice, v.at
    FROM votes v
    JOIN cells lc ON lc.id = v.left_cell JOIN run_models lm ON lm.id = lc.model
    JOIN run_cases lk ON lk.id = lc.run_case
    JOIN cells rc ON rc.id = v.right_cell JOIN run_models rm ON rm.id = rc.model
    JOIN run_cases rk ON rk.id = rc.run_case
    WHERE v.run = ? ORDER BY v.id"""


def put_mark(connection: sqlite3.Connection, cell: int, mark: str | None, score: float | None) -> None:
    """Sets or takes away a person's mark of one answer.

    Raises ValueError for another word than `good`, `bad` or None, or a score outside 0..1.
    """
    if mark not in (*MARKS, None):
        raise ValueError(f"a mark is good, bad or None, not {mark!r}")
    if score is not None and (mark is None or not 0.0 <= score <= 1.0):
        raise ValueError(f"a score is within 0..1 and stands beside a mark, not {score!r}")
    connection.execute("UPDATE cells SET mark = ?, mark_score = ? WHERE id = ?", (mark, score, cell))


def own_marks(connection: sqlite3.Connection, run: int) -> list[OwnMark]:
    """All marks that a person gave in one run, in plan order."""
    rows = connection.execute(
        f"""SELECT {_CELL}, c.mark, c.mark_score FROM cells c {_JOINED}
        WHERE c.run = ? AND c.mark IS NOT NULL ORDER BY c.id""",  # noqa: S608 - constants only
        (run,),
    )
    return [OwnMark(Cell(key, case, trial), mark, score) for key, case, trial, mark, score in rows]


def add(connection: sqlite3.Connection, run: int, vote: StoredVote) -> None:
    """Enters a vote, once. Raises ArenaError `cell_unknown`; ValueError for an unknown choice."""
    if vote.choice not in CHOICES:
        raise ValueError(f"a choice is one of {', '.join(CHOICES)}, not {vote.choice!r}")
    cells = [housekeeping.cell_row(connection, run, cell) for cell in (vote.left, vote.right)]
    connection.execute(
        """INSERT OR IGNORE INTO votes (run, vote_id, left_cell, right_cell, choice, at)
        VALUES (?, ?, ?, ?, ?, ?)""",
        (run, vote.vote_id, *cells, vote.choice, codec.time_text(vote.at)),
    )


def withdraw(connection: sqlite3.Connection, run: int, vote_id: str) -> bool:
    """Takes a vote back; False where it is not there."""
    return connection.execute("DELETE FROM votes WHERE run = ? AND vote_id = ?", (run, vote_id)).rowcount > 0


def of_run(connection: sqlite3.Connection, run: int) -> list[StoredVote]:
    """The votes of a run in the order they were given."""
    return [
        StoredVote(vote_id, Cell(*row[:3]), Cell(*row[3:6]), row[6], codec.time_value(row[7]))
        for vote_id, *row in connection.execute(_VOTES, (run,))
    ]

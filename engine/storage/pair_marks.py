"""What a judge said of pairs of models, read from the marks that count now."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from engine.domain import Cell


@dataclass(frozen=True, slots=True)
class StoredPair:
    """One comparison as the mark of one of the two tells it. `result` is win, tie or loss of `cell`.

    `check` is the place of the check in its test, so that two checks are not taken for one. `votes`
    are verdicts in both orders, 0 where nobody had to be asked; `flips` those that the order decided.
    """

    cell: Cell
    rival: str
    check: int
    result: str
    votes: int
    flips: int


# Taking checks apart is slow: only those that hold the word at all.
_STATEMENT = """SELECT m.model_key, k.case_id, c.trial, j.key, json_extract(j.value, '$.detail.pairs')
    FROM cells c JOIN scores s ON s.id = c.current_score
    JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case, json_each(s.checks) j
    WHERE c.run = ? AND instr(s.checks, '"pairs"') > 0
        AND json_extract(j.value, '$.type') = 'pairwise_judge'
        AND json_type(j.value, '$.detail.pairs') = 'array'
    ORDER BY c.id, j.key"""


def judged_pairs(connection: sqlite3.Connection, run: int) -> list[StoredPair]:
    """All comparisons of a run, each once, in plan order."""
    found: dict[object, StoredPair] = {}
    for key, case_id, trial, check, pairs in connection.execute(_STATEMENT, (run,)):
        for pair in _read(Cell(key, case_id, trial), int(check), pairs):
            found.setdefault((case_id, trial, pair.check, frozenset((key, pair.rival))), pair)
    return list(found.values())


def _read(cell: Cell, check: int, text: str) -> Iterator[StoredPair]:
    for told in json.loads(text):
        if isinstance(told, dict) and told.get("result") in ("win", "tie", "loss"):
            votes = told.get("votes") or []
            yield StoredPair(
                cell, str(told["rival"]), check, told["result"], len(votes), int(told.get("flips") or 0)
            )

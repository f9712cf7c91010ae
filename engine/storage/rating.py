"""What a rater (checks of some types, or the checks as a whole) said of a run's answers, counted by SQLite.

A person marks a few answers of very many. Of the others only how many passed matters, so they are
counted where they lie instead of being read one by one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from engine.domain import Cell


@dataclass(frozen=True, slots=True)
class Rated:
    """`counts`: passed and rated answers by model key, in project order. `marked`: whether the rater
    passed each answer that a person marked too."""

    counts: Mapping[str, tuple[int, int]]
    marked: Mapping[Cell, bool]


# One answer may have several checks of the types: it passes where all of them do. That an answer is
# better than other models' answers does not say that it is good.
_BY_TYPES = """SELECT c.id AS id, c.model AS model, min(json_extract(j.value, '$.passed')) AS passed
    FROM cells c JOIN scores s ON s.id = c.current_score, json_each(s.checks) j
    WHERE c.run = ? AND ({looks}) AND json_extract(j.value, '$.type') IN ({types})
        AND json_extract(j.value, '$.state') = 'scored' AND json_type(j.value, '$.detail.pairs') IS NULL
    GROUP BY c.id"""

_AS_A_WHOLE = """SELECT c.id AS id, c.model AS model, c.passed AS passed FROM cells c
    WHERE c.run = ? AND c.score_state = 'scored' AND c.id NOT IN (SELECT id FROM ({left_out}))"""

# Answers without a mark are one group for each model, those with one are groups of their own.
_COUNTED = """SELECT m.model_key, sum(coalesce(r.passed, 0)), count(*), k.case_id, c.trial, c.mark
    FROM ({rated}) r JOIN cells c ON c.id = r.id JOIN run_models m ON m.id = c.model
    JOIN run_cases k ON k.id = c.run_case
    GROUP BY m.position, CASE WHEN c.mark IS NULL THEN 0 ELSE c.id END ORDER BY m.position"""


def rated_by(connection: sqlite3.Connection, run: int, types: tuple[str, ...]) -> Rated:
    """What the checks of these types said; answers that they did not score are left out."""
    statement, values = _by_types(run, types)
    return _counted(connection, statement, values)


def rated_as_a_whole(connection: sqlite3.Connection, run: int, without: tuple[str, ...]) -> Rated:
    """What all checks together said, answers left out that a check of the types `without` scored."""
    left_out, values = _by_types(run, without)
    return _counted(connection, _AS_A_WHOLE.format(left_out=left_out), (run, *values))


def _by_types(run: int, types: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
    # Taking checks apart is slow: only those that hold the word at all.
    looks = " OR ".join("instr(s.checks, ?) > 0" for _ in types)
    statement = _BY_TYPES.format(looks=looks, types=", ".join("?" * len(types)))
    return statement, (run, *[f'"{name}"' for name in types], *types)


def _counted(connection: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> Rated:
    counts: dict[str, tuple[int, int]] = {}
    marked: dict[Cell, bool] = {}
    for key, passed, rated, case, trial, mark in connection.execute(_COUNTED.format(rated=statement), values):
        before = counts.get(key, (0, 0))
        counts[key] = (before[0] + passed, before[1] + rated)
        if mark is not None:
            marked[Cell(key, case, trial)] = bool(passed)
    return Rated(counts, marked)

"""What the second version of the store adds: a person's scores beside the thumbs, and blind votes.

The cells of a vote are not declared as references, as those of a cell to its model and case are
not: a vote goes with its run.
"""

from __future__ import annotations

STATEMENTS: tuple[str, ...] = (
    "ALTER TABLE cells ADD COLUMN mark_score REAL",
    """CREATE TABLE votes (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        vote_id TEXT NOT NULL UNIQUE,
        left_cell INTEGER NOT NULL,
        right_cell INTEGER NOT NULL,
        choice TEXT NOT NULL CHECK (choice IN ('left', 'right', 'tie', 'skip')),
        at TEXT NOT NULL
    )""",
    "CREATE INDEX votes_of_run ON votes (run)",
)

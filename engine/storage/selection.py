"""Which calls are meant and in which order, as SQL. Every value is bound, never spelled."""

from __future__ import annotations

import json

from engine.storage.rows import CallFilter, CallOrder

_ORDERS = {
    "plan": "c.id",
    "model": "m.position",
    "case": "k.position",
    "trial": "c.trial",
    "status": "c.status",
    "outcome": "c.outcome",
    "score": "c.score",
    "latency": "c.latency_ms",
    "cost": "CAST(c.cost_usd AS REAL)",
    "tokens": "c.input_tokens + c.output_tokens",
    "attempts": "c.attempts",
}

_JOINS = {
    "model": "JOIN run_models m ON m.id = c.model",
    "case": "JOIN run_cases k ON k.id = c.run_case",
}

_DIFFERING = """c.run_case IN (
    SELECT run_case FROM (
        SELECT run_case, model, avg(passed) >= 0.5 AS right FROM cells
        WHERE run = ? AND passed IS NOT NULL GROUP BY run_case, model)
    GROUP BY run_case HAVING min(right) <> max(right))"""

# The question is looked for in the case as it was stored: input, messages, reference.
_WITH_TEXT = """(c.error_message LIKE ? ESCAPE '\\'
    OR c.run_case IN (
        SELECT k.id FROM run_cases k JOIN case_contents t ON t.id = k.content
        WHERE k.run = ? AND (k.case_id LIKE ? ESCAPE '\\' OR EXISTS (
            SELECT 1 FROM json_tree(t.content) j WHERE j.type = 'text' AND j.atom LIKE ? ESCAPE '\\'
            AND (j.path = '$' AND j.key = 'input' OR j.key = 'content' AND j.path LIKE '$.messages%'
                OR j.fullkey LIKE '$.reference%'))))
    OR EXISTS (SELECT 1 FROM answers t WHERE t.id = c.answer AND t.text LIKE ? ESCAPE '\\'))"""


def condition(run: int, chosen: CallFilter) -> tuple[str, list[object]]:
    """The WHERE clause over `cells c` for the calls that pass the filter, with its values."""
    clauses, values = _named(run, chosen)
    for column, words in (("c.status", chosen.statuses), ("c.outcome", chosen.outcomes)):
        if words:
            clauses.append(f"{column} IN ({_marks(words)})")
            values += [word.value for word in words]
    if chosen.state is not None:
        clauses.append("c.score_state = ?")
        values.append(chosen.state.value)
    if chosen.passed is not None:
        clauses.append("c.passed = ?")
        values.append(int(chosen.passed))
    if chosen.marked:
        clauses.append("c.mark IS NOT NULL")
    if chosen.differ:
        clauses.append(_DIFFERING)
        values.append(run)
    if chosen.text:
        pattern = _pattern(chosen.text)
        clauses.append(_WITH_TEXT)
        values += [pattern, run, pattern, pattern, pattern]
    return " AND ".join(clauses), values


_MODELS = "SELECT id FROM run_models WHERE run = ?"
_KEYS = " AND model_key IN (SELECT value FROM json_each(?))"
_OF_CASES = """c.id IN (SELECT id FROM cells WHERE run = ? AND model IN ({models}) AND run_case IN (
    SELECT id FROM run_cases WHERE run = ? AND case_id IN (SELECT value FROM json_each(?))))"""


def _named(run: int, chosen: CallFilter) -> tuple[list[str], list[object]]:
    """The run, its models and cases. Cases are looked up by the index of cells, model by model: a run
    may hold 100,000 cells and a case only a few of them."""
    models: list[object] = [run, json.dumps(chosen.models)] if chosen.models else [run]
    inner = _MODELS + _KEYS if chosen.models else _MODELS
    if chosen.cases:
        return [_OF_CASES.format(models=inner)], [run, *models, run, json.dumps(chosen.cases)]
    if chosen.models:
        return ["c.run = ?", f"c.model IN ({inner})"], [run, *models]
    return ["c.run = ?"], [run]


def ordering(order: CallOrder) -> tuple[str, str]:
    """The joins and the ORDER BY clause; unknown values last, equal ones in plan order.

    Raises ValueError for a key that does not exist.
    """
    if order.by not in _ORDERS:
        raise ValueError(f"there is no order by {order.by!r}; known are {', '.join(_ORDERS)}")
    term = _ORDERS[order.by]
    direction = "DESC" if order.descending else "ASC"
    if order.by == "plan":
        return "", f"{term} {direction}"
    return _JOINS.get(order.by, ""), f"{term} IS NULL, {term} {direction}, c.id"


def _marks(values: tuple[object, ...]) -> str:
    return ", ".join("?" * len(values))


def _pattern(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"

"""The form of a judge's reply as a JSON schema, for services that can keep to one.

Only what every vendor takes: no ranges (the scale is in the words), every key required, none more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from engine.scoring.seams import JudgeRequest

_REASON = {"type": "string"}


def reply_schema(request: JudgeRequest) -> Mapping[str, Any] | None:
    """What the reply to a question must look like; None where own code asks in its own words."""
    if request.purpose == "pair":
        return _object({"winner": {"type": "string", "enum": ["A", "B", "tie"]}, "reason": _REASON})
    if request.purpose != "mark":
        return None
    fields: dict[str, Any] = {"pass": {"type": "boolean"}, "score": {"type": "number"}, "reason": _REASON}
    if request.criteria:
        fields["criteria"] = _object({name: {"type": "number"} for name in request.criteria})
    return _object(fields)


def sent_texts(request: JudgeRequest) -> tuple[str, ...]:
    """All texts of a request that a service reads, and charges for."""
    schema = reply_schema(request)
    form = () if schema is None else (json.dumps(schema, ensure_ascii=False),)
    return (request.system, request.prompt, *form)


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }

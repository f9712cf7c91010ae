"""What `params` may hold: anything a service knows, but not what this program itself answers for.

Which model is asked, with which messages, how long the answer may be and how many answers are paid
for decide fingerprints, prices and reservations. A parameter that changed them behind their back
would break the ceiling of a run, so they are read here or refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaml.nodes import MappingNode, Node

from engine.config.faults import Faults, join
from engine.config.values import pairs, to_value

# Names of the longest answer, in any service's spelling.
LENGTH_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
# What a call sets itself, from settings that have a place of their own.
OWN_NAMES = ("system", "temperature", *LENGTH_NAMES)
_ONE_ANSWER = ("n", "best_of", "candidate_count", "candidateCount")
_SAID_ELSEWHERE: Mapping[str, str] = {
    "model": "Write it as the entry's `model`.",
    "messages": "Messages belong into the test cases.",
    "contents": "Messages belong into the test cases.",
}


def longest_answer(params: Mapping[str, Any]) -> int | None:
    """The limit of the answer's length that params name; None where they name none."""
    given = [params[name] for name in LENGTH_NAMES if params.get(name) is not None]
    return max(given) if given else None


def without_own(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that go to the service as they are written."""
    return {name: value for name, value in params.items() if name not in OWN_NAMES}


def check_params(owner: Node | None, path: str, faults: Faults) -> None:
    """Reports what the `params` of a block may not hold."""
    block = next((value for key, value in pairs(owner) if key.value == "params"), None) if owner else None
    if not isinstance(block, MappingNode):
        return
    for key, node in pairs(block):
        reason, fix = _fault(key.value, to_value(node))
        if reason:
            faults.error(node, join(join(path, "params"), key.value), "bad_param", reason, fix)


def _fault(name: str, value: Any) -> tuple[str, str]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None:
        return "", ""
    if name in _SAID_ELSEWHERE:
        return f"`params` cannot replace `{name}`: prices and limits would not hold.", _SAID_ELSEWHERE[name]
    if name in _ONE_ANSWER and value != 1:
        return f"`{name}` asks for several answers at once, of which one is used.", "Use `trials` instead."
    if name in LENGTH_NAMES and not (number and isinstance(value, int) and value >= 1):
        return f"`{name}` must be a whole number, 1 or more.", "Change the value."
    if name == "temperature" and not (number and value >= 0):
        return "`temperature` must be a number, 0 or more.", "Change the value."
    if name == "system" and not isinstance(value, str):
        return "`system` must be text.", "Put it in quotes."
    return "", ""

"""Types and ranges: the annotations of the records, checked by pydantic, worded by us.

What fits is nearly everything and is told without pydantic, whose import and preparation take
longer than reading a whole project. It judges, and gives the reason, wherever that is not plain.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Interval, Le, Lt
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.values import scalar_value

LARGEST = 2**63 - 1
"""The largest whole number that a history file and the services take."""


@functools.cache
def _adapter(annotation: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(annotation)


def check_range(annotation: Any, value: Any) -> tuple[Any, str]:
    """The value as the annotation wants it, and "" or why it does not fit."""
    if _plainly_fits(annotation, value):
        return value, ""
    from pydantic import ValidationError

    try:
        found = _adapter(annotation).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return None, _sentence(first["type"], first.get("ctx", {}))
    if type(found) is int and abs(found) > LARGEST:
        return None, "is a number larger than any that can be used"
    return found, ""


def _plainly_fits(annotation: Any, value: Any) -> bool:
    """True only where pydantic would give the value back as it is."""
    base: Any = annotation
    marks: list[Any] = []
    if get_origin(annotation) is Annotated:
        base, *marks = get_args(annotation)
    if get_origin(base) is Literal:
        return not marks and type(value) is str and value in get_args(base)
    if type(value) is not base or base not in (bool, int, float, Decimal):
        return False
    usable = abs(value) <= LARGEST if base is int else Decimal(value).is_finite()
    return usable and all(_within(item, value) for item in marks)


def _within(mark: Any, value: Any) -> bool:
    match mark:
        case Ge(limit):
            return bool(value >= limit)
        case Gt(limit):
            return bool(value > limit)
        case Le(limit):
            return bool(value <= limit)
        case Lt(limit):
            return bool(value < limit)
        case Interval():
            return all(_within(part, value) for part in mark)
    return False


def _sentence(kind: str, ctx: Mapping[str, Any]) -> str:
    limits = {
        "greater_than_equal": "must be {ge} or more",
        "greater_than": "must be more than {gt}",
        "less_than_equal": "must be at most {le}",
        "less_than": "must be less than {lt}",
        "literal_error": "must be one of {expected}",
    }
    plain = {
        "int": "must be a whole number",
        "float": "must be a number",
        "decimal": "must be a number",
        "bool": "must be true or false",
        "is": "must be a number",
    }
    if kind in limits:
        return limits[kind].format(**{name: _short(value) for name, value in ctx.items()})
    return plain.get(kind.split("_")[0], "has a value of the wrong kind")


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).replace("'", "`")


def kind_words(base: Any) -> str:
    """What a value of this type is called."""
    if get_origin(base) is Literal:
        return "one of " + ", ".join(f"`{item}`" for item in get_args(base))
    words = {
        int: "a whole number",
        float: "a number",
        Decimal: "a number",
        bool: "true or false",
        str: "text",
    }
    return words.get(base, "a value of another kind")


def got(node: Node) -> str:
    """What stands there instead, short enough for a sentence."""
    if isinstance(node, MappingNode):
        return "a block of settings"
    if isinstance(node, SequenceNode):
        return "a list"
    if not isinstance(node, ScalarNode):
        return "something else"
    text = node.value if len(node.value) <= 40 else node.value[:40] + "…"
    return f"the text `{text}`" if isinstance(scalar_value(node), str) else f"`{text}`"


def fix_for(reason: str, node: Node) -> str:
    """What to do about a value that does not fit."""
    if "true or false" in reason:
        return "Write true or false."
    if "number" in reason and isinstance(node, ScalarNode) and node.style in ('"', "'"):
        return "Write the number without quotes."
    if "block" in reason:
        return "Put its settings on lines of their own below it, indented."
    return "Change the value."

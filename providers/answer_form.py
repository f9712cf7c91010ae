"""The form that an answer must have: a JSON schema, asked for in each vendor's own way.

A service that refuses it is asked again without, so a question that uses it must say in words too
what form it wants.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NAME = "reply"
LEFT_OUT: tuple[str, Mapping[str, Any]] = ("form_left_out", {})
"""Note of an answer that was asked for without its form."""

_REFUSED = re.compile(
    r"response[_ ]?(format|schema|json_?schema|mime)|json[_ -]?(schema|mode)|structured"
    r"|output_(config|format)|grammar|guided|\bschema\b",
    re.IGNORECASE,
)


class Form(dict[str, Any]):
    """A schema that was asked for by `Request.answer_schema`, so that it can be told from a project's own."""


def ask_chat(body: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """As the chat services want it; a project's own form goes first."""
    form = {"name": NAME, "strict": True, "schema": Form(schema)}
    body.setdefault("response_format", {"type": "json_schema", "json_schema": form})


def ask_anthropic(body: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """As Anthropic wants it, beside what else the project says about the output."""
    own = body.get("output_config")
    said = dict(own) if isinstance(own, Mapping) else {}
    said.setdefault("format", {"type": "json_schema", "schema": Form(schema)})
    body["output_config"] = said


def holds(body: Mapping[str, Any]) -> bool:
    """Whether a body asks for a form of ours."""
    return _chat_form(body) or _anthropic_form(body)


def leave_out(body: dict[str, Any]) -> bool:
    """Takes our form out of a body; True where it was there."""
    if _chat_form(body):
        del body["response_format"]
        return True
    if _anthropic_form(body):
        said = {name: value for name, value in body["output_config"].items() if name != "format"}
        if said:
            body["output_config"] = said
        else:
            del body["output_config"]
        return True
    return False


def is_refused(status: int | None, message: str) -> bool:
    """Whether a refusal means the form."""
    return status in (400, 422) and _REFUSED.search(message) is not None


def _chat_form(body: Mapping[str, Any]) -> bool:
    return isinstance(_inside(body, "response_format", "json_schema", "schema"), Form)


def _anthropic_form(body: Mapping[str, Any]) -> bool:
    return isinstance(_inside(body, "output_config", "format", "schema"), Form)


def _inside(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value

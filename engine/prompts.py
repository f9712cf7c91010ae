"""From a case and a model entry to what is sent: template filled, settings resolved, fingerprinted.

Values are inserted as they are: no expressions, no code, and what a value contains is never
read as a template again.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from providers.base import Message
from providers.registry import KINDS

from engine.config.call_params import longest_answer, without_own
from engine.config.canonical import digest
from engine.config.faults import nearest
from engine.config.loading import Place
from engine.config.schema import Config, Connection, ModelEntry
from engine.domain import Case, Problem, Severity
from engine.errors import UserError

# `{{{{` first: it is the way to write a literal `{{`.
_PLACEHOLDER = re.compile(r"\{\{\{\{|\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}")
_SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything of a call that decides its answer. `params` has no system, max_tokens, temperature."""

    messages: tuple[Message, ...]
    system: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


@functools.lru_cache(maxsize=256)
def placeholders(template: str) -> tuple[str, ...]:
    """The names a template asks for, each once, in order."""
    names = (match.group(1) for match in _PLACEHOLDER.finditer(template))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def template_of(entry: ModelEntry, config: Config) -> str | None:
    """The template that applies to an entry; None = the input is sent as it is."""
    return config.defaults.prompt if entry.prompt is None else entry.prompt


def find_variable(name: str, case: Case) -> tuple[bool, Any]:
    """Whether a case knows a name, and its value. Upper and lower case only matter if they must."""
    if name == "input" and case.input:
        return True, case.input
    if name in case.vars:
        return True, case.vars[name]
    folded = name.casefold()
    matches = [key for key in case.vars if key.strip().casefold() == folded]
    if case.input and folded == "input":
        matches.append("input")
    if len(matches) != 1:
        return False, None
    return True, case.input if matches[0] == "input" and case.input else case.vars[matches[0]]


def fill(template: str, case: Case) -> str:
    """The template with the case's values.

    Raises:
        UserError: `undefined_variable`, the case does not know a name.
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "{{"
        known, found = find_variable(name, case)
        if not known:
            raise UserError(
                "undefined_variable",
                f"The prompt asks for `{{{{{name}}}}}`, which the test `{case.id}` does not have.",
                hint=_advice(name, [case]),
                name=name,
                case_ids=(case.id,),
            )
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    return _PLACEHOLDER.sub(value, template)


def question(case: Case, template: str | None) -> str:
    """The one message a case without fixed messages becomes."""
    return case.input if template is None else fill(template, case)


def build_prompt(case: Case, entry: ModelEntry, config: Config) -> Prompt:
    """What is sent for a case to an entry: the case goes before the entry, the entry before the defaults.

    Raises:
        UserError: `undefined_variable`.
    """
    params = merged_params(entry, config)
    system = _first(case.context, entry.system, params.get("system"), config.defaults.system)
    messages = case.messages
    if messages is None:
        messages = (Message("user", question(case, template_of(entry, config))),)
    else:
        own = [turn.content for turn in messages if turn.role == "system"]
        # Fixed messages with instructions of their own need no others.
        system = case.context or ("\n\n".join(own) if own else system)
        messages = tuple(turn for turn in messages if turn.role != "system")
    defaults = config.defaults
    return Prompt(
        messages=messages,
        system=system or None,
        max_tokens=_first(case.max_tokens, entry.max_tokens, longest_answer(params), defaults.max_tokens),
        temperature=_first(
            case.temperature, entry.temperature, params.get("temperature"), defaults.temperature
        ),
        params=without_own(params),
    )


def merged_params(entry: ModelEntry, config: Config) -> dict[str, Any]:
    """Parameters in the order defaults, connection, entry; later ones win."""
    connection = next((item for item in config.connections if item.id == entry.provider), None)
    return {**config.defaults.params, **(connection.params if connection else {}), **entry.params}


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def cell_fingerprint(prompt: Prompt, entry: ModelEntry, connection: Connection, case: Case) -> str:
    """Hex SHA-256 over all that decides an answer, the same in every run that would ask the same.

    Checks, weights, limits and labels are not part of it. The reference is, where the model
    itself gets to see it: the practice model, and own code that asks for it.
    """
    sees_reference = connection.kind == "mock" or (connection.kind == "callable" and entry.pass_reference)
    return digest(
        [
            connection.model_prefix,
            entry.model,
            entry.run,
            connection.kind,
            host_of(entry, connection),
            prompt.system,
            [[turn.role, turn.content] for turn in prompt.messages],
            prompt.params,
            prompt.max_tokens,
            prompt.temperature,
            case.images,
            case.files,
            [case.id, case.reference] if sees_reference else None,
        ]
    )


def host_of(entry: ModelEntry, connection: Connection) -> str:
    """Host and port that a call goes to; empty for kinds that go nowhere."""
    info = KINDS.get(connection.kind)
    url = entry.api_base or connection.base_url or (info.default_base_url if info else None) or ""
    return urlsplit(url).netloc.rsplit("@", 1)[-1].lower()


def undefined_in(
    cases: Sequence[Case], config: Config, file: str = "", places: Mapping[str, Place] | None = None
) -> list[Problem]:
    """One problem per template and name that some cases do not have, listing their ids."""
    problems = []
    for template, path in _templates(config):
        place = (places or {}).get(path)
        for name in placeholders(template):
            without = [case for case in cases if case.messages is None and not find_variable(name, case)[0]]
            if without:
                problems.append(_problem(name, without, file, place))
        if not placeholders(template) and len({case.input for case in cases if case.messages is None}) > 1:
            problems.append(
                Problem(
                    Severity.WARNING,
                    "The prompt has no `{{input}}`, so every test asks the same.",
                    "Put `{{input}}` where the test's text belongs.",
                    file,
                    place.line if place else None,
                    place.column if place else None,
                    place.path if place else path,
                    "prompt_without_input",
                )
            )
    return problems


def _templates(config: Config) -> Iterable[tuple[str, str]]:
    enabled = [entry for entry in config.models if entry.enabled]
    if config.defaults.prompt is not None and any(entry.prompt is None for entry in enabled):
        yield config.defaults.prompt, "defaults.prompt"
    for entry in enabled:
        if entry.prompt is not None:
            yield entry.prompt, f"models.{entry.key}"


def _problem(name: str, cases: Sequence[Case], file: str, place: Place | None) -> Problem:
    shown = ", ".join(case.id for case in cases[:_SHOWN_IDS])
    more = len(cases) - _SHOWN_IDS
    ids = f"{shown} and {more} more" if more > 0 else shown
    count = "1 test" if len(cases) == 1 else f"{len(cases)} tests"
    return Problem(
        Severity.ERROR,
        f"The prompt asks for `{{{{{name}}}}}`, which {count} do not have: {ids}."
        if len(cases) > 1
        else f"The prompt asks for `{{{{{name}}}}}`, which {count} does not have: {ids}.",
        _advice(name, cases),
        file,
        place.line if place else None,
        place.column if place else None,
        place.path if place else "",
        "undefined_variable",
    )


def _advice(name: str, cases: Sequence[Case]) -> str:
    known = dict.fromkeys(key for case in cases for key in case.vars)
    if any(case.input for case in cases):
        known["input"] = None
    folded = [key for key in known if key.casefold() == name.casefold()]
    if len(folded) > 1:
        return f"Several names fit: {', '.join(f'`{key}`' for key in folded)}. Write it exactly."
    close = nearest(name, known)
    if close is not None:
        return f"Did you mean `{{{{{close}}}}}`?"
    if known:
        listed = ", ".join(f"`{key}`" for key in list(known)[:8])
        return f"Known names are {listed}. A literal `{{{{` is written `{{{{{{{{`."
    return "Give the tests a `vars` entry of that name."

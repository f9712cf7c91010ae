"""Parameters a model or server refuses: left out or replaced once, remembered, and said.

A fix is learned from the refusal itself, so that no list of model names has to be kept.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from providers import answer_form
from providers.base import ProviderError, Reply
from providers.chat import Note
from providers.refusals import Refusal

_MOST_FIXES = 3
"""A judge may be refused its temperature, the name of its length and the form of its reply."""
JSON_INSTRUCTION = "Answer with one JSON object and nothing else."
_TOKEN_NAMES = ("max_tokens", "max_completion_tokens")
_NEEDED = frozenset({"model", "messages", "stream", "stream_options"})
_UNSUPPORTED = re.compile(
    r"unsupported (parameter|value)|not supported|does not support|unrecognized"
    r"|unknown (name|parameter|field)|extra (inputs|fields)|not permitted|must be 'json_schema'"
    r"|only the default|is deprecated for this model|may only be set to",
    re.IGNORECASE,
)
_CLASH = re.compile(r"cannot both be|mutually exclusive|only one of", re.IGNORECASE)


@dataclass(slots=True)
class Fixes:
    """What one model of a connection is asked differently. Grows only."""

    renamed: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    json_mode: str = ""  # "", "schema" or "instruction"
    no_form: bool = False

    def apply(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
        """The body as it must be sent, with a note for everything that differs."""
        sent = dict(body)
        notes: list[Note] = []
        for old, new in self.renamed.items():
            if old in sent:
                sent[new] = sent.pop(old)
                notes.append(("parameter_renamed", {"name": old, "to": new}))
        left_out = sorted(self.dropped & sent.keys())
        notes.extend(("parameter_left_out", {"name": name, "value": sent.pop(name)}) for name in left_out)
        if self.no_form and answer_form.leave_out(sent):
            notes.append(answer_form.LEFT_OUT)
        if self.json_mode and _wants_json(sent.get("response_format")):
            self._replace_json_mode(sent)
            notes.append(("json_mode_replaced", {"by": self.json_mode}))
        return sent, notes

    def _replace_json_mode(self, sent: dict[str, Any]) -> None:
        asked = sent.pop("response_format")
        if self.json_mode == "schema":
            schema = {"name": "answer", "schema": {"type": "object"}}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
            return
        messages = [dict(message) for message in sent["messages"]]
        instruction = JSON_INSTRUCTION
        if isinstance(asked, Mapping) and isinstance(asked.get("json_schema"), Mapping):
            instruction += f" It must follow this JSON schema: {asked['json_schema'].get('schema')}"
        messages[-1]["content"] = f"{messages[-1]['content']}\n\n{instruction}"
        sent["messages"] = messages


@dataclass(frozen=True, slots=True)
class Refused:
    """A 4xx whose body may name a parameter that can be left out."""

    error: ProviderError
    refusal: Refusal


Ask = Callable[[dict[str, Any], list[Note], float], Reply | Refused]


class Quirks:
    """The fixes of every model of one connection. Thread-safe.

    How JSON is asked for is a matter of the server and holds for all its models.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_model: dict[str, Fixes] = {}
        self._json_mode = ""

    def ask(self, model: str, body: Mapping[str, Any], timeout_s: float, ask: Ask) -> Reply:
        """Asks with all that is known, and again at once where a refusal teaches something new.

        `ask` gets the body to send, the notes for its reply and the seconds left. Raises the
        refusal's error where nothing can be learned from it.
        """
        until = time.monotonic() + timeout_s
        fixes_left = _MOST_FIXES
        while True:
            sent, notes = self.prepare(model, body)
            reply = ask(sent, notes, until - time.monotonic())
            if isinstance(reply, Reply):
                return reply
            if not fixes_left or not self.learn(model, sent, reply.refusal):
                raise reply.error
            fixes_left -= 1

    def prepare(self, model: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
        """A body with all that is known about the model already applied."""
        with self._lock:
            fixes = self._by_model.setdefault(model, Fixes())
            fixes.json_mode = self._json_mode
            return fixes.apply(body)

    def learn(self, model: str, sent: Mapping[str, Any], refusal: Refusal) -> bool:
        """True where the refusal names something that can be left out or replaced.

        `sent` is the refused body: only what it holds can be fixed, so a fix that was already
        applied is never learned twice.
        """
        found = _fix_for(sent, refusal)
        if found is None:
            return False
        what, name, value = found
        with self._lock:
            fixes = self._by_model.setdefault(model, Fixes())
            if what == "rename":
                fixes.renamed[name] = value
            elif what == "json":
                self._json_mode = value
            elif what == "form":
                fixes.no_form = True
            else:
                fixes.dropped.add(name)
        return True


def _fix_for(sent: Mapping[str, Any], refusal: Refusal) -> tuple[str, str, str] | None:
    if answer_form.holds(sent) and answer_form.is_refused(refusal.status, refusal.message):
        return ("form", "", "")
    if refusal.status not in (400, 422) or _CLASH.search(refusal.message):
        return None
    text = refusal.message
    known = refusal.words & {
        "unsupported_parameter",
        "unsupported_value",
        "extra_forbidden",
        "unknown_parameter",
    }
    if not known and not _UNSUPPORTED.search(text):
        return None
    if "response_format" in text and _wants_json(sent.get("response_format")):
        is_schema = sent["response_format"].get("type") == "json_schema"
        return (
            "json",
            "response_format",
            "schema" if "json_schema" in text and not is_schema else "instruction",
        )
    name = _named(sent, refusal)
    if name in _TOKEN_NAMES:
        other = _TOKEN_NAMES[1 - _TOKEN_NAMES.index(name)]
        return ("rename", name, other) if other in text or name == "max_completion_tokens" else None
    return ("drop", name, "") if name else None


def _named(sent: Mapping[str, Any], refusal: Refusal) -> str | None:
    """The parameter a refusal means: its `param`, else the first sent name in its text."""
    error = refusal.body.get("error") if isinstance(refusal.body, Mapping) else None
    param = error.get("param") if isinstance(error, Mapping) else None
    optional = [name for name in sent if name not in _NEEDED]
    if isinstance(param, str) and param:
        return param if param in optional else None
    places = [(found.start(), name) for name in optional if (found := _word(name).search(refusal.message))]
    return min(places)[1] if places else None


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])")


def _wants_json(response_format: Any) -> bool:
    return isinstance(response_format, Mapping) and response_format.get("type") in (
        "json_object",
        "json_schema",
    )

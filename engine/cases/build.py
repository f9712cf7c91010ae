"""One written test case to a `Case`: fields, checks and messages, every fault with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from providers.base import Message
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.cases.checks import read_checks, uses_json
from engine.cases.fields import FIELD_OF, FOREIGN
from engine.cases.turns import read_message
from engine.config.faults import Faults, join, nearest
from engine.config.paths import inside
from engine.config.schema import MOST_WEIGHT
from engine.config.values import is_null, line_of, pairs, scalar_value, to_text, to_value
from engine.domain import Case, CheckSpec

_MERGED = ("vars", "metadata", "params")


@dataclass(slots=True)
class Written:
    """The fields of one case as written, by canonical name; `extra` is what nobody knows."""

    node: Node
    path: str
    fields: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    extra: dict[str, Node] = field(default_factory=dict)

    def get(self, name: str) -> Node | None:
        """The value of a field; None where it is absent or null."""
        found = self.fields.get(name)
        return None if found is None else found[1]


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What a case needs from its project. `checks` mark the cases that have none of their own; empty
    = the check called `default_check`."""

    root: Path
    default_check: str
    needs_input: bool
    checks: tuple[CheckSpec, ...] = ()


def read_fields(node: MappingNode, path: str, faults: Faults) -> Written:
    """Sorts the keys of a case: known fields by their first name with a value, the rest apart."""
    written = Written(node, path)
    ranks: dict[str, int] = {}
    foreign: list[str] = []
    for key, value in pairs(node):
        name = key.value
        place = FIELD_OF.get(name)
        if place is None:
            if name in FOREIGN:
                foreign.append(name)
            written.extra[name] = value
            _warn_near(key, name, path, faults)
        elif not is_null(value):
            known, rank = place
            if rank < ranks.get(known, 99):
                ranks[known] = rank
                written.fields[known] = (key, value)
    if foreign:
        names = ", ".join(f"`{name}`" for name in (*(["vars"] if "vars" in written.fields else []), *foreign))
        faults.error(
            node,
            path,
            "foreign_format",
            f"{names}: this is the form of another tool, and its checks would not run.",
            "Use Import, which turns its checks into ours.",
        )
    return written


def _warn_near(key: Node, name: str, path: str, faults: Faults) -> None:
    if name.startswith("x-") or len(name) < 3:
        return
    close = nearest(name, FIELD_OF, 0.8)
    if close is not None:
        faults.warning(
            key,
            join(path, name),
            "near_name",
            f"`{name}` is not a field of a test and is kept as a note.",
            f"Did you mean `{close}`?",
        )


def with_defaults(written: Written, defaults: Written | None) -> Written:
    """The case with the defaults of its file: the case wins, `vars` and `metadata` are joined."""
    if defaults is None:
        return written
    own_check = "checks" in written.fields or "eval_type" in written.fields
    for name, found in defaults.fields.items():
        if name in ("checks", "eval_type", "params") and own_check:
            continue
        mine = written.fields.get(name)
        if mine is None:
            written.fields[name] = found
        elif name in _MERGED and isinstance(mine[1], MappingNode) and isinstance(found[1], MappingNode):
            written.fields[name] = (mine[0], _joined(mine[1], found[1]))
    for name, value in defaults.extra.items():
        written.extra.setdefault(name, value)
    return written


def _joined(own: MappingNode, base: MappingNode) -> MappingNode:
    taken = {key.value for key, _ in pairs(own)}
    entries = [*pairs(own), *((key, value) for key, value in pairs(base) if key.value not in taken)]
    return MappingNode(own.tag, entries, own.start_mark, own.end_mark, own.flow_style)


def is_off(written: Written) -> bool:
    """True for `enabled: false` and `skip: true`."""
    return _flag(written.get("enabled")) is False or _flag(written.get("skip")) is True


def _flag(node: Node | None) -> bool | None:
    if not isinstance(node, ScalarNode):
        return None
    return {"true": True, "false": False}.get(node.value.strip().lower())


def build_case(written: Written, settings: BuildSettings, faults: Faults) -> Case | None:
    """The case; None where it cannot be asked, with the reason in `faults`."""
    if any(name in FOREIGN for name in written.extra):
        return None
    asked = _question(written, settings, faults)
    if asked is None:
        return None
    text, messages = asked
    usual = settings.checks or (CheckSpec(settings.default_check),)
    checks = read_checks(written, settings.default_check, faults, usual)
    numbers = _Numbers(written, faults)
    metadata = _mapping(written, "metadata", faults, typed=True)
    metadata.update((name, to_value(node)) for name, node in written.extra.items())
    return Case(
        id=(_text(written, "id", faults) or "").strip(),
        input=text,
        messages=messages,
        reference=_reference(written.get("reference"), uses_json(checks)),
        context=_text(written, "context", faults),
        vars=_mapping(written, "vars", faults, typed=False),
        tags=_texts(written, "tags", faults),
        weight=numbers.real("weight", 1.0) or 0.0,
        group=_text(written, "group", faults),
        checks=checks,
        max_tokens=numbers.whole("max_tokens") or None,
        temperature=numbers.real("temperature", None),
        images=_paths(written, "images", settings.root, faults),
        files=_paths(written, "files", settings.root, faults),
        metadata=metadata,
        file=faults.file,
        line=line_of(written.node),
        own_checks=any(name in written.fields for name in ("checks", "eval_type", "params")),
    )


def _question(
    written: Written, settings: BuildSettings, faults: Faults
) -> tuple[str, tuple[Message, ...] | None] | None:
    node = written.get("input")
    if node is None:
        if settings.needs_input or "vars" not in written.fields:
            faults.error(
                written.node,
                written.path,
                "missing_input",
                "The test has no `input`, so there is nothing to ask.",
                "Add a line `input: …`.",
            )
            return None
        return "", None
    if isinstance(node, ScalarNode):
        return node.value, None
    path = join(written.path, "input")
    if not isinstance(node, SequenceNode):
        faults.error(
            node, path, "bad_value", "`input` must be text or a list of messages.", "Put the text in quotes."
        )
        return None
    messages = [read_message(item, join(path, index), faults) for index, item in enumerate(node.value)]
    if not messages or None in messages:
        if not messages:
            faults.error(node, path, "missing_input", "The list of messages is empty.", "Add a message.")
        return None
    return "", tuple(message for message in messages if message is not None)


def _reference(node: Node | None, as_json: bool) -> Any:
    """Text as written; typed where a check compares it as a JSON value."""
    if node is None:
        return None
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, MappingNode) or as_json:
        return to_value(node)
    return to_text(node) if all(isinstance(item, ScalarNode) for item in node.value) else to_value(node)


def _text(written: Written, name: str, faults: Faults) -> str | None:
    node = written.get(name)
    if node is None:
        return None
    if not isinstance(node, ScalarNode):
        _wrong(node, written, name, "must be text", faults)
        return None
    text: str = node.value
    return text or None


def _texts(written: Written, name: str, faults: Faults) -> tuple[str, ...]:
    node = written.get(name)
    if node is None:
        return ()
    items = node.value if isinstance(node, SequenceNode) else [node]
    if not all(isinstance(item, ScalarNode) for item in items):
        _wrong(node, written, name, "must be a list of texts", faults)
        return ()
    return tuple(item.value.strip() for item in items if item.value.strip())


def _mapping(written: Written, name: str, faults: Faults, *, typed: bool) -> dict[str, Any]:
    node = written.get(name)
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        _wrong(node, written, name, "must be a block of names and values", faults)
        return {}
    read = to_value if typed else to_text
    values: Mapping[str, Any] = read(node)
    return {key: "" if value is None and not typed else value for key, value in values.items()}


def _paths(written: Written, name: str, root: Path, faults: Faults) -> tuple[str, ...]:
    """Files of a case: inside the project folder, links resolved, and there."""
    result = []
    for text in _texts(written, name, faults):
        path = inside(root, text)
        node = written.get(name)
        where = join(written.path, name)
        if path is None:
            faults.error(
                node,
                where,
                "path_outside",
                f"`{text}` leads out of the project folder.",
                "Copy the file into the folder and name it from there.",
            )
        elif not path.is_file():
            faults.error(node, where, "file_missing", f"The file `{text}` does not exist.", "Check the name.")
        else:
            result.append(text)
    return tuple(result)


def _wrong(node: Node, written: Written, name: str, reason: str, faults: Faults) -> None:
    faults.error(node, join(written.path, name), "bad_value", f"`{name}` {reason}.", "Change the value.")


class _Numbers:
    """The number fields of a case."""

    def __init__(self, written: Written, faults: Faults) -> None:
        self._written = written
        self._faults = faults

    def real(self, name: str, default: float | None) -> float | None:
        """A number of 0 or more, at most as large as a weight may be."""
        node = self._written.get(name)
        if node is None:
            return default
        value = scalar_value(node) if isinstance(node, ScalarNode) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_WEIGHT:
            return float(value)
        _wrong(node, self._written, name, f"must be a number between 0 and {MOST_WEIGHT:,.0f}", self._faults)
        return default

    def whole(self, name: str) -> int | None:
        """A whole number of 0 or more."""
        node = self._written.get(name)
        if node is None:
            return None
        value = scalar_value(node) if isinstance(node, ScalarNode) else None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            _wrong(node, self._written, name, "must be a whole number, 0 or more", self._faults)
            return None
        return value

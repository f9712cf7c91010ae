"""Takes the way of marking out of many tests at once, so that they go by the project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from yaml.nodes import MappingNode, Node, SequenceNode

from arena_desktop.desks.project_tests import can_reach, file_of, list_path
from engine.cases.fields import NAMES
from engine.config.spans import Spot, find
from engine.config.splice_writer import Writer
from engine.config.text_files import TextFile
from engine.config.values import line_of, pairs, to_value
from engine.config.yaml_text import Document, compose
from engine.domain import Case
from engine.errors import UserError
from engine.project import Project

OWN_KEYS = frozenset(name for field in ("checks", "eval_type", "params") for name in NAMES[field])
_DEFAULTS = "defaults"


def own_tests(project: Project) -> tuple[list[Case], list[Case]]:
    """The tests that say themselves how they are marked: those that can be changed here, and the others."""
    own = [case for case in project.all_cases if case.own_checks]
    return [case for case in own if can_reach(case)], [case for case in own if not can_reach(case)]


def without_own_checks(project: Project, cases: Sequence[Case]) -> Iterator[tuple[TextFile, str]]:
    """Each file with its text without the checks of these tests, and of what all its tests share.

    Raises:
        UserError: `test_moved` where a test does not stand where it was read; `splice_refused`.
        WorldError: a file cannot be read.
    """
    for name in dict.fromkeys(case.file for case in cases):
        these = [case for case in cases if case.file == name]
        file = file_of(project, these[0])
        document = compose(file.text, file.path.name)
        yield file, _without(document, _spots(document, these), {case.line for case in these})


def _spots(document: Document, cases: Sequence[Case]) -> list[Spot]:
    by_line: dict[int | None, list[Node]] = {}
    for node in _tests(document):
        by_line.setdefault(line_of(node), []).append(node)
    found = _shared(document)
    for case in cases:
        nodes = by_line.get(case.line, [])
        if len(nodes) != 1:
            raise UserError(
                "test_moved",
                f"The test {case.id} does not stand by itself in line {case.line} of {case.file}.",
                hint="Press “Read again”. If that does not help, change it in the file.",
            )
        found += _own(nodes[0])
    return found


def _tests(document: Document) -> list[Node]:
    path = list_path(document)
    spot = find(document.root, path) if path is not None else None
    return spot.node.value if spot is not None and isinstance(spot.node, SequenceNode) else []


def _own(node: Node) -> list[Spot]:
    if not isinstance(node, MappingNode):
        return []
    return [
        Spot(value, node, key, number, key.value)
        for number, (key, value) in enumerate(node.value)
        if key.value in OWN_KEYS
    ]


def _shared(document: Document) -> list[Spot]:
    """What the head of the file says for all its tests."""
    head = find(document.root, (_DEFAULTS,)) if isinstance(document.root, MappingNode) else None
    if head is None or not isinstance(head.node, MappingNode):
        return []
    own = _own(head.node)
    return [head] if own and len(own) == len(head.node.value) else own


def _without(document: Document, spots: Sequence[Spot], lines: set[int | None]) -> str:
    """The text without these entries, taken out from the end, so that the marks before them still hold."""
    text, expected = document.text, _values(document.root, {id(spot.node) for spot in spots})
    names = [_names(node) - OWN_KEYS if line_of(node) in lines else _names(node) for node in _tests(document)]
    for spot in sorted(spots, key=lambda spot: -_start(spot)):
        text = Writer(replace(document, text=text)).without(spot)
        if spot.parent is not None:
            del spot.parent.value[spot.index]
    after = compose(text, document.file)
    as_meant = [_names(node) for node in _tests(after)] == names
    if not as_meant or after.problems or _values(after.root, set()) != expected:
        raise UserError(
            "splice_refused",
            "The change was not written, because other values of the file would change with it.",
            hint="A place may be shared through an alias (`*name`) or a merge (`<<`). Edit the file by hand.",
        )
    return text


def _names(node: Node) -> set[str]:
    """What a test says, also through a merge."""
    return {key.value for key, _value in pairs(node)}


def _start(spot: Spot) -> int:
    return int(spot.key.start_mark.index) if spot.key is not None else 0


def _values(node: Node | None, gone: set[int]) -> Any:
    """What a tree says, without the values that go."""
    if isinstance(node, MappingNode):
        return [(to_value(key), _values(value, gone)) for key, value in node.value if id(value) not in gone]
    if isinstance(node, SequenceNode):
        return [_values(item, gone) for item in node.value]
    return None if node is None else (node.tag, node.value)

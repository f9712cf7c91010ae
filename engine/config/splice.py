"""Changes one value in a file's text and leaves every other character as the user wrote it.

Each function gives the new text. It is read back before it is given: if any other value
changed, `UserError` with the code `splice_refused` is raised and nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.spans import find
from engine.config.splice_writer import Writer
from engine.config.values import is_null, to_value
from engine.config.yaml_text import Document, compose
from engine.errors import UserError

Path = tuple[str | int, ...]
_STEP = re.compile(r"(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]")
_CHANGED = object()


def parse_path(text: str) -> Path:
    """`models[2].params.top_p` as a path."""
    return tuple(match["name"] or int(match["index"]) for match in _STEP.finditer(text))


def set_value(document: Document, path: Path, value: Any) -> str:
    """Sets the value at a path; a key that is not there is added, with the blocks above it.

    Raises:
        UserError: `splice_refused`, `splice_no_place`.
    """
    depth = len(path)
    while depth and find(document.root, path[:depth]) is None:
        depth -= 1
    if depth < len(path):
        nested = value
        for step in reversed(path[depth + 1 :]):
            nested = _wrapped(step, nested)
        step = path[depth]
        if isinstance(step, int):
            return add_item(document, path[:depth], nested)
        return add_key(document, path[:depth], step, nested)
    spot = find(document.root, path)
    if spot is None or spot.parent is None:
        raise _no_place(path)
    text = Writer(document).replace(spot, value)
    return _verified(document, text, path, path, value)


def add_key(document: Document, path: Path, key: str, value: Any) -> str:
    """Adds a key at the end of the block at a path.

    Raises:
        UserError: `splice_refused`, `splice_no_place`.
    """
    if document.root is None:
        writer = Writer(document)
        return _verified(document, writer.first({key: value}), (), (), {key: value})
    spot = find(document.root, path)
    if spot is not None and is_null(spot.node) and spot.parent is not None:
        return set_value(document, path, {key: value})
    if spot is None or not isinstance(spot.node, MappingNode):
        raise _no_place(path)
    text = Writer(document).append(spot.node, key, value)
    return _verified(document, text, (*path, key), None, value)


def add_item(document: Document, path: Path, value: Any) -> str:
    """Adds an item at the end of the list at a path.

    Raises:
        UserError: `splice_refused`, `splice_no_place`.
    """
    spot = find(document.root, path)
    if spot is not None and is_null(spot.node) and spot.parent is not None:
        return set_value(document, path, [value])
    if spot is None or not isinstance(spot.node, SequenceNode):
        raise _no_place(path)
    text = Writer(document).append(spot.node, None, value)
    return _verified(document, text, (*path, len(spot.node.value)), None, value)


def remove(document: Document, path: Path) -> str:
    """Removes a key or an item with its own lines; comments above it stay.

    Raises:
        UserError: `splice_refused`, `splice_no_place`.
    """
    spot = find(document.root, path)
    if spot is None or spot.parent is None:
        raise _no_place(path)
    text = Writer(document).without(spot)
    return _verified(document, text, None, path, None)


def _wrapped(step: str | int, value: Any) -> Any:
    return {step: value} if isinstance(step, str) else [value]


def _no_place(path: Path) -> UserError:
    shown = ".".join(str(step) for step in path) or "the file"
    return UserError(
        "splice_no_place",
        f"There is no place for this value in {shown}.",
        hint="Edit the file by hand and open it again.",
    )


def _refused() -> UserError:
    return UserError(
        "splice_refused",
        "The change was not written, because other values of the file would change with it.",
        hint="The place may be shared through an alias (`*name`) or a merge (`<<`). Edit the file by hand.",
    )


def _verified(document: Document, text: str, new: Path | None, old: Path | None, value: Any) -> str:
    """The text, if its tree is the old one but for the value at the path.

    `new` is where the value must be afterwards (None = removed), `old` where the replaced or
    removed one was (None = nothing was there).
    """
    after = compose(text, document.file, is_json=document.is_json)
    fresh = [problem.code for problem in after.problems]
    if after.root is None or sorted(fresh) != sorted(problem.code for problem in document.problems):
        raise _refused()
    before_shape, after_shape = _shape(document.root), _shape(after.root)
    if new is not None:
        spot = find(after.root, new)
        if spot is None or not _same(to_value(spot.node), value):
            raise _refused()
        after_shape = _mark(after_shape, new, drop=old is None)
    if old is not None:
        before_shape = _mark(before_shape, old, drop=new is None)
    if _plain_empty(before_shape) != _plain_empty(after_shape):
        raise _refused()
    return text


def _same(read: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return (
            isinstance(read, Mapping)
            and list(read) == [str(key) for key in wanted]
            and all(_same(read[str(key)], item) for key, item in wanted.items())
        )
    if isinstance(wanted, list | tuple):
        return isinstance(read, list) and len(read) == len(wanted) and all(map(_same, read, wanted))
    if isinstance(wanted, bool) or isinstance(read, bool) or isinstance(wanted, str) or wanted is None:
        return type(read) is type(wanted) and bool(read == wanted)
    return bool(read == wanted or (read != read and wanted != wanted)) or (
        isinstance(read, float) and float(wanted) == read
    )


def _shape(node: Node | None) -> Any:
    """A tree that compares what is written: texts, whether plain or not, keys in order."""
    if node is None:
        return None
    if isinstance(node, ScalarNode):
        return (node.tag, node.value)
    if isinstance(node, SequenceNode):
        return [_shape(item) for item in node.value]
    return [
        [key.value if isinstance(key, ScalarNode) else "", _shape(value)] for key, value in node.value
    ] or {}


def _mark(shape: Any, path: Path, *, drop: bool) -> Any:
    """The shape with the value at a path taken out (`drop`) or made neutral."""
    if not path:
        return _CHANGED
    position = next((i for i, item in enumerate(shape) if _is_at(item, i, path[0])), None)
    if position is None:
        return shape
    copy = list(shape)
    if len(path) == 1 and drop:
        del copy[position]
    elif isinstance(path[0], int):
        copy[position] = _mark(copy[position], path[1:], drop=drop)
    else:
        copy[position] = [path[0], _mark(copy[position][1], path[1:], drop=drop)]
    return copy


def _is_at(item: Any, index: int, step: str | int) -> bool:
    return index == step if isinstance(step, int) else bool(item[0] == step)


def _plain_empty(shape: Any) -> Any:
    """An emptied list and an emptied block are the same nothing."""
    if isinstance(shape, dict):
        return []
    return [_plain_empty(item) for item in shape] if isinstance(shape, list) else shape

"""The one reader of YAML and JSON text: PyYAML's composer with the YAML 1.2 core rules.

`compose` never raises: what cannot be read becomes problems with line and column. The tree it
gives is safe to walk: duplicate keys reported, aliases bounded, depth at most 100.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config import json_text
from engine.config.values import KNOWN_TAGS, PLAIN, STR, is_merge
from engine.config.yaml_sentences import explain, unquoted_placeholder
from engine.domain import Problem, Severity

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # a PyYAML built without libyaml: slower, same rules
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class _Parser(Reader, Scanner, Parser, Composer):  # type: ignore[no-redef]
        def __init__(self, stream: str) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)


MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100
# Nodes that aliases may add on top of what is written; honest files stay far below.
MAX_ALIAS_NODES = 1_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its tree. `root` is None where nothing could be read or nothing is there.

    Marks count code points of `text`, which has no byte-order mark.
    """

    text: str
    file: str
    root: Node | None
    problems: tuple[Problem, ...] = ()
    is_json: bool = False


class _TooDeepError(Exception):
    """The nesting is deeper than any project file needs."""


class _Loader(_Parser):
    """Composes without resolving: a plain scalar keeps the tag `PLAIN` until it is asked for."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode:
            return PLAIN if implicit[0] else STR
        return "tag:yaml.org,2002:map" if kind is MappingNode else "tag:yaml.org,2002:seq"

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH + 1:
            raise _TooDeepError

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def check_resolver_prefix(self, *_: Any) -> bool:
        return False


def compose(text: str, file: str = "", *, is_json: bool | None = None) -> Document:
    """Reads a text into a tree with marks.

    Args:
        text: the decoded text; a byte-order mark at its start is dropped.
        file: the name that problems carry.
        is_json: whether to read as JSON; None = by the ending of `file`.
    """
    text = text.removeprefix("\ufeff")
    json_wanted = file.lower().endswith(".json") if is_json is None else is_json
    blank = Document(text, file, None, (), json_wanted)
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return replace(blank, problems=(_too_large(file),))
    try:
        root = json_text.compose(text) if json_wanted else _compose_yaml(text)
    except (_TooDeepError, RecursionError, json_text.TooDeepError):
        return replace(blank, problems=(_too_deep(file),))
    except json_text.BadJsonError as fault:
        return replace(
            blank,
            problems=(_error(file, fault.line, fault.column, fault.message, fault.fix, "bad_json"),),
        )
    except yaml.YAMLError as error:
        return replace(blank, problems=(explain(error, text, file),))
    if root is None:
        return blank
    inspector = _Inspector(text, file)
    usable = inspector.inspect(root)
    return replace(blank, root=root if usable else None, problems=tuple(inspector.problems))


def _compose_yaml(text: str) -> Node | None:
    loader = _Loader(text)
    try:
        node: Node | None = loader.get_single_node()
    finally:
        dispose = getattr(loader, "dispose", None)
        if dispose is not None:
            dispose()
    return node


def _error(file: str, line: int | None, column: int | None, message: str, fix: str, code: str) -> Problem:
    return Problem(Severity.ERROR, message, fix, file, line, column, "", code)


def _too_large(file: str) -> Problem:
    message = (
        f"The file is larger than {MAX_BYTES // 1024 // 1024} MiB, which is more than this program reads."
    )
    return _error(file, None, None, message, "Split the test cases over several files.", "file_too_large")


def _too_deep(file: str) -> Problem:
    message = f"The file is nested deeper than {MAX_DEPTH} levels."
    return _error(file, None, None, message, "Make the structure flatter.", "too_deep")


class _Inspector:
    """One walk over a fresh tree: duplicate keys, odd keys and tags, alias growth, depth."""

    def __init__(self, text: str, file: str) -> None:
        self.problems: list[Problem] = []
        self._text = text
        self._file = file
        self._sizes: dict[int, tuple[int, int]] = {}
        self._written = 0

    def inspect(self, root: Node) -> bool:
        """True where the tree can be walked by anyone; problems may exist all the same."""
        try:
            size, depth = self._measure(root)
        except _EndlessError:
            self._report(
                None,
                "A part of the file contains itself through an alias (`*name`).",
                "Write the part out instead of using the alias.",
                "alias_bomb",
            )
            return False
        if size - self._written > MAX_ALIAS_NODES:
            self._report(
                None,
                f"The aliases (`*name`) in this file would expand to more than {MAX_ALIAS_NODES:,} values.",
                "Write the parts out instead of nesting aliases in aliases.",
                "alias_bomb",
            )
            return False
        if depth > MAX_DEPTH:
            self.problems.append(_too_deep(self._file))
            return False
        return True

    def _report(self, node: Node | None, message: str, fix: str, code: str) -> None:
        line, column = (None, None)
        if node is not None:
            line, column = node.start_mark.line + 1, node.start_mark.column + 1
        self.problems.append(_error(self._file, line, column, message, fix, code))

    def _measure(self, node: Node) -> tuple[int, int]:
        if isinstance(node, ScalarNode):
            self._written += 1
            if node.tag not in KNOWN_TAGS:
                self._report_tag(node)
            return 1, 0
        known = self._sizes.get(id(node))
        if known is not None:
            if known[0] == 0:
                raise _EndlessError
            return known
        self._sizes[id(node)] = (0, 0)
        self._written += 1
        if node.tag not in KNOWN_TAGS:
            self._report_tag(node)
        size, depth = self._mapping(node) if isinstance(node, MappingNode) else self._children(node.value)
        self._sizes[id(node)] = (size + 1, depth + 1)
        return size + 1, depth + 1

    def _children(self, children: list[Node]) -> tuple[int, int]:
        size = depth = 0
        for child in children:
            child_size, child_depth = self._measure(child)
            size += child_size
            depth = max(depth, child_depth)
        return size, depth

    def _mapping(self, node: MappingNode) -> tuple[int, int]:
        first: dict[str, Node] = {}
        values: list[Node] = []
        for key, value in node.value:
            values.append(value)
            if not isinstance(key, ScalarNode):
                self.problems.append(unquoted_placeholder(key, node, self._text, self._file))
                continue
            if is_merge(key):
                self._check_merge(value)
            elif key.value in first:
                self._report_duplicate(key, first[key.value])
            else:
                first[key.value] = key
        size, depth = self._children(values)
        self._written += len(values)
        return size + len(values), depth

    def _check_merge(self, value: Node) -> None:
        parts = value.value if isinstance(value, SequenceNode) else [value]
        if not all(isinstance(part, MappingNode) for part in parts):
            self._report(
                value,
                "`<<` takes over the keys of another block, and this is none.",
                "Give it an alias to a block: `<<: *name`.",
                "bad_merge",
            )

    def _report_duplicate(self, key: ScalarNode, first: Node) -> None:
        before, here = first.start_mark.line + 1, key.start_mark.line + 1
        where = f"twice in line {here}" if before == here else f"twice, in line {before} and in line {here}"
        self._report(
            key,
            f"`{key.value}` is written {where}; only one of them could count.",
            "Merge the two or delete one.",
            "duplicate_key",
        )

    def _report_tag(self, node: Node) -> None:
        tag = str(node.tag).replace("tag:yaml.org,2002:", "!!")
        self._report(
            node, f"The mark `{tag}` is not supported.", "Remove it; quotes make a value text.", "bad_tag"
        )


class _EndlessError(Exception):
    """A node that contains itself."""

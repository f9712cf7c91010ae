"""Adds, changes and removes tests in a project's own files; everything else in them stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from arena_desktop.desks.project_files import Written
from engine.cases.fields import LIST_NAMES, NAMES
from engine.config import emit
from engine.config.saving import save_text, write_bytes
from engine.config.spans import find
from engine.config.splice import add_item, add_key, remove, set_value
from engine.config.text_files import TextFile, read_text
from engine.config.values import line_of, pairs
from engine.config.yaml_text import MAX_BYTES, Document, compose
from engine.domain import Case
from engine.errors import ArenaError, UserError
from engine.project import Project

FEW = 30
"""Up to so many tests go into a file that is there; more get a file of their own, written at once."""
_YAML = (".yaml", ".yml")
_QUESTION = frozenset({"question", "input", "prompt", "message", "text", "task"})
_ANSWER = frozenset({"right answer", "answer", "reference", "expected", "expected answer", "label", "target"})
_NAME = frozenset({"name", "id", "title"})


@dataclass(frozen=True, slots=True)
class NewTest:
    """A test to be added. A blank `answer` or `name` is left out of the file."""

    question: str
    answer: str = ""
    name: str = ""


def cells_to_tests(rows: Iterable[Sequence[str]]) -> list[NewTest]:
    """Tests from the cells of a spreadsheet.

    A first row that names its columns says what they hold; without one they are question, right answer
    and name. Rows without any text make no test.
    """
    filled = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        return []
    places = _places([cell.casefold() for cell in filled[0]])
    if places is None:
        places = (0, 1, 2)
    else:
        filled = filled[1:]
    return [NewTest(*(_cell(row, place) for place in places)) for row in filled]


def _places(heads: Sequence[str]) -> tuple[int, int, int] | None:
    """Where question, answer and name stand, -1 for none; None where this is not a row of heads."""

    def place(names: frozenset[str]) -> int:
        return next((number for number, head in enumerate(heads) if head in names), -1)

    question, answer, name = place(_QUESTION), place(_ANSWER), place(_NAME)
    if question < 0 or (len(heads) > 1 and max(answer, name) < 0):
        return None
    return question, answer, name


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if 0 <= place < len(row) else ""


def add_tests_to_project(project: Project, tests: Sequence[NewTest]) -> Written:
    """Writes the tests that ask something into the project; the first file written is the one they are in.

    A few go to the end of its first YAML file of tests; many, or where there is no such file, go into
    a new file that the config then names.

    Raises:
        UserError: `splice_refused`, `splice_no_place`, `changed_on_disk`, `not_encodable`.
        WorldError: a file cannot be read or written.
    """
    taken = {case.id for case in project.all_cases}
    items = [_item(test, taken) for test in tests if test.question.strip()]
    if len(items) <= FEW:
        for place in _yaml_files(project):
            file = read_text(place, place.name, MAX_BYTES)
            path = list_path(compose(file.text, place.name))
            if path is not None:
                text = file.text
                for item in items:
                    text = add_item(compose(text, place.name), path, item)
                return Written(save_text(file, text), file.text)
    return _new_file(project, items)


def _item(test: NewTest, taken: set[str]) -> dict[str, str]:
    item: dict[str, str] = {}
    name = test.name.strip()
    if name:
        free, number = name, 1
        while free in taken:
            number += 1
            free = f"{name} {number}"
        taken.add(free)
        item["id"] = free
    item["input"] = test.question
    if test.answer.strip():
        item["reference"] = test.answer
    return item


def _yaml_files(project: Project) -> list[Path]:
    named = (project.root / file.file for file in project.files)
    return [path for path in named if path.suffix.lower() in _YAML and path.is_file()]


def list_path(document: Document) -> tuple[str, ...] | None:
    """Where the list of tests stands in a file of tests; None where it has none."""
    if document.root is None or document.root.id == "scalar":
        return None
    if document.root.id == "sequence":
        return ()
    return next(((key.value,) for key, _value in pairs(document.root) if key.value in LIST_NAMES), None)


def _new_file(project: Project, items: Sequence[dict[str, str]]) -> Written:
    number = 1
    while (place := project.root / f"added-tests{'' if number == 1 else f'-{number}'}.yaml").exists():
        number += 1
    config = read_text(project.config_file, project.config_file.name, MAX_BYTES)
    if config.digest != project.digest:
        raise UserError(
            "changed_on_disk",
            f"{config.path.name} was changed by another program since it was opened.",
            hint="Press “Read again”, then add the tests.",
        )
    text = _named(project, config, place.name)
    block = "\n".join(emit.block({"tests": list(items)})) + "\n"
    made = save_text(TextFile(place, "", "utf-8", ""), block)
    if text is None:
        return Written(made, "")
    try:
        return Written(made, "", (Written(save_text(config, text), config.text),))
    except ArenaError:
        # A file that no config names would be found at the next try, and its tests added twice.
        write_bytes(place, None)
        raise


def _named(project: Project, config: TextFile, name: str) -> str | None:
    """The config's text with one file of tests more; None where it finds the file by itself."""
    document = compose(config.text, config.path.name)
    written = {key.value: value for key, value in pairs(document.root)} if document.root is not None else {}
    if "tests" not in written:
        files = [file.file for file in project.files]
        return add_key(document, (), "tests", {"paths": [*files, name]})
    if written["tests"].id == "sequence":
        return add_item(document, ("tests",), name)
    return add_item(document, ("tests", "paths"), name)


# ---- tests that are there


def can_change(case: Case) -> bool:
    """Whether the window can change it: a plain question with a plain answer in a YAML file."""
    plain = case.messages is None and bool(case.input) and (case.reference is None or _is_text(case))
    return plain and can_reach(case)


def _is_text(case: Case) -> bool:
    return isinstance(case.reference, str)


def change_test(project: Project, case: Case, question: str, answer: str) -> Written:
    """Writes another question or right answer where the old one stands. A blank answer takes it away.

    Raises:
        UserError: `test_moved`, `splice_refused`, `splice_no_place`, `changed_on_disk`, `not_encodable`.
        WorldError: the file cannot be read or written.
    """
    file = file_of(project, case)
    text = file.text
    place = place_of(compose(text, file.path.name), case)
    for field, value, old in (("input", question, case.input), ("reference", answer, case.reference or "")):
        if value == old:
            continue
        document = compose(text, file.path.name)
        key = _key(document, place, field)
        if value.strip():
            text = set_value(document, (*place, key), value)
        elif field == "reference":
            text = remove(document, (*place, key))
    return Written(save_text(file, text), file.text)


def remove_test(project: Project, case: Case) -> Written:
    """Takes a test out of its file.

    Raises:
        UserError, WorldError: as `change_test`.
    """
    file = file_of(project, case)
    document = compose(file.text, file.path.name)
    return Written(save_text(file, remove(document, place_of(document, case))), file.text)


def can_reach(case: Case) -> bool:
    """Whether the window finds a test in its file again: one of a YAML file, and not one of two alike."""
    return case.line is not None and case.file.lower().endswith(_YAML)


def file_of(project: Project, case: Case) -> TextFile:
    """The file that a test is written in. Raises UserError or WorldError where it cannot be read."""
    return read_text(project.root / case.file, case.file, MAX_BYTES)


def place_of(document: Document, case: Case) -> tuple[str | int, ...]:
    """The path of a test: the only item of the list that begins in its line and asks the same."""
    path = list_path(document)
    spot = find(document.root, path) if path is not None else None
    if path is not None and spot is not None and isinstance(spot.node, SequenceNode):
        found = [
            number
            for number, node in enumerate(spot.node.value)
            if isinstance(node, MappingNode) and line_of(node) == case.line
        ]
        if len(found) == 1 and _asks(spot.node.value[found[0]], case):
            return (*path, found[0])
    raise UserError(
        "test_moved",
        f"This test cannot be changed here: it does not stand by itself in line {case.line} of {case.file}.",
        hint="Press “Read again”. If that does not help, change it in the file.",
    )


def _asks(node: MappingNode, case: Case) -> bool:
    if case.messages is not None or not case.input:
        # Turns, or a template alone: its line has to do.
        return True
    values = {key.value: value for key, value in pairs(node)}
    texts = [values[name] for name in NAMES["input"] if name in values]
    return any(isinstance(text, ScalarNode) and text.value == case.input for text in texts)


def _key(document: Document, place: tuple[str | int, ...], field: str) -> str:
    """The name under which the file has a field, else its usual name."""
    spot = find(document.root, place)
    written = {key.value for key, _value in pairs(spot.node)} if spot is not None else set()
    return next((name for name in NAMES[field] if name in written), field)

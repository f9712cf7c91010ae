"""Adds test cases to a project's own files; everything that stands in them stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.cases.fields import LIST_NAMES
from engine.config import emit
from engine.config.saving import save_text
from engine.config.splice import add_item, add_key
from engine.config.text_files import TextFile, read_text
from engine.config.values import pairs
from engine.config.yaml_text import MAX_BYTES, Document, compose
from engine.errors import UserError
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


def add_tests_to_project(project: Project, tests: Sequence[NewTest]) -> Path:
    """Writes the tests that ask something into the project and gives the file they are in.

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
            path = _list_path(compose(file.text, place.name))
            if path is not None:
                text = file.text
                for item in items:
                    text = add_item(compose(text, place.name), path, item)
                save_text(file, text)
                return place
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


def _list_path(document: Document) -> tuple[str, ...] | None:
    """Where the list of tests stands in a file of tests; None where it has none."""
    if document.root is None or document.root.id == "scalar":
        return None
    if document.root.id == "sequence":
        return ()
    return next(((key.value,) for key, _value in pairs(document.root) if key.value in LIST_NAMES), None)


def _new_file(project: Project, items: Sequence[dict[str, str]]) -> Path:
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
    save_text(TextFile(place, "", "utf-8", ""), "\n".join(emit.block({"tests": list(items)})) + "\n")
    if text is not None:
        save_text(config, text)
    return place


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

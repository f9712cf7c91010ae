"""The test cases of a project as records and columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Align, Cell, ChipCell, Column, IconTextCell, Tone
from arena_desktop.wording.setup import check_title, problem_words
from engine.domain import Case, CheckSpec, Problem, Severity
from engine.project import Project
from engine.scoring.registry import CHECKS, canonical_check

ONE_LINE = 400
"""Characters of a text that a cell holds; the pane has all of it."""
_DERIVED = re.compile(r"[0-9a-f]{12}(-\d+)?")
_LOOKED_AT = ONE_LINE * 4


def _tr(text: str) -> str:
    return QCoreApplication.translate("CasesTable", text)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One test. `number` counts from 1 in file order; `name` is empty where nobody gave one.

    `question`, `answer` are one line each. `counts` False = it is left out of a run.
    """

    number: int
    case: Case
    name: str
    question: str
    answer: str
    marking: str
    tags: str
    counts: bool
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What keeps it from being marked."""
        return tuple(item for item in self.problems if item.severity is Severity.ERROR)


def one_line(text: str) -> str:
    """A text for one line: line breaks as a pilcrow, cut where nobody could read on."""
    flat = text[:_LOOKED_AT].replace("\r\n", "\n").strip().replace("\n", " ¶ ")
    flat = " ".join(flat.split())
    return f"{flat[:ONE_LINE]}…" if len(flat) > ONE_LINE or len(text) > _LOOKED_AT else flat


def question_text(case: Case) -> str:
    """What is asked, in full: the question, the turns of a conversation, or the values of a template."""
    if case.messages is not None:
        return "\n\n".join(f"{_role(turn.role)}: {turn.content}" for turn in case.messages)
    if case.input:
        return case.input
    return "\n".join(f"{name}: {value_text(value)}" for name, value in case.vars.items())


def _role(role: str) -> str:
    words = {"user": _tr("Person"), "assistant": _tr("AI"), "system": _tr("Instructions")}
    return words.get(role, role)


def reference_text(case: Case) -> str:
    """The right answer in full; several accepted ones below each other; empty where there is none."""
    reference = case.reference
    if reference is None:
        return ""
    if isinstance(reference, (list, tuple)) and all(isinstance(item, str) for item in reference):
        return "\n".join(reference)
    return value_text(reference)


def value_text(value: Any) -> str:
    """Text as it is, data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)


def check_words(spec: CheckSpec) -> str:
    """The name of one check."""
    known = canonical_check(spec.type)
    title = check_title(CHECKS[known] if known else None, spec.type)
    return _tr("{check}, turned around").format(check=title) if spec.negate else title


def marking_words(case: Case) -> str:
    """How an answer is marked, in the words of the checks."""
    return ", ".join(dict.fromkeys(check_words(spec) for spec in case.checks))


def case_rows(project: Project, problems: Iterable[Problem]) -> list[CaseRow]:
    """One row per test that could be read, in file order. `problems` are those of the project."""
    asked = {case.id for case in project.cases}
    listed = project.all_cases or project.cases
    found = _by_case(listed, problems)
    return [
        CaseRow(
            number,
            case,
            "" if _DERIVED.fullmatch(case.id) else case.id,
            one_line(question_text(case)),
            one_line(reference_text(case)),
            marking_words(case),
            ", ".join(case.tags),
            case.id in asked,
            found.get(case.id, ()),
        )
        for number, case in enumerate(listed, start=1)
    ]


def _by_case(cases: Sequence[Case], problems: Iterable[Problem]) -> Mapping[str, tuple[Problem, ...]]:
    """The problems of each case, found by its place in the file or by its id."""
    places = {(case.file, case.line): case.id for case in cases if case.line is not None}
    ids = {case.id for case in cases}
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        case_id = places.get((problem.file, problem.line))
        if case_id is None:
            start = problem.path.split(".")[0]
            case_id = start if start in ids else None
        if case_id is not None:
            found.setdefault(case_id, []).append(problem)
    return {case_id: tuple(items) for case_id, items in found.items()}


def all_tags(rows: Iterable[CaseRow]) -> list[str]:
    """Every tag once, in order of the alphabet."""
    return sorted({tag for row in rows for tag in row.case.tags}, key=str.casefold)


# ---- columns

_SHORT = {
    "reference_missing": lambda: _tr("No right answer"),
    "blank_prompt": lambda: _tr("No question"),
    "equal_cases": lambda: _tr("Same as another"),
    "option_missing": lambda: _tr("Marking unclear"),
    "check_unknown": lambda: _tr("Unknown marking"),
}


def ok_text(row: CaseRow) -> str:
    """Whether it can be asked and marked, in a few words."""
    if row.errors:
        word = _SHORT.get(row.errors[0].code)
        return word() if word else _tr("Cannot be marked")
    if not row.counts:
        return _tr("Left out")
    if row.problems:
        word = _SHORT.get(row.problems[0].code)
        return word() if word else _tr("Worth a look")
    return _tr("Ready")


def _ok_cell(row: CaseRow) -> Cell:
    text = ok_text(row)
    if row.errors:
        return ChipCell(text, Tone.WARN)
    if not row.counts:
        return IconTextCell("minus", text, "text3", "text3")
    if row.problems:
        return IconTextCell("info", text, "text2")
    return IconTextCell("check", text)


def name_words(row: CaseRow) -> str:
    """The name, or that there is none."""
    return row.name or _tr("No name")


def case_columns() -> list[Column[CaseRow]]:
    """Number, name, question, right answer, how it is marked, tags, ok."""
    return [
        Column(
            "number",
            "",
            lambda row: str(row.number),
            sort=lambda row: row.number,
            spoken=lambda row: _tr("Test {number}").format(number=row.number),
            align=Align.RIGHT,
            tone="text2",
            width=56,
            minimum=48,
            can_hide=False,
        ),
        Column(
            "name",
            _tr("Name"),
            name_words,
            cell=lambda row: None if row.name else IconTextCell("", name_words(row)),
            weight="name",
            width=150,
            minimum=96,
            can_hide=False,
        ),
        Column("question", _tr("Question"), lambda row: row.question, width=240, minimum=200, stretch=3),
        Column(
            "answer", _tr("Right answer"), lambda row: row.answer, width=130, minimum=96, stretch=1, drop=3
        ),
        Column(
            "marking",
            _tr("How it is marked"),
            lambda row: row.marking,
            tone="text2",
            width=150,
            minimum=128,
            drop=1,
        ),
        Column("tags", _tr("Tags"), lambda row: row.tags, tone="text2", width=110, minimum=72, drop=2),
        Column(
            "ok",
            _tr("Ok?"),
            ok_text,
            cell=_ok_cell,
            tip=lambda row: " ".join(problem_words(item) for item in row.problems),
            width=156,
            minimum=152,
            can_hide=False,
        ),
    ]

"""The list of tests beside the answers: number, title, question, one mark per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Column, TitleMarksCell
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.wording.answers import marks_spoken, passed_of, question_of, reference_of, title_of
from engine.domain import Case
from engine.storage.rows import CaseMarks

MOST_MARKS = 6
"""More models than this are counted instead of marked one by one."""
_SECOND = 120


def _tr(text: str) -> str:
    return QCoreApplication.translate("AnswerTests", text)


@dataclass(frozen=True, slots=True)
class TestRow:
    """One test. `marks` in project order: passed, failed, None = no answer. `searched` is lower case."""

    __test__ = False

    case: Case
    number: int
    title: str
    second: str
    marks: tuple[bool | None, ...]
    errors: int
    searched: str

    @property
    def differ(self) -> bool:
        """Whether some models pass and some fail."""
        known = {mark for mark in self.marks if mark is not None}
        return len(known) > 1

    @property
    def failed(self) -> bool:
        """Whether a model failed."""
        return False in self.marks

    @property
    def passed(self) -> bool:
        """Whether every model that answered passed."""
        known = [mark for mark in self.marks if mark is not None]
        return bool(known) and all(known)

    @property
    def unasked(self) -> bool:
        """Whether some model has no answer."""
        return self.errors > 0 or None in self.marks


def make_test_rows(cases: Sequence[Case], marks: Sequence[CaseMarks], keys: Sequence[str]) -> list[TestRow]:
    """The rows in the order of the project."""
    found: dict[str, dict[str, CaseMarks]] = {}
    for item in marks:
        found.setdefault(item.case_id, {})[item.model_key] = item
    return [_row(number, case, found.get(case.id, {}), keys) for number, case in enumerate(cases, start=1)]


def _row(number: int, case: Case, marks: Mapping[str, CaseMarks], keys: Sequence[str]) -> TestRow:
    question = question_of(case)
    title = title_of(case)
    return TestRow(
        case=case,
        number=number,
        title=title,
        second=" ".join(question[:_SECOND].split()),
        marks=tuple(_mark(marks.get(key)) for key in keys),
        errors=sum(item.errors for item in marks.values()),
        searched="\n".join((title, case.id, question, reference_of(case), *case.tags)).casefold(),
    )


def _mark(item: CaseMarks | None) -> bool | None:
    if item is None or not item.scored:
        return None
    return item.passed * 2 >= item.scored


def list_columns(heads: Sequence[ModelHead], *, blind: bool) -> list[Column[TestRow]]:
    """The one column of the list; `blind` hides who passed."""
    labels = [head.label for head in heads]
    few = len(heads) <= MOST_MARKS and not blind

    def cell(row: TestRow) -> TitleMarksCell:
        second = row.second if few or blind else f"{passed_of(row.marks)}. {row.second}"
        return TitleMarksCell(str(row.number), row.title, second, row.marks if few else ())

    def spoken(row: TestRow) -> str:
        said = "" if blind else marks_spoken(labels, row.marks)
        return f"{row.number}, {row.title}. {said}".strip()

    return [
        Column(
            "test",
            _tr("Test"),
            lambda row: row.title,
            cell=cell,
            sort=lambda row: row.number,
            spoken=spoken,
            tip=lambda row: row.second,
            width=260,
            stretch=1,
            head_models=tuple(head.index for head in heads) if few else (),
        )
    ]

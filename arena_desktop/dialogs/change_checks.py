"""Chooses how answers are marked: for all tests that follow the project, or for one test alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QCoreApplication, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from arena_desktop.desks.check_faults import option_faults, test_faults
from arena_desktop.desks.own_marks import own_tests
from arena_desktop.desks.project_checks import (
    CheckChoice,
    change_test_checks,
    change_usual_checks,
    differs,
    usual_checks,
)
from arena_desktop.dialogs.check_list import CheckList
from arena_desktop.dialogs.edit_dialog import EditDialog
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import check_choice as words
from arena_desktop.wording.setup import check_title
from engine.domain import Case, CheckSpec
from engine.project import Project
from engine.scoring.registry import CHECKS, canonical_check

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_DELAY_MS = 200


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeChecksDialog", text)


class Tester(Protocol):
    """Tries checks that are not saved; a widget."""

    def show_choice(self, project: Project, specs: Sequence[CheckSpec]) -> None:
        """Offers these checks to try, keeping what was typed."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose marking is chosen: `case`, or all tests that follow the project where it is None."""

    project: Project
    case: Case | None = None

    @property
    def before(self) -> tuple[CheckSpec, ...]:
        """The checks as they are."""
        return usual_checks(self.project) if self.case is None else self.case.checks

    @property
    def following(self) -> list[Case]:
        """The tests that go by it."""
        if self.case is not None:
            return [self.case]
        return [case for case in self.project.all_cases if not case.own_checks]


def nothing_counts(choices: Sequence[CheckChoice]) -> bool:
    """Whether there are checks, and none of them has a weight."""
    return bool(choices) and not any(choice.spec.weight > 0 for choice in choices)


class ChangeChecksDialog(EditDialog):
    """A list of checks. `changed(choices, own_too)` follows the button; None = as the project says."""

    changed = Signal(object, bool)

    def __init__(self, scope: Scope, tester: Tester | None = None, parent: QWidget | None = None) -> None:
        super().__init__("checks", _tr("How answers are marked"), parent)
        self._scope, self._tester = scope, tester
        self._chain: list[QWidget] = []
        self._bad = False
        self._forget, self._keeping = own_tests(scope.project) if scope.case is None else ([], [])
        change = _tr("Mark them so") if scope.case is None else _tr("Mark it so")
        button = Button(change, "primary", name="button_change_checks_now")
        self.area = self.scrolled(self._content())
        self.set_content(self.area, button, 720, 640)
        self._wait = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._wait.timeout.connect(self.look_now)
        self._on_own_way()
        self.look_now()
        (self.combo_way or self.list.rows()[0].combo).setFocus()

    # what is chosen

    def choices(self) -> list[CheckChoice] | None:
        """The checks in their order; None = as the project says."""
        if self.combo_way is not None and not self.combo_way.currentData():
            return None
        return self.list.choices()

    def is_changed(self) -> bool:
        """Whether there is anything to write."""
        choices, case = self.choices(), self._scope.case
        if case is not None and (choices is None) == case.own_checks:
            return True
        return choices is not None and (differs(self._scope.before, choices) or self._own_too())

    def look_now(self) -> None:
        """Looks for faults in tests, and shows the tester what is chosen."""
        self._wait.stop()
        choices = self.choices()
        specs = [choice.spec for choice in choices or ()]
        following = [*self._scope.following, *(self._forget if self._own_too() else ())]
        found = test_faults(specs, following, self._scope.project)
        texts = [words.nothing_counts_sentence()] if nothing_counts(choices or ()) else []
        if found.missing and not self._bad:
            texts.append(words.missing_sentence(found.missing, found.looked))
        if found.first is not None and not self._bad:
            texts.append(words.unfit_sentence(found.unfit, found.looked, found.first))
        self.list.show_note(" ".join(texts))
        if self._tester is not None:
            self._tester.show_choice(self._scope.project, specs or self._project_specs())

    # parts

    def _content(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        case = self._scope.case
        told = words.scope_sentence(len(self._scope.following))
        told = told if case is None else words.one_test_sentence(case.id)
        column.addWidget(Label(told, wrap=True, colour="text2", name="label_scope"))
        self.combo_way: Combo | None = None
        if case is not None:
            self.combo_way = self._way(case)
            column.addWidget(self.combo_way)
        self.list = CheckList(self._scope.project, self._scope.before)
        self.list.changed.connect(self._check)
        column.addWidget(self.list)
        self._add_others(column)
        if self._tester is not None:
            part = Collapsible(_tr("Try it"), name="button_try")
            part.head.setAutoDefault(False)
            part.content.addWidget(self._tester)
            part.toggled.connect(self._show_tester)
            column.addWidget(part)
        return holder

    def _way(self, case: Case) -> Combo:
        combo = Combo(_tr("How this test is marked"), name="combo_way")
        usual = ", ".join(
            check_title(CHECKS.get(canonical_check(spec.type) or ""), spec.type)
            for spec in self._project_specs()
        )
        combo.addItem(_tr("As the project says: {checks}").format(checks=usual), False)
        combo.addItem(_tr("In its own way"), True)
        combo.setCurrentIndex(1 if case.own_checks else 0)
        combo.currentIndexChanged.connect(lambda _index: self._on_own_way())
        return combo

    def _add_others(self, column: QVBoxLayout) -> None:
        """Tests that do not follow the project."""
        self.check_own: QCheckBox | None = None
        if self._forget:
            self.check_own = QCheckBox(words.own_too_words(len(self._forget)))
            self.check_own.setObjectName("check_own_too")
            # Where no test follows the project, nothing else would change anything.
            self.check_own.setChecked(not self._scope.following)
            self.check_own.toggled.connect(lambda _on: self._check())
            column.addWidget(self.check_own)
        if self._keeping:
            files = sorted({case.file for case in self._keeping})
            text = words.keeping_sentence(len(self._keeping), files)
            column.addWidget(Label(text, "caption", colour="text2", wrap=True))

    def _show_tester(self, on: bool) -> None:
        """Brings the tester into view once it has its place."""
        if on and self._tester is not None:
            QTimer.singleShot(0, self, self._scroll_down)

    def _scroll_down(self) -> None:
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.maximum())

    # inside

    def _order_tabs(self) -> None:
        """The keyboard goes through the rows in the order that the eye sees."""
        chain: list[QWidget] = [] if self.combo_way is None else [self.combo_way]
        chain += self.list.stops()
        if chain != self._chain:
            self._chain = chain
            for before, after in pairwise(chain):
                QWidget.setTabOrder(before, after)

    def _own_too(self) -> bool:
        return self.check_own is not None and self.check_own.isChecked()

    def _project_specs(self) -> list[CheckSpec]:
        return list(usual_checks(self._scope.project))

    def _on_own_way(self) -> None:
        self.list.setVisible(self.combo_way is None or bool(self.combo_way.currentData()))
        self._check()

    def _check(self) -> None:
        self._order_tabs()
        choices = self.choices()
        self._bad = False
        if choices is not None:
            for row, choice in zip(self.list.rows(), choices, strict=True):
                self._bad |= row.show_faults(option_faults(choice.spec, self._scope.project))
        good = not self._bad and not nothing_counts(choices or ())
        self.button_change.setEnabled(good and self.is_changed())
        self._wait.start()

    def given(self) -> tuple[Any, ...]:
        return self.choices(), self._own_too()


def open_change_checks(
    context: AppContext,
    parent: QWidget | None = None,
    make_tester: Callable[[], Tester] | None = None,
    case: Case | None = None,
) -> ChangeChecksDialog | None:
    """Opens the list, for one test where `case` is given. What is chosen goes into the open project's
    files, which are then read again."""
    project = context.projects.project
    if project is None:
        return None
    tester = make_tester() if make_tester is not None else None
    dialog = ChangeChecksDialog(Scope(project, case), tester, parent)

    def change(choices: Any, own_too: bool) -> None:
        if case is None:
            forget = own_tests(project)[0] if own_too else []
            said = _tr("The way of marking was changed.")
            write_to_project(
                context,
                lambda: change_usual_checks(project, choices, forget),
                said,
                name=_tr("change the way of marking"),
            )
        else:
            said = _tr("The way this test is marked was changed.")
            write_to_project(
                context,
                lambda: change_test_checks(project, case, choices),
                said,
                name=_tr("change how 1 test is marked"),
            )

    dialog.changed.connect(change)
    dialog.show()
    return dialog

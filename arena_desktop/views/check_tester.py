"""Try it: one way of marking on an answer that is typed in, by the code of a run. Only what is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.itemmodels.cases import one_line, question_text, reference_text
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.card import Card, CardHead
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.fields import Combo, TextArea
from arena_desktop.widgets.forms import FormGrid
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import formats
from arena_desktop.wording.answers import title_of
from arena_desktop.wording.check_choice import not_tried_sentence
from arena_desktop.wording.run import sandbox_sentences
from arena_desktop.wording.setup import check_title
from engine.domain import Case, CheckResult, CheckSpec, ScoreState
from engine.project import Project
from engine.scoring.base import ScoringContext
from engine.scoring.options import read_options
from engine.scoring.registry import CHECKS, canonical_check
from engine.scoring.sandbox import Sandbox, SandboxState, is_installed, program_sandbox
from engine.scoring.try_check import try_check

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_DELAY_MS = 150
_OFFERED_CASES = 200
_NOT_TRIED = frozenset({"manual", "latency", "cost"})
"""Ways of marking that say nothing about a typed answer."""
_RUNS_CODE = "code_exec"
_ALWAYS = ("exact_match", "contains", "numeric", "json_match", "json_valid", "similarity")


@dataclass(frozen=True, slots=True)
class Marking:
    """One way of marking that the project uses, on how many tests, with its options in force."""

    spec: CheckSpec
    tests: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The one name of a built-in check; None for the project's own."""
        return canonical_check(self.spec.type)

    @property
    def compares_meanings(self) -> bool:
        """Whether a model is asked for each text."""
        return self.name == "similarity" and self.options.get("method") == "embedding"

    def as_json(self) -> dict[str, Any]:
        """The check as the tester takes it; the right answer comes from the field."""
        return {**self.spec.options, "type": self.spec.type, "not": self.spec.negate}


def can_be_tried(marking: Marking) -> bool:
    """Whether trying is free and says something about a text."""
    check = CHECKS.get(marking.name or "")
    if check is None or check.paid or marking.compares_meanings:
        return False
    return check.name not in _NOT_TRIED


class CheckTester(Card):
    """The fields and the mark. The mark is worked out in the background a moment after typing.

    With `chosen_only` it offers no other checks than those it is given: for a choice that is not saved.
    """

    def __init__(self, context: AppContext, *, chosen_only: bool = False) -> None:
        super().__init__(spacing=12, name="card_tester")
        self._context, self._chosen_only = context, chosen_only
        self._project: Project | None = None
        self._cases: Sequence[Case] = ()
        self._taken: tuple[str, Any] = ("", None)
        self._sandbox: Sandbox | None = None
        self.make_sandbox: Callable[[], Sandbox] = program_sandbox
        caption = self.tr("Free and at once: nothing is asked, and nothing is saved.")
        if chosen_only:
            self.body.addWidget(Label(caption, "caption", colour="text2", wrap=True))
        else:
            self.body.addWidget(CardHead(self.tr("Try it"), caption))
        self._check = Combo(self.tr("Way of marking"), name="combo_check")
        self._test = Combo(self.tr("Right answer of a test"), name="combo_test")
        self.answer = TextArea(
            self.tr("Answer of a model"),
            lines=3,
            placeholder=self.tr("Type what a model might answer"),
            name="edit_try_answer",
        )
        self.right = TextArea(self.tr("Right answer"), lines=2, name="edit_try_right")
        form = FormGrid(above=True)
        form.add(self.tr("&Way of marking"), self._check)
        self._question = Label("", "caption", colour="text2", wrap=True, name="label_try_question")
        chosen = QWidget()
        column = QVBoxLayout(chosen)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._test)
        column.addWidget(self._question)
        form.add(self.tr("Take the right answer of &test"), chosen).setBuddy(self._test)
        form.add(self.tr("Right answe&r"), self.right)
        form.add(self.tr("&Answer"), self.answer)
        for combo in (self._check, self._test):
            combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            combo.setMinimumContentsLength(12)
            combo.setSizeAdjustPolicy(combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._form = form
        self._nothing = Label("", wrap=True, colour="text2", name="label_not_tried")
        self.body.addWidget(self._nothing)
        self._nothing.hide()
        self.body.addWidget(form)
        self.body.addWidget(self._result_line())
        self._wait = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._wait.timeout.connect(self.try_now)
        self._test.currentIndexChanged.connect(self._on_test)
        self._check.currentIndexChanged.connect(lambda _index: self._wait.start())
        for area in (self.answer, self.right):
            area.textChanged.connect(self._wait.start)
        self._show_nothing()

    def show_project(self, project: Project, markings: Sequence[Marking]) -> None:
        """Offers the project's ways of marking first, then the other free ones."""
        self._project = project
        self._fill_checks([marking for marking in markings if can_be_tried(marking)])
        self._cases = [case for case in project.cases if case.reference is not None][:_OFFERED_CASES]
        chosen = self._test.currentData()
        self._test.blockSignals(True)
        self._test.clear()
        for case in self._cases:
            self._test.addItem(one_line(title_of(case))[:60], case.id)
        self._test.setCurrentIndex(max(0, self._test.findData(chosen)) if self._cases else -1)
        self._test.blockSignals(False)
        self._test.setEnabled(bool(self._cases))
        self._on_test(self._test.currentIndex())

    def show_choice(self, project: Project, specs: Sequence[CheckSpec]) -> None:
        """Offers checks that are not saved; what was typed stays and is marked by them."""
        listed = [Marking(spec, 0, _values(spec, project)) for spec in specs]
        before = self._check.currentIndex()
        if project is self._project:
            self._fill_checks([marking for marking in listed if can_be_tried(marking)])
            if 0 <= before < self._check.count():
                self._check.setCurrentIndex(before)
        else:
            self.show_project(project, listed)
        offered = self._check.count() > 0
        self._nothing.setText("" if offered else not_tried_sentence())
        self._nothing.setVisible(not offered)
        self._form.setVisible(offered)
        self._result.setVisible(offered)
        self._wait.start()

    def try_now(self) -> None:
        """Works the mark out now."""
        self._wait.stop()
        project, marking = self._project, self._check.currentData()
        answer = self.answer.toPlainText()
        if project is None or marking is None or not answer.strip():
            self._show_nothing()
            return
        if marking.name == _RUNS_CODE and not self._sandbox_is_ready():
            return
        own = marking.spec.reference if self._chosen_only else None
        reference = self._reference() if own is None else own
        config = project.config
        context = ScoringContext(
            config.scorers.options, project.root, judge_settings=config.judge, sandbox=self._sandbox
        )

        def work(_job: Job) -> CheckResult:
            return try_check(marking.as_json(), answer, reference, root=project.root, context=context)

        self._context.background.run(work, self._show_result, self._on_failed, name="try check", replace=True)

    # inside

    def _sandbox_is_ready(self) -> bool:
        """Whether code can be tried now; else the sandbox is being prepared and the try follows."""
        if self._sandbox is None and is_installed():
            self._sandbox = self.make_sandbox()
        sandbox = self._sandbox
        if sandbox is None or sandbox.state in (SandboxState.READY, SandboxState.FAILED):
            return True  # the check itself says what is missing or why it failed
        self.chip.hide()
        self._score.hide()
        self._reason.setText(" ".join(sandbox_sentences(SandboxState.PREPARING.value, "")))
        if sandbox.state is not SandboxState.PREPARING:
            name = "prepare sandbox"
            self._context.background.run(
                lambda _job: sandbox.prepare(), self._on_prepared, self._on_failed, name=name
            )
        return False

    def _on_prepared(self, _state: SandboxState) -> None:
        self.try_now()

    def _result_line(self) -> QWidget:
        self._result = QWidget()
        row = QHBoxLayout(self._result)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        self.chip = Chip(name="chip_try")
        self._score = Label("", "strong", name="label_try_score")
        self._reason = Label("", wrap=True, name="label_try_reason").selectable()
        row.addWidget(self.chip)
        row.addWidget(self._score)
        row.addWidget(self._reason, 1)
        return self._result

    def _fill_checks(self, markings: Sequence[Marking]) -> None:
        used = {marking.name for marking in markings}
        always = () if self._chosen_only else _ALWAYS
        others = [Marking(CheckSpec(name), 0) for name in always if name not in used]
        before = self._check.currentText()
        self._check.blockSignals(True)
        self._check.clear()
        for marking in (*markings, *others):
            if others and marking is others[0] and markings:
                self._check.insertSeparator(self._check.count())
            self._check.addItem(marking_title(marking), marking)
        # A separator has an empty text, which is no choice.
        self._check.setCurrentIndex(max(0, self._check.findText(before)) if before else 0)
        self._check.blockSignals(False)

    def _on_test(self, index: int) -> None:
        if not 0 <= index < len(self._cases):
            self._question.hide()
            return
        case = self._cases[index]
        text = reference_text(case)
        self._taken = (text, case.reference)
        self._question.setText(self.tr("Question: {text}").format(text=one_line(question_text(case))))
        self._question.show()
        self.right.setPlainText(text)
        self._wait.start()

    def _reference(self) -> Any:
        """The right answer as the test holds it where the text is still that of the test."""
        text = self.right.toPlainText()
        if not text.strip():
            return None
        return self._taken[1] if text == self._taken[0] else text

    def _show_nothing(self) -> None:
        self.chip.hide()
        self._score.hide()
        self._reason.setText(self.tr("Type an answer to see its mark."))

    def _show_result(self, result: CheckResult) -> None:
        words = {True: self.tr("Pass"), False: self.tr("Fail"), None: self.tr("No mark")}
        tones = {True: Tone.GOOD, False: Tone.BAD, None: Tone.WARN}
        passed = result.passed if result.state is ScoreState.SCORED else None
        self.chip.set_chip(words[passed], tones[passed])
        self.chip.show()
        graded = result.score is not None and 0 < result.score < 1
        self._score.setText(
            self.tr("{n} of 100").format(n=formats.out_of_100(result.score)) if graded else ""
        )
        self._score.setVisible(graded)
        before = self._reason.text()
        self._reason.setText(result.reason)
        if result.reason != before:
            announce(self._reason, f"{words[passed]}. {result.reason}")

    def _on_failed(self, error: Exception) -> None:
        raise error


def _values(spec: CheckSpec, project: Project) -> Mapping[str, Any]:
    """The options in force."""
    name = canonical_check(spec.type)
    return (
        read_options(CHECKS[name], spec.options, project.config.scorers.options)[0] if name else spec.options
    )


def marking_title(marking: Marking) -> str:
    """The words for a way of marking, turned around or not."""
    check = CHECKS.get(marking.name or "")
    title = check_title(check, marking.spec.type)
    return f"{title}, {check.opposite}" if check is not None and marking.spec.negate else title

"""Changes the second AI that marks: which model, how often, from where an answer passes, its rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from arena_desktop.desks.connections import VENDORS
from arena_desktop.desks.project_settings import Place
from arena_desktop.dialogs.criteria_rows import CriteriaRows
from arena_desktop.dialogs.edit_dialog import SettingsDialog, add_short, open_settings
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo, Spin, TextArea, set_state
from arena_desktop.widgets.forms import FieldNote, FormGrid
from arena_desktop.wording.judge_setup import card_title, pass_share
from engine.config.schema import MOST_VOTES, Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_THRESHOLD: Place = ("scorers", "options", "llm_judge", "threshold")
_PASS_MARK: Place = ("scorers", "options", "llm_judge", "pass_mark")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeJudgeDialog", text)


class ChangeJudgeDialog(SettingsDialog):
    """A form over the judge."""

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__("judge", card_title(), parent)
        self._config = config
        change = Button(_tr("Change it"), "primary", name="button_change_judge_now")
        self.set_content(self.scrolled(self._form(config)), change, 640, 660)
        self.keep_before()
        self.edit_model.textChanged.connect(self._check)
        self.edit_rubric.textChanged.connect(self._check)
        self.criteria.changed.connect(self._check)
        self._check()
        self.edit_model.setFocus()

    def now(self) -> dict[Place, Any]:
        return {
            ("judge", "model"): self.edit_model.text().strip() or None,
            ("judge", "provider"): self.combo_connection.currentData(),
            ("judge", "votes"): self.spin_votes.value(),
            ("judge", "rubric"): self.criteria.values() or self.edit_rubric.toPlainText().strip() or None,
            _THRESHOLD: self.spin_pass.value() / 100,
        }

    def values(self) -> dict[Place, Any]:
        found = super().values()
        own = self._config.scorers.options.get("llm_judge", {})
        if _THRESHOLD in found and "pass_mark" in own:
            found[_PASS_MARK] = None  # it would go before the share
        return found

    # parts

    def _form(self, config: Config) -> QWidget:
        judge = config.judge
        form = FormGrid(above=True)
        self.edit_model = QLineEdit(judge.model or "")
        self.edit_model.setObjectName("edit_judge_model")
        self.edit_model.setPlaceholderText(_tr("For instance gpt-5.5"))
        form.add(_tr("&Model"), self.edit_model, help_text=_tr("Best one that does not take part itself"))
        self.combo_connection = Combo(_tr("Connection of the second AI"), name="combo_judge_connection")
        names = [connection.id for connection in config.connections]
        for name in dict.fromkeys((*([judge.provider] if judge.provider else []), *names, *VENDORS)):
            self.combo_connection.addItem(name, name)
        add_short(form, _tr("Asked &over"), self.combo_connection)
        self.spin_votes = Spin(_tr("Asked about each answer"), 1, MOST_VOTES, name="spin_judge_votes")
        self.spin_votes.setSuffix(_tr(" times"))
        self.spin_votes.setValue(judge.votes)
        told = _tr("More than once costs more, and shows how sure it is")
        add_short(form, _tr("Asked about &each answer"), self.spin_votes, help_text=told)
        self.spin_pass = Spin(_tr("An answer passes from, of 100"), 0, 100, name="spin_judge_pass")
        self.spin_pass.setValue(round(pass_share(config) * 100))
        add_short(form, _tr("An answer &passes from, of 100"), self.spin_pass)
        self._add_rubric(form, judge.rubric)
        return form

    def _add_rubric(self, form: FormGrid, rubric: Any) -> None:
        text = rubric if isinstance(rubric, str) else ""
        self.edit_rubric = TextArea(
            _tr("What it looks at, in your words"),
            lines=4,
            placeholder=_tr("For instance: the answer is friendly and names the price"),
            name="edit_judge_rubric",
        )
        self.edit_rubric.setPlainText(text)
        form.add(_tr("What it &looks at, in your words"), self.edit_rubric)
        self.criteria = CriteriaRows(() if isinstance(rubric, str) or rubric is None else rubric)
        form.add(
            _tr("Or criteria that it marks one by one"),
            self.criteria,
            help_text=_tr("One that must pass makes the whole answer fail where it is not met"),
        )
        self.note = FieldNote()
        form.add("", self.note)

    # inside

    def _fault(self) -> str:
        """What keeps it from being written, in a sentence."""
        criteria = self.criteria.values()
        names = [item["name"] for item in criteria]
        if criteria and self.edit_rubric.toPlainText().strip():
            return _tr("Give either your words or criteria. Empty one of the two.")
        if len(set(names)) < len(names):
            return _tr("Two criteria have the same name. Rename one.")
        if criteria and not any(item["weight"] > 0 for item in criteria):
            return _tr("Every criterion counts 0. Let one count.")
        return ""

    def _check(self) -> None:
        fault = self._fault()
        self.note.show_note(self.edit_rubric, "bad", fault)
        set_state(self.edit_rubric, "bad" if fault else "")
        self.button_change.setEnabled(not fault and bool(self.edit_model.text().strip()))


def open_change_judge(context: AppContext, parent: QWidget | None = None) -> ChangeJudgeDialog | None:
    """Opens the form; what is changed goes into the open project, which is then read again."""
    said, name = _tr("The second AI was changed."), _tr("change the second AI")
    return open_settings(ChangeJudgeDialog, context, parent, said, name)

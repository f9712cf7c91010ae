"""What the Run page says before a run: who takes no part, what can be carried on, what it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Tone
from arena_desktop.desks.run_desk import RunBegan
from arena_desktop.desks.run_orders import Terms, must_ask
from arena_desktop.dialogs.confirm_cost import CostQuestion
from arena_desktop.views.home_facts import missing_calls, unfinished_runs
from arena_desktop.views.run_facts import RunChoice, RunFacts
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.wording import formats
from arena_desktop.wording import run_start as words
from arena_desktop.wording.home import rest_sentence

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


def _tr(text: str) -> str:
    return QCoreApplication.translate("RunView", text)


def left_out_message(facts: RunFacts, context: AppContext) -> Message | None:
    """Models that take no part, and what can be done about it; None where nobody is left out."""
    skipped = facts.preflight.skipped
    gated = [item.model_key for item in skipped if item.code == "breaks_gate"]
    if not skipped or not (facts.preflight.ready or gated):
        return None
    first = words.left_out_sentence([facts.labels.get(s.model_key, s.model_key) for s in skipped])
    buttons = [StripButton(_tr("See the models"), lambda: context.page_wanted.emit("models"))]
    if len(skipped) == 1 and skipped[0].code == "no_key":
        models = facts.opened.project.config.models
        service = next((m.provider for m in models if m.key == skipped[0].model_key), None) or ""
        buttons.insert(0, StripButton(_tr("Add key…"), lambda: context.key_wanted.emit(service)))
    if gated:
        ask = words.ask_anyway(len(gated))
        buttons.insert(0, StripButton(ask, lambda: context.projects.include_gated(True)))
    text = words.left_out_reason([(item.code, item.reason) for item in skipped])
    return Message("left_out", Tone.WARN, first, text, tuple(buttons))


def gated_message(facts: RunFacts, context: AppContext) -> Message | None:
    """Models that are asked although they can never be recommended."""
    gated = facts.gated
    if not gated:
        return None
    first, text = words.gated_sentences([facts.labels.get(key, key) for key in gated])
    leave = StripButton(words.leave_out(len(gated)), lambda: context.projects.include_gated(False))
    return Message("gated", Tone.INFO, first, text, (leave,), can_close=False)


def unfinished_message(context: AppContext) -> Message | None:
    """The newest run of the open project that stopped before its end."""
    project, has = context.projects.project, context.runs.has
    found = unfinished_runs(context.results.runs)
    run = next((r for r in found if project and r.project_root == project.root and not has(r.run_id)), None)
    if run is None:
        return None
    finished = run.completed + run.errors
    first = words.stopped_at(run.number, finished, run.planned, formats.when(run.started_at))
    carry = StripButton(_tr("Carry on"), lambda: context.runs.carry_on(run.run_id), strong=True)
    return Message("unfinished", Tone.INFO, first, rest_sentence(missing_calls(run), None), (carry,))


def confirm_reasons(choice: RunChoice) -> list[str]:
    """Why this run is asked about first; empty = it simply starts."""
    reasons = [words.confirm_sentence(note, choice.price.unpriced) for note in choice.confirm]
    if reasons:
        return reasons
    terms = Terms(choice.price.most, choice.price.unpriced)
    return [words.limit_sentence(choice.price)] if must_ask(terms) else []


def cost_question(facts: RunFacts, choice: RunChoice, reasons: list[str], *, waits: bool) -> CostQuestion:
    """The question before a run that may cost more than the person wants unasked."""
    trials = facts.opened.project.config.run.trials
    return CostQuestion(
        price=words.price_sentence(choice.price),
        counts=words.counts_line(len(facts.preflight.ready), choice.tests, trials, choice.asked),
        reasons=reasons,
        pay=words.run_button(choice.price, waits=waits).rstrip("…"),
    )


def size_line(began: RunBegan) -> str:
    """What a run asks in all."""
    plan = began.plan
    if began.again:
        return words.asked_again_line(len(began.again))
    return words.counts_line(len(plan.models), len(plan.cases), plan.trials, plan.planned) + "."

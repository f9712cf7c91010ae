"""The sentences of a run: what is happening, how it ended. `run_start` holds those before it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from arena_desktop.wording.reasons import aside_cause, error_words
from engine.domain import CallError, RunStatus


def _tr(text: str) -> str:
    return QCoreApplication.translate("Run", text)


def other_run(project: str, share: float) -> str:
    """The run that goes on while the page shows something else."""
    return _tr("{project} is running, {share} %").format(project=project, share=formats.points(share))


def marking_ai() -> str:
    """The model that marks the answers."""
    return _tr("The second AI")


def marking_lane(lane: str) -> str:
    """A lane that marks answers: the judge's, or that of a model for embeddings."""
    # Only during a run: the first paint must not wait for the engine.
    from engine.execution.jobs import JUDGE_LANE

    return marking_ai() if lane == JUDGE_LANE else _tr("The model that compares meanings")


def comparing_model(name: str) -> str:
    """A model for embeddings in a list of models, its own name first: there may be several."""
    return _tr("{model}, compares meanings").format(model=name)


def offer_again(models: int) -> str:
    """The button that lets models be asked again."""
    return _tr("Ask it again") if models == 1 else _tr("Ask them again")


def check_key() -> str:
    """The button that leads to the access key."""
    return _tr("Check the key…")


def limit_passed() -> tuple[str, str]:
    """A limit that only warns is passed."""
    return _tr("The run has passed your limit."), _tr("It goes on, because the project says so.")


def more_line(retrying: int, reserved: Decimal, *, free: bool) -> str:
    """Below the counts: tries that wait, and money that is set aside for what is on its way."""
    parts = []
    if retrying:
        parts.append(counted(retrying, _tr("1 waits for another try."), _tr("{count} wait for another try.")))
    if reserved and not free:
        text = _tr("Up to {cost} more is set aside for questions on their way.")
        parts.append(text.format(cost=formats.money(reserved)))
    return " ".join(parts)


def awake_line(kept: bool | None) -> str:
    """Whether the computer stays awake; empty where nobody asked for it."""
    if kept is None:
        return ""
    if kept:
        return _tr("The computer stays awake.")
    return _tr("This computer does not let us keep it awake. If it sleeps, the run waits until it wakes.")


def practice_service() -> str:
    """Where the pretend models live."""
    return _tr("The practice service")


# ---- while it goes on


def answers_in(done: int, total: int) -> str:
    """How far the run is."""
    return _tr("{done} of {total} answers are in").format(
        done=formats.whole(done), total=formats.whole(total)
    )


def doing(*, stopping: bool, paused: bool, ended: bool, running: int) -> str:
    """The word above the bar."""
    if ended:
        return _tr("Ended")
    if stopping:
        return _tr("Finishing the ones under way") if running else _tr("Stopping")
    if paused:
        return _tr("Paused")
    return _tr("Asking")


def time_left(seconds: float | None, *, paused: bool, stopping: bool) -> str:
    """The figure below "Time left"."""
    if stopping:
        return _tr("a moment")
    if paused:
        return _tr("paused")
    return formats.about_time(seconds)


def spent(usd: Decimal | None, *, free: bool) -> str:
    """Spent so far. Nothing yet is $0.00; "free" only where no model can cost anything."""
    if usd is None:
        return formats.money(None)
    if usd == 0 and not free:
        return "$0.00"
    return formats.money(usd)


def spent_of(usd: Decimal | None, ceiling: Decimal | None, *, free: bool) -> str:
    """Spent so far, and the limit where there is one that matters."""
    words = spent(usd, free=free)
    if ceiling is None or free:
        return words
    return _tr("{spent} of {limit}").format(spent=words, limit=formats.money(ceiling))


def spent_short(usd: Decimal | None, ceiling: Decimal | None, *, free: bool) -> str:
    """The same where no heading says that it is about money."""
    return _tr("cost not known") if usd is None else spent_of(usd, ceiling, free=free)


def throttle_sentence(service: str) -> str:
    """First sentence of the yellow strip."""
    return _tr("{service} asked us to slow down.").format(service=service)


def throttle_text(before: int, after: int, left_s: float, *, others: bool) -> str:
    """What it means: width before and now, how long, what goes on meanwhile."""
    parts = []
    if after < before:
        text = _tr("{after} at the same time instead of {before}.")
        parts.append(text.format(before=before, after=after))
    if left_s > 0:
        parts.append(_tr("Next try in {time}, by itself.").format(time=formats.exact_seconds(left_s)))
    else:
        parts.append(_tr("It goes on slower and gets faster again by itself."))
    if others:
        parts.append(_tr("The other models keep going."))
    return " ".join(parts)


def offline_sentence(service: str) -> str:
    """First sentence while a connection is away."""
    return _tr("{service} cannot be reached.").format(service=service)


def no_internet() -> str:
    """First sentence while no service can be reached."""
    return _tr("There is no internet connection. The run waits.")


def offline_text(left_s: float, saved: int) -> str:
    """What it means that a connection is away."""
    safe = counted(saved, _tr("1 answer is safe."), _tr("{count} answers are safe."))
    if left_s <= 0:
        return _tr("{safe} It is being tried now.").format(safe=safe)
    return _tr("{safe} Next try in {time}, by itself.").format(safe=safe, time=formats.exact_seconds(left_s))


def sandbox_sentences(state: str, reason: str) -> tuple[str, str]:
    """First sentence and text while the sandbox for code is made ready, and where it cannot be."""
    if state == "preparing":
        return (
            _tr("Preparing the sandbox."),
            _tr("The code of answers runs in it. The first time this takes some seconds."),
        )
    return _tr("Code cannot be run here."), reason


def set_aside_chip(code: str) -> str:
    """The few words of a model that gets no more questions."""
    chips = {
        "denied": _tr("Key refused"),
        "no_credit": _tr("No credit left"),
        "model_unknown": _tr("Model not known"),
        "same_failure": _tr("Set aside: always fails"),
        "asked_to_slow_down": _tr("Set aside: too slow"),
        "unreachable": _tr("Set aside: not reached"),
        "wait_too_long": _tr("Set aside: long wait"),
        "day_quota": _tr("Quota used up"),
        "budget_model": _tr("Reached its limit"),
    }
    return chips.get(code, _tr("Set aside"))


def set_aside_sentence(labels: Sequence[str], *, ended: bool = False) -> str:
    """First sentence of the strip about models that get no more questions; `ended`: nor does any other."""
    if ended:
        one, many = _tr("{model} was asked no more."), _tr("{count} models were asked no more.")
        return one.format(model=labels[0]) if len(labels) == 1 else many.format(count=len(labels))
    if len(labels) == 1:
        return _tr("{model} gets no more questions.").format(model=labels[0])
    return _tr("{count} models get no more questions.").format(count=len(labels))


def set_aside_text(code: str, error: CallError | None, *, others: bool, until: datetime | None = None) -> str:
    """Why, when to come back, and that the others go on."""
    cause = aside_cause(code, until)
    if not cause and error is not None:
        cause = error_words(error.kind, error.status)
        cause = _tr("Its first questions all failed. {cause}").format(cause=cause)
    if others:
        cause = f"{cause} {_tr('The others go on.')}"
    return cause.strip()


def shares_lane(width: int) -> str:
    """A model that stands in another one's lane."""
    return _tr("shares the {count}").format(count=width)


def lane_text(width: int, configured: int) -> str:
    """Beside the capsules: "3 of 6", or "4"."""
    if width >= configured:
        return str(width)
    return _tr("{width} of {configured}").format(width=width, configured=configured)


def done_of(done: int, planned: int) -> str:
    """How many answers of a model are in."""
    return _tr("{done} of {planned}").format(done=formats.whole(done), planned=formats.whole(planned))


# ---- after


def ended_title(status: RunStatus) -> str:
    """The title of the page once a run is over."""
    words = {
        RunStatus.COMPLETED: _tr("The run is complete"),
        RunStatus.CANCELLED: _tr("You stopped this run"),
        RunStatus.STOPPED_BUDGET: _tr("The run stopped at your limit"),
        RunStatus.FAILED_FAST: _tr("The run stopped at the first failure"),
        RunStatus.ABORTED: _tr("The run was ended by a fault"),
        RunStatus.INTERRUPTED: _tr("The run was interrupted"),
    }
    return words.get(status, _tr("The run has ended"))


def ended_text(done: int, planned: int, seconds: float) -> str:
    """How much is kept and how long it took."""
    kept = _tr("{done} of {planned} answers are kept.").format(
        done=formats.whole(done), planned=formats.whole(planned)
    )
    return _tr("{kept} It took {time}.").format(kept=kept, time=formats.exact_seconds(seconds))

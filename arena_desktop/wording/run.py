"""The sentences of the Run page: what a run will cost, what is happening, how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.reasons import aside_cause, error_words
from engine.domain import CallError, Note, RunStatus

if TYPE_CHECKING:
    from engine.execution.estimate import CostRange

_A_TRIFLE = Decimal("0.01")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Run", text)


def counted(count: int, one: str, many: str) -> str:
    """`one` for 1, else `many` with {count} filled in."""
    return one if count == 1 else many.format(count=formats.whole(count))


# ---- before


@dataclass(frozen=True, slots=True)
class RunPrice:
    """What a run costs before it starts. `ceiling` None = no limit; `stops` False = the limit only
    warns. `unpriced` names the models whose price is not known."""

    total: CostRange
    ceiling: Decimal | None = None
    stops: bool = True
    unpriced: tuple[str, ...] = ()

    @property
    def free(self) -> bool:
        """Whether nothing can be charged."""
        return self.total.high == 0

    @property
    def most(self) -> Decimal | None:
        """The most that can be spent; None = not known."""
        limit = self.ceiling if self.stops else None
        high = self.total.high
        if high is None or limit is None:
            return high
        return min(high, limit)


def price_sentence(price: RunPrice) -> str:
    """The largest sentence of the page: "About $0.90, never more than $2.00."."""
    if price.unpriced:
        if len(price.unpriced) == 1:
            return _tr("The price of {model} is not known.").format(model=price.unpriced[0])
        return _tr("The price of {count} models is not known.").format(count=len(price.unpriced))
    likely, most = price.total.likely, price.most
    if likely is None or most is None:
        return _tr("The price is not known.")
    if price.free:
        return _tr("Free.")
    if likely < _A_TRIFLE and most < _A_TRIFLE:
        return _tr("Less than 1 cent.")
    if price.stops and price.ceiling is not None and likely > price.ceiling:
        return _tr("More than your limit of {limit}.").format(limit=formats.money(price.ceiling))
    return _tr("About {likely}, never more than {most}.").format(
        likely=formats.money(likely), most=formats.money(most)
    )


def limit_sentence(price: RunPrice) -> str:
    """What stands behind the price: the limit, or what is not covered by it."""
    if price.unpriced and price.ceiling is not None:
        return _tr("Your limit of {limit} does not count what has no price.").format(
            limit=formats.money(price.ceiling)
        )
    if price.unpriced:
        return _tr("We cannot say what the run will cost.")
    if price.free:
        return _tr("Nobody charges anything for this run.")
    likely = price.total.likely
    if price.ceiling is None or price.total.high is None or likely is None:
        return _tr("You have set no limit.")
    if not price.stops:
        return _tr("Your limit of {limit} only warns.").format(limit=formats.money(price.ceiling))
    if likely > price.ceiling:
        return _tr("The run stops there and keeps what it has. The result would be partial.")
    return _tr("Your limit of {limit} stops the run, also for questions already on their way.").format(
        limit=formats.money(price.ceiling)
    )


def counts_line(models: int, tests: int, trials: int, questions: int) -> str:
    """What will be asked: "4 models, 50 tests, asked 3 times each: 600 questions"."""
    parts = [
        counted(models, _tr("1 model"), _tr("{count} models")),
        counted(tests, _tr("1 test"), _tr("{count} tests")),
    ]
    if trials > 1:
        parts.append(_tr("asked {count} times each").format(count=trials))
    asked = counted(questions, _tr("1 question"), _tr("{count} questions"))
    return _tr("{parts}: {questions}").format(parts=", ".join(parts), questions=asked)


def about_cost(usd: Decimal | None) -> str:
    """An estimate inside a sentence: "about $0.90", "free", "price not known"."""
    if usd is None:
        return _tr("price not known")
    if usd == 0:
        return _tr("free")
    if usd < _A_TRIFLE:
        return _tr("less than 1 cent")
    return _tr("about {cost}").format(cost=formats.money(usd))


def run_button(price: RunPrice, *, waits: bool = False) -> str:
    """The button that starts the run says what it costs. `waits`: another run goes on, so it waits."""
    if waits:
        return _tr("Run in turn, {cost}").format(cost=_button_cost(price))
    if price.unpriced or price.total.likely is None:
        return _tr("Run, price not known…")
    if price.free:
        return _tr("Run, for free")
    likely = price.total.likely
    if price.stops and price.ceiling is not None and likely > price.ceiling:
        return _tr("Run for at most {cost}").format(cost=formats.money(price.ceiling))
    if likely < _A_TRIFLE:
        return _tr("Run for less than 1 cent")
    return _tr("Run for about {cost}").format(cost=formats.money(likely))


def _button_cost(price: RunPrice) -> str:
    likely = price.total.likely
    if price.unpriced or likely is None:
        return _tr("price not known…")
    if not price.free and price.stops and price.ceiling is not None and likely > price.ceiling:
        return _tr("at most {cost}").format(cost=formats.money(price.ceiling))
    return about_cost(likely)


def other_run(project: str, share: float) -> str:
    """The run that goes on while the page shows something else."""
    return _tr("{project} is running, {share} %").format(project=project, share=formats.points(share))


def asked_again_line(count: int) -> str:
    """What a run does that only asks some questions again."""
    return counted(count, _tr("1 question is asked again."), _tr("{count} questions are asked again."))


def choice_line(tests: int, questions: int, cost: Decimal | None) -> str:
    """First line below a choice: "600 questions, about $1.52"."""
    text = _tr("{tests}, {questions}, {cost}")
    return text.format(
        tests=counted(tests, _tr("1 test"), _tr("{count} tests")),
        questions=counted(questions, _tr("1 question"), _tr("{count} questions")),
        cost=about_cost(cost),
    )


def sentence_case(text: str) -> str:
    """The first letter large, for a phrase that stands alone."""
    return text[:1].upper() + text[1:]


def confirm_sentence(note: Note, labels: Sequence[str]) -> str:
    """Why a run is asked about before it starts. `labels` are the models without a price."""
    listed = ", ".join(labels)
    if note.code == "cost_unknown":
        return _tr("The price of {models} is not known, so nobody can say what the run will cost.").format(
            models=listed
        )
    if note.code == "unpriced_under_ceiling":
        return _tr("Your limit of {limit} does not count {models}, because its price is not known.").format(
            limit=formats.money(Decimal(str(note.values["ceiling"]))), models=listed
        )
    if note.code == "judge_not_ready":
        return _tr("The marking AI cannot be asked. {reason} Answers would stay without a mark.").format(
            reason=note.values.get("reason", "")
        )
    if note.code == "embedder_not_ready":
        text = _tr(
            "The model {model}, which compares meanings, cannot be asked. {reason} Answers would stay without"
            " a mark."
        )
        return text.format(model=note.values.get("model", ""), reason=note.values.get("reason", ""))
    if note.code == "above":
        return _tr("It could cost up to {high}. You want to be asked above {limit}.").format(
            high=formats.money(Decimal(str(note.values["high"]))),
            limit=formats.money(Decimal(str(note.values["limit"]))),
        )
    return note.code.replace("_", " ")


def marking_ai() -> str:
    """The model that marks the answers."""
    return _tr("The marking AI")


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


def left_out_sentence(labels: Sequence[str]) -> str:
    """Which models take no part."""
    if len(labels) == 1:
        return _tr("{model} is left out of this run.").format(model=labels[0])
    return _tr("{count} models are left out of this run.").format(count=len(labels))


def left_out_reason(reasons: Sequence[tuple[str, str]]) -> str:
    """Why, from (code, the engine's sentence) of each; empty where there is no one cause to name."""
    if {code for code, _sentence in reasons} == {"no_key"}:
        return _tr("It has no access key.") if len(reasons) == 1 else _tr("They have no access key.")
    return reasons[0][1] if len(reasons) == 1 else ""


def plan_sentence(concurrency: int, lanes: Sequence[tuple[str, int]], seconds: float) -> str:
    """How the run goes about it."""
    listed = ", ".join(
        _tr("{service} {count}").format(service=service, count=count) for service, count in lanes
    )
    return _tr(
        "At most {count} questions at the same time ({lanes}). After {time} without an answer a question"
        " counts as failed. Failed questions are not counted as wrong."
    ).format(count=concurrency, lanes=listed, time=formats.exact_seconds(seconds))


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


def throttle_sentence(service: str) -> str:
    """First sentence of the yellow strip."""
    return _tr("{service} asked us to slow down.").format(service=service)


def throttle_text(before: int, after: int, left_s: float, *, others: bool) -> str:
    """What it means: width before and now, how long, what goes on meanwhile."""
    parts = []
    if after < before:
        parts.append(_tr("{before} → {after} at the same time.").format(before=before, after=after))
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


def ask_anyway(count: int) -> str:
    """The button that asks models which break a must-have as well."""
    return _tr("Ask it anyway") if count == 1 else _tr("Ask them anyway")


def leave_out(count: int) -> str:
    """The button that takes this back."""
    return _tr("Leave it out") if count == 1 else _tr("Leave them out")


def gated_sentences(labels: Sequence[str]) -> tuple[str, str]:
    """First sentence and text about models that are asked although they break a must-have."""
    names = ", ".join(labels)
    if len(labels) == 1:
        return (
            _tr("{names} is asked although it breaks a must-have.").format(names=names),
            _tr("You see how it does. It costs what it costs, and it will have no place."),
        )
    return (
        _tr("{names} are asked although they break a must-have.").format(names=names),
        _tr("You see how they do. They cost what they cost, and they will have no place."),
    )


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


def set_aside_sentence(labels: Sequence[str]) -> str:
    """First sentence of the strip about models that get no more questions."""
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


def stopped_at(number: int, done: int, planned: int, when: str) -> str:
    """A stored run that can be carried on."""
    return _tr("Run {number} stopped after {done} of {planned} questions, {when}.").format(
        number=number, done=formats.whole(done), planned=formats.whole(planned), when=when
    )

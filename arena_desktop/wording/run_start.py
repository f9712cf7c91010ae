"""The sentences before a run: what it will cost, what is asked, who takes no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from engine.domain import Note

if TYPE_CHECKING:
    from engine.execution.estimate import CostRange


_A_TRIFLE = Decimal("0.01")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Run", text)


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
        return _tr("The second AI cannot be asked. {reason} Answers would stay without a mark.").format(
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


def stopped_at(number: int, done: int, planned: int, when: str) -> str:
    """A stored run that can be carried on."""
    return _tr("Run {number} stopped after {done} of {planned} questions, {when}.").format(
        number=number, done=formats.whole(done), planned=formats.whole(planned), when=when
    )

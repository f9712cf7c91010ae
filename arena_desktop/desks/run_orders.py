"""An ordered run, or an ordered marking of a saved one: everything it was ordered with, and what has
changed when its turn comes. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from engine.config.schema import Budgets
    from engine.domain import Cell, Note
    from engine.errors import ArenaError
    from engine.execution.estimate import Estimate
    from engine.execution.mark_again import MarkAgain
    from engine.execution.plan import Plan
    from engine.execution.preflight import Preflight
    from engine.execution.request import RunRequest
    from engine.execution.rest import Rest
    from engine.keystore import KeyStore
    from engine.pricing import PriceBook
    from engine.project import Project
    from engine.storage.store import Store

ASK_ABOVE_USD = Decimal(1)
"""Above this a run is asked about even where the project names no amount."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Which run is carried on, and how. `choice` None = the project has not changed.

    With `again` only these calls are asked, and nothing else of the run. `missing` are its open
    questions as far as they are known, and `store` is the file it lies in.
    """

    run_id: str
    retry_errors: bool = False
    choice: str | None = None
    again: tuple[Cell, ...] = ()
    number: int | None = None
    missing: int | None = None
    store: Path | None = None


@dataclass(frozen=True, slots=True)
class RunOrder:
    """A run as it was ordered. The project is the one that was loaded then, whatever becomes of it.

    `rest` is what carrying on still asks and costs, once somebody has looked.
    """

    project: Project
    prices: PriceBook
    preflight: Preflight
    plan: Plan
    resume: Resume | None = None
    rest: Rest | None = None

    @property
    def name(self) -> str:
        """The name of its project."""
        return self.project.config.project

    def request(self, keys: KeyStore, place: Path, **more: Any) -> RunRequest:
        """What the engine is given; `place` is the store, `more` are further fields of the request."""
        from engine.execution.request import RunRequest

        resume = self.resume or Resume("")
        return RunRequest(
            project=self.project,
            preflight=self.preflight,
            plan=self.plan,
            store_path=place,
            keystore=keys,
            pricebook=self.prices,
            resume_from=resume.run_id or None,
            resume_choice=resume.choice,
            retry_errors=resume.retry_errors,
            again=resume.again,
            **more,
        )

    def with_rest(self, keys: KeyStore) -> RunOrder:
        """The same order with what is left of its saved run, and its price. For a background thread.

        Raises UserError where it cannot be carried on.
        """
        from engine.execution.rest import look_at_rest

        if self.resume is None or self.resume.store is None:
            return self
        return replace(self, rest=look_at_rest(self.request(keys, self.resume.store)))

    @property
    def marking(self) -> MarkAgain | None:
        """A run asks models."""
        return None

    def looked_at_anew(self, keys: KeyStore, should_stop: Callable[[], bool]) -> RunOrder:
        """The same order with keys, servers and prices as they are now. For a background thread.

        Raises UserError where it cannot run any more.
        """
        from engine.execution.plan import make_plan
        from engine.execution.preflight import examine
        from engine.pricing import PriceBook

        prices = PriceBook.for_config(self.project.config, self.project.root)
        preflight = examine(
            self.project,
            keystore=keys,
            pricebook=prices,
            should_stop=should_stop,
            include_gated=self.preflight.include_gated,
        )
        plan = make_plan(self.project, preflight)
        return replace(self, preflight=preflight, prices=prices, plan=plan).with_rest(keys)


@dataclass(frozen=True, slots=True)
class MarkingOrder:
    """A saved run that is to be marked again, and somebody has to be asked for it.

    `found` is what it asks and costs, `open_store` opens the store of the run, `number` is the run's.
    """

    found: MarkAgain
    prices: PriceBook
    open_store: Callable[[], Store]
    number: int | None = None

    @property
    def name(self) -> str:
        """The name of its project."""
        return self.found.project.config.project

    @property
    def marking(self) -> MarkAgain | None:
        """What is asked and what it costs."""
        return self.found

    @property
    def resume(self) -> Resume | None:
        """No run is carried on."""
        return None

    def looked_at_anew(self, keys: KeyStore, should_stop: Callable[[], bool]) -> MarkingOrder:
        """The same order by the marks, keys and prices as they are now. For a background thread.

        Raises UserError where it cannot be done any more.
        """
        from engine.execution.candidates import Means
        from engine.execution.mark_again import look
        from engine.pricing import PriceBook

        project = self.found.project
        prices = PriceBook.for_config(project.config, project.root)
        means = Means(keys, prices, probe=True, should_stop=should_stop)
        found = look(self.open_store(), self.found.run_id, project, means)
        return replace(self, found=found, prices=prices)


Order = RunOrder | MarkingOrder


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person agrees to with a run. `most` None = nobody can say what it will cost.

    `questions` are what the project itself wants a yes for; `trusted` whether its own code may run.
    """

    most: Decimal | None
    unpriced: tuple[str, ...] = ()
    questions: tuple[Note, ...] = ()
    trusted: bool = False
    models: tuple[str, ...] = ()


class Change(StrEnum):
    """What a person must say yes to again before a run that waited may start."""

    DEARER = "dearer"
    PRICE_UNKNOWN = "price_unknown"
    TRUST = "trust"


def terms_of(order: Order) -> Terms:
    """The terms of an order, by the prices it holds."""
    if isinstance(order, MarkingOrder):
        return _terms_of_marking(order.found)
    from engine.execution.estimate import questions

    trusted = order.preflight.code_trusted
    models = tuple(model.entry.key for model in order.preflight.ready)
    budgets, rest = order.project.config.budgets, order.rest
    if rest is not None:
        found = rest.expected
        return Terms(
            _limited(found.total.high, budgets, rest.before), found.unpriced, rest.confirm, trusted, models
        )
    found = _whole(order)
    asked = questions(order.project.config, found)
    return Terms(_limited(found.total.high, budgets), found.unpriced, asked, trusted, models)


def _whole(order: RunOrder) -> Estimate:
    from engine.execution.estimate import estimate

    config, preflight = order.project.config, order.preflight
    if preflight.estimate.calls == order.plan.planned:
        return preflight.estimate
    # A quick look asks a few tests of what was looked at.
    priced = [(model.entry, model.price) for model in preflight.ready]
    return estimate(config, order.project.cases, priced, preflight.judge, preflight.embedders)


def must_ask(terms: Terms) -> bool:
    """Whether a person is asked before anything of these terms starts: the project wants it, nobody can
    say what it costs, or it may cost more than the program spends unasked."""
    return bool(terms.questions or terms.unpriced or (terms.most or 0) > ASK_ABOVE_USD)


def wants_yes(order: RunOrder) -> bool:
    """Whether a person is asked before a saved run is carried on. Chosen calls are asked again for money
    only after a yes, however little it is."""
    chosen = order.resume is not None and bool(order.resume.again)
    costs = order.rest is not None and order.rest.expected.total.high != 0
    return (chosen and costs) or must_ask(terms_of(order))


def _terms_of_marking(found: MarkAgain) -> Terms:
    return Terms(
        most=_limited(found.cost.high, found.project.config.budgets),
        unpriced=found.unpriced,
        questions=found.confirm,
        trusted=found.request.preflight.code_trusted,
    )


def _limited(most: Decimal | None, budgets: Budgets, before: Decimal = Decimal(0)) -> Decimal | None:
    """`before` was spent under the same limit."""
    if most is None or budgets.max_run_usd is None or budgets.on_exceed != "stop":
        return most
    return min(most, max(Decimal(0), budgets.max_run_usd - before))


def changes(agreed: Terms, now: Terms) -> tuple[Change, ...]:
    """What must be asked about; empty = the run may start as it was agreed to.

    A run that got dearer is asked about only where it would have been asked about when ordered.
    """
    found = []
    if set(now.unpriced) - set(agreed.unpriced):
        found.append(Change.PRICE_UNKNOWN)
    elif _dearer(agreed, now) and must_ask(now):
        found.append(Change.DEARER)
    if agreed.trusted and not now.trusted:
        found.append(Change.TRUST)
    return tuple(found)


def _dearer(agreed: Terms, now: Terms) -> bool:
    return agreed.most is not None and now.most is not None and now.most > agreed.most


class Wait(StrEnum):
    """How an order waits."""

    TURN = "turn"
    CHECKING = "checking"
    ASKS = "asks"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """An order in the waiting list. `number` names it; lower ones were ordered before.

    ASKS: `changes` since it was agreed to, and `now` the terms of today. CANNOT: `error` says why.
    """

    number: int
    order: Order
    agreed: Terms
    wait: Wait = Wait.TURN
    changes: tuple[Change, ...] = ()
    now: Terms | None = None
    error: ArenaError | None = None

    @property
    def most(self) -> Decimal | None:
        """The most it can cost, by what is known of it now."""
        return (self.now or self.agreed).most

    def looked_at(self, order: Order) -> WaitingRun:
        """As it waits once it was looked at: free to start as agreed, or held for a person."""
        now = terms_of(order)
        found = changes(self.agreed, now)
        if found:
            return replace(self, wait=Wait.ASKS, changes=found, now=now)
        return replace(self, order=order, now=now)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Models that could be asked when it was ordered and cannot now."""
        now = self.now
        return () if now is None else tuple(key for key in self.agreed.models if key not in now.models)

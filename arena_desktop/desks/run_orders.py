"""An ordered run, or an ordered marking of a saved one: everything it was ordered with, and what has
changed when its turn comes. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from engine.config.schema import Budgets
    from engine.domain import Cell, Note
    from engine.errors import ArenaError
    from engine.execution.mark_again import MarkAgain
    from engine.execution.plan import Plan
    from engine.execution.preflight import Preflight
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
    """A run as it was ordered. The project is the one that was loaded then, whatever becomes of it."""

    project: Project
    prices: PriceBook
    preflight: Preflight
    plan: Plan
    resume: Resume | None = None

    @property
    def name(self) -> str:
        """The name of its project."""
        return self.project.config.project

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
        return replace(self, preflight=preflight, prices=prices, plan=plan)


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
    from engine.execution.estimate import estimate, questions

    config, preflight = order.project.config, order.preflight
    found = preflight.estimate
    if found.calls != order.plan.planned:
        # A quick look asks a few tests of what was looked at.
        priced = [(model.entry, model.price) for model in preflight.ready]
        found = estimate(config, order.project.cases, priced, preflight.judge, preflight.embedders)
    return Terms(
        most=_limited(found.total.high, config.budgets),
        unpriced=found.unpriced,
        questions=questions(config, found),
        trusted=preflight.code_trusted,
        models=tuple(model.entry.key for model in preflight.ready),
    )


def _terms_of_marking(found: MarkAgain) -> Terms:
    return Terms(
        most=_limited(found.cost.high, found.project.config.budgets),
        unpriced=found.unpriced,
        questions=found.confirm,
        trusted=found.request.preflight.code_trusted,
    )


def _limited(most: Decimal | None, budgets: Budgets) -> Decimal | None:
    if most is None or budgets.max_run_usd is None or budgets.on_exceed != "stop":
        return most
    return min(most, budgets.max_run_usd)


def changes(agreed: Terms, now: Terms) -> tuple[Change, ...]:
    """What must be asked about; empty = the run may start as it was agreed to.

    A run that got dearer is asked about only where it would have been asked about when ordered.
    """
    found = []
    if set(now.unpriced) - set(agreed.unpriced):
        found.append(Change.PRICE_UNKNOWN)
    elif _dearer(agreed, now) and (now.questions or (now.most or 0) > ASK_ABOVE_USD):
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

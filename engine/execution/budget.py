"""The reservation ledger: what was spent, what is still at stake, and whether one more fits.

Every attempt reserves its worst case before it starts, so that spend plus reservations never
pass a ceiling, with any number of calls in flight. Money is Decimal US dollars; None = no price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Worst:
    """The most one attempt can use. `usd` None: the model has no price."""

    usd: Decimal | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Used:
    """What one attempt did use. None = not reported: its reservation stays."""

    usd: Decimal | None = None
    tokens: int | None = None


NOTHING = Used(ZERO, 0)
"""Refused before any work: costs nothing."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Limits of one run. `warn` makes the money ceilings warnings; calls and tokens always bind."""

    run_usd: Decimal | None = None
    model_usd: Decimal | None = None
    calls: int | None = None
    tokens: int | None = None
    warn: bool = False

    @property
    def any(self) -> bool:
        """True where something has to be reserved at all."""
        return self.money or self.calls is not None or self.tokens is not None

    @property
    def money(self) -> bool:
        """True where a money ceiling is set."""
        return self.run_usd is not None or self.model_usd is not None


class Fit(StrEnum):
    """Whether one more attempt fits."""

    YES = "yes"
    RUN_FULL = "run_full"
    MODEL_FULL = "model_full"


@dataclass(slots=True)
class Account:
    """Sums of the run or of one model.

    `kept` are reservations whose real cost never became known ("up to"); `open` those of calls
    in flight; `unpriced` counts settled attempts of models without a price.
    """

    spent: Decimal = ZERO
    kept: Decimal = ZERO
    open: Decimal = ZERO
    unpriced: int = 0
    in_flight: int = 0
    calls: int = 0
    tokens: int = 0

    @property
    def committed(self) -> Decimal:
        """What counts against a ceiling."""
        return self.spent + self.kept + self.open


@dataclass(frozen=True, slots=True)
class Carried:
    """What one payer used in the earlier parts of a resumed run."""

    spent: Decimal = ZERO
    kept: Decimal = ZERO
    calls: int = 0
    tokens: int = 0
    unpriced: int = 0


class Ledger:
    """Reservations by job. Not thread-safe; the dispatcher owns it."""

    def __init__(self, ceilings: Ceilings, carried: Mapping[str, Carried] | None = None) -> None:
        self.ceilings = ceilings
        self.run = Account()
        self._by_payer: dict[str, Account] = {}
        self._open: dict[int, tuple[str, Worst]] = {}
        self._warned: set[str] = set()
        for payer, before in (carried or {}).items():
            for account in (self.run, self.account(payer)):
                account.spent += before.spent
                account.kept += before.kept
                account.calls += before.calls
                account.tokens += before.tokens
                account.unpriced += before.unpriced

    @property
    def calls(self) -> int:
        """Requests that did work or may have."""
        return self.run.calls

    @property
    def tokens(self) -> int:
        """Tokens used, or reserved where the use is not known."""
        return self.run.tokens

    def account(self, payer: str) -> Account:
        """The sums of one model, or of the judge."""
        return self._by_payer.setdefault(payer, Account())

    @property
    def payers(self) -> dict[str, Account]:
        """All sums by payer."""
        return self._by_payer

    def fits(self, payer: str, worst: Worst) -> Fit:
        """Whether this attempt may start now."""
        c = self.ceilings
        if c.calls is not None and self.calls + 1 > c.calls:
            return Fit.RUN_FULL
        if c.tokens is not None and self.tokens + worst.tokens > c.tokens:
            return Fit.RUN_FULL
        usd = worst.usd
        if usd is None or c.warn:
            return Fit.YES
        if c.run_usd is not None and self.run.committed + usd > c.run_usd:
            return Fit.RUN_FULL
        if c.model_usd is not None and self.account(payer).committed + usd > c.model_usd:
            return Fit.MODEL_FULL
        return Fit.YES

    def reserve(self, job: int, payer: str, worst: Worst) -> None:
        """Books the worst case of an attempt that starts now."""
        self._open[job] = (payer, worst)
        for account in (self.run, self.account(payer)):
            account.calls += 1
            account.tokens += worst.tokens
            account.open += worst.usd or ZERO
            account.in_flight += 1

    def settle(self, job: int, used: Used, *, counts_as_call: bool = True) -> None:
        """Replaces the reservation by what was used; what is not known stays reserved.

        A throttled request did no work and is no call (`counts_as_call` False).
        """
        payer, worst = self._open.pop(job)
        for account in (self.run, self.account(payer)):
            account.in_flight -= 1
            if not counts_as_call:
                account.calls -= 1
            if used.tokens is not None:
                account.tokens += used.tokens - worst.tokens
            account.open -= worst.usd or ZERO
            if used.usd is not None:
                account.spent += used.usd
            elif worst.usd is not None:
                account.kept += worst.usd
            else:
                account.unpriced += 1

    def assume(self, job: int, worst: Worst) -> None:
        """Gives an open job the worst case that was not needed when it started."""
        payer, before = self._open[job]
        self._open[job] = (payer, worst)
        for account in (self.run, self.account(payer)):
            account.tokens += worst.tokens - before.tokens
            account.open += (worst.usd or ZERO) - (before.usd or ZERO)

    @property
    def in_flight(self) -> int:
        """Attempts whose cost is not settled yet."""
        return len(self._open)

    def payer_in_flight(self, payer: str) -> int:
        """As `in_flight`, of one model."""
        return self.account(payer).in_flight

    def warning(self, payer: str) -> str | None:
        """With `warn`: "run" or the payer whose ceiling was just passed; each once."""
        c = self.ceilings
        if not c.warn:
            return None
        if c.run_usd is not None and self._passed("run", self.run, c.run_usd):
            return "run"
        if c.model_usd is not None and self._passed(payer, self.account(payer), c.model_usd):
            return payer
        return None

    def _passed(self, name: str, account: Account, ceiling: Decimal) -> bool:
        if name in self._warned or account.spent + account.kept <= ceiling:
            return False
        self._warned.add(name)
        return True

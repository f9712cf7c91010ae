"""Who is next: judges before calls, lanes in proportion to their widths, and only what fits."""

from __future__ import annotations

from dataclasses import dataclass

from engine.execution.budget import Fit, Ledger, Worst
from engine.execution.cells import Cells
from engine.execution.interleave import SmoothRoundRobin
from engine.execution.jobs import CeilingReached, DispatchPlan
from engine.execution.lanes import Lane
from engine.execution.traffic import Traffic

JUDGE_MEMBER = -1
"""Stands for what marks among the members of a lane's queue, which are model numbers."""


@dataclass(frozen=True, slots=True)
class Pick:
    """An item that may start now, with what it can cost at most."""

    lane: Lane
    item: int
    member: int
    payer: str
    worst: Worst


class Admission:
    """Chooses what starts next. Owns what waits for money; everything else belongs to others."""

    def __init__(self, plan: DispatchPlan, traffic: Traffic, ledger: Ledger, cells: Cells) -> None:
        self._plan = plan
        self._traffic = traffic
        self._ledger = ledger
        self._cells = cells
        self._robin: SmoothRoundRobin[str] = SmoothRoundRobin()
        self._held: set[int] = set()
        self._waiting: tuple[Lane, int] | None = None
        self.run_is_full = False

    def next(self, now: float, *, judges_only: bool = False) -> Pick | None:
        """What may start now, or None. `judges_only`: no model is asked any more.

        `run_is_full` is True where the run's ceiling leaves no room and nothing in flight can make
        any: the run ends at that cell, without a look at cheaper ones.
        """
        self.run_is_full = False
        while True:
            chosen = self._choose(now, judges_only)
            if chosen is None:
                return None
            lane, item, member = chosen
            payer = lane.id if member == JUDGE_MEMBER else self._plan.grid.models[member].key
            worst = self._worst(item, lane)
            fit = self._ledger.fits(payer, worst)
            if fit is Fit.MODEL_FULL and member == JUDGE_MEMBER:
                fit = Fit.YES  # the ceiling of one model is one of those that are compared
            if fit is Fit.YES:
                self._waiting = None
                lane.queue.pop(member)
                return Pick(lane, item, member, payer, worst)
            if fit is Fit.RUN_FULL:
                self._waiting = (lane, item)
                self.run_is_full = self._ledger.in_flight == 0
                return None
            self._hold_or_close(lane, member, payer)

    def _choose(self, now: float, judges_only: bool) -> tuple[Lane, int, int] | None:
        for marker in self._traffic.markers:
            if head := self._open_head(marker, now):
                return (marker, *head)
        if judges_only:
            self._waiting = None
            return None
        if self._waiting is not None:
            lane, item = self._waiting
            head = self._open_head(lane, now)
            if head is not None and head[0] == item:
                return (lane, *head)
            self._waiting = None
        heads = {
            lane.id: head
            for lane in self._traffic
            if lane not in self._traffic.markers and (head := self._open_head(lane, now))
        }
        if not heads:
            return None
        picked = self._robin.pick([(i, self._traffic[i].control.width) for i in heads])
        return (self._traffic[picked], *heads[picked])

    def _open_head(self, lane: Lane, now: float) -> tuple[int, int] | None:
        """The lane's first item where the lane may start it now."""
        head = lane.queue.head()
        if head is None:
            return None
        at = lane.opens_at(now, self._tokens(head[0], lane))
        return head if at is not None and at <= now else None

    def _tokens(self, item: int, lane: Lane) -> int:
        return self._worst(item, lane).tokens if lane.tpm is not None else 0

    def _worst(self, item: int, lane: Lane) -> Worst:
        if self._cells.is_judge(item):
            return self._cells.judge_worst(item)
        if lane.tpm is None and not self._ledger.ceilings.any:
            return Worst()
        return self._plan.worst_of(item)

    def opens_at(self, lane: Lane, now: float) -> float | None:
        """When time alone lets the lane's first item start; None = time alone cannot."""
        head = lane.queue.head()
        if head is None or self._waiting is not None:
            return None
        return lane.opens_at(now, self._tokens(head[0], lane))

    def note_blocked(self, now: float, *, slots_free: bool) -> None:
        """Keeps account of lanes that wait for a limit while a slot and a cell are ready."""
        for lane in self._traffic:
            ready = lane.active < lane.control.width and lane.queue.head() is not None
            lane.note_blocked(now, slots_free and ready and self._waiting is None)

    # ---- one model's ceiling

    def _hold_or_close(self, lane: Lane, member: int, payer: str) -> None:
        """No room under the model's own ceiling: wait for its calls in flight, else close it."""
        lane.queue.park(member)
        if self._ledger.payer_in_flight(payer):
            self._held.add(member)
            return
        self._traffic.standing.closed.add(member)
        self._traffic.changes.append(CeilingReached(payer, warned=False))
        for item in lane.queue.drain(member):
            self._cells.end(item, "budget_model", self._traffic.standing.aside.get(member))

    def settled(self, member: int) -> None:
        """A call of the model was settled: there may be room now."""
        if member in self._held:
            self._held.discard(member)
            self.unpark(member)

    def unpark(self, member: int) -> None:
        """Lets the model's items start again, unless something else keeps them back."""
        if member not in self._held and member not in self._traffic.standing.aside:
            self._traffic[self._plan.grid.models[member].lane].queue.unpark(member)

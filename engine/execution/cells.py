"""What becomes of every planned cell: each is finished exactly once, whatever happens in between."""

from __future__ import annotations

from dataclasses import dataclass

from engine.execution.budget import Worst
from engine.execution.jobs import Counts, Ended, Grid, JudgeDropped, SetAside, Tally
from engine.execution.retry import Failure


@dataclass(slots=True)
class Progress:
    """What a cell or a judge job went through between its attempts."""

    attempts: int = 0
    throttled: int = 0
    waited_s: float = 0.0
    retries: int = 0
    left_at: float | None = None
    failure: Failure | None = None

    @property
    def tally(self) -> Tally:
        """The counts so far."""
        return Tally(self.attempts, self.throttled, self.waited_s)

    def come_back(self, now: float) -> None:
        """The next attempt begins: what was waited since the last one is counted."""
        if self.left_at is not None:
            self.waited_s += now - self.left_at
            self.left_at = None

    def count(self, *, throttled: bool) -> None:
        """One request more; a throttled one is no attempt."""
        if throttled:
            self.throttled += 1
        else:
            self.attempts += 1


class Cells:
    """States of the cells by place, and of judge jobs by item. Items from `total` on are judge jobs."""

    def __init__(self, grid: Grid, done: frozenset[int]) -> None:
        self.grid = grid
        self.total = grid.total
        self._finished_at = bytearray(self.total)
        for index in done:
            self._finished_at[index] = 1
        self.finished = len(done)
        self.scoring: set[int] = set()
        self.held: set[int] = set()
        """Of those, the ones that wait for other models' answers and for nothing else."""
        self.ended: list[Ended] = []
        self.dropped: list[JudgeDropped] = []
        self._progress: dict[int, Progress] = {}
        self._running: dict[int, int] = {}
        self._judged: dict[int, tuple[int, Worst]] = {}
        self._next_item = self.total

    def is_judge(self, item: int) -> bool:
        """True for the number of a judge job."""
        return item >= self.total

    def index_of(self, item: int) -> int:
        """The cell that a call or a judge job belongs to."""
        return self._judged[item][0] if self.is_judge(item) else item

    def progress(self, item: int) -> Progress:
        """What the item went through, from its first attempt on."""
        return self._progress.setdefault(item, Progress())

    def tally(self, item: int) -> Tally:
        """The counts so far."""
        progress = self._progress.get(item)
        return progress.tally if progress else Tally()

    def begin(self, index: int) -> None:
        """One more of the cell's jobs holds a slot."""
        self._running[index] = self._running.get(index, 0) + 1

    def leave(self, index: int) -> None:
        """One of the cell's jobs holds a slot no more."""
        left = self._running[index] - 1
        if left:
            self._running[index] = left
        else:
            del self._running[index]

    def finish(self, index: int) -> None:
        """The cell is finished. Raises RuntimeError where it already was."""
        if self._finished_at[index]:
            raise RuntimeError(f"{self.grid.cell(index)} was finished twice")
        self._finished_at[index] = 1
        self.finished += 1
        self._progress.pop(index, None)

    def end(self, item: int, code: str, aside: SetAside | None) -> None:
        """A queued item ends without a slot; for a cell the reason it was set aside goes first."""
        if self.is_judge(item):
            self.drop_judge(item, code, None)
            return
        progress = self._progress.get(item) or Progress()
        self.ended.append(
            Ended(
                index=item,
                cell=self.grid.cell(item),
                code=aside.code if aside else code,
                tally=progress.tally,
                failure=progress.failure or (aside.failure if aside else None),
                until=aside.until if aside else None,
            )
        )
        self.finish(item)

    def new_judge(self, index: int, worst: Worst) -> int:
        """Numbers one judge job of a cell."""
        item = self._next_item
        self._next_item += 1
        self._judged[item] = (index, worst)
        return item

    def judge_worst(self, item: int) -> Worst:
        """The worst case of a judge job."""
        return self._judged[item][1]

    def drop_judge(self, item: int, code: str, failure: Failure | None) -> None:
        """A judge job will not be asked."""
        self.dropped.append(JudgeDropped(item, self._judged[item][0], code, failure))
        self.forget_judge(item)

    def forget_judge(self, item: int) -> None:
        """A judge job is over."""
        self._judged.pop(item, None)
        self._progress.pop(item, None)

    def is_finished(self, index: int) -> bool:
        """True where the cell has its record, also when an answer of it is being marked anew."""
        return bool(self._finished_at[index])

    def counts(self, retrying: int) -> Counts:
        """The counts for the screen. A finished cell that is marked anew is not running again."""
        running = sum(1 for index in self._running if not self._finished_at[index])
        return Counts(self.total, self.finished, running, retrying)

"""A blind duel over the answers of one stored run: what is shown next, votes, undo, the reveal.

Before the reveal nothing that leaves this desk names a model: a `Meeting` holds texts only.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex

from PySide6.QtCore import QObject, Signal

from arena_desktop.background import Background, Job
from arena_desktop.desks.blind_names import covered, telling_names
from arena_desktop.desks.result_desk import ResultDesk
from engine.domain import CallStatus, Case, Cell, Outcome
from engine.errors import ArenaError
from engine.scoring.answer_text import visible_answer
from engine.stats.duels import CHOICES, Arena, Choice, DuelResult, Fixtures, Match, duel_result
from engine.storage.records import RunModel
from engine.storage.rows import PREVIEW_CHARS, CallFilter, CallRow
from engine.storage.store import Store
from engine.storage.votes import StoredVote

_READABLE = (Outcome.COMPLETE, Outcome.LENGTH, Outcome.REFUSED)
_ROWS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two answers to one question, without a name. `number` counts from 1 over all votes given."""

    number: int
    case: Case
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the duel stands. `given` counts votes and skips, `votes` without the skips.

    `left` is how many meetings can still be shown, `can_undo` says whether this session gave any.
    """

    given: int = 0
    votes: int = 0
    left: int = 0
    models: int = 0
    can_undo: bool = False


@dataclass(frozen=True, slots=True)
class Reveal:
    """The result with the models behind it, in project order."""

    result: DuelResult
    models: tuple[RunModel, ...]


@dataclass(slots=True)
class _Duel:
    run_id: str
    fixtures: Fixtures
    cases: dict[str, Case]
    votes: list[StoredVote]
    sealed: int
    cover: Callable[[str], str]
    match: Match | None = None


class DuelDesk(QObject):
    """One duel at a time. GUI thread only; every step is done in the background, one after the other.

    A choice that comes while a step is under way is ignored: it would be for answers not yet seen.
    `cover` stands where an answer names a compared model.
    """

    shown = Signal(object)
    """Meeting: the next two answers; None = there are none (any more)."""
    revealed = Signal(object)
    """Reveal: voting has stopped."""
    failed = Signal(object)
    """ArenaError: the step was not done; the same two answers stay."""

    def __init__(
        self,
        background: Background,
        results: ResultDesk,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: token_hex(8),
        cover: str = "[…]",
    ) -> None:
        super().__init__()
        self._background, self._results = background, results
        self._clock, self._new_id = clock, new_id
        self._cover = cover
        self._duel: _Duel | None = None
        self._busy = False
        self._revealed = False

    @property
    def run_id(self) -> str:
        """The run whose answers meet; empty before the first."""
        return self._duel.run_id if self._duel else ""

    @property
    def busy(self) -> bool:
        """Whether a step is under way."""
        return self._busy

    @property
    def is_revealed(self) -> bool:
        """Whether the names have been shown."""
        return self._revealed

    @property
    def standing(self) -> Standing:
        """Where it stands now."""
        duel = self._duel
        if duel is None:
            return Standing()
        given = len(duel.votes)
        return Standing(
            given=given,
            votes=sum(vote.choice != "skip" for vote in duel.votes),
            left=max(0, duel.fixtures.total - given),
            models=duel.fixtures.models,
            can_undo=given > duel.sealed and not self._revealed,
        )

    def open(self, run_id: str) -> None:
        """Takes up the duel of a run where it was left; `shown` follows."""
        store, cover = self._results.store, self._cover

        def work(job: Job) -> tuple[_Duel, Meeting | None]:
            duel = read_duel(store(run_id), run_id, job, cover)
            return duel, _next(store(run_id), duel)

        self._revealed = False
        self._start(work, self._on_opened)

    def choose(self, choice: str) -> None:
        """Votes for what is on show: left, right, tie or skip; `shown` follows."""
        duel = self._duel
        if duel is None or duel.match is None or self._busy or self._revealed:
            return
        if choice not in CHOICES:
            raise ValueError(f"a choice is one of {', '.join(CHOICES)}, not {choice!r}")
        vote = StoredVote(self._new_id(), duel.match.left, duel.match.right, choice, self._clock())
        after = replace_votes(duel, [*duel.votes, vote])
        store = self._results.store

        def work(_job: Job) -> tuple[_Duel, Meeting | None]:
            store(duel.run_id).add_vote(duel.run_id, vote)
            return after, _next(store(duel.run_id), after)

        self._start(work, self._on_opened)

    def undo(self) -> None:
        """Takes the last vote of this session back; the same two answers are shown again."""
        duel = self._duel
        if duel is None or self._busy or not self.standing.can_undo:
            return
        last, after = duel.votes[-1], replace_votes(duel, duel.votes[:-1])
        store = self._results.store

        def work(_job: Job) -> tuple[_Duel, Meeting | None]:
            store(duel.run_id).withdraw_vote(duel.run_id, last.vote_id)
            return after, _next(store(duel.run_id), after)

        self._start(work, self._on_opened)

    def stop(self) -> None:
        """Ends voting and tells who was who; `revealed` follows."""
        duel = self._duel
        if duel is None or self._busy or self._revealed:
            return
        choices, store = choices_of(duel.votes), self._results.store

        def work(_job: Job) -> Reveal:
            return Reveal(duel_result(choices), store(duel.run_id).run(duel.run_id).models)

        self._start(work, self._on_revealed)

    def go_on(self) -> None:
        """Votes on after the reveal; what was given before can no longer be taken back."""
        if self._duel is not None and self._revealed:
            self.open(self._duel.run_id)

    # inside

    def _start(self, work: Callable[[Job], object], done: Callable[[object], None]) -> None:
        self._busy = True
        self._background.run(work, done, self._on_failed, name="duel", replace=True)

    def _on_opened(self, answer: object) -> None:
        duel, meeting = answer  # type: ignore[misc]
        self._busy = False
        self._duel = duel
        self.shown.emit(meeting)

    def _on_revealed(self, reveal: object) -> None:
        self._busy = False
        self._revealed = True
        self.revealed.emit(reveal)

    def _on_failed(self, error: Exception) -> None:
        self._busy = False
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)


def read_duel(store: Store, run_id: str, job: Job, cover: str) -> _Duel:
    """Reads who can meet in a run, and the votes given so far. For a background thread."""
    stored = store.run(run_id)
    run_id = stored.info.run_id
    cells: list[Cell] = []
    prints: dict[Cell, Hashable] = {}
    ids = store.call_ids(run_id, CallFilter(statuses=(CallStatus.OK,), outcomes=_READABLE))
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        job.check()
        for row in store.call_rows(ids[start : start + _ROWS_AT_ONCE]):
            if row.length:
                cells.append(row.cell)
                prints[row.cell] = _print(row)
    _tell_apart(store, run_id, prints, job)
    standing = {
        row.model_key: share
        for row in store.board_rows(run_id)
        if (share := row.metrics.get("accuracy")) is not None
    }
    # The same run always meets in the same order, so that a duel can be taken up again.
    arena = Arena(tuple(cells), prints, standing, zlib.crc32(run_id.encode()))
    votes = store.votes(run_id)
    cases = {case.id: case for case in stored.cases}
    names = telling_names(stored.models)
    return _Duel(
        run_id,
        Fixtures(arena),
        cases,
        votes,
        sealed=len(votes),
        cover=lambda text: covered(text, names, cover),
    )


def _print(row: CallRow) -> tuple[int, str]:
    """Length and beginning, which the store holds at hand."""
    return row.length, " ".join(row.preview.split())


def _tell_apart(store: Store, run_id: str, prints: dict[Cell, Hashable], job: Job) -> None:
    """Reads long answers to one question that begin alike and are equally long: their ends may differ."""
    alike = Counter((cell.case_id, cell.trial, found) for cell, found in prints.items())
    for cell, found in list(prints.items()):
        is_long = isinstance(found, tuple) and found[0] > PREVIEW_CHARS
        if not is_long or alike[cell.case_id, cell.trial, found] < 2:
            continue
        job.check()
        text = " ".join((store.answer_text(run_id, cell) or "").split())
        prints[cell] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def replace_votes(duel: _Duel, votes: list[StoredVote]) -> _Duel:
    """The duel with other votes; nothing is on show yet."""
    return replace(duel, votes=votes, match=None)


def choices_of(votes: Sequence[StoredVote]) -> list[Choice]:
    """Stored votes as the statistics take them."""
    return [Choice(vote.left, vote.right, vote.choice) for vote in votes]


def _next(store: Store, duel: _Duel) -> Meeting | None:
    """Seats the next two answers and reads their texts."""
    duel.match = duel.fixtures.next_match(choices_of(duel.votes))
    if duel.match is None:
        return None
    sides = [_text(store, duel, cell) for cell in (duel.match.left, duel.match.right)]
    return Meeting(len(duel.votes) + 1, duel.cases[duel.match.case_id], *sides)


def _text(store: Store, duel: _Duel, cell: Cell) -> str:
    """The answer as it is marked: without the thinking that some models write before it. Where it
    names a compared model, the name is covered."""
    text = store.answer_text(duel.run_id, cell) or ""
    return duel.cover(visible_answer(text, False).strip() or text)

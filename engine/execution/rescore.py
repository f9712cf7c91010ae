"""Marks the answers of a saved run anew by the project as it is now. No model is asked here.

What was asked stays as it was; what it is worth is looked at again: checks, right answers,
weights, must-haves, statistics. Earlier marks stay as history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from engine.config.snapshot import config_to_json
from engine.domain import CallDone, CallStatus, Case, CaseScore, Cell, Note, ScoreState
from engine.errors import Cancelled
from engine.execution.board_rows import board_rows
from engine.execution.judge_notes import JUDGE_NOTES, JudgeMarks
from engine.execution.judge_rules import unmarked_entries
from engine.execution.remark_sides import sides_of
from engine.execution.stored_board import board_input, stored_calls
from engine.paths import caches_dir, private_folder
from engine.project import Project, config_from_snapshot
from engine.scoring.base import ScoringContext
from engine.scoring.remark import JUDGE, SANDBOX, needs_of, remark
from engine.scoring.sandbox import Sandbox, is_installed
from engine.scoring.seams import JudgeReply, JudgeRequest, SandboxRequest, SandboxResult
from engine.stats.board import Leaderboard
from engine.stats.board_json import board_from_json, board_to_json
from engine.stats.leaderboard import build_board
from engine.storage.records import RunFinish, ScoreWrite
from engine.storage.rows import CallFilter, StoredRun
from engine.storage.store import Store

NOTE = "rescored"
CUT_OFF = "marking_cut_off"
"""A run is being marked again, or that was cut off: some marks are new and some are old."""
OF_ASKING = frozenset(
    {"judge_cost", "judge_stopped", "judge_not_ready", "embed_cost", "embedder_not_ready"}
    | {"cost_up_to", "tls_not_verified", "budget_warning", "not_prepared"}
)
"""Notes that a session which asks the judge says anew."""
_PAID_AT_ONCE = 20
_TELL_EVERY = 100


Worth = tuple[object, ...]
"""What counts of a mark: state, score, passed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session of marking that asked a judge leaves to be kept with the result.

    `notes` say what it cost and how it ended, in place of earlier ones; `cost_usd` is what the
    whole run has cost with it, None = not known. `before` is what each mark was worth before it.
    """

    notes: tuple[Note, ...] = ()
    cost_usd: Decimal | None = None
    before: Mapping[Cell, Worth] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tools:
    """What marking may use beside the answers. `judge` None: a judge's old marks stay."""

    trusted: bool = False
    asked: Asked | None = None
    judge: Callable[[JudgeRequest], JudgeReply] | None = None
    sandbox: Callable[[SandboxRequest], SandboxResult] | None = None
    should_stop: Callable[[], bool] | None = None
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Rescored:
    """What re-scoring did.

    `changed` counts answers whose mark is another one now, `unmarked` those without a usable mark.
    `kept` and `waiting` count checks by what was not at hand (judge, sandbox, embedding, own_code):
    their old marks stayed, or there is none yet. `asked_otherwise` are cases whose question is
    another one now, `gone` those that the project no longer has: both keep their marks.
    """

    run_id: str
    answers: int
    changed: int
    unmarked: int
    board: Leaderboard
    before: Leaderboard | None
    kept: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    asked_otherwise: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def sandbox_for(project: Project) -> Sandbox | None:
    """The interpreter for code in answers, where a check of the project needs it and it is there."""
    wanted = SANDBOX in needs_of(project.all_cases or project.cases, project.config)
    return Sandbox(private_folder(caches_dir())) if wanted and is_installed() else None


def rescore(store: Store, run_id: str, project: Project, tools: Tools | None = None) -> Rescored:
    """Re-scores one stored run and stores marks, board and settings in one step.

    Nothing is changed when it is stopped (`Cancelled`) or fails, with one exception: marks that a
    judge was paid for are kept as they come, so that carrying on does not pay for them again.

    Raises:
        UserError: `run_in_use` while the run goes on, `project_faults` where the project cannot be
            used, and those of `Store.run`.
        Cancelled: `should_stop` said yes.
    """
    stored = store.run(run_id)
    return _Rescoring(store, stored, project, tools or Tools()).run()


def rebuild_board(store: Store, run_id: str, *, should_stop: Callable[[], bool] | None = None) -> Leaderboard:
    """Builds the board of a run anew from its marks as they are stored, after some were made by hand.

    Raises UserError `run_in_use` while the run goes on, Cancelled on a yes; nothing is changed then.
    """
    stored = store.run(run_id)
    calls = stored_calls(store, stored.info.run_id, should_stop=should_stop)
    board = build_board(board_input(stored, calls), should_stop=should_stop)
    before = board_from_json(stored.board) if stored.board else None
    kept = [note for note in stored.notes if before is None or note not in before.notes]
    store.set_result(stored.info.run_id, _finish_of(stored, board, (*kept, *board.notes)))
    return board


def _finish_of(stored: StoredRun, board: Leaderboard, notes: tuple[Note, ...]) -> RunFinish:
    document = board_to_json(board)
    return RunFinish(
        status=stored.info.status,
        finished_at=stored.info.finished_at or datetime.now(UTC),
        board=document,
        rows=board_rows(board),
        winner=board.winner,
        verdict=document["verdict"],
        notes=notes,
    )


class _Rescoring:
    """One re-scoring under way. Any thread; one at a time per run."""

    def __init__(self, store: Store, stored: StoredRun, project: Project, tools: Tools) -> None:
        self._store, self._stored, self._project, self._tools = store, stored, project, tools
        self._run_id = stored.info.run_id
        self._sides = sides_of(stored, project)
        self._config = self._sides.config
        self._held = self._sides.held
        self._marks: dict[Cell, CaseScore] = {}
        self._writes: list[ScoreWrite] = []
        self._kept: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._answers = self._changed = 0
        self._by_itself = unmarked_entries(self._config)
        self._judged = JudgeMarks()

    def run(self) -> Rescored:
        """Marks every answer, builds the board and stores all of it."""
        context = ScoringContext(
            options=self._config.scorers.options,
            root=self._project.root,
            trusted=self._tools.trusted,
            judge=self._tools.judge,
            judge_settings=self._config.judge,
            sandbox=self._tools.sandbox,
            scorer_paths=self._config.scorers.paths,
        )
        try:
            for number, call in enumerate(self._calls()):
                self._check_stop()
                key = call.cell.model_key
                judge = None if key in self._by_itself else self._tools.judge
                self._mark(call, replace(context, model_key=key, judge=judge))
                self._tell(number)
        except Cancelled:
            self._keep_paid(at_least=1)
            raise
        return self._finish()

    def _calls(self) -> Iterator[CallDone]:
        return self._store.iter_calls(self._run_id, CallFilter(statuses=(CallStatus.OK,)))

    def _mark(self, call: CallDone, context: ScoringContext) -> None:
        case_id = call.cell.case_id
        if call.answer is None or case_id in self._held:
            self._judged.add(call)
            return
        made = remark(call.answer, call.score, *self._sides.of(case_id), context)
        self._judged.add(replace(call, score=made.score))
        self._answers += 1
        self._kept.update(made.kept)
        self._waiting.update(made.waiting)
        asked = self._tools.asked
        before = worth(call.score) if asked is None else asked.before.get(call.cell, worth(call.score))
        self._changed += worth(made.score) != before
        if made.score == call.score:
            return
        self._marks[call.cell] = made.score
        origin = "rescore" if call.score is not None else "run"
        self._writes.append(ScoreWrite(self._run_id, call.cell, made.score, datetime.now(UTC), origin))
        self._keep_paid(at_least=_PAID_AT_ONCE)

    def _keep_paid(self, at_least: int) -> None:
        """Stores marks as they come where they cost money; free ones wait for the end."""
        if self._tools.judge is not None and len(self._writes) >= at_least:
            self._store.write(self._writes)
            self._writes = []

    def _check_stop(self) -> None:
        if self._tools.should_stop is not None and self._tools.should_stop():
            raise Cancelled

    def _tell(self, number: int) -> None:
        if self._tools.progress is not None and (number + 1) % _TELL_EVERY == 0:
            self._tools.progress(number + 1, self._stored.info.completed)

    def _finish(self) -> Rescored:
        stop = self._tools.should_stop
        calls = [
            replace(call, score=self._marks[call.cell]) if call.cell in self._marks else call
            for call in stored_calls(self._store, self._run_id, should_stop=stop)
        ]
        cases = tuple(self._sides.cases[case.id] for case in self._stored.cases)
        stored = replace(self._stored, cases=cases)
        board = build_board(board_input(stored, calls, self._config), should_stop=stop)
        before = board_from_json(self._stored.board) if self._stored.board else None
        result = Rescored(
            run_id=self._run_id,
            answers=self._answers,
            changed=self._changed,
            unmarked=sum(
                call.score is None or call.score.state is not ScoreState.SCORED
                for call in calls
                if call.status is CallStatus.OK
            ),
            board=board,
            before=before,
            kept=dict(self._kept),
            waiting=dict(self._waiting),
            asked_otherwise=self._sides.otherwise,
            gone=self._sides.gone,
        )
        self._save(result, cases)
        if self._tools.progress is not None:
            self._tools.progress(self._stored.info.completed, self._stored.info.completed)
        return result

    def _save(self, result: Rescored, cases: tuple[Case, ...]) -> None:
        judged, asked = self._judged.notes(self._config), self._tools.asked
        said = asked.notes if asked is not None else ()
        notes = (*self._run_notes(result.before), *said, *judged, *result.board.notes, _note(result))
        finish = _finish_of(self._stored, result.board, notes)
        if asked is not None:
            finish = replace(finish, cost_usd=asked.cost_usd)
        # The seed of the plan is kept beside the snapshot, not in it.
        asked_with = config_from_snapshot(self._stored.config).run
        config = config_to_json(replace(self._config, run=asked_with))
        self._store.set_result(
            self._run_id, finish, config, cases=cases, scores=self._writes, cost=asked is not None
        )

    def _run_notes(self, before: Leaderboard | None) -> list[Note]:
        """What the run itself had to say; what came from marks and the old board is said anew."""
        old = before.notes if before is not None else ()
        anew = {NOTE, CUT_OFF, *JUDGE_NOTES, *(OF_ASKING if self._tools.asked is not None else ())}
        return [note for note in self._stored.notes if note not in old and note.code not in anew]


def worth(mark: CaseScore | None) -> Worth:
    """What counts of a mark, to tell whether it is another one."""
    return (None,) if mark is None else (mark.state, mark.score, mark.passed)


def _note(result: Rescored) -> Note:
    values = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "answers": result.answers,
        "changed": result.changed,
        "kept_judge": result.kept.get(JUDGE, 0),
    }
    return Note(NOTE, values)

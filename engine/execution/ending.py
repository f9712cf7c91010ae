"""The end of a run: leaderboard, notes, the row that closes it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from engine.config.embedder_key import PREFIX
from engine.domain import CallDone, CallStatus, Note, RunStatus
from engine.errors import ArenaError
from engine.execution.budget import Ledger
from engine.execution.embed_rules import EMBEDDER_NOT_READY
from engine.execution.events import LaneState, RunFinished
from engine.execution.jobs import JUDGE_LANE
from engine.execution.judge_notes import judge_cost, judge_notes
from engine.execution.judge_rules import NOT_READY
from engine.execution.ledger_rows import spend_write
from engine.execution.request import RunRequest
from engine.storage.recorder import Recorder
from engine.storage.records import FinishWrite, RunFinish
from engine.storage.rows import CallFilter
from engine.storage.store import Store

if TYPE_CHECKING:
    from engine.stats.board import Leaderboard

FLUSH_S = 60.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known when the last call is over. `saved` False: the store takes no more."""

    request: RunRequest
    run_id: str
    status: RunStatus
    error: BaseException | None
    notes: tuple[Note, ...]
    lanes: tuple[LaneState, ...]
    ledger: Ledger
    duration_s: float
    saved: bool = True


def close_run(ending: Ending, store: Store, recorder: Recorder) -> RunFinished:
    """Computes and stores the result; never raises. What could not be saved is in the error."""
    error = _text(ending.error)
    if not ending.saved:
        # Kept with everything else until it is saved to another file.
        recorder.submit(FinishWrite(ending.run_id, _unsaved_finish(ending, error)))
        return _finished(ending, None, error)
    recorder.flush(FLUSH_S)
    board, fault = _board(ending, store)
    error = error or fault
    finish = _finish(ending, store, board, error)
    for payer in ending.ledger.payers:
        recorder.submit(spend_write(ending.run_id, ending.ledger, payer))
    recorder.submit(FinishWrite(ending.run_id, finish))
    if not recorder.flush(FLUSH_S):
        error = error or _text(recorder.failure) or "The result could not be saved in time."
        return _finished(ending, None, error)
    return _finished(ending, store, error)


def _finish(ending: Ending, store: Store, board: Leaderboard | None, error: str | None) -> RunFinish:
    # The statistics are only needed at the end: a run must not wait for their import to begin.
    from engine.execution.board_rows import board_rows
    from engine.stats.board_json import board_to_json

    told = board_to_json(board) if board else None
    return RunFinish(
        status=_stored_status(ending, store),
        finished_at=ending.request.clock.utc(),
        board=told,
        rows=board_rows(board) if board else (),
        winner=board.winner if board else None,
        verdict=told["verdict"] if told else None,
        notes=(*money_notes(ending), *_judge_notes(ending, store), *(board.notes if board else ())),
        lanes={lane.id: _lane(lane) for lane in ending.lanes},
        cost_usd=run_cost(ending, store),
        duration_s=ending.duration_s,
        error=error,
    )


def _stored_status(ending: Ending, store: Store) -> RunStatus:
    """What the run is from now on. Asking some calls again ends a run only where nothing is missing."""
    before = ending.request.left_as
    if before is None or ending.status is RunStatus.ABORTED:
        return ending.status
    if not store.unfinished(ending.run_id):
        return RunStatus.COMPLETED
    return ending.status if before is RunStatus.COMPLETED else before


def _unsaved_finish(ending: Ending, error: str | None) -> RunFinish:
    return RunFinish(
        status=ending.status,
        finished_at=ending.request.clock.utc(),
        notes=tuple(money_notes(ending)),
        lanes={lane.id: _lane(lane) for lane in ending.lanes},
        duration_s=ending.duration_s,
        error=error,
    )


def _board(ending: Ending, store: Store) -> tuple[Leaderboard | None, str | None]:
    """The leaderboard of what there is. A fault in it must not take the answers with it."""
    from engine.stats.leaderboard import BoardInput, build_board

    request, plan = ending.request, ending.request.plan
    config = request.project.config
    if plan.seed != config.run.seed:
        config = replace(config, run=replace(config.run, seed=plan.seed))
    widths = plan.lane_widths
    try:
        return (
            build_board(
                BoardInput(
                    config=config,
                    entries=tuple(entry for entry in config.models if entry.enabled),
                    cases=plan.cases,
                    calls=_Calls(store, ending.run_id),
                    cards={model.entry.key: model.card for model in plan.models},
                    skipped=plan.skipped,
                    planned=plan.planned,
                    trials=plan.trials,
                    status=ending.status,
                    waits={lane.id: lane.waited_s for lane in ending.lanes},
                    widths={model.entry.key: widths[model.lane] for model in plan.models},
                    marking_usd=_spent_on_marking(ending),
                )
            ),
            None,
        )
    except Exception as error:
        _log.exception("the leaderboard could not be computed")
        return None, f"The answers are stored, but the leaderboard could not be computed: {error}"


def _spent_on_marking(ending: Ending) -> Decimal | None:
    """What the judge and embeddings cost in this run; None = a part of it is not known."""
    plan = ending.request.plan
    payers = [model.entry.key for model in plan.embedders]
    payers += [JUDGE_LANE] if plan.judge is not None else []
    accounts = [ending.ledger.account(payer) for payer in payers]
    if any(account.unpriced for account in accounts):
        return None
    return sum((account.spent for account in accounts), Decimal(0))


class _Calls:
    """The calls of a run without their long parts, read from the store each time: none is kept."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id

    def __iter__(self) -> Iterator[CallDone]:
        return self._store.iter_calls(self._run_id, texts=False)


def money_notes(ending: Ending) -> Iterable[Note]:
    """What happened in the run, what it may have cost beyond what is known, and lanes without TLS."""
    yield from ending.notes
    run = ending.ledger.run
    if run.kept:
        yield Note("cost_up_to", {"spent": str(run.spent), "up_to": str(run.spent + run.kept)})
    plan = ending.request.plan
    asked = (*plan.models, *plan.embedders, *([plan.judge] if plan.judge is not None else []))
    open_lanes = [model.connection.id for model in asked if model.settings.verify_tls is False]
    if open_lanes:
        yield Note("tls_not_verified", {"lanes": sorted(set(open_lanes))})


def _judge_notes(ending: Ending, store: Store) -> Iterable[Note]:
    """What marking cost, and the cautions about the judge from all answers of the run."""
    yield from marker_notes(ending)
    if ending.request.plan.judge is None:
        return
    calls = store.iter_calls(ending.run_id, CallFilter(statuses=(CallStatus.OK,)))
    yield from judge_notes(ending.request.project.config, calls)


def marker_notes(ending: Ending) -> Iterable[Note]:
    """What marking cost, and who could not be asked for it."""
    plan, skip = ending.request.plan, ending.request.preflight.judge_skip
    if skip is not None:
        yield Note(NOT_READY, {"reason": skip.reason, "fix": skip.fix})
    for skip in ending.request.preflight.embedder_skips:
        name = skip.model_key.removeprefix(PREFIX)
        yield Note(EMBEDDER_NOT_READY, {"model": name, "reason": skip.reason, "fix": skip.fix})
    for model in plan.embedders:
        name = model.entry.key.removeprefix(PREFIX)
        for note in judge_cost(ending.ledger.account(model.entry.key)):
            yield Note("embed_cost", {**note.values, "model": name})
    if plan.judge is not None:
        yield from judge_cost(ending.ledger.account(JUDGE_LANE))


def run_cost(ending: Ending, store: Store) -> Decimal | None:
    """The sum of what the answers cost; not known as soon as one is not known."""
    if ending.ledger.run.unpriced:
        return None
    total = Decimal(0)
    for call in store.iter_calls(ending.run_id, texts=False):
        if call.answer is not None:
            if call.answer.cost_usd is None:
                return None
            total += call.answer.cost_usd
    return max(total, ending.ledger.run.spent)


def _lane(lane: LaneState) -> dict[str, Any]:
    return {
        "width": lane.width,
        "configured": lane.configured,
        "max_in_flight": lane.max_in_flight,
        "throttled": lane.throttled,
        "waited_s": round(lane.waited_s, 3),
    }


def _text(error: BaseException | None) -> str | None:
    if error is None:
        return None
    if isinstance(error, ArenaError):
        return f"{error.message} {error.hint}".strip()
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _finished(ending: Ending, store: Store | None, error: str | None) -> RunFinished:
    info = store.info(ending.run_id) if store is not None else None
    return RunFinished(
        run_id=ending.run_id,
        seq=0,
        status=ending.status,
        planned=info.planned if info else ending.request.plan.planned,
        completed=info.completed if info else 0,
        errors=info.errors if info else 0,
        stopped=info.stopped if info else 0,
        cost_usd=info.cost_usd if info else None,
        duration_s=ending.duration_s,
        error=error,
    )

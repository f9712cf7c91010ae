"""The finished record of a call that was not answered, and the write of one that was."""

from __future__ import annotations

from datetime import datetime

from providers.base import ErrorKind

from engine.domain import Attempt, CallDone, CallError, CallStatus, Cell, Outcome
from engine.execution.jobs import Tally
from engine.execution.messages import Refused
from engine.storage.records import AnswerWrite


def failed_record(refused: Refused, tally: Tally, status: CallStatus) -> CallDone:
    """The record of a call that failed for good or was stopped under way."""
    if status is CallStatus.STOPPED:
        outcome = Outcome.STOPPED
    elif refused.failure.kind is ErrorKind.BLOCKED:
        outcome = Outcome.BLOCKED
    else:
        outcome = Outcome.FAILED
    return CallDone(
        cell=refused.ticket.job.cell,
        status=status,
        outcome=outcome,
        error=refused.error,
        attempts=tally.attempts,
        throttled=tally.throttled,
        waited_s=tally.waited_s,
        started_at=refused.ticket.first_started_at or refused.attempt.started_at,
        finished_at=refused.at,
        attempt_log=(*refused.ticket.log, refused.attempt),
    )


def stopped_record(
    cell: Cell,
    error: CallError,
    tally: Tally,
    log: tuple[Attempt, ...],
    *,
    started_at: datetime | None,
    finished_at: datetime | None,
) -> CallDone:
    """The record of a cell that was never asked, or whose answer was not awaited."""
    return CallDone(
        cell=cell,
        status=CallStatus.STOPPED,
        outcome=Outcome.STOPPED,
        error=error,
        attempts=tally.attempts,
        throttled=tally.throttled,
        waited_s=tally.waited_s,
        started_at=started_at,
        finished_at=finished_at,
        attempt_log=log,
    )


def answer_write(run_id: str, record: CallDone) -> AnswerWrite:
    """The answer of a record that is not marked yet."""
    if record.answer is None:
        raise RuntimeError("there is no answer to store")
    return AnswerWrite(
        run_id=run_id,
        cell=record.cell,
        answer=record.answer,
        attempts=record.attempts,
        throttled=record.throttled,
        waited_s=record.waited_s,
        started_at=record.started_at,
        finished_at=record.finished_at,
        attempt_log=record.attempt_log,
    )

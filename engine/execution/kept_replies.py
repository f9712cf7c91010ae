"""Replies of the judge that came before their mark was complete: stored as they come, used once more.

A mark may want several votes, or wait for other models' answers. What the judge has said by then is
paid for; a run that is cut off and carried on does not ask for it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from engine.config.canonical import digest
from engine.domain import CaseScore, Cell, Outcome
from engine.execution.jobs import JUDGE_LANE
from engine.scoring.remark import TERMS
from engine.scoring.seams import JudgeReply, JudgeRequest
from engine.storage.records import EventWrite
from engine.storage.store import Store

if TYPE_CHECKING:
    from engine.execution.candidates import ReadyModel

JUDGE_REPLY = "judge_reply"
"""Kind of the event that holds one reply."""
_MOST_CHARS = 20_000

Key = tuple[Cell, str]
"""An answer, and which mark of it is made: see `print_of_mark`."""


@dataclass(frozen=True, slots=True)
class KeptReplies:
    """What one judge said about one answer. `seed` makes the codes of its questions the same again."""

    judge: str
    seed: str
    said: dict[str, tuple[JudgeReply, Decimal | None]] = field(default_factory=dict)

    def find(self, request: JudgeRequest) -> tuple[JudgeReply, Decimal | None] | None:
        """The reply to this very question with its cost, None = not known; None where there is none."""
        return self.said.get(_print(self.judge, request))


def judge_print(judge: ReadyModel) -> str:
    """Tells who was asked: replies of another judge are none."""
    return digest([judge.entry.model, judge.entry.provider, dict(judge.entry.params)])


def print_of_mark(mark: CaseScore | None) -> str:
    """Tells the mark that an answer has while a new one is made; "" where it has none."""
    if mark is None:
        return ""
    checks = [[c.type, c.state.value, c.score, c.reason_code, c.detail.get(TERMS)] for c in mark.checks]
    return digest([mark.state.value, mark.score, checks])


def reply_write(
    run_id: str,
    about: Key,
    kept: KeptReplies,
    said: tuple[JudgeRequest, JudgeReply, Decimal | None],
    at: datetime,
) -> EventWrite | None:
    """A reply as it is stored; None for one that is no reply, or longer than any mark needs."""
    request, reply, cost_usd = said
    if reply.error is not None or len(reply.text) > _MOST_CHARS:
        return None
    cell, mark = about
    values = {
        "model": cell.model_key,
        "case": cell.case_id,
        "trial": cell.trial,
        "mark": mark,
        "judge": kept.judge,
        "seed": kept.seed,
        "asked": _print(kept.judge, request),
        "text": reply.text,
        "outcome": reply.outcome.value,
        "said_by": reply.model,
        "cost_usd": None if cost_usd is None else str(cost_usd),
    }
    return EventWrite(run_id, at, JUDGE_REPLY, JUDGE_LANE, values)


def known_replies(store: Store, run_id: str, judge: ReadyModel | None) -> Mapping[Key, KeptReplies]:
    """The replies of this judge in a run, by what they were asked for."""
    found: dict[Key, KeptReplies] = {}
    if judge is None:
        return found
    asked = judge_print(judge)
    for event in store.events(run_id, kind=JUDGE_REPLY):
        if event.values.get("judge") == asked:
            _read(event.values, asked, found)
    return found


def _read(values: Mapping[str, Any], judge: str, found: dict[Key, KeptReplies]) -> None:
    """Adds one stored reply; values that are not those of one are passed over."""
    try:
        key = (Cell(str(values["model"]), str(values["case"]), int(values["trial"])), str(values["mark"]))
        seed, cost = str(values["seed"]), values["cost_usd"]
        reply = JudgeReply(str(values["text"]), Outcome(values["outcome"]), None, str(values["said_by"]))
        said = (reply, None if cost is None else Decimal(str(cost)))
        asked = str(values["asked"])
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return
    if key not in found or found[key].seed != seed:
        found[key] = KeptReplies(judge, seed)
    found[key].said[asked] = said


def _print(judge: str, request: JudgeRequest) -> str:
    return digest(
        [
            judge,
            request.prompt,
            request.system,
            request.max_tokens,
            request.temperature,
            request.vote,
            request.attempt,
            request.purpose,
            list(request.criteria),
        ]
    )

"""What one attempt cost, and the message about one that failed. The same for models and judges."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from providers.base import ErrorKind, ProviderError, Reply

from engine.domain import Attempt, CallError
from engine.execution.budget import Used
from engine.execution.candidates import ReadyModel
from engine.execution.messages import Refused, Ticket
from engine.execution.retry import Failure
from engine.price import cost
from engine.redact import redact


def cost_of(reply: Reply, model: ReadyModel) -> tuple[Decimal | None, str]:
    """What the answer cost and who says so. Own code may report its cost, which is trusted."""
    if reply.cost_usd is not None:
        return reply.cost_usd, "reported"
    if model.price is None:
        return None, "unknown"
    if model.price.free:
        return Decimal(0), "free"
    found = cost(model.price, reply.usage)
    if found is None:
        return None, "unknown"
    return found, "estimated" if reply.usage.estimated else "computed"


def used_of(usd: Decimal | None, source: str, reply: Reply) -> Used:
    """What is settled: a cost that the server's own numbers prove. Otherwise the reservation stays."""
    tokens = None if reply.usage.estimated else tokens_of(reply.usage.input, reply.usage.output)
    if source == "estimated":
        return Used(None, tokens)
    if source == "free" and tokens is None:
        tokens = tokens_of(reply.usage.input, reply.usage.output)
    return Used(usd, tokens)


def tokens_of(*parts: int | None) -> int | None:
    """Their sum; not known as soon as one is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def waited_before(ticket: Ticket) -> float:
    """What was waited since the last attempt of the same item."""
    return max(0.0, ticket.job.waited_s - sum(attempt.wait_s for attempt in ticket.log))


def refused(
    ticket: Ticket, error: BaseException, model: ReadyModel | None, began: datetime, latency_ms: float
) -> Refused:
    """The message about an attempt that failed, whatever was raised. Holds no key."""
    if not isinstance(error, ProviderError):
        secrets = [model.settings.api_key] if model else []
        error = ProviderError(ErrorKind.UNKNOWN, redact(f"{type(error).__name__}: {error}", secrets))
    failure = Failure.of(error)
    told = CallError(error.kind.value, error.message, error.status)
    used = None
    if error.usage is not None and model is not None and not error.usage.estimated:
        charged = cost(model.price, error.usage)
        if charged is not None:
            used = Used(charged, tokens_of(error.usage.input, error.usage.output))
    attempt = Attempt(
        number=ticket.job.attempt,
        started_at=began,
        wait_s=waited_before(ticket),
        latency_ms=latency_ms,
        error=told,
        cost_usd=used.usd if used else (Decimal(0) if failure.not_charged else None),
    )
    return Refused(ticket, failure, told, attempt, used, datetime.now(UTC))

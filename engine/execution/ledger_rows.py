"""The ledger as rows of the store, and back: spend goes on under the same ceiling after a resume."""

from __future__ import annotations

from engine.execution.budget import ZERO, Account, Carried, Ledger
from engine.execution.jobs import is_marker
from engine.storage.records import SpendWrite
from engine.storage.store import Store


def spend_write(run_id: str, ledger: Ledger, payer: str) -> SpendWrite:
    """The account of one payer as it stands; what is in flight counts as reserved."""
    account = ledger.account(payer)
    return SpendWrite(
        run_id=run_id,
        model_key=payer,
        spent_usd=account.spent,
        reserved_usd=account.kept + account.open,
        calls=account.calls,
        tokens=account.tokens,
        unpriced_calls=account.unpriced,
        purpose="judge" if is_marker(payer) else "model",
    )


def carried_over(store: Store, run_id: str) -> dict[str, Carried]:
    """What the earlier sessions of a run have spent, by payer.

    A run without ceilings leaves no account behind when it is killed; the answers it stored then
    say what was spent at least, so the larger of the two counts.
    """
    counted: dict[str, Account] = {}
    for done in store.iter_calls(run_id, texts=False):
        account = counted.setdefault(done.cell.model_key, Account())
        account.calls += done.attempts
        if done.answer is None:
            continue
        usage = done.answer.usage
        account.tokens += (usage.input or 0) + (usage.output or 0)
        if done.answer.cost_usd is None:
            account.unpriced += 1
        else:
            account.spent += done.answer.cost_usd
    stored = {row.model_key: row for row in store.run(run_id).spend}
    return {payer: _larger(counted.get(payer, Account()), stored.get(payer)) for payer in {*counted, *stored}}


def _larger(counted: Account, stored: SpendWrite | None) -> Carried:
    if stored is None:
        return Carried(counted.spent, ZERO, counted.calls, counted.tokens, counted.unpriced)
    return Carried(
        spent=max(counted.spent, stored.spent_usd),
        kept=stored.reserved_usd,
        calls=max(counted.calls, stored.calls),
        tokens=max(counted.tokens, stored.tokens),
        unpriced=max(counted.unpriced, stored.unpriced_calls),
    )

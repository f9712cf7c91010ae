"""Makes the small store file of the current version that later versions must still open.

Run once per released version, and never again for it:
    python -m tests.storage.make_released_store
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from engine.domain import Cell, RunStatus
from engine.storage.migrations import SCHEMA_VERSION
from engine.storage.records import DoneWrite, FinishWrite
from engine.storage.store import Store
from tests.storage import samples


def main() -> None:
    """Writes the file; refuses where there is one."""
    path = Path(__file__).parents[1] / "data" / "stores" / f"v{SCHEMA_VERSION}.sqlite"
    if path.exists():
        raise SystemExit(f"{path.name} is released and must not change")
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store.open(path) as store:
        full = samples.full_head()
        store.create_run(full)
        call = samples.full_call(next(iter(full.cells)).cell)
        store.write(
            [DoneWrite(full.run_id, call), FinishWrite(full.run_id, samples.finish(alpha=0.75, beta=None))]
        )
        later = samples.head("run_b", started=samples.START + timedelta(days=1))
        store.create_run(later)
        store.write([DoneWrite("run_b", samples.plain_call(Cell("alpha", "c1", 1)))])
        store.write([DoneWrite("run_b", samples.failed_call(Cell("beta", "c1", 1)))])
        store.finish_run("run_b", samples.finish(RunStatus.CANCELLED, alpha=1.0))
        store.set_mark("run_b", Cell("alpha", "c1", 1), "good", 0.75)
        store.add_vote("run_b", samples.vote("v1", "c1", "right"))


if __name__ == "__main__":
    main()

"""Two stored runs compared, away from the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from arena_desktop.itemmodels.history import MovedRow
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.views.run_facts import model_heads
from arena_desktop.wording.answers import question_of, title_of
from engine.domain import Case, RunInfo
from engine.project import config_from_snapshot
from engine.stats.compare import Comparison, compare_runs
from engine.stats.inputs import BoardInput
from engine.storage.rows import CaseMarks, StoredRun
from engine.storage.shelf import Shelf
from engine.storage.store import Store

Ranks = Mapping[str, tuple[int | None, int | None]]
_QUESTION = 160


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The comparison with what its words and tables need. `marks` = (run, model, case) -> passed."""

    before: RunInfo
    after: RunInfo
    found: Comparison
    heads: Mapping[str, ModelHead]
    cases: Mapping[str, tuple[int, Case]]
    ranks: Ranks = field(default_factory=dict)
    marks: Mapping[tuple[str, str, str], bool | None] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """The names people know."""
        return {key: head.label for key, head in self.heads.items()}

    def moved(self, model_key: str, *, better: bool) -> list[MovedRow]:
        """The tests that went up or down for a model, in the order of the project."""
        change = next((item for item in self.found.models if item.model_key == model_key), None)
        if change is None:
            return []
        ids = change.better if better else change.worse
        rows = [
            self._moved_row(model_key, case_id, better=better) for case_id in ids if case_id in self.cases
        ]
        return sorted(rows, key=lambda row: row.number)

    def _moved_row(self, model_key: str, case_id: str, *, better: bool) -> MovedRow:
        number, case = self.cases[case_id]
        return MovedRow(
            number=number,
            case_id=case_id,
            title=title_of(case),
            question=" ".join(question_of(case)[:_QUESTION].split()),
            before=self.marks.get((self.before.run_id, model_key, case_id)),
            after=self.marks.get((self.after.run_id, model_key, case_id)),
            better=better,
        )


def compare_stored(shelf: Shelf, before: str, after: str, should_stop: Callable[[], bool]) -> ComparedRuns:
    """Reads both runs and compares them. Raises UserError for a snapshot that cannot be read."""
    first, then = shelf.of(before), shelf.of(after)
    old, new = first.run(before), then.run(after)
    found = compare_runs(_input(first, old), _input(then, new), should_stop=should_stop)
    config = config_from_snapshot(new.config)
    heads = model_heads(config, {connection.id: connection for connection in config.connections})
    for number, model in enumerate(old.models):
        heads.setdefault(model.key, ModelHead(model.key, model.label or model.key, len(heads) + number))
    return ComparedRuns(
        before=old.info,
        after=new.info,
        found=found,
        heads=heads,
        cases={case.id: (number, case) for number, case in enumerate(new.cases, start=1)},
        ranks=_ranks(old, new),
        marks={**_marks(first, old), **_marks(then, new)},
    )


def _input(store: Store, stored: StoredRun) -> BoardInput:
    config = config_from_snapshot(stored.config)
    return BoardInput(
        config=config,
        entries=tuple(entry for entry in config.models if entry.enabled),
        cards={entry.key: entry.card for entry in config.models},
        cases=stored.cases,
        calls=list(store.iter_calls(stored.info.run_id, texts=False)),
        skipped=stored.skipped,
        planned=stored.info.planned,
        trials=stored.info.trials,
        status=stored.info.status,
    )


def _ranks(old: StoredRun, new: StoredRun) -> Ranks:
    """Places before and now, where the same models took part: else a place says nothing."""
    before, after = _places(old), _places(new)
    if before.keys() != after.keys():
        return {}
    return {key: (before[key], after[key]) for key in before}


def _places(stored: StoredRun) -> dict[str, int | None]:
    entries = (stored.board or {}).get("entries") or ()
    return {entry["model_key"]: entry.get("rank") for entry in entries}


def _marks(store: Store, stored: StoredRun) -> dict[tuple[str, str, str], bool | None]:
    run_id = stored.info.run_id
    return {(run_id, item.model_key, item.case_id): _passed(item) for item in store.case_marks(run_id)}


def _passed(item: CaseMarks) -> bool | None:
    return None if not item.scored else item.passed * 2 >= item.scored

"""What carrying on with a saved run still asks, and what that costs. Nothing is asked here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from engine.config.schema import Config, ModelEntry
from engine.domain import CallStatus, Case, Cell, Note
from engine.execution.budget import ZERO
from engine.execution.embed_rules import EMBEDDER_NOT_READY, embed_ranges
from engine.execution.estimate import FREE, CostRange, Estimate, call_range, questions
from engine.execution.judge_estimate import judge_range
from engine.execution.judge_rules import NOT_READY
from engine.execution.ledger_rows import carried_over
from engine.execution.opening import changed_checks, unjudged_cells
from engine.execution.pair_records import compared_cases
from engine.execution.request import RunRequest
from engine.execution.resume import Wish, resumed
from engine.prompts import build_prompt
from engine.storage.rows import CallFilter
from engine.storage.store import Store


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a run.

    `expected.calls` counts the questions to models, and its costs are those of the rest alone.
    `before` is what the run has cost already, with what stays reserved: it counts under the same
    ceiling. `confirm` lists what the project wants a yes for. `kept` calls have an answer already,
    which goes on counting.
    """

    expected: Estimate
    before: Decimal = ZERO
    confirm: tuple[Note, ...] = ()
    kept: int = 0


def look_at_rest(request: RunRequest) -> Rest:
    """Finds out what a request that carries on would ask and cost. Any thread; writes nothing.

    An answer that needs its mark anew is taken to need all of it, so that the highest figure holds.
    Takes as long as looking at every stored answer once.

    Raises:
        UserError: Those of `resumed`.
    """
    taken = resumed(request)
    with Store.open(taken.store_path) as store:
        run_id = store.run(taken.resume_from or "").info.run_id
        count = _Count(taken, *_cells(store, run_id, taken))
        before = sum((c.spent + c.kept for c in carried_over(store, run_id).values()), ZERO)
    expected = count.estimate()
    unmarked = (note for note in taken.preflight.confirm if note.code in (NOT_READY, EMBEDDER_NOT_READY))
    confirm = (*questions(taken.project.config, expected), *unmarked)
    return Rest(expected, before, confirm, kept=len(count.asked & count.answered))


def _cells(store: Store, run_id: str, request: RunRequest) -> tuple[set[Cell], set[Cell], set[Cell]]:
    """The calls that are asked, the answers that are marked anew, and all answers that count."""
    models, cases = {m.entry.key for m in request.plan.models}, {case.id for case in request.plan.cases}
    wish = Wish(request.retry_errors, frozenset(request.again))
    wanted = (cell for cell, _fingerprint in wish.cells(store, run_id))
    asked = {cell for cell in wanted if cell.model_key in models and cell.case_id in cases}
    chosen = CallFilter(statuses=(CallStatus.OK,))
    answered = {call.cell for call in store.iter_calls(run_id, chosen, texts=False)}
    if request.again:
        return asked, set(), answered
    changed = set(changed_checks(store.run(run_id), request))
    anew = {write.cell for write in store.pending_scores(run_id)}
    answered |= anew
    anew |= unjudged_cells(store, run_id, request)
    anew |= {cell for cell in answered if cell.case_id in changed}
    return asked, anew - asked, answered


@dataclass(slots=True)
class _Count:
    """Adds up what is asked."""

    request: RunRequest
    asked: set[Cell]
    anew: set[Cell]
    answered: set[Cell]
    _by_marker: dict[str, CostRange] = field(default_factory=dict)
    _marked: Counter[str] = field(default_factory=Counter)

    @property
    def _config(self) -> Config:
        """The project's; each cell is one trial."""
        config = self.request.project.config
        return replace(config, run=replace(config.run, trials=1))

    def estimate(self) -> Estimate:
        """The cost of asking and of having it marked."""
        by_model = self._models()
        self._marking()
        found = {**by_model, **self._by_marker}
        unpriced = tuple(key for key, cost in found.items() if cost.high is None)
        known = sum((cost for cost in found.values() if cost.high is not None), FREE)
        return Estimate(
            total=CostRange() if unpriced else known,
            known=known,
            by_model=by_model,
            unpriced=unpriced,
            calls=len(self.asked),
            judge=sum(self._by_marker.values(), FREE) if self._by_marker else None,
            judge_calls=self._marked.total(),
            by_marker=self._by_marker,
            marker_calls=self._marked,
        )

    def _models(self) -> dict[str, CostRange]:
        """Of those only that are asked anything."""
        config, cases = self._config, self._cases()
        times = Counter((cell.model_key, cell.case_id) for cell in self.asked)
        priced = {model.entry.key: model for model in self.request.plan.models}
        costs: dict[str, CostRange] = {}
        for (key, case_id), count in times.items():
            model, case = priced[key], cases[case_id]
            if model.price is None:
                cost = CostRange()
            elif model.price.free:
                cost = FREE
            else:
                prompt = build_prompt(case, model.entry, config)
                cost = call_range(prompt, case, model.price, config.budgets).times(count)
            costs[key] = costs.get(key, FREE) + cost
        return {key: costs[key] for key in priced if key in costs}

    def _marking(self) -> None:
        plan, config = self.request.plan, self._config
        for case, fresh, old, count in self._groups():
            if plan.judge is not None:
                # Answers that are there meet the new ones; what they were asked among themselves is paid for.
                cost, calls = judge_range(config, [case], [*fresh, *old], plan.judge)
                if old:
                    paid, said = judge_range(config, [case], old, plan.judge)
                    cost, calls = _less(cost, paid), calls - said
                self._add(plan.judge.entry.key, cost, calls, count)
            if plan.embedders:
                costs, asked = embed_ranges(config, [case], fresh, plan.embedders)
                for key, cost in costs.items():
                    self._add(key, cost, asked[key], count)

    def _groups(self) -> Iterator[tuple[Case, list[ModelEntry], list[ModelEntry], int]]:
        """Tests with the models whose answers are marked, those they meet, and how often that is so."""
        plan = self.request.plan
        cases, order = self._cases(), {model.entry.key: model.entry for model in plan.models}
        meets = compared_cases(plan.cases, self.request.project.config)
        marked = self.asked | self.anew
        fresh, old = _by_place(marked), _by_place(self.answered - marked)
        groups: Counter[tuple[str, frozenset[str], frozenset[str]]] = Counter()
        for place, keys in fresh.items():
            met = old.get(place, set()) if place[0] in meets else set()
            groups[place[0], frozenset(keys), frozenset(met)] += 1
        for (case_id, new, others), count in groups.items():
            if case_id in cases:
                first = [order[key] for key in order if key in new]
                yield cases[case_id], first, [order[key] for key in order if key in others], count

    def _add(self, key: str, cost: CostRange, calls: int, count: int) -> None:
        # Checks in own code ask a number of questions that nobody knows; 0 is what is known then.
        if calls > 0:
            self._by_marker[key] = self._by_marker.get(key, FREE) + cost.times(count)
            self._marked[key] += calls * count

    def _cases(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.request.plan.cases}


def _by_place(cells: set[Cell]) -> dict[tuple[str, int], set[str]]:
    found: dict[tuple[str, int], set[str]] = {}
    for cell in cells:
        found.setdefault((cell.case_id, cell.trial), set()).add(cell.model_key)
    return found


def _less(whole: CostRange, part: CostRange) -> CostRange:
    pairs = ((whole.low, part.low), (whole.likely, part.likely), (whole.high, part.high))
    return CostRange(*(None if a is None or b is None else max(ZERO, a - b) for a, b in pairs))

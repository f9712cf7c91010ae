"""Carrying on with an unfinished run: the stored plan rules, and nothing answered is asked again.

What would be asked now is compared, by fingerprint, with what was planned then. Where they
differ the user chooses: `snapshot` (ask what was planned) or `new` (ask the project as it is).
Calls that failed for good are asked again only where that is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.config.schema import Config, Connection, ModelEntry
from engine.domain import CallStatus, Case, Cell, CheckResult, RunStatus, SkippedModel
from engine.errors import UserError
from engine.execution.plan import Plan, make_plan
from engine.execution.preflight import examine
from engine.execution.request import RunRequest
from engine.pricing import PriceBook
from engine.project import Project, config_from_snapshot
from engine.prompts import Prompt, build_prompt, cell_fingerprint, host_of
from engine.storage.rows import CallFilter, StoredRun
from engine.storage.store import Store

SNAPSHOT = "snapshot"
NEW = "new"
_SHOWN = 5
_NOT_ASKED = frozenset(
    {"judge_failed", "no_judge", "waits_judge", "embedding_failed", "no_embedding", "waits_embedding"}
)


@dataclass(frozen=True, slots=True)
class Difference:
    """What one model would be asked differently now, and in which cases.

    `what` holds model, connection, host, system, prompt, params, max_tokens, temperature, files,
    or `gone` where the model or case is not in the project any more.
    """

    model_key: str
    what: tuple[str, ...]
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two: the run as it was stored, or the project as it is."""

    config: Config
    cases: dict[str, Case]

    def ask(self, model_key: str, case_id: str) -> tuple[ModelEntry, Connection, Case, Prompt] | None:
        entry = next((e for e in self.config.models if e.key == model_key), None)
        case = self.cases.get(case_id)
        if entry is None or case is None:
            return None
        connection = next((c for c in self.config.connections if c.id == entry.provider), None)
        if connection is None:
            return None
        return entry, connection, case, build_prompt(case, entry, self.config)


@dataclass(frozen=True, slots=True)
class Wish:
    """Which calls of a stored run are to be asked: those missing, those that failed too, or only some."""

    retry_errors: bool = False
    again: frozenset[Cell] = frozenset()

    def cells(self, store: Store, run_id: str) -> Iterator[tuple[Cell, str]]:
        """The calls with their fingerprints, in plan order."""
        if self.again:
            planned = store.planned(run_id)
            yield from ((item.cell, item.fingerprint) for item in planned if item.cell in self.again)
            return
        for missing in store.unfinished(run_id, with_errors=self.retry_errors):
            yield missing.cell, missing.fingerprint


def differences(
    store: Store, run_id: str, project: Project, *, retry_errors: bool = False, again: Sequence[Cell] = ()
) -> tuple[Difference, ...]:
    """What the missing calls of a run would ask differently with the project as it is now.

    `retry_errors`: the calls that failed for good are among them. `again`: only these calls.
    """
    return tuple(_differences(store, store.run(run_id), project, Wish(retry_errors, frozenset(again))))


def _differences(store: Store, stored: StoredRun, project: Project, wish: Wish) -> Iterator[Difference]:
    before = _Side(config_from_snapshot(stored.config), {case.id: case for case in stored.cases})
    now = _Side(project.config, {case.id: case for case in project.cases})
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    seen: set[tuple[str, str]] = set()
    for cell, fingerprint in wish.cells(store, stored.info.run_id):
        pair = (cell.model_key, cell.case_id)
        if pair in seen:
            continue
        seen.add(pair)
        what = _what_differs(before, now, pair, fingerprint)
        if what:
            found.setdefault((pair[0], what), []).append(pair[1])
    for (model_key, what), cases in found.items():
        yield Difference(model_key, what, tuple(cases))


def _what_differs(before: _Side, now: _Side, pair: tuple[str, str], fingerprint: str) -> tuple[str, ...]:
    new = now.ask(*pair)
    if new is None:
        return ("gone",)
    entry, connection, case, prompt = new
    if cell_fingerprint(prompt, entry, connection, case) == fingerprint:
        return ()
    old = before.ask(*pair)
    if old is None:
        return ("model",)
    was_entry, was_connection, was_case, was = old
    compared = {
        "model": (was_entry.model, was_entry.run) != (entry.model, entry.run),
        "connection": was_connection.kind != connection.kind
        or was_connection.model_prefix != connection.model_prefix,
        "host": host_of(was_entry, was_connection) != host_of(entry, connection),
        "system": was.system != prompt.system,
        "prompt": was.messages != prompt.messages,
        "params": dict(was.params) != dict(prompt.params),
        "max_tokens": was.max_tokens != prompt.max_tokens,
        "temperature": was.temperature != prompt.temperature,
        "files": (was_case.images, was_case.files) != (case.images, case.files),
    }
    return tuple(name for name, differs in compared.items() if differs) or ("case",)


def resumed(request: RunRequest) -> RunRequest:
    """The request with project and plan restricted to the stored plan.

    Raises UserError: `run_not_found`, `resume_differs` (no choice was made; `details` hold the
    differences), `all_skipped`, `nothing_missing`, `model_skipped`.
    """
    if request.resume_from is None:
        return request
    wish = Wish(request.retry_errors, frozenset(request.again))
    with Store.open(request.store_path) as store:
        stored = store.run(request.resume_from)
        if not wish.again and _is_complete(store, stored, request.retry_errors):
            raise UserError(
                "nothing_missing",
                f"The run {stored.info.run_id} has an answer or a final failure for every planned call.",
                hint="Start a new run.",
            )
        found = tuple(_differences(store, stored, request.project, wish))
    if found and request.resume_choice is None:
        raise _differs(stored, found)
    if found and request.resume_choice == SNAPSHOT:
        request = _as_stored(request, stored)
    restricted = _restricted(request, stored)
    return _only_again(restricted, stored.info.status) if wish.again else restricted


def _only_again(request: RunRequest, left_as: RunStatus) -> RunRequest:
    """Only calls that the plan still has; those of a model that cannot be asked have no sense."""
    models, cases = {m.entry.key for m in request.plan.models}, {case.id for case in request.plan.cases}
    again = tuple(c for c in request.again if c.model_key in models and c.case_id in cases)
    if not again:
        gone = sorted({cell.model_key for cell in request.again})
        raise UserError(
            "model_skipped",
            f"These questions cannot be asked now: {', '.join(gone)} cannot be reached or is left out.",
            hint="See the project's models for what is missing.",
            skipped=request.plan.skipped,
        )
    return replace(request, again=again, left_as=left_as)


def _is_complete(store: Store, stored: StoredRun, retry_errors: bool) -> bool:
    """Nothing is left to do. A run cut off after its last answer still lacks its result."""
    run_id = stored.info.run_id
    if store.unfinished(run_id, with_errors=retry_errors) or store.pending_scores(run_id):
        return False
    if any(True for _ in unjudged(store, run_id)):
        return False
    return stored.info.status is not RunStatus.INTERRUPTED and stored.board is not None


def unjudged(store: Store, run_id: str) -> Iterator[Cell]:
    """Answers whose judge or embeddings could not be asked for. Carrying on does it, and asks no model."""
    for call in store.iter_calls(run_id, CallFilter(statuses=(CallStatus.OK,))):
        if call.score is not None and any(_was_not_asked(check) for check in call.score.checks):
            yield call.cell


def _was_not_asked(check: CheckResult) -> bool:
    """Whether the judge could not be asked, be it only about some of the pairs."""
    return check.reason_code in _NOT_ASKED or "not_asked" in check.detail


def _as_stored(request: RunRequest, stored: StoredRun) -> RunRequest:
    """The project as it was then, looked at anew: keys and servers are those of today."""
    config = config_from_snapshot(stored.config)
    project = replace(request.project, config=config, cases=stored.cases, problems=())
    pricebook = PriceBook.for_config(config, project.root)
    preflight = examine(
        project,
        keystore=request.keystore,
        pricebook=pricebook,
        trust=request.preflight.code_trusted,
        # What was planned is asked to its end; must-haves decide on the leaderboard.
        include_gated=True,
    )
    plan = make_plan(project, preflight, seed=stored.seed)
    return replace(request, project=project, preflight=preflight, pricebook=pricebook, plan=plan)


def _restricted(request: RunRequest, stored: StoredRun) -> RunRequest:
    """Models, cases and trials of the stored plan only, in its order."""
    plan = request.plan
    models = {model.entry.key: model for model in plan.models}
    cases = {case.id: case for case in request.project.cases}
    planned = [model.key for model in stored.models]
    kept = tuple(models[key] for key in planned if key in models)
    if not kept:
        raise UserError(
            "all_skipped",
            "None of the run's models can run now.",
            hint="See the project's models for what is missing.",
            skipped=plan.skipped,
        )
    asked = tuple(cases[case.id] for case in stored.cases if case.id in cases)
    project = replace(request.project, cases=asked)
    return replace(
        request,
        project=project,
        resume_from=stored.info.run_id,
        plan=replace(
            plan,
            models=kept,
            cases=asked,
            trials=stored.info.trials,
            skipped=_still_skipped(plan, planned),
        ),
    )


def _still_skipped(plan: Plan, planned: Sequence[str]) -> tuple[SkippedModel, ...]:
    return tuple(skip for skip in plan.skipped if skip.model_key in planned)


def _differs(stored: StoredRun, found: tuple[Difference, ...]) -> UserError:
    lines = []
    for difference in found[:_SHOWN]:
        cases = ", ".join(difference.cases[:_SHOWN])
        more = len(difference.cases) - _SHOWN
        tail = f" and {more} more" if more > 0 else ""
        lines.append(f"{difference.model_key}: {', '.join(difference.what)} ({cases}{tail})")
    return UserError(
        "resume_differs",
        f"The project has changed since the run {stored.info.run_id} was planned. " + "; ".join(lines) + ".",
        hint="Carry on with what was planned (--resume-from snapshot) or with the project as it is "
        "(--resume-from new).",
        differences=found,
    )

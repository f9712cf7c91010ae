"""The parts of one run, put together: recorder, narrator, clients, caller, dispatcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.domain import CallError, Outcome, SkippedModel
from engine.execution.beside import BesideRecorder
from engine.execution.budget import Worst
from engine.execution.call import Caller, Setting
from engine.execution.candidates import ReadyModel
from engine.execution.clients import Clients
from engine.execution.dispatcher import Dispatcher
from engine.execution.embed_call import EmbedCaller
from engine.execution.embed_rules import embeds
from engine.execution.judge_call import JudgeCaller
from engine.execution.markers import Markers
from engine.execution.messages import Committed, Message, NotSaved, Prepared
from engine.execution.narrator import Narrator
from engine.execution.opening import Opening
from engine.execution.pair_groups import PairGroups
from engine.execution.pair_records import pair_groups
from engine.execution.plan import Plan
from engine.execution.request import RunRequest
from engine.paths import caches_dir, private_folder
from engine.scoring import ScoringContext, canonical_check
from engine.scoring.base import CheckFault
from engine.scoring.pairs import NOT_ASKED, Meet, Meeting, PairTerms
from engine.scoring.sandbox import Sandbox
from engine.scoring.seams import JudgeReply, JudgeRequest
from engine.storage.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Machinery:
    """Everything that a run works with; each part is owned by the run."""

    recorder: Recorder
    narrator: Narrator
    clients: Clients
    caller: Caller
    dispatcher: Dispatcher
    markers: Markers | None = None
    sandbox: Sandbox | None = None
    pairs: PairGroups | None = None


def build(
    request: RunRequest,
    opening: Opening,
    post: Callable[[Message], None],
    stop_event: threading.Event,
) -> Machinery:
    """Makes the parts of an opened run. `post` takes messages from any thread."""
    plan, config = request.plan, request.project.config
    recorder = BesideRecorder(
        opening.beside,
        opening.store,
        lambda writes: post(Committed(writes)),
        lambda error, _kept: post(NotSaved(error)),
    )
    clients = Clients(plan.lane_widths, request.make_provider)
    sandbox = _sandbox(plan)
    caller = caller_of(request, clients, stop_event, sandbox)
    dispatcher = Dispatcher(
        plan.dispatch_plan(_worst_of(plan, caller), opening.done),
        plan.rng(),
        request.clock.monotonic(),
        opening.carried,
    )
    narrator = Narrator(opening.run_id, request.clock, recorder.submit, request.again)
    markers = _markers(request, clients, stop_event)
    pairs = pair_groups(plan, config, opening)
    return Machinery(recorder, narrator, clients, caller, dispatcher, markers, sandbox, pairs)


def _markers(request: RunRequest, clients: Clients, stop_event: threading.Event) -> Markers | None:
    """Those that checks of the plan ask; None where none asks anything."""
    plan, skips = request.plan, request.preflight.embedder_skips
    judge = None if plan.judge is None else _judge(plan, plan.judge, clients, stop_event)
    asks = judge is not None or any(embeds(case, request.project.config) for case in plan.cases)
    if not asks:
        return None
    return Markers(judge, EmbedCaller(plan.embedders, skips, clients, stop_event))


def caller_of(
    request: RunRequest, clients: Clients, stop_event: threading.Event, sandbox: Sandbox | None = None
) -> Caller:
    """Who asks models and marks answers."""
    plan, config = request.plan, request.project.config
    context = ScoringContext(
        options=config.scorers.options,
        root=request.project.root,
        trusted=request.preflight.code_trusted,
        judge=_not_ready(request.preflight.judge_skip),
        meet=_no_meeting(request.preflight.judge_skip),
        judge_settings=config.judge,
        sandbox=sandbox,
        scorer_paths=config.scorers.paths,
        sealed=request.preflight.code.files if request.preflight.code is not None else None,
    )
    return Caller(Setting(plan, config, context, stop_event), clients)


def _judge(plan: Plan, judge: ReadyModel, clients: Clients, stop_event: threading.Event) -> JudgeCaller:
    practises = judge.settings.kind == "mock"
    right = {case.id: case.reference for case in plan.cases} if practises else {}
    return JudgeCaller(judge, clients, stop_event, right)


def prepare_sandbox(sandbox: Sandbox, post: Callable[[Message], None]) -> None:
    """Compiles the sandbox in the background, which takes seconds the first time."""

    def work() -> None:
        state = sandbox.prepare()
        post(Prepared("sandbox", state.value, sandbox.reason))

    threading.Thread(target=work, name="arena-prepare-sandbox", daemon=True).start()


def _not_ready(skip: SkippedModel | None) -> Callable[[JudgeRequest], JudgeReply] | None:
    """Stands for a judge that cannot be asked, so that every mark says why."""
    if skip is None:
        return None
    error = CallError(skip.code, f"{skip.reason} {skip.fix}".strip())
    return lambda _request: JudgeReply("", Outcome.FAILED, error)


def _no_meeting(skip: SkippedModel | None) -> Meet | None:
    """Stands for pairs that a judge which cannot be asked will not compare."""
    if skip is None:
        return None
    reason = f"The judge could not be asked: {skip.reason} {skip.fix}".strip()

    def meet(_terms: PairTerms) -> Sequence[Meeting]:
        raise CheckFault(NOT_ASKED, reason, kind=skip.code)

    return meet


def _worst_of(plan: Plan, caller: Caller) -> Callable[[int], Worst]:
    models, cases = len(plan.models), len(plan.cases)

    def worst(index: int) -> Worst:
        return caller.worst_of(plan.models[index % models], plan.cases[index // models % cases])

    return worst


def _sandbox(plan: Plan) -> Sandbox | None:
    """The isolated interpreter, where a check of this plan runs code."""
    wanted = any(canonical_check(check.type) == "code_exec" for case in plan.cases for check in case.checks)
    return Sandbox(private_folder(caches_dir())) if wanted else None

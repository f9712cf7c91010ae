"""`run`: plans, asks about money where the project says so, runs with a live line, prints the result."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena_desktop import __version__
from arena_desktop.cli.driver import drive
from arena_desktop.cli.output import out, print_json, print_problems, say, table
from arena_desktop.cli.parser import EXIT_ERROR, EXIT_FAIL_UNDER, EXIT_INTERRUPTED, EXIT_OK, EXIT_STOPPED
from arena_desktop.cli.saved import open_shelf, print_run
from arena_desktop.wording import formats
from arena_desktop.wording.judge import unmarked_sentence
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.run import comparing_model, marking_ai
from engine.config.embedder_key import PREFIX, is_embedder
from engine.config.output_places import history_of
from engine.domain import Note, RunStatus
from engine.errors import UserError, WorldError
from engine.execution.estimate import Estimate
from engine.execution.plan import Plan, make_plan
from engine.execution.preflight import Preflight, examine
from engine.execution.request import RunRequest
from engine.execution.rest import look_at_rest
from engine.keystore import KeyStore
from engine.paths import store_path
from engine.pricing import PriceBook
from engine.project import Overrides, Project, load_project
from engine.stats.board_json import board_from_json
from engine.storage.known_stores import remember_store
from engine.storage.rows import StoredRun
from engine.storage.shelf import Shelf
from engine.storage.store import Store
from providers.heavy_import import heavy_import

STOPPED_EARLY = frozenset(
    {RunStatus.CANCELLED, RunStatus.STOPPED_BUDGET, RunStatus.FAILED_FAST, RunStatus.INTERRUPTED}
)
PLAN_OPTIONS = ("models", "trials", "ids", "tags", "exclude_tags", "limit")


def _overrides(options: argparse.Namespace) -> Overrides:
    return Overrides(
        models=options.models,
        trials=options.trials,
        concurrency=options.concurrency,
        limit=options.limit,
        tags=options.tags or (),
        ids=options.ids or (),
        exclude_tags=options.exclude_tags or (),
    )


def _refuse_plan_options(options: argparse.Namespace) -> None:
    """The stored plan rules a resumed run, so options that would change it are refused."""
    given = [f"--{name.replace('_', '-')}" for name in PLAN_OPTIONS if getattr(options, name) is not None]
    if options.resume_from and not options.resume:
        raise UserError(
            "resume_from_alone",
            "--resume-from says with which settings to carry on, but no run to carry on with is named.",
            hint="Add --resume RUN, or leave it out to start a new run.",
        )
    if options.retry_errors and not options.resume:
        raise UserError(
            "retry_errors_alone",
            "--retry-errors asks again what failed in a run, but no run is named.",
            hint="Add --resume RUN, or leave it out to start a new run.",
        )
    if options.resume and given:
        raise UserError(
            "resume_with_plan_options",
            f"{', '.join(given)} cannot stand beside --resume: the stored plan of that run rules.",
            hint="Leave them out, or start a new run without --resume.",
        )


def _range_document(estimate: Estimate) -> dict[str, Any]:
    total = estimate.total
    return {"low": total.low, "likely": total.likely, "high": total.high, "unpriced": list(estimate.unpriced)}


def _plan_document(project: Project, preflight: Preflight, plan: Plan) -> dict[str, Any]:
    return {
        "project": project.config.project,
        "planned": preflight.planned,
        "models": [model.entry.key for model in plan.models],
        "cases": len(plan.cases),
        "trials": plan.trials,
        "concurrency": plan.concurrency,
        "lanes": {lane.lane: lane.width for lane in preflight.widths},
        "skipped": [{"model_key": item.model_key, "reason": item.reason} for item in preflight.skipped],
        "estimate": {
            "cost_usd": _range_document(preflight.estimate),
            "by_model": {key: cost.likely for key, cost in preflight.estimate.by_model.items()},
            "judge": preflight.estimate.judge.likely if preflight.estimate.judge else None,
            "judge_calls": preflight.estimate.judge_calls,
        },
    }


def estimate_words(estimate: Estimate) -> str:
    """The price before the click: "about $0.90, at most $1.40", "free", or what is not known."""
    total = estimate.total
    if total.likely is None or total.high is None:
        known = estimate.known
        names = ", ".join(estimate.unpriced)
        if known.high:
            return f"not known for {names}; the others at most {formats.money(known.high)}"
        return f"not known (no price for {names})"
    if total.high == 0:
        return "free"
    return f"about {formats.money(total.likely)}, at most {formats.money(total.high)}"


def _say_plan(project: Project, preflight: Preflight, plan: Plan, quiet: bool) -> None:
    lanes = " · ".join(f"{lane.lane} {lane.width}" for lane in preflight.widths)
    times = "" if plan.trials == 1 else f" x {plan.trials} times"
    say(
        f"{project.config.project}: {len(plan.models)} models x {len(plan.cases)} tests{times}"
        f" = {preflight.planned} questions. {plan.concurrency} at once · {lanes}",
        quiet=quiet,
    )
    for item in preflight.skipped:
        say(f"Left out: {item.model_key}. {item.reason} {item.fix}".rstrip(), quiet=quiet)
    say(f"Cost: {estimate_words(preflight.estimate)}.", quiet=quiet)


def _print_dry_run(project: Project, preflight: Preflight, plan: Plan, options: argparse.Namespace) -> None:
    if options.json:
        print_json(_plan_document(project, preflight, plan))
        return
    _say_plan(project, preflight, plan, quiet=False)
    rows = [("Model", "Questions", "Cost, about", "At most")]
    each = len(plan.cases) * plan.trials
    for model in plan.models:
        cost = preflight.estimate.by_model[model.entry.key]
        rows.append(
            (model.entry.label, str(each), formats.money_cell(cost.likely), formats.money_cell(cost.high))
        )
    for key, cost in preflight.estimate.by_marker.items():
        name = comparing_model(key.removeprefix(PREFIX)) if is_embedder(key) else marking_ai()
        asked = str(preflight.estimate.marker_calls[key])
        rows.append((name, asked, formats.money_cell(cost.likely), formats.money_cell(cost.high)))
    out(table(rows, right=(1, 2, 3)))


def _confirm(asked: Sequence[Note], estimate: Estimate, options: argparse.Namespace) -> None:
    """Headless, a run that needs a yes about money starts only with `--yes`."""
    if not asked or options.yes:
        return
    told = [unmarked_sentence(note.code, note.values) for note in asked]
    reasons = [sentence for sentence in told if sentence]
    if len(reasons) < len(asked):
        what = "What is still to be asked costs:" if options.resume else "Its cost is"
        reasons.append(f"{what} {estimate_words(estimate)}.")
    smaller = "" if options.resume else ", or with --limit for a smaller look"
    raise UserError(
        "confirmation_needed",
        f"This run needs your yes. {' '.join(reasons)}",
        hint=f"Start it again with --yes{smaller}.",
        reasons=[note.code for note in asked],
    )


def _confirm_rest(request: RunRequest, options: argparse.Namespace) -> None:
    """Of a run that is carried on only what is missing costs money."""
    rest = look_at_rest(request)
    asked = rest.expected.calls
    missing = "1 question" if asked == 1 else f"{asked} questions"
    say(f"Still to ask: {missing}. Cost: {estimate_words(rest.expected)}.", quiet=options.quiet)
    _confirm(rest.confirm, rest.expected, options)


def _best_score(stored: StoredRun) -> float:
    """The winner's overall score; no winner counts as 0."""
    board = board_from_json(stored.board) if stored.board else None
    if board is None or board.winner is None:
        return 0.0
    winner = next(entry for entry in board.entries if entry.model_key == board.winner)
    return winner.composite or 0.0


def exit_code(stored: StoredRun, fail_under: float | None) -> int:
    """0, or why not: an early stop goes before a missed mark, an interruption before both."""
    info = stored.info
    if info.status in (RunStatus.ABORTED, RunStatus.RUNNING):
        return EXIT_ERROR
    if info.status in STOPPED_EARLY:
        nothing = info.completed + info.errors == 0
        return EXIT_INTERRUPTED if nothing and info.status is RunStatus.CANCELLED else EXIT_STOPPED
    if fail_under is not None and _best_score(stored) < fail_under:
        return EXIT_FAIL_UNDER
    return EXIT_OK


def _place(options: argparse.Namespace, project: Project) -> Path:
    """Where a new run is kept: `--store`, else as the project says, else in the user's own history."""
    if options.store:
        return Path(options.store)
    return history_of(project.root, project.config) or store_path()


def _resumed(shelf: Shelf, wanted: str, project: Project) -> str:
    """The run to carry on with; one that another project made is refused by name."""
    store, run_id = shelf.find(wanted, project.config.project)
    info = store.run(run_id).info
    here = project.root.resolve()
    if info.project != project.config.project and info.project_root not in (None, here):
        raise UserError(
            "run_of_other_project",
            f"The run {run_id} belongs to the project {info.project}, not to {project.config.project}.",
            hint=f"Carry on with it in its own folder: {info.project_root}",
        )
    return run_id


def run(options: argparse.Namespace) -> int:
    """Runs a project and prints its result."""
    _refuse_plan_options(options)
    with heavy_import():  # what is read here stays until the end
        project = load_project(Path(options.project), _overrides(options))
        print_problems(project.problems)
        keys = KeyStore()
        book = PriceBook.for_config(project.config, project.root)
        preflight = examine(
            project,
            keystore=keys,
            pricebook=book,
            trust=options.trust,
            include_gated=options.include_ruled_out,
        )
        print_problems(problem for problem in preflight.problems if problem not in project.problems)
        plan = make_plan(project, preflight)
    if options.dry_run:
        _print_dry_run(project, preflight, plan, options)
        return EXIT_OK
    _say_plan(project, preflight, plan, options.quiet or bool(options.resume))
    if not options.resume:
        _confirm(preflight.confirm, preflight.estimate, options)
    with open_shelf(options, project) as shelf:
        shelf.mark_interrupted()
        resumed = _resumed(shelf, options.resume, project) if options.resume else None
        store = shelf.of(resumed) if resumed else shelf.at(_place(options, project))
        request = RunRequest(
            project=project,
            preflight=preflight,
            plan=plan,
            store_path=store.path,
            keystore=keys,
            pricebook=book,
            resume_from=resumed,
            resume_choice=options.resume_from,
            retry_errors=options.retry_errors,
            app_version=__version__,
            number_above=shelf.highest_number(project.config.project, store.path),
        )
        if resumed:
            _confirm_rest(request, options)
        if store is not shelf.main:
            remember_store(store.path)
        run_id = drive(request, quiet=options.quiet)
        print_run(store, run_id, options.json)
        if options.report:
            _write_report(store, run_id)
        _write_project_reports(store, run_id, project)
        stored = store.run(run_id)
        if options.fail_under is not None:
            _say_relative(stored)
        return exit_code(stored, options.fail_under)


def _say_relative(stored: StoredRun) -> None:
    """A mark to reach means less where the score depends on who else ran: said, however quiet."""
    board = board_from_json(stored.board) if stored.board else None
    if board is not None and board.relative:
        names = ", ".join(metric_name(name) for name in board.relative)
        say(
            "Note: --fail-under goes by an overall score that depends on which models took part"
            f" ({names}). Give these measures a target to make it stand by itself."
        )


def _write_project_reports(store: Store, run_id: str, project: Project) -> None:
    """What `output` asks for. The run counts as it ended, also where they cannot be written."""
    if not (project.config.output.dir or project.config.output.formats):
        return
    from arena_desktop.reports.after_run import write_reports

    try:
        for path in write_reports(store, run_id, project):
            say(f"Report: {path}")
    except WorldError as error:
        say(f"{error.message} {error.hint}")


def _write_report(store: Store, run_id: str) -> None:
    from arena_desktop.reports.page import write_report

    say(f"Report: {write_report(store, run_id)}")

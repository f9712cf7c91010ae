"""`check`: what is wrong with a project, and what would run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from arena_desktop.cli.output import out, print_json, print_problems, say, table
from arena_desktop.cli.parser import EXIT_ERROR, EXIT_OK
from engine.domain import Case, Problem, Severity
from engine.execution.preflight import Preflight, examine
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import Project, load_project


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "severity": problem.severity,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "path": problem.path,
        "message": problem.message,
        "fix": problem.fix,
        "code": problem.code,
    }


def _case(case: Case) -> dict[str, Any]:
    messages = case.messages
    return {
        "id": case.id,
        "input": case.input,
        "messages": None if messages is None else [{"role": m.role, "content": m.content} for m in messages],
        "reference": case.reference,
        "vars": dict(case.vars),
        "tags": list(case.tags),
        "weight": case.weight,
        "group": case.group,
        "checks": [
            {
                "type": check.type,
                "weight": check.weight,
                "must_pass": check.must_pass,
                "not": check.negate,
                **({"reference": check.reference} if check.reference is not None else {}),
                **dict(check.options),
            }
            for check in case.checks
        ],
        "fingerprint": case.fingerprint,
    }


def _models(project: Project, preflight: Preflight) -> list[dict[str, Any]]:
    connections = {connection.id: connection.kind for connection in project.config.connections}
    ready = {model.entry.key for model in preflight.ready}
    skipped = {item.model_key: item.reason for item in preflight.skipped}
    return [
        {
            "key": entry.key,
            "model": entry.model,
            "provider": connections.get(entry.provider or "", entry.provider),
            "connection": entry.provider,
            "ready": entry.key in ready,
            "reason": skipped.get(entry.key),
        }
        for entry in project.config.models
        if entry.enabled
    ]


def check(options: argparse.Namespace) -> int:
    """Loads and validates a project, looks at its connections, and lists every fault."""
    project = load_project(Path(options.project))
    book = PriceBook.for_config(project.config, project.root)
    preflight = examine(project, keystore=KeyStore(), pricebook=book, trust=options.trust)
    problems = preflight.problems
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    failed = failed or not project.cases or not preflight.ready
    if options.json:
        print_json(
            {
                "problems": [_problem(problem) for problem in problems],
                "project": project.config.project,
                "models": _models(project, preflight),
                "cases": [_case(case) for case in project.cases],
                "plan": {
                    "planned": preflight.planned,
                    "lanes": {lane.lane: lane.width for lane in preflight.widths},
                },
            }
        )
        return EXIT_ERROR if failed else EXIT_OK
    print_problems(problems)
    rows = [("Model", "Connection", "Ready")]
    rows += [
        (model["key"], model["connection"] or "", "yes" if model["ready"] else f"no: {model['reason']}")
        for model in _models(project, preflight)
    ]
    out(table(rows))
    say(f"{len(project.cases)} test cases, {preflight.planned} planned calls.", quiet=options.quiet)
    if failed:
        say("This project cannot run yet.")
    return EXIT_ERROR if failed else EXIT_OK

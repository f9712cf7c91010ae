"""Makes a project folder for one of eight jobs: asks nothing, loads without a fault, runs at once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resources import ROOT
from yaml.nodes import MappingNode, Node

from engine.config import emit
from engine.config.faults import nearest
from engine.config.values import pairs, to_text, to_value
from engine.config.yaml_text import compose
from engine.errors import UserError, WorldError

# The order in which the jobs are offered.
JOB_IDS = ("sort", "extract", "answer", "calculate", "write", "code", "match", "find")
_PRACTICE: tuple[Mapping[str, Any], ...] = (
    {
        "key": "practice-good",
        "model": "mock:flaky",
        "provider": "mock",
        "label": "Practice model (good)",
        "params": {"accuracy": 90, "latency_ms": 900, "seed": "a"},
    },
    {
        "key": "practice-weak",
        "model": "mock:flaky",
        "provider": "mock",
        "label": "Practice model (weak)",
        "params": {"accuracy": 60, "latency_ms": 300, "seed": "b"},
    },
)
_PRACTICE_JUDGE: Mapping[str, Any] = {
    "model": "mock:fixed",
    "provider": "mock",
    "params": {"text": '{"pass": true, "score": 1.0, "reason": "The practice judge accepts everything."}'},
}


@dataclass(frozen=True, slots=True)
class JobType:
    """One kind of job: how its answers are checked, what matters, and a few tests to start from.

    `options` are those of the check; `caution` is "" where nothing needs to be said.
    """

    id: str
    title: str
    description: str
    check: str
    system: str
    max_tokens: int
    weights: Mapping[str, float]
    cases: tuple[Mapping[str, Any], ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    caution: str = ""
    needs_judge: bool = False


@dataclass(frozen=True, slots=True)
class Choices:
    """What a wizard may have asked; None = what the job type brings."""

    models: Sequence[Mapping[str, Any]] | None = None
    weights: Mapping[str, float] | None = None
    cases: Sequence[Mapping[str, Any]] | None = None
    judge: Mapping[str, Any] | None = None


NO_CHOICES = Choices()


@functools.cache
def _job_types() -> tuple[JobType, ...]:
    return tuple(_read(ROOT / "job_types" / f"{name}.yaml") for name in JOB_IDS)


def job_types() -> list[JobType]:
    """The eight jobs in the order in which they are offered."""
    return list(_job_types())


def job_type(name: str) -> JobType:
    """The job of that id.

    Raises:
        UserError: `unknown_job`.
    """
    for job in _job_types():
        if job.id == name:
            return job
    close = nearest(name, JOB_IDS)
    raise UserError(
        "unknown_job",
        f"There is no kind of job called `{name}`.",
        hint=f"Did you mean `{close}`?" if close else f"Use one of: {', '.join(JOB_IDS)}.",
        job=name,
    )


def _read(path: Path) -> JobType:
    root = compose(path.read_text(encoding="utf-8"), path.name).root
    values = {key.value: value for key, value in pairs(root)} if isinstance(root, MappingNode) else {}
    cases = tuple(_case(node) for node in values.pop("cases").value)
    return JobType(cases=cases, **{name: to_value(node) for name, node in values.items()})


def _case(node: Node) -> dict[str, Any]:
    """A starter as it is written: text stays text, only data in a reference is typed."""
    return {
        key.value: to_value(value) if isinstance(value, MappingNode) else to_text(value)
        for key, value in pairs(node)
    }


def create_project(path: Path, job: str, name: str | None = None, choices: Choices = NO_CHOICES) -> Path:
    """Writes `config.yaml` and `tests.yaml` into a new or empty folder and gives the folder.

    Raises:
        UserError: `unknown_job`, `folder_not_empty`, `not_a_folder`.
        WorldError: `folder_unwritable`.
    """
    kind = job_type(job)
    _check_folder(path)
    title = name or path.resolve().name
    tests = "# One test per entry: a question and what a good answer is.\n" + _lines(
        {"tests": list(kind.cases if choices.cases is None else choices.cases)}
    )
    try:
        path.mkdir(parents=True, exist_ok=True)
        # The config last: a folder with a config is a whole project.
        (path / "tests.yaml").write_text(tests, encoding="utf-8", newline="\n")
        (path / "config.yaml").write_text(_config(kind, title, choices), encoding="utf-8", newline="\n")
    except OSError as error:
        raise WorldError(
            "folder_unwritable",
            f"The project cannot be written to {path}: {error.strerror or error}.",
            hint="Choose a folder that you may write to.",
        ) from error
    return path


def _check_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UserError(
            "not_a_folder", f"{path} is a file, not a folder.", hint="Choose a new or empty folder."
        )
    if path.is_dir() and any(path.iterdir()):
        raise UserError(
            "folder_not_empty",
            f"The folder {path} is not empty; nothing was written.",
            hint="Choose a new or empty folder.",
        )


def _lines(value: Mapping[str, Any]) -> str:
    return "\n".join(emit.block(value)) + "\n"


def _config(job: JobType, title: str, choices: Choices) -> str:
    head = {"schema_version": 1, "project": title, "description": job.description}
    models = _PRACTICE if choices.models is None else choices.models
    note = (
        "# Practice models answer without a network, a key or money, so that you can try everything.\n"
        "# Put real ones in their place, for instance: {key: gpt, model: gpt-5.5, provider: openai}\n"
        if choices.models is None
        else ""
    )
    scorers: dict[str, Any] = {"default": job.check}
    if job.options:
        scorers["options"] = {job.check: job.options}
    parts = [
        "# yes, no, on and off are text in this file; write true and false.\n" + _lines(head),
        note + _lines({"models": list(models)}),
        _lines({"defaults": {"system": job.system, "max_tokens": job.max_tokens, "temperature": 0}}),
        _lines({"run": {"trials": 1, "seed": 0}}),
        _lines({"metrics": _metrics(dict(choices.weights or job.weights))}),
        _lines({"scorers": scorers}),
    ]
    if job.needs_judge:
        parts.append(_judge(choices))
    parts.append(_lines({"tests": {"paths": ["tests.yaml"]}}))
    return "\n".join(parts)


def _metrics(weights: Mapping[str, float]) -> dict[str, Any]:
    return {
        "weights": dict(weights),
        "cost": {"budget_usd_per_1k_calls": 10},
        "latency": {"target_ms": 4000},
    }


def _judge(choices: Choices) -> str:
    if choices.judge is not None:
        return _lines({"judge": dict(choices.judge)})
    note = "# The practice judge accepts everything. Name a real model here before you trust the marks.\n"
    return note + _lines({"judge": dict(_PRACTICE_JUDGE)})

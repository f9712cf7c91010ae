"""Settings given for one run, on the command line or in the window: same ranges as in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.config.faults import nearest
from engine.config.names import field_types
from engine.config.ranges import check_range
from engine.config.schema import Config, ModelEntry, RunSettings, TestsConfig
from engine.domain import Problem, Severity


@dataclass(frozen=True, slots=True)
class Overrides:
    """What one run does differently from its project. None and () = as the project says."""

    models: tuple[str, ...] | None = None
    trials: int | None = None
    concurrency: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    fail_fast: bool | None = None
    limit: int | None = None
    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()


NO_OVERRIDES = Overrides()
_RUN_FIELDS = ("trials", "concurrency", "timeout_s", "retries", "fail_fast")


def apply_overrides(config: Config, overrides: Overrides) -> tuple[Config, list[Problem]]:
    """The config with the overrides; what does not fit is a problem and changes nothing."""
    problems: list[Problem] = []
    run: dict[str, Any] = {}
    for name in _RUN_FIELDS:
        value = _checked(RunSettings, name, getattr(overrides, name), problems)
        if value is not None:
            run[name] = value
    tests: dict[str, Any] = {}
    limit = _checked(TestsConfig, "limit", overrides.limit, problems)
    if limit is not None:
        tests["limit"] = limit
    if overrides.ids:
        tests["ids"] = overrides.ids
    if overrides.tags:
        tests["tags"] = overrides.tags
    if overrides.exclude_tags:
        tests["exclude_tags"] = tuple(dict.fromkeys((*config.tests.exclude_tags, *overrides.exclude_tags)))
    models = config.models
    if overrides.models is not None:
        models = _chosen(config.models, overrides.models, problems)
    return (
        replace(config, run=replace(config.run, **run), tests=replace(config.tests, **tests), models=models),
        problems,
    )


def _checked(cls: type, name: str, value: Any, problems: list[Problem]) -> Any:
    if value is None:
        return None
    annotation = field_types(cls)[name]
    if isinstance(value, int) and not isinstance(value, bool) and name == "timeout_s":
        value = float(value)
    result, reason = check_range(annotation, value)
    if not reason and isinstance(value, float) and value in (float("inf"), float("-inf")):
        reason = "must be a finite number"
    if reason:
        problems.append(
            Problem(
                Severity.ERROR,
                f"`{name}` {reason}, but is `{value}`.",
                "Change the value.",
                path=_option(name),
                code="override_range",
            )
        )
        return None
    return result


def _option(name: str) -> str:
    return "--" + name.removesuffix("_s").replace("_", "-")


def _chosen(
    models: Sequence[ModelEntry], names: Sequence[str], problems: list[Problem]
) -> tuple[ModelEntry, ...]:
    """The named entries, by key before model id, in the order of the project; parked ones too."""
    keys = {entry.key for entry in models}
    wanted: set[str] = set()
    for name in names:
        found = {name} if name in keys else {entry.key for entry in models if entry.model == name}
        if not found:
            close = nearest(name, keys)
            listed = ", ".join(f"`{entry.key}`" for entry in models) or "none"
            problems.append(
                Problem(
                    Severity.ERROR,
                    f"No model has the key or id `{name}`.",
                    f"Did you mean `{close}`? Models are: {listed}." if close else f"Models are: {listed}.",
                    path="--models",
                    code="unknown_model",
                )
            )
        wanted |= found
    return tuple(replace(entry, enabled=True) for entry in models if entry.key in wanted)

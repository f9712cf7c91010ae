"""A stored run beside the project as it is now: what decides marks today, what stays as it was asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.cases.identity import asked
from engine.config.canonical import digest
from engine.config.schema import Config, ModelEntry
from engine.domain import Case, RunStatus
from engine.errors import UserError
from engine.execution.stored_board import stored_config
from engine.scoring.remark import Side
from engine.storage.rows import StoredRun

if TYPE_CHECKING:
    from engine.project import Project


@dataclass(frozen=True, slots=True)
class Sides:
    """`before` and `old` as the run was marked; `config` and `cases` as its answers are marked now.

    `otherwise` are cases whose question is another one now, `gone` those that the project no
    longer has: both are `held`, keep their marks, and are in `cases` as they were.
    """

    before: Config
    config: Config
    old: dict[str, Case]
    cases: dict[str, Case]
    gone: tuple[str, ...]
    otherwise: tuple[str, ...]

    @property
    def held(self) -> frozenset[str]:
        """Ids of the cases that keep their marks."""
        return frozenset((*self.gone, *self.otherwise))

    def of(self, case_id: str) -> tuple[Side, Side]:
        """A case as it was marked, and as it is marked now."""
        return Side(self.old[case_id], self.before), Side(self.cases[case_id], self.config)


def sides_of(stored: StoredRun, project: Project) -> Sides:
    """Lays a run beside the project.

    Raises:
        UserError: `run_in_use` while the run goes on, `project_faults` where the project cannot be used.
    """
    _refuse(stored, project)
    before = stored_config(stored)
    old = {case.id: case for case in stored.cases}
    now = {case.id: case for case in (*project.all_cases, *project.cases)}
    gone = tuple(name for name in old if name not in now)
    otherwise = tuple(name for name in old if name in now and _asks(now[name], old[name]))
    held = {*gone, *otherwise}
    cases = {name: case if name in held else now[name] for name, case in old.items()}
    return Sides(before, _new_config(before, project.config), old, cases, gone, otherwise)


def _refuse(stored: StoredRun, project: Project) -> None:
    if stored.info.status is RunStatus.RUNNING:
        raise UserError(
            "run_in_use",
            f"The run {stored.info.run_id} is going on, so it cannot be scored anew.",
            hint="Wait until it has ended, or stop it first.",
        )
    if project.errors:
        first = project.errors[0]
        raise UserError(
            "project_faults",
            f"The project cannot be used for scoring: {first}",
            hint="Mend its faults first; `check` lists all of them.",
            problems=project.errors,
        )


def _asks(now: Case, before: Case) -> bool:
    """Whether the question is another one, so that the stored answers belong to the old one."""
    return digest(asked(now)) != digest(asked(before))


def _new_config(before: Config, now: Config) -> Config:
    """The stored config with what decides marks and places taken from the project as it is now.

    What was asked of whom stays. A model's declared facts are taken over where the entry still
    means the same model.
    """
    known = {connection.id for connection in before.connections}
    return replace(
        before,
        # A judge may be reached over a connection that the run did not have.
        connections=(*before.connections, *(c for c in now.connections if c.id not in known)),
        models=_models(before, now),
        metrics=now.metrics,
        constraints=now.constraints,
        statistics=now.statistics,
        scorers=now.scorers,
        judge=now.judge,
        pricing=now.pricing,
    )


def _models(before: Config, now: Config) -> tuple[ModelEntry, ...]:
    """Those that were asked, and beside them those that are not compared: checks may use their vectors."""
    entries = {entry.key: entry for entry in now.models}
    kept = tuple(_as_now(entry, entries.get(entry.key)) for entry in before.models)
    known = {entry.key for entry in kept}
    return (*kept, *(entry for entry in now.models if not entry.enabled and entry.key not in known))


def _as_now(entry: ModelEntry, now: ModelEntry | None) -> ModelEntry:
    if entry.enabled or now is None or now.enabled:
        return _with_card(entry, now)
    return now


def _with_card(entry: ModelEntry, now: ModelEntry | None) -> ModelEntry:
    if now is None or (now.model, now.run) != (entry.model, entry.run):
        return entry
    return replace(entry, card=now.card)

"""Which models can run at all, found out before anything is spent.

Nothing here asks a model. A model that cannot run is skipped with the reason and the fix; only
faults of the project itself keep the whole run from starting.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.config.embedder_key import PREFIX, is_embedder
from engine.config.schema import ModelEntry
from engine.domain import Note, Problem, Severity, SkippedModel
from engine.errors import UserError
from engine.execution.candidates import Candidates, Means, ReadyModel
from engine.execution.embed_rules import (
    EMBEDDER_NOT_READY,
    embedder_entries,
    embedder_not_ready,
    embedder_served,
)
from engine.execution.estimate import Estimate, estimate, questions
from engine.execution.jobs import JUDGE_LANE
from engine.execution.judge_rules import (
    NOT_READY,
    judge_entry,
    judge_problems,
    not_ready_problem,
    served_problem,
    wants_judge,
)
from engine.execution.project_faults import error_problem, own_problems, understated
from engine.execution.skip_rules import skip_by_connection, skip_by_rule
from engine.execution.widths import LaneWidth, lane_widths, read_environment
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.trust import CodeSeal, seal

if TYPE_CHECKING:
    from engine.project import Project

__all__ = ["Means", "Preflight", "ReadyModel", "examine"]


@dataclass(frozen=True, slots=True)
class Preflight:
    """What can run, what is left out and why, how wide the lanes are, what it will cost.

    `problems` are faults of the project; an error among them keeps the run from starting.
    `warnings` are sentences by model key. `confirm` lists what the project wants a yes for.
    `judge` is the model that marks, where a check needs one and it can be asked; `judge_skip`
    says why it cannot. `embedders` are the models that checks compare meanings by, `embedder_skips`
    those of them that cannot be asked. `include_gated`: models that cannot qualify are asked as well.
    `code` is the project's code that was trusted; None where none may run.
    """

    problems: tuple[Problem, ...]
    ready: tuple[ReadyModel, ...]
    skipped: tuple[SkippedModel, ...]
    widths: tuple[LaneWidth, ...]
    estimate: Estimate
    planned: int
    code_trusted: bool = False
    warnings: Mapping[str, str] = field(default_factory=dict)
    confirm: tuple[Note, ...] = ()
    judge: ReadyModel | None = None
    judge_skip: SkippedModel | None = None
    embedders: tuple[ReadyModel, ...] = ()
    embedder_skips: tuple[SkippedModel, ...] = ()
    include_gated: bool = False
    code: CodeSeal | None = None

    @property
    def lanes(self) -> dict[str, int]:
        """Width by connection id."""
        return {width.lane: width.width for width in self.widths}

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The faults that keep the run from starting."""
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)


def examine(
    project: Project,
    *,
    keystore: KeyStore,
    pricebook: PriceBook,
    trust: bool = False,
    probe: bool = True,
    **more: object,
) -> Preflight:
    """Looks at everything that can be known for nothing, in at most about five seconds.

    `more` are the further fields of `Means`. Raises Cancelled when `should_stop` says so, and
    nothing else: faults become problems, models that cannot run are skipped.
    """
    means = Means(keystore, pricebook, trust, probe, **more)  # type: ignore[arg-type]
    return _Examination(project, means).run()


def examine_markers(project: Project, means: Means) -> Preflight:
    """As `examine`, but only of what marks: no model that is compared is looked at."""
    return _Examination(project, means, models=False).run()


class _Examination:
    """One look at one project."""

    def __init__(self, project: Project, means: Means, *, models: bool = True) -> None:
        self._project = project
        self._config = project.config
        self._means = means
        self._entries = [entry for entry in project.config.models if entry.enabled and models]
        # Before the question whether it is trusted: what changes in between breaks the seal.
        code = seal(project)
        self._code_trusted = means.trust or means.keystore.trust_book.is_trusted(project)
        self._code = code if self._code_trusted else None

    def run(self) -> Preflight:
        problems = [
            *self._project.problems,
            *self._means.pricebook.problems,
            *own_problems(self._project, self._entries),
        ]
        skipped: dict[str, SkippedModel] = {}
        groups: dict[str, list[ModelEntry]] = {}
        for entry in self._entries:
            skip = skip_by_rule(self._project, entry, self._means, trusted=self._code_trusted)
            if skip is not None:
                skipped[entry.key] = skip
            else:
                groups.setdefault(entry.provider or "", []).append(entry)
        self._add_judge(groups, skipped)
        self._add_embedders(groups, skipped)
        candidates = Candidates(self._project, self._means, code_trusted=self._code_trusted)
        findings = candidates.look_at(groups)
        ready: dict[str, ReadyModel] = {}
        warnings: dict[str, str] = {}
        for finding in findings:
            ready.update({model.entry.key: model for model in finding.ready})
            skipped.update({skip.model_key: skip for skip in finding.skipped})
            warnings.update(finding.warnings)
        judge, judge_skip = ready.pop(JUDGE_LANE, None), skipped.pop(JUDGE_LANE, None)
        if judge is not None:
            judge = replace(judge, lane=JUDGE_LANE)
        problems += self._about_judge(judge_skip, warnings.pop(JUDGE_LANE, None))
        embedders, embedder_skips = self._embedders(ready, skipped, warnings, problems)
        in_order = tuple(ready[e.key] for e in self._entries if e.key in ready)
        marking = [*([judge] if judge else []), *embedders]
        problems += understated(self._means.pricebook, [*in_order, *marking])
        widths = self._widths(in_order, marking, problems)
        # Prompts of a faulty project cannot be built, so there is nothing to estimate from.
        faulty = any(p.severity is Severity.ERROR for p in problems)
        priced = [] if faulty else [(model.entry, model.price) for model in in_order]
        cost = estimate(self._config, self._project.cases, priced, judge, embedders)
        return Preflight(
            problems=tuple(problems),
            ready=in_order,
            skipped=tuple(skipped[e.key] for e in self._entries if e.key in skipped),
            widths=widths,
            estimate=cost,
            planned=len(in_order) * len(self._project.cases) * self._config.run.trials,
            code_trusted=self._code_trusted,
            warnings=warnings,
            confirm=(
                *questions(self._config, cost),
                *_judge_question(judge_skip),
                *map(_embedder_question, embedder_skips),
            ),
            judge=judge,
            judge_skip=judge_skip,
            embedders=embedders,
            embedder_skips=embedder_skips,
            include_gated=self._means.include_gated,
            code=self._code,
        )

    # ---- the judge

    def _add_judge(self, groups: dict[str, list[ModelEntry]], skipped: dict[str, SkippedModel]) -> None:
        """The judge is looked at like any model, in a group of its own."""
        entry = judge_entry(self._config.judge)
        if entry is None or not wants_judge(self._project.cases, self._config):
            return
        skip = skip_by_connection(self._config, entry)
        if skip is not None:
            skipped[entry.key] = skip
        else:
            groups[JUDGE_LANE] = [entry]

    def _about_judge(self, skip: SkippedModel | None, warning: str | None) -> list[Problem]:
        if not wants_judge(self._project.cases, self._config):
            return []
        found = judge_problems(self._project.cases, self._config)
        if skip is not None:
            found.append(not_ready_problem(skip))
        if warning is not None:
            found.append(served_problem(warning))
        return found

    # ---- models that make embeddings

    def _add_embedders(self, groups: dict[str, list[ModelEntry]], skipped: dict[str, SkippedModel]) -> None:
        """Each is looked at like any model, in a group of its own."""
        for entry in embedder_entries(self._project.cases, self._config):
            skip = skip_by_connection(self._config, entry)
            if skip is not None:
                skipped[entry.key] = skip
            else:
                groups[entry.key] = [entry]

    def _embedders(
        self,
        ready: dict[str, ReadyModel],
        skipped: dict[str, SkippedModel],
        warnings: dict[str, str],
        problems: list[Problem],
    ) -> tuple[tuple[ReadyModel, ...], tuple[SkippedModel, ...]]:
        """Takes them out of what was found, each in a lane of its own name."""
        models = tuple(replace(ready.pop(key), lane=key) for key in list(ready) if is_embedder(key))
        skips = tuple(skipped.pop(key) for key in list(skipped) if is_embedder(key))
        problems += map(embedder_not_ready, skips)
        told = [(key, warnings.pop(key)) for key in list(warnings) if is_embedder(key)]
        problems += [embedder_served(key, warning) for key, warning in told]
        return models, skips

    # ---- lanes

    def _widths(
        self, ready: Sequence[ReadyModel], marking: Sequence[ReadyModel], problems: list[Problem]
    ) -> tuple[LaneWidth, ...]:
        environ = os.environ if self._means.environ is None else self._means.environ
        try:
            environment = read_environment(environ)
        except UserError as error:
            problems.append(error_problem(error.code, error.message, error.hint))
            environment = {}
        used = {model.connection.id: model.connection for model in ready}
        widths = lane_widths(used.values(), self._config.run, environment)
        own = lane_widths([model.connection for model in marking], self._config.run, environment)
        return (*widths, *(replace(w, lane=m.lane) for w, m in zip(own, marking, strict=True)))


def _judge_question(skip: SkippedModel | None) -> tuple[Note, ...]:
    """Answers that nobody can mark are worth a question before they are paid for."""
    return () if skip is None else (Note(NOT_READY, {"reason": skip.reason, "fix": skip.fix}),)


def _embedder_question(skip: SkippedModel) -> Note:
    name = skip.model_key.removeprefix(PREFIX)
    return Note(EMBEDDER_NOT_READY, {"model": name, "reason": skip.reason, "fix": skip.fix})

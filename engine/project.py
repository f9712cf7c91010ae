"""Opens a project folder: config and cases in, one record out, every fault of its files listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from providers.heavy_import import collecting_paused

from engine.cases.build import BuildSettings
from engine.cases.checks import project_checks
from engine.cases.json_form import case_from_json, case_to_json
from engine.cases.loading import CONFIG_NAMES, CaseSource, load_cases, select
from engine.cases.reading import CaseFile
from engine.cases.tags import tag_slips
from engine.config.embedders import with_embedders
from engine.config.loading import LoadedConfig, Place, load_config
from engine.config.output_places import output_problem
from engine.config.paths import inside
from engine.config.schema import Config, Connection
from engine.config.snapshot import config_from_json, config_to_json
from engine.config.text_files import read_text
from engine.config.yaml_text import MAX_BYTES, compose
from engine.domain import Case, Problem, Severity
from engine.errors import UserError
from engine.overrides import NO_OVERRIDES, Overrides, apply_overrides
from engine.prompts import fill, find_variable, placeholders, template_of, undefined_in

__all__ = [
    "Overrides",
    "Project",
    "case_from_json",
    "case_to_json",
    "config_from_snapshot",
    "load_project",
    "snapshot",
    "undefined_variables",
]


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it is on disk, with the overrides of one run applied.

    `cases` are those that count, `all_cases` all that could be read. `config.connections`
    holds every connection in use, those made for a bare kind included. `digest` is of the
    config file's bytes as read; `files` says how each file of cases was read; `places` where the
    settings of the config stand.
    """

    root: Path
    config_file: Path
    config: Config
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...]
    all_cases: tuple[Case, ...] = ()
    files: tuple[CaseFile, ...] = ()
    digest: str = ""
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep it from running."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """True where nothing keeps it from running."""
        return not self.errors

    def connection(self, name: str) -> Connection:
        """The connection of that id. Raises KeyError where none has it."""
        for connection in self.config.connections:
            if connection.id == name:
                return connection
        raise KeyError(name)


def load_project(path: Path, overrides: Overrides = NO_OVERRIDES) -> Project:
    """Reads a project folder, or the folder of a config file.

    Raises:
        UserError: there is no such folder, no config in it, or the config is too large.
        WorldError: the system does not give the file.
    """
    config_file = find_config(path)
    root = config_file.parent
    source = read_text(config_file, config_file.name, MAX_BYTES)
    document = compose(source.text, config_file.name)
    if not source.encoding:
        document = replace(document, root=None, problems=source.problems)
        loaded = LoadedConfig(Config(project=root.name), source.problems)
    else:
        loaded = load_config(document, root.resolve().name)
    problems = list(loaded.problems)
    if source.encoding:
        problems[:0] = source.problems
    config, override_problems = apply_overrides(loaded.config, overrides)
    problems.extend(override_problems)
    problems.extend(_path_problems(config, root, config_file.name, loaded.places))
    where = CaseSource(
        config.tests,
        BuildSettings(
            root, config.scorers.default, _needs_input(config), project_checks(config.scorers.checks)
        ),
        config_file.name,
        loaded.places,
    )
    with collecting_paused():
        found = load_cases(where)
    problems.extend(found.problems)
    chosen, filter_problems = select(found.cases, config.tests, config_file.name)
    problems.extend(filter_problems)
    problems.extend(tag_slips(found.cases, config.tests, config_file.name, loaded.places))
    asked, blank = _without_blank(chosen, config)
    problems.extend(blank)
    config, embedder_problems = with_embedders(config, asked, config_file.name, loaded.places)
    problems.extend(embedder_problems)
    # Tests that are left out now may still have answers in earlier runs, to be marked anew.
    config, _ = with_embedders(config, found.cases, config_file.name, loaded.places)
    problems.extend(undefined_in(asked, config, config_file.name, loaded.places))
    return Project(
        root,
        config_file,
        config,
        asked,
        tuple(problems),
        found.cases,
        found.files,
        source.digest,
        loaded.places,
    )


def find_config(path: Path) -> Path:
    """The config file of a project folder; a path to a file is taken as the config.

    Raises:
        UserError: `project_missing` or `config_missing`.
    """
    try:
        is_file, is_dir = path.is_file(), path.is_dir()
    except (OSError, ValueError):
        # Too long for a path, or not to be looked at.
        is_file = is_dir = False
    if is_file:
        return path
    if not is_dir:
        raise UserError(
            "project_missing",
            f"There is no folder {str(path)[:300]}.",
            hint="Check the path, or make a project with `arena-desktop new`.",
        )
    for name in CONFIG_NAMES:
        if (path / name).is_file():
            return path / name
    raise UserError(
        "config_missing",
        f"The folder {path} holds no config file ({', '.join(CONFIG_NAMES)}).",
        hint="Choose the folder with the config in it, or make a project with `arena-desktop new`.",
    )


def undefined_variables(project: Project) -> list[Problem]:
    """Names that prompts ask for and cases do not have; also part of `project.problems`."""
    return undefined_in(project.cases, project.config, project.config_file.name)


def snapshot(project: Project) -> dict[str, Any]:
    """The config as plain JSON without secrets, to be stored with a run."""
    return config_to_json(project.config)


def config_from_snapshot(data: Mapping[str, Any]) -> Config:
    """The inverse of `snapshot`. Raises UserError for one that is newer or damaged."""
    return config_from_json(data)


def _needs_input(config: Config) -> bool:
    """True where some model gets the input itself, without a template around it."""
    enabled = [entry for entry in config.models if entry.enabled]
    return not enabled or any(template_of(entry, config) is None for entry in enabled)


def _without_blank(cases: Sequence[Case], config: Config) -> tuple[tuple[Case, ...], list[Problem]]:
    """Leaves out cases that would send a blank question; providers refuse those."""
    templates = {template_of(entry, config) for entry in config.models if entry.enabled} or {None}
    kept, problems = [], []
    for case in cases:
        if not any(_is_blank(case, template) for template in templates):
            kept.append(case)
            continue
        problems.append(
            Problem(
                Severity.WARNING,
                f"The test `{case.id}` is left out: its question is blank.",
                "Write what is to be asked, or delete the test.",
                case.file,
                case.line,
                code="blank_prompt",
            )
        )
    return tuple(kept), problems


def _is_blank(case: Case, template: str | None) -> bool:
    if case.messages is not None:
        return not any(turn.content.strip() for turn in case.messages)
    if case.input.strip():
        return False
    if template is None:
        return True
    if not all(find_variable(name, case)[0] for name in placeholders(template)):
        return False
    return not fill(template, case).strip()


def _path_problems(config: Config, root: Path, file: str, places: Mapping[str, Place]) -> list[Problem]:
    """Every path the config names stays inside the folder; those that are read exist."""
    problems = []
    for path, text, must_exist in _named_paths(config):
        place = places.get(path) or places.get(path.split("[")[0]) or places.get(path.split(".")[0])
        fault = _path_fault(root, text, must_exist)
        if fault is not None:
            line, column = (place.line, place.column) if place else (None, None)
            problems.append(replace(fault, file=file, line=line, column=column, path=path))
    taken = output_problem(root, config)
    if taken is not None:
        place = places.get("output.db") or places.get("output")
        line, column = (place.line, place.column) if place else (None, None)
        problems.append(replace(taken, file=file, line=line, column=column))
    return problems


def _named_paths(config: Config) -> Iterator[tuple[str, str, bool]]:
    """Where a path is named, the path, and whether it must exist."""
    for index, text in enumerate(config.scorers.paths):
        yield f"scorers.paths[{index}]", text, True
    if config.pricing.path:
        yield "pricing.path", config.pricing.path, True
    for name, folder in (("dir", config.output.dir), ("db", config.output.db)):
        if folder:
            yield f"output.{name}", folder, False
    for link in config.connections:
        if isinstance(link.verify_tls, str):
            yield f"connections.{link.id}", link.verify_tls, True
    for entry in config.models:
        target = (entry.run or "").rsplit(":", 1)[0]
        if target.endswith(".py"):
            yield f"models.{entry.key}", target, True


def _path_fault(root: Path, text: str, must_exist: bool) -> Problem | None:
    path = inside(root, text)
    if path is None:
        return Problem(
            Severity.ERROR,
            f"`{text}` leads out of the project folder.",
            "Copy what is needed into the folder and name it from there.",
            code="path_outside",
        )
    if must_exist and not path.exists():
        message = f"The file `{text}` does not exist."
        return Problem(Severity.ERROR, message, "Check the name.", code="file_missing")
    return None

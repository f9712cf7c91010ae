"""All test cases of a project: which files, every case with its id, which of them count."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.cases.build import BuildSettings
from engine.cases.identity import with_fingerprint, with_ids
from engine.cases.reading import SPREADSHEETS, SUFFIXES, CaseFile, read_case_file
from engine.config.loading import Place
from engine.config.paths import inside, shown
from engine.config.schema import TestsConfig
from engine.domain import Case, Problem, Severity

_SHOWN_IDS = 5
CONFIG_NAMES = ("config.yaml", "config.yml", "config.json", "arena.yaml", "arena.json")


@dataclass(frozen=True, slots=True)
class LoadedCases:
    """Every case of the project before the filters, in file order, and what was found out."""

    cases: tuple[Case, ...]
    problems: tuple[Problem, ...]
    files: tuple[CaseFile, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseSource:
    """Where cases come from. `places` are those of the config, `config_file` its name."""

    tests: TestsConfig
    settings: BuildSettings
    config_file: str
    places: Mapping[str, Place]


def load_cases(source: CaseSource) -> LoadedCases:
    """Reads all case files of a project. Never raises for content."""
    paths, problems = _files(source)
    root = source.settings.root.resolve()
    files = [read_case_file(path, shown(root, path), source.settings) for path in paths]
    read = (with_fingerprint(case, root) for file in files for case in file.cases)
    finished, id_problems = with_ids(read)
    for file in files:
        problems.extend(_softened(file, bool(finished)))
    problems.extend(id_problems)
    if not finished and not any(problem.severity is Severity.ERROR for problem in problems):
        message = "There are no test cases."
        problems.append(Problem(Severity.ERROR, message, "Add one.", source.config_file, code="no_cases"))
    return LoadedCases(finished, tuple(problems), tuple(files))


def _softened(file: CaseFile, others: bool) -> Iterable[Problem]:
    """An empty file keeps a project from running only where there are no other cases."""
    for problem in file.problems:
        if others and problem.code in ("empty_file", "no_cases"):
            yield replace(problem, severity=Severity.WARNING)
        else:
            yield problem


def _files(source: CaseSource) -> tuple[list[Path], list[Problem]]:
    if not source.tests.paths:
        return _discover(source)
    result: dict[Path, None] = {}
    problems: list[Problem] = []
    place = source.places.get("tests.paths") or source.places.get("tests")
    for index, text in enumerate(source.tests.paths):
        found, faults = _named(source, text)
        result.update(dict.fromkeys(found))
        for fault in faults:
            if not fault.file:
                line = place.line if place else None
                problems.append(
                    replace(fault, file=source.config_file, line=line, path=f"tests.paths[{index}]")
                )
            else:
                problems.append(fault)
    return list(result), problems


def _named(source: CaseSource, text: str) -> tuple[list[Path], list[Problem]]:
    """The files that one entry of `tests.paths` means: itself, or all below a folder."""
    root = source.settings.root.resolve()
    path = inside(root, text)
    if path is not None and path.is_dir():
        found, faults = _below(root, path)
        if not found and not faults:
            fix = f"Put test files into it ({', '.join(SUFFIXES)})."
            faults = [_error("no_case_files", f"The folder `{text}` holds no file of test cases.", fix)]
        return found, faults
    fault = _unreadable(path, text)
    return ([path] if path is not None and fault is None else []), [fault] if fault else []


def _unreadable(path: Path | None, text: str) -> Problem | None:
    """Why a named file is not read; None where it is."""
    if path is None:
        fix = "Copy the file into the folder and name it from there."
        return _error("path_outside", f"`{text[:200]}` leads out of the project folder.", fix)
    if not path.is_file():
        return _error("file_missing", f"The file `{text}` does not exist.", "Check the name.")
    if path.suffix.lower() in SPREADSHEETS:
        message = f"`{text}` is a spreadsheet, which is not read directly."
        return _error("spreadsheet", message, "Import it, or save it as CSV.")
    if path.suffix.lower() not in SUFFIXES:
        message = f"`{text}` has an ending that no kind of test file has."
        return _error("unknown_suffix", message, f"Use one of: {', '.join(SUFFIXES)}.")
    return None


def _error(code: str, message: str, fix: str, file: str = "") -> Problem:
    return Problem(Severity.ERROR, message, fix, file, code=code)


def _discover(source: CaseSource) -> tuple[list[Path], list[Problem]]:
    """Files `test*` beside the config, then all below `tests/`."""
    root = source.settings.root.resolve()
    problems: list[Problem] = []
    found: dict[Path, None] = {}
    beside = sorted(
        path for path in root.iterdir() if path.stem.lower().startswith("test") and path.is_file()
    )
    for path in beside:
        _take(root, path, found, problems)
    folder = root / "tests"
    if folder.is_dir():
        below, faults = _below(root, folder)
        found.update(dict.fromkeys(below))
        problems.extend(faults)
    if not found and not problems:
        fix = "Write them into `tests.yaml` beside the config, or name the files under `tests.paths`."
        problems.append(_error("no_case_files", "There is no file of test cases.", fix, source.config_file))
    return list(found), problems


def _below(root: Path, folder: Path) -> tuple[list[Path], list[Problem]]:
    found: dict[Path, None] = {}
    problems: list[Problem] = []
    for place, folders, names in os.walk(folder):
        here = Path(place)
        for name in folders:
            if (here / name).is_symlink():
                link = shown(root, here / name)
                message = f"`{link}` is a linked folder and is not read."
                fix = "Copy the folder, or name it under `tests.paths`."
                problems.append(Problem(Severity.WARNING, message, fix, link, code="linked_folder"))
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            if not name.startswith((".", "~$")):
                _take(root, here / name, found, problems)
    return list(found), problems


def _take(root: Path, path: Path, found: dict[Path, None], problems: list[Problem]) -> None:
    if path.suffix.lower() not in SUFFIXES or path.name in CONFIG_NAMES:
        return
    resolved = inside(root, str(path))
    if resolved is None:
        name = shown(root, path)
        message = f"`{name}` is a link that leads out of the project folder."
        problems.append(_error("path_outside", message, "Copy the file into the folder.", name))
    else:
        found[resolved] = None


def select(
    cases: Sequence[Case], tests: TestsConfig, config_file: str
) -> tuple[tuple[Case, ...], list[Problem]]:
    """The cases that count, in the order: ids, any tag, all tags, excluded tags, first N."""
    problems: list[Problem] = []
    known = {case.id for case in cases}
    unknown = [name for name in tests.ids if name not in known]
    if unknown:
        problems.append(
            Problem(
                Severity.ERROR,
                f"No test has the id {_listed(unknown)}.",
                f"The ids are: {_listed(sorted(known))}.",
                config_file,
                path="tests.ids",
                code="unknown_ids",
            )
        )
    wanted = set(tests.ids)
    left = [case for case in cases if (not wanted or case.id in wanted) and _tags_fit(case, tests)]
    if tests.limit is not None:
        left = left[: tests.limit]
    if cases and not left and not problems:
        problems.append(
            Problem(
                Severity.ERROR,
                f"None of the {len(cases)} tests is left after the filters.",
                "Change ids, tags, exclude_tags or limit.",
                config_file,
                path="tests",
                code="no_cases_left",
            )
        )
    return tuple(left), problems


def _tags_fit(case: Case, tests: TestsConfig) -> bool:
    tags = set(case.tags)
    return (
        (not tests.tags or bool(tags.intersection(tests.tags)))
        and tags.issuperset(tests.all_tags)
        and not tags.intersection(tests.exclude_tags)
    )


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(f"`{name}`" for name in names[:_SHOWN_IDS])
    more = len(names) - _SHOWN_IDS
    return f"{text} and {more} more" if more > 0 else text

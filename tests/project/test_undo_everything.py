"""Thirty edits of every kind, all taken back and all done again, give the same files to the byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from arena_desktop.desks import edit_steps
from arena_desktop.desks.project_files import Written
from arena_desktop.desks.project_models import add_models_to_project, entries_for
from arena_desktop.desks.project_settings import change_settings, remove_model
from arena_desktop.desks.project_tests import (
    FEW,
    NewTest,
    add_tests_to_project,
    can_change,
    change_test,
    remove_test,
)
from engine.project import Project, load_project

CONFIG = """\
# Written by hand; these words stay.
project:   "Mine"   # two spaces, quotes
models:
  - {key: one, model: "mock:echo"}   # the first

  - mock:flaky
metrics: {weights: {accuracy: 0.6, cost: 0.4}}
tests: {paths: [tests.yaml]}
"""
TESTS = """\
tests:
  - {id: a, input: "What?", reference: 'that'}  # keep
  # about the second
  - input: |
      Two
      lines
    reference: x
"""
Edit = Callable[[Project, Random], Written | None]


def weights(project: Project, chance: Random) -> Written:
    share = chance.randint(1, 99) / 100
    return change_settings(
        project, {("metrics", "weights"): {"accuracy": share, "cost": round(1 - share, 2)}}
    )


def general(project: Project, chance: Random) -> Written:
    limit = chance.choice([None, 1, 2.5, 10])
    text = chance.choice(["Be short.", "Be kind.\nAnd short: é", None])
    return change_settings(project, {("budgets", "max_run_usd"): limit, ("defaults", "system"): text})


def add_model(project: Project, chance: Random) -> Written:
    return add_models_to_project(project, entries_for(project, [("mock:echo", "mock", "Echo")]))


def take_model(project: Project, chance: Random) -> Written | None:
    models = project.config.models
    return remove_model(project, chance.choice(models).key) if len(models) > 1 else None


def add_few(project: Project, chance: Random) -> Written:
    return add_tests_to_project(project, [NewTest(f"New {chance.random()}", "- yes #1")])


def paste_many(project: Project, chance: Random) -> Written:
    return add_tests_to_project(project, [NewTest(f"Pasted {n} {chance.random()}") for n in range(FEW + 1)])


def change(project: Project, chance: Random) -> Written | None:
    cases = [case for case in project.all_cases if can_change(case)]
    return change_test(project, chance.choice(cases), f"Now {chance.random()}?", "so") if cases else None


def delete(project: Project, chance: Random) -> Written | None:
    cases = [case for case in project.all_cases if can_change(case)]
    return remove_test(project, chance.choice(cases)) if len(cases) > 1 else None


EDITS: tuple[Edit, ...] = (weights, general, add_model, take_model, add_few, paste_many, change, delete)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("seed", "ends", "encoding"), [(1, "\n", "utf-8"), (2, "\r\n", "utf-8-sig")])
def test_all_goes_back_and_again(tmp_path: Path, seed: int, ends: str, encoding: str) -> None:
    for name, text in (("config.yaml", CONFIG), ("tests.yaml", TESTS)):
        (tmp_path / name).write_bytes(text.replace("\n", ends).encode(encoding))
    chance, at_first = Random(seed), files(tmp_path)
    order = [*EDITS, *(chance.choice(EDITS) for _ in range(22))]
    chance.shuffle(order)
    stations, steps = [at_first], []
    for edit in order:
        written = edit(load_project(tmp_path), chance)
        if written is not None:
            steps.append(edit_steps.file_edits(written.files()))
            stations.append(files(tmp_path))
    assert len(steps) >= 20
    for step, station in zip(reversed(steps), reversed(stations[:-1]), strict=True):
        edit_steps.take_back(step)
        assert files(tmp_path) == station
    assert files(tmp_path) == at_first
    for step, station in zip(steps, stations[1:], strict=True):
        edit_steps.do_again(step)
        assert files(tmp_path) == station

"""A yes to a project's code is a yes to that content: what has changed since is not run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain import RunStatus, ScoreState
from engine.errors import UserError
from engine.execution.controller import run_to_end
from engine.storage.store import Store
from tests.execution.worlds import World, models

SCORER = """from agent_arena.scorers import scorer

@scorer('own')
def own(output, reference, context):
    return 1.0
"""


@pytest.fixture
def own(tmp_path: Path) -> World:
    folder = tmp_path / "project" / "scorers"
    folder.mkdir(parents=True)
    (folder / "own.py").write_text(SCORER)
    tests = [{"id": f"c{n}", "input": "say", "reference": "x", "checks": [{"type": "own"}]} for n in range(8)]
    return World(tmp_path, models("a"), cases=tests, trust=True)


@pytest.mark.parametrize("name", ["own.py", "another.py", "helpers.txt"])
def test_code_that_changed_after_the_look_is_not_run(own: World, tmp_path: Path, qapp, name: str) -> None:
    request, ran = own.request(), tmp_path / "ran"
    is_code = name.endswith(".py")
    (tmp_path / "project/scorers" / name).write_text(f"open({str(ran)!r}, 'w')\n{SCORER}")
    if not is_code:
        assert own.stored(run_to_end(request)).info.status is RunStatus.COMPLETED
        return
    with pytest.raises(UserError) as told:
        run_to_end(request)
    assert told.value.code == "code_changed"
    assert not ran.exists()
    with Store.open(own.store_path) as store:
        assert store.runs() == []


def test_a_quick_look_and_code_that_does_not_run_are_no_change(own: World, tmp_path: Path, qapp) -> None:
    request = own.request()
    few = replace(request.project, cases=request.project.cases[:2])
    quick = replace(request, project=few, plan=replace(request.plan, cases=few.cases))
    assert own.stored(run_to_end(quick)).info.completed == 2
    own.trust = False
    untrusted = own.request()
    assert untrusted.preflight.code is None
    (tmp_path / "project/scorers/own.py").write_text(SCORER + "\n")
    assert own.stored(run_to_end(untrusted)).info.completed == 8


def test_code_that_changes_while_a_run_goes_on_is_not_run(own: World, tmp_path: Path, qapp) -> None:
    """The file is changed by somebody else while the first answer is marked."""
    file, ran = tmp_path / "project/scorers/own.py", tmp_path / "ran"
    evil = f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n{SCORER}"
    change = f"__import__('pathlib').Path({str(file)!r}).write_text({evil!r}); return 1.0"
    file.write_text(SCORER.replace("return 1.0", change))
    own.config = {**models("a"), "run": {"concurrency": 1}}
    own.run()
    marks = [call.score for call in own.calls()]
    assert not ran.exists()
    assert [mark.state for mark in marks] == [ScoreState.SCORED] + [ScoreState.ERRORED] * 7
    assert "changed since the project was trusted" in marks[-1].checks[0].reason

"""Code of a project runs only after a yes to exactly this code."""

from __future__ import annotations

import json
import os
import py_compile
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from engine.config.schema import Config, Connection, ModelEntry, Scorers
from engine.domain import Case, CheckSpec
from engine.errors import UserError
from engine.paths import home
from engine.trust import TrustBook, TrustState, code_in, content_hash, is_trusted, trust


@dataclass(frozen=True)
class Folder:
    root: Path
    config: Config = field(default_factory=Config)
    cases: tuple[Case, ...] = ()


@pytest.fixture
def project(tmp_path: Path) -> Folder:
    root = tmp_path / "project"
    (root / "scorers").mkdir(parents=True)
    (root / "scorers" / "own.py").write_text("def own(): return 1\n", encoding="utf-8")
    (root / "lib.py").write_text("X = 1\n", encoding="utf-8")
    (root / "target.py").write_text("def ask(p): return p\n", encoding="utf-8")
    (root / "tests.yaml").write_text("- input: a\n", encoding="utf-8")
    config = Config(models=(ModelEntry(model="own", run="target.py:ask"),))
    return Folder(root, config)


def test_a_project_without_code_asks_nothing(tmp_path: Path) -> None:
    plain = Folder(tmp_path, Config(models=(ModelEntry(model="gpt-5"),)))
    assert code_in(plain) == []
    assert content_hash(plain) is None
    assert TrustBook().state(plain) is TrustState.NO_CODE
    assert is_trusted(plain)


def test_every_kind_of_code_is_named(project: Folder) -> None:
    config = replace(
        project.config,
        scorers=Scorers(paths=("more/checks.py",), options={"semantic": {"embedding": "embed.py:vector"}}),
        hooks={"pre_request": "hooks.py:before", "on_result": ""},
        connections=(
            Connection(
                id="gw",
                kind="openai_compatible",
                api_key_ref="${cmd:pass show key}",
                headers={"X-Key": "Bearer ${cmd:./token.sh}"},
            ),
        ),
    )
    cases = (Case("a", checks=(CheckSpec("semantic", {"deep": [{"embedding": "case.py:vector"}]}),)),)
    found = [(item.kind, item.place, item.what) for item in code_in(Folder(project.root, config, cases))]
    assert found == [
        ("scorer", "scorers.paths", "more/checks.py"),
        ("scorer", "scorers/", "scorers/own.py"),
        ("hook", "hooks.pre_request", "hooks.py:before"),
        ("target", "models[0].run", "target.py:ask"),
        ("function", "scorers.options.semantic.embedding", "embed.py:vector"),
        ("function", "case a.deep.embedding", "case.py:vector"),
        ("command", "connections.gw.api_key_ref", "pass show key"),
        ("command", "connections.gw.headers.X-Key", "./token.sh"),
    ]


def test_the_answer_is_no_until_somebody_says_yes(project: Folder) -> None:
    book = TrustBook()
    assert book.state(project) is TrustState.NEVER_ASKED
    assert not is_trusted(project)
    trust(project)
    assert book.state(project) is TrustState.TRUSTED
    assert is_trusted(project)
    book.forget(project)
    assert not is_trusted(project)


def append(name: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / name).open("a", encoding="utf-8") as stream:
            stream.write("# changed\n")

    return change


def create(name: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")

    return change


@pytest.mark.parametrize(
    "change",
    [
        append("scorers/own.py"),
        append("target.py"),
        append("lib.py"),
        create("json.py"),
        create("deep/er/numpy.py"),
        create("helper.so"),
        lambda root: (root / "lib.py").rename(root / "lib2.py"),
        lambda root: (root / "lib.py").unlink(),
    ],
)
def test_changed_code_asks_again(project: Folder, change: Callable[[Path], None]) -> None:
    trust(project)
    change(project.root)
    assert not is_trusted(project)
    assert TrustBook().state(project) is TrustState.CHANGED


@pytest.mark.parametrize(
    "change",
    [
        append("tests.yaml"),
        create("results/report.html"),
        create("__pycache__/lib.cpython-311.pyc"),
        create(".git/x.py"),
    ],
)
def test_what_is_no_code_asks_nothing_again(project: Folder, change: Callable[[Path], None]) -> None:
    trust(project)
    change(project.root)
    assert is_trusted(project)


def test_a_changed_command_asks_again(project: Folder) -> None:
    def with_command(text: str) -> Folder:
        line = Connection(id="c", kind="openai", api_key_ref=f"${{cmd:{text}}}")
        return replace(project, config=replace(project.config, connections=(line,)))

    trust(with_command("pass show a"))
    assert is_trusted(with_command("pass show a"))
    assert not is_trusted(with_command("pass show b"))


def test_a_file_that_a_command_runs_counts_whatever_it_is_called(project: Folder) -> None:
    script = project.root / "give-key"
    script.write_text("echo a\n", encoding="utf-8")
    line = Connection(id="c", kind="openai", api_key_ref="${cmd:sh give-key}")
    running = replace(project, config=replace(project.config, connections=(line,)))
    trust(running)
    assert is_trusted(running)
    script.write_text("echo b\n", encoding="utf-8")
    assert not is_trusted(running)


def test_the_same_code_elsewhere_is_the_same_code(project: Folder, tmp_path: Path) -> None:
    trust(project)
    moved = project.root.rename(tmp_path / "moved")
    assert is_trusted(replace(project, root=moved))


def test_code_that_changes_while_the_question_is_open_is_not_trusted(project: Folder) -> None:
    seen = content_hash(project)
    append("lib.py")(project.root)
    with pytest.raises(UserError) as fault:
        trust(project, seen=seen)
    assert fault.value.code == "code_changed"
    assert not is_trusted(project)


def test_answers_are_kept_for_the_user_only_and_outside_the_project(project: Folder) -> None:
    trust(project)
    path = home() / "trust.json"
    assert path.is_file()
    assert not path.is_relative_to(project.root)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"code": [], "yes": {}}', '{"code": {"x": 5}}'])
def test_an_unreadable_answer_is_a_no(project: Folder, text: str) -> None:
    trust(project)
    (home() / "trust.json").write_text(text, encoding="utf-8")
    assert not is_trusted(project)
    assert not TrustBook().allows(("env", "A", "b"))
    TrustBook().forget(project)
    trust(project)
    assert is_trusted(project)


def test_a_compiled_file_that_came_along_is_never_run(project: Folder) -> None:
    (project.root / "evil.py").write_text("X = 9\n", encoding="utf-8")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    planted = py_compile.compile(str(project.root / "evil.py"), invalidation_mode=unchecked)
    assert planted is not None
    Path(planted).rename(Path(planted).with_name(Path(planted).name.replace("evil", "lib")))
    program = "import sys; sys.path.insert(0, {root!r}); {shield}import lib; sys.stdout.write(str(lib.X))"
    repository = str(Path(__file__).parents[2])

    def run(shield: str) -> str:
        text = program.format(root=str(project.root), shield=shield)
        environment = {**os.environ, "PYTHONPATH": repository}
        environment.pop("PYTHONPYCACHEPREFIX", None)
        done = subprocess.run(
            [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run("") == "9"
    assert run("import engine.trust; engine.trust.shield_bytecode(); ") == "1"


def test_yeses_are_for_exactly_what_was_asked() -> None:
    book = TrustBook()
    book.allow(("env", "NAME", "host.example.com"))
    book.allow(("env", "NAME", "host.example.com"))
    assert book.allows(("env", "NAME", "host.example.com"))
    assert not book.allows(("env", "NAME", "other.example.com"))
    assert not book.allows(("env", "NAME2", "host.example.com"))
    assert len(json.loads((home() / "trust.json").read_text(encoding="utf-8"))["yes"]) == 1

"""Typed preferences across processes, and work off the GUI thread."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QObject

from arena_desktop.background import Background
from arena_desktop.settings import RECENT_LIMIT, RecentProject, Settings
from engine.errors import Cancelled


def test_values_keep_their_types_in_another_process(settings: Settings) -> None:
    settings.keep_awake = False
    settings.text_percent = 130
    settings.appearance = "dark"
    settings.write_json("a/list", [])
    settings.sync()
    code = (
        "import sys; from pathlib import Path; from arena_desktop.settings import Settings;"
        "s = Settings(Path(sys.argv[1]));"
        "print(s.keep_awake is False, s.text_percent == 130, s.appearance, s.read_json('a/list') == [])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(settings.path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True", "dark", "True"]


def test_defaults_and_broken_values(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    path.write_text("[look]\ntext_percent=lots\n[project]\nrecent=not json\n[run]\nkeep_awake=\n")
    settings = Settings(path)
    assert settings.text_percent in (0, 100)
    assert settings.recent() == []
    assert settings.appearance == "system"
    assert not settings.is_changed("look/appearance")


def test_a_change_is_told_once_and_can_be_taken_back(settings: Settings, qtbot) -> None:
    with qtbot.waitSignal(settings.changed) as told:
        settings.autosave = False
    assert told.args == ["project/autosave"]
    with qtbot.assertNotEmitted(settings.changed):
        settings.autosave = False
    settings.reset("project/autosave")
    assert settings.autosave is True


def test_states_are_kept_per_project_and_other_versions_ignored(settings: Settings, tmp_path: Path) -> None:
    settings.keep_view_state("table_cases", {"filter": "x"}, tmp_path / "one")
    assert settings.view_state("table_cases", tmp_path / "one") == {"filter": "x"}
    assert settings.view_state("table_cases", tmp_path / "two") == {}
    settings.write_json("views/table_old", {"version": 99, "state": {"filter": "y"}})
    assert settings.view_state("table_old") == {}


def test_recent_projects_are_few_newest_first_and_unique(settings: Settings) -> None:
    for number in range(RECENT_LIMIT + 3):
        settings.remember_project(RecentProject(f"/p/{number}", f"P{number}"))
    settings.remember_project(RecentProject("/p/5", "P5", best="Claude"))
    recent = settings.recent()
    assert len(recent) == RECENT_LIMIT
    assert recent[0] == RecentProject("/p/5", "P5", best="Claude")
    assert len({item.path for item in recent}) == RECENT_LIMIT
    settings.forget_project("/p/5")
    assert settings.recent()[0].path == f"/p/{RECENT_LIMIT + 2}"


def test_bytes_come_back(settings: Settings) -> None:
    settings.keep_bytes("geometry", QByteArray(b"\x00\xffabc"))
    assert Settings(settings.path).bytes_of("geometry") == QByteArray(b"\x00\xffabc")
    assert settings.bytes_of("never").isEmpty()


class Asker(QObject):
    """Collects answers and the threads they came on."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[object] = []
        self.threads: list[threading.Thread] = []

    def take(self, value: object) -> None:
        self.answers.append(value)
        self.threads.append(threading.current_thread())


@pytest.fixture
def background(qapp):
    made = Background()
    yield made
    assert made.close()


def test_work_is_done_elsewhere_and_answered_here(background: Background, qtbot) -> None:
    asker, seen = Asker(), []

    def work(_job) -> int:
        seen.append(threading.current_thread())
        return 42

    background.run(work, asker.take, asker.take)
    qtbot.waitUntil(lambda: asker.answers == [42])
    assert asker.threads == [threading.main_thread()]
    assert seen[0] is not threading.main_thread()
    assert background.busy == 0


def test_a_fault_reaches_the_asker(background: Background, qtbot) -> None:
    asker = Asker()

    def work(_job) -> None:
        raise ValueError("broken")

    background.run(work, lambda _value: pytest.fail("done was called"), asker.take)
    qtbot.waitUntil(lambda: len(asker.answers) == 1)
    assert isinstance(asker.answers[0], ValueError)


def test_only_the_newest_answer_of_a_name_arrives(background: Background, qtbot) -> None:
    asker, gate = Asker(), threading.Event()

    def slow(job) -> str:
        gate.wait(5)
        job.check()
        return "old"

    first = background.run(slow, asker.take, asker.take, name="open", replace=True)
    background.run(lambda _job: "new", asker.take, asker.take, name="open", replace=True)
    assert first.stopped
    gate.set()
    qtbot.waitUntil(lambda: background.busy == 0)
    assert asker.answers == ["new"]


def test_slow_work_never_keeps_a_question_waiting(background: Background, qtbot) -> None:
    asker, gate, under_way = Asker(), threading.Event(), []

    def slow(_job) -> str:
        under_way.append(None)
        gate.wait(5)
        return "slow"

    for _piece in range(6):
        background.run(slow, asker.take, asker.take, slow=True)
    background.run(lambda _job: "quick", asker.take, asker.take)
    qtbot.waitUntil(lambda: asker.answers == ["quick"])
    assert len(under_way) <= 1
    gate.set()
    qtbot.waitUntil(lambda: background.busy == 0)
    assert asker.answers == ["quick", *["slow"] * 6]


def test_an_asker_that_is_gone_gets_nothing(background: Background, qtbot) -> None:
    asker, gate = Asker(), threading.Event()
    answers = asker.answers
    background.run(lambda _job: gate.wait(5), asker.take, asker.take)
    del asker
    gate.set()
    qtbot.waitUntil(lambda: background.busy == 0)
    assert answers == []


def test_stopping_ends_work_without_an_answer(background: Background, qtbot) -> None:
    asker, started = Asker(), threading.Event()

    def work(job) -> None:
        started.set()
        while True:
            job.check()

    job = background.run(work, asker.take, asker.take)
    assert started.wait(5)
    job.stop()
    qtbot.waitUntil(lambda: background.busy == 0)
    assert asker.answers == []
    with pytest.raises(Cancelled):
        job.check()


def test_nothing_begins_after_the_end(background: Background, qtbot) -> None:
    done: list[object] = []
    assert background.close()
    job = background.run(lambda job: done.append("work"), done.append, done.append)
    assert job.stopped
    assert background.busy == 0
    assert done == []

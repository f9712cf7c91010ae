"""The program's own folders: one place, for the user only."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from engine import paths
from engine.errors import WorldError


def test_everything_lies_below_arena_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "a" / "b"))
    found = [paths.home(), paths.store_path(), paths.settings_path(), paths.logs_dir(), paths.caches_dir()]
    assert all(path.is_relative_to(tmp_path / "a" / "b") for path in found)
    assert len(set(found)) == 5
    assert paths.logs_dir().is_dir()
    assert paths.caches_dir().is_dir()


def test_a_relative_home_does_not_move_with_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", "here")
    assert paths.home() == tmp_path / "here"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the folders of Linux")
def test_without_arena_home_the_folders_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_HOME", "  ")
    for name in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    assert paths.store_path() == tmp_path / "DATA" / "arena-desktop" / "arena.sqlite"
    assert paths.settings_path().is_relative_to(tmp_path / "CONFIG")
    assert paths.caches_dir().is_relative_to(tmp_path / "CACHE")
    assert paths.logs_dir().is_relative_to(tmp_path / "STATE")


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_folders_and_files_are_for_the_user_only() -> None:
    before = os.umask(0)
    try:
        folders = [paths.home(), paths.logs_dir(), paths.caches_dir()]
        paths.write_private(paths.home() / "a.json", "{}")
        paths.touch_private(paths.store_path())
    finally:
        os.umask(before)
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    for path in (paths.home() / "a.json", paths.store_path()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_writing_replaces_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x" / "a.json"
    paths.write_private(target, "old")

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="disk full"):
        paths.write_private(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert [p.name for p in target.parent.iterdir()] == ["a.json"]


def test_touching_keeps_what_is_there(tmp_path: Path) -> None:
    target = tmp_path / "store"
    target.write_text("kept", encoding="utf-8")
    paths.touch_private(target)
    assert target.read_text(encoding="utf-8") == "kept"


def test_only_the_programs_own_folder_is_moved_by_arena_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(WorldError) as picked:
        paths.touch_private(tmp_path / "file" / "results.sqlite")
    assert "ARENA_HOME" not in picked.value.hint
    assert "another place" in picked.value.hint
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(WorldError) as own:
        paths.caches_dir()
    assert "ARENA_HOME" in own.value.hint


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(WorldError) as fault:
        paths.home()
    assert fault.value.code == "home_unwritable"
    assert "ARENA_HOME" in fault.value.hint

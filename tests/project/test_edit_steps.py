"""A step of editing is taken back and done again to the byte, for all its files or for none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena_desktop.desks.edit_steps import do_again, file_edits, take_back
from engine.config import saving
from engine.config.saving import SavedFile, save_text
from engine.config.text_files import TextFile, decode, read_text
from engine.config.yaml_text import MAX_BYTES
from engine.errors import ArenaError, UserError, WorldError


def saved(path: Path, text: str) -> SavedFile:
    """Writes a file as a desk does, whether it is there or not."""
    there = read_text(path, path.name, MAX_BYTES) if path.exists() else TextFile(path, "", "utf-8", "")
    return save_text(there, text)


@given(
    before=st.binary(max_size=40).filter(lambda data: bool(decode(data, "a")[1])),
    after=st.text("ab\n", max_size=40),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_goes_back_and_again_to_the_byte(tmp_path: Path, before: bytes, after: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(before)
    edits = file_edits([saved(path, after)])
    written = path.read_bytes()
    assert len(edits) == (written != before)
    take_back(edits)
    assert path.read_bytes() == before
    do_again(edits)
    assert path.read_bytes() == written


def test_a_byte_order_that_no_save_keeps_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    before = b"\xfe\xff" + "a: é\r\n".encode("utf-16-be")
    path.write_bytes(before)
    edits = file_edits([saved(path, "a: 2\r\n")])
    take_back(edits)
    assert path.read_bytes() == before


def test_a_small_change_of_a_large_file_keeps_little(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    text = "".join(f"- {{input: question {number}}}\n" for number in range(50_000))
    path.write_text(text, "utf-8")
    edits = file_edits([saved(path, text.replace("question 25000}", "another}"))])
    assert sum(edit.size for edit in edits) < 40
    take_back(edits)
    assert path.read_text("utf-8") == text


def test_a_file_that_the_step_made_goes_and_comes(tmp_path: Path) -> None:
    config, new = tmp_path / "config.yaml", tmp_path / "added.yaml"
    config.write_text("a: 1\n", "utf-8")
    edits = file_edits([saved(new, "tests: []\n"), saved(config, "a: 1\ntests: [added.yaml]\n")])
    take_back(edits)
    assert not new.exists()
    assert config.read_text("utf-8") == "a: 1\n"
    do_again(edits)
    assert new.read_text("utf-8") == "tests: []\n"
    assert config.read_text("utf-8").endswith("tests: [added.yaml]\n")


@pytest.mark.parametrize("spoilt", [0, 1])
@pytest.mark.parametrize("how", ["changed", "removed", "a folder"])
def test_one_file_changed_outside_stops_the_whole_step(tmp_path: Path, spoilt: int, how: str) -> None:
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in paths:
        path.write_text("old\n", "utf-8")
    edits = file_edits([saved(path, "new\n") for path in paths])
    target, other = paths[spoilt], paths[1 - spoilt]
    target.unlink()
    if how == "changed":
        target.write_text("theirs\n", "utf-8")
    elif how == "a folder":
        target.mkdir()
    with pytest.raises(ArenaError, match=target.name) as caught:
        take_back(edits)
    if how == "removed":
        assert "was removed by another program since" in caught.value.message
    if how == "changed":
        assert target.read_text("utf-8") == "theirs\n"
        assert caught.value.code == "changed_on_disk"
    assert other.read_text("utf-8") == "new\n"
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_made_file_that_somebody_changed_is_not_taken_away(tmp_path: Path) -> None:
    new = tmp_path / "added.yaml"
    edits = file_edits([saved(new, "tests: []\n")])
    new.write_text("tests: [mine]\n", "utf-8")
    with pytest.raises(UserError):
        take_back(edits)
    assert new.read_text("utf-8") == "tests: [mine]\n"


def test_a_folder_in_the_place_of_the_project_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    edits = file_edits([saved(folder / "a.yaml", "a: 1\n")])
    (folder / "a.yaml").unlink()
    folder.rmdir()
    folder.write_text("a file now", "utf-8")
    with pytest.raises(UserError, match="removed by another program"):
        take_back(edits)


def test_what_was_written_goes_back_when_a_later_file_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in paths:
        path.write_text("old\n", "utf-8")
    edits = file_edits([saved(path, "new\n") for path in paths])
    real = os.replace

    def full(source: str, target: Path) -> None:
        if target.name == "a.yaml":
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(saving.os, "replace", full)
    with pytest.raises(WorldError, match="No space left"):
        take_back(edits)
    assert [path.read_text("utf-8") for path in paths] == ["new\n", "new\n"]

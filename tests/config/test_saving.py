"""A save keeps encoding and line ends, and never overwrites a change it has not seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.config.saving import save_text, write_bytes
from engine.config.splice import parse_path, set_value
from engine.config.text_files import decode, read_text
from engine.config.yaml_text import MAX_BYTES, compose
from engine.errors import UserError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_save_changes_one_value_and_no_other_byte(encoding: str, tmp_path: Path) -> None:
    text = "a: é # stays\r\nb: 1\r\n"
    path = tmp_path / "a.yaml"
    path.write_bytes(text.encode(encoding))
    file = read_text(path, "a.yaml", MAX_BYTES)
    assert (file.text, file.encoding) == (text, encoding)
    saved = save_text(file, set_value(compose(file.text), parse_path("b"), 2))
    assert path.read_bytes() == text.replace("1", "2").encode(encoding)
    again = save_text(saved, text)
    assert path.read_bytes() == text.encode(encoding)
    assert again.digest == file.digest


def test_a_file_changed_by_someone_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    file = read_text(path, "a.yaml", MAX_BYTES)
    path.write_text("a: 9\n")
    with pytest.raises(UserError) as caught:
        save_text(file, "a: 2\n")
    assert caught.value.code == "changed_on_disk"
    assert path.read_text() == "a: 9\n"
    save_text(file, "a: 2\n", overwrite=True)
    assert path.read_text() == "a: 2\n"
    path.unlink()
    with pytest.raises(UserError):
        save_text(file, "a: 3\n")


def test_a_text_that_its_encoding_cannot_hold_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: \xe9\n")
    file = read_text(path, "a.yaml", MAX_BYTES)
    with pytest.raises(UserError) as caught:
        save_text(file, "a: 比\n")
    assert caught.value.code == "not_encodable"
    assert path.read_bytes() == b"a: \xe9\n"
    assert os.listdir(tmp_path) == ["a.yaml"]


def test_a_save_keeps_the_rights_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    path.chmod(0o640)
    save_text(read_text(path, "a.yaml", MAX_BYTES), "a: 2\n")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="rights of this kind are those of POSIX")
def test_a_new_file_may_be_read_by_whom_the_system_lets(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_bytes(tmp_path / "a.yaml", b"a: 1\n")
    assert (tmp_path / "a.yaml").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"\xef\xbb\xbfa", "a", "utf-8-sig"),
        ("aé".encode("utf-16-le"), "aé", "utf-16-le"),
        ("aéb".encode("utf-16-be"), "aéb", "utf-16-be"),
        ("a".encode("utf-32"), "a", "utf-32"),
        (b"", "", "utf-8"),
    ],
)
def test_encodings_are_found_out(data: bytes, text: str, encoding: str) -> None:
    assert decode(data, "f") == (text, encoding, ())


@pytest.mark.parametrize("data", [b"\xff\xfea", b"PK\x03\x04\x00\x00\x81", b"\x81\x8d\x8f"])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    text, encoding, problems = decode(data, "f")
    assert (text, encoding) == ("", "")
    assert [problem.code for problem in problems] == ["bad_encoding"]

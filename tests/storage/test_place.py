"""Which places bear a write-ahead log, and how processes are known on systems without /proc."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.storage import owner, place

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home/ann/team\\040share rw - nfs4 server:/export rw
31 22 0:41 / /home/ann/team\\040share/local rw - ext4 /dev/sdb1 rw
32 22 0:42 / /mnt/sync rw shared:3 master:2 - fuse.sshfs user@host:/ rw
33 22 0:43 / /mnt/over rw - nfs server:/ rw
34 22 0:44 / /mnt/over rw - tmpfs tmpfs rw
half a line
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS)
    return file


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ann", "ext4"),
        ("/home/ann/team share", "nfs4"),
        ("/home/ann/team share/deep/down", "nfs4"),
        ("/home/ann/team share/local/x", "ext4"),
        ("/home/ann/team shared", "ext4"),
        ("/mnt/sync/x", "fuse.sshfs"),
        ("/mnt/over", "tmpfs"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="mount points are a matter of Unix")
def test_the_nearest_mount_says_the_kind(table: Path, folder: str, kind: str) -> None:
    assert place._mount_type(Path(folder), table) == kind


def test_without_a_table_nothing_is_known(tmp_path: Path) -> None:
    assert place._mount_type(tmp_path, tmp_path / "missing") is None


def test_network_kinds_get_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, allowed in (("ext4", True), ("NFS4", False), ("cifs", False), ("apfs", True), (None, True)):
        monkeypatch.setattr(place, "_file_system", lambda _, kind=kind: kind)
        assert place.log_allowed(tmp_path / "arena.sqlite") is allowed, kind


@pytest.mark.parametrize(
    "folder",
    [
        "OneDrive - Contoso/Documents",
        "Dropbox/x",
        "Library/Mobile Documents/y",
        "CloudStorage/GoogleDrive-a",
        "Nextcloud",
    ],
)
def test_synchronised_folders_get_no_log(tmp_path: Path, folder: str) -> None:
    assert place.log_allowed(tmp_path / "documents" / "arena.sqlite")
    assert not place.log_allowed(tmp_path / folder / "arena.sqlite")


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="needs the ps program")
def test_processes_are_known_by_their_start_without_proc() -> None:
    mark = owner._ps_mark(os.getpid())
    assert mark
    assert owner._ps_mark(os.getpid()) == mark
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert owner._ps_mark(process.pid)
    assert owner._ps_mark(process.pid) is None


@pytest.mark.skipif(shutil.which("true") is None or sys.platform != "linux", reason="looks at a Linux zombie")
def test_a_process_that_has_ended_and_is_not_collected_is_not_alive() -> None:
    process = subprocess.Popen(["true"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    # The end of its output means that it is over; nobody has waited for it yet.
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert owner.start_mark(process.pid) is None
    process.communicate()

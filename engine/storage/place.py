"""Whether the place of a file bears SQLite's write-ahead log.

The log needs memory shared between processes on one computer: on network folders it fails or
corrupts, and programs that copy folders to a cloud carry its parts away one by one.
"""

from __future__ import annotations

import sys
from pathlib import Path

_NETWORK_TYPES = frozenset(
    [
        "9p",
        "afpfs",
        "afs",
        "cifs",
        "davfs",
        "davfs2",
        "fuse.davfs",
        "fuse.gvfsd-fuse",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "ncpfs",
        "nfs",
        "nfs3",
        "nfs4",
        "prl_fs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
        "webdav",
    ]
)

# How the folders of the synchronising programs begin, in lower case.
_SYNCED_FOLDERS = (
    "box sync",
    "cloudstorage",
    "dropbox",
    "google drive",
    "googledrive",
    "icloud drive",
    "iclouddrive",
    "megasync",
    "mobile documents",
    "my drive",
    "nextcloud",
    "onedrive",
    "owncloud",
    "pcloud",
    "seafile",
    "syncthing",
)


def log_allowed(path: Path) -> bool:
    """False on network drives and in folders that another program synchronises."""
    resolved = path.absolute().parent.resolve()
    if any(part.lower().startswith(_SYNCED_FOLDERS) for part in resolved.parts):
        return False
    return not _on_network(resolved)


def _on_network(folder: Path) -> bool:
    if sys.platform == "win32":
        return _windows_remote(folder)
    kind = _file_system(folder)
    return kind is not None and kind.lower() in _NETWORK_TYPES


def _file_system(folder: Path) -> str | None:
    if sys.platform == "darwin":
        return _darwin_type(folder)
    return _mount_type(folder)


def _mount_type(folder: Path, table: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The file system of the longest mount point above `folder`; None where nothing is known."""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    best: tuple[int, str] | None = None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = Path(fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\"))
        # `>=`: of two mounts on one point the later one is what is seen.
        if folder.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), kinds[0])
    return best[1] if best else None


if sys.platform == "darwin":

    def _darwin_type(folder: Path) -> str | None:
        import ctypes

        # struct statfs with 64-bit inodes: f_fstypename begins at byte 72 and has 16 bytes.
        buffer = ctypes.create_string_buffer(4096)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.statfs(str(folder).encode(), buffer) != 0:
            return None
        return buffer.raw[72:88].split(b"\0", 1)[0].decode("ascii", "replace")


if sys.platform == "win32":

    def _windows_remote(folder: Path) -> bool:
        import ctypes

        remote = 4
        anchor = folder.anchor
        return anchor.startswith("\\\\") or ctypes.windll.kernel32.GetDriveTypeW(anchor) == remote

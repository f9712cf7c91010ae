"""Who carries out a run, and whether that process is still there.

A pid alone is not enough: the system gives it to another process sooner or later. With the
moment at which the process started, and the boot of the machine, it is unique.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

from engine.storage.records import Owner

SILENCE = timedelta(minutes=10)
"""After so long without a sign of life the owner on another computer counts as gone."""


MARKING: set[str] = set()
"""Ids of the ended runs that this process marks again. A claim of this process without its id here was
left behind, by a session that could not write any more."""


def this_process() -> Owner:
    """The owner record of the running process."""
    return _process(os.getpid())


@functools.cache
def _process(pid: int) -> Owner:
    return Owner(pid=pid, started=start_mark(pid) or "", host=platform.node())


def is_gone(owner: Owner, seen_at: datetime | None, now: datetime) -> bool:
    """Whether nobody carries out the owner's run any more.

    On this computer the process is looked up. Of a process on another one only its signs of life
    are known, which a recorder leaves every minute.
    """
    if owner.host == platform.node():
        return not is_alive(owner)
    return seen_at is None or now - seen_at > SILENCE


def is_alive(owner: Owner) -> bool:
    """Whether that very process is running on this computer. In doubt True: a run that is going
    on must never be taken away from its owner."""
    mark = start_mark(owner.pid)
    if mark is None:
        return False
    return not mark or not owner.started or mark == owner.started


def start_mark(pid: int) -> str | None:
    """An opaque text that is the same for the whole life of a process and differs from that of
    any other with the same pid. None = no such process; empty = there is one, but the system
    does not say when it started."""
    if pid <= 0:
        return None
    if sys.platform == "win32":
        return _windows_mark(pid)
    return _proc_mark(pid) if Path("/proc/self/stat").exists() else _ps_mark(pid)


def _proc_mark(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:
        return ""
    # The name in parentheses may itself hold blanks and parentheses.
    fields = stat.rpartition(")")[2].split()
    state, ticks = fields[0], fields[19]
    return None if state in ("Z", "X") else f"{boot}:{ticks}"


def _ps_mark(pid: int) -> str | None:
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed program with a number
            ["/bin/ps", "-o", "state=,lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
            env={"LC_ALL": "C", "TZ": "UTC"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    state, _, started = answer.stdout.strip().partition(" ")
    if answer.returncode != 0 or not state or state.startswith("Z"):
        return None
    return " ".join(started.split())


if sys.platform == "win32":

    def _windows_mark(pid: int) -> str | None:
        import ctypes
        from ctypes import wintypes

        query_limited_information, access_denied, still_active = 0x1000, 5, 259
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = wintypes.HANDLE
        handle = kernel.OpenProcess(query_limited_information, False, pid)
        if not handle:
            return "" if ctypes.get_last_error() == access_denied else None
        try:
            times = [wintypes.FILETIME() for _ in range(4)]
            code = wintypes.DWORD()
            arguments = [ctypes.byref(moment) for moment in times]
            known = kernel.GetProcessTimes(wintypes.HANDLE(handle), *arguments)
            kernel.GetExitCodeProcess(wintypes.HANDLE(handle), ctypes.byref(code))
            if code.value != still_active:
                return None
            created = times[0]
            return f"{created.dwHighDateTime}:{created.dwLowDateTime}" if known else ""
        finally:
            kernel.CloseHandle(wintypes.HANDLE(handle))

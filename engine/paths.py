"""Where the program keeps its own things: the one place that says so.

`ARENA_HOME` puts everything below one folder (tests, portable use); without it the folders are
the usual ones of the system. Every folder is made when it is first asked for, readable by the
user only. Project folders are not part of this.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from engine.errors import WorldError

APP_NAME = "arena-desktop"
STORE_NAME = "arena.sqlite"
SETTINGS_NAME = "settings.ini"

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600

_ELSEWHERE = "Allow writing there, or choose another place, and try again."
_OTHER_HOME = "Set ARENA_HOME to a folder you may write to, or free the place and try again."


def private_folder(path: Path, hint: str = _ELSEWHERE) -> Path:
    """Makes `path` (and its parents), readable by the user only, and returns it.

    A folder that is already there is left as it is. Raises WorldError `home_unwritable` with `hint`.
    """
    try:
        if not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    except OSError as error:
        raise WorldError(
            "home_unwritable",
            f"The folder {path} cannot be made ({error.strerror or error}), so nothing can be kept there.",
            hint=hint,
            path=str(path),
        ) from error
    return path


def write_private(path: Path, text: str) -> None:
    """Replaces a small file in one step, readable by the user only.

    A crash leaves the old or the new content, never half of it. Raises OSError.
    """
    private_folder(path.parent)
    # mkstemp creates with mode 0600.
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def touch_private(path: Path) -> Path:
    """Creates an empty file readable by the user only, for writers that open by name (SQLite).

    A file that is already there is left as it is. Raises OSError.
    """
    private_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE))
    return path


def home() -> Path:
    """The folder of the store, the settings and the answers to trust questions."""
    override = _override()
    if override is not None:
        return _own_folder(override)
    from platformdirs import user_data_path

    return _own_folder(user_data_path(APP_NAME, appauthor=False))


def store_path() -> Path:
    """The SQLite file of all runs. Its folder exists, the file need not."""
    return home() / STORE_NAME


def settings_path() -> Path:
    """The preferences file. Its folder exists, the file need not."""
    if _override() is not None:
        return home() / SETTINGS_NAME
    from platformdirs import user_config_path

    return _own_folder(user_config_path(APP_NAME, appauthor=False)) / SETTINGS_NAME


def logs_dir() -> Path:
    """The folder of the rotating log files."""
    if _override() is not None:
        return _own_folder(home() / "logs")
    from platformdirs import user_log_path

    return _own_folder(user_log_path(APP_NAME, appauthor=False))


def caches_dir() -> Path:
    """The folder of what can be fetched again (model lists, refreshed prices)."""
    if _override() is not None:
        return _own_folder(home() / "caches")
    from platformdirs import user_cache_path

    return _own_folder(user_cache_path(APP_NAME, appauthor=False))


def _own_folder(path: Path) -> Path:
    """A folder of the program itself: ARENA_HOME moves it, and not that of a file a person picked."""
    return private_folder(path, _OTHER_HOME)


def _override() -> Path | None:
    value = os.environ.get("ARENA_HOME", "").strip()
    return Path(value).expanduser().absolute() if value else None

"""Paths that a project names: inside its folder, links resolved, or refused by name."""

from __future__ import annotations

from pathlib import Path


def inside(root: Path, text: str) -> Path | None:
    """The resolved path of a name that a project gives.

    None where it leads out of the folder, and where no file can be called that (too long, a null).
    """
    try:
        base = root.resolve()
        path = (base / text).resolve()
        path.exists()
    except PermissionError:
        return None if not _below(base, path) else path
    except (OSError, ValueError, RuntimeError):
        return None
    return path if _below(base, path) else None


def _below(base: Path, path: Path) -> bool:
    return path == base or base in path.parents


def shown(root: Path, path: Path) -> str:
    """The name of a file in messages: relative to the project, with forward slashes."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name

"""The sample projects that ship with the program, and the copy of one that a person works in."""

from __future__ import annotations

import shutil
from pathlib import Path

from arena_desktop.context import Sample
from engine.errors import WorldError
from engine.paths import home

SAMPLES = ("support-triage", "local-models", "judge-demo")


def projects_folder() -> Path:
    """The folder with the shipped projects."""
    return Path(__file__).resolve().parent.parent / "projects"


def find_samples() -> dict[str, Sample]:
    """The shipped projects that are there, by id."""
    folder = projects_folder()
    return {name: Sample(name, folder / name) for name in SAMPLES if (folder / name).is_dir()}


def working_copy(sample: Sample) -> Path:
    """Returns the person's own copy of a sample, made on first use; theirs is never overwritten.

    Raises WorldError where the copy cannot be written.
    """
    target = home() / "samples" / sample.id
    if target.is_dir() and any(target.iterdir()):
        return target
    try:
        shutil.copytree(sample.folder, target, dirs_exist_ok=True)
    except OSError as error:
        raise WorldError(
            "sample_not_copied",
            f"The sample could not be copied to {target}: {error.strerror or error}.",
            hint="Free some space, or open the folder of the sample in the program's own folder.",
        ) from error
    return target

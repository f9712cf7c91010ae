"""Tags that the settings choose tests by: one that no test bears and that looks like a slip is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.config.faults import nearest
from engine.config.loading import Place
from engine.config.schema import TestsConfig
from engine.domain import Case, Problem, Severity

_SLIP = 0.75
_FIELDS = (("tags", "tags_any"), ("all_tags", "tags_all"), ("exclude_tags",))


def tag_slips(
    cases: Sequence[Case], tests: TestsConfig, file: str, places: Mapping[str, Place]
) -> list[Problem]:
    """A warning for each. A tag that no test bears yet is none as long as it is like no other."""
    borne = {tag for case in cases for tag in case.tags}
    found = []
    for names in _FIELDS:
        for tag in getattr(tests, names[0]):
            meant = None if tag in borne else nearest(tag, borne, _SLIP)
            if meant is None:
                continue
            path = next((f"tests.{name}" for name in names if f"tests.{name}" in places), "tests")
            place = places.get(path)
            found.append(
                Problem(
                    Severity.WARNING,
                    f"No test has the tag `{tag}`.",
                    f"Did you mean `{meant}`?",
                    file,
                    place.line if place else None,
                    place.column if place else None,
                    path,
                    "unknown_word",
                )
            )
    return found

"""What can be known about a connection before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from providers.base import ConnectionSettings

Finding = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Probe:
    """`skips`: per model None or (code, reason, fix). `warnings`: per model a sentence.

    `served` is what the server lists, None where it was not asked or does not tell.
    """

    skips: Mapping[str, Finding | None]
    warnings: Mapping[str, str] = field(default_factory=dict)
    served: tuple[str, ...] | None = None


def probe(settings: ConnectionSettings, models: Sequence[str], timeout_s: float) -> Probe:
    """Looks at one connection without spending anything. Never raises."""
    return Probe(dict.fromkeys(models))

"""How wide each connection's lane is, and which setting said so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from providers.registry import canonical_kind

from engine.config.schema import Connection, RunSettings
from engine.errors import UserError
from engine.hosts import endpoint_of, kind_info

VARIABLE = "ARENA_PROVIDER_CONCURRENCY"
DEFAULT_WIDTH = 3
LOCAL_WIDTH = 1

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class LaneWidth:
    """One lane's width. `source`: environment, run, connection, local or default.

    `asked` is the width before it was clamped to the run's concurrency.
    """

    lane: str
    width: int
    source: str
    asked: int


def read_environment(environ: Mapping[str, str]) -> dict[str, int]:
    """The widths of `ARENA_PROVIDER_CONCURRENCY`, names in lower case; the last of a name wins.

    Raises UserError `bad_provider_concurrency` naming the item: a typing mistake must be seen
    before anything is spent, not become a default in silence.
    """
    widths: dict[str, int] = {}
    for item in environ.get(VARIABLE, "").split(","):
        if not item.strip():
            continue
        name, equals, number = (part.strip() for part in item.partition("="))
        good = equals and _NAME.fullmatch(name) and _NUMBER.fullmatch(number) and int(number) > 0
        if not good:
            raise UserError(
                "bad_provider_concurrency",
                f"{VARIABLE} holds {item.strip()!r}, which is not a connection with a width.",
                hint="Write connection=number with whole numbers from 1, for example openai=6,anthropic=4.",
                item=item.strip(),
                variable=VARIABLE,
            )
        widths[name.lower()] = int(number)
    return widths


def runs_here(connection: Connection) -> bool:
    """True for a model server on this computer, which answers one question at a time."""
    info = kind_info(connection)
    return info is not None and info.local and not _leaves_this_computer(connection)


def needs_network(connection: Connection) -> bool:
    """True where a call leaves this computer, so that a lost network stops it."""
    return _leaves_this_computer(connection)


def _leaves_this_computer(connection: Connection) -> bool:
    try:
        return endpoint_of(connection).is_remote
    except UserError:
        return True


def lane_widths(
    connections: Iterable[Connection], run: RunSettings, environment: Mapping[str, int]
) -> tuple[LaneWidth, ...]:
    """The width of each connection's lane: the first that is set, clamped to the global cap."""
    return tuple(_lane_width(connection, run, environment) for connection in connections)


def _lane_width(connection: Connection, run: RunSettings, environment: Mapping[str, int]) -> LaneWidth:
    asked, source = _asked(connection, run, environment)
    return LaneWidth(connection.id, max(1, min(asked, run.concurrency)), source, asked)


def _asked(connection: Connection, run: RunSettings, environment: Mapping[str, int]) -> tuple[int, str]:
    for table, source in ((environment, "environment"), (run.provider_concurrency, "run")):
        width = _named(connection, table)
        if width is not None:
            return width, source
    if connection.rate_limit.concurrency is not None:
        return connection.rate_limit.concurrency, "connection"
    if runs_here(connection):
        return LOCAL_WIDTH, "local"
    return DEFAULT_WIDTH, "default"


def _named(connection: Connection, table: Mapping[str, int]) -> int | None:
    """The connection's own id goes before its kind; a kind applies to each of its connections."""
    lowered = {name.lower(): width for name, width in table.items()}
    if connection.id.lower() in lowered:
        return lowered[connection.id.lower()]
    kind = canonical_kind(connection.kind)
    for name, width in lowered.items():
        if kind is not None and canonical_kind(name) == kind:
            return width
    return None

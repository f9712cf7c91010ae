"""What each service of a run does now, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted

if TYPE_CHECKING:
    from engine.execution.events import LaneState


def _tr(text: str) -> str:
    return QCoreApplication.translate("RunLanes", text)


def widths_head(concurrency: int, lanes: Sequence[tuple[str, int]]) -> str:
    """The head: "10 questions at the same time: OpenAI 3, Anthropic 4"."""
    listed = ", ".join(_tr("{service} {count}").format(service=name, count=count) for name, count in lanes)
    return _tr("At most {count} at the same time: {lanes}").format(count=concurrency, lanes=listed)


def widths_text() -> str:
    """What changing a field does."""
    return _tr(
        "A change counts at once. Questions on their way are not interrupted."
        " More at the same time is faster until a service asks us to slow down."
    )


def width_field(service: str) -> str:
    """The spoken name of a field."""
    return _tr("Questions at the same time to {service}").format(service=service)


def lane_sentence(lane: LaneState, left_s: float) -> str:
    """One lane: in use, narrowed or closed and why, how long, how many wait."""
    parts = [_tr("{active} of {width} in use").format(active=lane.active, width=lane.width)]
    why = _why(lane, left_s)
    if why:
        parts.append(why)
    elif lane.waiting:
        parts.append(counted(lane.waiting, _tr("1 waits"), _tr("{count} wait")))
    return "; ".join(parts)


def _why(lane: LaneState, left_s: float) -> str:
    time = formats.exact_seconds(left_s) if left_s > 0 else ""
    if lane.reason == "stopped":
        return _tr("stopped: it gets no more questions in this run")
    if lane.reason == "offline":
        return (
            _tr("cannot be reached, tried again in {time}").format(time=time)
            if time
            else _tr("cannot be reached, being tried now")
        )
    if lane.reason == "limit" and time:
        return _tr("keeps to its limit, next one in {time}").format(time=time)
    if lane.width >= lane.configured and not (lane.reason == "retry_after" and time):
        return ""
    narrowed = _tr("asked us to slow down: {before} → {after}").format(
        before=lane.configured, after=lane.width
    )
    if lane.width >= lane.configured:
        narrowed = _tr("asked us to slow down")
    if time:
        return _tr("{what}, next one in {time}").format(what=narrowed, time=time)
    return _tr("{what}, one more each quiet minute").format(what=narrowed)

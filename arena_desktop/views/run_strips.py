"""The strips of a run that goes on: who asked us to slow down, who is away, who gets no more questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.labels import LeadLabel
from arena_desktop.widgets.strip import Message, MessageStrip, StripButton
from arena_desktop.wording import run as words
from engine.execution.events import LaneState
from engine.execution.jobs import is_marker

_MOST = 2


@dataclass(frozen=True, slots=True)
class _Slow:
    """One connection that waits, and what is said about it."""

    lane: str
    message: Message
    spoken: str


class ThrottleStrips(QWidget):
    """One yellow strip per service that waits, with a countdown; they leave by themselves.

    The words of the first one are `label_throttle`, empty and hidden while nobody waits.
    """

    def __init__(self) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self._strips: list[MessageStrip] = []
        self._said: set[str] = set()
        for number in range(_MOST):
            strip = MessageStrip(Message(f"slow_{number}", Tone.WARN, "", can_close=False))
            words_label = strip.findChild(LeadLabel, "message_text")
            if words_label is not None:
                words_label.setObjectName("label_throttle" if number == 0 else "label_throttle_2")
            strip.hide()
            layout.addWidget(strip)
            self._strips.append(strip)
        self.hide()

    def show_lanes(self, progress: RunProgress, heads: Mapping[str, ModelHead], *, quiet: bool) -> None:
        """Says what the lanes say now. `quiet`: the run is over or ending."""
        found = [] if quiet else _slow_lanes(progress, heads)
        for strip, slow in zip(self._strips, [*found, *[None] * _MOST], strict=False):
            if slow is None:
                if not strip.isHidden():
                    strip.set_message(Message(strip.message.key, Tone.WARN, "", can_close=False))
                    strip.hide()
                continue
            if slow.message != strip.message:
                strip.set_message(slow.message)
            strip.show()
            if slow.spoken not in self._said:
                announce(strip, f"{slow.message.first} {slow.message.text}")
        self._said = {slow.spoken for slow in found}
        self.setVisible(bool(found))


def _slow_lanes(progress: RunProgress, heads: Mapping[str, ModelHead]) -> list[_Slow]:
    """The lanes that wait and still have something to do, the longest wait first."""
    found: list[tuple[float, _Slow]] = []
    names = {m.lane: heads[k].service for k, m in progress.models.items() if k in heads and m.lane}
    busy = {m.lane for m in progress.models.values() if m.lane and not m.set_aside and m.waiting + m.running}
    for lane in progress.lanes.values():
        if is_marker(lane.id):
            names[lane.id] = words.marking_lane(lane.id)
            if lane.active + lane.waiting:
                busy.add(lane.id)
    if (cut_off := _cut_off(progress, busy)) is not None:
        return [cut_off]
    for lane in progress.lanes.values():
        if lane.id not in busy or lane.reason not in ("throttled", "retry_after", "offline"):
            continue
        left = progress.closed_for(lane.id)
        others = any(other != lane.id for other in busy)
        found.append((-left, _said(progress, lane, names.get(lane.id) or lane.id, others)))
    return [slow for _left, slow in sorted(found, key=lambda pair: pair[0])][:_MOST]


def _cut_off(progress: RunProgress, busy: set[str]) -> _Slow | None:
    """Several services are away and no other goes on: then it is the connection, and that is said once."""
    away = [lane for lane in progress.lanes.values() if lane.id in busy and lane.reason == "offline"]
    if len(away) < _MOST or len(away) < len(busy):
        return None
    first = words.no_internet()
    text = words.offline_text(min(progress.closed_for(lane.id) for lane in away), progress.done)
    return _Slow("", Message("slow_all", Tone.WARN, first, text, can_close=False), first)


def _said(progress: RunProgress, lane: LaneState, service: str, others: bool) -> _Slow:
    left = progress.closed_for(lane.id)
    if lane.reason == "offline":
        first = words.offline_sentence(service)
        text = words.offline_text(left, progress.done)
    else:
        first = words.throttle_sentence(service)
        text = words.throttle_text(lane.configured, lane.width, left, others=others)
    key = f"slow_{lane.id}"
    return _Slow(lane.id, Message(key, Tone.WARN, first, text, can_close=False), f"{first} {lane.width}")


@dataclass(frozen=True, slots=True)
class RunOffers:
    """What a person can do about models that get no more questions: `again` takes their keys, `key` the
    id of the connection whose access key is looked at."""

    again: Callable[[tuple[str, ...]], None]
    key: Callable[[str], None]

    def buttons(
        self, code: str, keys: Sequence[str], connection: str, *, ended: bool = False
    ) -> tuple[StripButton, ...]:
        """The next step for a reason; none where only the settings of the next run help."""
        if code == "budget_model" or (ended and code != "denied"):
            return ()
        if ended:
            return (StripButton(words.check_key(), lambda: self.key(connection)),)
        again = StripButton(words.offer_again(len(keys)), lambda: self.again(tuple(keys)), closes=True)
        if code != "denied":
            return (again,)
        return (StripButton(words.check_key(), lambda: self.key(connection)), again)


def set_aside_messages(
    progress: RunProgress, heads: Mapping[str, ModelHead], offers: RunOffers, *, ended: bool = False
) -> list[Message]:
    """One message per reason why models get no more questions, with what can be done about it.

    Once the run has ended nothing can be asked in it any more: what failed is tried again below.
    """
    groups: dict[str, list[str]] = {}
    for key, model in progress.models.items():
        if model.set_aside and key in heads:
            groups.setdefault(model.set_aside, []).append(key)
    others = not ended and any(
        m.waiting and not m.set_aside for m in progress.models.values() if m.skipped is None
    )
    messages = []
    for code, keys in groups.items():
        model = progress.models[keys[0]]
        text = words.set_aside_text(code, model.last_error, others=others, until=model.aside_until)
        first = words.set_aside_sentence([heads[key].label for key in keys], ended=ended)
        buttons = offers.buttons(code, keys, model.lane, ended=ended)
        messages.append(Message(f"aside_{code}", Tone.WARN, first, text, buttons))
    return messages


def sandbox_message(progress: RunProgress) -> Message | None:
    """What is said while the sandbox is made ready, or that it could not be; None = nothing to say."""
    state, reason = progress.preparing.get("sandbox", ("ready", ""))
    if state == "ready":
        return None
    first, text = words.sandbox_sentences(state, reason)
    tone = Tone.INFO if state == "preparing" else Tone.WARN
    return Message("sandbox", tone, first, text)


def limit_message(progress: RunProgress) -> Message | None:
    """A limit that only warns is passed; one that stops ends the run before that."""
    spent, limit = progress.spent_usd, progress.ceiling_usd
    if spent is None or limit is None or spent <= limit:
        return None
    return Message("limit_passed", Tone.WARN, *words.limit_passed())

"""The verdict card of the Leaderboard: its texts, what is bold in them, its buttons."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Tone
from arena_desktop.widgets.facts import Fact
from arena_desktop.widgets.labels import Span
from arena_desktop.widgets.verdict_card import VerdictButton, VerdictText
from arena_desktop.wording import board as words
from arena_desktop.wording.verdict import verdict_words
from engine.stats.board import EntryStatus, Leaderboard

_TONES = {"info": Tone.INFO, "good": Tone.GOOD, "warn": Tone.WARN, "neutral": Tone.NEUTRAL}
_COMPARE_ROWS = (2, 5, 6, 7)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ResultsView", text)


def card_text(board: Leaderboard, *, trial: bool, live: bool) -> VerdictText:
    """All that the card shows. `trial`: under other weights than the project's; `live`: the run goes on."""
    said = verdict_words(board)
    icon = "compare" if board.verdict.row in _COMPARE_ROWS else ""
    if trial:
        said = replace(said, chip=words.trial_chip(), kind="info")
        icon = "compare"
    return VerdictText(
        sentence=said.headline,
        lead=lead_spans(said.lead, words.strong_pieces(board)),
        chip=said.chip,
        chip_tone=_TONES.get(said.kind, Tone.NEUTRAL),
        chip_icon=icon,
        buttons=_buttons(board, live=live),
        facts=tuple(Fact(fact.figure, fact.meaning) for fact in said.facts),
    )


def _buttons(board: Leaderboard, *, live: bool) -> tuple[VerdictButton, ...]:
    why = _tr("Why this one?") if board.winner else _tr("Why none?")
    buttons = [VerdictButton("why", why)]
    if board.winner is not None:
        buttons.append(VerdictButton("change", _tr("What could change this?")))
    answering = sum(entry.status is EntryStatus.RANKED for entry in board.entries)
    if answering > 1 and not live:
        buttons.append(VerdictButton("duel", _tr("Compare blind")))
    buttons.append(VerdictButton("copy", _tr("Copy summary"), quiet=True, icon="copy"))
    return tuple(buttons)


def lead_spans(text: str, strong: tuple[str, ...]) -> tuple[Span, ...]:
    """The text in pieces, the first occurrence of each figure bold."""
    spans: list[Span] = []
    rest = text
    for piece in strong:
        before, found, after = rest.partition(piece)
        if not found:
            continue
        spans += [Span(before), Span(piece, bold=True)]
        rest = after
    return (*spans, Span(rest))

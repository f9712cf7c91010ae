"""What a reader must know about the judge of a run: its favourites, its doubts, what it cost."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.config.schema import Config, ModelEntry
from engine.domain import CallDone, Cell, CheckResult, Note, ScoreState
from engine.execution.judge_rules import is_judge
from engine.execution.marking import JUDGE_CHECKS
from engine.scoring.answer_text import visible_answer

if TYPE_CHECKING:
    from engine.execution.budget import Account

JUDGE_NOTES = frozenset(
    {
        "judge_unclear",
        "judge_same_family",
        "judge_takes_part",
        "judge_likes_length",
        "judge_flips",
        "judge_votes_split",
    }
)
"""Codes of the notes that are made from answers and marks, so that they are made anew with them."""

UNCLEAR = frozenset(
    {"judge_unreadable", "judge_several", "judge_wrong_type", "judge_out_of_range", "judge_disagrees"}
    | {"judge_declined", "judge_cut_off"}
)
"""Codes of checks that are errored because of what the judge said."""

_LEAST_ANSWERS = 12
_LEAST_TESTS = 4
_LEAST_R = 0.3
_MOST_P = 0.05
_FAMILIES = {
    **{
        name: name
        for name in ("claude", "gpt", "gemini", "llama", "qwen", "mistral", "deepseek", "phi", "grok")
    },
    **{name: name for name in ("command", "nova", "smollm", "glm", "kimi", "granite", "olmo", "nemotron")},
    **dict.fromkeys(("o1", "o3", "o4", "chatgpt", "davinci"), "gpt"),
    **dict.fromkeys(("gemma", "palm"), "gemini"),
    **dict.fromkeys(("mixtral", "ministral", "codestral", "magistral", "devstral"), "mistral"),
    **dict.fromkeys(("codellama", "tinyllama"), "llama"),
    "qwq": "qwen",
}
"""Makers' families by the first word of a model's name. Other names say nothing about a maker."""


def judge_notes(config: Config, calls: Iterable[CallDone]) -> tuple[Note, ...]:
    """The cautions about a judge, with their figures. `calls` need texts and checks."""
    seen = JudgeMarks()
    for call in calls:
        seen.add(call)
    return seen.notes(config)


def judge_cost(account: Account) -> tuple[Note, ...]:
    """What marking cost. A sum that leaves calls out is no cost."""
    if not account.calls:
        return ()
    usd = None if account.unpriced else str(account.spent)
    return (Note("judge_cost", {"usd": usd, "calls": account.calls}),)


@dataclass(slots=True)
class JudgeMarks:
    """What the judge's checks said. `marks` are (length, score) of one answer each, by test."""

    marks: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    pairs: int = 0
    flipped: int = 0
    split: int = 0
    agreements: list[float] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    unclear: Counter[str] = field(default_factory=Counter)

    def notes(self, config: Config) -> tuple[Note, ...]:
        """What to know about the judge; nothing where it gave no mark and was not asked."""
        unclear = self._unclear()
        if not self.marks:
            return unclear
        found = [*unclear, *_related(config), *_likes_length(self)]
        if self.pairs:
            found.append(Note("judge_flips", {"flipped": self.flipped, "pairs": self.pairs}))
        if self.split:
            agreement = math.fsum(self.agreements) / len(self.agreements)
            values = {"split": self.split, "voted": len(self.agreements), "agreement": round(agreement, 4)}
            found.append(Note("judge_votes_split", values))
        return tuple(found)

    def _unclear(self) -> tuple[Note, ...]:
        """Answers that it was asked about in vain, by why."""
        if not self.unclear:
            return ()
        causes = {code.removeprefix("judge_"): count for code, count in self.unclear.most_common()}
        return (Note("judge_unclear", {"answers": self.unclear.total(), "causes": causes}),)

    def add(self, call: CallDone) -> None:
        """One answered call, with its text and its checks."""
        if call.score is None or call.answer is None:
            return
        codes = [r.reason_code for r in call.score.checks if r.state is ScoreState.ERRORED]
        unclear = next((code for code in codes if code in UNCLEAR), None)
        if unclear is not None:
            self.unclear[unclear] += 1
        for place, result in enumerate(call.score.checks):
            if result.type in JUDGE_CHECKS and result.state is ScoreState.SCORED and result.score is not None:
                self._add(result, call.cell.case_id, visible_answer(call.answer.text))
                self._add_pairs(result, call.cell, place)

    def _add_pairs(self, result: CheckResult, cell: Cell, place: int) -> None:
        """Verdicts on pairs of models: each is on the marks of both, and counts once."""
        for pair in result.detail.get("pairs", ()):
            key = (cell.case_id, cell.trial, place, frozenset((cell.model_key, pair["rival"])))
            if "votes" in pair and key not in self.seen:
                self.seen.add(key)
                self.pairs += len(pair["votes"])
                self.flipped += pair["flips"]

    def _add(self, result: CheckResult, case_id: str, text: str) -> None:
        if result.detail.get("no_answer"):
            return
        score = float(result.score or 0.0)
        if result.detail.get("turned_around"):
            score = 1.0 - score
        self.marks[case_id].append((math.log1p(len(text)), score))
        if result.type == "pairwise_judge" and "pairs" not in result.detail:
            self.pairs += 1
            self.flipped += bool(result.detail.get("flipped"))
        agreement = result.metrics.get("judge_agreement")
        if agreement is not None:
            self.agreements.append(agreement)
            self.split += agreement < 1.0


def _related(config: Config) -> list[Note]:
    """Compared models that are the judge itself, or of its family."""
    judge = config.judge
    entries = [entry for entry in config.models if entry.enabled]
    same = [entry.key for entry in entries if is_judge(entry, judge)]
    family = family_of(judge.model or "")
    related = [
        entry.key
        for entry in entries
        if entry.key not in same and family and not entry.run and _family(entry) == family
    ]
    found = []
    if same:
        found.append(Note("judge_takes_part", {"models": same, "marked": judge.mark_itself}))
    if related:
        found.append(Note("judge_same_family", {"models": related, "judge": judge.model}))
    return found


def _family(entry: ModelEntry) -> str:
    return family_of(entry.model)


def family_of(model: str) -> str:
    """The family by a model's name: `openai/gpt-5.5-mini` is of `gpt`; "" where nothing tells it."""
    name = model.rsplit("/", 1)[-1].lower()
    found = re.match(r"[a-z]+\d?(?=[^a-z]|$)|[a-z]+", name)
    if found is None:
        return ""
    return _FAMILIES.get(found[0]) or _FAMILIES.get(found[0].rstrip("0123456789"), "")


def _likes_length(seen: JudgeMarks) -> list[Note]:
    """Whether the longer of two answers to one test tends to get the better mark.

    Lengths and marks are taken against their mean in the test, so that tests which need long
    answers do not count. Whether the longer answers were in fact better is not known here.
    """
    tests = [marks for marks in seen.marks.values() if len(marks) > 1]
    points = [point for marks in tests for point in _centred(marks)]
    free = len(points) - len(tests) - 1
    r = _correlation(points)
    if len(points) < _LEAST_ANSWERS or len(tests) < _LEAST_TESTS or free < 1 or r is None or r < _LEAST_R:
        return []
    from engine.stats.special import t_two_sided

    p = 0.0 if r >= 1.0 else t_two_sided(r * math.sqrt(free / (1.0 - r * r)), free)
    if p > _MOST_P:
        return []
    return [Note("judge_likes_length", {"r": round(r, 4), "answers": len(points), "tests": len(tests)})]


def _centred(marks: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    length = math.fsum(mark[0] for mark in marks) / len(marks)
    score = math.fsum(mark[1] for mark in marks) / len(marks)
    return [(mark[0] - length, mark[1] - score) for mark in marks]


def _correlation(points: Sequence[tuple[float, float]]) -> float | None:
    xx = math.fsum(x * x for x, _ in points)
    yy = math.fsum(y * y for _, y in points)
    if xx <= 1e-12 or yy <= 1e-12:
        return None
    return min(1.0, max(-1.0, math.fsum(x * y for x, y in points) / math.sqrt(xx * yy)))

"""Checks: from an answer to a score with a reason."""

from engine.scoring.answer_text import visible_answer
from engine.scoring.base import CheckType, Option, ScoringContext
from engine.scoring.outcome import final_outcome
from engine.scoring.registry import CHECKS, canonical_check, validate_check
from engine.scoring.score import combine, run_check, score_case, with_mark
from engine.scoring.try_check import check_from_json, try_check

__all__ = [
    "CHECKS",
    "CheckType",
    "Option",
    "ScoringContext",
    "canonical_check",
    "check_from_json",
    "combine",
    "final_outcome",
    "run_check",
    "score_case",
    "try_check",
    "validate_check",
    "visible_answer",
    "with_mark",
]

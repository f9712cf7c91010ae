"""Marks in words: what re-scoring did, and how far the judge agrees with the person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from engine.execution.own_marking import BY_CHECKS, BY_JUDGE
from engine.stats.own_marks import FEWEST, OwnView, RaterReport

if TYPE_CHECKING:
    from engine.execution.rescore import Rescored
    from engine.stats.agreement import Agreement


LITTLE = 0.4
"""Below it agreement beyond luck is fair at most, in the words of Landis and Koch (1977) for kappa."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Marks", text)


def _number(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count=formats.whole(count))


def _kept(kept: Mapping[str, int]) -> list[str]:
    told = {
        "judge": (
            _tr("One mark of the second AI stayed as it was: it was not asked again."),
            _tr("{count} marks of the second AI stayed as they were: it was not asked again."),
        ),
        "sandbox": (
            _tr("One mark for code stayed as it was: the sandbox is not installed."),
            _tr("{count} marks for code stayed as they were: the sandbox is not installed."),
        ),
        "embedding": (
            _tr("One mark by meaning stayed as it was: no connection for it is at hand."),
            _tr("{count} marks by meaning stayed as they were: no connection for it is at hand."),
        ),
        "own_code": (
            _tr("One mark of the project's own check stayed: it may not run without your yes."),
            _tr("{count} marks of the project's own checks stayed: they may not run without your yes."),
        ),
    }
    return [_number(count, *told[need]) for need, count in sorted(kept.items()) if count and need in told]


def _waiting(waiting: Mapping[str, int]) -> list[str]:
    count = sum(waiting.values())
    if not count:
        return []
    return [
        _number(
            count,
            _tr("One new mark is still to be made: what makes it is not at hand."),
            _tr("{count} new marks are still to be made: what makes them is not at hand."),
        )
    ]


def rescored_sentences(result: Rescored) -> tuple[str, ...]:
    """What re-scoring did, the result first and then what to know."""
    if result.changed:
        one, many = _tr("One of {answers} marks changed."), _tr("{changed} of {answers} marks changed.")
        first = (one if result.changed == 1 else many).format(
            changed=formats.whole(result.changed), answers=formats.whole(result.answers)
        )
    else:
        first = _number(
            result.answers,
            _tr("One answer was marked again, with the same mark."),
            _tr("{count} answers were marked again. No mark changed."),
        )
    sentences = [first, *_kept(result.kept), *_waiting(result.waiting)]
    if result.asked_otherwise:
        sentences.append(
            _number(
                len(result.asked_otherwise),
                _tr("One test asks something else now, so its answers keep their marks."),
                _tr("{count} tests ask something else now, so their answers keep their marks."),
            )
        )
    if result.gone:
        sentences.append(
            _number(
                len(result.gone),
                _tr("One test is no longer in the project. Its answers keep their marks."),
                _tr("{count} tests are no longer in the project. Their answers keep their marks."),
            )
        )
    return tuple(sentences)


# ---- own marks beside the judge


def rater_name(by: str) -> str:
    """The rater at the start of a sentence."""
    return _tr("The second AI") if by == BY_JUDGE else _tr("The checks")


def marks_title(by: str) -> str:
    """The heading of the card."""
    return _tr("Your marks and the second AI") if by == BY_JUDGE else _tr("Your marks and the checks")


def agreement_sentences(report: RaterReport, by: str) -> tuple[str, ...]:
    """How far the rater agrees with the person; the result first, then what to know."""
    if report.agreement is None:
        text = _tr(
            "You have not marked an answer yet. Mark some as good or bad to see how far to trust this."
        )
        return (text,)
    sentences = [_agree(report, by)]
    if report.both < FEWEST:
        missing = FEWEST - report.both
        sentences.append(
            _number(
                missing,
                _tr("Mark one more and it can begin to tell something."),
                _tr("Mark {count} more and it can begin to tell something."),
            )
        )
        return tuple(sentences)
    caution = _caution(report.agreement, by)
    sentences += [_beyond_luck(report.agreement), *caution, *_direction(report, by), _put_right(report, by)]
    return tuple(sentences)


def _caution(found: Agreement, by: str) -> list[str]:
    """Said where the rater agrees with the person little more than guessing would."""
    if found.kappa is None or found.kappa >= LITTLE:
        return []
    text = _tr("That is little. Do not choose by {rater} alone: mend what it looks at, or take another one.")
    whom = _tr("its marks") if by == BY_JUDGE else _tr("the checks")
    return [text.format(rater=whom)]


def _agree(report: RaterReport, by: str) -> str:
    found = report.agreement
    if found is None:
        return ""
    texts = {
        BY_JUDGE: _tr("You and the second AI gave the same mark to {agree} of {both} answers"),
        BY_CHECKS: _tr("You and the checks gave the same mark to {agree} of {both} answers"),
    }
    text = texts[by].format(agree=formats.whole(found.agree), both=formats.whole(found.n))
    if report.both < FEWEST:
        return f"{text}."
    likely = _tr("likely {low} to {high} of 100").format(
        low=formats.points(found.share_interval.low), high=formats.points(found.share_interval.high)
    )
    return f"{text}, {likely}."


def _beyond_luck(found: Agreement) -> str:
    if found.kappa is None:
        return _tr("One of you gave only one kind of mark, so luck cannot be told from agreement.")
    kappa = formats.points(found.kappa)
    if found.kappa_interval is None:
        return _tr("Beyond what luck gives, that is {kappa} of 100.").format(kappa=kappa)
    return _tr("Beyond what luck gives, that is {kappa} of 100, likely {low} to {high}.").format(
        kappa=kappa,
        low=formats.points(found.kappa_interval.low),
        high=formats.points(found.kappa_interval.high),
    )


def luck_help() -> str:
    """The exact term, one click away."""
    return _tr("0 is what guessing gives, 100 is always the same mark. Also called Cohen's kappa, times 100.")


def _direction(report: RaterReport, by: str) -> list[str]:
    if not report.too_kind and not report.too_strict:
        return []
    text = _tr("{rater} was kinder than you on {kind} of these answers and stricter on {strict}.")
    return [
        text.format(
            rater=rater_name(by),
            kind=formats.whole(report.too_kind),
            strict=formats.whole(report.too_strict),
        )
    ]


def _put_right(report: RaterReport, by: str) -> str:
    corrected = report.corrected
    if corrected is None:
        return _tr(
            "Its pass rate cannot be put right yet: it takes marks of both kinds, and more hits than luck."
        )
    text = _tr(
        "{rater} passed {passed} of {rated} answers. Put right by your marks, about {rate} of 100 pass,"
        " likely {low} to {high}."
    )
    return text.format(
        rater=rater_name(by),
        passed=formats.whole(report.passed),
        rated=formats.whole(report.rated),
        rate=formats.points(corrected.rate),
        low=formats.points(corrected.interval.low),
        high=formats.points(corrected.interval.high),
    )


def model_rates(report: RaterReport, names: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Per model: name, passed by the rater, put right by the person's marks."""
    rows = []
    for model in report.models:
        passed = _tr("{passed} of {rated}").format(
            passed=formats.whole(model.passed), rated=formats.whole(model.rated)
        )
        right = formats.UNKNOWN
        if model.corrected is not None:
            right = _tr("about {rate} of 100 ({low} to {high})").format(
                rate=formats.points(model.corrected.rate),
                low=formats.points(model.corrected.interval.low),
                high=formats.points(model.corrected.interval.high),
            )
        rows.append((names.get(model.model_key, model.model_key), passed, right))
    return rows


def rater_passed(by: str) -> str:
    """The head of the column with the rater's own pass rates."""
    return _tr("Passed by the second AI") if by == BY_JUDGE else _tr("Passed by the checks")


# ---- giving marks, and the result under them


def given_sentence(own: OwnView | None) -> str:
    """What was just done to an answer."""
    if own is None:
        return _tr("Your mark is taken back.")
    if own.score is not None:
        text = _tr("Marked good, {score} of 100.") if own.good else _tr("Marked bad, {score} of 100.")
        return text.format(score=formats.points(own.score))
    return _tr("Marked as good.") if own.good else _tr("Marked as bad.")


def agreement_line(report: RaterReport, by: str) -> str:
    """One line beside the answers: how far the rater agrees; empty before the first mark."""
    return _agree(report, by) if report.agreement is not None and report.both else ""


def own_board_sentences(marks: int) -> tuple[str, str]:
    """First sentence and text of the strip over a leaderboard under the person's marks."""
    text = _number(
        marks,
        _tr("One answer counts as you marked it. The saved result stays as it is."),
        _tr("{count} answers count as you marked them. The saved result stays as it is."),
    )
    return _tr("This is the result with your marks."), text


def mark_again_sentence(number: int) -> str:
    """What marking a saved run again does."""
    return _tr(
        "Marks the answers of run {number} by these rules as they are now. No model is asked again. Where a"
        " second AI has to mark, its price is shown first. Earlier marks are kept."
    ).format(number=number)

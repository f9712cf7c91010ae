"""Reasons and notes in words: why a model is ruled out, has no result, or needs a caution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats, judge
from arena_desktop.wording.metrics import feature_name, metric_name, metric_value, privacy_name

if TYPE_CHECKING:
    from engine.domain import Note
    from engine.stats.board import Reason

Values = Mapping[str, Any]
Names = Mapping[str, str]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Reasons", text)


def _listed(items: Any, word: Callable[[str], str] = str) -> str:
    return ", ".join(word(str(item)) for item in items or ())


def _models(values: Values, names: Names) -> str:
    return _listed(values.get("models", ()), lambda key: names.get(key, key))


def _count(values: Values, one: str, many: str) -> str:
    count = int(values.get("count", 0))
    return one if count == 1 else many.format(count=formats.whole(count))


def _gate(values: Values, text: str) -> str:
    metric = str(values.get("metric", ""))
    return text.format(
        measured=metric_value(metric, values.get("measured")),
        required=metric_value(metric, values.get("required")),
    )


def error_words(kind: str, status: int | None) -> str:
    """Why a call failed, in a few plain words."""
    if status is not None and kind == "unknown" and status >= 500:
        kind = "server"
    words = {
        "auth": _tr("The access key was not accepted."),
        "quota": _tr("The account has no credit left."),
        "rate_limit": _tr("The service asked us to slow down."),
        "overloaded": _tr("The service is overloaded."),
        "timeout": _tr("It gave no answer in time."),
        "connect_timeout": _tr("The service could not be reached in time."),
        "connect": _tr("The connection failed."),
        "offline": _tr("There is no internet connection."),
        "bad_request": _tr("The service did not accept the question."),
        "not_found": _tr("The service does not know this model."),
        "blocked": _tr("The service blocked the question."),
        "bad_reply": _tr("The service sent something that is not an answer."),
        "cancelled": _tr("It was stopped before it answered."),
        "server": _tr("The service reported a fault of its own."),
    }
    return words.get(kind, _tr("The question failed."))


def _every_call_failed(values: Values, _names: Names) -> str:
    cause = error_words(str(values.get("kind", "")), values.get("status"))
    count = int(values.get("count", 0))
    if count == 1:
        return _tr("Its one question failed: {cause}").format(cause=cause)
    return _tr("All of its {count} questions failed. {cause}").format(count=formats.whole(count), cause=cause)


def _errors(values: Values, _names: Names) -> str:
    text = _tr("{count} of {of} questions failed. They are not counted as wrong.")
    return text.format(count=formats.whole(values["count"]), of=formats.whole(values["of"]))


def _cannot_verify(values: Values, _names: Names) -> str:
    text = _tr("Its must-have about “{metric}” cannot be verified, because it was not measured.")
    return text.format(metric=metric_name(str(values.get("metric", ""))))


def _incomplete(values: Values, _names: Names) -> str:
    text = _tr("It answered only {answered} of {planned} tests, too few for a place.")
    return text.format(answered=values.get("answered"), planned=values.get("planned"))


_REASONS: dict[str, Callable[[Values, Names], str]] = {
    "gate_accuracy": lambda v, _n: _gate(
        v, _tr("Ruled out: {measured} right, and at least {required} are needed.")
    ),
    "gate_error_rate": lambda v, _n: _gate(
        v, _tr("Ruled out: {measured} questions failed, and at most {required} may.")
    ),
    "gate_cost": lambda v, _n: _gate(
        v, _tr("Ruled out: it costs {measured}, and at most {required} is allowed.")
    ),
    "gate_latency_p95": lambda v, _n: _gate(
        v, _tr("Ruled out: its slowest answers take longer than {measured}, and {required} is the limit.")
    ),
    "gate_features": lambda v, _n: _tr("Ruled out: it cannot {features}.").format(
        features=_listed(v.get("missing"), feature_name)
    ),
    "gate_context": lambda v, _n: _tr(
        "Ruled out: it reads about {measured} words at once, and {required} are needed."
    ).format(measured=_words_of(v.get("measured")), required=_words_of(v.get("required"))),
    "gate_privacy": lambda v, _n: _tr("Ruled out: nobody has it in writing that it {facts}.").format(
        facts=_listed(v.get("refused"), privacy_name)
    ),
    "privacy_undeclared": lambda v, _n: _tr("It is not stated whether it {facts}.").format(
        facts=_listed(v.get("missing"), privacy_name)
    ),
    "features_unknown": lambda v, _n: _tr("It is not known whether it can {features}.").format(
        features=_listed(v.get("required"), feature_name)
    ),
    "context_unknown": lambda _v, _n: _tr("It is not known how much text it can read at once."),
    "cannot_verify": _cannot_verify,
    "every_call_failed": _every_call_failed,
    "not_asked": lambda _v, _n: _tr("It was not asked before the run ended."),
    "metric_unknown": lambda v, _n: _tr(
        "“{metric}” was not measured, so its share went to what is known."
    ).format(metric=metric_name(str(v.get("metric", "")))),
    "errors": _errors,
    "incomplete": _incomplete,
    "stopped": lambda v, _n: _count(
        v, _tr("One question was stopped."), _tr("{count} questions were stopped.")
    ),
    "score_errors": lambda v, _n: _count(
        v, _tr("One answer could not be marked."), _tr("{count} answers could not be marked.")
    ),
    "unscored": lambda v, _n: _count(
        v, _tr("One answer has no mark yet."), _tr("{count} answers have no mark yet.")
    ),
    "refused": lambda v, _n: _count(
        v, _tr("It refused to answer once."), _tr("It refused to answer {count} times.")
    ),
    "empty": lambda v, _n: _count(v, _tr("One answer was empty."), _tr("{count} answers were empty.")),
    "cut_off": lambda v, _n: _count(
        v, _tr("One answer was cut off at its longest length."), _tr("{count} answers were cut off.")
    ),
    "throttled": lambda v, _n: _count(
        v,
        _tr("The service asked us to slow down once."),
        _tr("The service asked us to slow down on {count} questions."),
    ),
    "cost_estimated": lambda v, _n: _count(
        v,
        _tr("The cost of one answer is our estimate."),
        _tr("The cost of {count} answers is our estimate."),
    ),
    "dominated": lambda v, n: _tr("{other} is at least as good in every respect.").format(
        other=n.get(str(v.get("by")), str(v.get("by")))
    ),
}


def _words_of(tokens: Any) -> str:
    """Tokens as a number of words: about three quarters of a word each."""
    return formats.whole(float(tokens) * 0.75) if isinstance(tokens, int | float) else formats.UNKNOWN


def reason_sentence(reason: Reason, names: Names | None = None) -> str:
    """One reason as a sentence. A reason that carries its own words (a skipped model) keeps them."""
    word = _REASONS.get(reason.code)
    if word is not None:
        return word(reason.values, names or {})
    said = str(reason.values.get("reason") or "").strip()
    if reason.code == "no_key":
        # What the connection says names variables and hosts: first what it means.
        return f"{_tr('It has no access key.')} {said}".strip()
    return said or reason.code.replace("_", " ")


def short_reason(reason: Reason) -> str:
    """The few words of a chip: "Ruled out: under 60", "No key"."""
    required = reason.values.get("required")
    chips: dict[str, Callable[[], str]] = {
        "gate_accuracy": lambda: _tr("Ruled out: under {n}").format(n=formats.out_of_100(required)),
        "gate_error_rate": lambda: _tr("Ruled out: fails too often"),
        "gate_cost": lambda: _tr("Ruled out: too dear"),
        "gate_latency_p95": lambda: _tr("Ruled out: too slow"),
        "gate_features": lambda: _tr("Ruled out: cannot do it"),
        "gate_context": lambda: _tr("Ruled out: reads too little"),
        "gate_privacy": lambda: _tr("Ruled out: privacy"),
        "privacy_undeclared": lambda: _tr("Ruled out: privacy not stated"),
        "breaks_gate": lambda: _tr("Ruled out"),
        "cannot_verify": lambda: _tr("Ruled out: not measured"),
        "every_call_failed": lambda: _tr("Never answered"),
        "not_asked": lambda: _tr("Not asked"),
        "no_key": lambda: _tr("No key"),
        "not_reachable": lambda: _tr("Not running"),
        "not_served": lambda: _tr("Not found there"),
        "extra_missing": lambda: _tr("Not installed"),
        "no_trust": lambda: _tr("Needs your yes"),
        "unknown_kind": lambda: _tr("Unknown service"),
        "not_built": lambda: _tr("Not available"),
        "build_failed": lambda: _tr("Could not start"),
        "incomplete": lambda: _tr("Too few answers"),
    }
    word = chips.get(reason.code)
    return word() if word else _tr("No result")


def aside_cause(code: str, until: datetime | None = None) -> str:
    """Why models get no more questions; empty for a cause that only its fault tells."""
    if code in ("wait_too_long", "day_quota"):
        return _wait_cause(code, until)
    causes = {
        "denied": _tr("The access key was refused."),
        "no_credit": _tr("The account has no credit left."),
        "model_unknown": _tr("The service does not know this model."),
        "asked_to_slow_down": _tr("For a quarter of an hour the service only asked us to slow down."),
        "unreachable": _tr("The service could not be reached."),
        "budget_model": _tr("The limit per model is reached."),
    }
    return causes.get(code, "")


def _wait_cause(code: str, until: datetime | None) -> str:
    quota = code == "day_quota"
    first = _tr("Its quota for the day is used up.") if quota else _tr("The service asks to wait long.")
    if until is None:
        return _tr("{cause} Carry on later.").format(cause=first)
    return _tr("{cause} Carry on after: {time}.").format(cause=first, time=formats.when(until))


def _set_aside(values: Values, names: Names) -> str:
    code, until = str(values.get("code")), values.get("until")
    moment = datetime.fromisoformat(str(until)) if until else None
    cause = aside_cause(code, moment) or _tr("The same fault came at every question.")
    text = _tr("{models} was asked no more in this run. {cause}")
    return text.format(models=_models(values, names) or values.get("lane"), cause=cause)


def _stopped_early(values: Values, _names: Names) -> str:
    causes = {
        "cancelled": _tr("You stopped this run."),
        "stopped_budget": _tr("The run stopped at your limit."),
        "failed_fast": _tr("The run stopped at the first failed question, as the project says."),
        "aborted": _tr("The run was ended by a fault of the program."),
        "interrupted": _tr("The run was interrupted."),
    }
    cause = causes.get(str(values.get("status")), _tr("The run ended early."))
    partial = _tr("The result is only partial: {finished} of {planned} planned calls.").format(
        finished=formats.whole(values.get("finished", 0)), planned=formats.whole(values.get("planned", 0))
    )
    return f"{cause} {partial}"


def _rescored(values: Values, _names: Names) -> str:
    changed = int(values.get("changed", 0))
    text = _tr("The answers were marked again later; no mark changed.")
    if changed:
        one = _tr("The answers were marked again later; one of {answers} marks changed.")
        many = _tr("The answers were marked again later; {changed} of {answers} marks changed.")
        text = (one if changed == 1 else many).format(
            changed=formats.whole(changed), answers=formats.whole(values.get("answers", 0))
        )
    if not values.get("kept_judge"):
        return text
    return f"{text} {_tr('The marks of the second AI stayed as they were.')}"


_NOTES: dict[str, Callable[[Values, Names], str]] = {
    "marking_cut_off": lambda _v, _n: _tr(
        "Marking this run again is not finished: some marks are new and some are old. Mark it again to make"
        " the rest; what is paid for is not asked again."
    ),
    "errors_unweighted": lambda v, _n: _tr(
        "{errors} of {calls} questions failed. They are not counted as wrong; give “{metric}” a weight to"
        " count them."
    ).format(errors=v.get("errors"), calls=v.get("calls"), metric=metric_name("reliability")),
    "cost_unknown": lambda v, n: _tr(
        "The price of {models} is not known, so cost does not count for it."
    ).format(models=_models(v, n)),
    "metric_unknown": lambda v, n: _tr("“{metric}” was not measured for {models}.").format(
        metric=metric_name(str(v.get("metric", ""))), models=_models(v, n)
    ),
    "deciding_unmeasured": lambda v, _n: _tr(
        "“{metric}” decides in this project, but no check measures it, so there is nothing to compare by."
    ).format(metric=metric_name(str(v.get("metric", "")))),
    "score_errors": lambda v, _n: _count(
        v,
        _tr("One answer could not be marked and is left out of the score."),
        _tr("{count} answers could not be marked and are left out of the score."),
    ),
    "unscored": lambda v, _n: _count(
        v, _tr("One answer has no mark yet."), _tr("{count} answers have no mark yet.")
    ),
    "only_one_ranked": lambda v, n: _tr("Only {model} could be ranked, so this is not a comparison.").format(
        model=n.get(str(v.get("model")), str(v.get("model")))
    ),
    "incomplete": lambda v, n: _tr("{models} answered too few tests for a place.").format(
        models=_models(v, n)
    ),
    "relative_scores": lambda v, _n: _tr(
        "The overall score depends on who else took part ({metrics}). Do not compare it between runs."
    ).format(metrics=_listed(v.get("metrics"), metric_name)),
    "waited": lambda v, _n: _tr("{lane} made the run wait {time} in all.").format(
        lane=v.get("lane"), time=formats.exact_seconds(float(v.get("seconds", 0)))
    ),
    "statistics_off": lambda _v, _n: _tr(
        "The project has switched statistics off, so nothing says how sure it is."
    ),
    "stopped_early": _stopped_early,
    "set_aside": _set_aside,
    "budget_warning": lambda _v, _n: _tr(
        "The run passed your limit. It went on, because the project says so."
    ),
    "budget_model": lambda v, n: _tr("{models} reached the limit per model and was asked no more.").format(
        models=_models(v, n)
    ),
    "cost_up_to": lambda v, _n: _tr(
        "Some questions may have been charged without an answer: spent {spent}, at most {up_to}."
    ).format(spent=formats.money(float(v["spent"])), up_to=formats.money(float(v["up_to"]))),
    "tls_not_verified": lambda v, _n: _tr(
        "The project switches off the check of who answers at {lanes}."
    ).format(lanes=_listed(v.get("lanes"))),
    "rescored": _rescored,
}


def note_sentence(note: Note, names: Names | None = None) -> str:
    """One note as a sentence; a note of a kind this wording does not know shows its code in words."""
    word = _NOTES.get(note.code) or judge.NOTES.get(note.code)
    if word is not None:
        return word(note.values, names or {})
    said = str(note.values.get("sentence") or "").strip()
    return said or note.code.replace("_", " ")

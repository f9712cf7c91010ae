"""The sentences of the set-up pages: limits, marking, what matters, connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.must_haves import words_of
from providers.registry import KINDS, canonical_kind

if TYPE_CHECKING:
    from engine.config.schema import Budgets, Connection, ModelEntry, RunSettings
    from engine.domain import Problem, SkippedModel
    from engine.price import Price
    from engine.scoring.base import CheckType, Option


def _tr(text: str) -> str:
    return QCoreApplication.translate("Setup", text)


# ---- limits and how questions are asked


def limit_words(usd: Decimal | None) -> str:
    """A spending limit; none is said."""
    return _tr("No limit") if usd is None else formats.money(usd)


def limit_rows(budgets: Budgets) -> list[tuple[str, str]]:
    """Spending as pairs of label and value."""
    ask = budgets.confirm_above_usd
    rows = [
        (_tr("Stop a run at"), limit_words(budgets.max_run_usd)),
        (_tr("At most for one model"), limit_words(budgets.max_model_usd)),
        (_tr("Ask me first above"), _tr("Never asks") if ask is None else formats.money(ask)),
        (
            _tr("When the limit is reached"),
            _tr("Stop and keep what we have") if budgets.on_exceed == "stop" else _tr("Carry on and warn"),
        ),
    ]
    if budgets.max_calls is not None:
        rows.append((_tr("At most this many questions"), formats.whole(budgets.max_calls)))
    if budgets.max_tokens is not None:
        text = _tr("About {words}").format(words=words_of(budgets.max_tokens))
        rows.append((_tr("At most this many words"), text))
    return rows


def asking_rows(run: RunSettings) -> list[tuple[str, str]]:
    """How questions are asked as pairs of label and value."""
    trials = counted(run.trials, _tr("Once"), _tr("{count} times"))
    retries = counted(run.retries, _tr("Once more"), _tr("Up to {count} more times"))
    return [
        (_tr("Each question is asked"), trials),
        (_tr("Questions at the same time"), formats.whole(run.concurrency)),
        (_tr("Give up on an answer after"), formats.exact_seconds(run.timeout_s)),
        (_tr("After a failure, try"), retries if run.retries else _tr("Not again")),
        (
            _tr("When a question fails for good"),
            _tr("Stop the run") if run.fail_fast else _tr("Carry on with the others"),
        ),
    ]


# ---- what matters


def shares(weights: Mapping[str, float]) -> list[tuple[str, str, int]]:
    """Metric, its name and its share of 100, the largest first; whole numbers that sum to 100."""
    from engine.stats.metrics import weight_shares

    exact = sorted(weight_shares(weights).items(), key=lambda item: -item[1])
    whole = [int(share * 100) for _name, share in exact]
    rest = sorted(range(len(exact)), key=lambda n: whole[n] - exact[n][1] * 100)
    for n in rest[: 100 - sum(whole)]:
        whole[n] += 1
    return [(name, metric_name(name), points) for (name, _share), points in zip(exact, whole, strict=True)]


def weights_sentence(weights: Mapping[str, float]) -> str:
    """What matters most, as one sentence."""
    listed = shares(weights)
    names = [_inside(name) for _metric, name, _points in listed]
    if not names:
        return _tr("Nothing has a weight yet.")
    if len(names) == 1:
        return _tr("Only one thing counts: {name}.").format(name=names[0])
    if len({points for _metric, _name, points in listed}) == 1:
        return _tr("These count the same: {names}.").format(names=_and(names))
    return _tr("What matters most is {first}, then {rest}.").format(
        first=names[0], rest=_tr(", then ").join(names[1:])
    )


def _inside(name: str) -> str:
    """A name inside a sentence."""
    return name[:1].lower() + name[1:]


def _and(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return _tr("{first} and {last}").format(first=", ".join(names[:-1]), last=names[-1])


def margin_sentence(margin: float) -> str:
    """The gap that does not matter."""
    text = _tr("A gap of less than {points} points of 100 does not matter to you.")
    return text.format(points=f"{margin * 100:g}")


def coverage_sentence(share: float) -> str:
    """How much a model must have answered for a place."""
    text = _tr("A model gets a place when it has answered at least {n} of 100 tests.")
    return text.format(n=formats.points(share))


def deciding_sentence(metric: str) -> str:
    """What the verdict looks at."""
    return _tr("The verdict compares the models on “{name}”.").format(name=metric_name(metric))


# ---- checks


def check_title(check: CheckType | None, name: str) -> str:
    """The name of a way of marking; a project's own keeps the name it has there."""
    if check is None:
        return _tr("Own check: {name}").format(name=name)
    return check.title[:1].upper() + check.title[1:]


def option_value(option: Option, value: Any) -> str:
    """The value of an option in words; empty where nothing is set."""
    if value is None or value in ("", (), []):
        return ""
    if isinstance(value, bool):
        return _tr("Yes") if value else _tr("No")
    if isinstance(value, (list, tuple)):
        return ", ".join(str(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(str(key) for key in value)
    choices = {
        "all": _tr("All of them"),
        "any": _tr("One is enough"),
        "last": _tr("The last one"),
        "first": _tr("The first one"),
        "only": _tr("There must be only one"),
        "subset": _tr("Those of the right answer"),
        "exact": _tr("All, and no others"),
        "lexical": _tr("Words"),
        "fuzzy": _tr("Letters"),
        "embedding": _tr("Meaning"),
        "python": "Python",
    }
    if option.kind == "choice":
        return choices.get(str(value), str(value))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def problem_parts(problem: Problem) -> tuple[str, str]:
    """A fault of one test in everyday words, and what mends it; one that this wording does not know keeps
    its own."""
    words = {
        "reference_missing": (
            _tr("This test has no right answer, so its answers cannot be marked."),
            _tr("Write what a good answer says, or choose a way of marking that needs none."),
        ),
        "blank_prompt": (
            _tr("This test asks nothing and is left out."),
            _tr("Write a question, or delete it."),
        ),
    }
    return words.get(problem.code, (problem.message, problem.fix))


def problem_words(problem: Problem) -> str:
    """Both as one text."""
    return " ".join(part for part in problem_parts(problem) if part)


# ---- models and connections


def service_name(entry: ModelEntry, connection: Connection | None) -> str:
    """The service behind a model as a person would call it."""
    if entry.run:
        return _tr("Code of this project")
    kind = canonical_kind(connection.kind if connection else entry.provider or "") or ""
    if kind in ("builtin", "ollama", "lmstudio", "llamacpp"):
        return _tr("This computer")
    if kind == "mock":
        return _tr("Practice, pretend")
    named = connection.id if connection is not None else entry.provider or ""
    if kind in ("openai_compatible", "vllm") or kind not in KINDS:
        return named or _tr("Your own server")
    return KINDS[kind].title


def ready_words(skipped: SkippedModel) -> str:
    """The chip of a model that cannot run."""
    words = {
        "no_key": _tr("Needs a key"),
        "not_reachable": _tr("Not running"),
        "not_served": _tr("Not found there"),
        "extra_missing": _tr("Not installed"),
        "no_trust": _tr("Needs your yes"),
        "breaks_gate": _tr("Will not be asked"),
        "unknown_kind": _tr("Unknown service"),
        "not_built": _tr("Not available"),
        "build_failed": _tr("Could not start"),
    }
    return words.get(skipped.code, _tr("Not ready"))


def day_words(day: date) -> str:
    """A day as "24 Jun", with the year where it is not this one."""
    pattern = "d MMM" if day.year == datetime.now(UTC).year else "d MMM yyyy"
    return QLocale().toString(QDate(day.year, day.month, day.day), pattern)


def price_words(price: Price | None) -> str:
    """Where a price is from and of which day."""
    if price is None:
        return _tr("The price is not known. A run asks you first where it matters.")
    if price.free:
        return _tr("Free, because it runs on this computer.")
    per = _tr("About {read} to read and {write} to write 750,000 words.").format(
        read=formats.money(price.input_usd_per_mtok), write=formats.money(price.output_usd_per_mtok)
    )
    if price.as_of is None:
        return per
    day = _tr("Price of {day}.").format(day=day_words(price.as_of))
    return f"{per} {day}"


def ready_sentence(chosen: int, ready: int) -> str:
    """How many models take part and can."""
    return _tr("{chosen} chosen, {ready} ready.").format(chosen=chosen, ready=ready)


def run_sentence(cost: Decimal | None, calls: int) -> str:
    """What a run would cost and ask."""
    if calls == 0:
        return _tr("Nothing can be asked yet.")
    asked = formats.whole(calls)
    if cost is None:
        return _tr("A run would ask {calls} questions. Its cost is not known.").format(calls=asked)
    if cost == 0:
        return _tr("A run would be free and ask {calls} questions.").format(calls=asked)
    text = _tr("A run would cost about {cost} and ask {calls} questions.")
    return text.format(cost=formats.money(cost), calls=asked)

"""Must-haves in words, and what a model's card says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.metrics import feature_name

if TYPE_CHECKING:
    from engine.config.schema import Card, Config


def _tr(text: str) -> str:
    return QCoreApplication.translate("Setup", text)


@dataclass(frozen=True, slots=True)
class MustHave:
    """One must-have in words. `kind` privacy, feature or context can be stated by a model's card
    (`name` says which fact); `measured` is found out in a run."""

    sentence: str
    kind: str
    name: str = ""


# The facts are imported when they are asked: the window's first paint needs none of them.


def one_feature(name: str) -> str:
    """The one spelling of a feature that has several."""
    from engine.model_facts import canonical_feature

    return canonical_feature(name)


def one_privacy(name: str) -> str:
    """The one spelling of a promise that has several."""
    from engine.model_facts import canonical_privacy

    return canonical_privacy(name)


def must_haves(config: Config) -> tuple[MustHave, ...]:
    """All must-haves of a project in the order of the screen."""
    limits = config.constraints
    found = [
        MustHave(privacy_sentence(name), "privacy", one_privacy(name)) for name in limits.privacy_required
    ]
    found += [
        MustHave(_tr("Must be able to {do}").format(do=feature_name(name)), "feature", name)
        for name in map(one_feature, limits.required_features)
    ]
    if limits.min_context_tokens is not None:
        text = _tr("Must read about {words} words at once")
        found.append(MustHave(text.format(words=words_of(limits.min_context_tokens)), "context"))
    return (*found, *_measured(config))


def _measured(config: Config) -> list[MustHave]:
    limits = config.constraints
    texts: list[str] = []
    if limits.min_accuracy is not None:
        texts.append(_tr("At least {n} out of 100 right").format(n=formats.points(limits.min_accuracy)))
    if limits.max_error_rate is not None:
        text = _tr("At most {n} out of 100 questions may fail")
        texts.append(text.format(n=formats.points(limits.max_error_rate)))
    if limits.max_cost_per_1k_calls_usd is not None:
        cost = formats.money(limits.max_cost_per_1k_calls_usd / 10)
        texts.append(_tr("No more than {cost} per 100 answers").format(cost=cost))
    if limits.max_latency_p95_ms is not None:
        wait = formats.waiting(limits.max_latency_p95_ms)
        texts.append(_tr("19 of 20 answers within {wait}").format(wait=wait))
    return [MustHave(text, "measured") for text in texts]


def privacy_sentence(name: str) -> str:
    """A privacy must-have as the page says it."""
    words = {
        "training_opt_out": _tr("Must not train on our data"),
        "zero_data_retention": _tr("Must not keep our data"),
        "dpa": _tr("Must have signed a data-protection contract"),
        "on_prem": _tr("Must run on our own computers"),
    }
    fact = one_privacy(name)
    return words.get(fact, _tr("Must state “{name}”").format(name=fact.replace("_", " ")))


def stated_words(stating: int, models: int) -> str:
    """How many models state a must-have."""
    return _tr("{count} of {models} models state this").format(count=stating, models=models)


def privacy_state(card: Card, name: str) -> tuple[str, str]:
    """What a card says about a promise: words and icon."""
    value = {one_privacy(key): promise for key, promise in card.privacy.items()}.get(one_privacy(name))
    if value is None:
        return _tr("Not stated"), "info"
    return (_tr("Yes, stated"), "check") if value else (_tr("No"), "close")


def words_of(tokens: float) -> str:
    """A length in words: services count pieces of about three quarters of a word."""
    words = tokens * 0.75
    return formats.whole(round(words, -2) if words >= 1000 else words)

"""Which models take no part, by what is written alone: nothing is looked up and nobody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from providers.registry import KINDS, canonical_kind

from engine.config.schema import Card, Config, Constraints, ModelEntry
from engine.domain import SkippedModel
from engine.execution.candidates import Means

if TYPE_CHECKING:
    from engine.project import Project
    from engine.stats.board import Reason


def skip_by_rule(project: Project, entry: ModelEntry, means: Means, *, trusted: bool) -> SkippedModel | None:
    """Why an entry takes no part: code that is not trusted, its connection, or a must-have."""
    if entry.run and not trusted:
        return SkippedModel(
            entry.key,
            "no_trust",
            "This model is code of the project, and the project is not trusted.",
            "Say yes to the project's code, or use --trust on the command line.",
        )
    skip = skip_by_connection(project.config, entry)
    if skip is not None or means.include_gated or project.config.constraints == Constraints():
        return skip
    connection = project.connection(entry.provider or "")
    return _skip_by_gate(project.config, entry, means.pricebook.card(entry, connection))


def skip_by_connection(config: Config, entry: ModelEntry) -> SkippedModel | None:
    """Why nothing can be asked over the connection that an entry names."""
    connection = next((c for c in config.connections if c.id == entry.provider), None)
    if connection is None:
        return SkippedModel(
            entry.key,
            "unknown_kind",
            f"The connection {entry.provider!r} does not exist.",
            "Name a connection of the project, or a kind of provider.",
        )
    kind = canonical_kind(connection.kind)
    if kind is None:
        known = ", ".join(info.kind for info in KINDS.values() if info.built)
        return SkippedModel(
            entry.key,
            "unknown_kind",
            f"Nobody knows the kind of connection {connection.kind!r}.",
            f"Use one of: {known}.",
        )
    if not KINDS[kind].built:
        return SkippedModel(
            entry.key,
            "not_built",
            f"{KINDS[kind].title} is not built into this program.",
            "Name the vendor's own kind, or openai_compatible with the address of a server.",
        )
    return None


def _skip_by_gate(config: Config, entry: ModelEntry, card: Card) -> SkippedModel | None:
    from engine.stats.gates import preflight_gates

    reasons = preflight_gates(config, entry, card)
    if not reasons:
        return None
    return SkippedModel(
        entry.key,
        "breaks_gate",
        "It cannot meet a must-have: " + "; ".join(_gate_sentence(reason) for reason in reasons) + ".",
        "Change the must-have, or declare on the model's card what it offers.",
    )


def _gate_sentence(reason: Reason) -> str:
    """The must-have in plain words, for the skip reason."""
    values = reason.values
    match reason.code:
        case "gate_context":
            return f"it reads {values['measured']} tokens, {values['required']} are needed"
        case "gate_features":
            return f"it does not offer {', '.join(values['missing'])}"
        case "gate_privacy":
            return f"it does not promise {', '.join(values['refused'])}"
        case "privacy_undeclared":
            return f"nobody has declared that it promises {', '.join(values['missing'])}"
        case "features_unknown":
            return f"nobody has declared whether it offers {', '.join(values['required'])}"
        case "context_unknown":
            return f"nobody knows how much it can read, {values['required']} tokens are needed"
    return reason.code

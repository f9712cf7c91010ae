"""The second AI that marks, in words: who it is, what it looks at, what it takes to pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from providers.registry import canonical_kind

if TYPE_CHECKING:
    from engine.config.schema import Config, Criterion
    from engine.domain import SkippedModel

HALF = 0.5


def _tr(text: str) -> str:
    return QCoreApplication.translate("JudgeSetup", text)


def card_title() -> str:
    """The heading of the card and of the dialog."""
    return _tr("The second AI that marks")


def none_sentence() -> str:
    """Said where tests need a second AI and the project names none."""
    return _tr("Some tests are marked by a second AI, and none is chosen. Choose one before you run.")


def not_ready_sentence(skip: SkippedModel) -> str:
    """Why it cannot be asked now."""
    return _tr("It cannot be asked now: {reason} {fix}").format(reason=skip.reason, fix=skip.fix).strip()


def pass_share(config: Config) -> float:
    """From which share of the highest mark an answer passes, as the project says for all tests."""
    options = config.scorers.options.get("llm_judge", {})
    scale = float(options.get("scale") or config.judge.scale or 1.0)
    mark: Any = options.get("pass_mark")
    if isinstance(mark, int | float) and not isinstance(mark, bool):
        return min(1.0, max(0.0, float(mark) / scale))
    share = options.get("threshold")
    return float(share) if isinstance(share, int | float) and not isinstance(share, bool) else HALF


def rows(config: Config) -> list[tuple[str, str]]:
    """Label and value of everything that decides its marks."""
    judge = config.judge
    found = [(_tr("Model"), _model(str(judge.model), judge.provider))]
    votes = _tr("Once") if judge.votes == 1 else _tr("{count} times").format(count=formats.whole(judge.votes))
    found.append((_tr("Asked about each answer"), votes))
    share = formats.points(pass_share(config))
    found.append((_tr("An answer passes from"), _tr("{share} of 100").format(share=share)))
    found.append((_tr("It looks at"), rubric_words(judge.rubric)))
    if judge.mark_itself:
        found.append((_tr("Its own answers"), _tr("It marks them too, as the project says")))
    return found


def _model(model: str, connection: str | None) -> str:
    """Which model marks; pretend ones are said to be that, wherever they are named."""
    if canonical_kind(connection or model.partition(":")[0]) == "mock":
        return _tr("A practice model, pretend ({model})").format(model=model)
    text = _tr("{model}, asked over {connection}")
    return text.format(model=model, connection=connection) if connection else model


def rubric_words(rubric: str | Sequence[Criterion] | None) -> str:
    """The rubric in words."""
    if not rubric:
        return _tr("The task and the right answer only")
    if isinstance(rubric, str):
        return rubric.strip()
    return "\n".join(_criterion(item) for item in rubric)


def _criterion(item: Criterion) -> str:
    said = _tr("{name}, counts {weight}").format(name=item.name, weight=f"{item.weight:g}")
    return _tr("{criterion}, must pass").format(criterion=said) if item.must_pass else said

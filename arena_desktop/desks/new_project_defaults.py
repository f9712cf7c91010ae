"""What a new project starts with: questions at a time, spending limit, when to be asked.

Kept in the preferences; a project has its own values once it is made, and keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from arena_desktop.settings import Settings
from engine.config.saving import save_text
from engine.config.splice import set_value
from engine.config.text_files import read_text
from engine.config.yaml_text import MAX_BYTES, compose
from engine.project import find_config

CONCURRENCY_KEY = "defaults/concurrency"
BUDGET_KEY = "defaults/max_run_usd"
CONFIRM_KEY = "defaults/confirm_above_usd"
USUAL_CONCURRENCY = 4
USUAL_BUDGET = Decimal("2.00")
USUAL_CONFIRM = Decimal("1.00")
NO_LIMIT = "none"


@dataclass(frozen=True, slots=True)
class ProjectDefaults:
    """None = no limit, or never asked."""

    concurrency: int = USUAL_CONCURRENCY
    budget_usd: Decimal | None = USUAL_BUDGET
    confirm_above_usd: Decimal | None = USUAL_CONFIRM


def read_defaults(settings: Settings) -> ProjectDefaults:
    """What the person chose; what cannot be read is as at first."""
    concurrency = settings.read(CONCURRENCY_KEY, USUAL_CONCURRENCY)
    return ProjectDefaults(
        concurrency=concurrency if 1 <= concurrency <= 64 else USUAL_CONCURRENCY,
        budget_usd=_amount(settings.read(BUDGET_KEY, ""), USUAL_BUDGET),
        confirm_above_usd=_amount(settings.read(CONFIRM_KEY, ""), USUAL_CONFIRM),
    )


def write_amount(settings: Settings, key: str, amount: Decimal | None) -> None:
    """Keeps an amount of dollars; None = none."""
    settings.write(key, NO_LIMIT if amount is None else f"{amount:.2f}")


def apply_defaults(project: Path, defaults: ProjectDefaults) -> None:
    """Writes the defaults into the config of a project that was just made.

    Raises the errors of reading and saving a project file.
    """
    config = find_config(project)
    file = read_text(config, config.name, MAX_BYTES)
    text = file.text
    values: list[tuple[tuple[str, str], int | Decimal | None]] = [
        (("run", "concurrency"), defaults.concurrency),
        (("budgets", "max_run_usd"), defaults.budget_usd),
        (("budgets", "confirm_above_usd"), defaults.confirm_above_usd),
    ]
    for path, value in values:
        plain = float(value) if isinstance(value, Decimal) else value
        text = set_value(compose(text, config.name), path, plain)
    if text != file.text:
        save_text(file, text)


def _amount(text: str, usual: Decimal) -> Decimal | None:
    if text == NO_LIMIT:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return usual
    return amount if amount.is_finite() and amount >= 0 else usual

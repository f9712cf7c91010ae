"""A small world for the pages before a run: real desks over real folders, a run desk that only notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from arena_desktop.background import Background
from arena_desktop.context import Sample
from arena_desktop.desks.project_desk import ProjectDesk
from arena_desktop.desks.rescore_desk import RescoreDesk
from arena_desktop.desks.result_desk import ResultDesk
from arena_desktop.desks.run_desk import RunDesk
from arena_desktop.settings import Settings
from engine.domain import RunInfo, RunStatus
from engine.keystore import KeyStore

CONFIG = """\
project: Customer replies
description: Answer customer emails about refunds.
models:
  - {key: aster, model: "mock:flaky", label: Aster Large, max_tokens: 400, params: {accuracy: 90}}
  - {key: birch, model: "mock:flaky", label: Birch Mini}
  - {key: gpt, model: gpt-5.5, label: GPT-5.5}
  - {key: off, model: "mock:flaky", label: Resting, enabled: false}
defaults:
  system: You answer mails from customers. Be short.
  temperature: 0
budgets: {max_run_usd: 5, confirm_above_usd: 1}
constraints:
  min_accuracy: 0.6
  max_cost_per_1k_calls_usd: 20
metrics:
  weights: {accuracy: 0.6, cost: 0.25, latency: 0.15}
tests: {paths: [tests.yaml]}
scorers:
  default: classification
  options: {classification: {labels: [refund, delivery]}}
"""
TESTS = """\
tests:
  - {id: coat, input: The coat is too small., reference: refund, tags: [clothes, refund]}
  - input: |
      Hello,
      where is my parcel?
    reference: delivery
    tags: [parcel]
  - {id: lost, input: It never came., tags: [parcel]}
  - {id: price, input: What is it?, checks: [{type: contains, reference: "9.90", must_pass: true}]}
"""
FORBIDDEN = (
    "p95",
    "latency",
    "token",
    "composite",
    "endpoint",
    "null",
    "None",
    "NaN",
    "traceback",
    "429",
    "95 %",
    "significant",
)


class NotingRuns(QObject):
    """Stands in for the run desk: nothing runs, what was asked for is kept."""

    state_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.running = False
        self.carried: list[str] = []
        self.taken: set[str] = set()

    def carry_on(self, run_id: str) -> None:
        """Keeps the id."""
        self.carried.append(run_id)

    def has(self, run_id: str) -> bool:
        """Whether it goes on or waits: what `taken` holds."""
        return run_id in self.taken


class World(QObject):
    """What a page is handed. `pages`, `samples_opened` keep what was asked for."""

    page_wanted = Signal(str)
    message_wanted = Signal(object)
    key_wanted = Signal(str)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.settings = Settings(folder / "settings.ini")
        self.background = Background()
        self.keys = KeyStore(folder / "keys")
        self.projects = ProjectDesk(self.background, self.settings, self.keys)
        self.results = ResultDesk(self.background, folder / "store.sqlite")
        self.runs = NotingRuns()
        real_runs = RunDesk(self.projects, self.results, self.keys, self.background)
        self.rescoring = RescoreDesk(self.background, self.projects, self.results, self.keys, real_runs)
        shipped = ("support-triage", "local-models", "judge-demo")
        self.samples = {name: Sample(name, folder) for name in shipped}
        self.pages: list[str] = []
        self.samples_opened: list[str] = []
        self.open_sample = self.samples_opened.append
        self.page_wanted.connect(self.pages.append)

    def project(self, config: str = CONFIG, tests: str = TESTS, name: str = "replies") -> Path:
        """Writes a project folder."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        (folder / "tests.yaml").write_text(tests, encoding="utf-8")
        return folder

    def close(self) -> None:
        """Ends the work and the store."""
        assert self.background.close()
        self.results.close()


def stopped_run(root: Path | None, **changes: object) -> RunInfo:
    """A run that was interrupted at 412 of 750 answers."""
    now = datetime.now(UTC)
    run = RunInfo(
        run_id="run_1",
        project="Customer replies",
        project_root=root,
        status=RunStatus.INTERRUPTED,
        started_at=now,
        finished_at=now,
        planned=750,
        completed=400,
        errors=12,
        stopped=0,
        cost_usd=Decimal("4.12"),
        winner=None,
    )
    return replace(run, **changes)


def shown(widget: QWidget, *kinds: type[QWidget]) -> list[QWidget]:
    """The visible children of these kinds, once what was just put in is laid out."""
    QApplication.processEvents()
    return [
        child
        for kind in kinds or (QWidget,)
        for child in widget.findChildren(kind)
        if shiboken6.isValid(child) and child.isVisibleTo(widget)
    ]


def texts(page: QWidget) -> list[str]:
    """Every text on a page: labels, buttons, cells, tooltips, spoken names."""
    found = [label.text() for label in shown(page, QLabel)]
    found += [button.text() for button in shown(page, QAbstractButton)]
    for view in shown(page, QAbstractItemView):
        model = view.model()
        if model is not None:
            found += cells_of(model)
    found += [field.placeholderText() for field in shown(page, QLineEdit, QPlainTextEdit)]
    for child in shown(page):
        found += [child.toolTip(), child.accessibleName(), child.accessibleDescription()]
    return [text for text in found if text]


def cells_of(model: object) -> list[str]:
    """The texts of all cells of a table model."""
    rows, columns = range(model.rowCount()), range(model.columnCount())
    return [str(model.index(row, column).data() or "") for row in rows for column in columns]


def nameless(page: QWidget) -> list[str]:
    """The visible controls that a screen reader could not name."""
    kinds: tuple[type[QWidget], ...] = (
        QAbstractButton,
        QLineEdit,
        QPlainTextEdit,
        QComboBox,
        QAbstractSpinBox,
        QAbstractItemView,
    )
    found = []
    for widget in shown(page, *kinds):
        of_qt = widget.objectName().startswith("qt_") or widget.parent().objectName().startswith("qt_")
        if of_qt or isinstance(widget, QHeaderView) or widget.parent().objectName() == "message_strip":
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        name = interface.text(QAccessible.Text.Name) if interface is not None else ""
        if not name or name == type(widget).__name__ or not widget.objectName():
            found.append(f"{type(widget).__name__} {widget.objectName()!r} named {name!r}")
    return found


def forbidden(words: Sequence[str]) -> list[str]:
    """The texts that hold a word which never stands on a screen."""
    return [text for text in words if any(word in text for word in FORBIDDEN)]

"""The Run page while a run goes on and after it: bar, counts, time left, cost so far, one row per model."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.run_desk import RunBegan
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.itemmodels.call_cells import LatestRow, latest_columns, latest_rows
from arena_desktop.itemmodels.lanes import LaneRow, ModelHead, lane_columns, lane_rows
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.views.run_lanes import LaneControls
from arena_desktop.views.run_strips import ThrottleStrips
from arena_desktop.widgets import progress as bars
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.facts import Counter
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import formats
from arena_desktop.wording import run as words
from engine.execution.events import RunFinished

_QUARTERS = 4


class RunGoing(QWidget):
    """Shows a `RunProgress` each time `refresh` is called; connects to no signal of the run."""

    key_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._heads: Mapping[str, ModelHead] = {}
        self._free = False
        self._quarter = 0
        self._progress: RunProgress | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        self.throttle = ThrottleStrips()
        layout.addWidget(self.throttle)
        layout.addWidget(self._figures())
        layout.addWidget(self._models())
        self.lanes = LaneControls()
        layout.addWidget(self.lanes)
        layout.addWidget(self._latest())
        layout.addStretch(1)

    def begin(self, began: RunBegan, heads: Mapping[str, ModelHead]) -> None:
        """Another run from now on."""
        self._heads, self._progress = heads, None
        self.latest_rows.set_rows(())
        prices = [model.price for model in began.preflight.ready]
        self._free = all(price is not None and price.free for price in prices)
        self._quarter = 0
        self.lanes.begin()
        self._connections = {entry.key: entry.provider or "" for entry in began.project.config.models}

    def refresh(
        self, progress: RunProgress, *, paused: bool, stopping: bool, awake: bool | None = None
    ) -> None:
        """Everything as it stands. Cheap enough for ten times a second. `awake`: is the computer kept so."""
        ended = progress.status is not None
        self._show_bar(progress, paused=paused, stopping=stopping, ended=ended)
        self._show_counts(progress, ended)
        left = formats.UNKNOWN
        if not ended:
            left = words.time_left(progress.seconds_left(), paused=paused, stopping=stopping)
        self.eta.setVisible(not ended)
        self.eta.set_figure(left)
        self.cost.set_figure(words.spent_of(progress.spent_usd, progress.ceiling_usd, free=self._free))
        self.lanes.show_lanes(progress, self._heads, going=not ended and not stopping)
        self._show_more(progress, awake, ended)
        self.rows.set_rows(lane_rows(progress, self._heads, stopping=stopping, ended=ended))
        self.throttle.show_lanes(progress, self._heads, quiet=ended or stopping)
        self._progress = progress
        self._show_latest()

    def _show_latest(self, *_opened: object) -> None:
        """Also when it is unfolded after the run, when nothing is refreshed any more."""
        if self._progress is not None and self.latest.is_open():
            self.latest_rows.set_rows(latest_rows(self._progress, self._heads))

    def _show_more(self, progress: RunProgress, awake: bool | None, ended: bool) -> None:
        said = [
            words.more_line(progress.retrying, progress.reserved_usd, free=self._free),
            words.awake_line(awake),
        ]
        text = "" if ended else " ".join(part for part in said if part)
        _set(self.label_more, text)
        self.label_more.setVisible(bool(text))

    def show_end(self, finished: RunFinished) -> None:
        """How much is kept and how long it took."""
        text = words.ended_text(finished.completed, finished.planned, finished.duration_s)
        _set(self.label_answers, text)

    def row_state(self, key: str) -> str:
        """What the table says about a model now, for messages and tests."""
        column = self.rows.columns[self.rows.section_of("state")]
        return next((column.text(row) for row in self.rows.rows() if row.head.key == key), "")

    # parts

    def _figures(self) -> Card:
        card = Card(spacing=12, name="card_progress")
        line = QHBoxLayout()
        line.setSpacing(16)
        self.label_doing = Label("", "section", name="label_doing")
        self.label_answers = Label("", colour="text2", name="label_answers")
        line.addWidget(self.label_doing)
        line.addWidget(self.label_answers)
        line.addStretch(1)
        card.body.addLayout(line)
        self.bar = bars.RunProgress(self.tr("Progress of the run"), name="progress_run")
        card.body.addWidget(self.bar)
        card.body.addLayout(self._counters())
        self.label_more = Label("", "caption", colour="text2", wrap=True, name="label_run_more")
        self.label_more.hide()
        card.body.addWidget(self.label_more)
        return card

    def _counters(self) -> QBoxLayout:
        squares = bars.SQUARES
        self.done = Counter(self.tr("Done"), square=squares["done"], name="label_done")
        self.failed = Counter(self.tr("Failed"), square=squares["failed"], name="label_failed")
        self.under_way = Counter(self.tr("On their way"), square=squares["under_way"], name="label_under_way")
        self.waiting = Counter(self.tr("Waiting"), square=squares["waiting"], name="label_waiting")
        self.not_asked = Counter(self.tr("Not asked"), square=squares["waiting"], name="label_not_asked")
        left = QHBoxLayout()
        for counter in (self.done, self.failed, self.under_way, self.waiting, self.not_asked):
            left.addWidget(counter, 1)
        self.eta = Counter(self.tr("Time left"), name="label_eta")
        self.cost = Counter(self.tr("Spent so far"), name="label_cost")
        right = QHBoxLayout()
        right.setSpacing(24)
        right.addWidget(self.eta, 1)
        right.addWidget(self.cost, 1)
        self._line = Divider(vertical=True)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(28)
        self._both.addLayout(left, 8)
        self._both.addWidget(self._line)
        self._both.addLayout(right, 6)
        return self._both

    def set_narrow(self, narrow: bool) -> None:
        """Puts time and cost below the counts where there is no room beside them."""
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._both.setDirection(way)
        self._both.setSpacing(12 if narrow else 28)
        self._line.setVisible(not narrow)

    def _models(self) -> TableCard:
        self.table = ArenaTable("table_lanes", self.tr("Models in this run"))
        self.rows: ColumnTable[LaneRow] = ColumnTable(
            lane_columns(), key=lambda row: row.head.key, muted=lambda row: row.left_out, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.fit_rows()
        self.table.link_clicked.connect(
            lambda row, _link: self.key_wanted.emit(self._connections.get(row.head.key, ""))
        )
        return TableCard(self.table)

    def _latest(self) -> Collapsible:
        self.latest = Collapsible(self.tr("Latest answers"), name="button_latest")
        table = ArenaTable("table_latest", self.tr("Latest answers, newest first"))
        self.latest_rows: ColumnTable[LatestRow] = ColumnTable(
            latest_columns(), key=lambda row: row.cell, parent=table
        )
        table.setModel(self.latest_rows)
        table.fit_rows()
        self.latest.content.addWidget(TableCard(table))
        self.latest.toggled.connect(self._show_latest)
        return self.latest

    # filling

    def _show_bar(self, progress: RunProgress, *, paused: bool, stopping: bool, ended: bool) -> None:
        # What was given up is neither done nor failed: it stays in the grey part of the bar.
        self.bar.set_counts(
            done=progress.done,
            failed=progress.failed,
            under_way=progress.running,
            waiting=progress.waiting + progress.stopped,
        )
        held = progress.lanes and all(progress.closed_for(lane) > 0 for lane in progress.lanes)
        self.bar.set_calm("warn" if not ended and (paused or held) else "")
        doing = words.doing(stopping=stopping, paused=paused, ended=ended, running=progress.running)
        _set(self.label_doing, doing)
        if not ended:
            _set(self.label_answers, words.answers_in(progress.done, progress.total))
        quarter = int(progress.share * _QUARTERS)
        if quarter > self._quarter:
            self._quarter = quarter
            announce(self.bar, words.answers_in(progress.done, progress.total))

    def _show_counts(self, progress: RunProgress, ended: bool) -> None:
        self.done.set_figure(formats.whole(progress.done))
        self.failed.set_figure(formats.whole(progress.failed), ink="bad" if progress.failed else "text")
        self.under_way.set_figure(formats.whole(progress.running))
        self.waiting.set_figure(formats.whole(progress.waiting))
        self.not_asked.set_figure(formats.whole(progress.stopped + (progress.waiting if ended else 0)))
        self.under_way.setVisible(not ended)
        self.waiting.setVisible(not ended)
        self.not_asked.setVisible(ended or progress.stopped > 0)


def _set(label: Label, text: str) -> None:
    if label.text() != text:
        label.setText(text)

"""The buttons below a run on show: what steers it while it goes on, what comes next when it has ended."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from arena_desktop.desks.run_desk import RunDesk
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.page import MARGIN, MARGIN_NARROW
from arena_desktop.wording.resume import retry_button, retry_sentence
from engine.execution.events import RunFinished


class RunFoot(QWidget):
    """The row; the page says what each button does."""

    def __init__(self) -> None:
        super().__init__()
        self.button_pause = Button("", icon="pause", name="button_pause")
        self.button_cancel = Button(self.tr("Cancel run"), icon="stop", name="button_cancel")
        self.button_retry = Button("", name="button_retry_failed")
        self.button_again = Button(self.tr("Run again"), icon="run", name="button_run_again")
        self.button_another = Button(self.tr("Prepare another run"), name="button_prepare_another")
        self.button_result = Button(self.tr("See the result"), "primary", name="button_see_result")
        self._row = QHBoxLayout(self)
        self._row.setSpacing(8)
        self._row.addWidget(self.button_pause)
        self._row.addWidget(self.button_cancel)
        self._row.addStretch(1)
        for button in (self.button_another, self.button_retry, self.button_again, self.button_result):
            self._row.addWidget(button)
        self.set_narrow(False)

    def show_run(self, runs: RunDesk, finished: RunFinished | None, *, can_prepare: bool) -> None:
        """What can be done now. `can_prepare`: a project is open that another run could be of."""
        going = runs.running
        self.button_pause.setVisible(going)
        self.button_pause.setEnabled(not runs.stopping)
        self.button_pause.setText(self.tr("Continue") if runs.paused else self.tr("Pause"))
        self.button_pause.set_icon("run" if runs.paused else "pause")
        self.button_cancel.setVisible(going)
        self.button_cancel.setText(self.tr("Stop now") if runs.stopping else self.tr("Cancel run"))
        self.button_again.setVisible(not going)
        self.button_another.setVisible(going and can_prepare)
        self.button_result.setVisible(not going and finished is not None)
        failed = finished.errors if finished is not None else 0
        self.button_retry.setVisible(not going and failed > 0)
        self.button_retry.setText(retry_button(failed))
        self.button_retry.setToolTip(retry_sentence(failed))

    def set_narrow(self, narrow: bool) -> None:
        """Goes along with the margins of the page."""
        side = MARGIN_NARROW if narrow else MARGIN
        self._row.setContentsMargins(side, 4, side, 20)

"""Settings about privacy, updates and the program itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QHBoxLayout

from arena_desktop import __version__
from arena_desktop.background import Job
from arena_desktop.dialogs.settings_parts import Note, RowCard, Section, SettingRow
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import formats
from arena_desktop.wording.setup import day_words
from engine.errors import ArenaError
from engine.price_catalogue import edition_date
from engine.price_refresh import refresh_prices

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


class PrivacySection(Section):
    """What leaves this computer, and what never does."""

    def __init__(self) -> None:
        super().__init__("privacy", self.tr("Privacy"), "lock")
        for icon, text in (
            ("globe", self.tr("Questions go only to the services of the models in a run.")),
            ("computer", self.tr("Models on this computer and practice models send nothing anywhere.")),
            ("key", self.tr("A key goes only to the service it was entered for.")),
            ("eye", self.tr("Nobody is told what you do here. There is no counting and no tracking.")),
            ("data", self.tr("Answers and results are kept on this computer, readable by you alone.")),
            ("history", self.tr("Logs hold no questions, no answers and no keys.")),
            (
                "import",
                self.tr("Checking a key, listing models and fetching prices happen only when you ask."),
            ),
        ):
            self.body.addWidget(Note(icon, text))
        self.body.addStretch(1)


class UpdatesSection(Section):
    """The version, and the list of prices."""

    def __init__(self, context: AppContext) -> None:
        super().__init__("updates", self.tr("Updates"), "import")
        self._context = context
        version = self.tr("This is Agent Arena {version}. It never installs anything by itself.")
        self.body.addWidget(Label(version.format(version=__version__), wrap=True))
        card = RowCard()
        title = self.tr("Prices of the models")
        self.row = SettingRow(title, self.tr("The list comes with the app. A newer one is a short download."))
        self.day = Label("", colour="text2", name="label_price_day")
        self.row.place.addWidget(self.day)
        self.button = Button(self.tr("Get newer prices"), name="button_refresh_prices")
        self.button.clicked.connect(self._on_refresh)
        self.row.place.addWidget(self.button)
        card.add_row(self.row)
        self.body.addWidget(card)
        self.said = Label("", colour="text2", wrap=True, name="label_price_result")
        self.body.addWidget(self.said)
        self.body.addStretch(1)

    def opened(self) -> None:
        """Reads of which day the list is; that loads it, so it is done in the background."""

        def work(_job: Job) -> object:
            return edition_date(datetime.now(UTC).date())

        self._context.background.run(work, self._on_day, self._on_failed, name="price day", replace=True)

    def _on_day(self, day: object) -> None:
        text = self.tr("from {day}").format(day=day_words(day)) if day else self.tr("day not known")  # type: ignore[arg-type]
        self.day.setText(text)

    def _on_refresh(self) -> None:
        self.button.setEnabled(False)
        self.said.setText(self.tr("Fetching…"))

        def work(_job: Job) -> int:
            return refresh_prices()

        self._context.background.run(work, self._on_refreshed, self._on_failed, name="refresh prices")

    def _on_refreshed(self, count: int) -> None:
        self.button.setEnabled(True)
        words = self.tr("{count} prices are up to date. Open a project again to use them.")
        self.said.setText(words.format(count=formats.whole(count)))
        self.opened()

    def _on_failed(self, error: Exception) -> None:
        self.button.setEnabled(True)
        if not isinstance(error, ArenaError):
            raise error
        self.said.setText(f"{error.message} {error.hint}".strip())


class AboutSection(Section):
    """What this is and what it is built from."""

    def __init__(self) -> None:
        super().__init__("about", self.tr("About"), "info")
        title = self.tr("Agent Arena {version}").format(version=__version__)
        self.body.addWidget(Label(title, "section"))
        self.body.addWidget(
            Label(self.tr("Which AI model should I use for my job? It measures, and says so."), wrap=True)
        )
        licence = self.tr("Free software under the MIT licence.")
        built = self.tr("Built with Qt {qt}, under the LGPL.").format(qt=qVersion())
        self.body.addWidget(Note("info", licence))
        self.body.addWidget(Note("settings", built))
        row = QHBoxLayout()
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addStretch(1)

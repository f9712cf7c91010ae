"""Settings about running, notices, looks and language."""

from __future__ import annotations

from PySide6.QtCore import QDate, QLocale, Signal
from PySide6.QtWidgets import QCheckBox

from arena_desktop.desks.new_project_defaults import (
    BUDGET_KEY,
    CONCURRENCY_KEY,
    CONFIRM_KEY,
    read_defaults,
    write_amount,
)
from arena_desktop.dialogs.settings_parts import Note, RowCard, Section, SettingRow
from arena_desktop.settings import Settings
from arena_desktop.theme.switch import TEXT_LARGEST, TEXT_SMALLEST, TEXT_STEP, Appearance
from arena_desktop.widgets.fields import Combo, MoneySpin, Spin
from arena_desktop.widgets.labels import Label


def switch_row(settings: Settings, attribute: str, title: str, help_text: str) -> SettingRow:
    """A row with a check box over a preference that is true or false."""
    row = SettingRow(title, help_text)
    box = QCheckBox()
    box.setObjectName(f"check_{attribute}")
    row.set_field(box)
    key = getattr(Settings, attribute).key
    row.follow(settings, key, lambda: box.setChecked(getattr(settings, attribute)))
    box.clicked.connect(lambda on: setattr(settings, attribute, bool(on)))
    return row


class RunningSection(Section):
    """What new projects start with, and what happens during a run."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("running", self.tr("Running"), "run")
        self._settings = settings
        head = self.tr("New projects start with these. Each project keeps its own afterwards.")
        self.body.addWidget(Label(head, colour="text2", wrap=True))
        card = RowCard()
        card.add_row(self._concurrency())
        card.add_row(
            self._amount(
                BUDGET_KEY,
                self.tr("Stop a run at"),
                self.tr("The most that one run may spend."),
                self.tr("no limit"),
                "edit_default_budget",
            )
        )
        card.add_row(
            self._amount(
                CONFIRM_KEY,
                self.tr("Ask me first above"),
                self.tr("A run that may cost more asks before it spends anything."),
                self.tr("never ask"),
                "edit_default_confirm",
            )
        )
        self.body.addWidget(card)
        self.body.addWidget(self._during())
        self.body.addStretch(1)

    def _during(self) -> RowCard:
        card = RowCard()
        awake = self.tr("Keep the computer awake while running")
        saves = self.tr("Save changes by itself")
        when = self.tr("Two seconds after the last change. Otherwise with Ctrl+S.")
        dark = self.tr("The screen may still go dark.")
        card.add_row(switch_row(self._settings, "keep_awake", awake, dark))
        card.add_row(switch_row(self._settings, "autosave", saves, when))
        return card

    def _concurrency(self) -> SettingRow:
        settings = self._settings
        row = SettingRow(
            self.tr("Questions at the same time"),
            self.tr("More is faster, until a service asks to slow down."),
        )
        spin = Spin(self.tr("Questions at the same time"), 1, 64, name="edit_default_concurrency")
        row.set_field(spin)
        row.follow(settings, CONCURRENCY_KEY, lambda: spin.setValue(read_defaults(settings).concurrency))
        spin.valueChanged.connect(
            lambda value: (
                value != read_defaults(settings).concurrency and settings.write(CONCURRENCY_KEY, value)
            )
        )
        return row

    def _amount(self, key: str, title: str, help_text: str, none: str, name: str) -> SettingRow:
        settings = self._settings
        row = SettingRow(title, help_text)
        spin = MoneySpin(title, none_text=none, name=name)
        row.set_field(spin)

        def kept() -> object:
            defaults = read_defaults(settings)
            return defaults.budget_usd if key == BUDGET_KEY else defaults.confirm_above_usd

        row.follow(settings, key, lambda: spin.set_amount(kept()))  # type: ignore[arg-type]
        spin.valueChanged.connect(
            lambda _value: spin.amount() != kept() and write_amount(settings, key, spin.amount())
        )
        return row


class NotificationsSection(Section):
    """When the program speaks up while its window is not in front."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("notifications", self.tr("Notifications"), "bell")

        card = RowCard()
        done = self.tr("Tell me when a run is done")
        failed = self.tr("Tell me when a run stops with a fault")
        where = self.tr("Only for runs of more than a minute, while another window is in front.")
        card.add_row(switch_row(settings, "notify_done", done, where))
        card.add_row(switch_row(settings, "notify_failed", failed, self.tr("Also for short runs.")))
        self.body.addWidget(card)
        self.body.addStretch(1)


class AppearanceSection(Section):
    """Light or dark, and the size of the text."""

    appearance_chosen = Signal(object)
    text_steps = Signal(int)

    def __init__(self, settings: Settings) -> None:
        super().__init__("appearance", self.tr("Appearance"), "sun")
        self._settings = settings
        card = RowCard()
        card.add_row(self._looks())
        card.add_row(self._text_size())
        self.body.addWidget(card)
        self.body.addStretch(1)

    def _looks(self) -> SettingRow:
        settings = self._settings
        row = SettingRow(self.tr("Light or dark"))
        combo = Combo(self.tr("Light or dark"), name="combo_appearance")
        for appearance, words in (
            (Appearance.SYSTEM, self.tr("As the system")),
            (Appearance.LIGHT, self.tr("Light")),
            (Appearance.DARK, self.tr("Dark")),
        ):
            combo.addItem(words, appearance.value)
        row.set_field(combo)

        def show() -> None:
            combo.setCurrentIndex(max(0, combo.findData(settings.appearance)))

        row.follow(settings, Settings.appearance.key, show)  # type: ignore[attr-defined] - the descriptor
        combo.activated.connect(lambda _index: self._choose(str(combo.currentData())))
        row.reset.clicked.connect(self._reset_looks)
        return row

    def _choose(self, value: str) -> None:
        self._settings.appearance = value
        self.appearance_chosen.emit(Appearance(value))

    def _reset_looks(self) -> None:
        # The window that applies it also writes it down.
        self.appearance_chosen.emit(Appearance.SYSTEM)
        self._settings.reset(Settings.appearance.key)  # type: ignore[attr-defined] - the descriptor itself

    def _reset_size(self) -> None:
        self.text_steps.emit(0)
        self._settings.reset(Settings.text_percent.key)  # type: ignore[attr-defined] - the descriptor itself

    def _text_size(self) -> SettingRow:
        settings = self._settings
        row = SettingRow(self.tr("Text size"), self.tr("Also with Ctrl and plus, minus or 0."))
        spin = Spin(self.tr("Text size"), TEXT_SMALLEST, TEXT_LARGEST, suffix=" %", name="edit_text_size")
        spin.setSingleStep(TEXT_STEP)
        spin.lineEdit().setReadOnly(True)
        row.set_field(spin)
        key = Settings.text_percent.key  # type: ignore[attr-defined] - the descriptor itself
        row.follow(settings, key, lambda: spin.setValue(settings.text_percent))
        spin.valueChanged.connect(self._on_size)
        row.reset.clicked.connect(self._reset_size)
        return row

    def _on_size(self, value: int) -> None:
        steps = (value - self._settings.text_percent) // TEXT_STEP
        if steps:
            self._settings.text_percent = value
            self.text_steps.emit(steps)


class LanguageSection(Section):
    """Which language the program speaks, and how it writes numbers."""

    def __init__(self) -> None:
        super().__init__("language", self.tr("Language"), "globe")
        locale = QLocale()
        text = self.tr("The program speaks English. There is no other language yet.")
        self.body.addWidget(Note("globe", text))
        numbers = self.tr("Numbers and dates follow your system ({language}): {number}, {day}.")
        shown = numbers.format(
            language=locale.nativeLanguageName() or locale.name(),
            number=locale.toString(1234.5, "f", 1),
            day=locale.toString(QDate(2026, 12, 31), QLocale.FormatType.ShortFormat),
        )
        self.body.addWidget(Note("text", shown))
        self.body.addStretch(1)

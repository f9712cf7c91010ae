"""Settings > Data: each place with its size and a way to open it; removing what the program keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.desks.data_places import DataPlace, data_places, measured, remove
from arena_desktop.dialogs.settings_bin import BinRow
from arena_desktop.dialogs.settings_parts import Note, RowCard, Section, SettingRow
from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


class PlaceRow(SettingRow):
    """A place: what it is, its path, its size, Open."""

    def __init__(self, title: str, place: DataPlace) -> None:
        super().__init__(title, str(place.path))
        self.place_id = place.id
        self._folder = place.folder
        self.size = Label("", colour="text2", name=f"label_size_{place.id}")
        self.place.addWidget(self.size)
        self.open = Button(self.tr("Open folder"), "quiet", name=f"button_open_{place.id}")
        self.open.setAccessibleName(self.tr("Open the folder: {what}").format(what=title))
        self.open.clicked.connect(self._on_open)
        self.place.addWidget(self.open)
        self.show_size(place)

    def show_size(self, place: DataPlace) -> None:
        """Its size in words."""
        if place.size is None:
            self.size.setText(self.tr("counting…"))
        elif place.size == 0:
            self.size.setText(self.tr("empty"))
        else:
            self.size.setText(size_words(place.size))
        self._folder = place.folder
        self.open.setEnabled(self._folder.is_dir())

    def _on_open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder)))


def size_words(size: int) -> str:
    """A size in bytes as people read it."""
    return QLocale().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


class DataSection(Section):
    """Where everything lies."""

    def __init__(self, context: AppContext) -> None:
        super().__init__("data", self.tr("Data"), "data")
        self._context = context
        self._places = data_places()
        self._rows: dict[str, PlaceRow] = {}
        card = RowCard()
        for place in self._places:
            self._rows[place.id] = card.add_row(PlaceRow(self._title(place), place))
            if place.id == "runs":
                self._bin = card.add_row(BinRow(context))
        self.body.addWidget(card)
        sentence = self.tr("Your projects are folders of your own. Nothing here touches them.")
        self.body.addWidget(Note("project", sentence))
        self._projects = Label("", "caption", colour="text2", wrap=True, name="label_opened_projects")
        self.body.addWidget(self._projects)
        row = QHBoxLayout()
        self.button_remove = Button(self.tr("Remove app data…"), "danger", name="button_remove_data")
        self.button_remove.clicked.connect(self._on_remove)
        row.addWidget(self.button_remove)
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addStretch(1)

    def opened(self) -> None:
        """Counts the sizes anew, and the runs in the bin."""
        self._bin.look()
        self._context.settings.sync()
        places = self._places

        def work(job: Job) -> list[DataPlace]:
            found = []
            for place in places:
                job.check()
                found.append(measured(place))
            return found

        background = self._context.background
        background.run(work, self._on_measured, self._on_failed, name="data sizes", replace=True)
        recent = self._context.settings.recent()
        listed = "\n".join(project.path for project in recent)
        title = self.tr("Projects you opened:")
        self._projects.setText(f"{title}\n{listed}" if listed else "")
        self._projects.setVisible(bool(listed))

    def _on_measured(self, places: list[DataPlace]) -> None:
        for place in places:
            self._rows[place.id].show_size(place)

    def _on_failed(self, error: Exception) -> None:
        raise error

    def _title(self, place: DataPlace) -> str:
        titles = {
            "runs": self.tr("Saved runs"),
            "settings": self.tr("App settings"),
            "logs": self.tr("Logs, without questions and answers"),
            "recovery": self.tr("Recovery copies"),
            "caches": self.tr("Lists that can be fetched again"),
        }
        return titles[place.id]

    def _on_remove(self) -> None:
        dialog = RemoveDataDialog(self._context, self._places, self)
        dialog.finished.connect(lambda _code: self.opened())
        dialog.open()


class RemoveDataDialog(QDialog):
    """Asks what is to go. Nothing is ticked that cannot be made again; runs and projects are not offered."""

    def __init__(self, context: AppContext, places: list[DataPlace], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._places = {place.id: place for place in places}
        self.setObjectName("dialog_remove_data")
        self.setWindowTitle(self.tr("Remove app data"))
        self.setAccessibleName(self.windowTitle())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(Label(self.tr("What should be removed?"), "title"))
        words = self.tr("This cannot be undone. Your projects and your saved runs stay as they are.")
        sentence = Label(words, colour="text2", wrap=True)
        sentence.setMinimumWidth(scaled(400))
        layout.addWidget(sentence)
        self.boxes: dict[str, QCheckBox] = {}
        for name, title in self._choices():
            box = QCheckBox(title)
            box.setObjectName(f"check_remove_{name}")
            box.toggled.connect(self._on_toggled)
            self.boxes[name] = box
            layout.addWidget(box)
        self._said = Label("", colour="bad", wrap=True, name="label_remove_result")
        self._said.hide()
        layout.addWidget(self._said)
        layout.addLayout(self._buttons())
        self.focus_ring = FocusRing(self)

    def _choices(self) -> list[tuple[str, str]]:
        count = len(self._context.keys.entries())
        keys = self.tr("Access keys ({count} kept)").format(count=count)
        return [
            ("keys", keys),
            ("settings", self.tr("App settings, and the list of projects you opened")),
            ("logs", self.tr("Logs")),
            ("recovery", self.tr("Recovery copies")),
            ("caches", self.tr("Lists that can be fetched again")),
        ]

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(8)
        row.addStretch(1)
        self.button_keep = Button(self.tr("Keep everything"), name="button_keep_data")
        self.button_keep.clicked.connect(self.reject)
        self.button_go = Button(self.tr("Remove what is ticked"), "danger", name="button_remove_ticked")
        self.button_go.setEnabled(False)
        self.button_go.clicked.connect(self._on_go)
        row.addWidget(self.button_keep)
        row.addWidget(self.button_go)
        return row

    def _on_toggled(self) -> None:
        self.button_go.setEnabled(any(box.isChecked() for box in self.boxes.values()))

    def _on_go(self) -> None:
        wanted = [name for name, box in self.boxes.items() if box.isChecked()]
        keys, places = self._context.keys, self._places
        self.setEnabled(False)

        def work(_job: Job) -> list[str]:
            faults = []
            if "keys" in wanted:
                for entry in keys.entries():
                    result = keys.remove(entry.connection, entry.host)
                    if not result.ok:
                        faults.append(f"{result.sentence} {result.fix}".strip())
                keys.forget_session()
            for name in wanted:
                # The settings are emptied where they are held, not behind its back.
                if name not in ("keys", "settings"):
                    remove(places[name])
            return faults

        if "settings" in wanted:
            self._context.settings.reset_all()
        self._context.background.run(work, self._on_done, self._on_failed, name="remove data")

    def _on_done(self, faults: list[str]) -> None:
        self.setEnabled(True)
        if not faults:
            self.accept()
            return
        self._said.setText("\n".join(dict.fromkeys(faults)))
        self._said.show()

    def _on_failed(self, error: Exception) -> None:
        self.setEnabled(True)
        if not isinstance(error, ArenaError):
            raise error
        self._said.setText(f"{error.message} {error.hint}".strip())
        self._said.show()

"""The other sections: effect at once, Reset, search, sizes, diagnostics; and that everybody can use them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QAccessible, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.new_project_defaults import ProjectDefaults, apply_defaults, read_defaults
from arena_desktop.dialogs.keys_server import ServerDialog
from arena_desktop.dialogs.model_picker import ModelPicker
from arena_desktop.dialogs.settings import SettingsDialog
from arena_desktop.dialogs.settings_data import RemoveDataDialog
from arena_desktop.main_window import MainWindow, PageEntry
from arena_desktop.settings import RecentProject
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.page import Page
from engine.config.schema import Connection
from engine.new_project import create_project
from engine.paths import caches_dir, logs_dir
from engine.project import load_project

FORBIDDEN = (
    "p95", "latency", "token", "composite", "endpoint", "null", "None", "NaN", "traceback", "429", "95 %",
    "significant",
)  # fmt: skip


@pytest.fixture
def dialog(qtbot: QtBot, context: AppContext) -> Iterator[SettingsDialog]:
    made = SettingsDialog(context)
    qtbot.addWidget(made)
    made.show_section("keys")
    yield made
    qtbot.waitUntil(lambda: not context.background.busy, timeout=20_000)


def idle(qtbot: QtBot, context: AppContext) -> None:
    qtbot.waitUntil(lambda: not context.background.busy, timeout=20_000)


def test_preferences_take_effect_and_can_be_reset(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext
) -> None:
    dialog.show_section("running")
    spin = dialog.findChild(QSpinBox, "edit_default_concurrency")
    budget = dialog.findChild(QDoubleSpinBox, "edit_default_budget")
    awake = dialog.findChild(QCheckBox, "check_keep_awake")
    assert (spin.value(), budget.value(), awake.isChecked()) == (4, 2.0, True)
    spin.setValue(8)
    budget.set_amount(None)
    qtbot.mouseClick(awake, Qt.MouseButton.LeftButton)
    assert read_defaults(context.settings) == ProjectDefaults(8, None, Decimal("1.00"))
    assert context.settings.keep_awake is False
    rows = {row.title.text(): row for row in dialog.section("running").rows()}
    row = rows["Questions at the same time"]
    assert row.reset.isVisible()
    qtbot.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    assert spin.value() == 4
    assert not row.reset.isVisible()
    # Whoever changes a preference, the dialog follows.
    context.settings.keep_awake = True
    assert awake.isChecked()


def test_looks_go_through_the_window(
    qtbot: QtBot, context: AppContext, theme: Theme, qapp: QApplication
) -> None:
    pages = [PageEntry("home", "Home", "home", lambda: Page("home", "Home"), needs_project=False)]
    window = MainWindow(context.settings, theme, pages)
    qtbot.addWidget(window)
    dialog = SettingsDialog(context, window)
    dialog.show_section("appearance")
    combo = dialog.findChild(QComboBox, "combo_appearance")
    combo.setCurrentIndex(combo.findData("dark"))
    combo.activated.emit(combo.currentIndex())
    assert theme.appearance is Appearance.DARK
    assert context.settings.appearance == "dark"
    assert window.menus.action("action_appearance_dark").isChecked()
    size = dialog.findChild(QSpinBox, "edit_text_size")
    size.stepBy(3)
    assert theme.text_percent == 130
    window.menus.zoom_requested.emit(-1)
    assert size.value() == 120
    for row in dialog.section("appearance").rows():
        qtbot.mouseClick(row.reset, Qt.MouseButton.LeftButton)
        assert not row.reset.isVisible()
    assert theme.text_percent == 100
    assert theme.appearance is Appearance.SYSTEM
    assert not context.settings.is_changed("look/text_percent")
    idle(qtbot, context)


def test_the_search_finds_rows_and_sections(dialog: SettingsDialog) -> None:
    dialog.search.setText("awake")
    assert dialog.list.current() == "running"
    shown = [row.title.text() for row in dialog.section("running").rows() if row.isVisible()]
    assert shown == ["Keep the computer awake while running"]
    dialog.search.setText("anthropic")
    assert dialog.list.current() == "keys"
    dialog.search.setText("xyzzy")
    assert dialog.findChild(QLabel, "label_search_result").text() == "No setting has these words."
    dialog.search.clear()
    assert not any(dialog.list.item(n).isHidden() for n in range(dialog.list.count()))
    dialog.show_section("running")
    assert all(row.isVisible() for row in dialog.section("running").rows())


def test_new_projects_start_with_the_defaults(tmp_path: Path) -> None:
    folder = create_project(tmp_path / "fresh", "sort")
    before = load_project(folder)
    apply_defaults(folder, ProjectDefaults(7, Decimal("3.50"), None))
    after = load_project(folder)
    assert after.ok, after.problems
    assert after.config.run.concurrency == 7
    assert after.config.budgets.max_run_usd == Decimal("3.5")
    assert after.config.budgets.confirm_above_usd is None
    assert after.config.models == before.config.models


# ---- data


class _Folders(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


def test_every_place_has_its_size_and_opens(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext
) -> None:
    (logs_dir() / "arena.log").write_text("x" * 2048, encoding="utf-8")
    dialog.show_section("data")
    idle(qtbot, context)
    assert dialog.findChild(QLabel, "label_size_logs").text() == "2.0 kB"
    assert dialog.findChild(QLabel, "label_size_recovery").text() == "empty"
    folders = _Folders()
    QDesktopServices.setUrlHandler("file", folders, "open")
    try:
        qtbot.mouseClick(dialog.findChild(QPushButton, "button_open_logs"), Qt.MouseButton.LeftButton)
        assert folders.opened == [str(logs_dir())]
    finally:
        QDesktopServices.unsetUrlHandler("file")


def test_removing_app_data_asks_and_leaves_projects_alone(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, tmp_path: Path, key_store: object
) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    (project / "config.yaml").write_text("project: Mine\n", encoding="utf-8")
    context.settings.remember_project(RecentProject(str(project), "Mine"))
    context.settings.text_percent = 120
    context.keys.store(Connection(id="openai", kind="openai"), "sk-proj-0123456789abcdef")
    (caches_dir() / "models.json").write_text("{}", encoding="utf-8")
    dialog.show_section("data")
    assert str(project) in dialog.findChild(QLabel, "label_opened_projects").text()
    dialog.findChild(QPushButton, "button_remove_data").click()
    ask = dialog.findChild(RemoveDataDialog)
    assert not ask.button_go.isEnabled()
    assert not any(box.isChecked() for box in ask.boxes.values())
    for name in ("keys", "settings", "caches"):
        ask.boxes[name].setChecked(True)
    with qtbot.waitSignal(ask.finished, timeout=20_000):
        ask.button_go.click()
    assert key_store.kept == {}
    assert context.keys.entries() == []
    assert context.settings.text_percent == 100
    assert list(caches_dir().iterdir()) == []
    assert (project / "config.yaml").exists()
    idle(qtbot, context)


# ---- diagnostics


def test_diagnostics_lists_every_check(qtbot: QtBot, dialog: SettingsDialog, context: AppContext) -> None:
    context.keys.store(Connection(id="openai", kind="openai"), "sk-proj-0123456789abcdef")
    dialog.show_section("diagnostics")
    section = dialog.diagnostics
    qtbot.waitUntil(lambda: bool(section.findings), timeout=20_000)
    names = {finding.id for finding in section.findings}
    assert names >= {"python", "key_store", "store", "connection:openai"}
    assert section.summary.text() == "Everything needed is there. Some things could be better."
    qtbot.mouseClick(section.button_copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert "openai: the key for api.openai.com is there" in copied
    assert "0123456789abcdef" not in copied
    qtbot.mouseClick(section.button_probe, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(f.id == "reachable:openai" for f in section.findings), timeout=30_000)
    assert section.summary.text() == "One thing needs mending."


# ---- a server of one's own


def test_a_server_is_added_changed_and_taken_off(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext
) -> None:
    dialog.findChild(QPushButton, "button_add_connection").click()
    ask = dialog.findChild(ServerDialog)
    ask.combo.setCurrentIndex(ask.combo.count() - 1)
    ask.combo.activated.emit(ask.combo.currentIndex())
    ask.edit_name.setText("Grove")
    ask.edit_address.setText("not an address at all")
    ask.button_keep.click()
    assert "cannot be used" in ask.note.text
    ask.edit_address.setText("http://127.0.0.1:9/v1")
    ask.button_keep.click()
    idle(qtbot, context)
    assert dialog.keys.pane.place.connection.id == "grove"
    assert dialog.keys.pane.title.text() == "Access key for Grove"
    row = next(row for key, row in dialog.keys._rows.items() if key.startswith("grove@"))
    assert row.open.text() == "Change…"
    assert row.sentence.text() == "127.0.0.1:9, needs no key"
    row.open.click()
    change = next(d for d in dialog.findChildren(ServerDialog) if d.isVisible())
    assert change.edit_address.text() == "http://127.0.0.1:9/v1"
    change.button_forget.click()
    idle(qtbot, context)
    assert not any(key.startswith("grove@") for key in dialog.keys._rows)


# ---- for everybody


def controls(dialog: QWidget) -> list[QWidget]:
    kinds = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox)
    found = [w for kind in kinds for w in dialog.findChildren(kind)]
    inner = (QComboBox, QAbstractSpinBox)
    found = [w for w in found if not w.isHidden() and not isinstance(w.parent(), inner)]
    return [w for w in found if not w.objectName().startswith("qt_")]


def nameless(dialog: QWidget) -> list[str]:
    bad = []
    for widget in controls(dialog):
        name = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
        if not name or "object" in name.lower() or name == type(widget).__name__:
            bad.append(f"{type(widget).__name__} {widget.objectName()}")
    return bad


def said(dialog: QWidget) -> str:
    labels = [label.text() for label in dialog.findChildren(QLabel)]
    buttons = [button.text() for button in dialog.findChildren(QAbstractButton)]
    rest = [w.toolTip() + " " + w.accessibleName() for w in dialog.findChildren(QWidget)]
    return "\n".join((*labels, *buttons, *rest))


@pytest.fixture(params=["settings", "models"])
def whole(request: pytest.FixtureRequest, qtbot: QtBot, context: AppContext) -> Iterator[QDialog]:
    made = SettingsDialog(context) if request.param == "settings" else ModelPicker(context)
    qtbot.addWidget(made)
    made.show()
    if isinstance(made, SettingsDialog):
        for section in made.sections:
            if section.section_name != "diagnostics":
                made.show_section(section.section_name)
    idle(qtbot, context)
    yield made
    idle(qtbot, context)


def test_everything_has_a_spoken_name(whole: QDialog) -> None:
    assert nameless(whole) == []


def test_no_forbidden_word_is_on_screen(whole: QDialog) -> None:
    text = said(whole)
    assert [word for word in FORBIDDEN if word in text] == []


def test_the_keyboard_reaches_everything_and_nothing_traps(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext
) -> None:
    idle(qtbot, context)
    dialog.search.setFocus(Qt.FocusReason.TabFocusReason)
    seen: list[QWidget] = []
    for _step in range(80):
        seen.append(dialog.focusWidget())
        qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        if dialog.focusWidget() is seen[0]:
            break
    assert dialog.focusWidget() is seen[0]
    wanted = [w for w in controls(dialog) if w.isVisible() and w.isEnabled()]
    wanted = [w for w in wanted if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert [w.objectName() for w in wanted if w not in seen] == []
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


@pytest.mark.parametrize("percent", [100, 200])
def test_nothing_is_clipped(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, theme: Theme, percent: int
) -> None:
    theme.set_text_percent(percent)
    dialog.resize(1280, 720)
    for section in dialog.sections:
        dialog.show_section(section.section_name)
        idle(qtbot, context)
        QApplication.processEvents()
        for widget in (*section.findChildren(QPushButton), *section.findChildren(QLabel)):
            elided = type(widget).__name__ == "ElidedLabel"
            if not widget.isVisible() or elided or (isinstance(widget, QLabel) and widget.wordWrap()):
                continue
            place = f"{section.section_name}: {widget.objectName()} {widget.text()!r}"
            assert widget.width() >= widget.sizeHint().width() - 1, place

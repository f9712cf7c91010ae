"""The keys page as a person uses it, against a service on this computer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.dialogs.settings import SettingsDialog
from engine.config.schema import Connection
from engine.errors import WorldError
from engine.key_backends import KeyStoreError
from engine.keystore import KeyStore
from tests.dialogs.conftest import GOOD_KEY
from tests.keystore.fakes import FakeStore
from tests.providers.scripted import Answer, scripted
from tests.stub import StubServer

BAD_KEY = "tst-bad-0123456789abcdefgh91c7"


@pytest.fixture
def dialog(qtbot: QtBot, context: AppContext) -> Iterator[SettingsDialog]:
    made = SettingsDialog(context)
    qtbot.addWidget(made)
    yield made
    qtbot.waitUntil(lambda: not context.background.busy)


def add_server(dialog: SettingsDialog, url: str, name: str = "grove") -> None:
    dialog.keys.own.keep(Connection(id=name, kind="openai_compatible", base_url=f"{url}/v1"), "Grove")


def choose(qtbot: QtBot, dialog: SettingsDialog, connection: str) -> None:
    dialog.show_connection(connection)
    pane = dialog.keys.pane
    qtbot.waitUntil(lambda: pane.place is not None and pane.place.connection.id == connection)
    qtbot.waitUntil(lambda: not dialog.keys._context.background.busy)


def press(qtbot: QtBot, dialog: SettingsDialog, name: str) -> None:
    button = dialog.findChild(QPushButton, name)
    assert button is not None
    assert button.isEnabled(), name
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def said(qtbot: QtBot, dialog: SettingsDialog, context: AppContext) -> str:
    qtbot.waitUntil(lambda: not dialog.keys.desk.busy and not context.background.busy, timeout=20_000)
    message = dialog.keys.pane.message
    return f"{message.first} {message.text}" if message else ""


def row_of(dialog: SettingsDialog, connection: str) -> object:
    return next(row for key, row in dialog.keys._rows.items() if key.startswith(f"{connection}@"))


def texts(dialog: SettingsDialog) -> str:
    labels = [label.text() for label in dialog.findChildren(QLabel)]
    edits = [edit.displayText() for edit in dialog.findChildren(QLineEdit)]
    spoken = [w.accessibleName() + w.accessibleDescription() for w in dialog.findChildren(QLabel)]
    return "\n".join((*labels, *edits, *spoken, dialog.windowTitle()))


def test_the_stable_names_are_there(dialog: SettingsDialog) -> None:
    assert dialog.objectName() == "dialog_settings"
    assert not dialog.isModal()
    for kind, name in (
        (QPushButton, "button_save_key"),
        (QPushButton, "button_test_key"),
        (QLineEdit, "edit_api_key"),
        (QComboBox, "combo_connection"),
    ):
        assert dialog.findChild(kind, name) is not None, name
    combo = dialog.findChild(QComboBox, "combo_connection")
    assert [combo.itemText(n) for n in range(combo.count())][:3] == ["Anthropic", "OpenAI", "Google Gemini"]


def test_a_good_key_is_kept_tested_and_never_shown(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, stub: StubServer, key_store: FakeStore
) -> None:
    add_server(dialog, stub.url)
    choose(qtbot, dialog, "grove")
    field = dialog.findChild(QLineEdit, "edit_api_key")
    assert field.echoMode() == QLineEdit.EchoMode.Password
    field.setText(f"  {GOOD_KEY}\n")
    press(qtbot, dialog, "button_save_key")
    answer = said(qtbot, dialog, context)
    assert "Grove accepted the access key." in answer
    assert "It offers 2 models. Nothing was charged." in answer
    assert list(key_store.kept.values()) == [GOOD_KEY]
    assert field.text() == ""
    row = row_of(dialog, "grove")
    assert row.chip.text == "Works"
    assert row.sentence.text() == "ends in …4f2a, checked today"
    assert row.open.text() == "Replace…"
    assert GOOD_KEY not in texts(dialog)


def test_a_refused_key_says_so_and_stays_kept(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, stub: StubServer, key_store: FakeStore
) -> None:
    add_server(dialog, stub.url)
    choose(qtbot, dialog, "grove")
    dialog.keys.pane.field.setText(BAD_KEY)
    press(qtbot, dialog, "button_save_key")
    answer = said(qtbot, dialog, context)
    assert answer.startswith("Grove did not accept the access key. It may be mistyped, expired")
    assert row_of(dialog, "grove").chip.text == "Refused"
    assert list(key_store.kept.values()) == [BAD_KEY]
    assert "was: ends in …91c7" in texts(dialog)


def test_testing_a_pasted_key_keeps_nothing(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, stub: StubServer, key_store: FakeStore
) -> None:
    add_server(dialog, stub.url)
    choose(qtbot, dialog, "grove")
    dialog.keys.pane.field.setText(BAD_KEY)
    press(qtbot, dialog, "button_test_key")
    assert "did not accept" in said(qtbot, dialog, context)
    dialog.keys.pane.field.setText(GOOD_KEY)
    press(qtbot, dialog, "button_test_key")
    assert "accepted the access key" in said(qtbot, dialog, context)
    assert key_store.kept == {}
    assert context.keys.entries() == []


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        (
            Answer({"error": {"code": "insufficient_quota", "message": "no"}}, 429),
            "Your Grove account has no credit left.",
        ),
        (
            Answer({"error": {"message": "slow"}}, 429),
            "Grove accepted the key, but asks us to slow down.",
        ),
        (
            Answer("<!doctype html><html></html>", 200, content_type="text/html"),
            "The address is not the one of an AI service.",
        ),
        (
            Answer({"error": {"type": "overloaded_error", "message": "busy"}}, 529),
            "Grove is overloaded right now.",
        ),
    ],
)
def test_every_answer_of_a_service_has_its_words(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, answer: Answer, first: str
) -> None:
    with scripted(answer) as server:
        add_server(dialog, server.url)
        choose(qtbot, dialog, "grove")
        dialog.keys.pane.field.setText(GOOD_KEY)
        press(qtbot, dialog, "button_test_key")
        assert said(qtbot, dialog, context).startswith(first)


def test_nothing_running_is_said_with_what_to_do(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext
) -> None:
    add_server(dialog, "http://127.0.0.1:9")
    choose(qtbot, dialog, "grove")
    press(qtbot, dialog, "button_test_key")
    assert said(qtbot, dialog, context) == (
        "Grove is not running. Nothing answered on this computer. Start the server, then check again."
    )
    assert row_of(dialog, "grove").chip.text == "Not running"


def test_no_network_is_said(qtbot: QtBot, dialog: SettingsDialog, context: AppContext) -> None:
    # Every address but this computer's is refused in tests, as without a network.
    choose(qtbot, dialog, "openai")
    dialog.keys.pane.field.setText("sk-proj-0123456789abcdef")
    press(qtbot, dialog, "button_test_key")
    answer = said(qtbot, dialog, context)
    assert answer.startswith(("There is no internet connection.", "OpenAI is not answering."))


def test_the_key_of_another_vendor_is_sent_nowhere_before_a_second_yes(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, key_store: FakeStore
) -> None:
    choose(qtbot, dialog, "anthropic")
    field = dialog.keys.pane.field
    field.setText("sk-proj-0123456789abcdef")
    assert dialog.keys.pane.note.text == "This looks like a key of OpenAI, not of Anthropic."
    press(qtbot, dialog, "button_save_key")
    message = dialog.keys.pane.message
    assert message is not None
    assert "It has not been sent anywhere." in message.text
    assert key_store.kept == {}
    message.buttons[0].action()
    assert dialog.keys.pane.place.connection.id == "openai"
    assert field.text() == "sk-proj-0123456789abcdef"


@pytest.mark.parametrize(
    ("pasted", "sentence"),
    [
        ('"sk-proj-0123456789abcdef"', "quotation marks"),
        ("OPENAI_API_KEY=sk-proj-0123456789", "line of an environment file"),
        ("sk-proj-01234 56789abcdef", "is a space"),
    ],
)
def test_what_cannot_be_a_key_is_refused_at_the_field(
    qtbot: QtBot, dialog: SettingsDialog, key_store: FakeStore, pasted: str, sentence: str
) -> None:
    choose(qtbot, dialog, "openai")
    dialog.keys.pane.field.setText(pasted)
    press(qtbot, dialog, "button_save_key")
    assert sentence in dialog.keys.pane.note.text
    assert key_store.kept == {}


def test_a_key_is_removed(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, key_store: FakeStore
) -> None:
    context.keys.store(Connection(id="openai", kind="openai"), "sk-proj-0123456789abcd4f2a")
    choose(qtbot, dialog, "openai")
    assert "ends in …4f2a" in row_of(dialog, "openai").sentence.text()
    press(qtbot, dialog, "button_remove_key")
    assert said(qtbot, dialog, context).startswith("The key of OpenAI is removed.")
    assert key_store.kept == {}
    assert row_of(dialog, "openai").open.text() == "Add key…"
    assert not dialog.keys.pane.button_remove.isVisible()


def test_the_field_gives_nothing_out(qtbot: QtBot, dialog: SettingsDialog) -> None:
    choose(qtbot, dialog, "openai")
    board = QGuiApplication.clipboard()
    board.setText("before")
    field = dialog.keys.pane.field
    field.setText(GOOD_KEY)
    qtbot.mouseClick(field.eye, Qt.MouseButton.LeftButton)
    assert field.echoMode() == QLineEdit.EchoMode.Normal
    field.setFocus()
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(field, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier)
    assert board.text() == "before"
    assert field.text() == GOOD_KEY
    choose(qtbot, dialog, "anthropic")
    assert field.text() == ""
    assert field.echoMode() == QLineEdit.EchoMode.Password
    assert not field.isUndoAvailable()


def test_a_locked_store_offers_to_keep_the_key_for_now(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, stub: StubServer, key_store: FakeStore
) -> None:
    key_store.on_write = KeyStoreError("locked", "The key store is locked, and it was not unlocked.")
    add_server(dialog, stub.url)
    choose(qtbot, dialog, "grove")
    dialog.keys.pane.field.setText(GOOD_KEY)
    press(qtbot, dialog, "button_save_key")
    answer = said(qtbot, dialog, context)
    assert answer == "The key store is locked. Your computer asked for its password and got none."
    assert dialog.keys.pane.field.text() == GOOD_KEY
    message = dialog.keys.pane.message
    assert [button.text for button in message.buttons] == ["Try again", "Keep for now"]
    message.buttons[1].action()
    assert "accepted the access key" in said(qtbot, dialog, context)
    assert [entry.where for entry in context.keys.entries()] == ["session"]
    assert "kept until you close the app" in row_of(dialog, "grove").sentence.text()


class _Pages(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toString())


def test_pages_are_opened_only_by_a_click(qtbot: QtBot, dialog: SettingsDialog) -> None:
    pages = _Pages()
    QDesktopServices.setUrlHandler("https", pages, "open")
    try:
        choose(qtbot, dialog, "openai")
        assert "https://platform.openai.com/api-keys" in texts(dialog)
        assert pages.opened == []
        press(qtbot, dialog, "button_open_key_page")
        assert pages.opened == ["https://platform.openai.com/api-keys"]
    finally:
        QDesktopServices.unsetUrlHandler("https")


# ---- what a project asks


def open_project(qtbot: QtBot, context: AppContext, folder: Path, connection: str) -> None:
    folder.mkdir()
    text = f"schema_version: 1\nproject: P\nconnections:\n  - {connection}\n"
    models = "models:\n  - {model: gpt-5, provider: openai}\ntests: {paths: [tests.yaml]}\n"
    (folder / "config.yaml").write_text(text + models, encoding="utf-8")
    (folder / "tests.yaml").write_text("tests:\n  - {input: Hi, reference: Hi}\n", encoding="utf-8")
    with qtbot.waitSignal(context.projects.opened, timeout=20_000):
        context.projects.open(folder)


def test_a_key_is_not_taken_along_to_another_host(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, key_store: FakeStore, tmp_path: Path
) -> None:
    context.keys.store(Connection(id="openai", kind="openai"), "sk-proj-0123456789abcd4f2a")
    link = "{id: openai, kind: openai, base_url: 'https://gw.example.com/v1'}"
    open_project(qtbot, context, tmp_path / "moved", link)
    choose(qtbot, dialog, "openai")
    pane = dialog.keys.pane
    assert pane.place.host == "gw.example.com"
    assert pane.what.text() == "This project asks gw.example.com. A key entered here goes nowhere else."
    assert "is kept for api.openai.com" in pane.message.first
    row = dialog.keys._rows["openai@gw.example.com"]
    assert row.chip.text == "Other address"
    assert dialog.keys._rows["openai@api.openai.com"].chip.text == "Not checked"
    pane.field.setText("sk-proj-gatewaygateway91c7")
    press(qtbot, dialog, "button_save_key")
    said(qtbot, dialog, context)
    assert set(key_store.kept) == {
        ("agent-arena/openai@api.openai.com", "openai"),
        ("agent-arena/openai@gw.example.com", "openai"),
    }


def test_a_bent_line_waits_for_a_yes(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, tmp_path: Path
) -> None:
    context.keys.store(Connection(id="openai", kind="openai"), "sk-proj-0123456789abcd4f2a")
    open_project(qtbot, context, tmp_path / "bent", "{id: openai, kind: openai, verify_tls: false}")
    choose(qtbot, dialog, "openai")
    row = dialog.keys._rows["openai@api.openai.com"]
    qtbot.waitUntil(lambda: row.chip.text == "Needs your yes", timeout=20_000)
    message = dialog.keys.pane.message
    assert "your key is not sent there yet" in message.first
    # A pasted key takes the same line, so it is not tried on it either.
    dialog.keys.pane.field.setText("sk-proj-anotherkey91c7")
    press(qtbot, dialog, "button_test_key")
    assert said(qtbot, dialog, context).startswith("The key was not sent to")
    dialog.keys.pane.field.setText("")
    choose(qtbot, dialog, "anthropic")
    choose(qtbot, dialog, "openai")
    dialog.keys.pane.message.buttons[0].action()
    qtbot.waitUntil(lambda: not context.background.busy, timeout=20_000)
    assert dialog.keys._rows["openai@api.openai.com"].chip.text == "Not checked"


def test_a_key_from_a_variable_is_not_entered_here(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, tmp_path: Path
) -> None:
    kind = "id: mine, kind: openai_compatible, base_url: 'http://127.0.0.1:9/v1'"
    link = f"{{{kind}, api_key_ref: '${{env:MINE}}'}}"
    open_project(qtbot, context, tmp_path / "env", link)
    choose(qtbot, dialog, "mine")
    assert not dialog.keys.pane.field.isEnabled()
    assert "from a variable" in dialog.keys.pane.field.placeholderText()


def test_a_locked_store_can_be_unlocked(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, stub: StubServer, key_store: FakeStore
) -> None:
    add_server(dialog, stub.url)
    context.keys.store(dialog.keys.own.list()[0].connection, GOOD_KEY)
    context.keys.forget_session()
    key_store.on_read = KeyStoreError("locked", "The key store is locked, and it was not unlocked.")
    choose(qtbot, dialog, "grove")
    assert row_of(dialog, "grove").chip.text == "Locked"
    message = dialog.keys.pane.message
    assert message.buttons[0].text == "Unlock…"
    key_store.on_read = None
    message.buttons[0].action()
    assert "accepted the access key" in said(qtbot, dialog, context)
    assert row_of(dialog, "grove").chip.text == "Works"


# ---- no safe place for keys


@pytest.fixture
def no_store(monkeypatch: pytest.MonkeyPatch) -> KeyStore:
    return KeyStore(environ={"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"})


def test_without_a_key_store_only_the_session_is_offered(
    qtbot: QtBot, qapp: QApplication, no_store: KeyStore, stub: StubServer, tmp_path: Path
) -> None:
    from arena_desktop.background import Background
    from arena_desktop.settings import Settings
    from engine.paths import settings_path, store_path

    background = Background()
    context = AppContext(Settings(settings_path()), background, no_store, store_path())
    dialog = SettingsDialog(context)
    qtbot.addWidget(dialog)
    add_server(dialog, stub.url)
    choose(qtbot, dialog, "grove")
    assert "no safe place for keys" in dialog.keys.kept.label.text()
    save = dialog.findChild(QPushButton, "button_save_key")
    assert save.text() == "Keep for now"
    dialog.keys.pane.field.setText(GOOD_KEY)
    press(qtbot, dialog, "button_save_key")
    assert "accepted the access key" in said(qtbot, dialog, context)
    context.settings.sync()
    assert find_in_files(tmp_path, GOOD_KEY) == []
    background.close()
    context.results.close()


def find_in_files(folder: Path, marker: str) -> list[Path]:
    wanted = marker.encode()
    return [path for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]


def test_a_marked_key_is_in_no_file_no_text_and_no_title(
    qtbot: QtBot,
    dialog: SettingsDialog,
    context: AppContext,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    marker = "tst-canary-5b1e7c0a9d84f36271"
    echo = {"error": {"message": f"Incorrect API key provided: {marker}", "type": "odd"}}
    caplog.set_level("DEBUG")
    with scripted(Answer(echo, 418)) as server:
        add_server(dialog, server.url)
        choose(qtbot, dialog, "grove")
        dialog.keys.pane.field.setText(marker)
        press(qtbot, dialog, "button_test_key")
        answer = said(qtbot, dialog, context)
        assert "Incorrect API key provided" in answer
        assert marker not in answer
        press(qtbot, dialog, "button_save_key")
        assert marker not in said(qtbot, dialog, context)
        sent = {request.headers.get("authorization") for request in server.asked}
        assert sent == {f"Bearer {marker}"}
    context.settings.sync()
    assert find_in_files(tmp_path, marker) == []
    assert marker not in texts(dialog)
    assert marker not in caplog.text
    assert marker not in QGuiApplication.clipboard().text()
    assert not any(marker in window.windowTitle() for window in QApplication.topLevelWidgets())


def test_a_fault_of_the_key_list_is_a_sentence(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, key_store: FakeStore
) -> None:
    key_store.on_write = WorldError("odd", "The disk is full.")
    choose(qtbot, dialog, "openai")
    dialog.keys.pane.field.setText("sk-proj-0123456789abcdef")
    press(qtbot, dialog, "button_save_key")
    assert said(qtbot, dialog, context).startswith("The key could not be kept.")

"""Finding models: what is listed, what it costs, what it needs, and how the choice gets into a project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.connections import OwnConnections, known
from arena_desktop.desks.model_finder import FoundModel, Means, find_models
from arena_desktop.desks.project_models import add_models_to_project, entries_for
from arena_desktop.dialogs.model_picker import ModelPicker
from arena_desktop.dialogs.model_picker_open import open_model_picker
from arena_desktop.itemmodels.found_models import price_text, state_text
from engine.config.schema import Connection, ModelEntry
from engine.errors import UserError
from engine.paths import caches_dir
from engine.price_catalogue import answers_in_words, offers
from engine.project import load_project
from providers.base import ModelInfo
from providers.checkup import ModelLists
from tests.dialogs.conftest import GOOD_KEY
from tests.stub import StubServer

CONFIG = """\
# kept as it is
schema_version: 1
project: Small
models:
  - {model: mock:flaky, key: one}   # the first
tests: {paths: [tests.yaml]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "small"
    root.mkdir()
    (root / "config.yaml").write_text(CONFIG, encoding="utf-8")
    cases = "tests:\n  - {id: a, input: Hi there, reference: Hello}\n"
    (root / "tests.yaml").write_text(cases, encoding="utf-8")
    return root


@pytest.fixture
def grove(context: AppContext, stub: StubServer) -> Connection:
    """A service on this computer with a key, on the person's list."""
    connection = Connection(id="grove", kind="openai_compatible", base_url=f"{stub.url}/v1")
    OwnConnections(context.settings).keep(connection, "Grove")
    context.keys.store(connection, GOOD_KEY)
    return connection


@pytest.fixture
def picker(qtbot: QtBot, context: AppContext, grove: Connection) -> Iterator[ModelPicker]:
    made = ModelPicker(context)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: bool(made.finding.models), timeout=20_000)
    yield made
    qtbot.waitUntil(lambda: not context.background.busy)


def row(picker: ModelPicker, model: str, service: str) -> FoundModel:
    rows = picker.rows.rows()
    return next(r for r in rows if r.model == model and r.place.connection.id == service)


def test_the_price_list_is_there_without_a_key(picker: ModelPicker) -> None:
    found = row(picker, "gpt-5-mini", "openai")
    assert state_text(found) == "Needs a key"
    assert found.title == "GPT-5 mini"
    assert found.card.context_tokens == 400_000
    assert found.per_100 is not None
    assert "function_calling" in (found.card.features or ())
    small = row(picker, "smollm2-135m", "builtin")
    assert price_text(small) == "free"
    assert picker.rows.rows()[0].state in ("ready", "not_installed")


def test_what_is_for_something_else_is_left_out() -> None:
    names = {offer.model_id for offer in offers("openai")}
    assert "gpt-5" in names
    assert not [n for n in names if "embedding" in n or "whisper" in n or "tts" in n or "image" in n]
    assert not [offer for offer in offers("google") if offer.model_id.startswith("claude")]
    assert answers_in_words("llama-3.2-90b-vision-preview")
    assert not answers_in_words("gpt-4o-mini-realtime-preview")
    assert offers("nobody") == []


def test_models_of_a_server_here_are_seen_at_once(picker: ModelPicker) -> None:
    # A server on this computer is asked whenever the picker opens.
    assert row(picker, "alpha-small", "grove").seen is True
    assert state_text(row(picker, "alpha-small", "grove")) == "Found on this computer"
    assert row(picker, "alpha-small", "grove").per_100 is None
    assert price_text(row(picker, "alpha-small", "grove")) == "not known"


def test_a_kept_list_tells_what_is_in_the_account(
    qtbot: QtBot, context: AppContext, picker: ModelPicker
) -> None:
    openai = Connection(id="openai", kind="openai")
    context.keys.store(openai, "sk-proj-0123456789abcdef")
    from engine.connection_check import settings_for

    ModelLists(caches_dir() / "models.json").keep(
        settings_for(openai), [ModelInfo("gpt-5"), ModelInfo("gpt-99-new"), ModelInfo("whisper-1")]
    )
    with qtbot.waitSignal(picker.rows.counts_changed, timeout=20_000):
        picker.look()
    qtbot.waitUntil(lambda: not context.background.busy, timeout=20_000)
    assert state_text(row(picker, "gpt-5", "openai")) == "Seen in your account"
    assert state_text(row(picker, "gpt-99-new", "openai")) == "Seen in your account"
    assert state_text(row(picker, "gpt-5-mini", "openai")) == "Not in your account"
    assert not [r for r in picker.rows.rows() if r.model == "whisper-1"]
    assert picker.asked.text().startswith("Your accounts as of today")
    picker._usable.setChecked(True)
    shown = {r.model for r in picker.rows.shown_rows()}
    assert "gpt-5" in shown
    assert "gpt-5-mini" not in shown


def test_search_service_and_features(qtbot: QtBot, picker: ModelPicker) -> None:
    picker.bar.field.setText("haiku anthropic")
    picker.bar.apply()
    assert picker.rows.shown_rows()
    assert {r.place.connection.id for r in picker.rows.shown_rows()} <= {"anthropic", "openrouter"}
    picker.bar.clear_filter()
    picker._service.setCurrentIndex(picker._service.findData("gemini"))
    assert {r.place.connection.id for r in picker.rows.shown_rows()} == {"gemini"}
    picker._feature.setCurrentIndex(picker._feature.findData("vision"))
    assert picker.rows.shown_rows()
    assert all("vision" in (r.card.features or ()) for r in picker.rows.shown_rows())


def test_the_key_button_opens_the_right_card(qtbot: QtBot, context: AppContext, picker: ModelPicker) -> None:
    with qtbot.waitSignal(context.key_wanted) as asked:
        picker.table.link_clicked.emit(row(picker, "gpt-5", "openai"), "add_key")
    assert asked.args == ["openai"]


def test_choosing_by_keyboard_needs_no_typing(qtbot: QtBot, picker: ModelPicker) -> None:
    assert not picker.button_add.isEnabled()
    picker.table.select_key(row(picker, "alpha-small", "grove").key)
    picker.table.setFocus()
    qtbot.keyClick(picker.table, Qt.Key.Key_Space)
    assert picker.button_add.text() == "Add 1 model"
    assert picker.sum.text() == "Chosen: alpha-small"
    with qtbot.waitSignal(picker.chosen) as chosen:
        picker.button_add.click()
    (entries,) = chosen.args
    name = "alpha-small"
    assert entries == (ModelEntry(model=name, key=name, provider="grove", label=name),)
    assert [connection.id for connection in picker.connections()] == ["grove"]


def test_a_name_can_be_typed_all_the_same(qtbot: QtBot, picker: ModelPicker) -> None:
    picker._at.setCurrentIndex(picker._at.findText("Grove"))
    picker.edit_model.setText("  my-own-model ")
    picker.button_typed.click()
    assert picker.sum.text() == "Chosen: my-own-model"
    assert picker.edit_model.text() == ""
    assert row(picker, "my-own-model", "grove") in picker.rows.rows()
    # Typing one that is listed ticks the listed one.
    picker.edit_model.setText("alpha-small")
    picker.button_typed.click()
    assert len([r for r in picker.rows.rows() if r.model == "alpha-small"]) == 1
    assert picker.button_add.text() == "Add 2 models"


def test_the_model_is_sound(picker: ModelPicker) -> None:
    QAbstractItemModelTester(picker.rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
    picker.rows.set_filter("gpt")
    picker.rows.sort(3, Qt.SortOrder.DescendingOrder)
    picker._pick(picker.rows.shown_rows()[0], True)


def test_an_account_that_cannot_be_asked_is_said(
    qtbot: QtBot, context: AppContext, picker: ModelPicker
) -> None:
    far = Connection(id="far", kind="openai_compatible", base_url="http://192.0.2.1/v1")
    OwnConnections(context.settings).keep(far, "Far away")
    picker.look(ask=True)
    qtbot.waitUntil(lambda: bool(picker.finding.faults), timeout=30_000)
    assert "Far away" in picker.finding.faults
    assert "Far away could not be asked." in [message.first for message in picker.strips.messages()]


# ---- into the project


def test_the_choice_is_written_and_all_else_stays(
    qtbot: QtBot, context: AppContext, grove: Connection, folder: Path
) -> None:
    with qtbot.waitSignal(context.projects.opened, timeout=20_000):
        context.projects.open(folder)
    picker = open_model_picker(context)
    qtbot.waitUntil(lambda: bool(picker.finding.models), timeout=20_000)
    for model, service in (("alpha-small", "grove"), ("gpt-5", "openai")):
        picker._pick(row(picker, model, service), True)
    with qtbot.waitSignals([context.message_wanted, context.projects.opened], timeout=20_000):
        picker.button_add.click()
    text = (folder / "config.yaml").read_text(encoding="utf-8")
    assert text.startswith(CONFIG[: CONFIG.index("tests:")].rstrip("\n"))
    project = load_project(folder)
    assert project.ok, project.problems
    assert [(e.key, e.provider) for e in project.config.models] == [
        ("one", "mock"),
        ("alpha-small", "grove"),
        ("gpt-5", "openai"),
    ]
    assert project.connection("grove").base_url == grove.base_url
    assert "api_key" not in text
    qtbot.waitUntil(lambda: not context.background.busy)


def test_what_is_there_already_is_shown_and_not_added_twice(
    context: AppContext, grove: Connection, folder: Path
) -> None:
    project = load_project(folder)
    entries = entries_for(project, [("alpha-small", "grove", "Alpha"), ("one", "grove", "One")])
    assert [entry.key for entry in entries] == ["alpha-small", "one-2"]
    add_models_to_project(project, entries, [grove])
    after = load_project(folder)
    means = Means(context.keys, ModelLists(caches_dir() / "models.json"), after, look_here=False)
    found = find_models(means, [known(after.connection("grove"), "project")])
    states = {model.model: state_text(model) for model in found.models}
    assert states["alpha-small"] == "In this project"
    # The same connection is declared once.
    add_models_to_project(after, entries_for(after, [("beta-large", "grove", "Beta")]), [grove])
    assert (folder / "config.yaml").read_text(encoding="utf-8").count("id: grove") == 1


def test_a_file_changed_elsewhere_is_left_alone(folder: Path) -> None:
    project = load_project(folder)
    config = folder / "config.yaml"
    config.write_text(CONFIG + "# by hand\n", encoding="utf-8")
    with pytest.raises(UserError) as error:
        add_models_to_project(project, entries_for(project, [("gpt-5", "openai", "GPT-5")]))
    assert error.value.code == "changed_on_disk"
    assert config.read_text(encoding="utf-8").endswith("# by hand\n")

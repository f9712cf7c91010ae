"""Models: price, promises, readiness with what to do, filters, and what a run would cost."""

from __future__ import annotations

from decimal import Decimal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from arena_desktop.cells import Tone
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.itemmodels.models import model_columns, model_rows, price_text, ready_text, sampled
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.views.models import ModelsView
from arena_desktop.wording.setup import price_words, ready_words, run_sentence, service_name
from engine.config.schema import Connection, ModelEntry
from engine.domain import SkippedModel
from engine.pricing import PriceBook
from engine.project import load_project
from tests.views.setup_world import CONFIG, World, forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")
TESTS = "tests:\n  - {id: a, input: Where is my parcel?, reference: delivery}\n"
PRIVATE = CONFIG.replace("constraints:", "constraints:\n  privacy_required: [training_opt_out]")


@pytest.fixture
def page(world: World, qtbot: QtBot) -> ModelsView:
    """The page before any project is open."""
    view = ModelsView(world)
    qtbot.addWidget(view)
    view.resize(1300, 740)
    with qtbot.waitExposed(view):
        view.show()
    return view


def opened(page: ModelsView, world: World, qtbot: QtBot, config: str = CONFIG) -> ModelsView:
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.open(world.project(config, TESTS))
    qtbot.waitUntil(lambda: world.background.busy == 0)
    return page


def column(page: ModelsView, name: str) -> list[str]:
    section = page.rows.section_of(name)
    return [page.rows.index(row, section).data() for row in range(page.rows.rowCount())]


def test_without_a_project_it_says_so(page: ModelsView) -> None:
    assert "No project is open." in texts(page)
    assert not page.button_look.isVisible()


def test_the_table_tells_service_price_and_readiness(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    assert column(page, "model") == ["Aster Large", "Birch Mini", "GPT-5.5", "Resting"]
    assert column(page, "service") == [
        "Practice, pretend",
        "Practice, pretend",
        "OpenAI",
        "Practice, pretend",
    ]
    prices = column(page, "price")
    assert prices[0] == "free"
    assert prices[2].startswith("about $")
    assert column(page, "ready") == ["Ready", "Ready", "Needs a key", "Not used"]
    assert [row.index for row in page.rows.rows()] == [0, 1, 2, 3], "the project's order, never a rank"


def test_while_it_looks_it_says_so(page: ModelsView, world: World, qtbot: QtBot) -> None:
    seen: list[tuple[str, bool]] = []
    world.projects.opened.connect(
        lambda _opened: seen.append((page._sum.text(), page.button_look.isEnabled()))
    )
    with qtbot.waitSignal(world.projects.opened):
        world.projects.open(world.project(CONFIG, TESTS))
    assert seen == [("Looking at the models…", False)]
    qtbot.waitUntil(lambda: page.button_look.isEnabled(), timeout=10_000)


def test_the_sum_says_what_a_run_would_ask_and_cost(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    assert page._sum.text() == "3 chosen, 2 ready. A run would be free and ask 2 questions."
    qtbot.mouseClick(page.button_run, Qt.MouseButton.LeftButton)
    assert world.pages == ["run"]


def test_a_model_without_a_key_says_what_to_do(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.table.select_key("gpt")
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.details.title.text() == "Settings for GPT-5.5"
    assert page.details.reason.text().startswith("Needs a key.")
    assert page.focusWidget() is page.details.reason


def test_a_model_that_breaks_a_must_have_is_named(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, PRIVATE)
    assert column(page, "must")[:3] == ["Stays here", "Stays here", "Would be ruled out"]
    assert column(page, "ready")[2] == "Will not be asked"
    (message,) = page.strips.messages()
    assert message.first == "1 model would be ruled out and will not be asked."
    message.buttons[0].action()
    assert page.details.title.text() == "Settings for GPT-5.5"
    assert "Not stated" in texts(page)


def test_filters_by_service_and_must_haves(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, PRIVATE)
    page._service.setCurrentIndex(page._service.findText("OpenAI"))
    assert column(page, "model") == ["GPT-5.5"]
    page._only.setChecked(True)
    assert page.rows.shown_count() == 0
    page._service.setCurrentIndex(0)
    assert column(page, "model") == ["Aster Large", "Birch Mini", "Resting"]


def test_settings_are_in_plain_words_and_more_unfolds(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.table.select_key("aster")
    assert {"Longest answer", "About 300 words", "Variety"} <= set(texts(page))
    assert "What it is" not in texts(page)
    qtbot.mouseClick(page.details.more, Qt.MouseButton.LeftButton)
    assert "mock:flaky at Practice, pretend" in texts(page)
    assert "Free. Free, because it runs on this computer." in texts(page)
    assert page.details.more.text() == "Less"


def test_looking_again_sees_a_key_that_is_there_now(
    page: ModelsView, world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(page, world, qtbot)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "a" * 40)
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        qtbot.mouseClick(page.button_look, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: world.background.busy == 0)
    assert column(page, "ready")[2] == "Ready"
    assert "A run would cost about" in page._sum.text() or "less than 1 cent" in page._sum.text()


def test_faults_of_the_project_come_first(page: ModelsView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, CONFIG + "weigths: 3\n")
    assert "The project's faults come first: see Project." in page._sum.text()
    assert page.rows.total_count() == 4, "it can still be looked at"


def test_no_models_is_an_empty_state(page: ModelsView, world: World, qtbot: QtBot) -> None:
    start, end = CONFIG.index("models:"), CONFIG.index("defaults:")
    opened(page, world, qtbot, CONFIG[:start] + CONFIG[end:])
    assert "No models yet." in texts(page)
    page.card.empty_pressed.emit()
    assert world.pages == ["project"]


def test_every_control_has_a_name_and_no_word_is_forbidden(
    page: ModelsView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot, PRIVATE)
    page.table.select_key("gpt")
    page.details.more.click()
    assert nameless(page) == []
    assert forbidden(texts(page)) == []


# ---- records


def rows_of(world: World, config: str = CONFIG) -> list:
    project = load_project(world.project(config, TESTS))
    opened_project = OpenProject(project, PriceBook.for_config(project.config, project.root))
    return model_rows(opened_project, None)


def test_an_unknown_price_is_not_known_and_sorts_last(world: World, qtbot: QtBot) -> None:
    config = CONFIG.replace("models:", "models:\n  - {key: odd, model: odd-model, provider: openai}")
    rows = rows_of(world, config)
    assert rows[0].per_100 is None
    assert price_text(rows[0]) == "not known"
    model = ColumnTable(model_columns(), rows, key=lambda row: row.key)
    model.sort(model.section_of("price"), Qt.SortOrder.DescendingOrder)
    assert [row.key for row in model.shown_rows()][-1] == "odd"
    assert price_words(None).startswith("The price is not known.")


def test_the_price_grows_with_the_length_of_the_answers(world: World) -> None:
    short = next(row for row in rows_of(world) if row.key == "gpt").per_100
    long = CONFIG.replace("{key: gpt, model: gpt-5.5", "{key: gpt, model: gpt-5.5, max_tokens: 4000")
    more = next(row for row in rows_of(world, long) if row.key == "gpt").per_100
    assert Decimal(0) < short <= more


def test_a_faulty_prompt_leaves_the_price_open(world: World) -> None:
    config = CONFIG.replace("  temperature: 0", "  temperature: 0\n  prompt: 'Say {{missing}}'")
    row = next(row for row in rows_of(world, config) if row.key == "gpt")
    assert row.per_100 is None


def test_before_anybody_looked_it_is_looking(world: World) -> None:
    assert [ready_text(row) for row in rows_of(world)] == ["Looking…", "Looking…", "Looking…", "Not used"]


def test_the_model_keeps_qts_rules(world: World, qtbot: QtBot) -> None:
    model = ColumnTable(model_columns(), key=lambda row: row.key)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(rows_of(world))
    model.set_predicate(lambda row: row.state != "off")
    assert model.rowCount() == 3
    assert tester.model() is model


@pytest.mark.parametrize(
    "code",
    [
        *("no_key", "not_reachable", "not_served", "extra_missing", "no_trust"),
        *("breaks_gate", "unknown_kind", "not_built", "build_failed"),
    ],
)
def test_every_reason_to_leave_a_model_out_has_words(code: str) -> None:
    words = ready_words(SkippedModel("a", code, "Because."))
    assert words != "Not ready"
    assert Tone.WARN not in words


def test_services_have_everyday_names() -> None:
    entry = ModelEntry("m", provider="x")
    assert service_name(entry, Connection("x", "ollama")) == "This computer"
    assert service_name(entry, Connection("team", "openai_compatible")) == "team"
    assert service_name(entry, Connection("x", "anthropic")) == "Anthropic"
    assert service_name(ModelEntry(run="bot.py:answer"), None) == "Code of this project"


def test_what_a_run_costs_is_never_guessed() -> None:
    assert run_sentence(None, 12) == "A run would ask 12 questions. Its cost is not known."
    assert run_sentence(Decimal("1.52"), 600) == "A run would cost about $1.52 and ask 600 questions."
    assert run_sentence(Decimal(0), 0) == "Nothing can be asked yet."


def test_many_tests_are_sampled_evenly() -> None:
    assert len(sampled(list(range(1000)))) == 200
    assert sampled([1, 2]) == [1, 2]

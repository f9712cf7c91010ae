"""The ranking that a judge's comparisons make, on the page of results."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.result_desk import Result
from arena_desktop.theme.switch import Theme
from arena_desktop.views.insights import InsightsSection
from arena_desktop.wording.pairs import pairs_sentences, pairs_title
from engine.domain import Cell
from engine.stats.board_json import board_from_json
from engine.stats.judged_pairs import Pair, pair_report
from engine.storage.store import Store
from engine.storage.votes import StoredVote
from tests.views import insight_world, pair_world
from tests.views.duel_world import MODELS
from tests.views.run_world import close_context, make_context
from tests.views.setup_world import forbidden, nameless, shown, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")
NAMES = {"a": "Aster", "b": "Birch"}


@pytest.fixture
def context(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    made = make_context(tmp_path / "home")
    yield made
    close_context(made)


def opened(context: AppContext, qtbot: QtBot) -> InsightsSection:
    section = InsightsSection(context)
    qtbot.addWidget(section)
    section.resize(1000, 900)
    section.show()
    run = context.results.store().run("last")
    section.show_result(Result(run, board_from_json(run.board) if run.board else None))
    qtbot.waitUntil(lambda: section.insights is not None)
    QApplication.processEvents()
    return section


def vote(context: AppContext, number: int, choice: str) -> None:
    ids = [test.id for test in context.results.store().run("last").cases]
    cells = [Cell(key, ids[number], 1) for key in ("aster", "birch")]
    with Store.open(context.results.path) as store:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        store.add_vote("run_1", StoredVote(f"v{number}", *cells, choice, at))


def test_it_shows_the_ranking_of_the_pairs(context: AppContext, qtbot: QtBot) -> None:
    pair_world.write_run(context.results.path, flips=3)
    vote(context, 0, "left")
    vote(context, 1, "right")
    section = opened(context, qtbot)
    card = section.pairs
    assert card.isVisible()
    assert card.head.title.text() == "The second AI prefers the answers of Aster Large"
    said = card.sentences.text().split("\n")
    assert said[0] == "60 comparisons of two models' answers to the same question."
    assert said[1].startswith("An answer of Aster Large is preferred in about 7")
    assert said[2].startswith("In 3 of these 60 comparisons (5 of 100) the second AI chose by the order")
    assert said[3] == "You voted blind on 2 of these pairs, and chose as it did in 1."
    assert [row.name for row in card.rows.rows()] == [model.label for model in MODELS]
    assert not forbidden(texts(section))
    assert not nameless(card)
    assert shown(card.table)


def test_a_run_without_comparisons_has_no_such_card(context: AppContext, qtbot: QtBot) -> None:
    insight_world.write_run(context.results.path)
    assert not opened(context, qtbot).pairs.isVisible()


def test_better_than_others_is_not_held_against_good(context: AppContext) -> None:
    pair_world.write_run(context.results.path)
    with Store.open(context.results.path) as store:
        assert not store.rated_by("run_1", ("pairwise_judge",)).counts


def report(wins: int, losses: int, ties: int = 0, **more: int):
    results = ["win"] * wins + ["loss"] * losses + ["tie"] * ties
    found = pair_report([Pair(Cell("a", f"c{n}", 1), "b", r, **more) for n, r in enumerate(results)])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("made", "title", "sentence"),
    [
        (report(1, 0), "Too few comparisons to tell whose answers the second AI prefers", "At least 5 more"),
        (report(20, 2), "The second AI prefers the answers of Aster", "An answer of Aster is preferred"),
        (report(5, 5), "The second AI prefers no model clearly", "Aster and Birch are level."),
        (report(14, 10), "The second AI prefers no model clearly", "Aster is ahead of Birch"),
        (report(12, 0), "The second AI prefers the answers of Aster", "the numbers are cautious"),
        (report(4, 4, votes=0), "The second AI prefers no model clearly", "8 needed no second AI"),
        (report(4, 4, votes=1), "The second AI prefers no model clearly", "did not mind which answer came"),
    ],
)
def test_every_result_has_its_words(made, title: str, sentence: str) -> None:
    assert pairs_title(made, NAMES) == title
    assert sentence in " ".join(pairs_sentences(made, NAMES))

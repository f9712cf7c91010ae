"""Charts: scales, labels, what can be pointed at, keyboard, table, pictures."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.charts.canvas import Canvas, money_scale, score_scale, spread
from arena_desktop.charts.data import (
    Bar,
    Bars,
    Change,
    Chart,
    CostPoint,
    CostScore,
    Line,
    Lines,
    Measure,
    Strip,
    StripRow,
    Threshold,
    table_of,
)
from arena_desktop.charts.render import draw, picture, svg
from arena_desktop.itemmodels.text_table import text_table
from arena_desktop.theme import dark, light
from arena_desktop.theme.switch import Theme
from arena_desktop.widgets.chart_view import ChartCard, ChartView
from arena_desktop.widgets.table import ArenaTable

BARS = Bars(
    (
        Bar("Alpha", 0, Measure(90, 80, 96, "90")),
        Bar("Beta", 1, Measure(54, 40, 67, "54"), True),
        Bar("New", 2, None),
    )
)
LINES = Lines(
    ("1 Jun", "2 Jul", "today"),
    (
        Line("Alpha", 0, (Measure(70, 60, 80, "70"), None, Measure(90, 80, 96, "90"))),
        Line("Beta", 1, (Measure(80, 75, 85, "80"), Measure(81, 76, 86, "81"), Measure(89, 82, 93, "89"))),
    ),
    ("Run 1", "Run 2", "Run 3"),
    (Change(2, "instructions changed"),),
)
COST = CostScore(
    (
        CostPoint("Alpha", 0, 0.42, "$0.42", Measure(90, 80, 96, "90"), strong=True),
        CostPoint("Local", 1, 0.0, "free", Measure(54, 40, 67, "54"), muted=True),
        CostPoint("Unknown", 2, None, "not known", Measure(70, text="70")),
    ),
    "Cost per 100 answers",
    "free",
    threshold=Threshold(60, "must-have: at least 60"),
)
STRIP = Strip(
    (StripRow("Alpha", 0, (0.0, 100.0, 100.0, 50.0), Measure(62.5, text="62")), StripRow("Beta", 1, ()))
)
CHARTS = pytest.mark.parametrize("chart", [BARS, LINES, COST, STRIP], ids=["bars", "lines", "cost", "strip"])


def on_image(chart: Chart, tokens=None, size: tuple[int, int] = (640, 300)):
    tokens = tokens or light()
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.fill(tokens.color("surface"))
    painter = QPainter(image)
    try:
        drawing = draw(painter, QRectF(0, 0, *size), chart, tokens)
    finally:
        # A painter that outlives its picture takes the process down.
        painter.end()
    return image, drawing


@CHARTS
@pytest.mark.parametrize("tokens", [light(), dark()], ids=["light", "dark"])
def test_charts_draw_within_their_place_in_both_themes(theme: Theme, chart: Chart, tokens) -> None:
    image, drawing = on_image(chart, tokens)
    colours = {image.pixelColor(x, y).name() for x in range(0, 640, 2) for y in range(0, 300, 2)}
    assert tokens["surface"] in colours
    assert len(colours) > 8
    frame = QRectF(0, 0, 640, 300)
    assert all(frame.contains(hit.anchor) for hit in drawing.hits)


@CHARTS
def test_charts_survive_having_no_data_and_no_room(theme: Theme, chart: Chart) -> None:
    on_image(chart, size=(60, 40))
    empty = {Bars: Bars(()), Lines: Lines((), ()), CostScore: CostScore((), "Cost", "free"), Strip: Strip(())}
    _image, drawing = on_image(empty[type(chart)])
    assert drawing.hits == []


def test_bars_start_at_zero_and_wear_their_model_colour(theme: Theme) -> None:
    image, drawing = on_image(BARS)
    column = drawing.hits[0].area.center().x()
    foot = int(drawing.plot.bottom()) - 4
    assert image.pixelColor(int(column) - 8, foot) == light().model_color(0)
    assert image.pixelColor(int(drawing.hits[1].area.center().x()) - 8, foot) == light().color("text3")
    height = drawing.plot.bottom() - drawing.hits[0].anchor.y()
    assert height == pytest.approx(drawing.plot.height() * 0.9)


def test_unknown_values_are_not_drawn_but_told(theme: Theme) -> None:
    _image, drawing = on_image(BARS)
    assert drawing.hits[2].spoken == "New, Score –"
    _image, drawing = on_image(COST)
    assert [hit.title for hit in drawing.hits] == ["Alpha", "Local"]
    assert ["Unknown", "not known", "70"] in table_of(COST)[1]


def test_lines_point_at_runs_best_first(theme: Theme) -> None:
    _image, drawing = on_image(LINES)
    assert [hit.title for hit in drawing.hits] == ["Run 1", "Run 2", "Run 3"]
    assert [row.name for row in drawing.hits[0].rows] == ["Beta", "Alpha"]
    assert [row.name for row in drawing.hits[1].rows] == ["Beta"]
    assert drawing.hits[2].spoken == "Run 3, Alpha 90, Beta 89"


def test_the_nearest_of_several_is_pointed_at(theme: Theme) -> None:
    _image, drawing = on_image(COST)
    for number, hit in enumerate(drawing.hits):
        assert drawing.hit_at(hit.anchor) == number
    assert drawing.hit_at(QPointF(-50, -50)) == -1


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_score_scales_hold_all_values_with_few_lines(values: list[float]) -> None:
    scale = score_scale(values, 0, 200)
    assert 2 <= len(scale.ticks) <= 6
    assert scale.ticks[-1] == 100
    assert scale.low <= min(values)
    assert all(0 <= scale.at(value) <= 200 for value in values)


@given(st.floats(0, 1e6))
def test_money_scales_reach_the_largest_amount(most: float) -> None:
    scale = money_scale(most, 0, 400)
    assert scale.high >= most
    assert scale.ticks[0] == 0
    assert most <= 0 or scale.high <= most * 5 + 1e-9 or most < 1e-9


@given(st.lists(st.floats(0, 300), min_size=1, max_size=10))
def test_labels_keep_apart_and_in_order(wanted: list[float]) -> None:
    placed = spread(wanted, 18, 0, 300)
    ordered = sorted(zip(wanted, placed, strict=True))
    heights = sorted(placed)
    assert all(b - a >= 18 - 1e-6 for a, b in pairwise(heights))
    assert all(p2 >= p1 - 1e-6 or w1 == w2 for (w1, p1), (w2, p2) in pairwise(ordered))


@CHARTS
def test_the_table_holds_the_same_data(chart: Chart) -> None:
    heads, rows = table_of(chart)
    assert rows
    assert all(len(row) == len(heads) for row in rows)


def test_pictures_and_svg_are_light_whatever_the_theme(theme: Theme) -> None:
    from arena_desktop.theme.switch import Appearance

    theme.set_appearance(Appearance.DARK)
    image = picture(LINES, QSize(400, 240))
    assert (image.width(), image.height(), image.devicePixelRatio()) == (800, 480, 2.0)
    assert image.pixelColor(1, 1) == QColor(light()["surface"])
    text = svg(LINES, QSize(400, 240), "Score over time").decode()
    assert "<title>Score over time</title>" in text
    assert "instructions changed" in text
    assert "http://www.w3.org/2000/svg" in text


@pytest.fixture
def view(qtbot, theme: Theme) -> ChartView:
    made = ChartView("chart_history")
    qtbot.addWidget(made)
    made.set_chart(LINES, "Score over time", "Alpha rose from 70 to 90 over 3 runs.")
    made.resize(640, 300)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.grab()
    return made


def test_a_chart_has_a_spoken_name_and_sentence(view: ChartView) -> None:
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.text(QAccessible.Text.Name) == "Score over time"
    assert interface.text(QAccessible.Text.Description) == "Alpha rose from 70 to 90 over 3 runs."


def test_keys_walk_through_the_values(view: ChartView, qtbot) -> None:
    view.setFocus()
    with qtbot.waitSignal(view.value_shown) as shown:
        QTest.keyClick(view, Qt.Key.Key_Right)
    assert shown.args == ["Run 1, Beta 80, Alpha 70"]
    QTest.keyClick(view, Qt.Key.Key_End)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.pointed() == "Run 3, Alpha 90, Beta 89"
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.pointed() == "Run 2, Beta 81"
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.pointed() == ""


def test_the_mouse_shows_a_card_with_values(view: ChartView) -> None:
    plain = view.grab().toImage()
    place = view._drawing.hits[1].area.center().toPoint()
    QTest.mouseMove(view, place)
    QApplication.processEvents()
    assert view.pointed() == "Run 2, Beta 81"
    assert view.grab().toImage() != plain


def test_the_card_turns_to_a_table_and_back_and_copies(qtbot, theme: Theme, clipboard) -> None:
    card = ChartCard("Score over time", ChartView("chart_history"))
    qtbot.addWidget(card)
    card.set_chart(LINES, "Score over time", "Alpha rose.")
    card.resize(640, 400)
    card.show()
    assert not card.as_table.isVisible()
    table = ArenaTable("table_chart", "Score over time")
    model = text_table(*table_of(LINES))
    model.setParent(table)
    table.setModel(model)
    card.set_table(lambda: table)
    QTest.mouseClick(card.as_table, Qt.MouseButton.LeftButton)
    assert table.isVisible()
    assert not card.view.isVisible()
    QTest.mouseClick(card.as_table, Qt.MouseButton.LeftButton)
    assert card.view.isVisible()
    with qtbot.waitSignal(card.copied):
        QTest.mouseClick(card.copy, Qt.MouseButton.LeftButton)
    assert clipboard.mimeData().hasImage()


def test_charts_need_no_widgets() -> None:
    code = (
        "import sys; sys.modules['PySide6.QtWidgets'] = None;"
        "import arena_desktop.charts.render, arena_desktop.theme; print('fine')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "fine", done.stderr


LONG = "A model with quite a long name, number"


@pytest.mark.parametrize("names", [[f"{LONG} {n}" for n in range(3)], [f"Model {n}" for n in range(12)]])
def test_names_are_never_cut_where_bars_can_lie(qapp: QApplication, names: list[str]) -> None:
    chart = Bars(
        tuple(Bar(name, n, Measure(90 - n, 80 - n, 95, f"{90 - n}")) for n, name in enumerate(names))
    )
    said, kept = [], Canvas.text

    def noted(self: Canvas, point: QPointF, text: str, **more: str) -> QRectF:
        said.append(text)
        return kept(self, point, text, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Canvas, "text", noted)
        _image, drawing = on_image(chart, size=(480, 340))
    written = " ".join(said)
    assert all(name in written for name in names)
    assert "…" not in written
    assert [hit.title for hit in drawing.hits] == names
    tops = [hit.area.y() for hit in drawing.hits]
    # Three names may have room below standing bars, twelve have not.
    assert tops == sorted(set(tops)) or (len(names) == 3 and len(set(tops)) == 1)
    assert all(drawing.hit_at(hit.area.center()) == n for n, hit in enumerate(drawing.hits))


def test_few_short_names_stand(qapp: QApplication) -> None:
    _image, drawing = on_image(BARS)
    assert len({hit.area.y() for hit in drawing.hits}) == 1


def test_a_threshold_stands_in_lying_bars_too(qapp: QApplication) -> None:
    bars = tuple(Bar(f"{LONG} {n}", n, Measure(50, text="50") if n else None, n == 1) for n in range(3))
    plain, limited = (
        on_image(Bars(bars, threshold=limit), size=(400, 300))[0]
        for limit in (None, Threshold(60, "at least 60"))
    )
    assert plain != limited


def test_many_bars_ask_for_room(theme: Theme, qtbot: QtBot) -> None:
    view = ChartView("chart_many")
    qtbot.addWidget(view)
    few = view.sizeHint().height()
    view.set_chart(Bars(tuple(Bar(f"M{n}", n, None) for n in range(30))), "Bars", "Thirty bars.")
    assert view.sizeHint().height() >= 30 * 20 > few

"""ArenaTable as a person uses it: keys, mouse, copy, columns, remembered looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, QRectF, Qt
from PySide6.QtGui import QAccessible, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from arena_desktop.cells import Align, ChangeCell, Column
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.settings import Settings
from arena_desktop.theme import F
from arena_desktop.theme.switch import Theme
from arena_desktop.theme.tokens import current
from arena_desktop.widgets import cell_pen
from arena_desktop.widgets.cell_paint import paint_cell
from arena_desktop.widgets.chip import chip_size
from arena_desktop.widgets.clipboard import from_tsv, to_html, to_tsv
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, TableCard
from arena_desktop.widgets.table_delegate import PADDING
from tests.widgets.people import ROWS, make_table

DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


@pytest.fixture
def shown(qtbot, theme: Theme) -> Callable[..., ArenaTable]:
    """Makes a table of 900 x 300 with the made-up rows."""
    # qtbot keeps weak references only; a table may move into a card of its own.
    holders: list[QWidget] = []

    def make(rows=ROWS, width: int = 900, **more) -> ArenaTable:
        view = ArenaTable("table_test", "Models", **more)
        model = make_table(rows)
        model.setParent(view)
        view.setModel(model)
        holder = QWidget()
        holders.append(holder)
        qtbot.addWidget(holder)
        view.setParent(holder)
        view.resize(width, 300)
        holder.resize(width, 300)
        with qtbot.waitActive(holder):
            holder.show()
            holder.activateWindow()
        return view

    return make


def click_head(view: ArenaTable, section: int) -> None:
    header = view.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(section) + 20, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)


def cell_centre(view: ArenaTable, row: int, section: int) -> QPoint:
    return view.visualRect(view.model().index(row, section)).center()


def test_a_click_on_a_head_sorts_turns_and_gives_the_old_order_back(shown) -> None:
    view = shown()
    click_head(view, 2)
    assert view.rows.sorted_by() == ("score", DOWN)
    click_head(view, 2)
    assert view.rows.sorted_by() == ("score", UP)
    click_head(view, 2)
    assert view.rows.sorted_by() is None
    click_head(view, 1)
    assert view.rows.sorted_by() == ("model", UP)


def test_the_selection_stays_with_its_row(shown) -> None:
    view = shown()
    view.select_key("a")
    view.sort_by("score", DOWN)
    assert view.current_record().key == "a"
    assert [row.key for row in view.chosen_records()] == ["a"]
    view.rows.set_filter("alpha")
    assert view.current_record().key == "a"


def test_copy_gives_tabs_and_a_table_as_shown(shown, clipboard) -> None:
    view = shown()
    view.sort_by("score", DOWN)
    view.selectAll()
    QTest.keySequence(view, "Ctrl+C")
    lines = clipboard.mimeData().text().split("\r\n")
    assert lines[0].split("\t") == ["Gamma", "91", "$0.10", ""]
    assert lines[-1].split("\t") == ["Beta", "–", "–", "No key"]
    assert "<td>Gamma</td>" in clipboard.mimeData().html()
    assert "Overall score" not in clipboard.mimeData().text()


def test_copy_with_heads_and_only_the_chosen_block(shown, clipboard) -> None:
    view = shown(cells=True)
    model = view.model()
    block = QItemSelection(model.index(0, 1), model.index(2, 3))
    view.selectionModel().select(block, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    QTest.keySequence(view, "Ctrl+Shift+C")
    copied = from_tsv(clipboard.mimeData().text())
    assert copied[0] == ["Model", "Overall score", "Cost per 100"]
    assert [row[0] for row in copied[1:]] == ["Alpha", "Beta", "Gamma"]
    assert "<th>Overall score</th>" in clipboard.mimeData().html()


def test_copied_text_comes_back_as_the_same_cells() -> None:
    rows = [["a\nb", 'say "hi"', "tab\there"], ["", "=1+1", "plain"]]
    assert from_tsv(to_tsv(rows)) == rows
    assert to_tsv([]) == ""
    many = [[f"row {number}", "a\nb"] for number in range(2_500)]
    assert from_tsv(to_tsv(many)) == many
    assert "<script>" not in to_html([["<script>"]])


def test_tab_leaves_the_table_and_arrows_move_in_it(shown, qtbot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    layout = QVBoxLayout(box)
    before, after = QLineEdit(), QLineEdit()
    view = shown()
    for widget in (before, view, after):
        layout.addWidget(widget)
    with qtbot.waitActive(box):
        box.show()
        box.activateWindow()
    before.setFocus()
    QTest.keyClick(before, Qt.Key.Key_Tab)
    assert view.hasFocus()
    assert view.currentIndex().isValid()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().row() == 1
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert after.hasFocus()


def test_there_is_a_current_cell_without_choosing_a_row(shown) -> None:
    view = shown()
    assert view.currentIndex().isValid()
    assert view.currentIndex().column() == 1
    assert view.chosen_records() == []


def test_enter_opens_a_row_and_a_link_where_there_is_one(shown, qtbot) -> None:
    view = shown()
    view.select_key("a")
    with qtbot.waitSignal(view.activated_row) as opened:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert opened.args[0].key == "a"
    view.setCurrentIndex(view.model().index(1, 4))
    with qtbot.waitSignal(view.link_clicked) as pressed:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert (pressed.args[0].key, pressed.args[1]) == ("b", "add_key")


def test_a_link_is_pressed_by_the_mouse_only_where_it_stands(shown, qtbot) -> None:
    view = shown()
    rect = view.visualRect(view.model().index(1, 4))
    spots = [QPoint(x, rect.center().y()) for x in range(rect.left() + 2, rect.right(), 4)]
    hits = [spot for spot in spots if view._pointer.target_at(spot) is not None]
    assert hits
    assert len(hits) < len(spots)
    with qtbot.waitSignal(view.link_clicked) as pressed:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=hits[0])
    assert pressed.args[1] == "add_key"
    with qtbot.assertNotEmitted(view.link_clicked):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spots[0])


def test_links_stand_in_the_row_menu_too(shown, qtbot) -> None:
    view = shown()
    view.set_row_menu(lambda menu, record: menu.addAction(f"Open {record.name}"))
    view.select_key("b")
    texts = [action.text() for action in view.row_menu().actions()]
    assert texts[:2] == ["Add key…", "Open Beta"]
    assert "Copy" in texts
    assert "Copy with column heads" in texts


def test_space_and_mouse_tick_a_row_and_the_head_ticks_all(shown) -> None:
    view = shown()
    view.select_key("c")
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert view.model().record(2).chosen
    spot = view.visualRect(view.model().index(0, 0))
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(spot.left() + 24, spot.center().y())
    )
    assert view.model().record(0).chosen
    head = view.horizontalHeader()
    assert head.check_state(0) == Qt.CheckState.PartiallyChecked
    QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(24, head.height() // 2))
    assert all(row.chosen for row in view.model().rows())
    assert head.check_state(0) == Qt.CheckState.Checked


def test_hovering_lights_the_whole_row(shown, qtbot) -> None:
    view = shown()
    plain = view.viewport().grab().toImage()
    QTest.mouseMove(view.viewport(), cell_centre(view, 2, 1))
    qtbot.waitUntil(lambda: view._delegate.hovered_row == 2)
    lit = view.viewport().grab().toImage()
    row = view.visualRect(view.model().index(2, 1))
    for x in (2, view.viewport().width() - 3):
        assert lit.pixelColor(x, row.top() + 4) != plain.pixelColor(x, row.top() + 4)
    assert lit.pixelColor(2, row.bottom() + 8) == plain.pixelColor(2, row.bottom() + 8)


def test_never_a_sideways_scroll_bar(shown) -> None:
    view = shown()
    for width in (900, 620, 420, 300):
        view.resize(width, 300)
        head = view.horizontalHeader()
        assert head.length() <= view.viewport().width()
    assert view.horizontalHeader().isSectionHidden(3)
    view.resize(900, 300)
    assert not view.horizontalHeader().isSectionHidden(3)
    assert view.horizontalHeader().length() == view.viewport().width()


def test_looks_are_kept_and_come_back(shown, settings: Settings, qtbot) -> None:
    view = shown()
    field = QLineEdit(view)
    view.set_filter_field(field)
    view.remember(settings)
    view.hide_column("cost", True)
    view.sort_by("score", DOWN)
    view.horizontalHeader().resizeSection(2, 222)
    view.horizontalHeader().moveSection(4, 1)
    view.rows.set_filter("a")
    view.looks_changed.emit()
    qtbot.waitUntil(lambda: settings.view_state("table_test").get("filter") == "a")
    other = shown()
    other.remember(Settings(settings.path))
    assert other.horizontalHeader().isSectionHidden(3)
    assert other.rows.sorted_by() == ("score", DOWN)
    assert other.columnWidth(2) == 222
    assert other.horizontalHeader().logicalIndex(1) == 4
    assert other.rows.filter_text() == "a"
    other.reset_looks()
    assert not other.horizontalHeader().isSectionHidden(3)
    assert other.rows.sorted_by() is None


def test_a_broken_state_is_left_alone(shown) -> None:
    view = shown()
    view.restore(
        {"widths": "x", "hidden": 3, "order": ["nobody", "note"], "sort": ["nobody", 1], "filter": 7}
    )
    assert view.rows.sorted_by() is None
    assert view.horizontalHeader().count() == 5


def test_the_columns_menu_hides_and_shows(shown) -> None:
    view = shown()
    menu = view.columns_menu()
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Overall score", "Cost per 100", "Note", "Show as at first"]
    next(action for action in menu.actions() if action.text() == "Note").setChecked(False)
    assert view.horizontalHeader().isSectionHidden(4)


def test_spoken_text_says_more_than_the_figure(shown) -> None:
    view = shown()
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.text(QAccessible.Text.Name) == "Models"
    spoken = view.model().index(0, 2).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Overall score 88 of 100"


def test_keys_that_pages_listen_to(shown, qtbot) -> None:
    view = shown()
    for key, signal in ((Qt.Key.Key_Delete, view.delete_pressed), (Qt.Key.Key_Insert, view.add_pressed)):
        with qtbot.waitSignal(signal):
            QTest.keyClick(view, key)
    with qtbot.waitSignal(view.add_pressed):
        QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    with qtbot.waitSignal(view.paste_pressed):
        QTest.keySequence(view, "Ctrl+V")


def test_the_filter_bar_counts_and_clears(shown, qtbot) -> None:
    view = shown()
    bar = FilterBar(view, "Filter models")
    qtbot.addWidget(bar)
    bar.show()
    own = QLineEdit()
    bar.extra.addWidget(own)
    bar.resize(800, 40)
    QTest.keyClicks(bar.field, "alpha")
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bar.field.x() < own.x() < bar.count.mapTo(bar, QPoint(0, 0)).x())
    assert bar.count.text() == "1 of 4 shown"
    assert bar.clear.isVisible()
    QTest.mouseClick(bar.clear, Qt.MouseButton.LeftButton)
    assert view.rows.shown_count() == 4
    assert not bar.clear.isVisible()
    assert bar.field.text() == ""


def test_an_empty_table_gives_way_to_its_sentence(shown, qtbot) -> None:
    view = shown(())
    card = TableCard(view)
    qtbot.addWidget(card)
    card.resize(600, 300)
    card.set_empty("No models yet.", "Choose one.", "Find models")
    card.show()
    assert not view.isVisible()
    with qtbot.waitSignal(card.empty_pressed):
        QTest.mouseClick(card._empty.button, Qt.MouseButton.LeftButton)
    view.model().set_rows(ROWS)
    assert view.isVisible()
    view.rows.set_filter("nothing like this")
    assert not view.isVisible()
    QTest.mouseClick(card._nothing.button, Qt.MouseButton.LeftButton)
    assert view.isVisible()


def test_a_fitted_table_is_not_kept_high_by_its_empty_state(shown, qtbot) -> None:
    view = shown(ROWS[:1])
    view.fit_rows()
    card = TableCard(view)
    qtbot.addWidget(card)
    card.set_empty("No models yet.", "Choose one.", "Find models")
    card.resize(600, 300)
    one = card.sizeHint().height()
    assert one < card._empty.sizeHint().height()
    view.model().set_rows(())
    assert card.sizeHint().height() >= card._empty.sizeHint().height()
    view.model().set_rows(ROWS[:1])
    assert card.sizeHint().height() == one


def test_editing_by_f2_goes_to_the_model(shown, qtbot) -> None:
    view = shown(cells=True)
    view.setFocus()
    view.setCurrentIndex(view.model().index(0, 4))
    QTest.keyClick(view, Qt.Key.Key_F2)
    editor = view.findChild(QLineEdit)
    assert editor.accessibleName() == "Note"
    QTest.keyClicks(editor, "hello")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.model().record(0).note == "hello")


def test_rows_grow_with_the_text(shown, theme: Theme) -> None:
    view = shown()
    assert view.rowHeight(0) == 40
    theme.set_text_percent(200)
    assert view.rowHeight(0) >= view.fontMetrics().height() + 24
    view.fit_rows()
    assert view.height() == view.horizontalHeader().sizeHint().height() + 4 * view.rowHeight(0)


def test_columns_that_come_later_stay_as_their_data_says(shown) -> None:
    view = shown()
    view.hide_column("cost", True)
    state = view.state()
    usual = view.rows.columns
    view.rows.set_columns([*usual, Column("extra", "Extra", lambda _row: "", hidden=True)])
    view.restore(state)
    assert view.isColumnHidden(view.rows.section_of("extra"))
    assert view.isColumnHidden(view.rows.section_of("cost"))
    view.hide_column("extra", False)
    kept = view.state()
    view.rows.set_columns(usual)
    view.rows.set_columns([*usual, Column("extra", "Extra", lambda _row: "", hidden=True)])
    view.restore(kept)
    assert not view.isColumnHidden(view.rows.section_of("extra"))


def test_a_page_is_drawn_without_asking_twice_what_is_the_same_for_all_cells(shown) -> None:
    """Fonts, measures and columns are asked once for a page: what grows with the cells is drawing alone."""
    view = shown()
    fonts: list[str] = []
    made = cell_pen.F
    cell_pen.BOOK.__init__()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_pen, "F", lambda role: (fonts.append(role), made(role))[1])
        view.viewport().repaint()
        first = len(fonts)
        view.viewport().repaint()
    assert 0 < first == len(set(fonts))
    assert len(fonts) == first


def test_texts_are_measured_anew_with_another_font(shown, theme: Theme) -> None:
    view = shown()
    view.viewport().repaint()
    small = cell_pen.BOOK.metrics("body").height()
    theme.set_text_percent(200)
    view.viewport().repaint()
    assert cell_pen.BOOK.metrics("body").height() > 1.5 * small


def test_a_centred_text_that_is_too_long_ends_in_an_ellipsis(theme: Theme) -> None:
    drawn: list[str] = []
    column = Column("a", "A", lambda _row: "", align=Align.CENTRE)

    class Painter:
        def setFont(self, _font: object) -> None: ...
        def setPen(self, _colour: object) -> None: ...
        def drawText(self, _box: object, _flags: object, text: str) -> None:
            drawn.append(text)

    box = QRectF(0, 0, 60, 20)
    pen = cell_pen.Pen(Painter(), current(), box, box, current().color("surface"), column)
    paint_cell(pen, None, "far too long for sixty pixels")
    assert drawn[0].endswith("…")


# ---- no figure and no state is cut


def test_a_state_that_came_later_and_its_link_are_whole(shown):
    view = shown(width=760)
    state = 4
    before = view.columnWidth(state)
    view.rows.replace(replace(ROWS[0], note="Ruled out: does not run on this computer"))
    cell = view.rows.shown(0, state).cell
    needed = chip_size(cell.text, cell.tone, cell.icon).width() + 10
    needed += QFontMetricsF(F("button")).horizontalAdvance("Add key…") + 2 * PADDING
    assert needed > before
    assert view.columnWidth(state) >= min(needed, 300)


def test_a_long_figure_is_whole_while_names_give_way(shown):
    view = shown(width=680)
    name, cost = 1, 3
    names = view.columnWidth(name)
    view.rows.replace(replace(ROWS[0], cost=123_456_789_012.25))
    text = view.rows.shown(0, cost).text
    assert view.columnWidth(cost) >= QFontMetricsF(F("body")).horizontalAdvance(text) + 2 * PADDING
    assert view.columnWidth(name) < names
    assert view.horizontalHeader().length() <= view.viewport().width()


def test_who_makes_a_column_narrow_by_hand_keeps_it_narrow(shown):
    view = shown(rows=(replace(ROWS[0], note="A state of some length"), *ROWS[1:]))
    state = 4
    view.horizontalHeader().resizeSection(state, 90)
    view.rows.replace(replace(ROWS[1], note="A state of an even greater length than that"))
    assert view.columnWidth(state) < 120


def test_the_words_beside_the_line_of_a_change_are_whole(shown):
    view = shown(width=500)
    same = ChangeCell(40.0, 40.0, "same on every test")
    columns = [
        Column("model", "Model", lambda row: row.name, stretch=1, width=200),
        Column("change", "Change", lambda _row: "", cell=lambda _row: same, width=150, minimum=120),
    ]
    view.setModel(ColumnTable(columns, ROWS, key=lambda row: row.key, parent=view))
    words = QFontMetricsF(F("name")).horizontalAdvance(same.text)
    box = view.columnWidth(1) - 2 * PADDING
    assert box - min(124, box / 2) - 18 >= words

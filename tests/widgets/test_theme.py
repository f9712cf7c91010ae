"""Tokens, palette, sheet and switch: contrast, no Qt warnings, live changes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSlider,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.theme import F, current, dark, icon, icons, light
from arena_desktop.theme.paint import hairline_width, shape_path
from arena_desktop.theme.palette import palette_for
from arena_desktop.theme.switch import Appearance, Theme, set_colour, set_role
from arena_desktop.theme.tokens import Tokens, more_contrast

THEMES = pytest.mark.parametrize("tokens", [light(), dark()], ids=["light", "dark"])


def luminance(colour: QColor) -> float:
    """Relative luminance of WCAG 2."""

    def channel(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    return (
        0.2126 * channel(colour.redF()) + 0.7152 * channel(colour.greenF()) + 0.0722 * channel(colour.blueF())
    )


def contrast(a: str | QColor, b: str | QColor) -> float:
    """Contrast ratio of WCAG 2."""
    high, low = sorted((luminance(QColor(a)), luminance(QColor(b))), reverse=True)
    return (high + 0.05) / (low + 0.05)


@THEMES
@pytest.mark.parametrize("ink", ["text", "text2", "text3", "accentText", "good", "warn", "bad"])
@pytest.mark.parametrize("ground", ["page", "surface"])
def test_text_can_be_read(tokens: Tokens, ink: str, ground: str) -> None:
    assert contrast(tokens[ink], tokens[ground]) >= 4.5


@THEMES
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("onAccent", "accent"),
        ("onAccent", "accentHover"),
        ("onAccent", "accentPress"),
        ("accentText", "tint2"),
        ("accentText", "tint"),
        ("text3", "tint"),
        ("text2", "neutralBg"),
        ("text2", "win"),
        ("good", "goodBg"),
        ("warn", "warnBg"),
        ("bad", "badBg"),
        ("text", "diff"),
        ("text", "goodBg"),
        ("text", "badBg"),
        ("tipText", "tip"),
    ],
)
def test_text_can_be_read_on_coloured_grounds(tokens: Tokens, ink: str, ground: str) -> None:
    assert contrast(tokens[ink], tokens[ground]) >= 4.5


@THEMES
@pytest.mark.parametrize(
    ("mark", "ground"),
    [
        ("line2", "surface"),
        ("line2", "page"),
        ("dis", "surface"),
        ("dis", "sunken"),
        ("accent", "surface"),
        ("accent", "page"),
        ("accent", "band"),
    ],
)
def test_marks_and_edges_can_be_seen(tokens: Tokens, mark: str, ground: str) -> None:
    assert contrast(tokens[mark], tokens[ground]) >= 3.0


@THEMES
def test_model_colours_can_be_seen_and_told_apart(tokens: Tokens) -> None:
    assert len(set(tokens.models)) == len(tokens.shapes) == 10
    for colour, ground in itertools.product(tokens.models, ("page", "surface")):
        assert contrast(colour, tokens[ground]) >= 3.0
    assert tokens.model_color(10) == tokens.model_color(0)
    assert tokens.model_shape(13) == "diamond"


@THEMES
def test_the_palette_says_every_role(tokens: Tokens) -> None:
    palette = palette_for(tokens)
    pairs = [
        (QPalette.ColorRole.WindowText, QPalette.ColorRole.Window, 4.5),
        (QPalette.ColorRole.Text, QPalette.ColorRole.Base, 4.5),
        (QPalette.ColorRole.ButtonText, QPalette.ColorRole.Button, 4.5),
        (QPalette.ColorRole.HighlightedText, QPalette.ColorRole.Highlight, 4.5),
        (QPalette.ColorRole.PlaceholderText, QPalette.ColorRole.Base, 4.5),
        (QPalette.ColorRole.ToolTipText, QPalette.ColorRole.ToolTipBase, 4.5),
        (QPalette.ColorRole.Link, QPalette.ColorRole.Base, 4.5),
    ]
    for ink, ground, least in pairs:
        assert contrast(palette.color(ink), palette.color(ground)) >= least, ink
        assert palette.color(ink).alpha() == 255


def test_high_contrast_is_never_weaker() -> None:
    for is_dark, base in ((False, light()), (True, dark())):
        strong = more_contrast(is_dark)
        for name in ("text2", "text3", "line", "line2", "dis"):
            assert contrast(strong[name], strong["surface"]) >= contrast(base[name], base["surface"])


def test_every_shape_has_an_outline_of_its_own() -> None:
    from PySide6.QtCore import QPointF

    boxes = {shape: shape_path(shape, QPointF(0, 0), 10) for shape in light().shapes}
    for (one, a), (two, b) in itertools.combinations(boxes.items(), 2):
        if {one, two} != {"circle", "ring"}:
            assert a != b, (one, two)
    assert all(path.boundingRect().width() > 6 for path in boxes.values())


@pytest.mark.parametrize(
    ("ratio", "width"), [(1.0, 1.0), (1.25, 0.8), (1.5, 1 / 1.5), (1.75, 1 / 1.75), (2.0, 1.0)]
)
def test_hairlines_fill_whole_device_pixels(ratio: float, width: float) -> None:
    assert hairline_width(ratio) == pytest.approx(width)


def every_control() -> QWidget:
    """One of each styled control in each state."""
    box = QWidget()
    layout = QVBoxLayout(box)
    for kind in ("primary", "secondary", "quiet", "danger", "plain", "menu"):
        button = QPushButton("A")
        button.setProperty("kind", kind)
        layout.addWidget(button)
    for field in (QLineEdit(), QPlainTextEdit(), QComboBox(), QDoubleSpinBox()):
        field.setProperty("state", "bad")
        layout.addWidget(field)
    tick = QCheckBox("A")
    tick.setTristate(True)
    tick.setCheckState(Qt.CheckState.PartiallyChecked)
    for other in (tick, QRadioButton("A"), QSlider(Qt.Orientation.Horizontal), QProgressBar(), QTableView()):
        layout.addWidget(other)
    return box


@pytest.mark.parametrize("appearance", [Appearance.LIGHT, Appearance.DARK])
def test_the_sheet_is_taken_without_a_word_from_qt(
    qtbot, theme: Theme, appearance: Appearance, qtlog, tmp_path: Path
) -> None:
    theme.set_appearance(appearance)
    box = every_control()
    qtbot.addWidget(box)
    box.show()
    box.grab()
    assert [record.message for record in qtlog.records if "propagateSizeHints" not in record.message] == []
    pictures = sorted(path.suffix for path in (tmp_path / "cache" / str(appearance)).iterdir())
    assert set(pictures) == {".svg"}


def test_the_sheet_names_no_font_size(theme: Theme, qapp) -> None:
    assert "font-size" not in qapp.styleSheet()
    assert "$" not in qapp.styleSheet()


def test_switching_is_live(qtbot, theme: Theme, qapp) -> None:
    box = every_control()
    qtbot.addWidget(box)
    box.show()
    assert not current().dark
    with qtbot.waitSignal(theme.changed):
        theme.set_appearance(Appearance.DARK)
    assert current().dark
    assert theme.tokens is dark()
    picture = box.grab().toImage()
    assert luminance(picture.pixelColor(1, 1)) < 0.1
    theme.set_appearance(Appearance.LIGHT)
    assert luminance(box.grab().toImage().pixelColor(1, 1)) > 0.8


def test_text_grows_with_its_roles_and_stays_within_bounds(qtbot, theme: Theme, qapp) -> None:
    title = QLabel("A title")
    qtbot.addWidget(title)
    set_role(title, "title", colour="text2")
    assert title.font().pointSizeF() == pytest.approx(17.0)
    theme.set_text_percent(200)
    assert qapp.font().pointSizeF() == pytest.approx(20.0)
    assert title.font().pointSizeF() == pytest.approx(34.0)
    assert theme.zoom(5) == 200
    assert theme.zoom(0) == 100
    assert theme.zoom(-9) == 80
    assert title.font().pointSizeF() == pytest.approx(13.6)


def test_text_colours_follow_the_theme(qtbot, theme: Theme) -> None:
    label = QLabel("grey")
    qtbot.addWidget(label)
    set_colour(label, "text2")
    theme.set_appearance(Appearance.DARK)
    assert label.palette().color(QPalette.ColorRole.WindowText) == dark().color("text2")


def test_figures_are_of_equal_width(theme: Theme) -> None:
    for role in ("body", "strong", "title", "caption"):
        assert F(role).featureValue(QFont.Tag("tnum")) == 1


def test_every_icon_renders_in_its_colour(theme: Theme) -> None:
    for name in icons.names():
        image = icons.pixmap(name, "#ff0000", 24).toImage()
        inked = [
            image.pixelColor(x, y)
            for x, y in itertools.product(range(24), repeat=2)
            if image.pixelColor(x, y).alpha() > 150
        ]
        assert inked, name
        assert all(colour.red() > 240 and colour.green() < 16 for colour in inked), name


def test_icons_have_a_picture_for_not_available(theme: Theme) -> None:
    from PySide6.QtGui import QIcon

    made = icon("run", "text", size=16, air=3)
    assert made.pixmap(19, 16).toImage() != made.pixmap(19, 16, QIcon.Mode.Disabled).toImage()


def test_a_switch_looks_at_a_widget_a_few_times_however_deep_it_lies(qtbot, theme: Theme) -> None:
    class Counting(QLabel):
        looks = 0

        def changeEvent(self, event: QEvent) -> None:
            super().changeEvent(event)
            self.looks += event.type() == QEvent.Type.StyleChange

    top = QWidget()
    qtbot.addWidget(top)
    inside = top
    for _ in range(12):
        layout = QVBoxLayout(inside)
        inside = QWidget()
        layout.addWidget(inside)
    label = Counting("deep", inside)
    top.show()
    label.looks = 0
    theme.set_appearance(Appearance.DARK)
    assert 0 < label.looks <= 4

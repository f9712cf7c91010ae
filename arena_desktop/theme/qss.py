"""The one style sheet of the application, made from tokens.

Variants go by dynamic properties (`kind` on buttons, `state` on fields); after changing one call
`restyle`. No font size stands here: sizes in a sheet do not follow the text size. Pictures that a
sheet can only name as files (arrows, ticks) are written per theme into the cache folder.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

from arena_desktop.theme.fonts import control_height, scaled
from arena_desktop.theme.icons import svg_text
from arena_desktop.theme.tokens import Tokens

_FILES = {
    "down": ("down", "text2"),
    "down_off": ("down", "dis"),
    "up": ("up", "text2"),
    "up_off": ("up", "dis"),
    "right": ("right", "text2"),
    "tick": ("check", "onAccent"),
    "tick_off": ("check", "dis"),
    "part": ("minus", "onAccent"),
    "menu_tick": ("check", "text2"),
}


def write_pictures(theme: Tokens, folder: Path) -> dict[str, str]:
    """Writes the coloured pictures of the theme below `folder`; returns their paths by name. Raises OSError."""
    target = folder / ("dark" if theme.dark else "light")
    target.mkdir(parents=True, exist_ok=True)
    result = {}
    for name, (source, role) in _FILES.items():
        colour = theme[role]
        path = target / f"{name}-{colour[1:]}.svg"
        text = svg_text(source, colour, 24).replace('stroke-width="1.75"', 'stroke-width="2.4"')
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        result[name] = path.as_posix()
    return result


def style_sheet(theme: Tokens, pictures: dict[str, str]) -> str:
    """The whole sheet. Heights follow the application font, so build it again after a text size change."""
    control = control_height()
    values: dict[str, object] = dict(theme.colours)
    values.update({f"pic_{name}": path for name, path in pictures.items()})
    values.update(
        inner=control - 2,
        tight=control - 4,
        check=18,
        menu_item=max(28, control - 4),
        scroll_room=12,
        spin=scaled(20),
    )
    return "\n".join(Template(part).substitute(values) for part in _PARTS)


_BASE = """
QMainWindow, QWidget#frame { background: $win; }
QDialog, QWizard, QWizardPage { background: $page; }
QLabel { background: transparent; }
QToolTip { background: $tip; color: $tipText; border: 0; border-radius: 6px; padding: 6px 10px; }
QMenuBar { background: $win; color: $text2; border: 0; padding: 0 0 0 10px; }
QMenuBar::item { background: transparent; padding: 6px 13px 7px 13px; border-radius: 6px; }
QMenuBar::item:selected { background: $press; color: $text; }
QMenuBar::item:disabled { color: $dis; }
QMenu { background: $raised; color: $text; border: 1px solid $line3; border-radius: 8px; padding: 5px; }
QMenu::item { padding: 5px 28px 5px 30px; min-height: ${menu_item}px; border-radius: 6px; }
QMenu::item:selected { background: $tint; color: $text; }
QMenu::item:disabled { color: $dis; background: transparent; }
QMenu::separator { height: 1px; background: $line; margin: 5px 8px; }
QMenu::icon { padding-left: 10px; }
QMenu::indicator { width: 16px; height: 16px; left: 9px; }
QMenu::indicator:checked { image: url("$pic_menu_tick"); }
QMenu::right-arrow { image: url("$pic_right"); width: 14px; height: 14px; right: 8px; }
QStatusBar { background: $win; color: $text2; border: 0; border-top: 1px solid $line; }
QStatusBar::item { border: 0; }
QSplitter::handle { background: transparent; }
QScrollArea, QScrollArea > QWidget > QWidget#scroll_body { background: transparent; border: 0; }
QFrame[frameShape="4"], QFrame[frameShape="5"] { border: 0; }
"""

_BUTTONS = """
QPushButton { background: $raised; color: $text; border: 1px solid $line3; border-radius: 8px;
  padding: 0 13px; min-height: ${inner}px; outline: 0; }
QPushButton:hover { background: $hover; border-color: $line2; }
QPushButton:pressed { background: $press; border-color: $line2; }
QPushButton:checked { background: $tint; border-color: $accent; }
QPushButton:disabled { background: $sunken; color: $dis; border-color: $line; }
QPushButton::menu-indicator { image: url("$pic_down"); width: 14px; height: 14px;
  subcontrol-origin: padding; subcontrol-position: right center; right: 9px; }
QPushButton[kind="menu"] { padding-right: 30px; }
QPushButton[kind="primary"], QPushButton:default[kind="primary"] { background: $accent; color: $onAccent; border-color: $accent; }
QPushButton[kind="primary"]:hover { background: $accentHover; border-color: $accentHover; }
QPushButton[kind="primary"]:pressed { background: $accentPress; border-color: $accentPress; }
QPushButton[kind="primary"]:disabled { background: $track; color: $dis; border-color: $track; }
QPushButton[kind="quiet"] { background: transparent; color: $accentText; border-color: transparent; padding: 0 10px; }
QPushButton[kind="quiet"]:hover { background: $tint; }
QPushButton[kind="quiet"]:pressed { background: $tint2; }
QPushButton[kind="quiet"]:disabled { color: $dis; background: transparent; }
QPushButton[kind="danger"] { color: $bad; border-color: $badEdge; }
QPushButton[kind="danger"]:hover { background: $badBg; border-color: $bad; }
QPushButton[kind="danger"]:pressed { background: $badBg; border-color: $bad; }
QPushButton[kind="danger"]:disabled { background: $sunken; color: $dis; border-color: $line; }
QPushButton[kind="plain"] { background: transparent; border: 0; padding: 0; min-height: 0; text-align: left; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 8px; padding: 0;
  min-width: ${inner}px; min-height: ${inner}px; color: $text2; outline: 0; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $press; }
QToolButton:disabled { color: $dis; }
QToolButton::menu-indicator { image: none; }
QToolButton[place="tinted"]:hover { background: transparent; border-color: $line3; }
QToolButton[place="field"] { border: 0; min-width: 24px; min-height: 24px; border-radius: 6px; }
"""

_FIELDS = """
QLineEdit, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QDateTimeEdit { background: $surface; color: $text;
  border: 1px solid $line2; border-radius: 8px; selection-background-color: $accent; selection-color: $onAccent;
  placeholder-text-color: $text3; }
QLineEdit { padding: 0 10px; min-height: ${inner}px; }
QLineEdit:focus, QAbstractSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus { border: 2px solid $accent; }
QLineEdit:focus { padding: 0 9px; min-height: ${tight}px; }
QLineEdit[state="bad"], QAbstractSpinBox[state="bad"], QPlainTextEdit[state="bad"], QTextEdit[state="bad"], QComboBox[state="bad"] { border: 2px solid $bad; }
QLineEdit[state="warn"], QAbstractSpinBox[state="warn"], QPlainTextEdit[state="warn"], QTextEdit[state="warn"], QComboBox[state="warn"] { border: 2px solid $warn; }
QLineEdit[state="bad"], QLineEdit[state="warn"] { padding: 0 9px; min-height: ${tight}px; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QPlainTextEdit:disabled, QTextEdit:disabled { background: $sunken; color: $dis; border-color: $line; }
QLineEdit[kind="filter"] { border-color: $line3; }
QLineEdit[kind="filter"]:focus { border-color: $accent; }
QPlainTextEdit, QTextEdit { padding: 6px 7px; }
QPlainTextEdit:focus, QTextEdit:focus, QPlainTextEdit[state="bad"], QPlainTextEdit[state="warn"] { padding: 5px 6px; }
QTextEdit[kind="answer"], QPlainTextEdit[kind="answer"] { background: transparent; border: 0; border-radius: 0; padding: 0; }
QTextEdit[kind="answer"]:focus, QPlainTextEdit[kind="answer"]:focus { border: 0; padding: 0; }
QAbstractSpinBox { padding: 0 2px 0 0; min-height: ${inner}px; }
QAbstractSpinBox:focus, QAbstractSpinBox[state="bad"], QAbstractSpinBox[state="warn"] { padding: 0 1px 0 0; min-height: ${tight}px; }
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus, QAbstractSpinBox QLineEdit:disabled { border: 0; min-height: 0; padding: 0; background: transparent; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: 0; background: transparent; width: ${spin}px; subcontrol-origin: border; }
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 3px 3px 0 0; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0 3px 3px 0; }
QAbstractSpinBox::up-arrow { image: url("$pic_up"); width: 12px; height: 12px; }
QAbstractSpinBox::down-arrow { image: url("$pic_down"); width: 12px; height: 12px; }
QAbstractSpinBox::up-arrow:disabled, QAbstractSpinBox::up-arrow:off { image: url("$pic_up_off"); }
QAbstractSpinBox::down-arrow:disabled, QAbstractSpinBox::down-arrow:off { image: url("$pic_down_off"); }
QComboBox { background: $raised; color: $text; border: 1px solid $line3; border-radius: 8px; padding: 0 28px 0 10px; min-height: ${inner}px; }
QComboBox:hover { background: $hover; border-color: $line2; }
QComboBox:focus { border: 2px solid $accent; padding: 0 27px 0 9px; min-height: ${tight}px; }
QComboBox:disabled { background: $sunken; color: $dis; border-color: $line; }
QComboBox::drop-down { border: 0; width: 26px; subcontrol-origin: padding; subcontrol-position: center right; }
QComboBox::down-arrow { image: url("$pic_down"); width: 16px; height: 16px; }
QComboBox::down-arrow:disabled { image: url("$pic_down_off"); }
QComboBox QLineEdit, QComboBox QLineEdit:focus { border: 0; min-height: 0; padding: 0; background: transparent; }
QComboBox QAbstractItemView { background: $raised; color: $text; border: 1px solid $line3; border-radius: 8px; padding: 4px; outline: 0;
  selection-background-color: $tint; selection-color: $text; }
QComboBox QAbstractItemView::item { min-height: ${menu_item}px; padding: 0 6px; border-radius: 6px; }
"""

_CHOICES = """
QCheckBox, QRadioButton { color: $text; background: transparent; spacing: 8px; outline: 0; min-height: 24px; }
QCheckBox:disabled, QRadioButton:disabled { color: $dis; }
QCheckBox::indicator { width: 16px; height: 16px; border: 1px solid $line2; border-radius: 4px; background: $surface; }
QCheckBox::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$pic_tick"); }
QCheckBox::indicator:indeterminate { background: $accent; border-color: $accent; image: url("$pic_part"); }
QCheckBox::indicator:disabled { background: $sunken; border-color: $line3; }
QCheckBox::indicator:checked:disabled { background: $track; border-color: $track; image: url("$pic_tick_off"); }
QRadioButton::indicator { width: 16px; height: 16px; border: 1px solid $line2; border-radius: 9px; background: $surface; }
QRadioButton::indicator:hover { border-color: $accent; }
QRadioButton::indicator:checked { width: 8px; height: 8px; border: 5px solid $accent; border-radius: 9px; background: $onAccent; }
QRadioButton::indicator:disabled { background: $sunken; border-color: $line3; }
QSlider { min-height: 24px; background: transparent; outline: 0; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $track; margin: 0; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::handle:horizontal { width: 15px; height: 15px; margin: -7px 0; border: 1px solid $line2; border-radius: 8px; background: $handle; }
QSlider::handle:horizontal:hover { border-color: $accent; }
QSlider::handle:horizontal:focus { width: 14px; height: 14px; border: 2px solid $accent; border-radius: 9px; }
QSlider::sub-page:horizontal:disabled { background: $line3; }
QSlider::handle:horizontal:disabled { background: $sunken; border-color: $line3; }
QProgressBar { background: $track; border: 0; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
"""

_VIEWS = """
QAbstractItemView { outline: 0; }
QTableView, QListView, QTreeView { background: $surface; color: $text; border: 0;
  selection-background-color: $tint; selection-color: $text; }
QHeaderView { background: transparent; border: 0; }
QTableView QLineEdit, QTableView QPlainTextEdit { border-radius: 4px; }
QTableCornerButton::section { background: transparent; border: 0; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 2px 2px 2px 2px; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 2px 2px 2px 2px; }
QScrollBar::handle { background: $scroll; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 32px; margin: 0 1px; }
QScrollBar::handle:horizontal { min-width: 32px; margin: 1px 0; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $line2; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: 0; background: transparent; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: 0; }
QTabBar { background: transparent; }
QTabBar::tab { background: transparent; color: $text2; padding: 6px 12px; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $accentText; border-bottom-color: $accent; }
QTabWidget::pane { border: 0; border-top: 1px solid $line; }
QGroupBox { border: 1px solid $line; border-radius: 10px; margin-top: 10px; padding: 12px; }
QGroupBox::title { subcontrol-origin: margin; left: 12px; padding: 0 4px; color: $text2; }
QTextBrowser[kind="page"] { background: transparent; border: 0; padding: 0; }
"""

_PARTS = (_BASE, _BUTTONS, _FIELDS, _CHOICES, _VIEWS)

"""Grabs pictures of the kit for review by eye: `python -m tests.pictures.gallery DIR [PAGES]`.

The contents are the made-up ones of the design pictures. Nothing here is a test.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QHBoxLayout, QLineEdit, QRadioButton, QWidget

from arena_desktop.cells import (
    Align,
    ChangeCell,
    ChipCell,
    Column,
    IconTextCell,
    LaneCell,
    Link,
    LinksCell,
    ModelCell,
    PlaceCell,
    ProgressCell,
    ScoreCell,
    Tie,
    TitleMarksCell,
    Tone,
    TwoLineCell,
)
from arena_desktop.charts.data import (
    Bar,
    Bars,
    Change,
    CostPoint,
    CostScore,
    Line,
    Lines,
    Measure,
    Strip,
    StripRow,
    Threshold,
)
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.main_window import MainWindow, PageEntry
from arena_desktop.settings import Settings
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.answer_view import AnswerView, MarkKind, MarkLegend, TextMark
from arena_desktop.widgets.buttons import ActionCard, Button, ChoiceCard
from arena_desktop.widgets.card import Card, CardHead, Divider
from arena_desktop.widgets.chart_view import ChartCard, ChartView
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.facts import Counter, Fact
from arena_desktop.widgets.fields import Combo, MoneySpin, ShareSlider, Spin, TextArea, set_state
from arena_desktop.widgets.forms import FieldNote, FormGrid
from arena_desktop.widgets.labels import Label, Span
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.progress import RunProgress
from arena_desktop.widgets.rail_look import Mark
from arena_desktop.widgets.strip import Message, MessageStrip, StripButton
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, Legend, TableCard
from arena_desktop.widgets.verdict_card import VerdictButton, VerdictCard, VerdictText

MODELS = ("Claude Opus 5", "GPT-5.5", "Gemini 3 Pro", "Claude Opus 5 (short)", "SmolLM2", "Mistral Large")


@dataclass(frozen=True)
class Row:
    """A row of any demo table: payloads by column id."""

    key: int
    cells: dict[str, Any] = field(default_factory=dict)
    out: bool = False


def columns(*specs: tuple[str, str, dict[str, Any]]) -> list[Column[Row]]:
    """Columns whose text and payload come from `Row.cells`."""

    def text(name: str) -> Callable[[Row], str]:
        def read(row: Row) -> str:
            value = row.cells.get(name, "")
            return (
                value if isinstance(value, str) else str(getattr(value, "text", getattr(value, "name", "")))
            )

        return read

    def cell(name: str) -> Callable[[Row], Any]:
        return lambda row: None if isinstance(row.cells.get(name, ""), str) else row.cells[name]

    return [Column(name, title, text(name), cell=cell(name), **more) for name, title, more in specs]


def table(name: str, spoken: str, cols: list[Column[Row]], rows: list[Row], **more: Any) -> ArenaTable:
    """A demo table."""
    view = ArenaTable(name, spoken, **more)
    view.setModel(ColumnTable(cols, rows, key=lambda row: row.key, muted=lambda row: row.out, parent=view))
    return view


def leaderboard_page() -> Page:
    """As `results-full`."""
    page = Page("results", "Leaderboard", scrolls=True)
    run = Combo("Run")
    run.addItem("Run 12, today 14:05, complete")
    page.header.controls.addWidget(run)
    page.header.controls.addWidget(Button("Export…", icon="export"))
    page.header.controls.addWidget(Button("Run again", "primary", icon="run"))
    verdict = VerdictCard()
    verdict.set_text(
        VerdictText(
            "Use Claude Opus 5 for this project.",
            (
                Span("It passed "),
                Span("45 of your 50 tests", True),
                Span(". GPT-5.5 passed 44, and with 50 tests that difference is too small to tell apart. "),
                Span("Claude Opus 5 is our pick because it costs about half as much: "),
                Span("$0.42", True),
                Span(" per 100 answers instead of $0.91."),
            ),
            "Too close to call between the first two",
            chip_icon="compare",
            buttons=(
                VerdictButton("why", "Why this one?"),
                VerdictButton("change", "What could change this?"),
                VerdictButton("copy", "Copy summary", quiet=True, icon="copy"),
            ),
            facts=(
                Fact("71 of 100", "How often it comes first when the tests are drawn again"),
                Fact("About 40 more tests", "would settle the first two, for about $1.60"),
            ),
        )
    )
    page.body.addWidget(verdict)
    view = board()
    bar = FilterBar(view, "Filter models")
    bar.extra.addWidget(QCheckBox("Only models that meet my must-haves"))
    bar.hide_count()
    page.body.addWidget(bar)
    card = TableCard(view)
    foot = card.add_foot()
    foot.addWidget(Legend("tie", "Too close to tell apart with 50 tests"))
    foot.addWidget(
        Legend("score", "Measured score, and where the true score most likely lies. Scale 0 to 100.")
    )
    foot.addStretch(1)
    page.body.addWidget(card)
    lower = QHBoxLayout()
    lower.setSpacing(16)
    lower.addWidget(weights_card(), 2)
    lower.addWidget(cost_card(), 3)
    page.body.addLayout(lower)
    page.body.addStretch(1)
    return page


def weights_card() -> Card:
    """The what-if sliders."""
    card = Card(20, spacing=8)
    head = CardHead("What matters most")
    head.controls.addWidget(Button("Reset", "quiet"))
    card.body.addWidget(head)
    sentence = "Move a slider. The table above follows at once. Nothing is asked again and nothing is spent."
    card.body.addWidget(Label(sentence, colour="text2", wrap=True))
    for title, value in (("Right answers", 60), ("Low cost", 25), ("Speed", 15)):
        card.body.addWidget(ShareSlider(title, value))
    card.body.addWidget(Divider())
    card.body.addWidget(Label("Claude Opus 5 stays first.", "strong"))
    card.body.addStretch(1)
    return card


def cost_card() -> QWidget:
    """The cost and score chart."""
    points = (
        CostPoint(MODELS[0], 0, 0.42, "$0.42", Measure(90, 80, 96, "90"), strong=True),
        CostPoint(MODELS[1], 1, 0.91, "$0.91", Measure(88, 77, 94, "88"), strong=True),
        CostPoint(MODELS[2], 2, 0.28, "$0.28", Measure(76, 63, 86, "76")),
        CostPoint(MODELS[3], 3, 0.31, "$0.31", Measure(71, 57, 82, "71")),
        CostPoint(MODELS[4], 4, 0.0, "free", Measure(54, 40, 67, "54"), muted=True),
    )
    chart = CostScore(
        points, "Cost per 100 answers", "free", threshold=Threshold(60, "must-have: at least 60")
    )
    card = ChartCard("Cost and score", ChartView("chart_leaderboard"))
    sentence = "Up is better, left is cheaper. Lines show where the true score most likely lies."
    card.set_chart(chart, "Cost and score", sentence)
    card.as_table.show()
    return card


def history_page() -> Page:
    """As the lower half of `history`, and the two other kinds of chart."""
    page = Page("history", "History")

    def line(name: str, index: int, values: tuple[float | None, ...], wide: float) -> Line:
        made = [None if v is None else Measure(v, v - wide, v + wide * 0.7, f"{v:.0f}") for v in values]
        return Line(name, index, tuple(made))

    lines = (
        line(MODELS[0], 0, (72, 74, 73, 77, 76, 90), 9),
        line(MODELS[1], 1, (86, 85, 86, 84, 86, 88), 8),
        line(MODELS[2], 2, (None, 64, 66, 65, 69, 76), 12),
        line(MODELS[4], 4, (51, 50, None, 55, 52, 54), 11),
    )
    runs = ("4 Jun", "2 Jul", "6 Aug", "3 Sep", "3 Nov", "today")
    titles = tuple(f"Run {n + 6}, {run}" for n, run in enumerate(runs))
    chart = Lines(runs, lines, titles, (Change(5, "instructions changed"),))
    card = ChartCard("Score over time", ChartView("chart_history"))
    sentence = (
        "Claude Opus 5 rose from 72 to 90 over 6 runs. The bands show where the true score most likely lies."
    )
    card.set_chart(chart, "Score over time", sentence)
    card.as_table.show()
    page.body.addWidget(card, 3)
    row = QHBoxLayout()
    row.setSpacing(16)
    bars = ChartCard("Overall score", ChartView("chart_bars"))
    scores = ((90, 80, 96), (88, 77, 94), (76, 63, 86), (71, 57, 82), (54, 40, 67))
    made = tuple(Bar(MODELS[n], n, Measure(v, a, b, str(v)), n == 4) for n, (v, a, b) in enumerate(scores))
    bars.set_chart(Bars((*made, Bar(MODELS[5], 5, None, True))), "Overall score", "Bars start at 0.")
    row.addWidget(bars, 1)
    strip = ChartCard("All tests", ChartView("chart_strip"))
    spread = [tuple(float((n * 37 + k * k * 13) % 5 * 25) for k in range(50)) for n in range(4)]
    rows = tuple(
        StripRow(MODELS[n], n, values, Measure(sum(values) / 50, text="50"))
        for n, values in enumerate(spread)
    )
    strip.set_chart(Strip(rows), "All tests", "One dot per test.")
    row.addWidget(strip, 1)
    page.body.addLayout(row, 2)
    card.view._at = 2
    return page


def board() -> ArenaTable:
    """The leaderboard table."""
    right, links = {"align": Align.RIGHT}, (Link("key", "Add key…"),)
    cols = columns(
        ("place", "Place", {"width": 64, "minimum": 60}),
        ("model", "Model", {"width": 190, "stretch": 2}),
        ("passed", "Tests passed", {"width": 110, "drop": 2, **right}),
        ("score", "Overall score", {"width": 238, "stretch": 1, "minimum": 160}),
        ("cost", "Cost per 100", {"width": 106, **right}),
        ("wait", "Usual wait", {"width": 84, "drop": 1, **right}),
        ("must", "Must-haves", {"width": 180, "minimum": 170}),
    )
    meets = IconTextCell("check", "Meets all")
    data = [
        (PlaceCell("1", Tie.FIRST), "45 of 50", ScoreCell(90, 80, 96, "90"), "$0.42", "1.9 s", meets),
        (PlaceCell("2", Tie.LAST), "44 of 50", ScoreCell(88, 77, 94, "88"), "$0.91", "2.4 s", meets),
        (PlaceCell("3"), "38 of 50", ScoreCell(76, 63, 86, "76"), "$0.28", "1.6 s", meets),
        (PlaceCell("4"), "36 of 50", ScoreCell(71, 57, 82, "71"), "$0.31", "1.4 s", meets),
        (
            PlaceCell("–"),
            "27 of 50",
            ScoreCell(54, 40, 67, "54"),
            "free",
            "6.2 s",
            ChipCell("Ruled out: under 60", Tone.WARN),
        ),
        (PlaceCell("–"), "–", ScoreCell(None), "–", "–", ChipCell("No key", Tone.NEUTRAL, "key", links)),
    ]
    rows = [
        Row(
            n,
            {
                "place": place,
                "model": ModelCell(MODELS[n], n, "this computer" if n == 4 else "", strong=n < 2),
                "passed": passed,
                "score": score,
                "cost": cost,
                "wait": wait,
                "must": must,
            },
            out=n > 3,
        )
        for n, (place, passed, score, cost, wait, must) in enumerate(data)
    ]
    view = table("table_leaderboard", "Leaderboard", cols, rows)
    view.fit_rows()
    view.select_key(0)
    view._pointer.light(2)
    return view


def run_page() -> Page:
    """As `run`."""
    page = Page("run", "Running")
    page.header.set_title("Running", "Customer replies. 50 tests, asked 3 times each, 5 models.")
    tell = QCheckBox("Tell me when it is done")
    tell.setChecked(True)
    page.header.controls.addWidget(tell)
    page.strips.show_message(
        Message(
            "slow",
            Tone.WARN,
            "Anthropic asked us to slow down.",
            "Asking 3 at a time instead of 6. Next try in 18 seconds, by itself. "
            "The other models keep going.",
            (StripButton("Details", lambda: None),),
        )
    )
    card = Card(spacing=12)
    line = QHBoxLayout()
    line.setSpacing(16)
    line.addWidget(Label("Asking", "section"))
    line.addWidget(Label("412 of 750 answers are in", colour="text2"))
    line.addStretch(1)
    card.body.addLayout(line)
    bar = RunProgress("Answers", name="progress_run")
    bar.set_counts(done=409, failed=3, under_way=10, waiting=328)
    card.body.addWidget(bar)
    counters = QHBoxLayout()
    for caption, square, figure, ink in (
        ("Done", "accent", "409", "text"),
        ("Failed", "bad", "3", "bad"),
        ("On their way", "band", "10", "text"),
        ("Waiting", "track", "328", "text"),
    ):
        counter = Counter(caption, square=square)
        counter.set_figure(figure, ink=ink)
        counters.addWidget(counter, 2)
    counters.addWidget(Divider(vertical=True))
    counters.addSpacing(28)
    for caption, figure in (("Time left", "about 6 minutes"), ("Spent, and your limit", "$1.96 of $5.00")):
        counter = Counter(caption)
        counter.set_figure(figure)
        counters.addWidget(counter, 3)
    card.body.addLayout(counters)
    page.body.addWidget(card)
    view = lanes()
    page.body.addWidget(TableCard(view))
    page.body.addStretch(1)
    foot = QHBoxLayout()
    foot.addWidget(Button("Pause", icon="pause"))
    foot.addWidget(Button("Cancel run…", icon="stop"))
    foot.addStretch(1)
    foot.addWidget(Button("Try the 3 failed again"))
    page.body.addLayout(foot)
    return page


def lanes() -> ArenaTable:
    """The table of a run."""
    right = {"align": Align.RIGHT}
    cols = columns(
        ("model", "Model", {"width": 208, "stretch": 1}),
        ("done", "Done", {"width": 210, "minimum": 120}),
        ("passed", "Passed so far", {"width": 120, "drop": 1, **right}),
        ("spent", "Spent", {"width": 76, **right}),
        ("lane", "At the same time", {"width": 168, "drop": 2}),
        ("now", "What is happening", {"width": 190, "minimum": 150}),
    )
    slow = ChipCell("Slowed down", Tone.WARN, "clock")
    answering = IconTextCell("run", "Answering", "accent", "text")
    data = [
        (96, "87", "$0.40", LaneCell(2, 3, 6, "3 of 6"), slow),
        (104, "92", "$0.95", LaneCell(4, 4, 4, "4"), answering),
        (131, "101", "$0.37", LaneCell(3, 4, 4, "4"), answering),
        (78, "55", "$0.24", LaneCell(0, 0, 0, "shares the 3"), slow),
        (3, "1", "free", LaneCell(1, 1, 1, "1"), answering),
    ]
    rows = [
        Row(
            n,
            {
                "model": ModelCell(MODELS[n], n, "this computer" if n == 4 else ""),
                "done": ProgressCell(f"{done} of 150", done / 150),
                "passed": passed,
                "spent": spent,
                "lane": lane,
                "now": now,
            },
        )
        for n, (done, passed, spent, lane, now) in enumerate(data)
    ]
    left_out = ChipCell("No key", Tone.NEUTRAL, "key", (Link("key", "Add…"),))
    rows.append(
        Row(
            5,
            {
                "model": ModelCell(MODELS[5], 5),
                "done": "Left out",
                "passed": "–",
                "spent": "–",
                "lane": "–",
                "now": left_out,
            },
            True,
        )
    )
    view = table("table_lanes", "Models in this run", cols, rows)
    view.fit_rows()
    view._pointer.light(2)
    return view


def home_page() -> Page:
    """As `home-recent`."""
    page = Page("home", "Which AI model should you use?", scrolls=True)
    sentence = (
        "Bring the questions your job really has. Agent Arena asks every model, "
        "marks the answers and tells you which one to pick."
    )
    page.header.set_lead(sentence)
    cards = QHBoxLayout()
    cards.setSpacing(16)
    cards.addWidget(
        ActionCard(
            "sample", "Try the sample", "No key, no cost, about 15 seconds", lead=True, name="card_sample"
        )
    )
    cards.addWidget(ActionCard("plus", "Start a new project", "Five short questions"))
    cards.addWidget(ActionCard("project", "Open a project folder", "Or drop one here"))
    page.body.addLayout(cards)
    page.body.addWidget(Label("Recent projects", "section"))
    cols = columns(
        ("name", "Project", {"width": 380, "stretch": 1}),
        ("best", "Best so far", {"width": 270}),
        ("used", "Last used", {"width": 180, "tone": "text2"}),
        ("do", "", {"width": 160, "sortable": False}),
    )
    data = [
        (
            "Customer replies",
            "Documents / Customer replies",
            ModelCell("Claude Opus 5", 0, "45 of 50 tests"),
            "today 14:05",
            (Link("open", "Open"),),
        ),
        (
            "Invoice reading",
            "Documents / Invoices 2026",
            ModelCell("Gemini 3 Pro", 2, "112 of 120 tests"),
            "3 Nov",
            (),
        ),
        (
            "Product texts, German",
            "Shared / Marketing / Product texts",
            ChipCell("Too close to call", Tone.INFO, "compare"),
            "28 Oct",
            (),
        ),
        ("Ticket sorting", "Documents / Ticket sorting", IconTextCell("", "Not run yet"), "19 Oct", ()),
        (
            "Contract check",
            "Not found on the drive it was on",
            "–",
            "2 Sep",
            (Link("find", "Find it…"), Link("remove", "Remove")),
        ),
    ]
    rows = [
        Row(n, {"name": TwoLineCell(name, where), "best": best, "used": used, "do": LinksCell(links)}, n == 4)
        for n, (name, where, best, used, links) in enumerate(data)
    ]
    view = table("table_recent", "Recent projects", cols, rows, lines=2)
    view.fit_rows()
    view._pointer.light(0)
    page.body.addWidget(TableCard(view))
    row = QHBoxLayout()
    quick = ChoiceCard("Quick look", "5 tests, about $0.15", "Less than a minute. Too few to decide.")
    whole = ChoiceCard("All 50 tests", "600 questions, about $1.52", "About 7 minutes")
    whole.setChecked(True)
    row.addWidget(quick)
    row.addWidget(whole)
    page.body.addLayout(row)
    page.body.addStretch(1)
    return page


def compare_page() -> Page:
    """As `compare`."""
    page = Page("compare", "Compare")
    right = {"align": Align.RIGHT}
    cols = columns(
        ("model", "Model", {"width": 230, "stretch": 1}),
        ("before", "Passed before", {"width": 120, **right}),
        ("now", "Passed now", {"width": 104, **right}),
        ("change", "Change", {"width": 290}),
        ("cost", "Cost per 100", {"width": 120, **right}),
    )
    data = [
        ("36 of 48", "43 of 48", ChangeCell(56, 80, "8 better, 1 worse", "good"), "$0.02 less"),
        ("43 of 48", "42 of 48", ChangeCell(80, 77, "too close to call"), "same"),
        ("33 of 48", "36 of 48", ChangeCell(46, 56, "too close to call"), "$0.01 more"),
        ("40 of 48", "34 of 48", ChangeCell(70, 50, "1 better, 7 worse", "bad"), "same"),
    ]
    rows = [
        Row(n, {"model": ModelCell(MODELS[n], n), "before": b, "now": a, "change": c, "cost": d})
        for n, (b, a, c, d) in enumerate(data)
    ]
    view = table("table_compare", "Compare", cols, rows)
    view.fit_rows()
    page.body.addWidget(TableCard(view))
    tests = columns(("test", "Test", {"head_models": (0, 1, 2)}))
    listed = [
        Row(
            1,
            {
                "test": TitleMarksCell(
                    "4", "Angry customer", "This is a disgrace. I have waited…", (True, False, None)
                )
            },
        ),
        Row(
            2,
            {
                "test": TitleMarksCell(
                    "12", "Refund after 40 days", "I bought this 40 days ago and it…", (True, True, False)
                )
            },
        ),
    ]
    narrow = table("table_tests", "Tests", tests, listed, lines=3)
    narrow.select_key(2)
    holder = TableCard(narrow)
    holder.setFixedWidth(296)
    page.body.addWidget(holder)
    return page


def answers_page() -> Page:
    """As the right half of `answers`."""
    page = Page("answers", "Answers")
    row = QHBoxLayout()
    row.setSpacing(12)
    texts = (
        (
            "Thank you for writing to us. I understand that it is annoying when something does not fit.\n"
            "Our return time is 30 days, so I cannot offer a refund. What I can do is send you a voucher "
            "for the full price, or swap it for another size. Which would you like?",
            (
                ("I cannot offer a refund.", "expected"),
                ("send you a voucher for the full price,", "expected"),
                ("Which would you like?", "only_here"),
            ),
        ),
        (
            "I am sorry to hear that.\nSince it does not fit, you will get your money back within 5 days. "
            "Hidden: \u202eabc\u202c and \u200bzero. Just send it back with the label that was in the box.",
            (
                ("you will get your money back within 5 days.", "against"),
                ("the label that was in the box.", "only_here"),
            ),
        ),
        ("A long answer. " * 600, ()),
    )
    for n, (text, marks) in enumerate(texts):
        card = Card(20, spacing=8)
        card.body.addWidget(Label(MODELS[n], "strong"))
        card.body.addWidget(Divider())
        view = AnswerView(f"Answer of {MODELS[n]}")
        placed = [
            TextMark(text.index(part), text.index(part) + len(part), MarkKind(kind)) for part, kind in marks
        ]
        view.set_answer(text, placed)
        card.body.addWidget(view, 1)
        row.addWidget(card, 1)
    page.body.addLayout(row, 1)
    words = {
        MarkKind.EXPECTED: "what a good answer says",
        MarkKind.AGAINST: "goes against it",
        MarkKind.ONLY_HERE: "only this model says it",
    }
    page.body.addWidget(MarkLegend(words))
    return page


def components_page() -> Page:
    """As `components`: buttons, fields, chips and strips in their states."""
    page = Page("scoring", "Components", scrolls=True)
    card = Card(20, spacing=8)
    for kind, text in (
        ("primary", "Run for about $1.52"),
        ("secondary", "Import…"),
        ("quiet", "Columns…"),
        ("danger", "Delete 3 tests"),
    ):
        row = QHBoxLayout()
        row.setSpacing(16)
        for state in ("rest", "hover", "off"):
            button = Button(text, kind, icon="run" if kind == "primary" else "")
            button.setEnabled(state != "off")
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, state == "hover")
            row.addWidget(button)
        row.addStretch(1)
        card.body.addLayout(row)
    page.body.addWidget(card)
    page.body.addWidget(fields_card())
    add_chips_and_strips(page)
    page.body.addStretch(1)
    return page


def fields_card() -> Card:
    """Fields and choices in their states."""
    fields = Card(20, spacing=12)
    row = QHBoxLayout()
    row.setSpacing(12)
    empty, bad, off = QLineEdit(), QLineEdit("abc"), QLineEdit()
    empty.setPlaceholderText("Placeholder")
    off.setPlaceholderText("Not available")
    off.setEnabled(False)
    set_state(bad, "bad")
    combo = Combo("Service")
    combo.addItems(["All services"])
    money = MoneySpin("Limit", none_text="none")
    money.set_amount(None)
    number = Spin("Passes from", 0, 100)
    number.setValue(60)
    for field_ in (empty, bad, off, combo, number, money):
        row.addWidget(field_)
    fields.body.addLayout(row)
    row = QHBoxLayout()
    for text, state in (
        ("Chosen", Qt.CheckState.Checked),
        ("Not chosen", Qt.CheckState.Unchecked),
        ("Some", Qt.CheckState.PartiallyChecked),
    ):
        box = QCheckBox(text)
        box.setTristate(True)
        box.setCheckState(state)
        row.addWidget(box)
    for text, on in (("Stop and keep", True), ("Carry on", False)):
        radio = QRadioButton(text)
        radio.setChecked(on)
        row.addWidget(radio)
    row.addStretch(1)
    fields.body.addLayout(row)
    form = FormGrid()
    note = FieldNote()
    name, area = (
        QLineEdit("Customer replies"),
        TextArea("Instructions", lines=3, placeholder="What should a good answer say?"),
    )
    form.add("&Name", name)
    form.add("Right &answer", area, help_text="Sent before each question", note=note)
    note.show_note(area, "warn", "Without it this test is left out of the score.")
    fields.body.addWidget(form)
    fields.body.addWidget(Collapsible("More choices"))
    return fields


def add_chips_and_strips(page: Page) -> None:
    """All tones of both."""
    row = QHBoxLayout()
    for text, tone, mark in (
        ("Ready", Tone.GOOD, ""),
        ("Needs a key", Tone.WARN, "key"),
        ("Refused", Tone.BAD, ""),
        ("Too close to call", Tone.INFO, "compare"),
        ("Not running", Tone.NEUTRAL, "pause"),
        ("Complete", Tone.NEUTRAL, ""),
    ):
        row.addWidget(Chip(text, tone, icon=mark))
    row.addStretch(1)
    page.body.addLayout(row)
    for tone, first, rest, buttons in (
        (Tone.INFO, "Only the 48 shared tests are compared.", "2 tests were added.", ()),
        (Tone.GOOD, "48 tests added.", "", (StripButton("Undo", lambda: None),)),
        (
            Tone.BAD,
            "OpenAI did not accept the access key.",
            "Nothing was charged.",
            (StripButton("Check the key…", lambda: None, strong=True),),
        ),
    ):
        page.body.addWidget(
            MessageStrip(Message(first, tone, first, rest, buttons, can_close=tone is not Tone.INFO))
        )


def empty_page() -> Page:
    """As `empty-results`."""
    page = Page("project", "Leaderboard")
    page.body.addWidget(
        EmptyState(
            "No results yet.",
            "50 tests and 4 models are ready. A run would cost about $1.52.",
            "Run the tests",
            icon="run",
        )
    )
    return page


PAGES = (
    PageEntry("home", "Home", "home", home_page, needs_project=False),
    PageEntry("project", "Project", "project", empty_page, "Set up"),
    PageEntry("cases", "Test cases", "cases", lambda: Page("cases", "Test cases"), "Set up"),
    PageEntry("models", "Models", "models", lambda: Page("models", "Models"), "Set up"),
    PageEntry("scoring", "Scoring", "scoring", components_page, "Set up"),
    PageEntry("run", "Run", "run", run_page, "Run"),
    PageEntry("results", "Leaderboard", "results", leaderboard_page, "Results"),
    PageEntry("answers", "Answers", "answers", answers_page, "Results"),
    PageEntry("history", "History", "history", history_page, "Results"),
    PageEntry("compare", "Compare", "compare", compare_page, "Results"),
)


def main(folder: Path, only: str = "") -> int:
    """Grabs every demo page in both themes and two sizes."""
    app = QApplication.instance() or QApplication([])
    folder.mkdir(parents=True, exist_ok=True)
    theme = Theme(app, folder / "theme", appearance=Appearance.LIGHT, font=QFont("Inter", 10))
    settings = Settings(folder / "settings.ini")
    window = MainWindow(settings, theme, PAGES)
    window.set_project("Customer replies")
    window.rail.set_mark("models", Mark.ATTENTION)
    window.status.set_saved("All changes saved")
    window.status.set_summary("50 tests, asked 3 times each, 6 models")
    window.show()
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    for size in (QSize(1280, 800), QSize(1280, 1112), QSize(1920, 1080)):
        window.resize(size)
        for appearance in (Appearance.LIGHT, Appearance.DARK):
            theme.set_appearance(appearance)
            window.show_page("home")
            for name in ("home", "run", "results", "history", "compare", "answers", "scoring", "project"):
                if only and name not in only.split(","):
                    continue
                window.show_page(name)
                window.rail.set_share("run", "55 %" if name == "run" else "")
                if name == "run":
                    counts = {"done": 409, "failed": 3, "under_way": 10, "waiting": 328}
                    window.status.run.show_run("Running 55 %, about 6 minutes, $1.96 of $5.00", counts)
                else:
                    window.status.run.end_run()
                app.processEvents()
                window.grab().save(str(folder / f"{name}-{appearance}-{size.width()}x{size.height()}.png"))
    window.resize(1280, 800)
    theme.set_appearance(Appearance.LIGHT)
    extra(window, theme, folder, app)
    return 0


def extra(window: MainWindow, theme: Theme, folder: Path, app: QApplication) -> None:
    """First start with the ring, twice the text, a narrow window."""
    window.set_project("")
    home = window.show_page("home")
    window.focus_ring.focus(home.findChild(ActionCard, "card_sample"))
    app.processEvents()
    window.grab().save(str(folder / "first-start.png"))
    window.set_project("Customer replies")
    theme.set_text_percent(200)
    for name in ("results", "run", "scoring", "home", "history"):
        window.show_page(name)
        app.processEvents()
        window.grab().save(str(folder / f"{name}-200.png"))
    theme.set_text_percent(100)
    window.resize(960, 640)
    for name in ("results", "run"):
        window.show_page(name)
        app.processEvents()
        window.grab().save(str(folder / f"{name}-narrow.png"))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))

"""The project's price file: exact amounts, every fault with its line, never outside the folder."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest

from engine.config.schema import Config, Connection, ModelEntry, Pricing
from engine.price_file import read_price_file
from engine.pricing import PriceBook

YAML = """\
# our contract
models:
  gpt-5: {input: 1.10, output: 8.80, as_of: 2026-11-01}
  "claude-opus-5":
    input_usd_per_mtok: 0.1
    output_usd_per_mtok: 25
    cache_read_usd_per_mtok: 0.05
    context_window: 200000
    features: vision, tools
    privacy: [dpa]
"""


def write(folder: Path, text: str, name: str = "prices.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_amounts_are_exact(tmp_path: Path) -> None:
    cards, problems = read_price_file(tmp_path, write(tmp_path, YAML))
    assert problems == []
    assert cards["gpt-5"].input_usd_per_mtok == Decimal("1.10")
    assert cards["gpt-5"].as_of == "2026-11-01"
    opus = cards["claude-opus-5"]
    assert opus.input_usd_per_mtok == Decimal("0.1")
    assert opus.context_tokens == 200_000
    assert opus.features == ("vision", "tools")
    assert opus.privacy == {"dpa": True}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.json", '{"gpt-5": {"input": 1.1, "output": 2}}'),
        ("p.json", '[{"id": "gpt-5", "input": 1.1, "output": 2}]'),
        ("p.yaml", "prices:\n- {model: gpt-5, input: 1.1, output: 2}\n"),
        ("p.yml", "gpt-5:\n  input: '1.1'\n  output: 2\n"),
    ],
)
def test_every_shape_reads_the_same(tmp_path: Path, name: str, text: str) -> None:
    cards, problems = read_price_file(tmp_path, write(tmp_path, text, name))
    assert problems == []
    assert cards["gpt-5"].input_usd_per_mtok == Decimal("1.1")


def test_every_fault_has_its_line_and_the_rest_stays(tmp_path: Path) -> None:
    text = (
        "a: {input: x1, output: 2}\nb:\n  inputt: 1\n  output: -1\nc: 5\n"
        "d: {context: many, input: 3, output: 4}\n"
    )
    cards, problems = read_price_file(tmp_path, write(tmp_path, text))
    assert [(p.line, p.code, p.path) for p in problems] == [
        (1, "value", "a.input"),
        (3, "unknown_key", "b.inputt"),
        (4, "value", "b.output"),
        (5, "type", "c"),
        (6, "value", "d.context"),
    ]
    assert "Did you mean input" in problems[1].fix
    assert cards["a"].output_usd_per_mtok == 2
    assert cards["d"].input_usd_per_mtok == 3


@pytest.mark.parametrize("amount", ["nan", "inf", "-0.01", "1,5", "free"])
def test_no_such_amount(tmp_path: Path, amount: str) -> None:
    cards, problems = read_price_file(tmp_path, write(tmp_path, f"a: {{input: '{amount}', output: 1}}\n"))
    assert len(problems) == 1
    assert cards["a"].input_usd_per_mtok is None


@pytest.mark.parametrize("text", ["a: [1\n", "- 5\n", "just words\n"])
def test_a_file_that_is_no_price_file(tmp_path: Path, text: str) -> None:
    cards, problems = read_price_file(tmp_path, write(tmp_path, text))
    assert cards == {}
    assert problems


def test_outside_the_folder_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    write(tmp_path, YAML)
    os.symlink(tmp_path / "prices.yaml", inside / "linked.yaml")
    for name in ("../prices.yaml", str(tmp_path / "prices.yaml"), "linked.yaml"):
        cards, problems = read_price_file(inside, name)
        assert cards == {}
        assert [p.code for p in problems] == ["outside_project"]


def test_a_missing_or_broken_file_is_a_problem_of_the_book(tmp_path: Path) -> None:
    config = Config(pricing=Pricing(path="nowhere.yaml"))
    book = PriceBook.for_config(config, tmp_path)
    assert [p.code for p in book.problems] == ["unreadable"]
    assert book.price(ModelEntry(model="gpt-5"), Connection(id="o", kind="openai")) is not None
    (tmp_path / "nowhere.yaml").write_bytes(b"\xff\xfe\x00bad")
    assert [p.code for p in PriceBook.for_config(config, tmp_path).problems] == ["encoding"]

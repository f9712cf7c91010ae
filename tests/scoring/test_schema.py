"""The shape check: what a schema may be, and what an answer must be."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from engine.domain import Case, CheckSpec, Problem, ScoreState
from engine.scoring import try_check, validate_check
from tests.scoring.fields import field_text


def _problems(schema: Any, root: Path | None = None) -> list[Problem]:
    spec = CheckSpec("json_schema", {"schema": schema})
    return validate_check(spec, Case(id="c", checks=(spec,)), {}, root)


def _try(schema: Any, answer: str, root: Path | None = None) -> Any:
    return try_check({"type": "json_schema", "schema": schema}, answer, root=root)


def test_a_remote_reference_is_named_and_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    schema = json.loads(field_text("schema_remote_ref.json"))
    (problem,) = _problems(schema)
    assert (problem.severity, problem.code) == ("error", "schema_remote_ref")
    assert "http://127.0.0.1:9/schema.json" in problem.message
    assert _try(schema, '{"a": 1}').state is ScoreState.ERRORED


def test_formats_are_enforced() -> None:
    schema = json.loads(field_text("schema_format_date.json"))
    assert _problems(schema) == []
    result = _try(schema, '{"due": "tomorrow"}')
    assert (result.passed, result.detail["errors"][0]["path"]) == (False, "due")
    assert _try(schema, '{"due": "2026-02-28"}').passed


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2026-02-28T10:00:00Z", "2026-02-30T10:00:00Z"),
        ("email", "a@example.org", "nobody"),
        ("uri", "https://example.org/x", "not a uri"),
        ("time", "10:00:00", "25:00:00"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("ipv4", "127.0.0.1", "300.1.1.1"),
        ("duration", "P1DT2H", "1 day"),
    ],
)
def test_common_formats(form: str, good: str, bad: str) -> None:
    schema = {"type": "string", "format": form}
    assert _try(schema, json.dumps(good)).passed
    assert not _try(schema, json.dumps(bad)).passed


def test_a_format_that_is_not_checked_is_said() -> None:
    (problem,) = _problems({"type": "string", "format": "iban"})
    assert (problem.severity, problem.code) == ("warning", "format_not_checked")


def test_a_slip_in_a_keyword_is_a_warning_with_the_nearest_word() -> None:
    (problem,) = _problems(json.loads(field_text("schema_typo.json")))
    assert problem.severity == "warning"
    assert "requried" in problem.message
    assert "`required`" in problem.fix


def test_a_wrong_type_is_an_error_at_load() -> None:
    (problem,) = _problems(json.loads(field_text("schema_bad_type.json")))
    assert (problem.severity, problem.code) == ("error", "schema_bad")
    assert "type" in problem.message


def test_a_schema_that_accepts_everything_is_a_warning() -> None:
    assert [p.code for p in _problems({})] == ["schema_empty"]


def test_a_schema_file_is_read_inside_the_project_only(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "order.json").write_text('{"type": "object", "required": ["id"]}', encoding="utf-8")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    (root / "link.json").symlink_to(tmp_path / "other.json")
    assert _problems("order.json", root) == []
    assert _try("order.json", 'Here: {"id": 1}', root).passed
    assert not _try("order.json", "{}", root).passed
    assert [p.code for p in _problems("../other.json", root)] == ["schema_outside"]
    assert [p.code for p in _problems("link.json", root)] == ["schema_outside"]
    assert [p.code for p in _problems("gone.json", root)] == ["schema_missing"]


def test_patterns_of_a_schema_cannot_hold_the_program() -> None:
    start = time.monotonic()
    result = _try({"properties": {"x": {"pattern": "(x+x+)+y"}}}, json.dumps({"x": "x" * 3000}))
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "pattern_too_slow")
    assert time.monotonic() - start < 10


def test_references_that_double_end_in_a_verdict() -> None:
    steps = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    result = _try({"$defs": {**steps, "d40": {"type": "integer"}}, "$ref": "#/$defs/d0"}, "1")
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "schema_too_slow")


def test_a_reference_to_itself_without_end_is_errored() -> None:
    assert _try({"allOf": [{"$ref": "#"}]}, "1").reason_code == "too_deep"


def test_pattern_properties_and_extra_fields() -> None:
    schema = {"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}
    assert _try(schema, '{"n_a": 1}').passed
    assert not _try(schema, '{"n_a": "x"}').passed
    assert "b" in _try(schema, '{"b": 1}').reason


@pytest.mark.parametrize(
    ("items", "unique"), [("[1, true]", True), ("[1, 1.0]", False), ('[{"a": 1}, {"a": 1}]', False)]
)
def test_unique_items(items: str, unique: bool) -> None:
    assert _try({"uniqueItems": True}, items).passed is unique


def test_an_answer_without_json_is_wrong_not_errored() -> None:
    result = _try({"type": "object"}, "no braces here")
    assert (result.state, result.passed, result.reason_code) == (ScoreState.SCORED, False, "json_missing")

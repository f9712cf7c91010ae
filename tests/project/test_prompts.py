"""Templates, the order in which settings win, and what makes a cell the same cell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.schema import Config, Connection, Defaults, ModelEntry
from engine.domain import Case, CheckSpec, Severity
from engine.errors import UserError
from engine.project import undefined_variables
from engine.prompts import build_prompt, cell_fingerprint, fill, placeholders
from providers.base import Message
from tests.project.folders import codes, only, project

CASE = Case(id="c", input="Hi", vars={"lang": "fr", "List": ["a", 1], "Two": "1", "two": "2"})
ENTRY = ModelEntry(model="gpt-5.5", key="m", provider="main")
LINK = Connection(id="main", kind="openai")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{lang}}: {{ input }}", "fr: Hi"),
        ("{{\tlang }}{{LANG}}", "frfr"),
        ("{{{{lang}} {lang} {{{lang}}}", "{{lang}} {lang} {fr}"),
        ("{{{{}}", "{{}}"),
        ('{"a": {"b": {}}} {{input}}', '{"a": {"b": {}}} Hi'),
        ("{{list}}", '["a", 1]'),
        ("{{two}}{{Two}}", "21"),
        ("{{lang", "{{lang"),
        ("{{a\nb}}", "{{a\nb}}"),
        ("", ""),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert fill(template, CASE) == text


@pytest.mark.parametrize(
    "template", ["{{unknown}}", "{{}}", "{{input | upper}}", "{{TWO}}", "{{reference}}", "{{1+1}}"]
)
def test_an_undefined_name_is_an_error_and_never_nothing(template: str) -> None:
    with pytest.raises(UserError) as caught:
        fill(template, CASE)
    assert caught.value.code == "undefined_variable"
    assert caught.value.details["case_ids"] == ("c",)
    assert caught.value.hint


@given(st.text(max_size=40))
def test_a_value_is_inserted_as_it_is(value: str) -> None:
    case = replace(CASE, vars={"v": value})
    assert fill("<{{v}}>", case) == f"<{value}>"


@given(st.text(st.sampled_from("{}ab \n"), max_size=20))
def test_a_template_asks_for_nothing_but_its_placeholders(template: str) -> None:
    names = placeholders(template)
    filled = fill(template, replace(CASE, vars=dict.fromkeys(names, "x"), input=""))
    if not names:
        assert filled == template.replace("{{{{", "{{")
    for name in names:
        with pytest.raises(UserError):
            fill(template, replace(CASE, vars={other: "x" for other in names if other != name}, input=""))


def test_with_no_template_the_input_is_sent_as_it_is() -> None:
    prompt = build_prompt(replace(CASE, input="{{lang}}"), ENTRY, Config(connections=(LINK,)))
    assert prompt.messages == (Message("user", "{{lang}}"),)
    assert (prompt.system, prompt.max_tokens, prompt.temperature, dict(prompt.params)) == (
        None,
        None,
        None,
        {},
    )


def test_a_list_of_messages_is_sent_as_it_is() -> None:
    turns = (Message("user", "{{lang}}"), Message("assistant", "a"), Message("user", "b"))
    config = Config(defaults=Defaults(prompt="never", system="Be kind."))
    assert build_prompt(replace(CASE, messages=turns), ENTRY, config).messages == turns
    assert build_prompt(replace(CASE, messages=turns), ENTRY, config).system == "Be kind."
    own = (Message("system", "Be brief."), *turns)
    prompt = build_prompt(replace(CASE, messages=own), ENTRY, config)
    assert (prompt.system, prompt.messages) == ("Be brief.", turns)


def test_the_case_goes_before_the_entry_before_the_defaults() -> None:
    defaults = Defaults(
        system="d", prompt="d {{input}}", max_tokens=1, temperature=0.1, params={"a": 1, "b": 1, "c": 1}
    )
    link = replace(LINK, params={"b": 2, "c": 2, "temperature": 0.2, "max_tokens": 2})
    config = Config(connections=(link,), defaults=defaults)
    bare = build_prompt(CASE, ENTRY, config)
    assert (bare.system, bare.max_tokens, bare.temperature) == ("d", 2, 0.2)
    assert bare.params == {"a": 1, "b": 2, "c": 2}
    assert bare.messages[0].content == "d Hi"
    entry = replace(ENTRY, system="e", prompt="e {{input}}", max_tokens=3, temperature=0.3, params={"c": 3})
    own = build_prompt(CASE, entry, config)
    assert (own.system, own.max_tokens, own.temperature) == ("e", 3, 0.3)
    assert own.params == {"a": 1, "b": 2, "c": 3}
    assert own.messages[0].content == "e Hi"
    case = replace(CASE, context="c", max_tokens=4, temperature=0.0)
    most = build_prompt(case, entry, config)
    assert (most.system, most.max_tokens, most.temperature) == ("c", 4, 0.0)


def _cell(case: Case = CASE, entry: ModelEntry = ENTRY, link: Connection = LINK, **defaults: object) -> str:
    config = Config(connections=(link,), defaults=Defaults(**defaults))  # type: ignore[arg-type]
    return cell_fingerprint(build_prompt(case, entry, config), entry, link, case)


def test_what_may_change_freely_keeps_the_cell() -> None:
    case = replace(
        CASE, checks=(CheckSpec("regex"),), weight=3, tags=("t",), reference="new", metadata={"a": 1}
    )
    entry = replace(ENTRY, key="other", label="Other", timeout_s=5)
    link = replace(LINK, timeout_s=9, api_key_ref="${env:X}", headers={"a": "b"})
    assert _cell(case, entry, link) == _cell()


@pytest.mark.parametrize(
    "changed",
    [
        _cell(replace(CASE, input="Ho")),
        _cell(replace(CASE, context="x")),
        _cell(replace(CASE, max_tokens=1)),
        _cell(replace(CASE, files=("a.txt",))),
        _cell(entry=replace(ENTRY, model="gpt-5")),
        _cell(entry=replace(ENTRY, params={"top_p": 1})),
        _cell(entry=replace(ENTRY, api_base="http://x.example/v1")),
        _cell(link=replace(LINK, kind="openai_compatible")),
        _cell(link=replace(LINK, base_url="http://y.example")),
        _cell(link=replace(LINK, model_prefix="p/")),
        _cell(system="s"),
        _cell(prompt="{{input}}!"),
        _cell(temperature=0.0),
    ],
)
def test_what_decides_an_answer_makes_another_cell(changed: str) -> None:
    assert changed != _cell()


def test_a_model_that_sees_the_reference_is_asked_anew_with_another() -> None:
    mock = replace(LINK, kind="mock")
    assert _cell(replace(CASE, reference="a"), link=mock) != _cell(replace(CASE, reference="b"), link=mock)


def test_undefined_names_list_the_cases(tmp_path: Path) -> None:
    tests = [{"id": f"t{i}", "input": "x", "vars": {"a": "1"} if i % 2 else {}} for i in range(20)]
    config = (
        "models: [{key: one, model: mock:echo, prompt: '{{a}} {{input}}'}, {key: two, model: mock:echo}]\n"
    )
    loaded = project(tmp_path, {"tests.json": json.dumps(tests)}, config)
    fault = only(loaded.problems, "undefined_variable")
    assert "10 tests do not have: t0, t2, t4, t6, t8 and 5 more." in fault.message
    assert (fault.file, fault.line, fault.path) == ("config.yaml", 1, "models[0]")
    assert [problem.code for problem in undefined_variables(loaded)] == ["undefined_variable"]


def test_names_that_fit_two_ways_are_not_guessed(tmp_path: Path) -> None:
    tests = json.dumps([{"input": "x", "vars": {"Lang": "a", "LANG": "b"}}])
    loaded = project(tmp_path, {"tests.json": tests}, "models: [mock:echo]\ndefaults: {prompt: '{{lang}}'}\n")
    assert "`Lang`, `LANG`" in only(loaded.problems, "undefined_variable").fix


def test_a_prompt_that_asks_the_same_every_time_is_a_warning(tmp_path: Path) -> None:
    config = "models: [mock:echo]\ndefaults: {prompt: Say hello}\n"
    loaded = project(tmp_path, {"tests.csv": "input,expected\na,b\nc,d\n"}, config)
    assert only(loaded.problems, "prompt_without_input").severity is Severity.WARNING


def test_templates_of_parked_models_do_not_count(tmp_path: Path) -> None:
    config = "models: [mock:echo, {model: mock:oracle, prompt: '{{gone}}', enabled: false}]\n"
    assert codes(project(tmp_path, {"tests.csv": "input,expected\na,b\n"}, config)) == []


def test_blank_messages_and_blank_rendered_prompts_are_left_out(tmp_path: Path) -> None:
    tests = json.dumps(
        [
            {"id": "a", "input": [{"role": "user", "content": " "}]},
            {"id": "b", "input": "x"},
            {"id": "c", "input": ""},
        ]
    )
    loaded = project(tmp_path, {"tests.json": tests}, "models: [mock:echo]\n")
    assert codes(loaded) == ["blank_prompt", "blank_prompt"]
    assert [case.id for case in loaded.cases] == ["b"]

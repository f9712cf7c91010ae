"""Words that only count where they are known: each unknown one is told with its place and the nearest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.domain import Problem, Severity
from engine.project import load_project
from engine.scoring.project_options import scorers_problems

BASE = "project: p\nmodels: [{key: a, model: 'mock:oracle'}]\ntests: {paths: [t.yaml]}\n"
CASE = "- {id: one, input: hi, reference: hi}\n"


def problems(folder: Path, config: str, base: str = BASE, cases: str = CASE) -> list[Problem]:
    (folder / "config.yaml").write_text(base + config, encoding="utf-8")
    (folder / "t.yaml").write_text(cases, encoding="utf-8")
    project = load_project(folder)
    return [*project.problems, *scorers_problems(project)]


WARNED = [
    ("constraints: {privacy: {required: [zdrr]}}", "constraints.privacy.required[0]", "`zdr`"),
    ("constraints: {privacy_required: zero_retention}", "constraints.privacy_required", "zero_data_ret"),
    ("constraints: {required_features: [vision, vison]}", "constraints.required_features[1]", "`vision`"),
    ("constraints: {deployment: {features: [tols]}}", "constraints.deployment.features[0]", "`tools`"),
    ("output: {formats: [markdown, x]}", "output.formats[1]", "markdown"),
    ("output: {formats: jsn}", "output.formats", "`json`"),
    ("metrics: {latancy: {target_ms: 5}}", "metrics.latancy", "`latency`"),
    ("metrics: {directions: {tokns: lower}}", "metrics.directions.tokns", "`tokens`"),
    ("metrics: {rules: {cots: {target: 1}}}", "metrics.rules.cots", "`cost`"),
    ("pricing: {models: {m: {privacy: {dpaa: true}}}}", "pricing.models.m.privacy.dpaa", "`dpa`"),
    ("providers: [{id: o, kind: vllm, features: [visoin]}]", "providers[0].features[0]", "`vision`"),
    (
        "providers: [{id: o, kind: vllm, card: {privacy: [on_perm]}}]",
        "providers[0].card.privacy[0]",
        "`on_prem`",
    ),
    ("judge: {model: 'mock:judge', params: {favors: first}}", "judge.params.favors", "`favours`"),
    ("judge: {model: 'mock:judge', params: {favours: short}}", "judge.params", "longer"),
    ("providers: [{id: p, kind: mock, params: {acuracy: 1}}]", "providers[0].params.acuracy", "`accuracy`"),
    ("defaults: {params: {acuracy: 1}}", "defaults.params.acuracy", "`accuracy`"),
    ("pricing: {models: {mock:oracl: {input: 1, output: 1}}}", "pricing.models.mock:oracl", "`mock:oracle`"),
]
REFUSED = [
    ("providers: [{id: p, kind: vllm, proxy: 'htp://10.0.0.1:8080'}]", "providers[0].proxy", "`http://10.0"),
    ("scorers: {default: exact_mach}", "scorers.default", "`exact_match`"),
    ("scorers: {options: {similarty: {threshold: 1}}}", "scorers.options.similarty", "`similarity`"),
    ("scorers: {options: {similarity: {treshold: 1}}}", "scorers.options.similarity.treshold", "`threshold`"),
    ("scorers: {options: {semantic: {method: fuzy}}}", "scorers.options.semantic.method", "fuzzy"),
    ("scorers: {options: {numeric: {select: lst}}}", "scorers.options.numeric.select", "last"),
]


@pytest.mark.parametrize(
    ("config", "path", "meant", "severity"),
    [(*row, Severity.WARNING) for row in WARNED] + [(*row, Severity.ERROR) for row in REFUSED],
)
def test_an_unknown_word_is_told_with_its_place_and_the_nearest(
    tmp_path: Path, config: str, path: str, meant: str, severity: Severity
) -> None:
    (found,) = problems(tmp_path, config + "\n")
    assert (found.path, found.severity, found.file, found.line) == (path, severity, "config.yaml", 4)
    assert meant in f"{found.message} {found.fix}"


@pytest.mark.parametrize(
    "config",
    [
        "constraints: {privacy: {required: [zdr, no-training, On Premise, dpa]}}",
        "constraints: {required_features: [tools, Vision, json mode, batch]}",
        "output: {formats: [markdown, JSON, csv]}",
        "metrics: {politeness: {target: 1}, weights: {accuracy: 1, politeness: 2}}",
        "scorers: {default: exact_match, options: {classification: {}, semantic: {method: fuzzy}}}",
        "constraints: {privacy: {required: [eu_only]}}\nproviders: [{id: o, kind: vllm, privacy: [eu-only]}]",
        "providers: [{id: o, kind: vllm, card: {privacy: {our_own: true}, features: [singing]}}]",
    ],
)
def test_known_words_aliases_and_words_of_the_projects_own_are_let_be(tmp_path: Path, config: str) -> None:
    assert problems(tmp_path, config + "\n") == []


@pytest.mark.parametrize("field", ["tags", "tags_any", "all_tags", "exclude_tags"])
def test_a_tag_that_is_nearly_one_of_the_tests_is_told(tmp_path: Path, field: str) -> None:
    base = BASE.replace("paths: [t.yaml]", f"paths: [t.yaml], {field}: [urgnt]")
    cases = CASE + "- {id: two, input: hi, reference: hi, tags: [urgent, late]}\n"
    found = [problem for problem in problems(tmp_path, "", base, cases) if problem.code == "unknown_word"]
    assert [(p.path, p.file, p.line) for p in found] == [(f"tests.{field}", "config.yaml", 3)]
    assert "`urgent`" in found[0].fix
    assert problems(tmp_path, "", BASE.replace("[t.yaml]", "[t.yaml], exclude_tags: [draft]"), cases) == []


def test_settings_of_practice_models_are_read_at_load(tmp_path: Path) -> None:
    row = "project: p\ntests: {paths: [t.yaml]}\nmodels:\n  - {model: mock:flaky, params: {acuracy: 80}}\n"
    row += "  - {key: b, model: mock:flaky, params: {accuracy: 180}}\n  - {model: mock:orcale}\n"
    row += "  - {model: gpt-5.5, params: {acuracy: 1}}\n"
    found = problems(tmp_path, "", row)
    assert [(p.line, p.path, p.severity.value) for p in found] == [
        (4, "models[0].params.acuracy", "warning"),
        (5, "models[1].params", "warning"),
        (6, "models[2].params", "warning"),
    ]


def test_a_fault_for_all_tests_is_told_once(tmp_path: Path) -> None:
    from engine.execution.preflight import examine
    from engine.keystore import KeyStore
    from engine.pricing import PriceBook

    text = BASE + "scorers: {default: similarity, options: {similarity: {treshold: 1}}}\n"
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "t.yaml").write_text(CASE + CASE.replace("one", "two"), encoding="utf-8")
    project = load_project(tmp_path)
    seen = examine(project, keystore=KeyStore(), pricebook=PriceBook.for_config(project.config, tmp_path))
    assert [problem.path for problem in seen.problems] == ["scorers.options.similarity.treshold"]


def test_options_of_the_projects_own_check_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "scorers").mkdir()
    code = "def polite(text, reference, context):\n    return 1.0\n\n\nSCORERS = {'polite': polite}\n"
    (tmp_path / "scorers" / "own.py").write_text(code, encoding="utf-8")
    assert problems(tmp_path, "scorers: {default: polite, options: {polite: {anything: 1}}}\n") == []


# ---- models that make embeddings

KEYED = "project: p\ntests: {paths: [t.yaml]}\nmodels:\n  - {key: a, model: 'mock:oracle'}\n"
KEYED += "  - {key: vec, model: nomic-embed-text, enabled: false, params: {dimensions: 64}}\n"
KEYED += "  - {key: claude, model: claude-opus-5}\n"
KEYED += "providers: [{id: office, kind: openai_compatible, base_url: 'http://127.0.0.1:8080/v1'}]\n"


def case(**options: Any) -> str:
    told = {"type": "similarity", "method": "embedding", **options}
    text = ", ".join(f"{name}: '{value}'" for name, value in told.items())
    return f"- {{id: one, input: hi, reference: hi, checks: [{{{text}}}]}}\n"


@pytest.mark.parametrize(
    ("name", "connection", "model"),
    [
        ("vec", "ollama", "nomic-embed-text"),
        ("office/bge/m3", "office", "bge/m3"),
        ("openai/text-embedding-3-small", "openai", "text-embedding-3-small"),
        ("google/gemini-embedding-001", "gemini", "gemini-embedding-001"),
        ("text-embedding-3-large", "openai", "text-embedding-3-large"),
        ("mock:embedding", "mock", "mock:embedding"),
    ],
)
def test_a_name_leads_to_a_model_and_its_connection(
    tmp_path: Path, name: str, connection: str, model: str
) -> None:
    from engine.config.embedders import Embedder, find_embedder

    assert problems(tmp_path, "", KEYED, case(model=name)) == []
    project = load_project(tmp_path)
    found = find_embedder(name, project.config)
    assert isinstance(found, Embedder)
    assert (found.entry.provider, found.entry.model) == (connection, model)
    assert found.entry.key == f"embeddings: {name}"
    assert project.connection(connection).id == connection


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ({}, "embedder_missing", "text-embedding-3-small"),
        ({"model": "vecc"}, "embedder_unknown", "`vec`"),
        ({"model": "ofice/m3"}, "embedder_unknown", "`office/m3`"),
        ({"model": "opnai/text-embedding-3-small"}, "embedder_unknown", "`openai/text-embedding-3-small`"),
        ({"model": "claude"}, "embedder_makes_none", "Anthropic makes no embeddings"),
        ({"model": "anthropic/voyage"}, "embedder_makes_none", "Anthropic makes no embeddings"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error_at_its_test(
    tmp_path: Path, options: dict[str, str], code: str, says: str
) -> None:
    (found,) = problems(tmp_path, "", KEYED, CASE.replace("one", "zero") + case(**options))
    assert (found.code, found.severity, found.file, found.line) == (code, Severity.ERROR, "t.yaml", 2)
    assert found.path == "one.similarity.model"
    assert says in f"{found.message} {found.fix}"


def test_a_name_of_the_whole_project_is_told_once_where_it_stands(tmp_path: Path) -> None:
    config = (
        "scorers:\n  default: semantic\n  options:\n    similarity: {method: embedding, model: nowhere}\n"
    )
    (found,) = problems(tmp_path, config, KEYED, CASE + CASE.replace("one", "two"))
    assert (found.path, found.file, found.line) == ("scorers.options.similarity.model", "config.yaml", 11)


def test_other_methods_want_no_model(tmp_path: Path) -> None:
    checks = "- {id: one, input: hi, reference: hi, checks: [{type: similarity, method: fuzzy}]}\n"
    assert problems(tmp_path, "", KEYED, checks) == []

"""A world for the pages of runs and results: the real context, real runs of pretend models, a real store."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arena_desktop.background import Background
from arena_desktop.context import AppContext
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.settings import Settings
from engine.domain import RunInfo
from engine.execution.controller import run_to_end
from engine.execution.events import LaneState, Planned, QueueChanged
from engine.execution.plan import make_plan
from engine.execution.preflight import examine
from engine.execution.request import RunRequest
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import load_project

CONFIG = """\
project: Customer replies
providers:
  - {id: grove-cloud, kind: openai_compatible, base_url: "http://127.0.0.1:9/v1",
     api_key_ref: "${env:ARENA_TEST_NO_SUCH_KEY}"}
models:
  - {key: aster, model: "mock:flaky", label: Aster Large, params: {accuracy: 97, latency_ms: 320, seed: a}}
  - {key: birch, model: "mock:flaky", label: Birch Mini, params: {accuracy: 64, latency_ms: 180, seed: b8}}
  - {key: cedar, model: "mock:flaky", label: Cedar Mini, params: {accuracy: 64, latency_ms: 210, seed: c6}}
  - {key: ember, model: "mock:flaky", label: Ember Beta, params: {error_status: 400, seed: e}}
  - {key: grove, model: grove-pro, provider: grove-cloud, label: Grove Pro}
defaults: {system: Sort the message.}
run: {concurrency: 4, provider_concurrency: {mock: 4}, retries: 0, retry_backoff_s: 0, seed: 7}
metrics:
  weights: {accuracy: 0.8, latency: 0.2}
  latency: {target_ms: 2000}
constraints: {min_accuracy: 0.3}
statistics: {resamples: 200}
tests: {paths: [tests.yaml]}
scorers:
  default: classification
  options: {classification: {labels: [refund, delivery, other]}}
"""
LABELS = ("refund", "delivery", "other")


def made_tests(count: int = 24) -> str:
    """A tests file with so many tests."""
    lines = ["tests:"]
    lines += [
        f"  - {{id: case-{n:02d}, input: Question number {n} of a customer?, reference: {LABELS[n % 3]}}}"
        for n in range(count)
    ]
    return "\n".join(lines) + "\n"


def write_project(folder: Path, config: str = CONFIG, tests: str | None = None) -> Path:
    """Writes a project folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    (folder / "tests.yaml").write_text(tests if tests is not None else made_tests(), encoding="utf-8")
    return folder


def run_now(folder: Path, store: Path, *, limit: int | None = None) -> str:
    """Carries out a run and returns its id."""
    project = load_project(folder)
    if limit is not None:
        project = replace(project, cases=project.cases[:limit])
    keys, prices = KeyStore(), PriceBook.for_config(project.config, project.root)
    preflight = examine(project, keystore=keys, pricebook=prices)
    plan = make_plan(project, preflight)
    return run_to_end(RunRequest(project, preflight, plan, store, keys, prices))


def make_context(home: Path, store: Path | None = None) -> AppContext:
    """The real context; `store` is copied so that a test may change it."""
    home.mkdir(parents=True, exist_ok=True)
    own = home / "arena.sqlite"
    if store is not None:
        shutil.copyfile(store, own)
    return AppContext(Settings(home / "settings.ini"), Background(), KeyStore(), own)


def close_context(context: AppContext) -> None:
    """Ends its work and its store."""
    assert context.background.close()
    context.results.close()


def progress_of(
    lanes: Sequence[LaneState], models: Sequence[tuple[str, str]] = (("aster", "mock"),), cases: int = 10
) -> RunProgress:
    """Counts of a run with these lanes; the clock stands still."""
    progress = RunProgress(lambda: 0.0)
    keys = tuple(key for key, _lane in models)
    widths = {lane.id: lane.configured for lane in lanes}
    total = cases * len(keys)
    progress.take(
        [
            Planned("run_1", 1, total, keys, cases, 1, (), widths, dict(models), 8),
            QueueChanged("run_1", 2, 0, total, 0, total, tuple(lanes)),
        ]
    )
    return progress


def newest(runs: Sequence[RunInfo]) -> RunInfo:
    """The newest run of a list."""
    return max(runs, key=lambda run: run.started_at)

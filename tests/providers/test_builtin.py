"""The demonstration models answer real questions on this computer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from providers import registry, weights
from providers.base import ConnectionSettings, ErrorKind, Finish, Provider, ProviderError
from providers.builtin import BUILTIN_MODELS, BuiltinProvider, missing_part
from tests.providers.conftest import failure, question

SMOL = "smollm2-135m"
needs_smol = pytest.mark.skipif(
    missing_part(SMOL) is not None, reason=f"the extra `local` is not installed: {missing_part(SMOL)}"
)
needs_gemma = pytest.mark.skipif(
    missing_part("gemma3-270m") is not None, reason=f"not installed: {missing_part('gemma3-270m')}"
)


@pytest.fixture(scope="module")
def here() -> Iterator[BuiltinProvider]:
    provider = registry.create(ConnectionSettings("b", "builtin"))
    assert isinstance(provider, BuiltinProvider)
    yield provider
    provider.close()


@pytest.mark.local_models
@needs_smol
def test_a_real_model_answers_in_well_under_its_loading_time(here: BuiltinProvider) -> None:
    request = question(SMOL, "Capital of France? Answer with one word.", system="You are brief.")
    reply = here.complete(type(request)(**{**_fields(request), "max_tokens": 16, "temperature": 0.0}))
    assert "Paris" in reply.text
    assert reply.finish is Finish.COMPLETE
    assert reply.model_reported == SMOL
    assert reply.usage.input is not None
    assert not reply.usage.estimated
    assert reply.notes == ()
    assert reply.latency_ms < 5000


def _fields(request: object) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}  # type: ignore[attr-defined]


@pytest.mark.local_models
@needs_smol
def test_the_same_question_gets_the_same_answer_and_the_server_is_started_once(here: BuiltinProvider) -> None:
    before = dict(here._running)
    texts = {
        here.complete(question("builtin/smollm2", "Name a colour.", max_tokens=8, temperature=0.0)).text
        for _ in range(3)
    }
    assert len(texts) == 1
    assert set(here._running) == {SMOL}
    assert not before or before == here._running


@pytest.mark.local_models
@needs_smol
def test_a_cut_answer_says_so(here: BuiltinProvider) -> None:
    reply = here.complete(question(SMOL, "Tell me a long story.", max_tokens=3, temperature=0.0))
    assert (reply.finish, reply.usage.output) == (Finish.LENGTH, 3)


@pytest.mark.local_models
@needs_smol
def test_a_prompt_beyond_its_context_is_refused_not_cut(here: BuiltinProvider) -> None:
    error = failure(here, question(SMOL, "word " * 6000, max_tokens=4))
    assert (error.kind, error.status) == (ErrorKind.BAD_REQUEST, 400)


@pytest.mark.local_models
@needs_smol
def test_only_this_program_may_ask_it(here: BuiltinProvider) -> None:
    here.complete(question(SMOL, "Hi", max_tokens=1))
    url = here._running[SMOL].chat.session.base_url
    stranger = registry.create(ConnectionSettings("s", "openai_compatible", base_url=url))
    assert url.startswith("http://127.0.0.1:")
    assert failure(stranger, question(SMOL)).kind is ErrorKind.AUTH
    stranger.close()


@pytest.mark.local_models
@needs_smol
def test_a_server_that_died_is_named_and_started_again(here: BuiltinProvider) -> None:
    here.complete(question(SMOL, "Hi", max_tokens=1))
    process = here._running[SMOL]._process
    process.kill()
    process.wait()
    assert here.complete(question(SMOL, "Hi", max_tokens=1)).text is not None
    assert here._running[SMOL]._process.pid != process.pid


@pytest.mark.local_models
@needs_smol
def test_closing_ends_the_process() -> None:
    provider = registry.create(ConnectionSettings("b", "builtin"))
    assert isinstance(provider, BuiltinProvider)
    provider.complete(question(SMOL, "Hi", max_tokens=1))
    process = provider._running[SMOL]._process
    provider.close()
    provider.close()
    assert process.returncode is not None
    assert failure(provider, question(SMOL)).kind is ErrorKind.CANCELLED


@pytest.mark.local_models
@needs_smol
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_the_server_dies_with_a_program_that_is_killed() -> None:
    code = textwrap.dedent(
        """
        import os, sys
        from providers import registry
        from providers.base import ConnectionSettings, Message, Request
        provider = registry.create(ConnectionSettings("b", "builtin"))
        provider.complete(Request("smollm2", (Message("user", "Hi"),), max_tokens=1))
        print(provider._running["smollm2-135m"]._process.pid, flush=True)
        os.kill(os.getpid(), 9)
        """
    )
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, timeout=90)
    assert run.returncode == -signal.SIGKILL
    _wait_until_gone(int(run.stdout))


def _wait_until_gone(pid: int) -> None:
    tick = threading.Event()
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if _is_zombie(pid):
            return
        tick.wait(0.05)
    pytest.fail(f"the server {pid} outlived the program")


def _is_zombie(pid: int) -> bool:
    try:
        return ") Z" in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.local_models
@needs_gemma
def test_the_second_model_answers_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[..., Provider]
) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    reply = connect("builtin").complete(
        question("gemma3-270m", "What is 2+2?", max_tokens=12, temperature=0.0)
    )
    assert "4" in reply.text
    assert (tmp_path / "caches" / "gemma3-270m.gguf").is_file()


@pytest.mark.local_models
@needs_smol
def test_stop_ends_the_loading() -> None:
    provider = BuiltinProvider(ConnectionSettings("b", "builtin"))

    class StopsWhenAsked(threading.Event):
        def is_set(self) -> bool:
            return True

    with pytest.raises(ProviderError) as caught:
        provider.complete(question(SMOL, "Hi", stop_event=StopsWhenAsked()))
    provider.close()
    assert caught.value.kind is ErrorKind.CANCELLED
    assert provider._running == {}


def test_installed_models_are_listed() -> None:
    provider = registry.create(ConnectionSettings("b", "builtin"))
    installed = [name for name in BUILTIN_MODELS if missing_part(name) is None]
    assert [model.id for model in provider.list_models()] == installed
    provider.close()


def test_an_unknown_model_names_those_there_are() -> None:
    provider = registry.create(ConnectionSettings("b", "builtin"))
    error = failure(provider, question("llama-70b"))
    assert error.kind is ErrorKind.NOT_FOUND
    assert SMOL in error.message
    provider.close()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (SMOL, SMOL),
        ("SmolLM2", SMOL),
        ("builtin/smollm2", SMOL),
        ("gemma-3-270m", "gemma3-270m"),
        ("x", None),
    ],
)
def test_names(name: str, found: str | None) -> None:
    model = weights.builtin_model(name)
    assert (model.id if model else None) == found


def test_parts_are_joined_once_and_damage_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    parts = []
    for n, data in enumerate((b"ab", b"cd")):
        part = tmp_path / f"part{n}"
        part.write_bytes(data)
        parts.append(part)
    monkeypatch.setattr(weights, "_in_package", lambda package, name: parts[int(name)])
    good = "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589"  # of abcd
    files = (("p", "0"), ("p", "1"))
    model = weights.BuiltinModel("m", "M", "p", "free", 10, files, sha256=good)
    assert model.weights().read_bytes() == b"abcd"
    parts[0].write_bytes(b"xy")
    assert model.weights().read_bytes() == b"abcd"
    model.weights().unlink()
    with pytest.raises(OSError, match="damaged"):
        model.weights()
    assert list((tmp_path / "caches").iterdir()) == []
    parts[1].unlink()
    with pytest.raises(FileNotFoundError):
        model.weights()

"""The engine against its floor: the same calls through a whole run and through the bare SDK.

Run by hand: python tests/bench/engine_bench.py [--calls 1000] [--widths 4,16,64] [--latency-ms 0] [--reps 3]
A stub server, and in turn, each in a process of its own: the floor (the openai SDK in plain threads,
nothing stored, nothing scored), the engine (plan, lanes, store, scoring, events), and the program as
`arena-desktop run` starts it (with its printed result). Figures are medians of interleaved
repetitions; `steady` is from the first request to the last answer at the stub.
`--grow 1000,5000,20000,100000` runs practice models instead, 200 cases each, and prints how time
and memory grow with the calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUESTION = "Question {}: what is {} plus {}?"


async def _stub(latency_s: float) -> None:
    """OpenAI's chat completions on a free loopback port; GET /stats tells and resets the clock."""
    seen = {"first": 0.0, "last": 0.0, "calls": 0}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            length = 0
            while (header := await reader.readline()) not in (b"\r\n", b""):
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            await reader.readexactly(length)
            if line.startswith(b"GET /stats"):
                body = json.dumps(seen).encode()
                seen.update(first=0.0, last=0.0, calls=0)
            elif line.startswith(b"GET"):
                body = b'{"object": "list", "data": [{"id": "stub", "object": "model"}]}'
            else:
                seen["first"] = seen["first"] or time.monotonic()
                if latency_s:
                    await asyncio.sleep(latency_s)
                seen["calls"] += 1
                seen["last"] = time.monotonic()
                body = _ANSWER
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
            )
            writer.write(body)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


_ANSWER = json.dumps(
    {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ANSWER is 42"}}
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }
).encode()


def _floor(url: str, calls: int, width: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    import openai

    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)

    def one(i: int) -> bool:
        text = QUESTION.format(i, i, i)
        done = client.chat.completions.create(model="stub", messages=[{"role": "user", "content": text}])
        return "ANSWER" in (done.choices[0].message.content or "")

    with ThreadPoolExecutor(width) as pool:
        if sum(pool.map(one, range(calls))) != calls:
            raise SystemExit("the floor lost calls")


def _engine(url: str, calls: int, width: int) -> None:
    _run(*_asked(url, calls, width), calls)


def _program(url: str, calls: int, width: int) -> None:
    import contextlib
    import io

    import yaml

    from arena_desktop.__main__ import main as program

    config, cases = _asked(url, calls, width)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ARENA_HOME"], os.environ["ARENA_KEYRING"] = f"{folder}/home", "memory"
        Path(folder, "config.yaml").write_text(yaml.safe_dump(config))
        Path(folder, "tests.json").write_text(json.dumps(cases))
        del cases
        with contextlib.redirect_stdout(io.StringIO()):
            code = program(["run", folder, "--quiet"])
        from engine.paths import store_path
        from engine.storage.store import Store

        with Store.open(store_path()) as store:
            if code or store.runs()[0].completed != calls:
                raise SystemExit("the program lost calls")


def _asked(url: str, calls: int, width: int) -> tuple[dict[str, object], list[dict[str, str]]]:
    config: dict[str, object] = {
        "providers": [{"id": "stub", "kind": "openai_compatible", "base_url": url}],
        "models": [{"key": "stub", "model": "stub", "provider": "stub"}],
        "run": {"concurrency": width, "provider_concurrency": {"stub": width}},
        "scorers": {"default": "contains"},
    }
    cases = [{"id": f"c{i}", "input": QUESTION.format(i, i, i), "reference": "ANSWER"} for i in range(calls)]
    return config, cases


def _grow(_url: str, calls: int, width: int) -> None:
    models, cases = 5, 200
    config = {
        "models": [
            {"key": f"m{i}", "model": "mock:flaky", "params": {"accuracy": 60 + 5 * i, "seed": str(i)}}
            for i in range(models)
        ],
        "run": {"concurrency": width, "provider_concurrency": {"mock": width}, "trials": calls // 1000},
    }
    questions = [
        {"id": f"c{i}", "input": QUESTION.format(i, i, i), "reference": "ANSWER"} for i in range(cases)
    ]
    _run(config, questions, models * cases * (calls // 1000))


def _run(config: dict[str, object], cases: list[dict[str, str]], calls: int) -> None:
    # As the program itself does: one thread for algebra, and no collections while it gets ready.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from providers.heavy_import import heavy_import

    with heavy_import():
        import yaml

        from engine.execution.controller import run_to_end
        from engine.execution.plan import make_plan
        from engine.execution.preflight import examine
        from engine.execution.request import RunRequest
        from engine.keystore import KeyStore
        from engine.pricing import PriceBook
        from engine.project import load_project
        from engine.storage.store import Store

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["ARENA_HOME"], os.environ["ARENA_KEYRING"] = str(root / "home"), "memory"
        (root / "config.yaml").write_text(yaml.safe_dump(config))
        (root / "tests.json").write_text(json.dumps(cases))
        with heavy_import():
            project = load_project(root)
            keys, prices = KeyStore(), PriceBook.for_config(project.config, root)
            preflight = examine(project, keystore=keys, pricebook=prices)
            plan = make_plan(project, preflight)
        request = RunRequest(project, preflight, plan, root / "arena.sqlite", keys, prices)
        run_id = run_to_end(request, lambda events: None)
        with Store.open(root / "arena.sqlite") as store:
            if store.run(run_id).info.completed != calls:
                raise SystemExit("the engine lost calls")


def _growth(sizes: list[int]) -> None:
    for calls in sizes:
        began = time.monotonic()
        own = _own_figures("grow", "", calls, 16)
        took = time.monotonic() - began
        sys.stdout.write(
            f"{calls:>7,} calls  {took:7.1f} s  {own['cpu_s'] * 1e6 / calls:7.0f} us of work each  "
            f"{own['mb']:6.1f} MB\n"
        )
        sys.stdout.flush()


def _own_figures(mode: str, url: str, calls: int, width: int) -> dict[str, float]:
    command = [sys.executable, __file__, mode, url, str(calls), str(width)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    own: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return own


def _child(mode: str, url: str, calls: int, width: int) -> dict[str, float]:
    began = time.monotonic()
    own = _own_figures(mode, url, calls, width)
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as answer:
        seen = json.load(answer)
    return {
        "steady_ms": (seen["last"] - seen["first"]) * 1000 / calls,
        "start_s": seen["first"] - began,
        "cpu_ms": own["cpu_s"] * 1000 / calls,
        "mb": own["mb"],
    }


def _report() -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    mb = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    sys.stdout.write(json.dumps({"cpu_s": usage.ru_utime + usage.ru_stime, "mb": mb}) + "\n")


def _compare(calls: int, widths: list[int], latency_ms: float, reps: int) -> None:
    command = [sys.executable, __file__, "stub", str(latency_ms / 1000)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stub:
        if stub.stdout is None:
            raise SystemExit("the stub has no output")
        url = f"http://127.0.0.1:{stub.stdout.readline().strip()}/v1"
        try:
            for width in widths:
                runs: dict[str, list[dict[str, float]]] = {"floor": [], "engine": [], "program": []}
                for _ in range(reps):
                    for mode, rows in runs.items():
                        rows.append(_child(mode, url, calls, width))
                _print(width, runs)
        finally:
            stub.terminate()


def _print(width: int, runs: dict[str, list[dict[str, float]]]) -> None:
    for name in ("steady_ms", "cpu_ms", "start_s", "mb"):
        floor = statistics.median(row[name] for row in runs["floor"])
        told = f"{width:3d} wide  {name:10s} floor {floor:8.3f}"
        for mode in ("engine", "program"):
            mine = statistics.median(row[name] for row in runs[mode])
            ratios = [m[name] / f[name] for m, f in zip(runs[mode], runs["floor"], strict=True)]
            told += (
                f"   {mode} {mine:8.3f}  ratio {mine / floor:5.2f}"
                f" (of pairs {statistics.median(ratios):5.2f}, best {min(ratios):5.2f})"
            )
        sys.stdout.write(told + "\n")
    sys.stdout.flush()


def main() -> None:
    """Either the comparison, or one of its children."""
    if len(sys.argv) > 1 and sys.argv[1] == "stub":
        asyncio.run(_stub(float(sys.argv[2])))
    elif len(sys.argv) > 1 and sys.argv[1] in ("floor", "engine", "program", "grow"):
        {"floor": _floor, "engine": _engine, "program": _program, "grow": _grow}[sys.argv[1]](
            sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
        )
        _report()
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--calls", type=int, default=1000)
        parser.add_argument("--widths", default="4,16,64")
        parser.add_argument("--latency-ms", type=float, default=0.0)
        parser.add_argument("--reps", type=int, default=3)
        parser.add_argument("--grow", default="")
        given = parser.parse_args()
        if given.grow:
            _growth([int(calls) for calls in given.grow.split(",")])
            return
        _compare(given.calls, [int(w) for w in given.widths.split(",")], given.latency_ms, given.reps)


if __name__ == "__main__":
    main()

"""The process behind a demonstration model: llama.cpp's own server on this computer.

A process of its own, so that native code can neither hold the interpreter lock nor take the
program down, and so that stopping is certain. It lives as long as its standard input is open:
when the program ends in whatever way, the pipe closes and this process ends too.

Input: one JSON line {"weights", "alias", "context", "template", "key", "embeddings"}. Output: one JSON
line {"url"} or {"error"}.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import IO, Any

# More threads do not help models this small, and the default counts the host's processors
# where a container allows fewer, which makes an answer take minutes.
_MOST_THREADS = 2


def main() -> None:
    """Serves until standard input ends."""
    order = json.loads(sys.stdin.readline())
    # Native code writes to descriptor 1; the answer must stay the only line there.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(sys.stdin,), name="parent-watch", daemon=True).start()
    try:
        server = _serve(order)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
        os._exit(1)
    print(json.dumps({"url": server.listening_address}), file=answers, flush=True)
    threading.Event().wait()


def _end_with(parent: IO[str]) -> None:
    while parent.read(4096):
        continue
    os._exit(0)  # the native server has no way to be stopped that cannot hang


def _serve(order: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["weights"]
    params.model_alias = {order["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    if order["template"]:
        params.chat_template = order["template"]
    params.n_ctx = order["context"]
    params.n_parallel = 1
    if order["embeddings"]:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        # A text is read in one piece, so a piece must be as long as a text can be.
        params.n_batch = params.n_ubatch = order["context"]
    params.n_gpu_layers = 0
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = -1
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads = max(1, min(_MOST_THREADS, _processors() - 1))
        pool.poll = 0  # waiting threads sleep instead of taking a core from the window
    return xllamacpp.Server(params)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    main()

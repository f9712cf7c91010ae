"""Run inside a real Secret Service: keeps, finds and removes keys and prints what happened as JSON."""

from __future__ import annotations

import json
import sys
import time

from engine.config.schema import Connection
from engine.doctor import check_key_store
from engine.key_backends import choose_backend
from engine.keystore import KeyStore

OPENAI = Connection(id="openai", kind="openai")
GATEWAY = Connection(id="openai", kind="openai", base_url="https://gw.example.com/v1")
KEY = "sk-test-real-0123456789"


def story(timeout_s: float) -> dict[str, object]:
    """Everything a user does with keys, once."""
    start = time.monotonic()
    choice = choose_backend()
    first = KeyStore(timeout_s=timeout_s, prompt_timeout_s=timeout_s, environ={})
    stored = first.store(OPENAI, KEY)
    second = KeyStore(timeout_s=timeout_s, environ={})
    found = second.resolve(OPENAI)
    moved = second.resolve(GATEWAY)
    longer = first.store(GATEWAY, "k" * 5000)
    report: dict[str, object] = {
        "backend": choice.name,
        "doctor": check_key_store(first).code,
        "self_test": first.self_test().code,
        "stored": stored.code,
        "found": [found.value == KEY, found.code, found.source],
        "moved": [moved.value, moved.code],
        "longer": longer.code,
        "hosts": [entry.host for entry in first.entries()],
        "removed": [first.remove("openai", host).code for host in ("api.openai.com", "gw.example.com")],
        "after": second.kept_hosts("openai"),
    }
    third = KeyStore(timeout_s=timeout_s, environ={})
    report["gone"] = third.resolve(OPENAI).code
    report["seconds"] = time.monotonic() - start
    return report


if __name__ == "__main__":
    sys.stdout.write(json.dumps(story(float(sys.argv[1]))) + "\n")

"""Finds keys that were typed into a config. A key is named by its place, never repeated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from yaml.nodes import Node, ScalarNode, SequenceNode

from engine.config.faults import Faults, join
from engine.config.schema import Connection
from engine.config.values import is_null, pairs

_REFERENCE = re.compile(r"\$\{(?P<scheme>[a-z]+):(?P<rest>[^}]+)\}")
_SCHEMES = ("env", "keyring", "file", "cmd")
_KEY_FIELDS = frozenset({"api_key", "api_key_ref", "apikey", "secret", "access_token", "auth_token"})
_KEY_HEADERS = re.compile(r"(?i)authorization|api[-_]?key|auth[-_]?token|access[-_]?token|secret|cookie")
# The shapes in which vendors hand out keys.
KEY_SHAPES = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|AQ\.[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}"
    r"|xai-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}"
    r"|r8_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,})"
)
_USER_IN_URL = re.compile(r"^[a-z][a-z0-9+.-]*://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)


def is_reference(text: str) -> bool:
    """True for `${env:NAME}` and its kin, known schemes only."""
    match = _REFERENCE.fullmatch(text.strip())
    return match is not None and match["scheme"] in _SCHEMES


def looks_like_key(text: str) -> bool:
    """True where a text holds something in the shape of a vendor's key."""
    return KEY_SHAPES.search(text) is not None


def report(root: Node, faults: Faults) -> frozenset[str]:
    """Reports every key in the tree and gives the texts, so that nothing keeps them."""
    found: set[str] = set()
    _walk(root, "", "", faults, found, set())
    return frozenset(found)


def _walk(node: Node, path: str, name: str, faults: Faults, found: set[str], seen: set[int]) -> None:
    if isinstance(node, ScalarNode):
        _check(node, path, name, faults, found)
        return
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            _walk(item, join(path, index), name, faults, found, seen)
        return
    for key, value in pairs(node):
        inside_headers = name == "headers"
        _walk(
            value,
            join(path, key.value),
            f"headers.{key.value}" if inside_headers else key.value,
            faults,
            found,
            seen,
        )


def _check(node: ScalarNode, path: str, name: str, faults: Faults, found: set[str]) -> None:
    text = node.value
    if is_null(node) or is_reference(text):
        return
    if name in _KEY_FIELDS and text.startswith("${"):
        faults.error(
            node,
            path,
            "bad_key_reference",
            "The key reference is not understood.",
            "Use ${keyring:connection}, ${env:NAME}, ${file:path} or ${cmd:command}.",
        )
        return
    in_header = name.startswith("headers.") and _KEY_HEADERS.search(name[8:]) is not None
    if name in _KEY_FIELDS or in_header or looks_like_key(text) or _USER_IN_URL.match(text):
        found.add(text)
        faults.error(
            node,
            path,
            "literal_key",
            "A key or password is written in the project file, readable by everyone who gets the folder.",
            "Move it to the key store and write `${keyring:…}` with the connection's id here.",
        )


def without(connection: Connection, secrets: frozenset[str]) -> Connection:
    """The connection without any of the reported texts."""
    headers: Mapping[str, str] = {k: v for k, v in connection.headers.items() if v not in secrets}
    return replace(
        connection,
        headers=headers,
        api_key_ref=None if connection.api_key_ref in secrets else connection.api_key_ref,
        base_url=None if connection.base_url in secrets else connection.base_url,
        proxy=None if connection.proxy in secrets else connection.proxy,
        params={k: v for k, v in connection.params.items() if not _holds(v, secrets)},
    )


def _holds(value: Any, secrets: frozenset[str]) -> bool:
    """True where one of the texts stands in the value, at any depth."""
    if isinstance(value, Mapping):
        return any(_holds(inner, secrets) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_holds(inner, secrets) for inner in value)
    return isinstance(value, str) and value in secrets

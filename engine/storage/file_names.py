"""The one function that makes a file name of any text, for every system the program runs on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256

_FORBIDDEN = re.compile(
    r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+'
)
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)

_LONGEST_BYTES = 120
"""Leaves room for a folder and an ending within the limits of all systems (260 signs, 255 bytes)."""


def file_name(text: str, taken: Iterable[str] = ()) -> str:
    """A name for a file (without ending) or folder that stands for `text`.

    Never empty, hidden, reserved by Windows or leading elsewhere; readable where `text` is. Long
    texts are cut and keep a digest, so that two that begin alike stay apart. A name that differs
    from one of `taken` at most in upper and lower case gets a number.
    """
    plain = _FORBIDDEN.sub("-", unicodedata.normalize("NFC", text)).strip(" .\t")
    name = plain or "unnamed"
    if _DEVICES.fullmatch(name.partition(".")[0].rstrip(" ")):
        name = f"_{name}"
    if len(name.encode()) > _LONGEST_BYTES:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        kept = name.encode()[: _LONGEST_BYTES - 9].decode("utf-8", "ignore").rstrip(" .")
        name = f"{kept}-{digest}"
    return _free(name, {_same(other) for other in taken})


def _free(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while _same(candidate) in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def _same(name: str) -> str:
    """Names that some file system holds for one and the same."""
    return unicodedata.normalize("NFC", name).casefold()

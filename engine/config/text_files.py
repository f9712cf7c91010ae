"""Bytes to text: which encoding a file has, said and remembered, so that a save keeps it."""

from __future__ import annotations

import codecs
import errno
import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine.domain import Problem, Severity
from engine.errors import UserError, WorldError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as read: text without a byte-order mark, its encoding, a digest of its bytes."""

    path: Path
    text: str
    encoding: str
    digest: str
    problems: tuple[Problem, ...] = ()


def decode(data: bytes, file: str) -> tuple[str, str, tuple[Problem, ...]]:
    """Text, encoding and problems of some bytes.

    A byte-order mark decides; then UTF-16 without one; then UTF-8; then Windows-1252 with a
    warning `encoding_assumed`. What fits nothing gives no text and an error `bad_encoding`.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _try(data, encoding, file)
    if b"\0" in data[:4096]:
        return _without_mark(data, file)
    try:
        return data.decode("utf-8"), "utf-8", ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return "", "", (_unreadable(file),)
    warning = Problem(
        Severity.WARNING,
        "The file is not UTF-8; it was read as Windows-1252.",
        "Look whether accents and currency signs are right, and save it as UTF-8.",
        file,
        line,
        code="encoding_assumed",
    )
    return text, "cp1252", (warning,)


def _without_mark(data: bytes, file: str) -> tuple[str, str, tuple[Problem, ...]]:
    sample = data[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) >= len(sample) // 4 and min(even, odd) * 4 < max(even, odd):
        return _try(data, "utf-16-be" if even > odd else "utf-16-le", file)
    return "", "", (_unreadable(file),)


def _try(data: bytes, encoding: str, file: str) -> tuple[str, str, tuple[Problem, ...]]:
    try:
        return data.decode(encoding).removeprefix("\ufeff"), encoding, ()
    except UnicodeDecodeError:
        return "", "", (_unreadable(file),)


def _unreadable(file: str) -> Problem:
    return Problem(
        Severity.ERROR,
        "The file is not text in an encoding that is known (UTF-8, UTF-16, Windows-1252).",
        "Open it where it was made and save it as UTF-8.",
        file,
        code="bad_encoding",
    )


def read_text(path: Path, file: str, max_bytes: int) -> TextFile:
    """Reads one file of a project.

    Raises:
        UserError: `file_missing` or `file_too_large`.
        WorldError: `file_unreadable`, the system would not give it.
    """
    try:
        size = path.stat().st_size
        if size > max_bytes:
            limit = max_bytes // 1024 // 1024
            raise UserError(
                "file_too_large",
                f"{file} is larger than {limit} MiB, which is more than this program reads.",
                hint="Split it over several files.",
                file=file,
            )
        if not path.is_file():
            # A pipe or a device has no end that could be waited for.
            raise OSError(errno.EINVAL, "it is not a file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(
            "file_missing", f"{file} does not exist.", hint="Check the name.", file=file
        ) from None
    except OSError as error:
        raise WorldError(
            "file_unreadable",
            f"{file} cannot be read: {error.strerror or error}.",
            hint="Check that it is a file and that you may read it.",
            file=file,
        ) from error
    text, encoding, problems = decode(data, file)
    return TextFile(path, text, encoding, hashlib.sha256(data).hexdigest(), problems)

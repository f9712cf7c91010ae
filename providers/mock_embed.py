"""Embeddings of the practice connection: what texts share in letters, as directions. Repeatable.

Feature hashing (Weinberger et al. 2009): each piece of a text is counted, with a sign, at a place
that a hash gives it. Pieces are the words and, inside them, all runs of three characters, so that
texts with the same words or word stems point the same way. What a text means is not known here.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator

PLACES = 256
_WORD = re.compile(r"\w+")
_RUN = 3
_WORD_WEIGHT = 2.0


def practice_vector(text: str) -> array[float]:
    """The direction of a text, of length 1. The same text always gives the same numbers."""
    vector = array("d", bytes(8 * PLACES))
    for piece, count in Counter(_pieces(text)).items():
        digest = hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        weight = _WORD_WEIGHT if piece.startswith("=") else 1.0
        vector[number % PLACES] += (weight if number >> 63 else -weight) * math.sqrt(count)
    length = math.hypot(*vector)
    if not length:
        vector[0] = length = 1.0  # nothing but spaces, or pieces that cancel each other out
    return array("d", (value / length for value in vector))


def _pieces(text: str) -> Iterator[str]:
    words = _WORD.findall(text.casefold()) or text.split()
    for word in words:
        yield f"={word}"
        padded = f" {word} "
        for start in range(len(padded) - _RUN + 1):
            yield padded[start : start + _RUN]

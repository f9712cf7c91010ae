"""The check that an answer means about the same: by words, by letters or by embeddings."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from engine.scoring.base import CheckFault, CheckInput, CheckType, Finding, Option, as_texts
from engine.scoring.seams import EmbedAsk
from engine.scoring.text_form import fold

MAX_FUZZY = 20_000
_ALIKE_IN = {"lexical": "in words", "fuzzy": "in letters", "embedding": "in meaning"}
_STOP_WORDS = frozenset(
    [
        *("a", "an", "the", "and", "or", "of", "to", "in", "on", "at", "by", "for", "with", "from"),
        *("is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "as", "but", "if", "so"),
    ]
)
_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+")


def content_words(text: str) -> frozenset[str]:
    """The words of a text without 28 English stop words, unless nothing else is left."""
    words = frozenset(_WORD.findall(fold(text).lower()))
    return words - _STOP_WORDS or words


def lexical_similarity(left: str, right: str) -> float:
    """Shared content words over the geometric mean of both counts, 0..1."""
    a, b = content_words(left), content_words(right)
    if not a or not b:
        return 0.0
    return min(1.0, len(a & b) / math.sqrt(len(a) * len(b)))


def edit_distance(left: str, right: str) -> int:
    """The least number of inserted, removed and changed characters.

    Myers' bit-parallel algorithm (1999) in the form of Hyyrö (2003), with whole numbers as
    wide as the shorter text.
    """
    if len(left) > len(right):
        left, right = right, left
    if not left:
        return len(right)
    places: dict[str, int] = {}
    for index, char in enumerate(left):
        places[char] = places.get(char, 0) | 1 << index
    mask, top = (1 << len(left)) - 1, 1 << (len(left) - 1)
    plus, minus, distance = mask, 0, len(left)
    for char in right:
        equal = places.get(char, 0)
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        up, down = minus | ~(horizontal | plus) & mask, plus & horizontal
        distance += bool(up & top) - bool(down & top)
        up, down = (up << 1 | 1) & mask, down << 1 & mask
        plus, minus = down | ~(vertical | up) & mask, up & vertical
    return distance


def fuzzy_similarity(left: str, right: str) -> float:
    """1 minus the edit distance over the length of the longer text, spaces and capitals aside."""
    a, b = (" ".join(fold(text).lower().split()) for text in (left, right))
    longest = max(len(a), len(b))
    return 1.0 - edit_distance(a, b) / longest if longest else 0.0


def _similarity(given: CheckInput) -> Finding:
    """The score is the similarity to the nearest accepted text."""
    texts = as_texts(given.reference)
    method = given.options["method"]
    if method == "embedding":
        values = _by_embedding(given, texts)
    elif method == "fuzzy":
        if max(len(given.text), *map(len, texts)) > MAX_FUZZY:
            raise CheckFault(
                "too_long_for_fuzzy",
                f"The answer is longer than {MAX_FUZZY:,} characters. Use `method: lexical` for long texts.",
            )
        values = [fuzzy_similarity(given.text, text) for text in texts]
    else:
        values = [lexical_similarity(given.text, text) for text in texts]
    best = max(values)
    best = min(1.0, max(0.0, best))
    threshold = given.options["threshold"]
    passed = best >= threshold
    enough = "enough for" if passed else "less than"
    # Rounded down, so that what is less than enough never reads as enough.
    shown = math.floor(1000 * best + 1e-9) / 10
    fact = (
        f"The answer is {shown:g} of 100 alike {_ALIKE_IN[method]}, {enough} the {100 * threshold:g} it takes"
    )
    detail = {
        "similarity": best,
        "threshold": threshold,
        "method": method,
        "nearest": texts[values.index(max(values))],
    }
    return Finding(best, passed, fact, "alike" if passed else "not_alike", detail, {"similarity": best})


def _by_embedding(given: CheckInput, texts: Sequence[str]) -> list[float]:
    """How far the answer's vector and that of each text point the same way; a blank text is unlike any."""
    ask = given.context.embed
    if ask is None:
        raise CheckFault(
            "no_embedding",
            "There is no connection that makes embeddings. Use `method: lexical` or `method: fuzzy`.",
        )
    wanted = tuple(dict.fromkeys((given.text, *(text for text in texts if text.strip()))))
    if len(wanted) == 1 and not any(text.strip() for text in texts):
        raise CheckFault("reference_blank", "The right answer is blank, so there is nothing to compare with.")
    said = ask(EmbedAsk(str(given.options["model"]).strip(), wanted))
    if said.error is not None:
        raise CheckFault(
            "embedding_failed",
            f"The texts could not be compared by meaning: {said.error.message}",
            kind=said.error.kind,
        )
    if len(said.vectors) != len(wanted):
        raise CheckFault("embedding_bad", "The connection gave another number of embeddings than asked for.")
    vectors = {text: _direction(vector) for text, vector in zip(wanted, said.vectors, strict=True)}
    own = vectors[given.text]
    return [_cosine(own, vectors[text]) if text.strip() else 0.0 for text in texts]


def _direction(vector: Sequence[float]) -> Sequence[float]:
    """The vector at length 1, so that no product can leave the range of numbers."""
    length = math.hypot(*vector)
    if not math.isfinite(length):
        raise CheckFault("embedding_bad", "An embedding holds no usable numbers, so nothing can be compared.")
    if not length:
        raise CheckFault(
            "embedding_zero", "An embedding is all zeros: it points nowhere and compares with nothing."
        )
    return [value / length for value in vector]


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of the angle between two directions, a·b / (|a| |b|), clipped to 0..1.

    Opposite meanings (below 0) count as unlike as unrelated ones: a score has no room below 0.
    """
    if len(left) != len(right):
        raise CheckFault("embedding_bad", "The connection gave embeddings of different lengths.")
    return min(1.0, max(0.0, math.fsum(a * b for a, b in zip(left, right, strict=True))))


SIMILARITY = CheckType(
    name="similarity",
    aliases=("semantic",),
    title="means the same",
    rule="The answer shares most of its words, letters or meaning with the right answer.",
    run=_similarity,
    opposite="it must not be so",
    options=(
        Option("threshold", "number", 0.75, "Passes from", minimum=0, maximum=1),
        Option("method", "choice", "lexical", "Compared by", choices=("lexical", "fuzzy", "embedding")),
        Option("model", "text", "", "The model that compares meanings"),
    ),
)

"""Verdicts of the practice judge: by the right answer in the question, or by a bias on demand.

It reads the blocks of the question to a judge as a real model would, and is fooled by nothing that
an answer says. Where two models' answers are compared it knows the right answer of the case beside.
"""

from __future__ import annotations

import hashlib
import json
import re

from providers.base import Request

FAVOURS = ("", "first", "longer")
_LONG = 160
_SCALE = re.compile(r'"score": a number from 0 to (\d+(?:\.\d+)?)')
_CRITERION = re.compile(r'"((?:[^"\\]|\\.)+)": a number from 0 to')


def verdict(request: Request, *, right: bool, favours: str) -> str:
    """The reply to a question, as the JSON that a judge is asked for.

    `right` False: this verdict is the wrong one. `favours`: `first` prefers whichever answer
    comes first, `longer` the longer one, whatever is right.
    """
    system = request.system or ""
    question = "\n".join(message.content for message in request.messages)
    if '"winner"' in system:
        both = _block(question, "ANSWER A"), _block(question, "ANSWER B")
        return _winner(both, _known(request), right, favours)
    answer = _block(question, "ANSWER")
    share = 1.0 if _holds(answer, _block(question, "RIGHT ANSWER")) is right else 0.0
    reason = "It says what it must." if share else "It does not say what it must."
    if favours == "longer":
        share, reason = round(min(1.0, len(answer) / _LONG), 2), "By its length."
    found = _SCALE.search(system)
    score = share * (float(found[1]) if found else 1.0)
    reply: dict[str, object] = {"score": score, "reason": f"Practice judge: {reason}"}
    names = [name for name in _CRITERION.findall(system) if name != "score"]
    if names:
        reply["criteria"] = dict.fromkeys(names, score)
    return json.dumps(reply, ensure_ascii=False)


def _block(question: str, label: str) -> str:
    """The text between the marks of a block; an end mark counts only with the code of its begin."""
    begin = re.search(rf"^<<<BEGIN {label} (\S+)>>>\n", question, re.MULTILINE)
    if begin is None:
        return ""
    end = question.find(f"\n<<<END {label} {begin[1]}>>>", begin.end() - 1)
    return question[begin.end() : max(begin.end(), end)]


def _holds(answer: str, reference: str) -> bool:
    """Whether the answer says one of the accepted texts, as whole words in any case."""
    said = _plain(answer)
    if not reference:
        return bool(said)
    try:
        parsed = json.loads(reference) if reference.lstrip().startswith("[") else reference
    except json.JSONDecodeError:
        parsed = reference
    accepted = parsed if isinstance(parsed, list) else [parsed]
    return any(re.search(rf"(?<!\w){re.escape(_plain(str(text)))}(?!\w)", said) for text in accepted)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _known(request: Request) -> str:
    """The right answer as text; "" where there is none."""
    reference = request.practice.reference if request.practice is not None else None
    if reference is None or isinstance(reference, str):
        return reference or ""
    return json.dumps(reference, ensure_ascii=False)


def _winner(both: tuple[str, str], known: str, right: bool, favours: str) -> str:
    first, second = both
    if favours == "first":
        return json.dumps({"winner": "A", "reason": "Practice judge: it came first."})
    if _plain(first) == _plain(second):
        return json.dumps({"winner": "tie", "reason": "Practice judge: both say the same."})
    if favours == "longer":
        a_wins, reason = len(first) >= len(second), "it is longer."
    elif known and _holds(first, known) is not _holds(second, known):
        a_wins, reason = _holds(first, known), "it says what it must."
    else:
        # Without anything to tell them apart any steady choice will do: it must not hang on the order.
        a_wins, reason = _rank(first) > _rank(second), "a steady choice."
    return json.dumps({"winner": "A" if a_wins is right else "B", "reason": f"Practice judge: {reason}"})


def _rank(text: str) -> str:
    return hashlib.sha256(_plain(text).encode("utf-8", "surrogatepass")).hexdigest()

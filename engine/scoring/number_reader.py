"""Numbers as people and models write them: signs, separators, percent, exponents.

A number is a token of its own: `42abc`, `1.2.3` and `A4` hold none. A token that is a number
only in the other style (`1.234,50` where points are decimal) is reported as such, never read
as something else. All patterns here are our own and linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

POINT, COMMA = "point", "comma"
MAX_TEXT = 100_000
_MAX_RUN = 300
_MAX_EXPONENT = 10_000

_COMMA_LANGUAGES = re.compile(
    "af|az|be|bg|bs|ca|cs|da|de|el|es|et|eu|fi|fo|fr|gl|hr|hu|hy|id|is|it|ka|kk|lt|lv|mk|nb|nl|nn|no|pl|pt|"
    "ro|ru|sk|sl|sq|sr|sv|tr|uk|uz|vi"
)
_POINT_LANGUAGES = re.compile("ar|bn|c|cy|en|fa|ga|he|hi|ja|ko|ms|mt|posix|sw|ta|th|tl|ur|zh")
_POINT_PLACES = re.compile("de-ch|de-li|es-do|es-gt|es-hn|es-mx|es-pe|es-pr|es-us|it-ch")

_SPACES = "\u00a0\u2009\u202f"
_MINUS = "-\u2212\u2013\uff0d"
_CURRENCY = "$\u20ac\u00a3\u00a5\u20b9"
# Letters that glue to a number; scripts written without spaces do not.
_GLUE = r"[^\W\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
_INSIDE = rf"[\d.,'\u2019{_SPACES}]"
_START = rf"(?<!{_GLUE})(?<!{_GLUE}\.)(?<!\d[,'\u2019])(?:\.\d|\d)"
_RUN = {
    POINT: re.compile(rf"{_START}{_INSIDE}*"),
    COMMA: re.compile(rf"{_START}(?:{_INSIDE}|[ ](?=\d{{3}}(?!\w)))*"),
}
_GLUED = re.compile(_GLUE)
_EXPONENT = re.compile(r"[eE]([-+\u2212]?\d{1,9})(?!\w)")
_TIMES_TEN = re.compile(
    r"\s?(?:[\u00d7x*\u00b7]|\\times)\s?10"
    r"(?:\s?\^\s?[({]?([-+\u2212]?\d{1,9})[)}]?|([\u207b\u207a]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,9}))"
)
_SMALL = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a\u2212", "0123456789-+-"
)
_PERCENT = re.compile(r"\s?\\?[%\uff05]|\s?(?:percent|per cent|Prozent|pour cent|por ciento)\b")
_UNIT = re.compile(
    r"(?:kg|mg|\u00b5g|g|km|cm|mm|nm|ms|s|secs?|mins?|h|hrs|ml|cl|dl|[kKMGT]B|[kMG]?Hz|[kM]Wh|kW|USD|EUR|GBP|CHF|"
    r"px|kcal|mph|ft|lbs?|oz)(?!\w)"
)
_GROUPED = {
    POINT: re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"),
    COMMA: re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
}
_SPACED = {
    POINT: re.compile(rf"\d{{1,3}}(?:([{_SPACES}'\u2019])\d{{3}})(?:\1\d{{3}})*(?:\.\d+)?"),
    COMMA: re.compile(rf"\d{{1,3}}(?:([ {_SPACES}'\u2019])\d{{3}})(?:\1\d{{3}})*(?:,\d+)?"),
}
_PLAIN = {POINT: re.compile(r"\d*\.?\d+"), COMMA: re.compile(r"\d*,?\d+")}
_AMBIGUOUS = {POINT: re.compile(r"[1-9]\d{0,2},\d{3}"), COMMA: re.compile(r"[1-9]\d{0,2}\.\d{3}")}


@dataclass(frozen=True, slots=True)
class Number:
    """One number token. `value` None = it is a number only in the other style.

    `text` is the token as written. `note` is "ambiguous" where the other style would read
    another value, "other_style" where only the other style reads it, else empty.
    """

    text: str
    value: Decimal | None
    percent: bool = False
    note: str = ""


def style_of(locale: str) -> str | None:
    """`point` or `comma` for a style name or a language tag such as `de` or `en-GB`; else None."""
    tag = locale.strip().replace("_", "-").split(".")[0].lower()
    if tag in (POINT, COMMA):
        return tag
    language = tag.split("-")[0]
    if _POINT_PLACES.fullmatch(tag) or _POINT_LANGUAGES.fullmatch(language):
        return POINT
    return COMMA if _COMMA_LANGUAGES.fullmatch(language) else None


def numbers(text: str, style: str = POINT) -> Iterator[Number]:
    """The numbers of a text in order. The caller bounds the text: see MAX_TEXT."""
    plain = _ascii_digits(text)
    position = 0
    while match := _RUN[style].search(plain, position):
        found, position = _read(plain, match, style)
        yield from found


def _ascii_digits(text: str) -> str:
    """Decimal digits of any script as 0 to 9; everything else as it is."""
    if text.isascii():
        return text
    strange = {char for char in set(text) if char.isdecimal() and not char.isascii()}
    return text.translate({ord(char): str(int(char)) for char in strange}) if strange else text


def _read(text: str, match: re.Match[str], style: str) -> tuple[list[Number], int]:
    """The numbers of one run of digits and separators, and where to go on."""
    run = match[0].rstrip(f".,'\u2019 {_SPACES}")
    start, end = match.start(), match.start() + len(run)
    if len(run) > _MAX_RUN:
        return [], match.end()
    exponent, end = _power(text, end)
    if glued := _GLUED.match(text, end):
        unit = _UNIT.match(text, end)
        if unit is None:
            return [], max(match.end(), glued.end())
        end = unit.end()
    percent = _PERCENT.match(text, end)
    end = percent.end() if percent else end
    value, note = _value(run, style)
    go_on = max(match.end(), end)
    if value is None and not note:
        return _pieces(run, style, _sign(text, start)), go_on
    sign = _sign(text, start)
    if value is not None:
        value = _scaled(value, exponent, sign)
        if value is None:
            return [], go_on
    # A dash that is none of the number's, as in a date, is not shown as its minus either.
    written = text[_sign_start(text, start) : end].strip()
    return [Number(written.lstrip(_MINUS) if sign > 0 else written, value, percent is not None, note)], go_on


def _pieces(run: str, style: str, sign: int) -> list[Number]:
    """The numbers of a run that is a list, such as `1,2,3`; the minus before it is the first one's."""
    found = []
    for place, piece in enumerate(re.split(rf"[, {_SPACES}]", run)):
        value, _note = _value(piece, style)
        if value is not None:
            minus = sign < 0 and place == 0
            found.append(Number(f"-{piece}" if minus else piece, -value if minus else value))
    return found


def _value(digits: str, style: str) -> tuple[Decimal | None, str]:
    """The value of a run in a style with its note; (None, "") where no style reads it."""
    own = _in_style(digits, style)
    if own is not None:
        return own, "ambiguous" if _AMBIGUOUS[style].fullmatch(digits) else ""
    other = _in_style(digits, COMMA if style == POINT else POINT)
    if other is None:
        return None, ""
    # Programs write decimal points everywhere: where commas are decimal, 3.5 can mean nothing else.
    return (other if style == COMMA and _PLAIN[POINT].fullmatch(digits) else None), "other_style"


def _in_style(digits: str, style: str) -> Decimal | None:
    if not any(form[style].fullmatch(digits) for form in (_PLAIN, _GROUPED, _SPACED)):
        return None
    drop = ("," if style == POINT else ".") + f" '\u2019{_SPACES}"
    try:
        return Decimal(digits.translate({ord(mark): None for mark in drop}).replace(",", "."))
    except InvalidOperation:
        return None


def _power(text: str, end: int) -> tuple[int, int]:
    """The power of ten written behind a number, and where it ends."""
    if match := _EXPONENT.match(text, end):
        return int(match[1].translate(_SMALL)), match.end()
    if match := _TIMES_TEN.match(text, end):
        return int((match[1] or match[2]).translate(_SMALL)), match.end()
    return 0, end


def _sign_start(text: str, start: int) -> int:
    """Where a number begins when its sign and currency are counted in."""
    index = start
    if index and text[index - 1] in _CURRENCY:
        index -= 1
    elif index > 1 and text[index - 1] == " " and text[index - 2] in _CURRENCY:
        index -= 2
    if index and text[index - 1] in _MINUS:
        index -= 1
    return index


def _sign(text: str, start: int) -> int:
    """-1 for a minus that belongs to the number: not one between two things, as in `10-20`."""
    index = _sign_start(text, start)
    if text[index] not in _MINUS:
        return 1
    before = text[index - 1] if index else " "
    return 1 if before.isalnum() or before in ")]}%_" + _MINUS else -1


def _scaled(value: Decimal, exponent: int, sign: int) -> Decimal | None:
    """The signed value, None beyond what can be compared."""
    if abs(exponent) > _MAX_EXPONENT:
        return None
    return Decimal((sign < 0, value.as_tuple().digits, int(value.as_tuple().exponent) + exponent))

"""Numbers as people read them: money, time, counts. Unknown is said, never shown as zero."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

UNKNOWN = "–"  # the sign for "not measured" in a table cell

MINUTE = 60
HOUR = 3600


def money(usd: Decimal | float | None) -> str:
    """US dollars as "free", "less than 1 cent" or "$0.42"; None is "not known"."""
    if usd is None:
        return QCoreApplication.translate("Formats", "not known")
    value = float(usd)
    if value == 0:
        return QCoreApplication.translate("Formats", "free")
    if value < 0.01:
        return QCoreApplication.translate("Formats", "less than 1 cent")
    decimals = 2 if value < 1000 else 0
    return "$" + QLocale().toString(value, "f", decimals)


def money_cell(usd: Decimal | float | None) -> str:
    """Money for a table cell: unknown is a dash."""
    return UNKNOWN if usd is None else money(usd)


def per_100(usd_per_1k: float | None) -> str:
    """A cost per 1,000 answers as the cost of 100, for a table cell."""
    return money_cell(None if usd_per_1k is None else usd_per_1k / 10)


def waiting(milliseconds: float | None) -> str:
    """A wait as "1.9 s", "0.02 s", "under 0.01 s" or "2 min"; None is a dash."""
    if milliseconds is None:
        return UNKNOWN
    seconds = milliseconds / 1000
    if seconds >= 2 * MINUTE:
        return QCoreApplication.translate("Formats", "{minutes} min").format(minutes=whole(seconds / MINUTE))
    if seconds < 0.005:
        return QCoreApplication.translate("Formats", "under 0.01 s")
    decimals = 1 if seconds >= 0.1 else 2
    return QCoreApplication.translate("Formats", "{seconds} s").format(
        seconds=QLocale().toString(seconds, "f", decimals)
    )


def about_time(seconds: float | None) -> str:
    """A length of time to wait, rounded as a person would say it; None is "not known yet"."""
    translate = QCoreApplication.translate
    if seconds is None:
        return translate("Formats", "not known yet")
    if seconds < 50:
        return translate("Formats", "less than a minute")
    minutes = max(1, round(seconds / MINUTE))
    if minutes == 1:
        return translate("Formats", "about 1 minute")
    if minutes < 60:
        return translate("Formats", "about {minutes} minutes").format(minutes=minutes)
    hours, rest = divmod(round(minutes / 10) * 10, 60)
    if rest == 0:
        one = translate("Formats", "about 1 hour")
        return one if hours == 1 else translate("Formats", "about {hours} hours").format(hours=hours)
    if hours == 1:
        return translate("Formats", "about 1 hour {minutes} minutes").format(minutes=rest)
    return translate("Formats", "about {hours} hours {minutes} minutes").format(hours=hours, minutes=rest)


# Beyond it Qt's whole numbers end, and a float has no digits to lose.
_EXACT = 2**53


def exact_seconds(seconds: float) -> str:
    """A countdown: "1 second", "18 seconds", "3 minutes"."""
    left = max(1, round(seconds))
    if left == 1:
        return QCoreApplication.translate("Formats", "1 second")
    if left < 2 * MINUTE:
        return QCoreApplication.translate("Formats", "{seconds} seconds").format(seconds=left)
    return QCoreApplication.translate("Formats", "{minutes} minutes").format(minutes=whole(left / MINUTE))


def whole(value: float) -> str:
    """A number without decimals, grouped as the language does."""
    if not math.isfinite(value):
        return UNKNOWN
    if abs(value) >= _EXACT:
        return QLocale().toString(float(value), "f", 0)
    return QLocale().toString(round(value))


def counted(count: int, one: str, many: str) -> str:
    """`one` for 1, else `many` with {count} filled in; both translated already."""
    return one if count == 1 else many.format(count=whole(count))


def points(share: float) -> str:
    """A share 0..1 (or a difference of two) as whole points of 100; a half counts up, as people expect."""
    # What is left of a half by binary fractions (72.49999999999999) still is a half.
    nearly = round(abs(share) * 100, 9)
    return whole(math.copysign(math.floor(nearly + 0.5), share))


def out_of_100(share: float | None) -> str:
    """A share 0..1 as a whole number of 100; None is a dash."""
    return UNKNOWN if share is None else points(share)


def date_time(moment: datetime) -> str:
    """A UTC moment in local words that stay true on paper: "3 Nov 2026 14:05"."""
    return QLocale().toString(QDateTime(moment.astimezone()), "d MMM yyyy HH:mm")


def when(moment: datetime | None, now: datetime | None = None) -> str:
    """A UTC moment in local words: "today 14:05", "yesterday 09:12", "3 Nov"."""
    if moment is None:
        return UNKNOWN
    local = moment.astimezone()
    today = (now or datetime.now().astimezone()).astimezone()
    days = (today.date() - local.date()).days
    time = QLocale().toString(QDateTime(local).time(), "HH:mm")
    if days == 0:
        return QCoreApplication.translate("Formats", "today {time}").format(time=time)
    if days == 1:
        return QCoreApplication.translate("Formats", "yesterday {time}").format(time=time)
    pattern = "d MMM" if local.year == today.year else "d MMM yyyy"
    return QLocale().toString(QDateTime(local).date(), pattern)

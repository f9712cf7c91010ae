"""What stands behind a result, exactly: the overall score term by term, tags, pairs, what it cannot tell.

The exact terms of statistics are used here and nowhere else: this is what unfolds below "Details".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QLocale

from arena_desktop.wording import formats
from arena_desktop.wording.metrics import metric_name, metric_value
from engine.stats.board import Entry, EntryStatus, Interval, Leaderboard, PairResult
from engine.stats.metrics import Reading
from engine.stats.samples import SHARES

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Exact", text)


def _tenths(share: float | None) -> str:
    """A share of 1 as points of 100 with one decimal, so that what is added up adds up."""
    return formats.UNKNOWN if share is None else QLocale().toString(share * 100, "f", 1)


# ---- the overall score


def scale_words(rule: Reading | None) -> str:
    """How a measured value becomes a place between 0 and 100."""
    if rule is None:
        return formats.UNKNOWN
    if rule.mode in ("target", "budget") and rule.target is not None:
        target = metric_value(rule.name, rule.target)
        if rule.direction == "min":
            return _tr("100 at nothing, 0 at {target}").format(target=target)
        return _tr("100 from {target} on").format(target=target)
    if rule.mode == "minmax":
        return _tr("100 for the best of this run, 0 for the last")
    return _tr("as measured")


def terms_table(board: Leaderboard, entry: Entry, readings: Mapping[str, Reading]) -> Table:
    """Heads and rows: measured, on the scale, weight, what it adds; the last row is the sum."""
    heads = (
        _tr("Measure"),
        _tr("Measured"),
        _tr("Scale"),
        _tr("On the scale"),
        _tr("Weight"),
        _tr("Adds"),
    )
    rows = []
    for name in board.weights:
        term = entry.metrics.get(name)
        known = term is not None and term.raw is not None
        rows.append(
            (
                metric_name(name),
                metric_value(name, term.raw) if known and term else _tr("not measured"),
                scale_words(readings.get(name)),
                _tenths(term.normalized if term else None),
                _tenths(term.weight if term and known else 0.0),
                _tenths(term.contribution if term else None),
            )
        )
    dash = formats.UNKNOWN
    rows.append((_tr("Overall score"), dash, dash, dash, _tenths(1.0), _tenths(entry.composite)))
    return heads, rows


def terms_sentence(board: Leaderboard, entry: Entry) -> str:
    """What the table of terms shows, and where a weight went that has nothing to weigh."""
    text = _tr("Each measure is put on a scale of 0 to 100, taken by its weight, and added up.")
    missing = [n for n in board.weights if n not in entry.metrics or entry.metrics[n].raw is None]
    if not missing or entry.composite is None:
        return text
    names = ", ".join(f"“{metric_name(name)}”" for name in missing)
    more = _tr("{names} was not measured for this model, so its weight went to the others.")
    return f"{text} {more.format(names=names)}"


def cost_sentence(entry: Entry) -> str:
    """What right answers cost, beside what all answers cost; and how soon words come."""
    parts = []
    if entry.cost_per_correct_usd == 0:
        parts.append(_tr("Its answers are free."))
    elif entry.cost_per_correct_usd is not None:
        text = _tr("One right answer cost {right}; 1,000 answers cost {all}.")
        parts.append(
            text.format(
                right=small_money(entry.cost_per_correct_usd),
                all=formats.money(entry.cost_per_1k_usd),
            )
        )
    if entry.first_token_p50_ms is not None:
        text = _tr("Half of the streamed answers showed their first word within {wait}.")
        parts.append(text.format(wait=formats.waiting(entry.first_token_p50_ms)))
    return " ".join(parts)


def small_money(usd: float | None) -> str:
    """Money that may be a part of a cent: two digits that tell something."""
    if usd is None:
        return formats.UNKNOWN
    if usd == 0 or usd >= 0.1:
        return formats.money(usd)
    places, value = 2, usd
    while value < 0.1 and places < 8:
        places, value = places + 1, value * 10
    return "$" + QLocale().toString(usd, "f", places)


# ---- tags


def tags_table(board: Leaderboard, entry: Entry) -> Table:
    """Heads and rows: how often this model was right by tag, and the best other one there."""
    heads = (_tr("Tag"), _tr("This model"), _tr("Best of the others"))
    others = [e for e in board.entries if e is not entry and e.status is EntryStatus.RANKED]
    rows = []
    for tag, share in entry.by_tag.items():
        there = [other for other in others if tag in other.by_tag]
        best = max(there, key=lambda other: other.by_tag[tag], default=None)
        said = formats.UNKNOWN
        if best is not None:
            said = _tr("{n}, {name}").format(n=_of_100(best.by_tag[tag]), name=best.label)
        rows.append((tag, _of_100(share), said))
    return heads, rows


def _of_100(share: float) -> str:
    return _tr("{n} of 100").format(n=formats.points(share))


# ---- pairs


def pairs_table(board: Leaderboard) -> Table:
    """Heads and rows of all pairs on the deciding metric, in exact figures."""
    names = {entry.model_key: entry.label for entry in board.entries}
    heads = (
        _tr("First"),
        _tr("Second"),
        _tr("Difference"),
        _tr("95 % interval"),
        _tr("p value, Holm"),
        _tr("p, sign flips"),
        _tr("Tests that differ"),
        _tr("Result"),
    )
    ordered = sorted(board.pairs, key=lambda pair: pair.a != board.verdict.leader)
    return heads, [_pair_row(pair, names) for pair in ordered]


def _pair_row(pair: PairResult, names: Mapping[str, str]) -> tuple[str, ...]:
    return (
        names.get(pair.a, pair.a),
        names.get(pair.b, pair.b),
        _figure(pair.delta, 3),
        _between(pair.ci95),
        _figure(pair.p_holm, 4),
        _figure(pair.flip, 4),
        _tr("{differing} of {units}").format(
            differing=formats.whole(pair.differing), units=formats.whole(pair.unit_count)
        ),
        _row_words(pair.row),
    )


def _figure(value: float | None, places: int) -> str:
    return formats.UNKNOWN if value is None else QLocale().toString(float(value), "f", places)


def _between(interval: Interval | None) -> str:
    if interval is None:
        return formats.UNKNOWN
    return _tr("{low} to {high}").format(low=_figure(interval.low, 3), high=_figure(interval.high, 3))


def _row_words(row: int | None) -> str:
    words = {
        1: _tr("Not enough tests"),
        2: _tr("Practically the same"),
        3: _tr("Not enough tests"),
        4: _tr("First is better"),
        5: _tr("First is slightly better"),
        6: _tr("Practically the same"),
        7: _tr("Too close to call"),
    }
    return words.get(row or 0, formats.UNKNOWN)


def pairs_sentence(board: Leaderboard) -> str:
    """How the pairs are compared."""
    text = _tr(
        "Paired t tests on “{metric}” over the tests that both answered, with Holm's correction over all"
        " {count} pairs. Below 20 tests the sign-flip test must agree."
    )
    none = _tr("A gap below {margin} of 100 counts as none.")
    if board.deciding not in SHARES:
        none = _tr("A gap below {margin} of 100 of the larger value counts as none.")
    text = f"{text} {none}"
    return text.format(
        metric=metric_name(board.deciding),
        count=formats.whole(len(board.pairs)),
        margin=formats.points(board.margin),
    )


# ---- what it cannot tell


def cannot_tell(board: Leaderboard) -> tuple[str, ...]:
    """What no result tells, this one included; always something."""
    said = [
        _tr(
            "This speaks of your {tests} tests and the way they are marked. Other questions may go otherwise."
        ).format(tests=formats.whole(board.cases))
        if board.cases != 1
        else _tr("This speaks of your one test and the way it is marked. Other questions may go otherwise.")
    ]
    if board.trials < 2:
        said.append(_tr("Each question was asked once, so how much answers vary is not known."))
    said.append(_tr("Services change their models. What holds today may not hold next month."))
    return tuple(said)


def listed(sentences: Sequence[str]) -> str:
    """Sentences one after the other."""
    return " ".join(sentence for sentence in sentences if sentence)

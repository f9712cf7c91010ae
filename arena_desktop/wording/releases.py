"""Releases in words: what a new version of a model changed."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from engine.stats.releases import ReleaseChange, Step


def _tr(text: str) -> str:
    return QCoreApplication.translate("Releases", text)


def step_words(change: ReleaseChange) -> str:
    """Which release followed which."""
    step = change.step
    texts = {
        Step.NEW_ID: _tr("{before} was followed by {after}."),
        Step.SILENT: _tr("The service changed {before} to {after} by itself."),
        Step.REPLACED: _tr("{label} stood for {before} and now stands for {after}."),
    }
    return texts[step.kind].format(
        before=step.before.release, after=step.after.release, label=step.after.label or step.after.model_key
    )


def change_sentence(change: ReleaseChange) -> str:
    """What the tests say about it; never more than they show."""
    pair = change.pair
    if pair is None or pair.row is None:
        return _tr("No test was marked for both, so nothing can be said.")
    tests = formats.whole(pair.cases)
    counts = _tr("{better} of {tests} tests got better, {worse} got worse.").format(
        better=formats.whole(pair.higher), worse=formats.whole(pair.lower), tests=tests
    )
    better = (pair.delta or 0.0) > 0.0
    first = {
        1: _tr("Not enough tests to tell."),
        2: _tr("Practically the same."),
        3: _tr("Not enough tests to tell."),
        4: _tr("It got better.") if better else _tr("It got worse."),
        5: _tr("It got slightly better.") if better else _tr("It got slightly worse."),
        6: _tr("Practically the same."),
        7: _tr("Too close to call."),
    }
    return f"{first[pair.row]} {counts}"


def runs_words(change: ReleaseChange) -> str:
    """In which runs the two releases are compared."""
    before, after = change.step.before.number, change.step.after.number
    if before == after:
        return _tr("Both in run {number}.").format(number=after)
    return _tr("Run {before} against run {after}.").format(before=before, after=after)


def change_caption(change: ReleaseChange) -> str:
    """What the tests say, and where."""
    return f"{change_sentence(change)} {runs_words(change)}"


def releases_caption(changes: tuple[ReleaseChange, ...]) -> str:
    """The sentence below the heading."""
    worse = sum(change.got_worse for change in changes)
    if not worse:
        return _tr("No new release got worse by more than chance explains.")
    if worse == 1:
        return _tr("One new release got worse.")
    return _tr("{count} new releases got worse.").format(count=formats.whole(worse))

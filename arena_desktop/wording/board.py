"""The sentences around a leaderboard: which run it is, why this model, what would change it, the charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.metrics import metric_name, metric_value
from arena_desktop.wording.reasons import note_sentence, reason_sentence
from arena_desktop.wording.recommendation import passed_figure
from arena_desktop.wording.results import label_map, state_word
from arena_desktop.wording.verdict import verdict_words
from arena_desktop.wording.verdict_rows import entry_of, planner_sentence
from engine.domain import Note, RunInfo, RunStatus
from engine.stats.board import Entry, EntryStatus, Leaderboard, Reason, WeightChange


def _tr(text: str) -> str:
    return QCoreApplication.translate("Board", text)


# ---- which run


def run_title(info: RunInfo) -> str:
    """A run in a list of runs: "Run 12, today 14:05, complete"."""
    state = state_word(info.status)
    text = _tr("Run {number}, {when}, {state}")
    return text.format(number=info.number, when=formats.when(info.started_at), state=_lower(state))


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def practice_sentence() -> str:
    """Stands on every result of pretend models."""
    return _tr("Practice result. These models are pretend.")


def partial_sentence(finished: int, planned: int) -> tuple[str, str]:
    """First sentence and text of the strip over a result that is not whole."""
    many = _tr("Only {finished} of {planned} questions were asked.")
    text = _tr("Only {finished} of {planned} questions was asked.") if finished == 1 else many
    first = text.format(finished=formats.whole(finished), planned=formats.whole(planned))
    return first, _tr("Places may change.")


def so_far_sentence(finished: int, planned: int) -> tuple[str, str]:
    """First sentence and text of the strip over a result whose run goes on."""
    first = _tr("The run goes on: {finished} of {planned} answers so far.").format(
        finished=formats.whole(finished), planned=formats.whole(planned)
    )
    return first, _tr("Places may change.")


# ---- verdict card


def strong_pieces(board: Leaderboard) -> tuple[str, ...]:
    """The pieces of the lead that are drawn bold: how many tests the pick passed, what it costs."""
    winner = entry_of(board, board.winner)
    if winner is None or winner.scored_cases == 0:
        return ()
    figure = passed_figure(board, winner)
    cost = formats.per_100(winner.cost_per_1k_usd) if winner.cost_per_1k_usd else ""
    return tuple(piece for piece in (figure, cost) if piece)


def trial_chip() -> str:
    """The chip of a verdict under the weights of the sliders."""
    return _tr("With your trial weights")


def trial_sentence(board: Leaderboard) -> str:
    """Which weights a trial goes by."""
    listed = ", ".join(
        f"{metric_name(name)} {formats.points(share)}" for name, share in board.weights.items()
    )
    return _tr("With trial weights, not those of the project: {weights} of 100.").format(weights=listed)


def summary_text(board: Leaderboard, info: RunInfo, notes: Sequence[str], *, trial: bool = False) -> str:
    """What "Copy summary" puts on the clipboard. `trial`: the weights are not those of the project."""
    said = verdict_words(board)
    lines = [
        f"{info.project}: {run_title(info)}",
        trial_sentence(board) if trial else "",
        said.headline,
        said.sentence,
        said.lead if said.lead != said.sentence else "",
        *notes,
    ]
    if info.practice:
        lines.append(practice_sentence())
    return "\n".join(line for line in lines if line)


def why_lines(board: Leaderboard) -> list[tuple[str, str]]:
    """Why the pick, and every respect in which it is worse: (strength, weakness or caution; sentence)."""
    names = label_map(board)
    lines = []
    winner = entry_of(board, board.winner)
    if winner is None:
        return [("caution", f"{e.label}: {reason_sentence(e.failures[0], names)}")
                for e in board.entries if e.failures]  # fmt: skip
    only_weights = _only_weights(board, winner)
    if only_weights:
        lines.append(("caution", only_weights))
    lines += [
        (reason.code, _side_by_side(board, reason, names))
        for reason in board.recommendation
        if reason.code in ("strength", "weakness") and not _reads_alike(reason)
    ]
    lines += [("caution", reason_sentence(reason, names)) for reason in winner.warnings]
    if lines:
        return lines
    if sum(entry.status is EntryStatus.RANKED for entry in board.entries) < 2:
        return [("caution", _tr("There is nothing to compare it with."))]
    return [("caution", _tr("On what was measured it reads the same as the others."))]


def _reads_alike(reason: Reason) -> bool:
    """Whether both values read the same, so that one is no strength beside the other."""
    metric = str(reason.values.get("metric", ""))
    mine, theirs = reason.values.get("value"), reason.values.get("other_value")
    return metric_value(metric, mine) == metric_value(metric, theirs)


def _only_weights(board: Leaderboard, winner: Entry) -> str:
    tied = [key for key in board.verdict.tied if key != winner.model_key]
    if winner.model_key not in board.verdict.tied or not tied or len(board.weights) < 2:
        return ""
    names = label_map(board)
    listed = ", ".join(names.get(key, key) for key in tied)
    return _tr(
        "On “{metric}” it is too close to tell apart from {others}. Only your weights part them."
    ).format(metric=metric_name(board.deciding), others=listed)


def _side_by_side(board: Leaderboard, reason: Reason, names: Mapping[str, str]) -> str:
    """One respect: "Getting it right: 98 of 100, Birch Mini 73 of 100. Counts 80 of 100."."""
    values = reason.values
    metric = str(values.get("metric", ""))
    other = str(values.get("other", ""))
    text = _tr("{metric}: {mine}, {other} has {theirs}.").format(
        metric=metric_name(metric),
        mine=metric_value(metric, values.get("value")),
        other=names.get(other, other),
        theirs=metric_value(metric, values.get("other_value")),
    )
    weight = board.weights.get(metric, 0.0)
    if weight <= 0:
        return f"{text} {_tr('You gave this no weight.')}"
    share = _tr("It counts {share} of 100.").format(share=formats.points(weight))
    return f"{text} {share}"


# ---- what would change it


def change_lines(board: Leaderboard) -> list[str]:
    """What would put another model first, and what would settle it."""
    lines = []
    winner = entry_of(board, board.winner)
    if winner is None:
        return [_tr("There is no first place that could change.")]
    names = label_map(board)
    if board.weight_change is not None:
        lines.append(weight_change_sentence(board.weight_change, names))
    elif sum(entry.status is EntryStatus.RANKED for entry in board.entries) > 1:
        lines.append(_tr("No change of a single weight puts another model first."))
    settled = planner_sentence(board.verdict.planner)
    if settled and board.verdict.row in (1, 3, 7):
        lines.append(settled)
    planner = board.verdict.planner
    if planner is not None and board.verdict.row in (1, 3, 7):
        others = sorted((t, n) for t, n in planner.by_trials.items() if t != planner.trials)
        options = ", ".join(_asked_otherwise(trials, tests) for trials, tests in others)
        if options:
            lines.append(_tr("The same would be reached with {options} in all.").format(options=options))
    return lines or [_tr("Another model with a place could come before it. So far there is none.")]


def _asked_otherwise(trials: int, tests: int) -> str:
    text = _tr("{tests} tests asked once") if trials == 1 else _tr("{tests} tests asked {trials} times")
    return text.format(tests=formats.whole(tests), trials=trials)


def weight_change_sentence(change: WeightChange, names: Mapping[str, str]) -> str:
    """The smallest change of one weight that puts another model first."""
    leader = names.get(change.leader, change.leader)
    metric = metric_name(change.metric)
    if change.factor <= 0:
        return _tr("{leader} would come first if “{metric}” did not count.").format(
            leader=leader, metric=metric
        )
    text = _tr("{leader} would come first if “{metric}” counted {after} of 100 instead of {before}.")
    after, before = formats.points(change.share_after), formats.points(change.share_before)
    if after == before:
        return _tr("{leader} would come first if “{metric}” counted only a little {way}.").format(
            leader=leader, metric=metric, way=_tr("more") if change.factor > 1 else _tr("less")
        )
    return text.format(leader=leader, metric=metric, after=after, before=before)


def what_if_sentence(board: Leaderboard, first: str | None) -> str:
    """Who comes first under the weights of the sliders."""
    names = label_map(board)
    if first is None:
        return _tr("With these weights nothing can be ranked.")
    name = names.get(first, first)
    if first == board.winner:
        return _tr("{name} stays first.").format(name=name)
    return _tr("{name} would come first.").format(name=name)


# ---- notes and legends


def note_lines(board: Leaderboard | None, notes: Sequence[Note]) -> list[str]:
    """All notes of a result as sentences, each once."""
    names = label_map(board)
    every = [*notes, *(board.notes if board else ())]
    return list(dict.fromkeys(note_sentence(note, names) for note in every))


def tie_legend(tests: int) -> str:
    """What the bracket means."""
    return _tr("Too close to tell apart with {tests} tests").format(tests=formats.whole(tests))


def score_legend() -> str:
    """What dot and band mean."""
    return _tr("Measured score, and where the true score most likely lies. Scale 0 to 100.")


def preview_legend() -> str:
    """Stands below the table while the sliders differ from the project."""
    return _tr("A try with the weights of the sliders. The project is as it was.")


def score_spoken(score: float | None, low: float | None, high: float | None) -> str:
    """A score for a screen reader."""
    if score is None:
        return _tr("not measured")
    text = _tr("Overall score {score} of 100").format(score=formats.points(score))
    if low is None or high is None:
        return text
    return _tr("{score}, likely between {low} and {high}").format(
        score=text, low=formats.points(low), high=formats.points(high)
    )


def chart_sentence(board: Leaderboard) -> str:
    """What the bars say, as one sentence."""
    first = next(
        (e for e in board.entries if e.status is EntryStatus.RANKED and e.composite is not None), None
    )
    if first is None or first.composite is None:
        scored = [entry for entry in board.entries if entry.composite is not None]
        if not scored:
            return _tr("No model has a score yet.")
        if any(entry.status is EntryStatus.INCOMPLETE for entry in scored):
            return _tr("No model has answered enough tests for a place.")
        return _tr("All models with a score are ruled out.")
    sentence = score_spoken(
        first.composite,
        first.composite_interval.low if first.composite_interval else None,
        first.composite_interval.high if first.composite_interval else None,
    )
    lines = _tr("Lines show where the true score most likely lies.")
    return _tr("{name}: {sentence}. {lines}").format(name=first.label, sentence=_lower(sentence), lines=lines)


def cost_chart_sentence() -> str:
    """How to read cost against score."""
    return _tr("Up is better, left is cheaper. Lines show where the true score most likely lies.")


def nothing_yet(tests: int, models: int, cost: str) -> str:
    """The empty leaderboard: "50 tests and 4 models are ready. A run would cost about $1.52."."""
    text = _tr("{tests} tests and {models} models are ready. {cost}")
    return text.format(tests=formats.whole(tests), models=formats.whole(models), cost=cost).strip()


def empty_board_words(status: RunStatus) -> tuple[str, str]:
    """Heading and sentence for a run that has no leaderboard."""
    if status is RunStatus.RUNNING:
        return _tr("The run has only begun."), _tr("The first places show as soon as answers are in.")
    return (
        _tr("This run has no result."),
        _tr("No answer was marked before it ended. What came back is on the Answers page."),
    )

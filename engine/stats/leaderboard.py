"""The leaderboard of a run: ranks, verdict, chances and notes from the calls alone.

`build_board` is pure: the same calls give the same board to the last digit, in whatever order
calls, cases and models are handed in. It is used for live boards, finished runs, re-scoring and
what-if alike. It may run on any thread, never on the one that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from engine.stats.board import Entry, EntryStatus, Leaderboard, Reason
from engine.stats.board_json import board_from_json, board_to_json
from engine.stats.chance import Chance, Resampling, chances
from engine.stats.entries import Standing, finish
from engine.stats.field import Field, Scored, make_field, score_field, winner_of
from engine.stats.headline import Headline, headline
from engine.stats.inputs import BoardInput, seeds
from engine.stats.metrics import relative_metrics
from engine.stats.notes import board_notes
from engine.stats.recommend import recommendation
from engine.stats.what_if import nearest_change

__all__ = ["BoardInput", "board_from_json", "board_to_json", "build_board", "what_if"]


def _chances(
    data: BoardInput, whole: Field, scored: Scored, should_stop: Callable[[], bool] | None
) -> Mapping[str, Chance]:
    statistics = data.config.statistics
    if not statistics.enabled:
        return {}
    samples = [
        item.sample for item in whole.of(EntryStatus.RANKED) if scored.composites[item.key] is not None
    ]
    how = Resampling(statistics.resamples, seeds(data.config), statistics.confidence, should_stop)
    return chances(samples, whole.grid, whole.order.shares, whole.readings, how)


def _rows(whole: Field, scored: Scored, chance: Mapping[str, Chance], head: Headline) -> tuple[Entry, ...]:
    by_key = {item.key: item for item in whole.drafts}
    rows = []
    for spot in scored.places:
        luck = chance.get(spot.key)
        behind = (Reason("dominated", {"by": spot.behind}),) if spot.behind else ()
        rows.append(
            finish(
                by_key[spot.key],
                Standing(
                    rank=spot.rank,
                    composite=scored.composites[spot.key],
                    terms=scored.terms[spot.key],
                    composite_interval=luck.composite if luck else None,
                    chance_first=luck.first if luck else None,
                    deciding_place=head.standing.index(spot.key) + 1 if spot.key in head.standing else None,
                    tied=spot.key in head.verdict.tied,
                    warnings=behind,
                ),
                whole.grid,
            )
        )
    return tuple(rows)


def build_board(data: BoardInput, *, should_stop: Callable[[], bool] | None = None) -> Leaderboard:
    """Ranks the models, words nothing: codes and numbers for the front end.

    `should_stop` is asked often; a yes raises `Cancelled` and nothing is returned.
    """
    whole = make_field(data, should_stop)
    scored = score_field(whole)
    head = headline(data, whole, scored, should_stop)
    chance = _chances(data, whole, scored, should_stop)
    rows = _rows(whole, scored, chance, head)
    winner = winner_of(scored)
    finished = sum(row.answered + row.errors for row in rows)
    planned = data.planned or sum(item.planned for item in whole.drafts)
    config = data.config
    return Leaderboard(
        entries=rows,
        winner=winner,
        verdict=head.verdict,
        pairs=head.pairs,
        notes=board_notes(
            config, whole.drafts, waits=data.waits, status=data.status, finished=finished, planned=planned
        ),
        weights=dict(whole.order.shares),
        deciding=config.metrics.deciding,
        cases=len(whole.grid.case_ids),
        trials=data.trials,
        planned=planned,
        finished=finished,
        recommendation=recommendation(rows, winner, config.metrics, whole.readings),
        weight_change=nearest_change(rows, whole.order, winner),
        margin=config.statistics.margin,
        relative=relative_metrics(config),
        differing_cases=head.differing_cases,
    )


def what_if(
    data: BoardInput, weights: Mapping[str, float], *, should_stop: Callable[[], bool] | None = None
) -> Leaderboard:
    """The board under other weights, by the same function and from the same answers."""
    config = replace(data.config, metrics=replace(data.config.metrics, weights=dict(weights)))
    return build_board(replace(data, config=config), should_stop=should_stop)

"""Smoothed suspicion D: who suspects whom in the end (Table 2), how it goes round by round (Figure 1 and its trends),
and around claims and nights (paper, sections 4.5, 5.3, 5.4 and 5.6).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median, stdev
from typing import Any, Final

import numpy as np
import polars as pl

from analytics.metrics.bootstrap import NONE, game_interval, mean_interval
from analytics.metrics.formulas import Parts, ratio, theil_sen
from analytics.metrics.statements import claims, received
from analytics.metrics.study import Scope, Study, figure_row, rows_of
from analytics.metrics.sums import Axes, Figure, Sums, in_order, share, sums_of
from analytics.results import NOBODY, PAIRS, UNINFORMED, Observers, ResultRow
from analytics.rows.course import NIGHTS
from wolfbus.game.vocabulary import ROLES

ENOUGH_GAMES: Final = 10
"""Games a round needs before its difference is judged."""

WOLF: Final = pl.col("wolf")


def _gap_sums(frame: pl.DataFrame, games: int, axes: Axes | None = None) -> Sums:
    """Return suspicion of Werewolves and of others, with how often there is any."""
    d = pl.col("suspicion")
    sides: dict[str, Any] = {"wolves": pl.when(WOLF).then(d), "others": pl.when(~WOLF).then(d)}
    return sums_of(frame, games, axes, **sides, wolves_n=WOLF, others_n=~WOLF)


def towards(scope: Scope) -> Iterator[Sums]:
    """Yield final D towards Werewolves and towards others."""
    yield _gap_sums(scope.of(scope.study.pairs, "observer_agent"), scope.study.games)


def raw_towards(scope: Scope) -> Iterator[Sums]:
    """Yield the same of suspicion as it was given."""
    yield _gap_sums(scope.judged.filter(pl.col("suspicion").is_not_null()), scope.study.games)


def gap(s: Parts) -> np.ndarray:
    """Return mean suspicion of Werewolves minus that of others."""
    difference: np.ndarray = ratio(s.wolves, s.wolves_n) - ratio(s.others, s.others_n)
    return difference


GAP: Final = Figure(
    gap,
    lambda s: s.wolves_n + s.others_n,
    "there is no such suspicion of both Werewolves and others",
    lambda s: 0.0 * s.wolves_n,
    sides=(lambda s: s.wolves_n, lambda s: s.others_n),
)
"""The difference, over the pairs or judgements of both."""


def suspected(scope: Scope) -> Iterator[Sums]:
    """Yield final D towards an agent's seats, as a Werewolf and as anything else."""
    yield _gap_sums(scope.of(scope.study.pairs, "target_agent"), scope.study.games)


def pair_rows(study: Study) -> Iterator[ResultRow]:
    """Yield Table 2: final D by role of both sides."""
    roles = ("observer_role", "target_role")
    cells = study.pairs.group_by("game", *roles, maintain_order=True).agg(
        mean=in_order(pl.col("suspicion")).mean(), pairs=pl.len()
    )
    axes = {"observer": "observer_role", "target": "target_role"}
    sums = sums_of(cells, study.games, axes, mean=pl.col("mean"), games=1.0, pairs=pl.col("pairs"))
    final = {"final_suspicion": share("mean", "games", "no game has such a pair with a judgement")}
    yield from rows_of(study, "all", sums, {**final, "final_pairs": Figure(lambda s: s.pairs)})


# -- round by round


def course_rows(study: Study) -> Iterator[ResultRow]:
    """Yield Figure 1 and its trends."""
    for observers in PAIRS:
        scope = Scope(study, observers)
        rounds = scope.of(study.rounds, "observer_agent")
        lines = _means(rounds)
        yield from _points("suspicion", observers, lines)
        yield from _points("raw_suspicion", observers, _means(scope.judged.filter(pl.col("suspicion").is_not_null())))
        for name, moved in _moved(rounds, lines).items():
            yield from _points(f"moved_{name}", observers, moved)
        yield from _trends(study, observers, lines)


def _means(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the mean suspicion of a game towards a role in a round."""
    by = ("game", "target_role", "round")
    return rows.group_by(*by, maintain_order=True).agg(mean=in_order(pl.col("suspicion")).mean()).sort("game", "round")


def _points(metric: str, observers: Observers, points: pl.DataFrame) -> Iterator[ResultRow]:
    """Yield by role and round the mean over games of a game's own mean, and its standard error."""
    for (role, round_), values in _by(points, "target_role", "round"):
        mean, n = fmean(values), len(values)
        sem = stdev(values) / math.sqrt(n) if n > 1 else None
        group = {"target": role, "round": round_}
        interval = mean_interval(mean, sem, n)
        yield figure_row(metric, observers, mean, interval, n, "", **group)
        yield figure_row(f"{metric}_sem", observers, sem, NONE, n, "there is one game", **group)


def _by(points: pl.DataFrame, *keys: str) -> Iterator[tuple[tuple[str, int], list[float]]]:
    """Yield values by role and round, roles in the order of `ROLES`, values ascending."""
    lists = points.group_by(*keys).agg(pl.col("mean").sort())
    rows = {tuple(row[:-1]): row[-1] for row in lists.rows()}
    for key in sorted(rows, key=lambda key: tuple(ROLES.index(part) if part in ROLES else part for part in key)):
        yield key, rows[key]


def _moved(rounds: pl.DataFrame, lines: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return how a game's mean D changed from one round to the next: within the pairs that were there in both, and by
    who the pairs are.
    """
    pair = ["game", "target_role", "observer", "target", "round"]
    before = rounds.select(*pair[:-1], round=pl.col("round") + 1, earlier="suspicion")
    common = rounds.join(before, on=pair, maintain_order="left").group_by(*pair[:2], "round", maintain_order=True)
    within = common.agg(within=in_order(pl.col("suspicion") - pl.col("earlier")).mean())
    place = ["game", "target_role", "round"]
    previous = lines.select(*place[:2], round=pl.col("round") + 1, earlier="mean")
    change = lines.join(previous, on=place).with_columns(change=pl.col("mean") - pl.col("earlier")).drop("mean")
    moved = within.join(change, on=place, maintain_order="left")
    return {
        "within": moved.select(*place, mean="within"),
        "makeup": moved.select(*place, mean=pl.col("change") - pl.col("within")),
    }


def _trends(study: Study, observers: Observers, lines: pl.DataFrame) -> Iterator[ResultRow]:
    """Yield slopes per round, and the first round in which Werewolves and Villagers are told apart.

    ``suspicion_slope``: the median over games of at least two rounds of the Theil-Sen slope within the game; games are
    resampled, not blocks. ``slope_of_means`` is the slope of the per-round means over games, as in the paper.
    ``suspicion_difference``: by round, the mean paired difference Werewolf - Villager.
    """
    of_games: dict[str, dict[int, list[tuple[int, float]]]] = {role: {} for role in study.roles}
    for game, role, round_, mean in lines.rows():
        of_games[role].setdefault(game, []).append((round_, mean))
    reason = "there are no games of at least two rounds with such suspicion"
    for role, games in of_games.items():
        slopes = sorted(slope for points in games.values() if (slope := theil_sen(points)) is not None)
        middle = median(slopes) if slopes else None
        yield figure_row("suspicion_slope", observers, middle, game_interval(slopes, "median"), len(slopes), reason,
                         target=role)  # fmt: skip
        by_round: dict[int, list[float]] = {}
        for points in games.values():
            for round_, mean in points:
                by_round.setdefault(round_, []).append(mean)
        means = [(round_, fmean(values)) for round_, values in sorted(by_round.items())]
        slope, why = theil_sen(means), "there are no two rounds with such suspicion"
        yield figure_row("slope_of_means", observers, slope, NONE, len(means), why, target=role)
    yield from _separable(observers, of_games)


def _separable(observers: Observers, of_games: dict[str, dict[int, list[tuple[int, float]]]]) -> Iterator[ResultRow]:
    differences: dict[int, list[float]] = {}
    for game, points in of_games["Werewolf"].items():
        others = dict(of_games["Villager"].get(game, ()))
        for round_, mean in points:
            if round_ in others:
                differences.setdefault(round_, []).append(mean - others[round_])
    judged: list[ResultRow] = []
    for round_ in sorted(differences):
        values = sorted(differences[round_])
        mean = fmean(values)
        row = figure_row(
            "suspicion_difference", observers, mean, game_interval(values, "mean"), len(values), "", round=round_
        )
        yield row
        judged += [row] if len(values) >= ENOUGH_GAMES else []
    first, reason = None, f"no round has {ENOUGH_GAMES} games with suspicion of both Werewolves and Villagers"
    for row in reversed(judged):
        # without an interval, every draw gives the same difference
        if ((row.value or 0.0) if row.low is None else row.low) <= 0:
            break
        first = int(row.group.partition(":")[2])
    if judged and first is None:
        last = judged[-1].group.partition(":")[2]
        reason = f"the interval of the difference is not above 0 in round {last}, the last one judged"
    yield ResultRow("first_separable_round", "all", observers, first, reason=reason if first is None else None)


# -- around events

_EVENTS: Final = ("before", "after", "blocked", "killed")


def event_rows(study: Study) -> Iterator[ResultRow]:
    """Yield suspicion of a Seer's statements before and from its first claim to be one, and of a Doctor's on days after
    nights whose kill was blocked, and after ones whose kill went through (paper 5.3; metrics: events).
    """
    reveals = claims(study).filter(pl.col("reveals") & pl.col("heard"))
    first = reveals.group_by("game", "speaker").agg(first=pl.col("statement").min())
    seers = study.tables.seats.filter(pl.col("role") == "Seer").join(
        first, left_on=["game", "name"], right_on=["game", "speaker"], how="left"
    )
    claimed = int(seers["first"].is_not_null().sum())
    yield ResultRow("seers", "claimed:yes", NOBODY, claimed)
    yield ResultRow("seers", "claimed:no", NOBODY, len(seers) - claimed)
    results = study.tables.nights["result"].cast(pl.String)
    for result in NIGHTS:
        yield ResultRow("nights", f"result:{result}", NOBODY, int((results == result).sum()))

    night = study.tables.nights.select("game", "round", "result").unique(["game", "round"], keep="last")
    rows = (
        received(study)
        .filter(pl.col("heard_suspicion").is_not_null())
        .join(first, on=["game", "speaker"], how="left", maintain_order="left")
        .join(night, on=["game", "round"], how="left", maintain_order="left")
    )
    by_seer = pl.col("role") == "Seer"
    by_doctor = pl.col("role") == "Doctor"
    earlier = pl.col("number") < pl.col("first")
    masks = {
        "before": by_seer & earlier,
        "after": by_seer & ~earlier,
        "blocked": by_doctor & (pl.col("result") == "blocked"),
        "killed": by_doctor & (pl.col("result") == "killed"),
    }
    masks = {name: mask.fill_null(value=False) for name, mask in masks.items()}
    suspicion = pl.col("heard_suspicion")
    parts: dict[str, Any] = {name: pl.when(mask).then(suspicion) for name, mask in masks.items()}
    parts |= {f"{name}_n": mask for name, mask in masks.items()}
    sums = sums_of(rows, study.games, **parts)
    no_claim = "no Seer who claims in public to be one has a judged statement of this sort"
    no_night = "no Doctor has a judged statement on a day after such a night"
    figures = {f"event_{name}": share(name, f"{name}_n", reason) for name, reason in zip(
        _EVENTS, (no_claim, no_claim, no_night, no_night), strict=True)}  # fmt: skip
    figures["event_doctor_difference"] = Figure(
        lambda s: ratio(s.blocked, s.blocked_n) - ratio(s.killed, s.killed_n),
        lambda s: s.blocked_n + s.killed_n,
        "there are no judged statements of a Doctor after nights of both sorts",
        tells=lambda s: np.minimum(s.blocked_n, s.killed_n),
    )
    yield from rows_of(study, NOBODY, sums, figures)

    by_game = sums.by_game
    change = (ratio(by_game.after, by_game.after_n) - ratio(by_game.before, by_game.before_n))[:, 0]
    both = ~np.isnan(change)
    changes = np.stack([np.where(both, change, 0.0), both], axis=1)[:, None, :]
    no_change = "no game has judged statements of its Seer before and after the claim"
    yield from rows_of(
        study,
        NOBODY,
        Sums([{}], ("change", "games"), changes),
        {"event_seer_difference": share("change", "games", no_change)},
    )


def retention_rows(study: Study) -> Iterator[ResultRow]:
    """Yield by round mean D of living Werewolves and of living others, by observers who have to find out, and their
    difference: how long deception lasts (beyond the paper).
    """
    frame = study.rounds.filter(~pl.col("informed")).with_columns(wolf=pl.col("target_role") == "Werewolf")
    nobody = "nobody who has to find out judged living"
    sums = _gap_sums(frame, study.games, {"round": "round"})
    figures = {
        "retention_others": share("others", "others_n", f"{nobody} others"),
        "retention_werewolves": share("wolves", "wolves_n", f"{nobody} werewolves"),
        "retention_difference": Figure(
            gap,
            lambda s: s.wolves_n + s.others_n,
            f"{nobody} Werewolves and others",
            sides=(lambda s: s.wolves_n, lambda s: s.others_n),
        ),
    }
    yield from rows_of(study, UNINFORMED, sums, figures)

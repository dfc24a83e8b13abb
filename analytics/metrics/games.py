"""How games end and how long they are (paper 5.2; metrics: outcomes)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, cast

import polars as pl

from analytics.metrics.study import Scope, Study
from analytics.metrics.sums import Figure, Sums, share, sums_of
from analytics.results import NOBODY, ResultRow, group_text
from wolfbus.game.roles import TABLE_ROLES, team_of
from wolfbus.game.vocabulary import ASSESSMENT_TIMES, LABEL_TIMES, PROTOCOLS, Role

LENGTHS: Final = ("nights", "debate_turns", "voting_rounds", "statements", "judgements")
"""What is counted in every game."""
_ON_THEIR_SIDE: Final = [name for name in TABLE_ROLES if team_of(cast("Role", name)) == "werewolves"]
WITH_WOLVES: Final = pl.col("role").cast(pl.String).is_in(_ON_THEIR_SIDE)
"""Whether a seat wins with the Werewolves: one of them, or an accomplice of another table."""


def wins(scope: Scope) -> Iterator[Sums]:
    """Yield finished games by who won; of an agent, its seats in them: of those with the villagers the ones that won,
    of those with the Werewolves likewise, and of all its seats those in games that nobody won.
    """
    rows = scope.study.tables.games.with_row_index("game").filter("finished")
    village = wolves = pl.lit(value=True)
    if scope.agent is not None:
        of_games = rows.select(pl.col("game").cast(pl.Int32), "winner")
        rows = scope.of(scope.study.tables.seats, "agent").join(of_games, on="game", maintain_order="left")
        wolves = WITH_WOLVES
        village = ~wolves
    yield sums_of(
        rows,
        scope.study.games,
        villagers=village & (pl.col("winner") == "villagers"),
        villagers_n=village,
        werewolves=wolves & (pl.col("winner") == "werewolves"),
        werewolves_n=wolves,
        nobody=pl.col("winner").is_null(),
        nobody_n=1.0,
    )


def won_by(winner: str) -> Figure:
    """Return the share of games that somebody won."""
    return share(winner, f"{winner}_n", "no game is finished", is_rate_of_games=True)


def game_rows(study: Study) -> Iterator[ResultRow]:
    """Yield how many games there are, how they ended, and their lengths.

    Shares and per-game means are over finished games: a game that was cut off has no outcome and no length yet. Totals
    are over all. A turn of debate in which nothing was said is a turn but no statement; judgements are those that
    count.
    """
    games = study.tables.games
    finished = games["finished"]
    yield _count("games", study.games)
    yield _count("finished_games", int(finished.sum()))
    for protocol in PROTOCOLS:
        yield _count("games", int((games["protocol"].cast(pl.String) == protocol).sum()), protocol=protocol)
    for column, values in (("label", LABEL_TIMES), ("assess", ASSESSMENT_TIMES)):
        times = asked_times(games, column)
        for value in values:
            yield _count("games", int((times == value).sum()), **{column: value})
    yield _count("games", int((~games["feedback"]).sum()), feedback="no")
    endings = games.filter("finished")["reason"].drop_nulls().cast(pl.String).to_list()
    for ending in sorted(set(endings)):
        yield _count("games", endings.count(ending), ending=ending)
    counted = games.with_columns(
        statements=_per_game(study.tables.statements, study.games),
        judgements=_per_game(study.judged, study.games),
    )
    for name in LENGTHS:
        lengths = [int(length) for length in counted.filter("finished")[name]]
        n, total = len(lengths), sum(lengths)
        # whole numbers until the last division: the spread of equal lengths is exactly 0
        scaled = n * sum(length**2 for length in lengths) - total**2
        sd = math.sqrt(scaled / (n * (n - 1))) if n > 1 else None
        for what, length in (("per_game", total / n if n else None), ("sd", sd)):
            reason = "too few games are finished" if length is None else None
            yield ResultRow(f"{name}_{what}", "all", NOBODY, length, n=n, reason=reason)
        yield _count(f"{name}_total", int(counted[name].sum()))


def asked_times(games: pl.DataFrame, column: str) -> pl.Series:
    """Return when labels (``label``), or labels and judgements (``assess``), were asked for in each of some games; of
    labels without the games in which nobody was asked for any.
    """
    if column == "label":
        games = games.filter(games["assess"].cast(pl.String) != "none")
    return games[column].cast(pl.String)


def _per_game(frame: pl.DataFrame, games: int) -> pl.Series:
    counts = frame["game"].value_counts(name="rows")
    places = pl.DataFrame({"game": range(games)}, {"game": pl.Int32})
    return places.join(counts, on="game", how="left", maintain_order="left")["rows"].fill_null(0).cast(pl.Int64)


def _count(metric: str, value: int, **group: str) -> ResultRow:
    return ResultRow(metric, group_text(group), NOBODY, value)

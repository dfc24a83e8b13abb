"""Whether suspicion follows what it should not: a player's name, seat, turn to speak, length of statement, or that
observer and speaker are the same agent; and whether a judgement that a study repeats comes out alike.

All of it is over observers who have to find out, held against the mean suspicion of Werewolves and of others each, so
that what is due to the role is nobody's bias. All of it is exploratory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import polars as pl

from analytics import Result
from analytics.metrics.bootstrap import DRAWS
from analytics.metrics.formulas import Array, Formula, Parts, ratio
from analytics.metrics.primary import Rearrangements
from analytics.metrics.study import Study, figure_row, rows_of
from analytics.metrics.sums import Figure, Sums, share, sums_of
from analytics.results import EVERYBODY, UNINFORMED, ResultRow, Results
from analytics.tables import words_of

UNITS: Final = {"seat": 1, "turn": 1, "length": 10}
"""What suspicion is told to change by: a place in seating order, a turn later, ten words more."""
MOST_AGENTS: Final = 24
"""Agents beyond which not every two of them have judged each other often enough to be told apart."""

_UNJUDGED: Final = "no judgement counts by an observer who has to find out"
_OWN: Final = ("own_agent", "own_flag")
_ALONE: Final = "of Werewolves as of others, observers judged their own agent alone, or other agents alone"


def _rows(study: Study) -> pl.DataFrame:
    """Return judgements that count, by observers who have to find out, with the ``seat`` of the speaker, ``turn`` and
    ``length`` of the statement; ``excess`` is suspicion less the mean: of Werewolves for what one says, of others for
    what another says. ``overflagged`` is the same of flags.
    """
    spoken = study.statements.select("said", "turn", "phase", length="words")
    place = study.tables.seats.select("game", target="name", seat="place")
    return (
        study.judged.filter(~pl.col("informed") & pl.col("suspicion").is_not_null())
        .join(spoken, on="said", how="left", maintain_order="left")
        .join(place, on=["game", "target"], how="left", maintain_order="left")
        .with_columns(
            excess=_beyond_mean("suspicion"),
            overflagged=_beyond_mean("flagged"),
        )
    )


def _beyond_mean(name: str) -> pl.Expr:
    """Return a column less its mean, of Werewolves and of others each."""
    return pl.col(name) - pl.col(name).mean().over("wolf")


def bias_rows(study: Study) -> Iterator[ResultRow]:
    """Yield what suspicion follows beside what is said (beyond the paper).

    - ``suspicion_by_seat``, ``_turn``, ``_length``: by how much suspicion of a statement rises with the speaker's
      place in seating order, with its turn of the debate, and with every ten words.
    - ``own_agent``: by how much an observer suspects, and ``own_flag`` flags, its own agent more than others, what is
      due to observer and to speaker taken out.
    - ``name_excess``: for each name that players bore, how much more suspicion it meets than others; ``names_p`` is of
      the hypothesis that no name meets more or less, over all names.
    - ``retest_difference`` of suspicion, ``retest_agreement`` of flags, ``retest_correlation``: of judgements made
      twice (games of one seed, the same words, the same observer and agent), of forks those of the fork itself.
    """
    rows = _rows(study)
    for name, among in (("seat", None), ("turn", pl.col("phase") == "debate"), ("length", pl.col("length") > 0)):
        yield from _slope(study, rows if among is None else rows.filter(among), name)
    yield from _own_agent(study, rows)
    yield from _names(study, rows)
    yield from _retest(study)


def _slope(study: Study, rows: pl.DataFrame, name: str) -> Iterator[ResultRow]:
    """Yield the slope of suspicion on something, among Werewolves and among others together."""
    # near 0, so that sums of squares lose nothing
    x = pl.col(name) / UNITS[name] - (pl.col(name) / UNITS[name]).mean()
    y = pl.col("suspicion") - pl.col("suspicion").mean()
    parts = {"n": pl.lit(1.0), "x": x, "y": y, "xy": x * y, "xx": x * x}
    sides = {"wolf": pl.col("wolf"), "other": ~pl.col("wolf")}
    weighted: dict[str, Any] = {
        f"{side}_{part}": value * mask for side, mask in sides.items() for part, value in parts.items()
    }
    sums = sums_of(rows, study.games, **weighted)

    def slope(s: Parts) -> Array:
        across, along = 0.0, 0.0
        for side in sides:
            n, sum_x, sum_y, both, square = (getattr(s, f"{side}_{part}") for part in parts)
            across = across + both - np.nan_to_num(ratio(sum_x * sum_y, n))
            along = along + square - np.nan_to_num(ratio(sum_x * sum_x, n))
        return ratio(across, np.where(np.asarray(along) > 1e-9, along, 0))

    reason = "it is the same everywhere" if len(rows) else _UNJUDGED
    figure = Figure(slope, lambda s: s.wolf_n + s.other_n, reason)
    yield from rows_of(study, UNINFORMED, sums, {f"suspicion_by_{name}": figure})


def _own_agent(study: Study, rows: pl.DataFrame) -> Iterator[ResultRow]:
    """Yield how much more an observer suspects, and flags, its own agent."""
    agents = study.agents
    if not 1 < len(agents) <= MOST_AGENTS:
        reason = "one agent alone" if len(agents) < 2 else f"more than {MOST_AGENTS} agents"
        yield from _no_own_agent(0, reason)
        return
    axes = {"observer": "observer_agent", "target": "target_agent"}
    of_own_agent = pl.col("observer_agent").cast(pl.String) == pl.col("target_agent").cast(pl.String)
    met = rows.group_by("wolf").agg(both=of_own_agent.any() & ~of_own_agent.all())
    if len(rows) and not met["both"].any():
        # as in mirrored games: who is of one's own agent is then what the role tells, which is taken out
        yield from _no_own_agent(len(rows), _ALONE)
        return
    fixed = rows.with_columns(pl.col(*axes.values()).cast(pl.Enum(agents)))
    by_cell = sums_of(fixed, study.games, axes, n=1.0, own_agent=pl.col("excess"), own_flag=pl.col("overflagged"))
    size = len(agents)
    same = np.eye(size, dtype=bool).ravel()
    # one group: the figure is of all cells together
    names = [f"{part}{cell}" for cell in range(size**2) for part in by_cell.names]
    sums = Sums([{}], names, by_cell.values.reshape(study.games, 1, len(names)))

    def cells(s: Parts, part: str) -> Array:
        return np.stack([getattr(s, f"{part}{cell}") for cell in range(size**2)], axis=-1)

    def contrast(part: str) -> Formula:
        def contrast_of(s: Parts) -> Array:
            # over all cells alike: what is due to the row and to the column drops out
            means = ratio(cells(s, part), cells(s, "n"))
            difference: Array = means[..., same].mean(axis=-1) - means[..., ~same].mean(axis=-1)
            return difference

        return contrast_of

    reason = "not every two agents judged each other, and themselves"
    figures = {part: Figure(contrast(part), lambda s: cells(s, "n").sum(axis=-1), reason) for part in _OWN}
    yield from rows_of(study, UNINFORMED, sums, figures)


def _no_own_agent(n: int, reason: str) -> Iterator[ResultRow]:
    for metric in _OWN:
        yield figure_row(metric, UNINFORMED, None, None, n, reason)


def _names(study: Study, rows: pl.DataFrame) -> Iterator[ResultRow]:
    names = pl.Enum(words_of(study.tables.seats["name"]))
    named = rows.with_columns(pl.col("target").cast(names))
    sums = sums_of(named, study.games, {"name": "target"}, excess=pl.col("excess"), n=1.0)

    def difference(s: Parts) -> Array:
        whole, n = s.excess.sum(axis=-1, keepdims=True), s.n.sum(axis=-1, keepdims=True)
        return ratio(s.excess, s.n) - ratio(whole - s.excess, n - s.n)

    reason = "nobody judged a player of that name, or nobody of another"
    yield from rows_of(study, UNINFORMED, sums, {"name_excess": Figure(difference, lambda s: s.n, reason)})
    by_block = sums.parts(sums.by_unit(study.block, study.blocks)).excess
    p = _p_of_names(by_block)
    alone = "no name was borne by a player who was judged in two blocks of games" if p is None else None
    yield ResultRow("names_p", "all", UNINFORMED, p, reason=alone)


def _p_of_names(sums: Array) -> float | None:
    """Return the smallest p-value of a name, adjusted for all: signs of blocks are flipped."""
    norm = np.sqrt((sums**2).sum(axis=0))
    tested = np.flatnonzero((norm > 0) & ((sums != 0).sum(axis=0) > 1))
    if not len(tested):
        return None
    flips = Rearrangements(len(sums))
    parts = sums[:, tested]
    statistics = np.abs(parts.sum(axis=0) - 2 * flips.moved(parts)) / norm[tested]
    return min(flips.adjusted({str(index): statistic for index, statistic in enumerate(statistics.T)}).values())


def _retest(study: Study) -> Iterator[ResultRow]:
    """Yield how alike judgements of the same words by the same observer come out in games of one seed."""
    seeds = study.tables.games.with_row_index("game").select(pl.col("game").cast(pl.Int32), "seed", "assess")
    forked = study.tables.forks.select("game", forked="number")
    # what was judged before a fork is copied from its parent, unless all is judged when the fork is over
    is_made = pl.col("forked").is_null() | (pl.col("number") >= pl.col("forked")) | (pl.col("assess") == "after")
    spoken = study.statements.select("said", "number", "checksum")
    same = ["seed", "number", "checksum", "target", "observer", "observer_agent"]
    rows = (
        study.judged.filter(pl.col("suspicion").is_not_null())
        .join(seeds, on="game", how="left", maintain_order="left")
        .filter(pl.col("seed") != "")
        .join(spoken, on="said", how="left", maintain_order="left")
        .join(forked, on="game", how="left", maintain_order="left")
        .filter(is_made)
    )
    later = {name: pl.col(name).shift(-1).over(same) for name in ("suspicion", "flagged")}
    twice = rows.with_columns(again=later["suspicion"], flagged_again=later["flagged"]).filter(
        pl.col("again").is_not_null()
    )
    sums = sums_of(
        twice,
        study.games,
        difference=(pl.col("suspicion") - pl.col("again")).abs(),
        agreement=pl.col("flagged") == pl.col("flagged_again"),
        n=1.0,
    )
    reason = (
        "no judgement was made twice: play a study again with its seed and a setting that changes no game, "
        "such as max_reply_bytes, and give both"
    )
    figures = {f"retest_{name}": share(name, "n", reason) for name in ("difference", "agreement")}
    yield from rows_of(study, EVERYBODY, sums, figures)
    s = np.stack([twice["suspicion"].to_numpy(), twice["again"].to_numpy()])
    # the mean of equal numbers may be another one in its last bit
    varied = len(twice) > 1 and float(np.ptp(s)) > 0
    # either of a pair comes first once
    correlation = float(np.corrcoef(s.ravel(), s[::-1].ravel())[0, 1]) if varied else None
    alike = None if varied else "fewer than two judgements were made twice, or all are alike"
    yield ResultRow("retest_correlation", "all", EVERYBODY, correlation, n=len(twice), reason=alike)


def bias(study: Study, results: Results) -> Result:
    """Return what suspicion follows beside what is said; see `bias_rows`."""
    correlation = results.row("retest_correlation", EVERYBODY)
    names = results.groups("name", "name_excess", UNINFORMED)
    return {
        **{name: results.row(f"suspicion_by_{name}", UNINFORMED).estimate() for name in UNITS},
        **{metric: results.row(metric, UNINFORMED).estimate() for metric in _OWN},
        "names": {
            "by_name": {name: results.row("name_excess", UNINFORMED, name=name).estimate() for name in names},
            "p": results.value("names_p", UNINFORMED),
            "names": len(names),
        },
        "retest": {
            **{part: results.row(f"retest_{part}", EVERYBODY).estimate() for part in ("difference", "agreement")},
            "correlation": correlation.value,
            "n": correlation.n,
            "draws": DRAWS if study.games else 0,
        },
    }

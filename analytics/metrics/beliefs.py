"""Beliefs asked outright: how well they tell Werewolves, whether they are coherent, whether votes follow them, and what
a statement does to them (beyond the paper).

Over pairs of living players whose observer could not be certain. ``belief`` is the probability as it was given,
``projected`` the same with its log odds moved, all of an observer's at one moment by as much, so that they add up to
what the hard facts expect (`analytics.metrics.ladder`): to the living Werewolves where their number is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.special import expit, logit

from analytics import Result
from analytics.metrics.formulas import Array, quotient
from analytics.metrics.ladder import CLIPPED, knowable, score_rows
from analytics.metrics.study import Study, rows_of
from analytics.metrics.sums import Figure, in_order, share, sums_of
from analytics.results import UNINFORMED, ResultRow, Results

MOMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "dawn": ("belief", "projected", "facts"),
    "dusk": ("belief", "projected", "suspicion", "facts", "honest"),
}
"""What is scored at which moment: at dusk also what the agents' judgements say, and what claims tell."""

_NONE: Final = "no model was asked what it believed of somebody of whom it could not be certain"
_OBSERVER: Final = ("game", "round", "when", "statement", "observer")
_PAIR: Final = ("game", "round", "observer", "target")
_AXES: Final = {"agent": "observer_agent"}
_STEPS: Final = 60


def believed(study: Study) -> pl.DataFrame:
    """Return beliefs of those of whom the observer could not be certain, with what could be known at that day's vote,
    ``projected`` and ``expected``: what the hard facts give the players in sum of whom the observer was asked.
    """

    def make() -> pl.DataFrame:
        could_know = knowable(study).select(*_PAIR, "suspicion", "facts", "honest", "voted", "wolf")
        frame = study.tables.beliefs.with_columns(pl.col("observer", "target").cast(pl.String))
        frame = frame.join(could_know, on=_PAIR, how="inner", maintain_order="left")
        frame = frame.with_columns(expected=pl.col("facts").sum().over(_OBSERVER))
        moments = frame.select(_OBSERVER).unique(maintain_order=True).with_row_index("moment")
        frame = frame.join(moments, on=_OBSERVER, how="left", nulls_equal=True, maintain_order="left")
        moment = frame["moment"].to_numpy().astype(np.int64)
        projected = project(frame["belief"].to_numpy(), frame["expected"].to_numpy(), moment)
        return frame.with_columns(projected=pl.Series(projected, dtype=pl.Float64))

    return study.cached("believed", make)


def project(likely: Array, expected: Array, moment: Array) -> Array:
    """Return probabilities with their log odds moved, those of a moment by as much, so that they add up as expected.

    Args:
        likely: probabilities; clipped to [.01, .99].
        expected: what those of the same moment are to add up to, more than 0 and fewer than there are.
        moment: number of the moment of each, from 0.
    """
    odds = logit(np.clip(likely, CLIPPED, 1 - CLIPPED))
    count = int(moment.max(initial=-1)) + 1
    totals = np.zeros(count)
    totals[moment] = expected
    low, high = np.full(count, -40.0), np.full(count, 40.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_more = np.bincount(moment, expit(odds + middle[moment]), count) > totals
        low, high = np.where(is_more, low, middle), np.where(is_more, middle, high)
    projected: Array = expit(odds + ((low + high) / 2)[moment])
    return projected


def belief_rows(study: Study) -> Iterator[ResultRow]:
    """Yield scores of beliefs, how coherent they are, whether votes follow them, and what statements do to them;
    nothing where nobody was asked.
    """
    if not study.tables.beliefs.is_empty():
        frame = believed(study)
        yield from _scores(study, frame)
        yield from _coherence(study, frame)
        yield from _votes(study, frame)
        yield from _swings(study, frame)


def _scores(study: Study, frame: pl.DataFrame) -> Iterator[ResultRow]:
    for moment, rungs in MOMENTS.items():
        rows = frame.filter(pl.col("when").cast(pl.String) == moment)
        if "suspicion" in rungs:
            # all rungs over the same pairs
            rows = rows.filter(pl.col("suspicion").is_not_null())
        for rung in rungs:
            yield from score_rows(study, rows, "belief", _NONE, moment=moment, rung=rung)


_COHERENCE: Final[Mapping[str, Figure]] = {
    "belief_sum": share("sums", "asked", _NONE, baseline=quotient("expected", "asked")),
    "incoherence": share("apart", "asked", _NONE, baseline=lambda s: 0.0 * s.asked),
}


def _coherence(study: Study, frame: pl.DataFrame) -> Iterator[ResultRow]:
    moments = frame.group_by(*_OBSERVER, "observer_agent", maintain_order=True).agg(
        in_order(pl.col("belief")).sum(), pl.col("expected").first()
    )
    sums = sums_of(
        moments,
        study.games,
        _AXES,
        total=True,
        asked=1.0,
        sums=pl.col("belief"),
        expected=pl.col("expected"),
        apart=(pl.col("belief") - pl.col("expected")).abs(),
    )
    yield from rows_of(study, UNINFORMED, sums, _COHERENCE)


_UNVOTED: Final = "nobody who was asked at dusk voted for somebody of whom it could not be certain"
_FOLLOWED: Final[Mapping[str, Figure]] = {
    name: share(name, "votes", _UNVOTED, baseline=quotient("chance", "votes"))
    for name in ("vote_follows_belief", "vote_follows_d")
}


def _credit(score: str) -> Any:
    """Return the share of a vote that follows a score: of m who have most of it each gets 1/m."""
    most = pl.col(score) == pl.col(score).max().over(_OBSERVER)
    return pl.when(most).then(1 / most.sum().over(_OBSERVER)).otherwise(0.0).fill_null(0.0)


def _votes(study: Study, frame: pl.DataFrame) -> Iterator[ResultRow]:
    rows = frame.filter(pl.col("when").cast(pl.String) == "dusk")
    judged = rows.filter(pl.col("suspicion").is_not_null().any().over(_OBSERVER))
    credited = judged.with_columns(
        vote_follows_belief=_credit("belief"), vote_follows_d=_credit("suspicion"), chance=1 / pl.len().over(_OBSERVER)
    )
    votes = credited.filter(pl.col("voted"))
    parts: dict[str, Any] = {name: pl.col(name) for name in (*_FOLLOWED, "chance")}
    sums = sums_of(votes, study.games, _AXES, total=True, votes=1.0, **parts)
    yield from rows_of(study, UNINFORMED, sums, _FOLLOWED)


_UNASKED: Final = "nobody was asked before and after such a statement"
SWINGS: Final[Mapping[str, Figure]] = {
    "vote_swing": share("swung", "listeners", _UNASKED, baseline=quotient("swung_alone", "listeners")),
    "votes_moved": share("voted", "listeners", _UNASKED, baseline=quotient("voted_alone", "listeners")),
    "belief_moved": share("moved", "listeners", _UNASKED, baseline=quotient("moved_alone", "listeners")),
    "belief_distance_moved": share("farther", "listeners", _UNASKED, baseline=quotient("farther_alone", "listeners")),
}
"""What a statement does; the baseline of each is what asking a second time without any statement does."""
_BY: Final[Mapping[str, Mapping[str, str]]] = {"by_truth": {"truth": "truth"}, "by_role": {"role": "role"}}


def _swings(study: Study, frame: pl.DataFrame) -> Iterator[ResultRow]:
    listeners = _listeners(study, frame)
    parts: dict[str, Any] = {"listeners": 1.0}
    for suffix, when in (("", "after"), ("_alone", "again")):
        parts[f"swung{suffix}"] = pl.col(f"vote_{when}") != pl.col("vote_before")
        for name, of in (("voted", _votes_for_speaker), ("moved", _belief), ("farther", _distance)):
            parts[f"{name}{suffix}"] = of(when) - of("before")
    for place, axes in enumerate(_BY.values()):
        sums = sums_of(listeners, study.games, axes, total=not place, **parts)
        yield from rows_of(study, UNINFORMED, sums, SWINGS)


def _votes_for_speaker(when: str) -> Any:
    return (pl.col(f"vote_{when}") == pl.col("speaker")).cast(pl.Float64)


def _belief(when: str) -> Any:
    return pl.col(f"belief_{when}")


def _distance(when: str) -> Any:
    return (_belief(when) - pl.col("wolf").cast(pl.Float64)).abs()


def _listeners(study: Study, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a row for every listener who could not be certain of a statement's speaker and answered all three times:
    what it believed of the speaker, and whom it would vote for, "" for nobody.
    """
    spoken = study.statements.select(
        "game", "truth", "role", statement="number", speaker=pl.col("speaker").cast(pl.String)
    ).with_columns(pl.col("truth", "role").cast(pl.String))
    provisional = study.tables.beliefs.filter(pl.col("statement").is_not_null()).with_columns(
        pl.col("observer", "target", "when").cast(pl.String)
    )
    key = ["game", "statement", "observer"]
    votes = provisional.group_by(*key, "when", maintain_order=True).agg(
        vote=pl.col("target").filter(pl.col("would_vote")).first().fill_null("")
    )
    of_speaker = (
        frame.filter(pl.col("statement").is_not_null())
        .with_columns(pl.col("when").cast(pl.String))
        .join(spoken, on=["game", "statement"], how="inner", maintain_order="left")
        .filter(pl.col("target") == pl.col("speaker"))
        .join(votes, on=[*key, "when"], how="left", maintain_order="left")
    )
    listeners = of_speaker.filter(pl.col("when") == "before").select(*key, "speaker", "truth", "role", "wolf")
    for when in ("before", "again", "after"):
        then = of_speaker.filter(pl.col("when") == when)
        listeners = listeners.join(
            then.select(*key, **{f"belief_{when}": "belief", f"vote_{when}": "vote"}),
            on=key,
            how="inner",
            maintain_order="left",
        )
    return listeners


def beliefs(_study: Study, results: Results) -> Result:
    """Return what was believed, over pairs whose observer could not be certain; nothing where nobody was asked.

    - ``scores``: at ``dawn`` and ``dusk``, by rung, ``brier``, ``log``, ``auc`` and ``ece``; ``by_agent`` two of these.
    - ``overall`` and ``by_agent``: ``belief_sum`` with what the hard facts expect, ``incoherence``,
      ``vote_follows_belief`` and ``vote_follows_d``.
    - ``swings``: of ``overall``, ``by_truth`` and ``by_role`` of a statement, ``vote_swing``, ``votes_moved``,
      ``belief_moved`` and ``belief_distance_moved``, each with the change between two askings before it.
    """
    if not any(row.metric == "belief_sum" for row in results):
        return {}

    def estimate(metric: str, **group: str) -> Result:
        return results.row(metric, UNINFORMED, **group).with_baseline()

    def of(**group: str) -> Result:
        return {name: estimate(name, **group) for name in (*_COHERENCE, *_FOLLOWED)}

    agents = results.groups("agent", "belief_sum", UNINFORMED)
    scores = {"brier": "belief_brier", "log": "belief_log"}
    ranked = {"auc": "belief_auc", "ece": "belief_ece"}
    return {
        "scores": {
            moment: {
                rung: {
                    name: estimate(metric, moment=moment, rung=rung) for name, metric in {**scores, **ranked}.items()
                }
                for rung in rungs
            }
            for moment, rungs in MOMENTS.items()
        },
        "overall": of(),
        "by_agent": {
            agent: {
                **{
                    f"{name}_{moment}": estimate(metric, moment=moment, rung="belief", agent=agent)
                    for name, metric in scores.items()
                    for moment in MOMENTS
                },
                **of(agent=agent),
            }
            for agent in agents
        },
        "swings": {
            "overall": {name: estimate(name) for name in SWINGS},
            **{
                by: {
                    value: {name: estimate(name, **{axis: value}) for name in SWINGS}
                    for value in results.groups(axis, "vote_swing", UNINFORMED)
                }
                for by, axes in _BY.items()
                for axis in axes
            },
        },
    }

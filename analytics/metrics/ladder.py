"""What agents make of what could be known: their suspicion at every vote against the rungs of the ladder (beyond the
paper).

Over pairs of living players whose observer could not be certain and has judged the target. ``suspicion`` is D, what the
agents think; ``counts``, ``facts``, ``honest`` and ``rates`` are probabilities that somebody could compute who was told
the same (`analytics.ladder`). Rates of claims come from games of other blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from analytics import Result
from analytics.ladder import with_rates
from analytics.metrics.formulas import Array, quotient, ratio
from analytics.metrics.recalibration import FOLDS, folds_of
from analytics.metrics.scores import FIGURES, score_sums, scored
from analytics.metrics.study import Study, rows_of
from analytics.metrics.sums import Figure, share, sums_of
from analytics.results import UNINFORMED, ResultRow, Results
from analytics.rows.knowledge import VoteNews
from wolfbus.game.vocabulary import Role
from wolfbus.posterior import ClaimRates, ClaimSort, sort_of

RUNGS: Final = ("suspicion", "counts", "facts", "honest", "rates")
"""The agents' suspicion, then what could be known, each rung with more than the one before."""
CLEARED: Final = 0.05
"""Whoever is a Werewolf with this probability or less, by `honest`, is all but cleared."""
CLIPPED: Final = 0.01
"""Probabilities are kept this far from 0 and 1 where their logarithm is taken."""

_NONE: Final = "no vote was held after somebody who could not be certain had judged somebody alive"
_AXES: Final = {"agent": "observer_agent"}
_PAIR: Final = ("game", "round", "observer", "target")


def knowable(study: Study) -> pl.DataFrame:
    """Return what could be known at every vote, with ``rates``, null with fewer than `FOLDS` blocks of games, and
    ``wolf``, whether the target is a Werewolf.
    """

    def make() -> pl.DataFrame:
        frame = study.tables.knowable.with_columns(pl.col("observer", "target").cast(pl.String))
        rates = pl.DataFrame(
            _rated(study), {**{name: frame.schema[name] for name in _PAIR}, "rates": pl.Float64()}, orient="row"
        )
        frame = frame.join(rates, on=_PAIR, how="left", validate="1:1", maintain_order="left")
        return frame.with_columns(wolf=pl.col("target_role") == "Werewolf")

    return study.cached("knowable", make)


def _rated(study: Study) -> Iterator[tuple[int, int, str, str, float]]:
    """Yield game, round, observer, target and what the claims of other games' blocks say."""
    votings = study.tables.votings.filter(pl.col("news").is_not_null()).sort("game", "round")
    news: dict[int, dict[int, VoteNews]] = {}
    for game, round_, text in votings.select("game", "round", "news").iter_rows():
        news.setdefault(game, {})[round_] = VoteNews.model_validate_json(text)
    blocks = study.block[list(news)]
    if len(np.unique(blocks)) < FOLDS:
        return
    seats = study.tables.seats.filter(pl.col("game").is_in(list(news))).sort("game", "place")
    roles: dict[int, dict[str, Role]] = {}
    for game, name, role in seats.select("game", pl.col("name", "role").cast(pl.String)).iter_rows():
        roles.setdefault(game, {})[name] = role
    claims_of = [list(_claims(roles[game], by_round)) for game, by_round in news.items()]
    folds = folds_of(blocks)
    for fold in range(FOLDS):
        rates = ClaimRates.fit(
            claim for claims, other in zip(claims_of, folds, strict=True) if other != fold for claim in claims
        )
        for game, by_round in (item for item, other in zip(news.items(), folds, strict=True) if other == fold):
            votes = with_rates(roles[game], list(by_round.values()), rates)
            for round_, likely in zip(by_round, votes, strict=True):
                yield from ((game, round_, *pair, value) for pair, value in likely.items())


def _claims(roles: Mapping[str, Role], news: Mapping[int, VoteNews]) -> Iterator[tuple[Role, ClaimSort]]:
    for vote in news.values():
        for speaker, claim in vote.claims:
            sort = sort_of(speaker, claim, roles)
            if sort is not None:
                yield roles[speaker], sort


def _judged(study: Study) -> pl.DataFrame:
    return knowable(study).filter(pl.col("suspicion").is_not_null())


def losses(rung: str) -> dict[str, Any]:
    """Return what is summed of a rung: squared errors, logarithmic losses, pairs.

    Args:
        rung: a column of probabilities, beside ``wolf``.
    """
    likely, wolf = pl.col(rung), pl.col("wolf")
    clipped = likely.clip(CLIPPED, 1 - CLIPPED)
    return {
        "squares": (likely - wolf.cast(pl.Float64)) ** 2,
        "logs": -pl.when(wolf).then(clipped).otherwise(1 - clipped).log(),
        "pairs": likely.is_not_null(),
    }


def score_rows(study: Study, frame: pl.DataFrame, prefix: str, reason: str, **group: str) -> Iterator[ResultRow]:
    """Yield ``PREFIX_brier``, ``PREFIX_log``, of all and by observer, and ``PREFIX_auc``, ``PREFIX_ece`` of a ``rung``
    over some pairs, or why there is none.
    """
    sums = sums_of(frame, study.games, _AXES, total=True, **losses(group["rung"]))
    figures = {f"{prefix}_brier": share("squares", "pairs", reason), f"{prefix}_log": share("logs", "pairs", reason)}
    yield from rows_of(study, UNINFORMED, sums, figures, **group)
    scores = score_sums({}, scored(frame, group["rung"], "wolf"), study.games)
    ranked = {f"{prefix}_{name}": replace(FIGURES[name], reason=reason) for name in ("auc", "ece")}
    yield from rows_of(study, UNINFORMED, scores, ranked, **group)


_USE: Final = "public claims do not tell more of these players than the hard facts do"


def _use(loss: str) -> Figure:
    """Return how far agents come from the hard facts to what claims tell, a ratio of sums of losses."""

    def value(s: Any) -> Array:
        agents = getattr(s, f"{loss}_suspicion")
        facts = getattr(s, f"{loss}_facts")
        honest = getattr(s, f"{loss}_honest")
        # equal but for the last bits where nobody claims anything
        return ratio(agents - facts, np.where(facts - honest > 1e-9, honest - facts, 0.0))

    return Figure(value, lambda s: s.pairs, _USE, lambda s: 0.0 * s.pairs)


USES: Final[Mapping[str, Figure]] = {"claims_used": _use("squares"), "claims_used_log": _use("logs")}
CLEARED_VOTES: Final = share(
    "cleared",
    "votes",
    "nobody who could not be certain voted for anybody of whom that is so",
    baseline=quotient("chance", "votes"),
)


def ladder_rows(study: Study) -> Iterator[ResultRow]:
    """Yield scores of suspicion and of every rung, of all and by agent; how far agents use public claims; and how many
    votes were for somebody all but cleared.

    ``known_brier``, ``known_log``, ``known_auc``, ``known_ece``: over groups ``rung:NAME``. ``claims_used`` is
    Σ(S_agent − S_facts) / Σ(S_honest − S_facts) with S the Brier score, ``claims_used_log`` with the logarithmic one.
    ``cleared_votes``: of votes for whom the voter could not be certain of, those for players whom `honest` gives
    `CLEARED` at most; its baseline is a vote at random among those.
    """
    frame = _judged(study)
    for rung in RUNGS:
        yield from score_rows(study, frame, "known", _NONE, rung=rung)
    lost = {f"{name}_{rung}": of for rung in RUNGS[:4] for name, of in losses(rung).items() if name != "pairs"}
    sums = sums_of(frame, study.games, _AXES, total=True, pairs=1.0, **lost)
    yield from rows_of(study, UNINFORMED, sums, USES)
    cleared = pl.col("honest") <= CLEARED
    votes = (
        knowable(study).with_columns(chance=cleared.mean().over("game", "round", "observer")).filter(pl.col("voted"))
    )
    sums = sums_of(votes, study.games, _AXES, total=True, votes=1.0, cleared=cleared, chance=pl.col("chance"))
    yield from rows_of(study, UNINFORMED, sums, {"cleared_votes": CLEARED_VOTES})


def ladder(_study: Study, results: Results) -> Result:
    """Return what could be known and what agents made of it.

    - ``rungs``: of suspicion and of every rung ``brier``, ``log``, ``auc`` and ``ece``.
    - ``by_agent``: the same of the agent's suspicion and of the rungs over its pairs, ``brier`` and ``log`` by rung;
      ``claims_used``, ``claims_used_log`` and ``cleared_votes``.
    - ``overall``: these three of all agents.
    """

    def shown_of(metric: str, **group: str) -> Result:
        return results.row(metric, UNINFORMED, **group).with_baseline()

    def of(**group: str) -> Result:
        return {name: shown_of(name, **group) for name in (*USES, "cleared_votes")}

    scores = {"brier": "known_brier", "log": "known_log"}
    return {
        "rungs": {
            rung: {
                name: shown_of(metric, rung=rung)
                for name, metric in {**scores, "auc": "known_auc", "ece": "known_ece"}.items()
            }
            for rung in RUNGS
        },
        "overall": of(),
        "by_agent": {
            agent: {
                **{
                    name: {rung: shown_of(metric, rung=rung, agent=agent) for rung in RUNGS}
                    for name, metric in scores.items()
                },
                **of(agent=agent),
            }
            for agent in results.groups("agent", "claims_used", UNINFORMED)
        },
    }

"""Agents: what each brain did and how it was seen (the numbers of a leaderboard, abilities apart)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result
from analytics.headlines.measures import MEASURES, Measure
from analytics.headlines.sheet import Sheet
from analytics.headlines.sums import Games, Scope, unpack
from analytics.resampling import Draws, ratio
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

    Sums = dict[str, Array]
    Parts = tuple[Array, Array]

_ACTS: Final = ("deception_rate", "accuracy", "balanced_accuracy", "auc", "vote_hit", "villager_wins", "werewolf_wins")


def agents(columns: Columns) -> Result:
    """Return by agent what it did and how it was seen, with 95 % intervals of the block bootstrap (paper 5.5 and 5.9;
    metrics: production, Table 3, Table 4, does suspicion drive votes, variability).

    ``wins``: of its seats with the villagers in finished games the share that won, and of its Werewolves.
    ``deception_rate``: share of its statements that it calls deceptive. ``accuracy``, ``balanced_accuracy`` and
    ``auc`` are those of its judgements. ``caught``: share flagged among the judgements of statements that it calls
    deceptive. ``suspicion_as_wolf`` and ``suspicion_as_villager``: mean final D towards its seats. ``vote_hit``: share
    of its votes as other than a Werewolf that name one. n is what each is over; ``reason`` tells why one is undefined.
    """
    study = Games(columns)
    draws = Draws([len(columns.block_names)])
    return {name: _agent(study, code, draws) for code, name in enumerate(columns.agents)}


def _agent(study: Games, agent: int, draws: Draws) -> Result:
    import numpy as np

    columns = study.columns
    blocks = len(columns.block_names)
    acts = Sheet(study, Scope(actor=agent), columns.blocks, blocks)
    seen = Sheet(study, Scope(target=agent), columns.blocks, blocks)
    seats = columns.seats
    mine = seats["agent"] == agent
    roles = np.bincount(seats["role"][mine], minlength=len(ROLES))
    does = _estimates(acts, [MEASURES[name] for name in _ACTS], draws)
    return {
        "games": len(np.unique(seats["game"][mine])),
        "seats": int(mine.sum()),
        "roles": {role: int(count) for role, count in zip(ROLES, roles, strict=True)},
        "wins": {"villagers": does["villager_wins"], "werewolves": does["werewolf_wins"]},
        "statements": int((columns.statements["agent"] == agent).sum()),
        "deception_rate": does["deception_rate"],
        "judgements": int(((columns.judgements["observer_agent"] == agent) & (columns.judgements["d"] >= 0)).sum()),
        **{name: does[name] for name in ("accuracy", "balanced_accuracy", "auc")},
        **_received(seen, draws),
        "vote_hit": does["vote_hit"],
    }


def _estimates(sheet: Sheet, measures: list[Measure], draws: Draws) -> Result:
    drawn = sheet.drawn(measures, draws)
    values, totals, held = sheet.pooled(measures), sheet.totals(), sheet.held(measures)
    return {
        measure.name: draws.estimate(
            *(values[measure.name], int(measure.n(totals)), drawn[measure.name], _reason(measure)),
            held=held[measure.name],
        )
        for measure in measures
    }


def _reason(measure: Measure) -> str:
    return {
        "villager_wins": "it has no seat with the villagers in a finished game",
        "werewolf_wins": "it is no Werewolf in a finished game",
        "vote_hit": "it voted for nobody as other than a Werewolf",
    }.get(measure.name, measure.reason)


def _received(sheet: Sheet, draws: Draws) -> Result:
    blocks = sheet.matrix(None)
    totals, each, drawn = sheet.totals(), unpack(blocks), unpack(draws.sums(blocks))
    found = {}
    for name, (reason, part) in _RECEIVED.items():
        (above, below), (sums, counts) = part(totals), part(drawn)
        held = int((part(each)[1] > 0).sum())
        found[name] = draws.estimate(float(ratio(above, below)), int(below), ratio(sums, counts), reason, held)
    return found


def _caught(sums: Sums) -> Parts:
    deceptive = sums["flags"].sum(axis=-3)[..., 1, :]
    return deceptive[..., 1], deceptive.sum(axis=-1)


def _as_wolf(sums: Sums) -> Parts:
    return sums["towards"][..., 1, 0], sums["towards"][..., 1, 1]


def _as_villager(sums: Sums) -> Parts:
    return sums["towards"][..., 0, 0], sums["towards"][..., 0, 1]


_RECEIVED: Final = {
    "caught": ("nobody judged a statement that it calls deceptive", _caught),
    "suspicion_as_wolf": ("nobody judged it as a Werewolf", _as_wolf),
    "suspicion_as_villager": ("nobody judged it as other than a Werewolf", _as_villager),
}

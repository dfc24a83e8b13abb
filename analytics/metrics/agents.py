"""What every agent did and how it was seen (paper, sections 5.5 and 5.9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import polars as pl

from analytics import Result
from analytics.metrics.detection import caught
from analytics.metrics.headlines import headline_rows
from analytics.metrics.study import Scope, Study, rows_of
from analytics.metrics.sums import share
from analytics.metrics.suspicion import suspected
from analytics.results import EVERYBODY, NOBODY, UNINFORMED, ResultRow, Results, group_text

_ACTS: Final = (
    "deception_rate",
    "accuracy",
    "balanced_accuracy",
    "role_auc",
    "auc",
    "vote_hit",
    "villager_wins",
    "werewolf_wins",
)
_REASONS: Final = {
    "villager_wins": "it has no seat with the villagers in a finished game",
    "werewolf_wins": "it has no seat with the Werewolves in a finished game",
    "vote_hit": "it voted for nobody as other than a Werewolf",
}
_SEEN: Final = ("caught", "suspicion_as_wolf", "suspicion_as_villager")


def agent_rows(study: Study) -> Iterator[ResultRow]:
    """Yield by agent what it did and how it was seen (paper 5.5 and 5.9; metrics: production, Table 3, Table 4, does
    suspicion drive votes, variability).

    ``villager_wins``: of its seats with the villagers in finished games the share that won; ``werewolf_wins``, of
    those with the Werewolves. ``deception_rate``: share of its statements that it calls deceptive. ``accuracy``,
    ``balanced_accuracy`` and ``auc`` are those of its judgements against self-labels, ``role_auc`` of its suspicion
    against the speaker's role. ``caught``: share flagged among the judgements of statements that it calls
    deceptive. ``suspicion_as_wolf`` and ``suspicion_as_villager``: mean final D towards its seats. ``vote_hit``: share
    of its votes as other than a Werewolf that name one. All but wins and ``deception_rate`` are over uninformed pairs.
    """
    yield from seat_rows(study)
    for agent in study.agents:
        for row in headline_rows(study, _ACTS, agent):
            missing = row.value is None and row.metric in _REASONS
            yield replace(row, reason=_REASONS[row.metric]) if missing else row
        scope, unflagged = Scope(study, UNINFORMED, agent), "nobody judged a statement that it calls deceptive"
        (flagged,) = caught(scope)
        yield from rows_of(study, UNINFORMED, flagged, {"caught": share("flagged", "judged", unflagged)}, agent=agent)
        (seen,) = suspected(scope)
        figures = {
            "suspicion_as_wolf": share("wolves", "wolves_n", "nobody judged it as a Werewolf"),
            "suspicion_as_villager": share("others", "others_n", "nobody judged it as other than a Werewolf"),
        }
        yield from rows_of(study, UNINFORMED, seen, figures, agent=agent)


def seat_rows(study: Study) -> Iterator[ResultRow]:
    """Yield in how many games and seats agents played, and as what."""
    for agent in study.agents:
        seats = study.tables.seats.filter(pl.col("agent").cast(pl.String) == agent)
        yield ResultRow("games_played", group_text({"agent": agent}), NOBODY, seats["game"].n_unique())
        for role in study.roles:
            count = int((seats["role"].cast(pl.String) == role).sum())
            yield ResultRow("seats", group_text({"role": role, "agent": agent}), NOBODY, count)


def seats_of(results: Results, agent: str) -> Result:
    """Return in how many games and seats an agent played, and as what."""
    roles = {role: results.count("seats", role=role, agent=agent) for role in results.roles}
    return {"games": results.count("games_played", agent=agent), "seats": sum(roles.values()), "roles": roles}


def agents(study: Study, results: Results) -> Result:
    """Return by agent what it did and how it was seen; see `agent_rows`. n is what each is over."""

    def section(agent: str) -> Result:
        acts = {
            name: results.row(name, NOBODY if name in _OF_SEATS else UNINFORMED, agent=agent).estimate()
            for name in (*_ACTS, *_SEEN)
        }
        wins = {"villagers": acts.pop("villager_wins"), "werewolves": acts.pop("werewolf_wins")}
        return {
            **seats_of(results, agent),
            "wins": wins,
            "statements": results.count("statements", speaking=agent),
            "judgements": results.count("judgements", EVERYBODY, agent=agent),
            **acts,
        }

    return {agent: section(agent) for agent in study.agents}


_OF_SEATS: Final = frozenset({"deception_rate", "villager_wins", "werewolf_wins"})

"""What every agent did and how it was seen (paper, sections 5.5 and 5.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.measures.bootstrap import draws_of
from analytics.measures.estimates import Estimates
from analytics.measures.formulas import ratio
from analytics.measures.frames import Frame
from analytics.measures.headlines import MEASURES
from analytics.measures.pairs import OVER, UNINFORMED
from analytics.measures.study import Sheet, Study
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

_ACTS: Final = (
    "deception_rate",
    "accuracy",
    "balanced_accuracy",
    "auc",
    "vote_hit",
    "villager_wins",
    "werewolf_wins",
)
_REASONS: Final = {
    "villager_wins": "it has no seat with the villagers in a finished game",
    "werewolf_wins": "it is no Werewolf in a finished game",
    "vote_hit": "it voted for nobody as other than a Werewolf",
}


def agents(study: Study) -> Result:
    """Return by agent what it did and how it was seen, with 95 % intervals of the block bootstrap
    (paper 5.5 and 5.9; metrics: production, Table 3, Table 4, does suspicion drive votes,
    variability).

    ``wins``: of its seats with the villagers in finished games the share that won, and of its
    Werewolves. ``deception_rate``: share of its statements that it calls deceptive. ``accuracy``,
    ``balanced_accuracy`` and ``auc`` are those of its judgements. ``caught``: share flagged among
    the judgements of statements that it calls deceptive. ``suspicion_as_wolf`` and
    ``suspicion_as_villager``: mean final D towards its seats. ``vote_hit``: share of its votes as
    other than a Werewolf that name one. All but wins, statements and ``deception_rate`` are over
    uninformed pairs (`analytics.measures.pairs`). n is what each is over; ``reason`` tells why one is
    undefined.
    """
    return {name: _agent(study, name) for name in study.columns.agents}


def _agent(study: Study, agent: str) -> Result:
    columns, held = study.columns, study.estimates.of(**OVER[UNINFORMED])
    does = Sheet(study, columns.blocks, study.blocks, agent).estimates(
        [MEASURES[name] for name in _ACTS], draws_of(study.blocks)
    )
    for name, estimate in does.items():
        del estimate["undefined_draws"]
        if estimate["value"] is None:
            estimate["reason"] = _REASONS.get(name, estimate["reason"])
    return {
        **seats_of(study, agent),
        "wins": {"villagers": does["villager_wins"], "werewolves": does["werewolf_wins"]},
        "statements": round(float(held.total.cube("said", agent=agent))),
        "deception_rate": does["deception_rate"],
        "judgements": round(float(held.total.cube("judged", agent=agent))),
        **{name: does[name] for name in ("accuracy", "balanced_accuracy", "auc")},
        "caught": held.figure(
            lambda frame: ratio(frame.cube("heard", target=agent, label=1, flag=1), _heard(frame, agent)),
            lambda frame: _heard(frame, agent),
            "nobody judged a statement that it calls deceptive",
        ),
        "suspicion_as_wolf": _suspected(held, agent, 1, "nobody judged it as a Werewolf"),
        "suspicion_as_villager": _suspected(held, agent, 0, "nobody judged it as other than a Werewolf"),
        "vote_hit": does["vote_hit"],
    }


def _heard(frame: Frame, agent: str) -> Array:
    return frame.cube("heard", target=agent, label=1)


def _suspected(held: Estimates, agent: str, wolf: int, reason: str) -> Result:
    def quotient(frame: Frame) -> tuple[Array, Array]:
        parts = frame.cube("suspected", ("part", ("sum", "n")), target=agent, wolf=wolf)
        return parts[..., 0], parts[..., 1]

    return held.rate(quotient, reason)


def seats_of(study: Study, agent: str) -> Result:
    """Return in how many games and seats an agent played, and as what."""
    total = study.estimates.total
    roles = [round(count) for count in total.cube("seat", "role", agent=agent).tolist()]
    return {
        "games": round(float(total.cube("plays", agent=agent))),
        "seats": sum(roles),
        "roles": dict(zip(ROLES, roles, strict=True)),
    }

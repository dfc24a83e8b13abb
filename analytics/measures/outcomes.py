"""How games ended, and what was said in them (paper, sections 4.5, 5.2 and 5.3).

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.columns import CLAIMS, PROTOCOLS, VERDICTS
from analytics.measures.bootstrap import rate_of_games, wilson
from analytics.measures.estimates import Estimates
from analytics.measures.families import LENGTHS, SOURCES
from analytics.measures.formulas import number, ratio, whole
from analytics.measures.frames import Frame, Group
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

_STATES: Final = ("villagers", "werewolves", "nobody")
"""How a finished game ended."""


def outcomes(held: Estimates) -> Result:
    """Return shares with Wilson 95 % intervals on the effective number of games, and mean ± sd per
    game (paper 5.2; metrics: outcomes).

    Shares and per-game means are over finished games: a game that was cut off has no outcome and no
    length yet. Totals are over all. A turn of debate in which nothing was said is a turn but no
    statement; judgements are those that count. ``protocols`` counts all games by how model players
    were asked; ``mixed_protocols`` tells that there are games of more than one, whose numbers are
    not of one measurement.
    """
    total = held.total
    winners = dict(zip(_STATES, total.cube("game", ("state", _STATES)).tolist(), strict=True))
    finished = whole(sum(winners.values()))
    protocols = total.cube("game", ("protocol", PROTOCOLS)).tolist()
    reasons = sorted(held.entries.groups("ending", "reason"))
    endings = total.cube("ending", ("reason", reasons)).tolist()
    return {
        "games": len(held.sums.ids),
        "finished": finished,
        "unfinished": len(held.sums.ids) - finished,
        "protocols": {name: whole(count) for name, count in zip(PROTOCOLS, protocols, strict=True)},
        "mixed_protocols": sum(count > 0 for count in protocols) > 1,
        "winners": {winner: _share(held, winner, whole(winners[winner]), finished) for winner in _STATES},
        "endings": {name: whole(count) for name, count in zip(reasons, endings, strict=True)},
        "per_game": {name: _length(total, name, finished) for name in LENGTHS},
    }


def _length(total: Frame, name: str, n: int) -> Result:
    of_all, of_finished = (whole(total.cube("length", what=name, finished=only)) for only in (None, 1))
    # whole numbers until the last division: the spread of equal lengths is exactly 0
    scaled = n * whole(total.cube("square", what=name)) - of_finished * of_finished
    return {
        "mean": of_finished / n if n else None,
        "sd": math.sqrt(scaled / (n * (n - 1))) if n > 1 else None,
        "n": n,
        "total": of_all,
    }


def _share(held: Estimates, winner: str, k: int, n: int) -> Result:
    low, high = wilson(k, n) or (None, None)
    if n and held.blocks < len(held.sums.ids):
        states = held.by_block.cube("game", ("state", _STATES))
        low, high, _ = rate_of_games(states[..., _STATES.index(winner)], states.sum(axis=-1), n)
    return {"k": k, "n": n, "share": k / n if n else None, "low": low, "high": high}


def production(held: Estimates) -> Result:
    """Return how often speakers call their own statements deceptive (paper 4.5, 5.2, 5.3; metrics:
    production).

    The mean of d over statements with a self-label that counts: overall (the base rate) and by
    role, brain, agent (process), round and phase. Roles and phases are all there, with a null rate
    where n = 0.
    """
    return {
        "overall": _rate(held.total.cube("said", "label")),
        **{
            f"by_{name}": {str(value): _rate(held.total.cube(family, "label", **{axis: value})) for value in values}
            for name, (family, axis, values) in splits_of(held).items()
        },
    }


def splits_of(held: Estimates) -> dict[str, tuple[str, str, Sequence[Group]]]:
    """Return what production is split by, each with its family, axis and values."""

    def there(family: str, axis: str) -> list[Group]:
        return [
            value
            for value in held.entries.groups(family, axis)
            if held.total.cube(family, "label", **{axis: value}).sum()
        ]

    return {
        "role": ("said", "role", ROLES),
        "brain": ("said", "agent", there("said", "agent")),
        "agent": ("spoken", "process", there("spoken", "process")),
        "round": ("spoken", "round", there("spoken", "round")),
        "phase": ("spoken", "phase", ("debate", "vote")),
    }


def _rate(counts: Array) -> Result:
    return {
        "rate": number(ratio(counts[1], counts.sum())),
        "deceptive": whole(counts[1]),
        "n": whole(counts.sum()),
    }


def claims(held: Estimates) -> Result:
    """Return ``given``, ``unheard`` and ``extracted`` (totals), and ``by_kind``: for each kind of
    claim the same three, each with its total ``n`` and the verdicts (metrics: objective truth).

    ``given`` were attached and can be heard in the words, ``unheard`` were attached and cannot:
    they count here only. Extracted ones that repeat what the speaker attached do not count twice.
    """
    counts = held.total.cube("claims", ("claim", CLAIMS), ("source", SOURCES), ("verdict", VERDICTS))
    by_kind = {
        kind: {
            name: {
                "n": whole(row.sum()),
                **{each: whole(n) for each, n in zip(VERDICTS, row, strict=True)},
            }
            for name, row in zip(SOURCES, sources, strict=True)
        }
        for kind, sources in zip(CLAIMS, counts, strict=True)
    }
    return {
        **{name: whole(counts[:, at].sum()) for at, name in enumerate(SOURCES)},
        "by_kind": by_kind,
    }

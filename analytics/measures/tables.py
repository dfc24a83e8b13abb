"""The paper's tables: how games ended and what was said in them; who is suspected, and flagged, by whom (Tables 1, 2, 3
and 5); how many labels and judgements were accepted as they stood; and the intervals of what has none in the tables
themselves (paper, sections 4.5, 5.2-5.5, 5.8 and 5.9).

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from analytics import Result
from analytics.measures.bootstrap import Leaf
from analytics.measures.columns import LIE, TRUE
from analytics.measures.formulas import MEASURES, as_count, confusion, number, rate_of_games, ratio, roc_area, wilson
from analytics.measures.frames import LENGTHS, OVER, SOURCES, UNINFORMED, Formula, Frame, Group, cube, quotient
from analytics.measures.sums import Estimates, over_both
from analytics.rows import CLAIMS, HOW, PROTOCOLS, VERDICTS
from wolfbus.vocabulary import DECEPTIONS, ROLES

_STATES: Final = ("villagers", "werewolves", "nobody")
"""How a finished game ended."""


def outcomes(estimates: Estimates) -> Result:
    """Return shares with Wilson 95 % intervals on the effective number of games, and mean ± sd per
    game (paper 5.2; metrics: outcomes).

    Shares and per-game means are over finished games: a game that was cut off has no outcome and no
    length yet. Totals are over all. A turn of debate in which nothing was said is a turn but no
    statement; judgements are those that count. ``protocols`` counts all games by how model players
    were asked; ``mixed_protocols`` tells that there are games of more than one, whose numbers are
    not of one measurement.
    """
    total = estimates.total
    winners = dict(zip(_STATES, total.cube("game", ("state", _STATES)).tolist(), strict=True))
    finished = as_count(sum(winners.values()))
    protocols = total.cube("game", ("protocol", PROTOCOLS)).tolist()
    reasons = sorted(estimates.groups("ending", "reason"))
    endings = total.cube("ending", ("reason", reasons)).tolist()
    return {
        "games": len(estimates.sums.ids),
        "finished": finished,
        "unfinished": len(estimates.sums.ids) - finished,
        "protocols": {name: as_count(count) for name, count in zip(PROTOCOLS, protocols, strict=True)},
        "mixed_protocols": sum(count > 0 for count in protocols) > 1,
        "winners": {winner: _share(estimates, winner, as_count(winners[winner]), finished) for winner in _STATES},
        "endings": {name: as_count(count) for name, count in zip(reasons, endings, strict=True)},
        "per_game": {name: _length(total, name, finished) for name in LENGTHS},
    }


def _length(total: Frame, name: str, n: int) -> Result:
    of_all, of_finished = (as_count(total.cube("length", what=name, finished=only)) for only in (None, 1))
    # whole numbers until the last division: the spread of equal lengths is exactly 0
    scaled = n * as_count(total.cube("square", what=name)) - of_finished * of_finished
    return {
        "mean": of_finished / n if n else None,
        "sd": math.sqrt(scaled / (n * (n - 1))) if n > 1 else None,
        "n": n,
        "total": of_all,
    }


def _share(estimates: Estimates, winner: str, k: int, n: int) -> Result:
    low, high = wilson(k, n) or (None, None)
    if n and estimates.blocks < len(estimates.sums.ids):
        states = estimates.by_block.cube("game", ("state", _STATES))
        low, high, _ = rate_of_games(states[..., _STATES.index(winner)], states.sum(axis=-1), n)
    return {"k": k, "n": n, "share": k / n if n else None, "low": low, "high": high}


def production(estimates: Estimates) -> Result:
    """Return how often speakers call their own statements deceptive (paper 4.5, 5.2, 5.3; metrics:
    production).

    The mean of d over statements with a self-label that counts: overall (the base rate) and by
    role, brain, agent (process), round and phase. Roles and phases are all there, with a null rate
    where n = 0.
    """
    return {
        "overall": _rate(estimates.total, "said"),
        **{
            f"by_{name}": {str(value): _rate(estimates.total, family, **{axis: value}) for value in values}
            for name, (family, axis, values) in _splits_of(estimates).items()
        },
    }


def _splits_of(estimates: Estimates) -> dict[str, tuple[str, str, Sequence[Group]]]:
    """Return what production is split by, each with its family, axis and values."""

    def labelled(family: str, axis: str) -> list[Group]:
        total = estimates.total
        return [v for v in estimates.groups(family, axis) if total.cube(family, "label", **{axis: v}).sum()]

    return {
        "role": ("said", "role", ROLES),
        "brain": ("said", "agent", labelled("said", "agent")),
        "agent": ("spoken", "process", labelled("spoken", "process")),
        "round": ("spoken", "round", labelled("spoken", "round")),
        "phase": ("spoken", "phase", ("debate", "vote")),
    }


def _deceptive(family: str, **where: Group) -> Formula:
    """Return the share of deceptive statements among those with a self-label that counts."""
    labelled = cube(family, "label", **where)
    return labelled[..., 1] / labelled.sum()


def _rate(total: Frame, family: str, **where: Group) -> Result:
    _, deceptive = labelled = total.cube(family, "label", **where)
    return {
        "rate": number(_deceptive(family, **where)(total)),
        "deceptive": as_count(deceptive),
        "n": as_count(labelled.sum()),
    }


def claims(estimates: Estimates) -> Result:
    """Return ``given``, ``unheard`` and ``extracted`` (totals), and ``by_kind``: for each kind of
    claim the same three, each with its total ``n`` and the verdicts (metrics: objective truth).

    ``given`` were attached and can be heard in the words, ``unheard`` were attached and cannot:
    they count here only. Extracted ones that repeat what the speaker attached do not count twice.
    """
    counts = estimates.total.cube("claims", ("claim", CLAIMS), ("source", SOURCES), ("verdict", VERDICTS))
    by_kind = {
        kind: {
            name: {"n": as_count(row.sum()), **dict(zip(VERDICTS, map(as_count, row), strict=True))}
            for name, row in zip(SOURCES, sources, strict=True)
        }
        for kind, sources in zip(CLAIMS, counts, strict=True)
    }
    return {**{name: as_count(counts[:, index].sum()) for index, name in enumerate(SOURCES)}, "by_kind": by_kind}


_SCORES: Final = (
    *("n", "accuracy", "balanced_accuracy", "precision", "recall", "f1"),
    *("base_rate", "constant_accuracy"),
)
OVERALL: Final = (*ROLES, "overall")
"""Rows of tables by role."""


def role_of(name: str) -> str | None:
    """Return the role that a row is about, None for the row over all."""
    return None if name == "overall" else name


def _received(*, of_kinds: bool = False, **where: Group) -> dict[str, Formula]:
    """Return average suspicion and average share of flags: of all statements, or only of those whose kind is known.

    Averages are over statements of the mean over observers, so that a statement heard by many
    weighs no more than one heard by few.
    """

    def part(name: str) -> Formula:
        return cube("received", "kind", part=name, **where).sum() if of_kinds else cube("received", part=name, **where)

    return {name: part(name) / part(f"{name}_n") for name in ("suspicion", "flagged")}


def _averages(total: Frame, averages: Mapping[str, Formula]) -> Result:
    """Return averages, each with the number of statements that it is over."""
    row: Result = {}
    for name, average in averages.items():
        row |= {name: number(average(total)), f"{name}_n": as_count(average.n(total))}
    return row


def table1(estimates: Estimates) -> Result:
    """Return deception and its reception, a row per speaker role and one overall (paper 5.3, Table
    1; metrics: Table 1).

    ``statements`` are all, ``labelled`` those with a self-label that counts, ``deceptive`` the sum
    of d over these; ``suspicion_n`` and ``flagged_n`` are statements with at least one judgement
    that counts.
    """
    rows = {}
    for name in OVERALL:
        counts = estimates.total.cube("said", ("label", (-1, 0, 1)), role=role_of(name)).tolist()
        rows[name] = {
            "statements": as_count(sum(counts)),
            "labelled": as_count(sum(counts[1:])),
            "deceptive": as_count(counts[2]),
            **_averages(estimates.total, _received(role=role_of(name))),
        }
    return rows


def table2(estimates: Estimates) -> Result:
    """Return ``[observer role][target role]`` cells of mean, n games and number of pairs (paper
    4.5, 5.4; metrics: Table 2).

    Mean final D over the pairs of a cell within a game, then over the games that have the cell. D
    is final because it froze: when one of the pair left, or when the game ended. A game that still
    runs counts with D as it stands. Villager-Villager and Werewolf-Werewolf are filled; a cell
    without pairs has a null mean.
    """
    sums, games, pairs = (
        estimates.total.cube("cell", "role", "target_role", part=part) for part in ("mean", "games", "pairs")
    )
    return {
        observer: {
            target: {
                "mean": number(ratio(sums[at, to], games[at, to])),
                "n": as_count(games[at, to]),
                "pairs": as_count(pairs[at, to]),
            }
            for to, target in enumerate(ROLES)
        }
        for at, observer in enumerate(ROLES)
    }


def table3(estimates: Estimates) -> Result:
    """Return how well observers find the deception that speakers admit, by observer role and
    ``overall`` (paper 4.5, 5.5, Table 3; metrics: Table 3).

    Every judgement that counts against the self-label of its statement, where that counts too.

    - ``f1`` needs precision and recall to be defined: an observer who never flags has none.
    - ``balanced_accuracy`` (mean of both classes' recall), ``dprime`` and ``criterion`` need both
      classes; ``mcc`` also needs an observer that both flags and does not.
    - ``base_rate`` is the share of deceptive statements among those judged; ``constant_accuracy``
      that of the better of the guesses "always deceptive" and "never", which detection has to beat.
    - ``dprime`` = z(hit rate) - z(false-alarm rate) and ``criterion`` = minus their mean, with the
      log-linear correction: 0.5 more of each count, 1 more of each total.
    """
    return {name: confusion(estimates.total.cube("flags", "label", "flag", role=role_of(name))) for name in OVERALL}


def table5(estimates: Estimates) -> Result:
    """Return how each self-labelled kind is received, and all of them (paper 5.8, Table 5; metrics:
    Table 5).

    Only statements with a self-label that counts; "unspecified" are those called deceptive without
    a kind.
    """
    return {
        name: {
            "count": as_count(estimates.total.cube("received", "kind", part="count", kind=role_of(name)).sum()),
            **_averages(estimates.total, _received(of_kinds=True, kind=role_of(name))),
        }
        for name in (*DECEPTIONS, "overall")
    }


def labels(estimates: Estimates) -> Result:
    """Return how self-labels and judgements were come by: ``total`` = ``clean`` + ``repaired``
    (accepted, but not clean) + ``defaulted`` (all others). What is still awaited is not counted.
    """
    counts = estimates.total.cube("labels", "how").tolist()
    return {
        "total": as_count(sum(counts)),
        **{name: as_count(count) for name, count in zip(HOW, counts, strict=True)},
    }


@over_both
def headline(estimates: Estimates) -> Result:
    """Return detection accuracy and suspicion's AUC against self-labels over ``all`` replies and
    over ``clean`` ones, each with its n (metrics: repair report).

    A judgement is clean if it and the self-label that it is held against were accepted as they
    stood.

    Over uninformed pairs (`analytics.measures.frames`); ``all_observers``: the same over all.
    """
    scores = estimates.groups("scores", "score")
    rows = {}
    for name, family, clean in (("all", "flags", None), ("clean", "clean_flags", 1)):
        measures = confusion(estimates.total.cube(family, "label", "flag"))
        counts = estimates.total.cube("scores", "label", ("score", scores), clean=clean)
        rows[name] = {
            **{key: measures[key] for key in _SCORES},
            "auc": number(roc_area(counts)),
            "auc_n": as_count(counts.sum()),
        }
    return rows


def intervals_of_tables(estimates: Estimates) -> Result:
    """Return a 95 % interval for the figures of Tables 1, 2 and 5, of production, and of flags
    against claims, few of which `variability` holds (paper 5.9; metrics: variability).

    Each leaf is ``[low, high]``, or None where the figure has no interval. ``deceptive_share`` is
    the share of labelled statements that are called deceptive.
    """

    def leaves(figures: Mapping[str, Formula]) -> dict[str, Leaf]:
        return {name: estimates.leaf(figure) for name, figure in figures.items()}

    return {
        "table1": {
            name: {
                **leaves(_received(role=role_of(name))),
                "deceptive_share": estimates.leaf(_deceptive("said", role=role_of(name))),
            }
            for name in OVERALL
        },
        "table2": {
            observer: {
                target: estimates.leaf(quotient("cell", "mean", "games", role=observer, target_role=target))
                for target in ROLES
            }
            for observer in ROLES
        },
        "table5": {name: leaves(_received(of_kinds=True, kind=role_of(name))) for name in (*DECEPTIONS, "overall")},
        "production": {
            f"by_{name}": {str(value): estimates.leaf(_deceptive(family, **{axis: value})) for value in values}
            for name, (family, axis, values) in _splits_of(estimates).items()
            if name != "agent"
        },
        "truth_detection": {"against_truth": _against_truth(estimates.select(**OVER[UNINFORMED]))},
    }


def _against_truth(estimates: Estimates) -> dict[str, Leaf]:
    counts = cube("truths", "label", ("truth", (TRUE, LIE)), "flag").sum(-3)
    n = counts.sum((-1, -2))
    return {name: estimates.leaf(Formula(counts.then(formula), n)) for name, formula in MEASURES.items()}

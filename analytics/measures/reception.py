"""Who is suspected, and flagged, by whom: Tables 1, 2, 3 and 5 (paper, sections 5.3-5.5 and 5.8); and how
many of these labels and judgements were accepted as they stood.

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

from typing import Final

from analytics import Result
from analytics.columns import HOW
from analytics.measures.estimates import Estimates
from analytics.measures.formulas import Confusion, number, ratio, roc_area, whole
from analytics.measures.frames import Frame, Group
from analytics.measures.pairs import ALL, OVER, UNINFORMED
from wolfbus.vocabulary import DECEPTIONS, ROLES

_SCORES: Final = (
    *("n", "accuracy", "balanced_accuracy", "precision", "recall", "f1"),
    *("base_rate", "constant_accuracy"),
)
OVERALL: Final = (*ROLES, "overall")
"""Rows of tables by role."""


def role_of(name: str) -> str | None:
    """Return the role that a row is about, None for the row over all."""
    return None if name == "overall" else name


def _received(total: Frame, **where: Group) -> Result:
    """Return average suspicion and average share of flags, each with the number of statements it is
    over.

    Averages are over statements of the mean over observers, so that a statement heard by many
    weighs no more than one heard by few.
    """
    suspicion, n, flagged, m = total.cube("received", _PARTS, **where)
    return {
        "suspicion": number(ratio(suspicion, n)),
        "suspicion_n": whole(n),
        "flagged": number(ratio(flagged, m)),
        "flagged_n": whole(m),
    }


_PARTS: Final = ("part", ("suspicion", "suspicion_n", "flagged", "flagged_n"))


def table1(held: Estimates) -> Result:
    """Return deception and its reception, a row per speaker role and one overall (paper 5.3, Table
    1; metrics: Table 1).

    ``statements`` are all, ``labelled`` those with a self-label that counts, ``deceptive`` the sum
    of d over these; ``suspicion_n`` and ``flagged_n`` are statements with at least one judgement
    that counts.
    """
    found = {}
    for name in OVERALL:
        unlabelled, truthful, deceptive = held.total.cube("said", ("label", (-1, 0, 1)), role=role_of(name)).tolist()
        found[name] = {
            "statements": whole(unlabelled + truthful + deceptive),
            "labelled": whole(truthful + deceptive),
            "deceptive": whole(deceptive),
            **_received(held.total, role=role_of(name)),
        }
    return found


def table2(held: Estimates) -> Result:
    """Return ``[observer role][target role]`` cells of mean, n games and number of pairs (paper
    4.5, 5.4; metrics: Table 2).

    Mean final D over the pairs of a cell within a game, then over the games that have the cell. D
    is final because it froze: when one of the pair left, or when the game ended. A game that still
    runs counts with D as it stands. Villager-Villager and Werewolf-Werewolf are filled; a cell
    without pairs has a null mean.
    """
    sums, games, pairs = (
        held.total.cube("cell", "role", "target_role", part=part) for part in ("mean", "games", "pairs")
    )
    return {
        observer: {
            target: {
                "mean": number(ratio(sums[at, to], games[at, to])),
                "n": whole(games[at, to]),
                "pairs": whole(pairs[at, to]),
            }
            for to, target in enumerate(ROLES)
        }
        for at, observer in enumerate(ROLES)
    }


def table3(held: Estimates) -> Result:
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
    return {
        name: Confusion.of(held.total.cube("flags", "label", "flag", role=role_of(name))).measures() for name in OVERALL
    }


def table5(held: Estimates) -> Result:
    """Return how each self-labelled kind is received, and all of them (paper 5.8, Table 5; metrics:
    Table 5).

    Only statements with a self-label that counts; "unspecified" are those called deceptive without
    a kind.
    """
    found = {}
    for name in (*DECEPTIONS, "overall"):
        count = held.total.cube("received", "kind", part="count", role=None)
        kinds = held.total.cube("received", "kind", _PARTS)
        at = slice(None) if name == "overall" else slice(DECEPTIONS.index(name), DECEPTIONS.index(name) + 1)
        suspicion, n, flagged, m = kinds[at].sum(axis=0)
        found[name] = {
            "count": whole(count[at].sum()),
            "suspicion": number(ratio(suspicion, n)),
            "suspicion_n": whole(n),
            "flagged": number(ratio(flagged, m)),
            "flagged_n": whole(m),
        }
    return found


def labels(held: Estimates) -> Result:
    """Return how self-labels and judgements were come by: ``total`` = ``clean`` + ``repaired``
    (accepted, but not clean) + ``defaulted`` (all others). What is still awaited is not counted.
    """
    counts = held.total.cube("labels", "how").tolist()
    return {
        "total": whole(sum(counts)),
        **{name: whole(count) for name, count in zip(HOW, counts, strict=True)},
    }


def headline(held: Estimates) -> Result:
    """Return detection accuracy and suspicion's AUC against self-labels over ``all`` replies and
    over ``clean`` ones, each with its n (metrics: repair report).

    A judgement is clean if it and the self-label that it is held against were accepted as they
    stood.

    Over uninformed pairs (`analytics.measures.pairs`); ``all_observers``: the same over all.
    """
    return {**_headline(held.of(**OVER[UNINFORMED])), "all_observers": _headline(held.of(**OVER[ALL]))}


def _headline(held: Estimates) -> Result:
    scores = held.entries.groups("scores", "score")
    found = {}
    for name, family, clean in (("all", "flags", None), ("clean", "clean_flags", 1)):
        measures = Confusion.of(held.total.cube(family, "label", "flag")).measures()
        counts = held.total.cube("scores", "label", ("score", scores), clean=clean)
        found[name] = {
            **{key: measures[key] for key in _SCORES},
            "auc": number(roc_area(counts)),
            "auc_n": whole(counts.sum()),
        }
    return found

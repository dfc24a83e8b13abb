"""How deception goes: what suspicion of Werewolves comes to while they live, what is lied about when, and
what is thought before it is said. All of it is exploratory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.columns import CLAIMS, PHASES, VERDICTS
from analytics.measures.bootstrap import of_blocks
from analytics.measures.formulas import ratio
from analytics.measures.study import Study
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

_SIDES = ("others", "werewolves")


def lying(study: Study) -> Result:
    """Return how long deception lasts, and of what it is made (beyond the paper).

    - ``retention``: by round, mean smoothed suspicion of living Werewolves (``werewolves``) and of
      living ``others``, by observers who have to find out, and their ``difference``.
    - ``lies``: by kind of claim, phase and round, its checkable ``claims``, of which ``lies`` and
      ``mistakes``; ``share`` is that of lies.
    - ``kinds``: by kind of deception that speakers admit, phase and round, ``deceptive`` statements
      of those ``labelled``.
    - ``thoughts``: of statements before which the speaker's private thought says something of the
      same player, the share that ``contradict`` it; and of those, the share that their speakers
      call deceptive (``admitted``). By Werewolves and by others.
    """
    columns = study.columns
    return {
        "retention": _retention(columns),
        "lies": _lies(columns),
        "kinds": _kinds(columns),
        "thoughts": _thoughts(columns),
    }


def _share(columns: Columns, game: Array, above: Array, below: Array, reason: str) -> Result:
    """Return one sum over another as an estimate."""
    import numpy as np

    blocks = len(columns.block_names)
    block = columns.blocks[game]
    sums = np.stack([np.bincount(block, each, blocks) for each in (above, below)], axis=1)
    return of_blocks(sums, _quotient, sums[:, 1], reason)


def _quotient(sums: Array) -> Array:
    return ratio(sums[..., 0], sums[..., 1])


def _retention(columns: Columns) -> list[Result]:
    import numpy as np

    rows = columns.rounds
    free, wolf = ~rows["informed"], rows["target_role"] == ROLES.index("Werewolf")
    blocks = len(columns.block_names)
    block = columns.blocks[rows["game"]]
    found = []
    for round_ in np.unique(rows["round"][free]).tolist():
        here = free & (rows["round"] == round_)
        sums = np.concatenate(
            [
                np.stack([np.bincount(block, here * side * each, blocks) for each in (rows["d"], 1.0)], axis=1)
                for side in (~wolf, wolf)
            ],
            axis=1,
        )

        def mean(side: int, sums: Array = sums) -> Result:
            name = _SIDES[side]
            reason = f"nobody who has to find out judged living {name}"
            figure = sums[:, [2 * side, 2 * side + 1]]
            return of_blocks(figure, _quotient, figure[:, 1], reason)

        found.append(
            {
                "round": round_,
                **{name: mean(side) for side, name in enumerate(_SIDES)},
                "difference": of_blocks(
                    sums,
                    lambda part: ratio(part[..., 2], part[..., 3]) - ratio(part[..., 0], part[..., 1]),
                    np.minimum(sums[:, 1], sums[:, 3]),
                    "nobody who has to find out judged living Werewolves and others",
                ),
            }
        )
    return found


def _lies(columns: Columns) -> list[Result]:
    import numpy as np

    claims, statements = columns.claims, columns.statements
    of, verdict = claims["statement"], claims["verdict"]
    checkable = claims["heard"] & (verdict != VERDICTS.index("uncheckable"))
    found = []
    for kind, phase, round_ in _places(claims["claim"], statements["phase"][of], statements["round"][of], checkable):
        here = checkable & (claims["claim"] == kind)
        here &= (statements["phase"][of] == phase) & (statements["round"][of] == round_)
        lie, mistake = (here & (verdict == VERDICTS.index(name)) for name in ("lie", "mistake"))
        share = _share(columns, claims["game"], lie.astype(float), here.astype(float), "no such claim")
        found.append(
            {
                "kind": CLAIMS[kind],
                "phase": PHASES[phase],
                "round": round_,
                "claims": int(here.sum()),
                "lies": int(lie.sum()),
                "mistakes": int(np.sum(mistake)),
                "share": share,
            }
        )
    return found


def _kinds(columns: Columns) -> list[Result]:
    rows = columns.statements
    deceptive, labelled = rows["d"] == 1, rows["d"] >= 0
    found = []
    for kind, phase, round_ in _places(rows["kind"], rows["phase"], rows["round"], deceptive & (rows["kind"] >= 0)):
        here = labelled & (rows["phase"] == phase) & (rows["round"] == round_)
        own = here & deceptive & (rows["kind"] == kind)
        found.append(
            {
                "kind": DECEPTIONS[kind],
                "phase": PHASES[phase],
                "round": round_,
                "labelled": int(here.sum()),
                "deceptive": int(own.sum()),
                "share": _share(columns, rows["game"], own.astype(float), here.astype(float), "no such statement"),
            }
        )
    return found


def _places(kind: Array, phase: Array, round_: Array, among: Array) -> list[tuple[int, int, int]]:
    import numpy as np

    told = np.stack([kind[among], phase[among], round_[among]], axis=1).astype(np.int64)
    return [(a, b, c) for a, b, c in np.unique(told, axis=0).tolist()]


def _thoughts(columns: Columns) -> Result:
    rows = columns.statements
    wolf = rows["role"] == ROLES.index("Werewolf")
    known, against = rows["against_thought"] >= 0, rows["against_thought"] == 1
    labelled = against & (rows["d"] >= 0)
    unthought = "no recorded thought says anything of a player of whom the words say something"
    told: Result = {}
    for name, side in (("overall", wolf | ~wolf), ("werewolves", wolf), ("others", ~wolf)):
        told[name] = {
            "contradict": _share(
                columns, rows["game"], (side & against).astype(float), (side & known).astype(float), unthought
            ),
            "admitted": _share(
                *(columns, rows["game"], (side & labelled & (rows["d"] == 1)).astype(float)),
                *((side & labelled).astype(float), "no labelled statement contradicts the thought before it"),
            ),
        }
    return told

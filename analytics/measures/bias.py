"""Whether suspicion follows what it should not: a player's name, seat, turn to speak, length of
statement, or that observer and speaker are the same agent; and whether a judgement that a study
repeats comes out alike.

All of it is over observers who have to find out, held against the mean suspicion of Werewolves and
of others each, so that what is due to the role is nobody's bias. All of it is exploratory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from analytics import Result
from analytics.measures.bootstrap import DRAWS, block_estimate, by_block, by_cell, estimate
from analytics.measures.formulas import number, rate_of_rows, ratio
from analytics.measures.primary import PERMUTATIONS, Rearrangements
from analytics.measures.study import Study
from analytics.rows import PHASES
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns

UNITS: Final = {"seat": 1, "turn": 1, "length": 10}
"""What suspicion is told to change by: a place in seating order, a turn later, ten words more."""
MOST_AGENTS: Final = 24
"""Agents beyond which not every two of them have judged each other often enough to be told apart."""

_UNJUDGED: Final = "no judgement counts by an observer who has to find out"


@dataclass(frozen=True, slots=True, eq=False)
class _Judgements:
    """Judgements that count, by observers who have to find out.

    Attributes:
        rows: their places in the columns.
        block: block of the game.
        blocks: number of blocks.
        wolf: whether the speaker is a Werewolf.
        suspicion: s.
    """

    rows: Array
    block: Array
    blocks: int
    wolf: Array
    suspicion: Array

    def cells(self, cell: Array, width: int, weights: Array | None = None) -> Array:
        """Return sums by block and cell."""
        return by_cell(self.block, self.blocks, cell, width, weights)

    @property
    def excess(self) -> Array:
        """Suspicion less the mean: of Werewolves for what one says, of others for what another says."""
        import numpy as np

        means = [float(self.suspicion[side].mean()) if side.any() else 0.0 for side in (~self.wolf, self.wolf)]
        excess: Array = self.suspicion - np.array(means)[self.wolf.astype(int)]
        return excess


def _uninformed(columns: Columns) -> _Judgements:
    import numpy as np

    table = columns.judgements
    rows = np.flatnonzero(~table["informed"] & (table["d"] >= 0) & ~np.isnan(table["s"]))
    return _Judgements(
        rows=rows,
        block=columns.blocks[table["game"][rows]],
        blocks=len(columns.block_names),
        wolf=table["target_role"][rows] == ROLES.index("Werewolf"),
        suspicion=table["s"][rows],
    )


def bias(study: Study) -> Result:
    """Return what suspicion follows beside what is said (beyond the paper).

    - ``seat``, ``turn``, ``length``: by how much suspicion of a statement rises with the speaker's
      place in seating order, with its turn of the debate, and with every ten words.
    - ``own_agent``: by how much an observer suspects, and ``own_flag`` flags, its own agent more
      than others, what is due to observer and to speaker taken out.
    - ``names``: for each name that players bore, how much more suspicion it meets than others;
      ``p`` is of the hypothesis that no name meets more or less, over all names.
    - ``retest``: of judgements made twice (games of one seed, the same words, the same observer and
      agent): mean ``difference`` of suspicion, ``agreement`` of flags, ``correlation``.
    """
    columns, judged = study.columns, _uninformed(study.columns)
    statements = columns.statements
    statement = columns.judgements["statement"][judged.rows]
    debate = statements["phase"][statement] == PHASES.index("debate")
    predictors = {
        "seat": (columns.judgements["target"][judged.rows] + 1.0, None),
        "turn": (statements["turn"][statement].astype(float), debate),
        "length": (statements["length"][statement].astype(float), statements["length"][statement] > 0),
    }
    slopes = {name: _slope(judged, value / UNITS[name], among) for name, (value, among) in predictors.items()}
    return {**slopes, **_own_agent(columns, judged), "names": _names(columns, judged), "retest": _retest(columns)}


def _slope(judged: _Judgements, x: Array, mask: Array | None) -> Result:
    """Return the slope of suspicion on something, among Werewolves and among others together."""
    import numpy as np

    weights = np.ones(len(x)) if mask is None else mask.astype(float)
    # near 0, so that sums of squares lose nothing
    x = x - (float(np.average(x, weights=weights)) if weights.any() else 0.0)
    y = judged.suspicion - (float(np.average(judged.suspicion, weights=weights)) if weights.any() else 0.0)
    sums = [
        by_block(
            judged.block, judged.blocks, *(weights * side * part for part in (np.ones(len(x)), x, y, x * y, x * x))
        )
        for side in (judged.wolf, ~judged.wolf)
    ]

    def slope(totals: Array) -> Array:
        sides = totals.reshape(*totals.shape[:-1], 2, 5)
        n, first, second, both, square = np.moveaxis(sides, -1, 0)
        across = both - np.nan_to_num(ratio(first * second, n))
        along = square - np.nan_to_num(ratio(first * first, n))
        along, across = along.sum(axis=-1), across.sum(axis=-1)
        return ratio(across, np.where(along > 1e-9, along, 0))

    matrix = np.concatenate(sums, axis=1)
    reason = _UNJUDGED if not weights.any() else "it is the same everywhere"
    return block_estimate(matrix, slope, matrix[:, 0] + matrix[:, 5], reason)


def _own_agent(columns: Columns, judged: _Judgements) -> Result:
    """Return how much more an observer suspects, and flags, its own agent."""
    import numpy as np

    table, count = columns.judgements, len(columns.agents)
    if not 1 < count <= MOST_AGENTS:
        reason = "one agent alone" if count < 2 else f"more than {MOST_AGENTS} agents"
        return dict.fromkeys(("own_agent", "own_flag"), estimate(None, 0, None, reason))
    cell = table["observer_agent"][judged.rows].astype(np.int64) * count + table["target_agent"][judged.rows]
    same = np.eye(count, dtype=bool)

    def contrast(totals: Array) -> Array:
        # over all cells alike: what is due to the row and to the column drops out
        parts = totals.reshape(*totals.shape[:-1], 2, count, count)
        means = ratio(parts[..., 0, :, :], parts[..., 1, :, :])
        difference: Array = means[..., same].mean(axis=-1) - means[..., ~same].mean(axis=-1)
        return difference

    n = judged.cells(cell, count * count, np.ones(len(cell)))
    reason = "not every two agents judged each other, and themselves"

    def contrasted(value: Array) -> Result:
        return block_estimate(
            np.concatenate([judged.cells(cell, count * count, value), n], axis=1), contrast, n.sum(axis=1), reason
        )

    flag = (table["d"][judged.rows] == 1).astype(float)
    return {"own_agent": contrasted(judged.excess), "own_flag": contrasted(flag)}


def _names(columns: Columns, judged: _Judgements) -> Result:
    import numpy as np

    table, seats = columns.judgements, columns.seats
    width = int(columns.games["seats"].max(initial=0))
    named = np.full(len(columns.ids) * max(1, width), -1)
    named[seats["game"].astype(np.int64) * width + seats["seat"]] = seats["name"]
    name = named[table["game"][judged.rows].astype(np.int64) * width + table["target"][judged.rows]]
    excess = judged.excess
    count = len(columns.names)
    sums, n = (judged.cells(name, count, weight) for weight in (excess, np.ones(len(excess))))
    overall = np.stack([sums.sum(axis=1), n.sum(axis=1)], axis=1)

    def difference(totals: Array) -> Array:
        of_name, of_all = totals[..., :2], totals[..., 2:]
        others = of_all - of_name
        return ratio(of_name[..., 0], of_name[..., 1]) - ratio(others[..., 0], others[..., 1])

    rows = {
        player: block_estimate(
            np.concatenate([np.stack([sums[:, index], n[:, index]], axis=1), overall], axis=1),
            *(difference, n[:, index], "nobody judged a player of that name, or nobody of another"),
        )
        for index, player in enumerate(columns.names)
    }
    return {"by_name": rows, "p": _p_of_names(sums), "names": count}


def _p_of_names(sums: Array) -> float | None:
    """Return the smallest p-value of a name, adjusted for all: signs of blocks are flipped."""
    import numpy as np

    norm = np.sqrt((sums**2).sum(axis=0))
    tested = np.flatnonzero((norm > 0) & ((sums != 0).sum(axis=0) > 1))
    if not len(tested):
        return None
    flips = Rearrangements(len(sums), 0, 0, PERMUTATIONS)
    parts = sums[:, tested]
    statistics = np.abs(parts.sum(axis=0) - 2 * flips.moved(parts)) / norm[tested]
    return min(flips.adjusted({str(index): statistic for index, statistic in enumerate(statistics.T)}).values())


def _retest(columns: Columns) -> Result:
    """Return how alike judgements of the same words by the same observer come out in games of one seed."""
    import numpy as np

    table, statements = columns.judgements, columns.statements
    seeds = {seed: index for index, seed in enumerate(sorted({seed for seed in columns.seeds if seed}))}
    seed = np.array([seeds.get(seed, -1) for seed in columns.seeds], np.int64)
    rows = np.flatnonzero((table["d"] >= 0) & ~np.isnan(table["s"]) & (seed[table["game"]] >= 0))
    statement = table["statement"][rows]
    key: Any = np.stack(
        [
            *(seed[table["game"][rows]], statements["number"][statement], statements["checksum"][statement]),
            *(table["target"][rows], table["observer"][rows], table["observer_agent"][rows]),
        ],
        axis=1,
    ).astype(np.int64)
    order = np.lexsort((rows, *key.T[::-1]))
    rows, key = rows[order], key[order]
    twice = np.flatnonzero((key[1:] == key[:-1]).all(axis=1))
    pairs = np.stack([rows[twice], rows[twice + 1]])
    game, s, d, ones = table["game"][pairs[0]], table["s"][pairs], table["d"][pairs], np.ones(len(twice))
    reason = (
        "no judgement was made twice: play a study again with its seed and a setting that changes no game, "
        "such as max_reply_bytes, and give both"
    )
    varied = len(twice) > 1 and float(s.std()) > 0
    return {
        "difference": rate_of_rows(columns, game, np.abs(s[0] - s[1]), ones, reason),
        "agreement": rate_of_rows(columns, game, d[0] == d[1], ones, reason),
        # either of a pair comes first once
        "correlation": number(np.corrcoef(s.ravel(), s[::-1].ravel())[0, 1]) if varied else None,
        "n": len(twice),
        "draws": DRAWS if columns.ids else 0,
    }

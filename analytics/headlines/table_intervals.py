"""Intervals of the figures in the paper's tables, by the bootstrap of `variability` (paper, section 5.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.accumulator import Result
from analytics.columns import NO_CLAIM, TRUE, UNKNOWN
from analytics.headlines.block_sums import MEASURES, BlockSums, Leaf
from analytics.headlines.score_intervals import recalibration_intervals, table4_intervals, thresholds_intervals
from analytics.resampling import ratio
from analytics.scores.judged import Judged
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

_PHASES: Final = ("debate", "vote")


def table_intervals(columns: Columns, judged: Judged | None = None) -> Result:
    """Return a 95 % interval for the figures of the tables, few of which `variability` holds (paper 5.9; metrics:
    variability).

    2,000 draws with the fixed seed of `variability`, the very same ones, resample whole blocks and recompute the pooled
    figure. Each leaf is ``[low, high]``, or None where the figure has no interval: fewer blocks than an interval takes,
    or undefined in more than 5 % of the draws. The tree follows the sections that it belongs to: ``table1`` (with
    ``deceptive_share``, the share of labelled statements that are called deceptive), ``table2``, ``table4``,
    ``table5``, ``production``, ``thresholds`` (what held-out flags come to), ``recalibration`` (before and after
    held-out maps), ``truth_detection`` (flags against truth, of judgements that also have a label to be held against).
    Thresholds and maps are not fitted anew in the draws.

    Args:
        columns: the games.
        judged: what is computed of them already.
    """
    sums, known = BlockSums(columns), judged or Judged(columns)
    received = _received(columns)
    return {
        "table1": _table1(columns, sums, received),
        "table2": _table2(columns, sums),
        "table4": table4_intervals(known, sums),
        "table5": _table5(columns, sums, received),
        "production": _production(columns, sums),
        "thresholds": thresholds_intervals(known, sums),
        "recalibration": recalibration_intervals(known, sums),
        "truth_detection": {"against_truth": _truth(columns, sums)},
    }


def _received(columns: Columns) -> dict[str, Array]:
    """Return by statement its mean suspicion and the share of its observers that flag, NaN where nobody judged it."""
    import numpy as np

    judgements, count = columns.judgements, len(columns.statements["game"])
    counted = judgements["d"] != UNKNOWN
    found = {}
    for name, values, rows in (
        ("suspicion", judgements["s"], counted & ~np.isnan(judgements["s"])),
        ("flagged", judgements["d"], counted),
    ):
        of = judgements["statement"][rows]
        found[name] = ratio(np.bincount(of, values[rows], count), np.bincount(of, minlength=count))
    return found


def _means(sums: BlockSums, blocks: Array, code: Array, values: Array, names: tuple[str, ...]) -> dict[str, Leaf]:
    """Return the intervals of means over rows by code, and over all of them: ``overall``.

    Args:
        sums: the blocks.
        blocks: block of each row.
        code: index into `names` of each row.
        values: what is averaged; rows where it is NaN are left out.
        names: of the codes.
    """
    import numpy as np

    kept = ~np.isnan(values)
    rows = blocks[kept], (len(names),), [code[kept]]
    above, below = sums.sums(*rows, values[kept]), sums.sums(*rows)
    above, below = (np.concatenate([part, part.sum(axis=1, keepdims=True)], axis=1) for part in (above, below))
    return sums.quotients(above, below, (*names, "overall"))


def _table1(columns: Columns, sums: BlockSums, received: dict[str, Array]) -> Result:
    statements = columns.statements
    values = {**received, "deceptive_share": _labels(statements["d"])}
    blocks = columns.blocks[statements["game"]]
    found = {name: _means(sums, blocks, statements["role"], value, ROLES) for name, value in values.items()}
    return {role: {name: leaves[role] for name, leaves in found.items()} for role in (*ROLES, "overall")}


def _table5(columns: Columns, sums: BlockSums, received: dict[str, Array]) -> Result:
    statements = columns.statements
    told = statements["kind"] != UNKNOWN
    blocks, kind = columns.blocks[statements["game"]][told], statements["kind"][told]
    found = {name: _means(sums, blocks, kind, value[told], DECEPTIONS) for name, value in received.items()}
    return {kind: {name: leaves[kind] for name, leaves in found.items()} for kind in (*DECEPTIONS, "overall")}


def _table2(columns: Columns, sums: BlockSums) -> Result:
    """Return the intervals of cells: means over pairs within a game, then over the games that have the cell."""
    import numpy as np

    pairs, games, roles = columns.pairs, len(columns.ids), len(ROLES)
    width = roles * roles
    cell = pairs["observer_role"].astype(np.int64) * roles + pairs["target_role"]
    code = pairs["game"].astype(np.int64) * width + cell
    means = ratio(np.bincount(code, pairs["d"], games * width), np.bincount(code, minlength=games * width))
    names = tuple(f"{observer} {target}" for observer in ROLES for target in ROLES)
    found = _means(sums, np.repeat(columns.blocks, width), np.tile(np.arange(width), games), means, names)
    return {observer: {target: found[f"{observer} {target}"] for target in ROLES} for observer in ROLES}


def _production(columns: Columns, sums: BlockSums) -> Result:
    import numpy as np

    statements = columns.statements
    labelled = statements["d"] != UNKNOWN
    blocks, values = columns.blocks[statements["game"]], _labels(statements["d"])
    rounds, place = np.unique(statements["round"][labelled], return_inverse=True)
    spoke = np.unique(statements["agent"][labelled])
    found: Result = {}
    for name, code, names in (
        ("by_role", statements["role"][labelled], ROLES),
        ("by_brain", np.searchsorted(spoke, statements["agent"][labelled]), [columns.agents[at] for at in spoke]),
        ("by_round", place, [str(number) for number in rounds]),
        ("by_phase", statements["phase"][labelled], _PHASES),
    ):
        leaves = list(
            _means(sums, blocks[labelled], code, values[labelled], tuple(map(str, range(len(names))))).values()
        )
        # names of agents are anybody's choice, "overall" among them: the last leaf is that of all
        found[name] = dict(zip(names, leaves[:-1], strict=True))
    return found


def _truth(columns: Columns, sums: BlockSums) -> dict[str, Leaf]:
    judgements = columns.judgements
    truth = columns.statements["truth"][judgements["statement"]]
    rows = columns.scored() & (truth != NO_CLAIM)
    blocks = columns.blocks[judgements["game"][rows]]
    return sums.flags(blocks, truth[rows] != TRUE, judgements["d"][rows] == 1, tuple(MEASURES))


def _labels(d: Array) -> Array:
    """Return self-labels as numbers, NaN for those that do not count."""
    import numpy as np

    found: Array = np.where(d == UNKNOWN, np.nan, d)
    return found

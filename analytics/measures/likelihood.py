"""The likelihood of who flags whom, with its derivatives, of the statements of one class (metrics:
one scale for deceivers and detectors); see `analytics.measures.joint_model`.

    logit P(flag) = a(observer cell) + b(speaker cell) + spread · z,   z ~ N(0, 1), one z a
    statement

Leaving one free parameter a statement instead would stretch the whole scale: with some seven flags
a statement, such estimates do not become right with more games (incidental parameters; Neyman and
Scott 1948). Gradient and information are those of the integrated likelihood (Louis 1982): what is
known if z were, less the spread of the score over z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics.measures.columns import Columns
from analytics.rows.fields import UNKNOWN
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array

NODES: Final = 21
"""Points of the quadrature, equally spaced."""
SPACING: Final = 0.5
"""Standard deviations between two points. A normal density times logistic curves is smooth and
vanishes at both ends: there this rule converges exponentially. Fits are right to 0.0001 standard
errors at a spread of 1.5 and to 0.05 at 2.5; Gauss–Hermite with as many points errs by 0.006 and
0.27.
"""
LARGEST: Final = 20.0
"""Logits beyond this are cut, so that no product overflows."""
WIDEST: Final = 4.0
"""Largest spread of a statement's effect, for the same reason."""

_AT_ONCE: Final = 400_000
"""Numbers held per intermediate array: small enough for the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Who flagged what. A *cell* is an agent in a role, agent * number of roles + role.

    Attributes:
        agents: number of agents.
        blocks: number of blocks of games that are resampled together.
        block: block of each statement.
        speaker: speaker's cell, by statement.
        observer: observers' cells, by statement and place; -1 behind the last observer.
        flag: whether each of them flagged it.
    """

    agents: int
    blocks: int
    block: Array
    speaker: Array
    observer: Array
    flag: Array

    def __len__(self) -> int:
        return len(self.speaker)

    def subset(self, mask: Array | slice) -> Cells:
        """Return some statements; a slice of them is no copy."""
        fields = (self.block, self.speaker, self.observer, self.flag)
        return Cells(self.agents, self.blocks, *(column[mask] for column in fields))


def cells_of(columns: Columns, chosen: Array, judged: Array | None = None) -> Cells:
    """Return the judgements that count of the statements that are `chosen` (true or false by
    statement), only those that are `judged` (true or false by judgement) if given.

    Observers of one statement stand in the order of their cells: seating order leaves no trace.
    """
    import numpy as np

    judgements, statements = columns.judgements, columns.statements
    counts = (judgements["d"] != UNKNOWN) & chosen[judgements["statement"]]
    rows = np.flatnonzero(counts if judged is None else counts & judged)
    statement = judgements["statement"][rows]
    cell = judgements["observer_agent"][rows] * len(ROLES) + judgements["observer_role"][rows]
    flag = judgements["d"][rows] == 1
    width = 2 * len(ROLES) * max(len(columns.agents), 1)
    order = np.argsort(statement.astype("i8") * width + 2 * cell + flag, kind="stable")
    statement, cell, flag = statement[order], cell[order], flag[order]
    unique, first, sizes = np.unique(statement, return_index=True, return_counts=True)
    place = np.arange(len(statement)) - np.repeat(first, sizes)
    row = np.repeat(np.arange(len(unique)), sizes)
    shape = (len(unique), int(sizes.max(initial=1)))
    observer, flags = np.full(shape, UNKNOWN, "i4"), np.zeros(shape, bool)
    observer[row, place] = cell
    flags[row, place] = flag
    return Cells(
        agents=len(columns.agents),
        blocks=len(columns.block_names),
        block=columns.blocks[statements["game"][unique]],
        speaker=(statements["agent"][unique] * len(ROLES) + statements["role"][unique]).astype("i4"),
        observer=observer,
        flag=flags,
    )


@dataclass(slots=True, eq=False)
class Slopes:
    """Log-likelihood and its derivatives in a (by observer cell), b (by speaker cell) and the
    spread, in that order.

    Attributes:
        value: the log-likelihood.
        information: minus the second derivatives.
        by_block: the gradient, by block and parameter.
    """

    value: float
    information: Array
    by_block: Array


def value_of(cells: Cells, a: Array, b: Array, spread: float) -> float:
    """Return the log-likelihood."""
    import numpy as np

    z, weight = _nodes()
    total = 0.0
    for part in _parts(cells):
        logit, flag = _logits(part, a, b)
        odds = np.exp(logit)[:, :, None] * np.exp(spread * z)
        total += float(_marginal(logit, flag, 1 + odds, spread * z, weight)[0].sum())
    return total


def slopes(cells: Cells, a: Array, b: Array, spread: float) -> Slopes:
    """Return the log-likelihood with its derivatives."""
    import numpy as np

    z, weight = _nodes()
    width = cells.agents * len(ROLES)
    size = 2 * width + 1
    total = 0.0
    information = np.zeros((size, size))
    by_block = np.zeros((cells.blocks, size))
    for part in _parts(cells):
        logit, flag = _logits(part, a, b)
        chance = np.exp(logit)[:, :, None] * np.exp(spread * z)
        one_plus_odds = 1 + chance
        chance /= one_plus_odds
        value, posterior = _marginal(logit, flag, one_plus_odds, spread * z, weight)
        total += float(value.sum())

        residual = np.subtract(flag[:, :, None], chance, out=one_plus_odds)
        weighted = residual * posterior[:, None, :]
        score = weighted.sum(2)
        spread_terms = residual.sum(1) * z
        spread_score = (spread_terms * posterior).sum(1)
        chance *= 1 - chance
        curvature = chance @ posterior[:, :, None]
        curvature_z = (chance @ (posterior * z)[:, :, None])[:, :, 0]
        curvature_zz = (chance.sum(1) * posterior * z * z).sum()

        inner = score[:, :, None] * score[:, None, :] - weighted @ residual.transpose(0, 2, 1)
        places = np.arange(inner.shape[1])
        inner[:, places, places] += curvature[:, :, 0]
        cross = curvature_z - (weighted @ spread_terms[:, :, None])[:, :, 0] + score * spread_score[:, None]
        spread_part = curvature_zz - (spread_terms * spread_terms * posterior).sum() + (spread_score**2).sum()
        _collect(part, width, information, by_block, (score, spread_score, inner, cross, float(spread_part)))
    upper = np.triu(information, 1)
    information = np.diag(np.diag(information)) + upper + upper.T
    return Slopes(total, information, by_block)


def _collect(
    part: Cells, width: int, information: Array, by_block: Array, derivatives: tuple[Array, Array, Array, Array, float]
) -> None:
    """Add a part's scores and information, the latter to the upper triangle."""
    import numpy as np

    score, spread_score, inner, cross, spread_part = derivatives
    # those behind the last observer go to a cell of their own, which is dropped
    observer = np.where(part.observer == UNKNOWN, width, part.observer).astype("i8")
    speaker = part.speaker
    blocks, block = np.unique(part.block, return_inverse=True)
    wide, count = width + 1, len(blocks)

    def total(index: Array, value: Array, size: int) -> Array:
        return np.bincount(index.ravel(), value.ravel(), size)

    scores = total(block[:, None] * wide + observer, score, count * wide).reshape(count, wide)
    by_block[blocks, :width] += scores[:, :width]
    by_block[blocks, width : 2 * width] += total(block * width + speaker, score.sum(1), count * width).reshape(
        count, -1
    )
    by_block[blocks, 2 * width] += total(block, spread_score, count)

    among = total(observer[:, :, None] * wide + observer[:, None, :], inner, wide * wide).reshape(wide, wide)
    information[:width, :width] += among[:width, :width]
    with_speaker = inner.sum(2)
    mixed = total(observer * width + speaker[:, None], with_speaker, wide * width).reshape(wide, width)
    information[:width, width : 2 * width] += mixed[:width]
    speakers = np.arange(width, 2 * width)
    information[speakers, speakers] += total(speaker, with_speaker.sum(1), width)
    information[:width, 2 * width] += total(observer, cross, wide)[:width]
    information[width : 2 * width, 2 * width] += total(speaker, cross.sum(1), width)
    information[2 * width, 2 * width] += spread_part


def _nodes() -> tuple[Array, Array]:
    import numpy as np

    points = (np.arange(NODES) - (NODES - 1) / 2) * SPACING
    weights = np.exp(-(points**2) / 2)
    return points, weights / weights.sum()


def _parts(cells: Cells) -> list[Cells]:
    step = max(1, _AT_ONCE // (NODES * cells.observer.shape[1]))
    return [cells.subset(slice(start, start + step)) for start in range(0, len(cells), step)]


def _logits(cells: Cells, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the logits at z = 0, minus infinity behind the last observer, and the flags."""
    import numpy as np

    logit = np.clip(a[cells.observer] + b[cells.speaker][:, None], -LARGEST, LARGEST)
    return np.where(cells.observer == UNKNOWN, -np.inf, logit), cells.flag.astype("f8")


def _marginal(logit: Array, flag: Array, one_plus_odds: Array, shift: Array, weight: Array) -> tuple[Array, Array]:
    """Return a statement's log-likelihood and the posterior weights of the nodes."""
    import numpy as np

    flagged = np.where(flag > 0, logit, 0.0).sum(1)
    joint = flag.sum(1)[:, None] * shift - np.log(one_plus_odds.prod(1))
    highest = joint.max(1, keepdims=True)
    posterior = np.exp(joint - highest) * weight
    norm = posterior.sum(1, keepdims=True)
    posterior /= norm
    return flagged + (highest + np.log(norm))[:, 0], posterior

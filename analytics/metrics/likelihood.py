"""The likelihood of who flags whom, with its derivatives, of the statements of one class (metrics: one scale for
deceivers and detectors); see `analytics.metrics.joint_model`.

    P(flag) = Φ(a(observer cell) + b(speaker cell))

Judgements of one block by one observer cell of one speaker cell are alike, so their counts are all that the likelihood
needs. It is log-concave: Newton's method finds its one top from anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from scipy.special import log_ndtr

from analytics.metrics.formulas import Array
from analytics.metrics.study import Study
from wolfbus.game.vocabulary import ROLES

FARTHEST: Final = 30.0
"""Standard deviations beyond which a probability is taken for that at this distance, so that no square overflows."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Who flagged what, counted. A *cell* is an agent in a role, agent · number of roles + role.

    Attributes:
        agents: number of agents.
        blocks: number of blocks of games that are resampled together.
        block: block of each count.
        observer: the observers' cell.
        speaker: the speakers' cell.
        judged: judgements.
        flagged: those of them that flag.
    """

    agents: int
    blocks: int
    block: Array
    observer: Array
    speaker: Array
    judged: Array
    flagged: Array

    def __len__(self) -> int:
        return len(self.judged)

    @property
    def width(self) -> int:
        """Number of cells that there can be."""
        return self.agents * len(ROLES)


def cells_of(study: Study, chosen: pl.Expr) -> Cells:
    """Return the judgements that count of the statements that are `chosen`, by observers who have to find out."""
    # roles of other tables, which stand behind ours, have no cells
    with_cells = [pl.col(f"{side}_role").to_physical() < len(ROLES) for side in ("observer", "target")]
    rows = study.judged.filter(~pl.col("informed") & chosen, *with_cells)
    observer = _cells(study, rows, "observer")
    speaker = _cells(study, rows, "target")
    width = max(len(study.agents), 1) * len(ROLES)
    block = study.block[rows["game"].to_numpy()].astype(np.int64)
    places, place = np.unique((block * width + observer) * width + speaker, return_inverse=True)
    return Cells(
        agents=len(study.agents),
        blocks=study.blocks,
        block=places // (width * width),
        observer=places // width % width,
        speaker=places % width,
        judged=np.bincount(place, minlength=len(places)),
        flagged=np.bincount(place, rows["flagged"].to_numpy().astype(np.float64), len(places)),
    )


def _cells(study: Study, rows: pl.DataFrame, side: str) -> Array:
    agent = rows[f"{side}_agent"].cast(pl.Enum(study.agents)).to_physical().cast(pl.Int64).to_numpy()
    role = rows[f"{side}_role"].to_physical().cast(pl.Int64).to_numpy()
    cells: Array = agent * len(ROLES) + role
    return cells


@dataclass(slots=True, eq=False)
class Slopes:
    """Log-likelihood and its derivatives in a (by observer cell) and b (by speaker cell), in that order.

    Attributes:
        value: the log-likelihood.
        information: minus the second derivatives.
        by_block: the gradient, by block and parameter.
    """

    value: float
    information: Array
    by_block: Array


def slopes(cells: Cells, a: Array, b: Array) -> Slopes:
    """Return the log-likelihood with its derivatives."""
    z = np.clip(a[cells.observer] + b[cells.speaker], -FARTHEST, FARTHEST)
    passed = cells.judged - cells.flagged
    flag, no_flag = log_ndtr(z), log_ndtr(-z)
    # of the normal density over its integral on either side
    log_density = -(z**2) / 2 - np.log(2 * np.pi) / 2
    up, down = np.exp(log_density - flag), np.exp(log_density - no_flag)
    gradient = cells.flagged * up - passed * down
    curvature = cells.flagged * up * (up + z) + passed * down * (down - z)
    width = cells.width
    by_block = [
        np.bincount(cells.block * width + cell, gradient, cells.blocks * width).reshape(cells.blocks, width)
        for cell in (cells.observer, cells.speaker)
    ]
    mixed = np.bincount(cells.observer * width + cells.speaker, curvature, width * width).reshape(width, width)
    information = np.block([[np.diag(mixed.sum(axis=1)), mixed], [mixed.T, np.diag(mixed.sum(axis=0))]])
    value = float(cells.flagged @ flag + passed @ no_flag)
    return Slopes(value, information, np.concatenate(by_block, axis=1))

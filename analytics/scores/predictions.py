"""Predictions: the judgements that count, as scores to be held against self-labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics.scores.tied import Tied, tied_in_order

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

Quantity: TypeAlias = Literal["suspicion", "before"]
"""What is taken for a probability: the suspicion s of a judgement, or D of observer and speaker before it."""

QUANTITIES: Final[tuple[Quantity, ...]] = ("suspicion", "before")


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Judgements whose flag and self-label both count, in ascending order of their scores.

    Attributes:
        scores: what is taken for P(deceptive), in [0, 1].
        deceptive: the speaker calls the statement deceptive.
        flags: the observer does.
        observer: role of the observer, an index into `wolfbus.vocabulary.ROLES`.
        speaker: role of the speaker.
        blocks: block of the game, an index into `Columns.block_names`.
        games: game, an index into `Columns.ids`.
    """

    scores: Array
    deceptive: Array
    flags: Array
    observer: Array
    speaker: Array
    blocks: Array
    games: Array

    def tied(self, mask: Array | None = None) -> Tied:
        """Return what figures of these judgements depend on.

        Args:
            mask: which of them; all unless given.
        """
        if mask is None:
            return tied_in_order(self.scores, self.deceptive)
        return tied_in_order(self.scores[mask], self.deceptive[mask])


def predictions(columns: Columns, quantity: Quantity) -> Predictions:
    """Return the rows of Table 4: judgements whose flag and self-label both count (metrics: Table 4).

    A judgement without a suspicion, as in a foreign log that has flags only, is left out of "suspicion". "before" is
    there for all: what smoothed suspicion (4.1) foretold before the statement was judged.
    """
    import numpy as np

    table = columns.judgements
    scores = table["s" if quantity == "suspicion" else "before"]
    rows = np.flatnonzero(columns.scored() & ~np.isnan(scores))
    rows = rows[np.argsort(scores[rows], kind="stable")]
    games = table["game"][rows]
    return Predictions(
        scores=scores[rows] + 0.0,  # a negative zero becomes an ordinary one
        deceptive=columns.label()[rows] == 1,
        flags=table["d"][rows] == 1,
        observer=table["observer_role"][rows],
        speaker=table["target_role"][rows],
        blocks=columns.blocks[games],
        games=games,
    )

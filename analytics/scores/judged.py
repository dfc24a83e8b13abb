"""`Judged`: what every section on scores needs of the same games, computed once for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.scores.folds import split
from analytics.scores.predictions import Predictions, Quantity, predictions

if TYPE_CHECKING:
    from analytics.columns import Array, Columns


class Judged:
    """The judgements of some games that count, in order of either score, and the folds that they are dealt into.

    Args:
        columns: the games.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._predictions: dict[Quantity, Predictions] = {}
        self._splits: dict[Quantity, tuple[Array | None, str | None]] = {}

    def predictions(self, quantity: Quantity) -> Predictions:
        """Return the judgements in ascending order of a score; see `analytics.scores.predictions.predictions`."""
        if quantity not in self._predictions:
            self._predictions[quantity] = predictions(self._columns, quantity)
        return self._predictions[quantity]

    def split(self, quantity: Quantity) -> tuple[Array | None, str | None]:
        """Return the folds of these judgements, or None and why; see `analytics.scores.folds.split`."""
        if quantity not in self._splits:
            self._splits[quantity] = split(self.predictions(quantity))
        return self._splits[quantity]

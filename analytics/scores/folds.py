"""Folds: games on which something is fitted, and others on which it is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from analytics.columns import Array
    from analytics.scores.predictions import Predictions

FOLDS: Final = 5
"""Parts into which the blocks of games are dealt (metrics: Recalibration)."""


def folds_of(blocks: Array) -> Array:
    """Return the fold of every judgement, from 0; judgements of one block are in one fold (metrics: GroupKFold(5)).

    Args:
        blocks: block of each judgement, of at least `FOLDS` blocks.
    """
    import numpy as np
    from sklearn.model_selection import GroupKFold

    found = np.empty(len(blocks), "i1")
    for fold, (_, held_out) in enumerate(GroupKFold(FOLDS).split(blocks, groups=blocks)):
        found[held_out] = fold
    return found


def split(held: Predictions) -> tuple[Array | None, str | None]:
    """Return the folds of judgements, or None and why nothing can be fitted and scored on them.

    Every fit needs deceptive and truthful statements outside the fold that it is scored on.
    """
    import numpy as np

    reason = held.tied().one_sided()
    if reason is not None:
        return None, reason
    count = len(np.unique(held.blocks))
    if count < FOLDS:
        return None, f"needs {FOLDS} blocks of games with judgements that count, and there are {count}"
    folds = folds_of(held.blocks)
    for fold in range(FOLDS):
        outside = held.deceptive[folds != fold]
        if outside.all() or not outside.any():
            return None, "in the games outside one fold every statement that was judged has the same label"
    return folds, None

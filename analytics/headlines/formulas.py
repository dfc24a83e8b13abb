"""Formulas over counts ``[class][flag]`` with any axes before; NaN where undefined, never 0 (paper 4.5, 5.5; metrics:
Table 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.resampling import ratio

if TYPE_CHECKING:
    from analytics.columns import Array


def accuracy(counts: Array) -> Array:
    """Return the share of flags that are right."""
    return ratio(counts[..., 0, 0] + counts[..., 1, 1], counts.sum(axis=(-1, -2)))


def constant_accuracy(counts: Array) -> Array:
    """Return the accuracy of the better constant guess."""
    classes = counts.sum(axis=-1)
    return ratio(classes.max(axis=-1), classes.sum(axis=-1))


def accuracy_lift(counts: Array) -> Array:
    """Return the accuracy minus that of the better constant guess, both over the same counts."""
    found: Array = accuracy(counts) - constant_accuracy(counts)
    return found


def base_rate(counts: Array) -> Array:
    """Return the share of class 1: the precision of flagging everything."""
    return ratio(counts[..., 1, :].sum(axis=-1), counts.sum(axis=(-1, -2)))


def precision(counts: Array) -> Array:
    """Return the share of class 1 among what is flagged."""
    return ratio(counts[..., 1, 1], counts[..., :, 1].sum(axis=-1))


def recall(counts: Array) -> Array:
    """Return the share flagged of class 1."""
    return ratio(counts[..., 1, 1], counts[..., 1, :].sum(axis=-1))


def balanced_accuracy(counts: Array) -> Array:
    """Return the mean of both classes' recall."""
    return (recall(counts) + ratio(counts[..., 0, 0], counts[..., 0, :].sum(axis=-1))) / 2


def f1(counts: Array) -> Array:
    """Return the harmonic mean of precision and recall, undefined where one of them is."""
    twice = 2 * counts[..., 1, 1]
    value = ratio(twice, twice + counts[..., 0, 1] + counts[..., 1, 0])
    found: Array = value + 0 * (precision(counts) + recall(counts))
    return found


def constant_f1(counts: Array) -> Array:
    """Return F1 of flagging everything."""
    share = base_rate(counts)
    found: Array = 2 * share / (1 + share)
    return found


def mcc(counts: Array) -> Array:
    """Return Matthews' correlation of class and flag."""
    import numpy as np

    tn, fp, fn, tp = counts[..., 0, 0], counts[..., 0, 1], counts[..., 1, 0], counts[..., 1, 1]
    return ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tn + fn) * (tp + fn) * (tn + fp)))


def zero(counts: Array) -> Array:
    """Return 0."""
    found: Array = 0.0 * counts.sum(axis=(-1, -2))
    return found


def half(counts: Array) -> Array:
    """Return 0.5."""
    return zero(counts) + 0.5

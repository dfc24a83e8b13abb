"""Fitting of maps, by scikit-learn, to tied scores (metrics: Recalibration; paper, section 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.scores.maps import CLIP, IsotonicMap, Kind, PlattMap

if TYPE_CHECKING:
    from analytics.scores.tied import Tied


def fit(tied: Tied, kind: Kind) -> PlattMap | IsotonicMap:
    """Return the map of a kind that fits judgements of deceptive and of truthful statements."""
    return fit_platt(tied) if kind == "platt" else fit_isotonic(tied)


def fit_platt(tied: Tied) -> PlattMap:
    """Return the unpenalised logistic regression on the *logit* of suspicion, clipped; see `PlattMap`.

    On the logit, not on suspicion itself: so that suspicion which is calibrated already is left alone, and so that
    over- and underconfidence, which stretch the logit, are what it can mend. The labels are Platt's (1999):
    (N₊ + 1) / (N₊ + 2) for deceptive and 1 / (N₋ + 2) for truthful, which keeps the map finite where suspicion
    separates the two.
    """
    import numpy as np
    from scipy.special import logit
    from sklearn.linear_model import LogisticRegression

    yes, no = tied.positives, tied.n - tied.positives
    surely, hardly = (yes + 1) / (yes + 2), 1 / (no + 2)
    counts = tied.counts
    expected = tied.deceptive * surely + tied.truthful * hardly
    logits = logit(np.clip(tied.values, CLIP, 1 - CLIP))
    centre = float(np.average(logits, weights=counts))
    # standard units: the solver's tolerance then means the same for suspicions that spread and that hardly do
    spread = float(np.sqrt(np.average((logits - centre) ** 2, weights=counts)))
    if len(np.unique(logits)) < 2 or spread == 0:
        return PlattMap(slope=0.0, intercept=float(logit(expected.sum() / tied.n)))
    standard = (logits - centre) / spread
    # no penalty; Newton's method, for there are two coefficients and perhaps millions of rows
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    model.fit(
        np.concatenate([standard, standard])[:, None],
        np.repeat([1, 0], len(standard)),
        np.concatenate([expected, counts - expected]),
    )
    slope = float(model.coef_[0, 0]) / spread
    return PlattMap(slope=slope, intercept=float(model.intercept_[0]) - slope * centre)


def fit_isotonic(tied: Tied) -> IsotonicMap:
    """Return the map of least squared error among those that never fall: scikit-learn's isotonic regression, drawn on
    as straight lines between the suspicions that it was fitted to; see `IsotonicMap`.
    """
    from sklearn.isotonic import IsotonicRegression

    counts = tied.counts
    model = IsotonicRegression(y_min=0.0, y_max=1.0, increasing=True, out_of_bounds="clip")
    model.fit(tied.values, tied.deceptive / counts, counts.astype("f8"))
    points = zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True)
    return IsotonicMap(points=tuple(points))

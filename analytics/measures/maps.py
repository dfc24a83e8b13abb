"""Maps: functions from suspicion to a probability of deception, fitted by scikit-learn, and as
files, to be applied to other games than they were fitted on (metrics: Recalibration; paper, section
5.7).

The file is one JSON object with exactly these members:

``format``
    always ``"wolfbus-map"``.
``version``
    of this layout, 1.
``wolfbus``
    version of the program that wrote it.
``map``
    the map, fitted on all games: ``{"kind": "platt", "clip", "slope", "intercept"}`` or
    ``{"kind": "isotonic", "points": [[suspicion, probability], …]}``; see `Map`.
``held_out``
    how maps of this kind did on games that they were not fitted on: ``before`` and ``after`` with ``brier``, ``ece``,
    ``auc``, in ``folds`` folds of ``blocks`` blocks of games.
``n``
    judgements that it was fitted on.
``games``
    games that these are of.

Numbers are finite. A reader refuses other versions and unknown members: a map that is half
understood gives wrong probabilities without a sign.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from analytics import Result
from wolfbus import __version__
from wolfbus.errors import ConfigError, first_fault, reason_of
from wolfbus.printable import printable
from wolfbus.whole_file import read_whole, write_whole

if TYPE_CHECKING:
    from analytics.measures.columns import Array
    from analytics.measures.scores import Tied

CLIP: Final = 0.005
"""How close to 0 and 1 suspicion may come before its logit is taken: half of the last digit that
models mostly give, so that 0 and 0.01 stay apart.
"""

Probability: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Finite: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


class _Saved(BaseModel):
    """A part of a file: nothing else may be in it, and nothing is taken for something else."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class PlattMap(_Saved):
    """P(deceptive) = 1 / (1 + exp(−(slope · logit s + intercept))), with s brought into [clip, 1 −
    clip] first.

    Slope 1 and intercept 0 leave suspicion as it is; a slope below 1 says that it is overconfident,
    one below 0 that it points the wrong way.

    Attributes:
        kind: "platt".
        clip: how close to 0 and 1 suspicion may come, in (0, 0.5).
        slope: in logits per logit.
        intercept: in logits.
    """

    kind: Literal["platt"] = "platt"
    clip: float = Field(default=CLIP, gt=0, lt=0.5, allow_inf_nan=False)
    slope: Finite
    intercept: Finite

    def apply(self, scores: Array) -> Array:
        """Return the probabilities of suspicions in [0, 1]."""
        import numpy as np
        from scipy.special import expit, logit

        with np.errstate(over="ignore"):
            mapped: Array = expit(self.slope * logit(np.clip(scores, self.clip, 1 - self.clip)) + self.intercept)
        return mapped


class IsotonicMap(_Saved):
    """A line through points, level before the first and after the last; it never falls.

    Attributes:
        kind: "isotonic".
        points: suspicion and probability; suspicions rise, probabilities do not fall.
    """

    kind: Literal["isotonic"] = "isotonic"
    points: tuple[tuple[Probability, Probability], ...] = Field(min_length=1)

    @field_validator("points")
    @classmethod
    def _rise(cls, points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        for place, (before, after) in enumerate(itertools.pairwise(points), 1):
            if after[0] <= before[0]:
                raise ValueError(f"point {place}: suspicions must rise from point to point")
            if after[1] < before[1]:
                raise ValueError(f"point {place}: probabilities must not fall from point to point")
        return points

    def apply(self, scores: Array) -> Array:
        """Return the probabilities of suspicions in [0, 1]."""
        import numpy as np

        suspicions, probabilities = zip(*self.points, strict=True)
        mapped: Array = np.interp(scores, suspicions, probabilities)
        return mapped


Map: TypeAlias = Annotated[PlattMap | IsotonicMap, Field(discriminator="kind")]
"""Either map, told apart by its kind."""

Kind: TypeAlias = Literal["platt", "isotonic"]
KINDS: Final[tuple[Kind, ...]] = ("platt", "isotonic")


# -- fitting


def fit(ties: Tied, kind: Kind) -> PlattMap | IsotonicMap:
    """Return the map of a kind that fits judgements of deceptive and of truthful statements."""
    return fit_platt(ties) if kind == "platt" else fit_isotonic(ties)


def fit_platt(ties: Tied) -> PlattMap:
    """Return the unpenalised logistic regression on the *logit* of suspicion, clipped; see
    `PlattMap`.

    On the logit, not on suspicion itself: so that suspicion which is calibrated already is left
    alone, and so that over- and underconfidence, which stretch the logit, are what it can mend. The
    labels are Platt's (1999): (N₊ + 1) / (N₊ + 2) for deceptive and 1 / (N₋ + 2) for truthful,
    which keeps the map finite where suspicion separates the two.
    """
    import numpy as np
    from scipy.special import logit
    from sklearn.linear_model import LogisticRegression

    yes, no = ties.positives, ties.n - ties.positives
    surely, hardly = (yes + 1) / (yes + 2), 1 / (no + 2)
    counts = ties.totals
    expected = ties.counts[1] * surely + ties.counts[0] * hardly
    logits = logit(np.clip(ties.values, CLIP, 1 - CLIP))
    centre = float(np.average(logits, weights=counts))
    # standard units: the solver's tolerance then means the same for suspicions that spread and that hardly do
    spread = float(np.sqrt(np.average((logits - centre) ** 2, weights=counts)))
    if len(np.unique(logits)) < 2 or spread == 0:
        return PlattMap(slope=0.0, intercept=float(logit(expected.sum() / ties.n)))
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


def fit_isotonic(ties: Tied) -> IsotonicMap:
    """Return the map of least squared error among those that never fall: scikit-learn's isotonic
    regression, drawn on as straight lines between the suspicions that it was fitted to; see
    `IsotonicMap`.
    """
    from sklearn.isotonic import IsotonicRegression

    counts = ties.totals
    model = IsotonicRegression(y_min=0.0, y_max=1.0, increasing=True, out_of_bounds="clip")
    model.fit(ties.values, ties.counts[1] / counts, counts.astype("f8"))
    points = zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True)
    return IsotonicMap(points=tuple(points))


# -- as files

FORMAT: Final = "wolfbus-map"
VERSION: Final = 1

_LONGEST: Final = 64 * 1024 * 1024
"""Bytes beyond which a file is no map, and is not read."""


class Calibration(_Saved):
    """How well calibrated some probabilities were.

    Attributes:
        brier: Brier score.
        ece: expected calibration error.
        auc: ROC AUC.
    """

    brier: Probability
    ece: Probability
    auc: Probability


class HeldOut(_Saved):
    """How maps of this kind did on games that they were not fitted on.

    Attributes:
        before: suspicions as they were.
        after: what the maps made of them.
        folds: parts that the games were dealt into.
        blocks: blocks of games, none of which was split.
    """

    before: Calibration
    after: Calibration
    folds: int = Field(ge=2)
    blocks: int = Field(ge=2)


class SavedMap(_Saved):
    """What a file holds; see the module for its members."""

    format: Literal["wolfbus-map"] = FORMAT
    version: Literal[1] = VERSION
    wolfbus: str = Field(max_length=100)
    map: Map
    held_out: HeldOut
    n: int = Field(ge=1)
    games: int = Field(ge=1)


def save_map(recalibration: Result, path: Path) -> None:
    """Write a map of `analytics.measures.recalibration.recalibration` to a file, with its scores, whole or not
    at all: the one with the lower held-out Brier score, Platt's where they are equal.

    Args:
        recalibration: the section as it stands, or as JSON gave it back.
        path: the file.

    Raises:
        ConfigError: there is no such map, or the file cannot be written; the line names the file.
    """
    if recalibration["reason"] is not None:
        raise ConfigError(f"{path}: not written: there is no map to save: {recalibration['reason']}")
    best = min((recalibration[kind] for kind in KINDS), key=lambda scores: float(scores["after"]["brier"]))
    content = {
        "format": FORMAT,
        "version": VERSION,
        "wolfbus": __version__,
        "map": best["map"],
        "held_out": {
            **{when: {name: best[when][name] for name in ("brier", "ece", "auc")} for when in ("before", "after")},
            **{name: recalibration[name] for name in ("folds", "blocks")},
        },
        "n": best["before"]["n"],
        "games": recalibration["games"],
    }
    saved = SavedMap.model_validate_json(json.dumps(content))
    try:
        write_whole(path, [json.dumps(saved.model_dump(mode="json"), allow_nan=False, indent=1) + "\n"])
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {reason_of(error)}") from None


def load_map(path: Path) -> SavedMap:
    """Return the map in a file.

    Raises:
        ConfigError: it cannot be read or is no map; the line names the file and the member at fault.
    """
    content = read_whole(path, _LONGEST)
    _check_format(path, content)
    try:
        return SavedMap.model_validate_json(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_fault(error)}") from None


def _check_format(path: Path, content: bytes) -> None:
    """Refuse what is of another format or version, before it is measured against this one."""
    try:
        saved: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: not JSON") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise ConfigError(f'{path}: format: no map of wolfbus; one says "format": "{FORMAT}"')
    version = saved.get("version")
    if version != VERSION or not isinstance(version, int) or isinstance(version, bool):
        quoted = printable(repr(version), 40)
        raise ConfigError(f"{path}: version: this wolfbus reads version {VERSION}, the file has {quoted}")

"""Maps: functions from suspicion to a probability of deception, as numbers that fit into a file."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator

if TYPE_CHECKING:
    from analytics.columns import Array

CLIP: Final = 0.005
"""How close to 0 and 1 suspicion may come before its logit is taken: half of the last digit that models mostly give, so
that 0 and 0.01 stay apart."""

Probability: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Finite: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


class PlattMap(BaseModel):
    """P(deceptive) = 1 / (1 + exp(−(slope · logit s + intercept))), with s brought into [clip, 1 − clip] first.

    Slope 1 and intercept 0 leave suspicion as it is; a slope below 1 says that it is overconfident, one below 0 that
    it points the wrong way.

    Attributes:
        kind: "platt".
        clip: how close to 0 and 1 suspicion may come, in (0, 0.5).
        slope: in logits per logit.
        intercept: in logits.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    kind: Literal["platt"] = "platt"
    clip: float = Field(default=CLIP, gt=0, lt=0.5, allow_inf_nan=False)
    slope: Finite
    intercept: Finite

    def apply(self, scores: Array) -> Array:
        """Return the probabilities of suspicions in [0, 1]."""
        import numpy as np
        from scipy.special import expit, logit

        with np.errstate(over="ignore"):
            found: Array = expit(self.slope * logit(np.clip(scores, self.clip, 1 - self.clip)) + self.intercept)
        return found


class IsotonicMap(BaseModel):
    """A line through points, level before the first and after the last; it never falls.

    Attributes:
        kind: "isotonic".
        points: suspicion and probability; suspicions rise, probabilities do not fall.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    kind: Literal["isotonic"] = "isotonic"
    points: tuple[tuple[Probability, Probability], ...] = Field(min_length=1)

    @field_validator("points")
    @classmethod
    def _rise(cls, points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        for place, (here, after) in enumerate(itertools.pairwise(points), 1):
            if after[0] <= here[0]:
                raise ValueError(f"point {place}: suspicions must rise from point to point")
            if after[1] < here[1]:
                raise ValueError(f"point {place}: probabilities must not fall from point to point")
        return points

    def apply(self, scores: Array) -> Array:
        """Return the probabilities of suspicions in [0, 1]."""
        import numpy as np

        known, given = zip(*self.points, strict=True)
        found: Array = np.interp(scores, known, given)
        return found


Map: TypeAlias = Annotated[PlattMap | IsotonicMap, Field(discriminator="kind")]
"""Either map, told apart by its kind."""

Kind: TypeAlias = Literal["platt", "isotonic"]
KINDS: Final[tuple[Kind, ...]] = ("platt", "isotonic")


def as_json(fitted: PlattMap | IsotonicMap) -> dict[str, Any]:
    """Return the map as plain values, lists for tuples."""
    plain: dict[str, Any] = fitted.model_dump(mode="json")
    return plain

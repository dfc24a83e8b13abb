"""Intervals of what has none in the tables themselves (paper, section 5.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.columns import LIE, TRUE
from analytics.measures.estimates import Estimates, Leaf
from analytics.measures.formulas import MEASURES
from analytics.measures.frames import Frame, Group
from analytics.measures.outcomes import splits_of
from analytics.measures.pairs import OVER, UNINFORMED
from analytics.measures.reception import OVERALL, role_of
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.columns import Array


def intervals_of_tables(held: Estimates) -> Result:
    """Return a 95 % interval for the figures of Tables 1, 2 and 5, of production, and of flags
    against claims, few of which `variability` holds (paper 5.9; metrics: variability).

    Each leaf is ``[low, high]``, or None where the figure has no interval. ``deceptive_share`` is
    the share of labelled statements that are called deceptive.
    """

    def received(what: str, *, every: bool = False, **where: Group) -> Leaf:
        return held.leaf_of(
            lambda frame: (
                _known(frame, every=every, part=what, **where),
                _known(frame, every=every, part=f"{what}_n", **where),
            )
        )

    def rate(family: str, **where: Group) -> Leaf:
        return held.leaf_of(lambda frame: _deceptive(frame, family, **where))

    return {
        "table1": {
            name: {
                **{what: received(what, every=True, role=role_of(name)) for what in ("suspicion", "flagged")},
                "deceptive_share": rate("said", role=role_of(name)),
            }
            for name in OVERALL
        },
        "table2": {observer: {target: _cell(held, observer, target) for target in ROLES} for observer in ROLES},
        "table5": {
            name: {what: received(what, kind=role_of(name)) for what in ("suspicion", "flagged")}
            for name in (*DECEPTIONS, "overall")
        },
        "production": {
            f"by_{name}": {str(value): rate(family, **{axis: value}) for value in values}
            for name, (family, axis, values) in splits_of(held).items()
            if name != "agent"
        },
        "truth_detection": {"against_truth": _against_truth(held.of(**OVER[UNINFORMED]))},
    }


def _known(frame: Frame, *, every: bool, **where: Group) -> Array:
    """Return received sums of statements of a known kind, of every one if asked for."""
    if every:
        return frame.cube("received", **where)
    found: Array = frame.cube("received", "kind", **where).sum(axis=-1)
    return found


def _deceptive(frame: Frame, family: str, **where: Group) -> tuple[Array, Array]:
    counts = frame.cube(family, "label", **where)
    return counts[..., 1], counts.sum(axis=-1)


def _cell(held: Estimates, observer: str, target: str) -> Leaf:
    def quotient(frame: Frame) -> tuple[Array, Array]:
        parts = frame.cube("cell", ("part", ("mean", "games")), role=observer, target_role=target)
        return parts[..., 0], parts[..., 1]

    return held.leaf_of(quotient)


def _against_truth(held: Estimates) -> dict[str, Leaf]:
    def counts(frame: Frame) -> Array:
        found: Array = frame.cube("truths", "label", ("truth", (TRUE, LIE)), "flag").sum(axis=-3)
        return found

    return {
        name: held.leaf(
            lambda frame, formula=formula: formula(counts(frame)),  # type: ignore[misc]
            lambda frame: counts(frame).sum(axis=(-1, -2)),
        )
        for name, formula in MEASURES.items()
    }

"""The penalised fit of the Rasch-type model of who flags whom (metrics: one scale for deceivers and
detectors); see `analytics.measures.likelihood`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics.columns import UNKNOWN
from analytics.measures.likelihood import WIDEST, Cells, slopes, value_of
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

PRIOR_SD: Final = 1.5
"""Every parameter is N(0, 1.5²) beforehand, in logits (metrics: one scale for deceivers and
detectors).
"""

_CONSTRAINT: Final = 1e6
"""Precision of the rule that effects of a component, and those of the roles, add up to 0."""
_STEPS: Final = 40
_NEAR: Final = 1e-6
"""A Newton step smaller than this, in logits, is the last."""
_WARM_UP: Final = 20_000
"""Statements from which a large fit starts."""


def components(cells: Cells) -> tuple[Array, Array]:
    """Return the component of each agent as observer and as speaker, from 0; -1 where it is not
    there at all.

    Agents can be compared within a connected component of the graph of observing and speaking
    agents. The two are different nodes: an agent that nobody judges has no place as a speaker.
    Components are numbered in the order of their first agent, observers first.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    agents, roles = cells.agents, len(ROLES)
    there = cells.observer != UNKNOWN
    observer = (cells.observer // roles)[there]
    speaker = agents + np.broadcast_to((cells.speaker // roles)[:, None], there.shape)[there]
    graph = coo_array((np.ones(len(observer)), (observer, speaker)), shape=(2 * agents, 2 * agents))
    label = connected_components(graph.tocsr(), directed=False)[1]
    seen = np.unique(np.concatenate([observer, speaker]))
    number: dict[int, int] = {}
    found = np.full(2 * agents, UNKNOWN, "i4")
    for node in seen.tolist():
        found[node] = number.setdefault(int(label[node]), len(number))
    return found[:agents], found[agents:]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which parameter is which: intercepts, observing agents, observing roles, speaking agents,
    speaking roles, the spread of the statement's effect.

    Attributes:
        as_observer: component of each agent as observer, -1 if it is none.
        as_speaker: the same as speaker.
        observer_roles: which roles observe.
        speaker_roles: which roles speak.
        design: parameters to effects of observer cells, speaker cells and the spread.
        precision: of the prior, the constraints included.
    """

    as_observer: Array
    as_speaker: Array
    observer_roles: Array
    speaker_roles: Array
    design: Array
    precision: Array

    @property
    def groups(self) -> int:
        """Number of components."""
        return int(max(self.as_observer.max(initial=-1), self.as_speaker.max(initial=-1))) + 1

    @property
    def places(self) -> tuple[slice, slice, slice, slice]:
        """Where observing agents, observing roles, speaking agents and speaking roles stand."""
        starts, at = [], self.groups
        for size in (len(self.as_observer), len(ROLES), len(self.as_speaker), len(ROLES)):
            starts.append(slice(at, at + size))
            at += size
        return starts[0], starts[1], starts[2], starts[3]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The most probable parameters.

    Attributes: layout: which is which. at: the parameters. covariance: inverse of information plus
        prior precision: what the model thinks of their uncertainty. by_block: each block's part of
        the likelihood's gradient there.
    """

    layout: Layout
    at: Array
    covariance: Array
    by_block: Array


def layout_of(cells: Cells) -> Layout:
    """Return the parameters that these judgements call for."""
    import numpy as np

    agents, roles = cells.agents, len(ROLES)
    width = agents * roles
    as_observer, as_speaker = components(cells)
    groups = int(max(as_observer.max(initial=-1), as_speaker.max(initial=-1))) + 1
    size = groups + 2 * (agents + roles) + 1
    design = np.zeros((2 * width + 1, size))
    agent, role = np.divmod(np.arange(width), roles)
    there = np.flatnonzero(as_observer[agent] != UNKNOWN)
    design[there, as_observer[agent[there]]] = 1
    observers, speakers = np.arange(width), width + np.arange(width)
    design[observers, groups + agent] = 1
    design[observers, groups + agents + role] = 1
    design[speakers, groups + agents + roles + agent] = 1
    design[speakers, groups + 2 * agents + roles + role] = 1
    design[2 * width, size - 1] = 1

    watching = np.bincount(cells.observer[cells.observer != UNKNOWN] % roles, minlength=roles) > 0
    talking = np.bincount(cells.speaker % roles, minlength=roles) > 0
    precision = np.eye(size) / PRIOR_SD**2
    for start, member in ((groups, as_observer), (groups + agents + roles, as_speaker)):
        for group in range(groups):
            _bind(precision, start + np.flatnonzero(member == group))
    _bind(precision, groups + agents + np.flatnonzero(watching))
    _bind(precision, groups + 2 * agents + roles + np.flatnonzero(talking))
    return Layout(as_observer, as_speaker, watching, talking, design, precision)


def fit(cells: Cells) -> Fit:
    """Return the fit of at least one statement. Newton's method, begun on a part of the games where
    there are many.
    """
    import numpy as np

    layout = layout_of(cells)
    at = np.zeros(layout.design.shape[1])
    at[-1] = 0.5
    if len(cells) > 2 * _WARM_UP:
        # every nth block: any stretch of games may be all of one kind
        every = -(-len(cells) // _WARM_UP)
        some = cells.some(cells.block % every == 0)
        if len(some):
            at = _climb(some, layout, at)[0]
    at, information, by_block = _climb(cells, layout, at)
    return Fit(layout, at, np.linalg.inv(information), by_block)


def _climb(cells: Cells, layout: Layout, at: Array) -> tuple[Array, Array, Array]:
    """Return the most probable parameters, information with prior, and the blocks' gradients there."""
    import numpy as np

    design, precision = layout.design, layout.precision
    here = _at(cells, layout, at)
    for _ in range(_STEPS):
        value, gradient, information, _ = here
        information = _definite(information + precision)
        step = np.linalg.solve(information, gradient - precision @ at)
        far = float(np.abs(step).max())
        step *= min(1.0, 2.0 / far) if far else 1.0
        goal = value - at @ precision @ at / 2
        while far >= _NEAR:
            new = _kept(at + step)
            effects = design @ new
            width = (len(effects) - 1) // 2
            if far < 1e-3:
                break
            there = value_of(cells, effects[:width], effects[width:-1], effects[-1]) - new @ precision @ new / 2
            if there >= goal:
                break
            step, far = step / 2, far / 2
        if far < _NEAR:
            break
        at = new
        here = _at(cells, layout, at)
    return at, _definite(here[2] + precision), here[3]


def _at(cells: Cells, layout: Layout, at: Array) -> tuple[float, Array, Array, Array]:
    design = layout.design
    effects = design @ at
    width = (len(effects) - 1) // 2
    found = slopes(cells, effects[:width], effects[width:-1], float(effects[-1]))
    return (
        found.value,
        found.gradient @ design,
        design.T @ found.information @ design,
        found.by_block @ design,
    )


def _definite(information: Array) -> Array:
    """Return the matrix with its negative curvature turned round: far from the top the spread's may
    have the wrong sign.
    """
    import numpy as np

    values, vectors = np.linalg.eigh(information)
    if values[0] > 1e-3:
        return information
    turned: Array = (vectors * np.maximum(np.abs(values), 1e-1)) @ vectors.T
    return turned


def _kept(at: Array) -> Array:
    """Return the parameters with the spread, of which only the size counts, in its bounds."""
    at = at.copy()
    at[-1] = min(abs(float(at[-1])), WIDEST)
    return at


def _bind(precision: Array, members: Array) -> None:
    import numpy as np

    if len(members):
        precision[np.ix_(members, members)] += _CONSTRAINT

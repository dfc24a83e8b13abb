"""One joint model of who flags whom (metrics: one scale for deceivers and detectors).

    P(flag) = Φ(μ + readiness(o) + (x - x̄(o))·sensitivity(o)
                  + suspected(t) - (x - x̄(t))·concealment(t) + roles of o and t)

of a statement by speaker t to observer o, Φ the normal distribution, x = 1 if the statement is deceptive and 0 if not
(`analytics.metrics.likelihood`). So sensitivity is d′ = z(hit rate) - z(false-alarm rate) of an observer, z the inverse
of Φ, and how ready it is with flags (criterion) is a parameter of its own; so are how little an agent's own statements
are told apart (concealment) and how much they are flagged whatever they are. Judgements of one statement, and of one
game, are no independent ones: the intervals resample whole blocks of games.

- *Shrinkage.* Every parameter is N(0, 1.5²) beforehand. Sensitivity is absolute: what is known of
  nobody is drawn to 0, telling nothing apart, and not to the others' mean. x̄ is the agent's own
  share of deceptive statements: with it, who flags everything is not taken for sensitive only since
  it judged more of one class than of the other.
- *Constraint.* Within a connected component of the graph of observers and speakers readiness,
  suspectedness and concealment add up to 0, weighted by how many judgements tell of them: an agent
  of which little is known cannot take up what is known of the others. Concealment adds up over
  speakers of both classes; it is that of the others who is known from both.
- *Roles* have effects by class, which add up to 0 in each: no role takes up the difference of the
  classes, even where they are the same thing (the role as the ground of truth).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from analytics.metrics.bootstrap import PenalisedFit, sum_to_zero
from analytics.metrics.formulas import Array
from analytics.metrics.likelihood import Cells, Slopes, slopes
from wolfbus.game.vocabulary import ROLES

Classes: TypeAlias = tuple[Cells, Cells]
"""Judgements of honest and of deceptive statements, of the same agents and blocks."""

PRIOR_SD: Final = 1.5
"""Standard deviation of every parameter beforehand, in units of d′."""
UNKNOWN: Final = -1
"""Component of an agent that is not there."""

_STEPS: Final = 60
_UNSEEN: Final = 1e-9
"""Share of the greatest curvature below which there is none, but for rounding."""
_NEAR: Final = 1e-6
"""A Newton step smaller than this is the last: after it, what is left is of the order of its square."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which parameter is which: intercepts by component; readiness, sensitivity, suspectedness and
    concealment by agent; roles of observers and of speakers for honest and deceptive statements.

    Attributes:
        as_observer: component of each agent as observer, -1 if it is none.
        as_speaker: the same as speaker.
        judged: judgements by agent as observer and class.
        received: judgements by agent as speaker and class.
        designs: by class, parameters to effects of observer cells and speaker cells.
        precision: of the prior, the constraints included.
    """

    as_observer: Array
    as_speaker: Array
    judged: Array
    received: Array
    designs: tuple[Array, Array]
    precision: Array

    @property
    def groups(self) -> int:
        """Number of components."""
        return int(max(self.as_observer.max(initial=-1), self.as_speaker.max(initial=-1))) + 1

    def place(self, kind: str) -> int:
        """Return where a kind of parameter begins: of agents, or of roles such as "observer 1"."""
        agents, groups = len(self.as_observer), self.groups
        starts = {name: groups + index * agents for index, name in enumerate(_OF_AGENTS)}
        roles = groups + len(_OF_AGENTS) * agents
        return {**starts, **{name: roles + index * len(ROLES) for index, name in enumerate(_OF_ROLES)}}[kind]


_OF_AGENTS: Final = ("readiness", "sensitivity", "suspected", "concealment")
_OF_ROLES: Final = ("observer 0", "observer 1", "speaker 0", "speaker 1")


@dataclass(frozen=True, slots=True, eq=False)
class Fit(PenalisedFit):
    """The most probable parameters.

    Attributes:
        layout: which is which.
        information: what the judgements alone tell of the parameters: minus the log-likelihood's second derivatives.
    """

    layout: Layout
    information: Array

    def identified(self, weights: Array) -> Array:
        """Return of each sum of parameters whether these judgements can tell it, without the prior: in a mirrored
        design, where all that an observer hears from Werewolves is one agent's, nothing says whether the one detects
        well or the other conceals badly.

        Args:
            weights: of the parameters, by figure.
        """
        size = len(self.parameters)
        constraints = self.layout.precision - np.eye(size) / PRIOR_SD**2
        norms = np.sqrt(np.maximum(np.diag(self.information + constraints), 1e-300))
        values, vectors = np.linalg.eigh((self.information + constraints) / np.outer(norms, norms))
        unseen = vectors[:, values < _UNSEEN * values.max()]
        scaled = weights / norms
        lengths = np.linalg.norm(scaled, axis=1)
        is_seen: Array = np.linalg.norm(scaled @ unseen, axis=1) <= _NEAR * np.where(lengths > 0, lengths, 1.0)
        return is_seen


def components(classes: Classes) -> tuple[Array, Array]:
    """Return the component of each agent as observer and as speaker, from 0; -1 where it is not
    there at all.

    Agents can be compared within a connected component of the graph of observing and speaking
    agents. The two are different nodes: an agent that nobody judges has no place as a speaker.
    Components are numbered in the order of their first agent, observers first.
    """
    agents, roles = classes[0].agents, len(ROLES)
    observers, speakers = [], []
    for cells in classes:
        observers.append(cells.observer // roles)
        speakers.append(agents + cells.speaker // roles)
    observer, speaker = np.concatenate(observers), np.concatenate(speakers)
    graph = coo_array((np.ones(len(observer)), (observer, speaker)), shape=(2 * agents, 2 * agents))
    label = connected_components(graph.tocsr(), directed=False)[1]
    number: dict[int, int] = {}
    component = np.full(2 * agents, UNKNOWN, "i4")
    for node in np.unique(np.concatenate([observer, speaker])).tolist():
        component[node] = number.setdefault(int(label[node]), len(number))
    return component[:agents], component[agents:]


def layout_of(classes: Classes) -> Layout:
    """Return the parameters that these judgements call for."""
    agents, roles = classes[0].agents, len(ROLES)
    as_observer, as_speaker = components(classes)
    groups = int(max(as_observer.max(initial=-1), as_speaker.max(initial=-1))) + 1
    counts = np.stack([_counts(cells) for cells in classes])  # class, side, agent, role
    judged, received = counts.sum(axis=3).transpose(1, 2, 0)
    size = groups + len(_OF_AGENTS) * agents + len(_OF_ROLES) * roles
    width = agents * roles
    empty = Layout(as_observer, as_speaker, judged, received, (np.zeros((1, 1)), np.zeros((1, 1))), np.zeros((1, 1)))
    share = [side[:, 1] / np.maximum(1, side.sum(axis=1)) for side in (judged, received)]
    agent, role = np.divmod(np.arange(width), roles)
    observing = np.flatnonzero(as_observer[agent] != UNKNOWN)
    observers, speakers = np.arange(width), width + np.arange(width)
    designs = []
    for x in (0, 1):
        design = np.zeros((2 * width, size))
        design[observing, as_observer[agent[observing]]] = 1
        design[observers, empty.place("readiness") + agent] = 1
        design[observers, empty.place("sensitivity") + agent] = x - share[0][agent]
        design[observers, empty.place(f"observer {x}") + role] = 1
        design[speakers, empty.place("suspected") + agent] = 1
        design[speakers, empty.place("concealment") + agent] = share[1][agent] - x
        design[speakers, empty.place(f"speaker {x}") + role] = 1
        designs.append(design)

    precision = np.eye(size) / PRIOR_SD**2
    both = received[:, 0] * received[:, 1] / np.maximum(1, received.sum(axis=1))
    for kind, member, weight in (
        ("readiness", as_observer, judged.sum(axis=1)),
        ("suspected", as_speaker, received.sum(axis=1)),
        ("concealment", as_speaker, both),
    ):
        for group in range(groups):
            sum_to_zero(precision, empty.place(kind), np.where(member == group, weight, 0))
    for x in (0, 1):
        for side, name in enumerate(("observer", "speaker")):
            sum_to_zero(precision, empty.place(f"{name} {x}"), counts[x, side].sum(axis=0))
    return Layout(as_observer, as_speaker, judged, received, (designs[0], designs[1]), precision)


def _counts(cells: Cells) -> Array:
    """Return judgements by side (observer, speaker), agent and role."""
    sides = [np.bincount(cell, cells.judged, cells.width) for cell in (cells.observer, cells.speaker)]
    return np.stack(sides).reshape(2, cells.agents, len(ROLES))


def fit(classes: Classes) -> Fit:
    """Return the fit of at least one judgement, by Newton's method; what it climbs has one top."""
    layout = layout_of(classes)
    precision = layout.precision
    parameters = np.zeros(len(precision))
    current = _evaluate(classes, layout, parameters)
    for _ in range(_STEPS):
        gradient = current.by_block.sum(axis=0) - precision @ parameters
        step = np.linalg.solve(current.information + precision, gradient)
        length = float(np.abs(step).max())
        height = _height(current, layout, parameters)
        while True:
            following = _evaluate(classes, layout, parameters + step)
            if length < _NEAR or _height(following, layout, parameters + step) >= height:
                break
            step, length = step / 2, length / 2
        parameters, current = parameters + step, following
        if length < _NEAR:
            break
    covariance = np.linalg.inv(current.information + precision)
    return Fit(parameters, covariance, current.by_block, layout, current.information)


def _height(slopes_there: Slopes, layout: Layout, parameters: Array) -> float:
    """Return the log-likelihood with the prior's, but for a constant."""
    return slopes_there.value - float(parameters @ layout.precision @ parameters) / 2


def _evaluate(classes: Classes, layout: Layout, parameters: Array) -> Slopes:
    """Return the log-likelihood of both classes and its derivatives in the parameters."""
    size = len(parameters)
    total = Slopes(0.0, np.zeros((size, size)), np.zeros((classes[0].blocks, size)))
    for cells, design in zip(classes, layout.designs, strict=True):
        effects = design @ parameters
        of_class = slopes(cells, effects[: cells.width], effects[cells.width :])
        total.value += of_class.value
        total.information += design.T @ of_class.information @ design
        total.by_block += of_class.by_block @ design
    return total

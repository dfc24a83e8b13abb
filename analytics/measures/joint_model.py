"""One joint model of who flags whom (metrics: one scale for deceivers and detectors).

    logit P(flag) = μ + readiness(o) + (x - x̄(o))·sensitivity(o)
                      + suspected(t) - (x - x̄(t))·concealment(t) + roles of o and t + σ·z

of a statement by speaker t to observer o, x = 1 if it is deceptive and 0 if not, z one normal number
a statement (`analytics.measures.likelihood`). How much better an agent's flags tell deceptive from
honest statements (sensitivity) and how ready it is with them (criterion) are parameters of their
own, and so are how little its own statements are told apart (concealment) and how much they are
flagged whatever they are.

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
from typing import TYPE_CHECKING, Final, TypeAlias

from analytics.measures.bootstrap import PenalisedFit, sum_to_zero
from analytics.measures.likelihood import WIDEST, Cells, slopes, value_of
from analytics.rows.fields import UNKNOWN
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array

Classes: TypeAlias = tuple[Cells, Cells]
"""Judgements of honest and of deceptive statements, of the same agents and blocks."""

PRIOR_SD: Final = 1.5
"""Standard deviation of every parameter beforehand, in logits."""

_STEPS: Final = 40
_NEAR: Final = 1e-6
"""A Newton step smaller than this, in logits, is the last."""
_WARM_UP: Final = 20_000
"""Statements from which a large fit starts."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which parameter is which: intercepts by component; readiness, sensitivity, suspectedness and
    concealment by agent; roles of observers and of speakers for honest and deceptive statements; σ.

    Attributes:
        as_observer: component of each agent as observer, -1 if it is none.
        as_speaker: the same as speaker.
        judged: judgements by agent as observer and class.
        received: judgements by agent as speaker and class.
        designs: by class, parameters to effects of observer cells, speaker cells and σ.
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
    """

    layout: Layout

    @property
    def spread(self) -> float:
        """Standard deviation of the statements' effects, in logits."""
        return abs(float(self.parameters[-1]))


def components(classes: Classes) -> tuple[Array, Array]:
    """Return the component of each agent as observer and as speaker, from 0; -1 where it is not
    there at all.

    Agents can be compared within a connected component of the graph of observing and speaking
    agents. The two are different nodes: an agent that nobody judges has no place as a speaker.
    Components are numbered in the order of their first agent, observers first.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    agents, roles = classes[0].agents, len(ROLES)
    observers, speakers = [], []
    for cells in classes:
        present = cells.observer != UNKNOWN
        observers.append((cells.observer // roles)[present])
        speakers.append(agents + np.broadcast_to((cells.speaker // roles)[:, None], present.shape)[present])
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
    import numpy as np

    agents, roles = classes[0].agents, len(ROLES)
    as_observer, as_speaker = components(classes)
    groups = int(max(as_observer.max(initial=-1), as_speaker.max(initial=-1))) + 1
    counts = np.stack([_counts(cells) for cells in classes])  # class, side, agent, role
    judged, received = counts.sum(axis=3).transpose(1, 2, 0)
    size = groups + len(_OF_AGENTS) * agents + len(_OF_ROLES) * roles + 1
    width = agents * roles
    empty = Layout(as_observer, as_speaker, judged, received, (np.zeros((1, 1)), np.zeros((1, 1))), np.zeros((1, 1)))
    share = [side[:, 1] / np.maximum(1, side.sum(axis=1)) for side in (judged, received)]
    agent, role = np.divmod(np.arange(width), roles)
    observing = np.flatnonzero(as_observer[agent] != UNKNOWN)
    observers, speakers = np.arange(width), width + np.arange(width)
    designs = []
    for x in (0, 1):
        design = np.zeros((2 * width + 1, size))
        design[observing, as_observer[agent[observing]]] = 1
        design[observers, empty.place("readiness") + agent] = 1
        design[observers, empty.place("sensitivity") + agent] = x - share[0][agent]
        design[observers, empty.place(f"observer {x}") + role] = 1
        design[speakers, empty.place("suspected") + agent] = 1
        design[speakers, empty.place("concealment") + agent] = share[1][agent] - x
        design[speakers, empty.place(f"speaker {x}") + role] = 1
        design[2 * width, size - 1] = 1
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
    import numpy as np

    width = cells.agents * len(ROLES)
    present = cells.observer != UNKNOWN
    observer = np.bincount(cells.observer[present], minlength=width)
    speaker = np.bincount(cells.speaker, present.sum(axis=1), width)
    return np.stack([observer, speaker]).reshape(2, cells.agents, len(ROLES))


def fit(classes: Classes) -> Fit:
    """Return the fit of at least one statement. Newton's method, begun on a part of the games where
    there are many.
    """
    import numpy as np

    layout = layout_of(classes)
    parameters = np.zeros(len(layout.precision))
    parameters[-1] = 0.5
    statements = sum(len(cells) for cells in classes)
    if statements > 2 * _WARM_UP:
        # every nth block: any stretch of games may be all of one kind
        stride = -(-statements // _WARM_UP)
        sample = tuple(cells.subset(cells.block % stride == 0) for cells in classes)
        if all(len(cells) for cells in sample):
            parameters = _maximise((sample[0], sample[1]), layout, parameters)[0]
    parameters, information, by_block = _maximise(classes, layout, parameters)
    return Fit(parameters, np.linalg.inv(information), by_block, layout)


def objective(classes: Classes, layout: Layout, parameters: Array) -> float:
    """Return the log-likelihood with the prior's, but for a constant."""
    total = -float(parameters @ layout.precision @ parameters) / 2
    for cells, design in zip(classes, layout.designs, strict=True):
        effects = design @ parameters
        width = (len(effects) - 1) // 2
        total += value_of(cells, effects[:width], effects[width:-1], float(effects[-1]))
    return total


def _maximise(classes: Classes, layout: Layout, parameters: Array) -> tuple[Array, Array, Array]:
    """Return the most probable parameters, information with prior, and the blocks' gradients there."""
    import numpy as np

    precision = layout.precision
    current = _evaluate(classes, layout, parameters)
    for _ in range(_STEPS):
        value, gradient, information, _ = current
        information = _definite(information + precision)
        step = np.linalg.solve(information, gradient - precision @ parameters)
        length = float(np.abs(step).max())
        step *= min(1.0, 2.0 / length) if length else 1.0
        goal = value - parameters @ precision @ parameters / 2
        while length >= _NEAR:
            new = _bounded(parameters + step)
            if length < 1e-3 or objective(classes, layout, new) >= goal:
                break
            step, length = step / 2, length / 2
        if length < _NEAR:
            break
        parameters = new
        current = _evaluate(classes, layout, parameters)
    return parameters, _definite(current[2] + precision), current[3]


def _evaluate(classes: Classes, layout: Layout, parameters: Array) -> tuple[float, Array, Array, Array]:
    import numpy as np

    size = len(parameters)
    value, information = 0.0, np.zeros((size, size))
    by_block = np.zeros((classes[0].blocks, size))
    for cells, design in zip(classes, layout.designs, strict=True):
        if not len(cells):
            continue
        effects = design @ parameters
        width = (len(effects) - 1) // 2
        derivatives = slopes(cells, effects[:width], effects[width:-1], float(effects[-1]))
        value += derivatives.value
        information += design.T @ derivatives.information @ design
        by_block += derivatives.by_block @ design
    return value, by_block.sum(axis=0), information, by_block


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


def _bounded(parameters: Array) -> Array:
    """Return the parameters with the spread, of which only the size counts, in its bounds."""
    parameters = parameters.copy()
    parameters[-1] = min(abs(float(parameters[-1])), WIDEST)
    return parameters

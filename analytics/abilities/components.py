"""Which agents can be compared: connected components of the graph of observing agents and speaking agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.abilities.cells import Cells
from analytics.columns import UNKNOWN
from analytics.joined import Joined
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array


def components(cells: Cells) -> tuple[Array, Array]:
    """Return the component of each agent as observer and as speaker, from 0; -1 where it is not there at all.

    The two are different nodes: an agent that nobody judges has no place as a speaker. Components are numbered in the
    order of their first agent, observers first.
    """
    import numpy as np

    agents, roles = cells.agents, len(ROLES)
    there = cells.observer != UNKNOWN
    pairs = (cells.observer // roles).astype("i8") * agents + (cells.speaker // roles)[:, None]
    graph: Joined[int] = Joined()
    seen: set[int] = set()
    for pair in np.unique(pairs[there]).tolist():
        observer, speaker = pair // agents, agents + pair % agents
        seen |= {observer, speaker}
        graph.join(observer, speaker)
    number: dict[int, int] = {}
    found = [number.setdefault(graph.root(node), len(number)) if node in seen else -1 for node in range(2 * agents)]
    return np.array(found[:agents], "i4"), np.array(found[agents:], "i4")

"""`Joined`: which things belong together, because they were joined or because a chain of joins leads from one to the
other.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)


class Joined(Generic[Node]):
    """Disjoint sets of nodes; a node that was never joined is a set of its own."""

    def __init__(self) -> None:
        self._parents: dict[Node, Node] = {}

    def join(self, one: Node, other: Node) -> None:
        """Put the sets of two nodes together."""
        self._parents[self.root(one)] = self.root(other)

    def root(self, node: Node) -> Node:
        """Return the node that stands for the set of `node`: the same for all nodes of one set until the next join."""
        parents = self._parents
        while (parent := parents.get(node, node)) != node:
            parents[node] = parents.get(parent, parent)
            node = parent
        return node

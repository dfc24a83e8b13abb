"""What is resampled and swapped in a comparison: pairs of what both sides have, and what only one
has.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analytics.columns import Array, Columns


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Units of two sides, pairs first, then those of A alone, then those of B alone.

    Attributes:
        a: unit of each game of A, -1 for a game that is not compared.
        b: the same of B.
        pairs: units that both sides have.
        only_a: units of A alone.
        only_b: units of B alone.
        paired_a: games of A in pairs.
        paired_b: games of B in pairs.
    """

    a: Array
    b: Array
    pairs: int
    only_a: int
    only_b: int
    paired_a: int
    paired_b: int

    @property
    def count(self) -> int:
        """Number of units."""
        return self.pairs + self.only_a + self.only_b

    @property
    def fewest(self) -> int:
        """Number of units drawn together that the side with fewer of them rests on."""
        return min(max(self.pairs, self.only_a), max(self.pairs, self.only_b))


def by_seed(a: Columns, b: Columns) -> Units:
    """Return the units of two sets of games: games of one seed belong together, and so do games of
    one block.

    A game without a seed, or with one that the other side has not, is paired with nothing, unless
    another game of its block is.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sides = {
        side: [(side, columns.block_names[block]) for block in columns.blocks.tolist()]
        for side, columns in (("a", a), ("b", b))
    }
    common = (set(a.seeds) & set(b.seeds)) - {""}
    nodes: dict[tuple[str, str], int] = {}
    links: list[tuple[int, int]] = []
    for side, columns in (("a", a), ("b", b)):
        for node, seed in zip(sides[side], columns.seeds, strict=True):
            own = nodes.setdefault(node, len(nodes))
            links.append((own, nodes.setdefault(("seed", seed), len(nodes)) if seed in common else own))
    graph = coo_array(([1] * len(links), tuple(zip(*links, strict=True)) or ([], [])), shape=(len(nodes),) * 2)
    label = connected_components(graph.tocsr(), directed=False)[1].tolist()
    held = {side: [label[nodes[node]] for node in own] for side, own in sides.items()}
    of: defaultdict[int, set[str]] = defaultdict(set)
    for side, found in held.items():
        for place in found:
            of[place].add(side)
    return _units(held, of)


def _units(held: dict[str, list[int]], sides: dict[int, set[str]]) -> Units:
    import numpy as np

    pairs = [node for node, found in sides.items() if len(found) == 2]
    alone = {side: [node for node, found in sides.items() if found == {side}] for side in ("a", "b")}
    place = {node: at for at, node in enumerate([*pairs, *alone["a"], *alone["b"]])}
    paired = set(pairs)
    return Units(
        a=np.array([place[node] for node in held["a"]], np.int64),
        b=np.array([place[node] for node in held["b"]], np.int64),
        pairs=len(pairs),
        only_a=len(alone["a"]),
        only_b=len(alone["b"]),
        paired_a=sum(node in paired for node in held["a"]),
        paired_b=sum(node in paired for node in held["b"]),
    )


def by_block(columns: Columns, one: int, other: int) -> Units:
    """Return the blocks in which either of two agents plays; in every one of them the two may be
    swapped.

    Args:
        columns: the games.
        one: index of an agent.
        other: index of another.
    """
    import numpy as np

    agent = columns.seats["agent"]
    games = {code: np.unique(columns.seats["game"][agent == code]) for code in (one, other)}
    kept = np.unique(columns.blocks[np.concatenate(list(games.values()))])
    place = np.full(len(columns.block_names), -1)
    place[kept] = np.arange(len(kept))
    units = place[columns.blocks]
    return Units(units, units, len(kept), 0, 0, *(len(found) for found in games.values()))

"""What belongs together because it was joined."""

from __future__ import annotations

import random

from analytics.joined import Joined


def test_nodes_that_were_never_joined_stand_alone():
    joined: Joined[str] = Joined()
    assert (joined.root("a"), joined.root("b")) == ("a", "b")


def test_chains_of_joins_make_the_sets_that_a_walk_finds():
    rng = random.Random(4)
    for _ in range(30):
        joined: Joined[int] = Joined()
        edges = [(rng.randrange(20), rng.randrange(20)) for _ in range(rng.randrange(25))]
        for one, other in edges:
            joined.join(one, other)
        for start in range(20):
            reached, waiting = {start}, [start]
            while waiting:
                node = waiting.pop()
                near = {b for a, b in edges if a == node} | {a for a, b in edges if b == node}
                waiting += near - reached
                reached |= near
            assert {node for node in range(20) if joined.root(node) == joined.root(start)} == reached

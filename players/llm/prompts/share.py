"""How much of the text of prompts a server that caches prefixes has seen before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable


def prefix_share(prompts: Iterable[str]) -> float | None:
    """Return the share of all characters that stand in the longest beginning which a prompt shares with an earlier one.

    It is what a cache without limits of size, time or block would serve. All prompts are kept while it is computed.

    Args:
        prompts: whole prompts in the order they are sent, the messages of each joined.

    Returns:
        A share from 0 to 1; None without any text.
    """
    earlier: list[str] = []
    total = cached = 0
    for prompt in prompts:
        place = bisect_left(earlier, prompt)
        # the longest common beginning with any string is the one with a neighbour in their order
        neighbours = earlier[max(place - 1, 0) : place + 1]
        cached += max((_common(prompt, other) for other in neighbours), default=0)
        total += len(prompt)
        earlier.insert(place, prompt)
    return cached / total if total else None


def _common(one: str, other: str) -> int:
    """Return how many characters two strings have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

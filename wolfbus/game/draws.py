"""Seeded draws that do not depend on each other: SHA-256(seed | purpose | round | turn | n).

There is no running generator, so one more draw here changes nothing there, a restarted process draws the same, and any
language with SHA-256 agrees.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def draw(seed: str, purpose: str, round_: int = 0, turn: int = 0, n: int = 0) -> int:
    """Return a uniform integer in [0, 2**256) for this seed and place."""
    text = f"{seed}|{purpose}|{round_}|{turn}|{n}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def choose(seed: str, purpose: str, options: Sequence[T], round_: int = 0, turn: int = 0, n: int = 0) -> T:
    """Return one of `options`, each equally likely.

    Raises:
        IndexError: if there is nothing to choose from.
    """
    if not options:
        raise IndexError(f"no options to draw {purpose!r} from")
    return options[draw(seed, purpose, round_, turn, n) % len(options)]


def choose_weighted(
    seed: str, purpose: str, options: Sequence[tuple[T, int]], round_: int = 0, turn: int = 0, n: int = 0
) -> T:
    """Return one option of (option, weight) pairs with probability proportional to its positive integer weight.

    Raises:
        IndexError: if there is nothing to choose from.
    """
    total = sum(weight for _, weight in options)
    if not total:
        raise IndexError(f"no options to draw {purpose!r} from")
    point = draw(seed, purpose, round_, turn, n) % total
    for option, weight in options:
        point -= weight
        if point < 0:
            return option
    raise AssertionError("weights changed while drawing")


def shuffled(seed: str, purpose: str, items: Sequence[T]) -> tuple[T, ...]:
    """Return `items` in a drawn order (Fisher-Yates, one draw a step)."""
    deck = list(items)
    for last in range(len(deck) - 1, 0, -1):
        other = draw(seed, purpose, n=last) % (last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    return tuple(deck)


def unit(seed: str, purpose: str, round_: int = 0, turn: int = 0, n: int = 0) -> float:
    """Return a uniform number in [0, 1) with 53 bits, for brains that act with a probability."""
    return (draw(seed, purpose, round_, turn, n) >> 203) / (1 << 53)


def brain_seed(seed: str, seat: str) -> str:
    """Return the seed of one seat's brain, KDF(game seed, "brain", seat).

    It tells nothing of the game's seed, nor of other seats', as long as the game's seed cannot be guessed: a fresh
    one has 128 bits; a number like 7 has not, and is for players that do not try.
    """
    return hashlib.sha256(f"{seed}|brain|{seat}".encode()).hexdigest()


def game_seed(seed: str, number: int) -> str:
    """Return the seed of a session's game `number`, from 1: 128 bits drawn from the session's.

    It tells nothing of the session's seed, nor of other games', as long as the session's seed cannot be guessed. So
    game 1 has a drawn one too: seeds are told when their games end.
    """
    return f"{draw(seed, 'game', n=number) >> 128:032x}"


def fork_seed(seed: str, game: str, event: int, k: int) -> str:
    """Return the seed of all draws after a fork, H(parent, event, k): the same for every arm, another for every `k`.

    Args:
        seed: the parent's seed.
        game: the parent's id.
        event: number of the parent's event from which on the game is played anew.
        k: which fork of that event, from 1.
    """
    return hashlib.sha256(f"{seed}|fork|{game}|{event}|{k}".encode()).hexdigest()

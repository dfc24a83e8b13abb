"""Who sits where and is what: names and roles drawn from the seed unless the config gives them."""

from __future__ import annotations

from typing import Final

from wolfbus.config import GameConfig
from wolfbus.draws import shuffled
from wolfbus.messages.base import SeatName
from wolfbus.vocabulary import ROLES, Role

NAMES: Final = (
    "Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo",
    "Ines", "Jonas", "Kira", "Leon", "Mona", "Nils", "Olga", "Piet",
)  # fmt: skip
"""Names to draw from: short, and none is a prefix of another."""


def deal(config: GameConfig, seed: str) -> tuple[tuple[SeatName, Role], ...]:
    """Return (name, role) of every seat in seating order, as `config` and `seed` decide."""
    names = config.names or shuffled(seed, "names", NAMES)[: config.seats]
    if config.roles is not None:
        return tuple((name, config.roles[name]) for name in names)
    deck = tuple(role for role in ROLES for _ in range(config.count(role)))
    return tuple(zip(names, shuffled(seed, "roles", deck), strict=True))

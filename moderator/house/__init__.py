"""A house: who is in it, which games it plays, and how it is claimed, kept in order and closed.

What stands here is enough to moderate games by other means than the service: `Games` in a `HouseContext`, who plays
which seat, and the session that they make.
"""

from moderator.engine.context import GameOver, HouseContext
from moderator.engine.seating import Offer, seat_agents, seat_brains
from moderator.house.games import Games
from moderator.house.session import GameSummaries, HouseSession
from moderator.house.settings import Agenda, AgendaItem, GameReport, ModeratorSettings

__all__ = [
    "Agenda",
    "AgendaItem",
    "GameOver",
    "GameReport",
    "GameSummaries",
    "Games",
    "HouseContext",
    "HouseSession",
    "ModeratorSettings",
    "Offer",
    "seat_agents",
    "seat_brains",
]

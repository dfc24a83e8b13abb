"""What a seat is told once.

The system message is the same for every seat: what this is, how to read it, how to reply, the rules, the players. The
role card says who one is and what serves one's side (paper, section 4.3); incentives, never an order to deceive.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from wolfbus.config import GameConfig
from wolfbus.messages.base import SeatName
from wolfbus.package_data import PackageData, read_data
from wolfbus.rules import rules_text
from wolfbus.view import SeatView
from wolfbus.vocabulary import Role


class _Texts(PackageData):
    frame: str
    again: dict[Literal["full", "brief"], str]
    goals: dict[Role, str]


_TEXTS: Final = read_data("players.llm.prompts", "system", _Texts)


@lru_cache(maxsize=64)
def system_text(config: GameConfig, names: tuple[SeatName, ...]) -> str:
    """Return the system message of a game.

    Args:
        config: its rules, as seats are told them.
        names: all players in seating order.
    """
    frame = _TEXTS.frame.replace("{again}", _TEXTS.again[config.memory])
    rules = rules_text(config, technical=False)
    return f"{frame}{rules}\nLiving players as it begins, in seating order: {', '.join(names)}.\n"


def role_card(view: SeatView) -> str:
    """Return what a seat is told of its role; it never changes during a game."""
    article = "the" if view.config.count(view.role) == 1 else "a"
    partners = ""
    if view.role == "Werewolf" and view.partners:
        partners = f" Your partner{'s' if len(view.partners) > 1 else ''}: {', '.join(view.partners)}."
    return f"You are {view.me}, {article} {view.role}.{partners}\n{_TEXTS.goals[view.role]}"

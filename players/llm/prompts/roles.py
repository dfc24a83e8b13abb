"""Role cards: who one is and what serves one's side (paper, section 4.3); incentives, never an order to deceive."""

from __future__ import annotations

from typing import Final

from wolfbus.view import SeatView
from wolfbus.vocabulary import Role

_GOALS: Final[dict[Role, str]] = {
    "Villager": """\
You win with the villagers' side: the Werewolves must be found and exiled.
You have no power at night, only your words, your judgement and your vote. It serves your side if you are open about \
what you think and know, work together with those you trust, and point out what seems suspicious to you.
""",
    "Werewolf": """\
You win with the Werewolves: there must be as many of you as there are others.
The others will want you exiled once they know what you are, so conceal it. In public you may mislead them, and lie, \
where that serves your side. At night the living Werewolves choose a victim.
""",
    "Seer": """\
You win with the villagers' side: the Werewolves must be found and exiled.
Each night you learn the role of one player. What you learn helps your side once others know it and believe it, and it \
makes you a target for the Werewolves: you decide what to reveal, and when, and what to withhold.
""",
    "Doctor": """\
You win with the villagers' side: the Werewolves must be found and exiled.
Each night you protect one player from being killed. That you are a Doctor, and whom you protected, nobody knows \
but you: you decide what to reveal, and when, and what to withhold.
""",
}


def _identity(view: SeatView) -> str:
    """Return one sentence that says who a seat is."""
    article = "the" if view.config.count(view.role) == 1 else "a"
    return f"You are {view.me}, {article} {view.role}."


def role_card(view: SeatView) -> str:
    """Return what a seat is told of its role; it never changes during a game."""
    return f"{_identity(view)}{_partners(view)}\n{_GOALS[view.role]}"


def _partners(view: SeatView) -> str:
    if view.role != "Werewolf":
        return ""
    if not view.partners:
        return ""
    return f" Your partner{'s' if len(view.partners) > 1 else ''}: {', '.join(view.partners)}."

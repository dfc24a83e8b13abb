"""What everybody knows, a piece of text per public fact; the same for all seats, whenever they are asked."""

from __future__ import annotations

from typing import Final

from players.llm.prompts.quoting import said
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Dawn, Ended, Exile
from wolfbus.messages.requests import PublicFact
from wolfbus.vocabulary import Ending

PUBLIC_OPENING: Final = "PUBLIC: what all players know\nThe game begins with night 1.\n"
"""What the public part begins with."""

_ENDINGS: Final[dict[Ending, str]] = {
    "no_wolves_left": "No Werewolf lives: the villagers' side wins.",
    "wolves_reach_parity": "The Werewolves are as many as the others: they win.",
    "max_rounds": "The last day is over: nobody wins.",
}


def public_piece(fact: PublicFact) -> str:
    """Return what a public fact adds to the public part of a prompt: one line, behind a blank one at dawn."""
    if fact.type == "statement":
        what = "" if fact.phase == "debate" else ", reason for the vote"
        return f"[{fact.statement}] {fact.speaker}{what}: {said(fact.text)}\n"
    if fact.type == "silence":
        return f"{fact.seat} had the floor and said nothing.\n"
    if fact.type == "tally":
        votes = ", ".join(f"{voter} for {_name(target)}" for voter, target in sorted(fact.votes.items()))
        return f"Vote of day {fact.round}, {fact.needed} votes exile: {votes}.\n"
    if fact.type == "dawn":
        return f"\nDawn of day {fact.round}: {_name(fact.died)} died in the night.{_shown(fact.died, fact)}\n"
    if fact.type == "exile":
        return f"End of day {fact.round}: {_name(fact.seat)} is exiled.{_shown(fact.seat, fact)}\n"
    if fact.type == "ended":
        return f"The game is over. {_ending(fact)}\n"
    # the seed, which this fact holds as well, would tell of things that nobody at the table knows
    return "The roles were: " + ", ".join(f"{name} {role}" for name, role in sorted(fact.roles.items())) + ".\n"


def _name(name: SeatName | None) -> str:
    return "nobody" if name is None else name


def _shown(name: SeatName | None, fact: Dawn | Exile) -> str:
    if fact.role is not None:
        return f" {name} was a {fact.role}."
    if fact.team is not None:
        return f" {name} was {'a' if fact.team == 'werewolves' else 'no'} Werewolf."
    return ""


def _ending(fact: Ended) -> str:
    return _ENDINGS[fact.reason]

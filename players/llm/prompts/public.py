"""What everybody knows, a piece of text per public fact; the same for all seats, whenever they are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from players.llm.prompts.quoting import said
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Dawn, Ended, Exile
from wolfbus.messages.requests import PublicFact
from wolfbus.vocabulary import Ending

_ENDINGS: Final[dict[Ending, str]] = {
    "no_wolves_left": "No Werewolf lives: the villagers' side wins.",
    "wolves_reach_parity": "The Werewolves are as many as the others: they win.",
    "max_rounds": "The last day is over: nobody wins.",
}


def public_piece(fact: PublicFact, living: Sequence[SeatName]) -> str:
    """Return what a public fact adds to a prompt: one line, behind a blank one at dawn, and who lives after a
    night or an exile.

    Args:
        fact: what happened.
        living: who lives after it.
    """
    if fact.type == "statement":
        what = "" if fact.phase == "debate" else " (vote)"
        return f"[{fact.statement}] {fact.speaker}{what}: {said(fact.text)}\n"
    if fact.type == "silence":
        return f"{fact.seat} had the floor and said nothing.\n"
    if fact.type == "tally":
        return f"Vote of day {fact.round}, {fact.needed} votes exile: {_votes(fact.votes)}.\n"
    if fact.type == "dawn":
        died = f"{_name(fact.died)} died in the night.{_shown(fact.died, fact)}"
        return f"\nDawn of day {fact.round}: {died}\n{_living(living)}"
    if fact.type == "exile":
        left = _living(living) if fact.seat is not None else ""
        return f"End of day {fact.round}: {_name(fact.seat)} is exiled.{_shown(fact.seat, fact)}\n{left}"
    if fact.type == "ended":
        return f"The game is over. {_ending(fact)}\n"
    # the seed, which this fact holds as well, would tell of things that nobody at the table knows
    return "The roles were: " + ", ".join(f"{name} {role}" for name, role in sorted(fact.roles.items())) + ".\n"


def _votes(votes: Mapping[SeatName, SeatName | None]) -> str:
    """Return who voted for whom, by whom was voted for."""
    voters: dict[SeatName | None, list[SeatName]] = {}
    for voter, target in sorted(votes.items()):
        voters.setdefault(target, []).append(voter)
    return "; ".join(f"for {_name(target)} {', '.join(voters[target])}" for target in voters)


def _living(names: Sequence[SeatName]) -> str:
    return f"Living players: {', '.join(names)}.\n"


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

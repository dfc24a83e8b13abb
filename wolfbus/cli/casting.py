"""Casting: players take the seats that are dealt the roles that they are to have.

Names and roles are drawn from the seed whoever plays, so a game with ``--role`` is dealt as it is without; only who
sits where differs. The record's opening says which brain has which seat, and is verified like any other.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

import click

from wolfbus.vocabulary import ROLES, Role

Wish: TypeAlias = tuple[str, Role]
"""A brain, and the role that one of its seats is to have."""

_HINT: Final = "--role"
_FILLING: Final = frozenset({"scripted", "random", "silent"})
"""Brains that fill seats: among them, who asks for a role means any other."""
_SHOWN: Final = 60


def cast(brains: Sequence[str], roles: Sequence[Role], words: Sequence[str]) -> tuple[str, ...]:
    """Return the brain of every seat, in seating order, after each wish for a role is granted.

    A brain that already has a seat of the role stays there; else it changes places with whoever sits there.

    Args:
        brains: the brain of every seat as players were given.
        roles: what the seats are dealt, in seating order.
        words: what ``--role`` was told: ``ROLE`` or ``BRAIN=ROLE``, each for one seat.

    Raises:
        click.BadParameter: there is no such role or player, it is not clear who is meant, or there are fewer seats of
            that role or that player than are asked for.
    """
    wishes = [_wish(each, brains) for each in words]
    _check_numbers(wishes, brains, roles)
    seats, settled = list(brains), set[int]()
    for wish in [wish for wish in wishes if not _stays(wish, seats, roles, settled)]:
        brain, role = wish
        there = next(seat for seat, dealt in enumerate(roles) if dealt == role and seat not in settled)
        here = next(seat for seat, each in enumerate(seats) if each == brain and seat not in settled)
        seats[here], seats[there] = seats[there], seats[here]
        settled.add(there)
    return tuple(seats)


def _stays(wish: Wish, seats: Sequence[str], roles: Sequence[Role], settled: set[int]) -> bool:
    """Settle a wish that is fulfilled as it is; returns whether it was."""
    for seat, has in enumerate(zip(seats, roles, strict=True)):
        if has == wish and seat not in settled:
            settled.add(seat)
            return True
    return False


def _wish(words: str, brains: Sequence[str]) -> Wish:
    # a command may have an equals sign of its own
    brain, equals, role = words.rpartition("=")
    role, brain = role.strip(), brain.strip()
    found = next((each for each in ROLES if each.casefold() == role.casefold()), None)
    if found is None:
        close = difflib.get_close_matches(role.capitalize(), ROLES, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise _bad(f"{role!r:.{_SHOWN}} is no role; {hint}roles are {', '.join(ROLES)}")
    if not equals:
        return _whoever_is_meant(brains, found), found
    if brain not in brains:
        close = difflib.get_close_matches(brain, brains, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise _bad(f"{brain!r:.{_SHOWN}} does not play{hint} (players are {_players(brains)})")
    return brain, found


def _whoever_is_meant(brains: Sequence[str], role: Role) -> str:
    """Return the one player whom a role without a name can be for."""
    if "human" in brains:
        return "human"
    everybody = set(brains)
    own = everybody - _FILLING or everybody
    if len(own) > 1:
        first = min(own)
        raise _bad(f"whose is it? Write BRAIN={role}, such as {first}={role} (players are {_players(brains)})")
    return own.pop()


def _check_numbers(wishes: Sequence[Wish], brains: Sequence[str], roles: Sequence[Role]) -> None:
    dealt, playing = Counter(roles), Counter(brains)
    for role, count in Counter(role for _, role in wishes).items():
        if count > dealt[role]:
            raise _bad(f"{role} is asked for {count} times, but this game has {dealt[role]}")
    for brain, count in Counter(brain for brain, _ in wishes).items():
        if count > playing[brain]:
            raise _bad(f"{brain} is to have {count} roles, but plays {playing[brain]} of the seats")


def _players(brains: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(brains))


def _bad(reason: str) -> click.BadParameter:
    return click.BadParameter(reason, param_hint=_HINT)

"""`seat_in_roles`: brains in the seats of the roles that they are to have.

Names and roles are drawn from the seed whoever plays, so a game with ``--role`` is dealt as it is without; only who
sits where differs. The record's opening says which brain has which seat, and is verified like any other.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

import click

from wolfbus.game.vocabulary import ROLES, SCRIPTS, Role

RoleRequest: TypeAlias = tuple[str, Role]
"""A brain, and the role that one of its seats is to have."""

_SHOWN: Final = 60


def seat_in_roles(brains: Sequence[str], roles: Sequence[Role], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the brain of every seat, in seating order, after each request for a role is granted.

    A brain that already has a seat of the role stays there; else it changes places with whoever sits there.

    Args:
        brains: the brain of every seat as players were given.
        roles: what the seats are dealt, in seating order.
        texts: values of ``--role``: ``ROLE`` or ``BRAIN=ROLE``, each for one seat.

    Raises:
        click.BadParameter: there is no such role or player, it is not clear who is meant, or there are fewer seats of
            that role or that player than are asked for.
    """
    requests = [_read_request(text, brains) for text in texts]
    _check_counts(requests, brains, roles)
    seats, settled, moving = list(brains), set[int](), list[RoleRequest]()
    for request in requests:
        seated = enumerate(zip(seats, roles, strict=True))
        granted = next((seat for seat, pair in seated if pair == request and seat not in settled), None)
        if granted is None:
            moving.append(request)
        else:
            settled.add(granted)
    for brain, role in moving:
        target = next(seat for seat, dealt in enumerate(roles) if dealt == role and seat not in settled)
        current = next(seat for seat, player in enumerate(seats) if player == brain and seat not in settled)
        seats[current], seats[target] = seats[target], seats[current]
        settled.add(target)
    return tuple(seats)


def _read_request(text: str, brains: Sequence[str]) -> RoleRequest:
    # a command may have an equals sign of its own
    brain, equals, word = map(str.strip, text.rpartition("="))
    role = next((role for role in ROLES if role.casefold() == word.casefold()), None)
    if role is None:
        close = difflib.get_close_matches(word.capitalize(), ROLES, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise _bad_role(f"{word!r:.{_SHOWN}} is no role; {hint}roles are {', '.join(ROLES)}")
    if not equals:
        return _only_candidate(brains, role), role
    if brain not in brains:
        close = difflib.get_close_matches(brain, brains, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise _bad_role(f"{brain!r:.{_SHOWN}} does not play{hint} (players are {_listed(brains)})")
    return brain, role


def _only_candidate(brains: Sequence[str], role: Role) -> str:
    """Return the only player whom a role without a name can be for."""
    if "human" in brains:
        return "human"
    everybody = set(brains)
    # scripts fill seats: among them, who asks for a role means any other
    candidates = everybody - SCRIPTS or everybody
    if len(candidates) > 1:
        first = min(candidates)
        raise _bad_role(f"whose is it? Write BRAIN={role}, such as {first}={role} (players are {_listed(brains)})")
    return candidates.pop()


def _check_counts(requests: Sequence[RoleRequest], brains: Sequence[str], roles: Sequence[Role]) -> None:
    dealt, playing = Counter(roles), Counter(brains)
    for role, count in Counter(role for _, role in requests).items():
        if count > dealt[role]:
            raise _bad_role(f"{role} is asked for {count} times, but this game has {dealt[role]}")
    for brain, count in Counter(brain for brain, _ in requests).items():
        if count > playing[brain]:
            raise _bad_role(f"{brain} is to have {count} roles, but plays {playing[brain]} of the seats")


def _listed(brains: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(brains))


def _bad_role(reason: str) -> click.BadParameter:
    return click.BadParameter(reason, param_hint="--role")

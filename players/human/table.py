"""The table as one seat sees it: who lives, who does not, what is known and suspected, and how everybody voted."""

from __future__ import annotations

from collections.abc import Iterator

from players.human.wording import who
from wolfbus.messages.base import SeatName
from wolfbus.printable import name_of
from wolfbus.view import SeatView

_GONE = {"night": "killed at night", "exile": "exiled"}


def table_in_words(view: SeatView) -> Iterator[str]:
    """Return the lines of the table, from nothing but the seat's view."""
    width = max((len(name_of(name)) for name in view.names), default=0)
    yield f"Round {view.round}, as {name_of(view.me)} ({view.role}) sees it"
    for name in view.names:
        how = _GONE[view.dead[name]] if name in view.dead else "alive"
        yield f"  {name_of(name):<{width}}  {how:<15}  {_known(view, name):<23}  {_suspected(view, name)}".rstrip()
    for round_, votes in view.tallies.items():
        cast = "; ".join(
            f"{who(view, voter)} → {who(view, target) if target is not None else 'nobody'}"
            for voter, target in votes.items()
        )
        yield f"  Votes of day {round_}: {cast}"
    for round_, name in view.protections:
        yield f"  You protected {'yourself' if name == view.me else name_of(name)} in night {round_}."
    for seat, proposal in view.proposals().items():
        yield f"  {who(view, seat)} proposed {name_of(proposal.target)} this night."


def _known(view: SeatView, name: SeatName) -> str:
    if name == view.me:
        return f"{view.role}, you"
    if name in view.partners:
        return "Werewolf, your partner"
    if name in view.inspections:
        return f"{view.inspections[name]}, inspected"
    return str(view.revealed.get(name, ""))


def _suspected(view: SeatView, name: SeatName) -> str:
    if name == view.me:
        return ""
    if not view.suspicion.judged(view.me, name):
        return "not judged yet"
    return f"suspicion {view.suspicion.of(view.me, name):.2f}"

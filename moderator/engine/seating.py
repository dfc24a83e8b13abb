"""Which agent plays which seat, and the event that opens a game with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moderator.rules.game import deal
from wolfbus import __version__
from wolfbus.files.printable import printable
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import shuffled
from wolfbus.game.vocabulary import Kind
from wolfbus.messages.events import Opened, Seat


@dataclass(frozen=True, slots=True)
class SeatPlayer:
    """Who plays one seat.

    Attributes:
        agent: the agent's name.
        brain: what answers, as it stands in the record.
        declines: kinds of request that are never put to it.
        in_house: whether the moderator's operator runs it, so that its brain gets a seed of its own.
        model: the language model that answers, by its own name; None for none.
    """

    agent: str
    brain: str
    declines: tuple[Kind, ...] = ()
    in_house: bool = True
    model: str | None = None

    def is_like(self, other: SeatPlayer) -> bool:
        """Return whether the two answer alike, as far as a record tells."""
        return (self.brain, set(self.declines), self.in_house) == (other.brain, set(other.declines), other.in_house)

    def description(self) -> str:
        """Return what answers, in words."""
        declines = f", declining {', '.join(sorted(set(self.declines)))}" if self.declines else ""
        return f"{printable(self.brain, 80)} ({'in house' if self.in_house else 'outside'}{declines})"


@dataclass(frozen=True, slots=True)
class Offer:
    """What an agent offers to take in the next game.

    Attributes:
        free: seats it can play beside those it plays now, >= 0.
        places: the only seats it takes, counted from 1; empty for any.
    """

    free: int
    places: tuple[int, ...] = ()


def opening(
    config: GameConfig, seed: str, players: Sequence[SeatPlayer], game: str, title: str | None = None
) -> Opened:
    """Return the opening event of a game, begun now.

    Args:
        config: its rules.
        seed: its seed.
        players: who plays each seat, in seating order; as many as there are seats.
        game: its id.
        title: what people call it.
    """
    seats = tuple(
        Seat(
            name=name,
            role=role,
            agent=player.agent,
            brain=player.brain,
            model=player.model,
            in_house=player.in_house,
            declines=player.declines,
        )
        for (name, role), player in zip(deal(config, seed), players, strict=True)
    )
    started = round(time.time(), 3)
    return Opened(game=game, version=__version__, title=title, started=started, seed=seed, config=config, seats=seats)


def seat_agents(seats: int, offers: Mapping[str, Offer], seed: str) -> tuple[str | None, ...]:
    """Return which agent plays each seat, in seating order; None where nobody is left to.

    Seats that were asked for go first. Who of the others sits where is drawn from the seed and their names, so that it
    does not depend on who came first.
    """
    return seat_brains(("",) * seats, offers, lambda _agent: "", seed)


def seat_brains(
    brains: Sequence[str], offers: Mapping[str, Offer], brain_of: Callable[[str], str], seed: str
) -> tuple[str | None, ...]:
    """Return which agent plays each seat, where the brain of every seat is given; None where nobody is left to.

    As in `seat_agents`, but of each brain by itself.

    Args:
        brains: what is to play each seat, in seating order.
        offers: what agents offer.
        brain_of: returns an agent's brain.
        seed: the game's.
    """
    assigned: dict[int, str] = {}
    for brain in dict.fromkeys(brains):
        places = [place for place, other in enumerate(brains, 1) if other == brain]
        assigned |= _fill(places, {agent: offer for agent, offer in offers.items() if brain_of(agent) == brain}, seed)
    return tuple(assigned.get(place) for place in range(1, len(brains) + 1))


def _fill(places: Sequence[int], offers: Mapping[str, Offer], seed: str) -> dict[int, str]:
    """Return who takes some of a game's seats: place to agent.

    Agents that ask for places are served by name. One that was served keeps a seat, but may be moved to another one it
    asked for where that lets a later one sit too.
    """
    assigned: dict[int, str] = {}
    requests = {agent: sorted({*offer.places} & {*places}) for agent, offer in offers.items() if offer.places}
    for agent in sorted(requests):
        for _ in range(min(offers[agent].free, len(requests[agent]))):
            if not _find_place(agent, requests, assigned, set()):
                break
    empty = [place for place in places if place not in assigned]
    slots = sorted(
        (agent, slot)
        for agent, offer in offers.items()
        if not offer.places
        for slot in range(min(offer.free, len(empty)))
    )
    drawn = shuffled(seed, "agents", slots)
    assigned.update(zip(empty, (agent for agent, _ in drawn), strict=False))
    return assigned


def _find_place(agent: str, requests: Mapping[str, list[int]], assigned: dict[int, str], tried: set[int]) -> bool:
    """Give `agent` one more of its places, moving others along if need be; False if there is no way."""
    for place in requests[agent]:
        if place in tried or assigned.get(place) == agent:
            continue
        tried.add(place)
        holder = assigned.get(place)
        if holder is None or _find_place(holder, requests, assigned, tried):
            assigned[place] = agent
            return True
    return False

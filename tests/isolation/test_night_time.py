"""How long a night takes tells a seat nothing of who still plays a part in it."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence

import pytest

from moderator.engine.reexecution import recover
from tests.isolation.clock import Played, Takes, nights, play
from tests.isolation.outside import NAMES, Plan, Roles
from tests.isolation.test_metadata import opening
from wolfbus.bus import Entry
from wolfbus.game.config import GameConfig
from wolfbus.messages.codec import unpack
from wolfbus.messages.requests import Ask
from wolfbus.record.line import parse_flat

GAMES = 40
SHORT = GameConfig(debate_turns=1, max_rounds=3, vote_reasons=False)
WATCHING = "game-Hugo"
ROLES: Roles = (
    "Werewolf", "Werewolf", "Seer", "Doctor", "Villager", "Villager", "Villager", "Villager",
)  # fmt: skip
DEALT = SHORT.model_copy(update={"names": NAMES, "roles": dict(zip(NAMES, ROLES, strict=True))})


def night_2(exiled: str, takes: Takes, seed: str = "", **plan: Sequence[str]) -> Played:
    """Play a game in which Esther dies in night 1, and somebody is exiled on day 1."""
    planned = Plan(exiles=(exiled,), **{"victims": ("Esther", "Felix"), **plan})
    drawn = hashlib.sha256(f"{seed}{exiled}".encode()).hexdigest()
    return play(opening("game", ROLES, drawn, DEALT, planned), planned, takes)


def varied(game: int) -> Takes:
    """Agents of which some are quicker than others, and none always equally quick."""
    strangers = random.Random(game)
    usual = {name: strangers.gauss(math.log(4), 0.5) for name in NAMES}

    def takes(seat: str, ask: Ask) -> float:
        return math.exp(random.Random(f"{game}{ask.id}").gauss(usual[seat], 0.4))

    return takes


def auc(more: Sequence[float], less: Sequence[float]) -> float:
    """Return how often one of `more` is above one of `less`."""
    pairs = [(one > other) + 0.5 * (one == other) for one in more for other in less]
    return sum(pairs) / len(pairs)


def test_a_villager_cannot_tell_from_a_nights_length_whether_two_werewolves_live_or_one() -> None:
    seen = {
        exiled: [nights(night_2(exiled, varied(game), str(game)), WATCHING)[:2] for game in games]
        for exiled, games in (("Greta", range(GAMES)), ("Ada", range(GAMES, 2 * GAMES)))
    }
    two, one = seen["Greta"], seen["Ada"]
    lengths = auc([second for _, second in two], [second for _, second in one])
    assert lengths == pytest.approx(0.5, abs=0.1)
    # nor by comparing it with the night before, in which all played their part
    changes = auc([second / first for first, second in two], [second / first for first, second in one])
    assert changes == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("slow", ["Chloe", "Dario"], ids=["the Seer", "the Doctor"])
def test_the_dead_are_waited_for_as_long_as_they_took_when_they_lived(slow: str) -> None:
    def takes(seat: str, ask: Ask) -> float:
        return 30.0 if seat == slow and ask.phase == "night" else 1.0

    alive = night_2("Greta", takes)
    dead = night_2("Greta", takes, victims=(slow, "Felix"))
    assert nights(alive, WATCHING)[1] == nights(dead, WATCHING)[1] == 30.0


def test_a_lone_werewolf_and_its_dead_partner_take_two_turns() -> None:
    def takes(seat: str, ask: Ask) -> float:
        return {"Ada": 20.0, "Bruno": 5.0}.get(seat, 1.0) if ask.phase == "night" else 1.0

    assert nights(night_2("Greta", takes), WATCHING)[1] == 40.0
    assert nights(night_2("Ada", takes), WATCHING)[1] == pytest.approx(40.0)
    # of the dead nobody is asked: it is only dawn that waits
    entries = [entry for *_, entry in night_2("Ada", takes).posts if b"/2/night/" in entry.body]
    assert all(b"/2/night/2/" not in entry.body for entry in entries)
    assert entries


def test_nights_that_nobody_can_measure_end_with_the_last_answer() -> None:
    plan = Plan(victims=("Esther", "Felix"), exiles=("Ada",))
    opened = opening("game", ROLES, "7", DEALT, plan, in_house=NAMES)
    for brain, length in (("scripted", 2.0), ("llm:mini", 2.0), ("human", 4.0), ("exec:x", 4.0)):
        # the last seat's player differs; the others are brains of our own
        seats = [seat.model_copy(update={"brain": "scripted"}) for seat in opened.seats]
        seats[-1] = seats[-1].model_copy(update={"brain": brain})
        mixed = opened.model_copy(update={"seats": tuple(seats)})
        played = play(mixed, plan, lambda _seat, _ask: 2.0)
        assert nights(played, WATCHING)[1] == pytest.approx(length), brain


def test_who_takes_a_game_up_at_night_holds_its_dawn_as_well() -> None:
    def takes(_seat: str, ask: Ask) -> float:
        return 10.0 if ask.phase == "night" else 1.0

    steps = night_2("Ada", takes).steps
    end = next(n for n, step in enumerate(steps, 1) if any(map(is_night_2, step)))
    record = [parse_flat(unpack(entry.body), entry.number) for step in steps[:end] for entry in step]
    recovered = recover(record)
    left_s = recovered.night.left_s(recovered.waits_for, set(), recovered.seconds)
    assert left_s == pytest.approx(20.0)


def is_night_2(entry: Entry) -> bool:
    """Tell whether this is the question of the second night."""
    value = unpack(entry.body)
    return (value.get("phase"), value.get("round")) == ("night", 2)

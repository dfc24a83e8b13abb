"""How long the exact posterior over all deals of the roles takes for whole games.

    python benchmarks/posterior.py             games of 8 and of 16 seats, every rung

Games are made up, alike for everybody: a night's victim, claims, an exile, until one side would win. At every vote each
living player who has to find out is told how likely everybody is a Werewolf. The first game of a size also makes the
deals. Both times are told, of the clock and of this process alone: other work on the machine slows down the first.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import chain
from typing import Final, get_args

from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import ROLES, Role
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, RoleClaim
from wolfbus.messages.events import Dawn, Departing, Exile
from wolfbus.posterior import ClaimRates, Knowledge, Posterior, Rung, count_deals

GAMES: Final = 5
CLAIMS: Final = 10
"""Claims a day."""
SIZES: Final = {8: GameConfig(), 16: GameConfig(villagers=10, werewolves=4)}


def course(
    config: GameConfig, roles: dict[str, Role], seed: int
) -> Iterator[Departing | tuple[str, Claim] | list[str]]:
    """Yield what happens in a made-up game: who leaves, who claims what, and the living at every vote."""
    dice, living = random.Random(seed), list(roles)
    for round_ in range(1, config.max_rounds + 1):
        for event in (Dawn, Exile):
            others = [name for name in living if roles[name] != "Werewolf"]
            if len(others) - 1 <= config.werewolves:
                return
            left = dice.choice(others)
            living.remove(left)
            if event is Dawn:
                yield Dawn(round=round_, died=left)
                for _ in range(CLAIMS):
                    speaker, target = dice.sample(living, 2)
                    role = dice.choice(ROLES)
                    yield speaker, RoleClaim(target=speaker, role=role)
                    claim = dice.choice((AccusationClaim(target=target), InspectionClaim(target=target, role=role)))
                    yield speaker, claim
                yield [*living]
            else:
                yield Exile(round=round_, seat=left)


def play(config: GameConfig, seed: int, rung: Rung) -> None:
    """Compute the posterior at every vote of one game."""
    names = [f"P{number}" for number in range(config.seats)]
    dealt = list(chain.from_iterable([role] * config.count(role) for role in ROLES))
    random.Random(seed).shuffle(dealt)
    roles = dict(zip(names, dealt, strict=True))
    posterior = Posterior(config, names, ClaimRates.fit([]))
    for step in course(config, roles, seed):
        if isinstance(step, Departing):
            posterior.hear(step)
        elif isinstance(step, list):
            observers = [Knowledge(name, {name: roles[name]}) for name in step if roles[name] != "Werewolf"]
            posterior.probabilities(observers, rung)
        else:
            posterior.claim(step[0], [step[1]])


def main() -> None:
    """Print a line for every size and rung."""
    for seats, config in SIZES.items():
        deals = count_deals([config.count(role) for role in ROLES])
        for rung in get_args(Rung):
            times = []
            for seed in range(GAMES):
                clock, own = time.perf_counter(), time.process_time()
                play(config, seed, rung)
                times.append((time.process_time() - own, time.perf_counter() - clock))
            (first, _), (own, clock) = times[0], sorted(times[1:])[len(times[1:]) // 2]
            words = (f"{spent * 1000:8.1f} ms {name}" for spent, name in ((own, "a game"), (clock, "by the clock")))
            print(f"{seats:3} seats, {deals:7,} deals, {rung:6}: {', '.join(words)}, the first {first * 1000:8.1f} ms")


if __name__ == "__main__":
    main()

"""The durable cursor of an out stream: as far as it can go, never past what is in no record, never back."""

from __future__ import annotations

import random

from moderator.engine.context import Cursors
from wolfbus.bus.protocol import Commit

COMMIT = Commit("h", "", 1, "", "")


def carried(cursors: Cursors, game: str, heard: dict[str, int], *, over: bool = False) -> dict[str, str]:
    """The cursors that a game's commit carries; it has not landed yet."""
    sent: list[Commit] = []
    cursors.send(game, {stream: (1, n) for stream, n in heard.items()}, COMMIT, sent.append, over=over)
    return dict(sent[0].cursors or {})


def land(cursors: Cursors, game: str, heard: dict[str, int]) -> None:
    cursors.landed(game, {stream: (1, n) for stream, n in heard.items()})


def test_any_interleaving_of_games_keeps_the_cursor_behind_the_oldest_message_in_no_record():
    for seed in range(40):
        dice = random.Random(seed)
        cursors = Cursors(every_s=0.0)
        games = ("a", "b", "c")
        cursors.follow("s", (1, 0))
        for game in games:
            cursors.enter(game)
        sent: list[str] = []
        heard = dict.fromkeys(games, 0)
        recorded = dict.fromkeys(games, 0)
        flying: dict[str, tuple[int, dict[str, str]]] = {}
        last = 0
        for _ in range(120):
            game = dice.choice(games)
            if dice.random() < 0.4:
                new = dice.choices(games, k=dice.randint(1, 3))
                sent += new
                cursors.hand("s", dict.fromkeys(new), (1, len(sent)))
            elif game in flying:
                upto, taken = flying.pop(game)
                recorded[game] = upto
                land(cursors, game, {"s": upto})
                for cursor in taken.values():
                    assert int(cursor[2:]) > last
                    last = int(cursor[2:])
                    assert all(n <= recorded[name] for n, name in enumerate(sent[:last], 1))
            elif not flying:
                heard[game] = max(heard[game], dice.randint(heard[game], len(sent)))
                flying[game] = heard[game], carried(cursors, game, {"s": heard[game]})
        assert last > 0

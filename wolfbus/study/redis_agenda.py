"""`RedisAgenda`: the games of a study that processes on many machines share on a Redis; each is played once.

Whoever runs the study puts numbers of games on a stream; workers take them through one consumer group, and renew the
lease of what they took. What a dead worker held is taken by another. Where two have played a game after all, because
one was only slow, the first to finish it counts, and the other is told so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from wolfbus import __version__
from wolfbus.bus.redis.connection import Script
from wolfbus.bus.redis.pool import Links
from wolfbus.bus.streams import house_key
from wolfbus.bus.url import read_address
from wolfbus.errors import ConfigError
from wolfbus.study.agenda import ClaimedGame, FinishedGame
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame

LEASE_S: Final = 15.0
"""Seconds after which another worker may take what a silent one holds, unless the first worker says otherwise."""

_POSTED_AT_ONCE: Final = 1000


class RedisAgenda:
    """A `wolfbus.study.agenda.StudyAgenda` on a Redis. Every method may raise BusError; all are safe to repeat.

    Args:
        url: the bus's address.
        name: the agenda's name.
        lease_s: seconds after which what a silent worker holds is taken by another, > 0; None for `LEASE_S`. What the
            first worker says holds for all: were they unlike, one would take games from another that lives.

    Attributes:
        planned: returns a game of the study by its number; to be set before `take`.

    Raises:
        ConfigError: the address cannot be understood.
    """

    planned: Callable[[int], PlannedGame]

    def __init__(self, url: str, name: str, lease_s: float | None = None) -> None:
        self._links = Links(read_address(url))
        self._lease_ms = max(int((LEASE_S if lease_s is None else lease_s) * 1000), 1)
        self._doing = f"agenda {name}"
        self._agenda = house_key(name, "agenda")
        self._study = house_key(name, "agenda:study")
        self._results = house_key(name, "agenda:results")
        parts = ("known", "done", "results", "lease", "houses")
        self._keys = (self._agenda, *(house_key(name, f"agenda:{part}") for part in parts))
        self._script = Script("agenda")

    # -- who runs the study

    def open(self, study: str, text: str, *, budget: bool = False) -> None:
        """Set what workers play, or go on with an agenda of the same study.

        Args:
            study: the study's id.
            text: the study as TOML.
            budget: whether workers have to keep a budget.

        Raises:
            ConfigError: another study is on this agenda, or its workers keep no budget, and should.
        """
        header = json.dumps({"study": study, "wolfbus": __version__, "text": text, "budget": budget})
        # before a worker can see the study, which then agrees on the lease at once
        self._run("post")
        self._ask("SET", self._study, header, "NX")
        stored = self._header()
        if stored["study"] != study:
            raise ConfigError(f"{self._doing} has the games of another study; take another name")
        if stored["budget"] != budget:
            had = "a budget" if stored["budget"] else "no budget"
            raise ConfigError(f"{self._doing} was begun with {had}, and its workers keep to that")
        self._ask("SET", self._study, header)

    def post(self, numbers: Iterable[int]) -> None:
        """Put games on the agenda that are not on it yet."""
        games = list(map(str, numbers))
        for first in range(0, len(games), _POSTED_AT_ONCE):
            self._run("post", *games[first : first + _POSTED_AT_ONCE])

    def results(self, after: str) -> Iterator[tuple[str, FinishedGame]]:
        """Yield the games that are finished, each with its id, behind an id; "0-0" for all."""
        for entry, pairs in self._ask("XRANGE", self._results, f"({after}", "+", "COUNT", "1000"):
            fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
            result = json.loads(fields[b"result"])
            number, house = int(fields[b"game"]), fields[b"who"].decode()
            yield entry.decode(), FinishedGame(number, house, result["error"], result["seconds"])

    def remove(self) -> None:
        """Remove the agenda, so that its workers end."""
        self._ask("DEL", self._study, *self._keys)

    # -- who plays

    def study(self) -> str | None:
        """Return the study as TOML; None if there is no agenda, or no more.

        Raises:
            ConfigError: another version of wolfbus has opened it, which may play otherwise.
        """
        header = self._header()
        if header and header["wolfbus"] != __version__:
            raise ConfigError(f"{self._doing} is of wolfbus {header['wolfbus']}, and this is wolfbus {__version__}")
        return str(header["text"]) if header else None

    def agree_lease(self) -> bool:
        """Set how long the lease is, or take over what another worker has set; call it before `take`.

        Returns:
            Whether it is as long as this worker said.
        """
        lease_ms = self._lease_ms
        self._lease_ms = int(self._run("lease", str(lease_ms)) or lease_ms)
        return self._lease_ms == lease_ms

    @property
    def lease_s(self) -> float:
        """Seconds after which what a silent worker holds is taken by another."""
        return self._lease_ms / 1000

    @property
    def is_open(self) -> bool:
        """Whether there is such an agenda still."""
        return bool(self._ask("EXISTS", self._study))

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:
        """Take games to play: first what dead workers held, then what nobody has taken.

        Args:
            house: the worker, by the house in which it plays; no other process uses that name.
            at_most: how many, > 0.
        """
        entries = self._run("take", house, str(at_most), str(self._lease_ms))
        return [
            ClaimedGame(entry.decode(), self.planned(int(number)), times, before.decode())
            for entry, number, times, before in entries
        ]

    def renew(self, house: str, entries: Sequence[str]) -> list[str]:
        """Renew the lease of what a worker took; returns what of it is no longer its own."""
        still_held = {entry.decode() for entry in self._run("renew", house, *entries)} if entries else set()
        return [entry for entry in entries if entry not in still_held]

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""
        self._run("give_back", house, entry)

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:
        """Report the result of a game; returns whether this counts, and not what another reported before."""
        text = json.dumps({"error": result.error, "seconds": result.seconds})
        first = self._run("finish", claimed.entry, str(claimed.game.number), house, text)
        return bool(first.decode() == house)

    def close(self) -> None:
        """Close the connections."""
        self._links.close()

    # -- the server

    def _header(self) -> dict[str, Any]:
        header = self._ask("GET", self._study)
        return dict(json.loads(header)) if header is not None else {}

    def _ask(self, *words: str) -> Any:
        return self._links.run(self._agenda, lambda link: link.ask(*words, doing=self._doing))

    def _run(self, *words: str) -> Any:
        return self._links.call(self._script, self._keys, words, self._doing)

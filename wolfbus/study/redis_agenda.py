"""`RedisAgenda`: the games of a study that processes on many machines share on a Redis; each is played once.

Whoever runs the study puts numbers of games on a stream; workers take them through one consumer group, and renew the
lease of what they took. What a dead worker held is taken by another. Where two have played a game after all, because
one was only slow, the first to finish it counts, and the other is told so.

Whoever can write to that Redis can write anything there. What stands on the agenda is read as a stranger's: what is
none of our messages is taken off it, and named.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wolfbus import __version__
from wolfbus.bus.redis.connection import Script
from wolfbus.bus.redis.pool import Links
from wolfbus.bus.streams import house_key
from wolfbus.bus.url import read_address
from wolfbus.errors import ConfigError, MessageError, first_fault
from wolfbus.files.printable import NOTE_SHOWN, printable
from wolfbus.messages.base import ID_PATTERN
from wolfbus.study.agenda import HOUSE_KEPT_S, ClaimedGame, FinishedGame
from wolfbus.study.journal import GameResult, Sum
from wolfbus.study.plan import PlannedGame
from wolfbus.study.settings import MOST_GAMES

LEASE_S: Final = 15.0
"""Seconds after which another worker may take what a silent one holds, unless the first worker says otherwise."""

_POSTED_AT_ONCE: Final = 1000
_READ_AT_ONCE: Final = 50

_LONGEST: Final = 1 << 16
"""Bytes of what comes from a worker."""
_LONGEST_STUDY: Final = 1 << 22
"""Bytes of a study as it stands on an agenda."""
_SAID: Final = 500
"""Characters of a worker's words that are shown."""
_ASIDE_S: Final = 86_400
"""Seconds for which a key is kept that holds something else than it should."""
_TYPES: Final = ("stream", "set", "hash", "stream", "string", "hash", "zset", "string", "string")
"""What the keys of an agenda hold, the study's last."""
_OVER: Final = "over"
"""Stands in the place of the study once everything is played and fetched."""
_OVER_S: Final = 86_400
"""Seconds for which it does, for workers that look later."""
_PATIENCE_S: Final = 3.0
"""Longest time for which one question is tried again: whoever asks waits, says so, and asks anew."""


class _Header(BaseModel):
    """What workers play, as it stands on the agenda."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    study: Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]
    wolfbus: Annotated[str, Field(max_length=64)]
    text: str
    budget: bool


class _Said(BaseModel):
    """What a worker says of a game that it has played."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    error: str | None
    seconds: Sum
    result: GameResult | None = None


def _number(raw: bytes | None) -> int:
    """Return the number of a game; raises MessageError."""
    if raw is None or re.fullmatch(rb"[1-9][0-9]{0,4}", raw) is None or int(raw) > MOST_GAMES:
        raise MessageError(f"game {_excerpt(raw)} is no number of a game")
    return int(raw)


def _excerpt(raw: bytes | None) -> str:
    return "(none)" if raw is None else repr(printable(raw[:_SAID].decode(errors="replace"), NOTE_SHOWN))


class RedisAgenda:
    """A `wolfbus.study.agenda.StudyAgenda` on a Redis. Every method may raise BusError; all are safe to repeat.

    A server that is away is asked for some seconds only: how long to wait for it is for those who ask to say.

    Args:
        url: the bus's address.
        name: the agenda's name.
        lease_s: seconds after which what a silent worker holds is taken by another, > 0; None for `LEASE_S`. What the
            first worker says holds for all: were they unlike, one would take games from another that lives.

    Attributes:
        planned: returns a game of the study by its number, None where it has none; to be set before `take`.

    Raises:
        ConfigError: the address cannot be understood.
    """

    planned: Callable[[int], PlannedGame | None]

    def __init__(self, url: str, name: str, lease_s: float | None = None) -> None:
        address = read_address(url)
        self._links = Links(replace(address, patience_s=min(address.patience_s, _PATIENCE_S)))
        self._lease_ms = max(int((LEASE_S if lease_s is None else lease_s) * 1000), 1)
        self._study_id = ""
        self._name = name
        self._doing = f"agenda {name}"
        self._agenda = house_key(name, "agenda")
        self._study = house_key(name, "agenda:study")
        parts = ("known", "done", "results", "lease", "houses", "workers", "waiting")
        keys = {part: house_key(name, f"agenda:{part}") for part in parts}
        self._keys = (self._agenda, *keys.values())
        self._done = keys["done"]
        self._results = keys["results"]
        self._houses = keys["houses"]
        self._workers = keys["workers"]
        self._script = Script("agenda")

    # -- who runs the study

    def open(self, study: str, text: str, *, budget: bool = False) -> list[str]:
        """Set what workers play, or go on with an agenda of the same study.

        Args:
            study: the study's id.
            text: the study as TOML.
            budget: whether workers have to keep a budget.

        Returns:
            What stood there that is none of an agenda's, a line each; it is set aside.

        Raises:
            ConfigError: another study is on this agenda, or its workers keep no budget, and should.
        """
        header = json.dumps({"study": study, "wolfbus": __version__, "text": text, "budget": budget})
        notes = list(self._set_wrong_types_aside())
        # before a worker can see the study, which then agrees on the lease at once
        self._run("post")
        self._ask("SET", self._study, header, "NX")
        try:
            stored = self._header()
        except ConfigError as error:
            notes.append(str(error))
        else:
            if stored is not None and stored.study != study:
                raise ConfigError(f"{self._doing} has the games of another study; take another name")
            if stored is not None and stored.budget != budget:
                had = "a budget" if stored.budget else "no budget"
                raise ConfigError(f"{self._doing} was begun with {had}, and its workers keep to that")
        self._ask("SET", self._study, header)
        return notes

    def post(self, numbers: Iterable[int]) -> None:
        """Put games on the agenda that never were on it."""
        self._post("post", numbers)

    def post_lost(self, numbers: Iterable[int]) -> list[int]:
        """Put games on the agenda again that should be on it, or finished, and are neither; returns which.

        Its Redis may have lost them, or somebody has written that they are finished.
        """
        standing = self._standing()
        # in this order: what is finished meanwhile was standing when that was read
        finished = {result.number for _, result in self.results("0-0") if isinstance(result, FinishedGame)}
        lost = [number for number in numbers if number not in standing and number not in finished]
        self._post("again", lost)
        return lost

    def _post(self, act: str, numbers: Iterable[int]) -> None:
        games = [str(number) for number in numbers]
        for first in range(0, len(games), _POSTED_AT_ONCE):
            self._run(act, *games[first : first + _POSTED_AT_ONCE])

    def put_back(self, number: int) -> None:
        """Have a game played again, from its beginning, whose result does not hold."""
        self._ask("HDEL", self._houses, str(number), f"{number}:progress", f"{number}:begun", f"{number}:passed")
        if number in self._standing():
            # somebody wrote that it is finished while another plays it
            self._ask("HDEL", self._done, str(number))
        else:
            self._run("again", str(number))

    def results(self, after: str) -> Iterator[tuple[str, FinishedGame | str]]:
        """Yield the games that are finished, and in a line fit to print what else came, such as words of a worker; each
        with its id, behind an id, "0-0" for all.
        """
        while entries := self._ask("XRANGE", self._results, f"({after}", "+", "COUNT", str(_READ_AT_ONCE)):
            for entry, pairs in entries:
                after = entry.decode()
                try:
                    yield after, self._result(dict(zip(pairs[::2], pairs[1::2], strict=False)))
                except MessageError as error:
                    yield after, f"{self._doing}: result {after}: {error}"

    def discard(self, entry: str) -> None:
        """Take off what `results` has yielded, once it is dealt with."""
        self._ask("XDEL", self._results, entry)

    def _result(self, fields: dict[bytes, bytes]) -> FinishedGame | str:
        """Read what a worker has put there; raises MessageError for what is none of our messages."""
        if (longest := max(map(len, fields.values()))) > _LONGEST:
            raise MessageError(f"{longest:,} bytes, more than any worker sends")
        if b"said" in fields:
            return f"a worker says: {printable(fields[b'said'].decode(errors='replace'), _SAID)}"
        number, house = _number(fields.get(b"game")), self._house(fields.get(b"who", b""))
        if not house:
            raise MessageError(f"{_excerpt(fields.get(b'who'))} is no worker of this agenda")
        try:
            result = _Said.model_validate_json(fields.get(b"result", b""))
        except ValidationError as error:
            raise MessageError(first_fault(error)) from None
        why = None if result.error is None else printable(result.error, _SAID)
        return FinishedGame(number, house, why, result.seconds, result.result)

    def _standing(self) -> set[int]:
        """Return the games that are on the agenda, taken or not."""
        standing, after = set[int](), "0-0"
        while entries := self._ask("XRANGE", self._agenda, f"({after}", "+", "COUNT", str(_POSTED_AT_ONCE)):
            standing |= {int(pairs[1]) for _, pairs in entries if re.fullmatch(rb"[1-9][0-9]{0,4}", pairs[1])}
            after = entries[-1][0].decode()
        return standing

    def _set_wrong_types_aside(self) -> Iterator[str]:
        for key, kind in zip((*self._keys, self._study), _TYPES, strict=True):
            stored = self._ask("TYPE", key)
            if stored not in {b"none", kind.encode()}:
                self._ask("RENAME", key, f"{key}:aside")
                self._ask("EXPIRE", f"{key}:aside", str(_ASIDE_S))
                yield f"{self._doing}: {key} was a {stored.decode()}; it is now {key}:aside, for a day"

    def withdraw(self) -> None:
        """Take back what nobody has begun."""
        self._ask("XGROUP", "SETID", self._agenda, "workers", "$")

    @property
    def under_way(self) -> int:
        """How many games are held by workers."""
        return int(self._ask("XPENDING", self._agenda, "workers")[0])

    @property
    def games(self) -> int:
        """How many games are on the agenda, taken or not."""
        return int(self._ask("XLEN", self._agenda))

    @property
    def workers(self) -> int:
        """How many workers have asked for games, or held some, within the last two leases."""
        seconds, microseconds = self._ask("TIME")
        since = int(seconds) * 1000 + int(microseconds) // 1000 - 2 * self._lease_ms
        return int(self._ask("ZCOUNT", self._workers, str(since), "+inf"))

    def remove(self, *, goes_on: bool = False) -> None:
        """Remove the agenda, and leave a mark by which its workers see that all is played; if it goes on, also where
        each game was begun last.
        """
        self._ask("SET", self._study, _OVER, "EX", str(_OVER_S))
        self._ask("DEL", *(key for key in self._keys if key != self._houses))
        if goes_on:
            self._ask("EXPIRE", self._houses, str(int(HOUSE_KEPT_S)))
        else:
            self._ask("DEL", self._houses)

    # -- who plays

    def study(self) -> str | None:
        """Return the study as TOML; None if there is no agenda, or no more.

        Raises:
            ConfigError: what stands there is no study, or another version of wolfbus has opened it, which may play
                otherwise.
        """
        header = self._header()
        self._study_id = header.study if header is not None else ""
        if header is not None and header.wolfbus != __version__:
            version = printable(header.wolfbus, NOTE_SHOWN)
            raise ConfigError(f"{self._doing} is of wolfbus {version}, and this is wolfbus {__version__}")
        return header.text if header is not None else None

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
        return self._beginning() not in {b"", _OVER.encode()}

    @property
    def is_over(self) -> bool:
        """Whether there is none because everything is played."""
        return self._beginning() == _OVER.encode()

    def _beginning(self) -> bytes:
        return bytes(self._ask("GETRANGE", self._study, "0", str(len(_OVER) - 1)))

    def is_back(self) -> bool:
        """Return whether a worker can go on after the server was away, or has lost what it had: it takes writes again,
        and the study is there. Its lease is agreed anew.

        Raises:
            ConfigError: another study is there now.
        """
        self.agree_lease()
        header = self._header()
        if header is not None and header.study != self._study_id:
            raise ConfigError(f"{self._doing} has the games of another study now")
        return header is not None

    def new_house(self) -> str:
        """Return a name for a house of a worker, which no other house has; see `wolfbus.tickets.holders`."""
        return f"{self._name}~{secrets.token_hex(4)}"

    def say(self, text: str) -> None:
        """Tell whoever runs the study something, such as why this worker does not play it."""
        self._run("say", text)

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:
        """Take games to play: first what dead workers held, then what nobody has taken.

        Args:
            house: the worker, by the house in which it plays; no other process uses that name.
            at_most: how many, > 0.
        """
        claimed = []
        for entry, raw, times, before, progress in self._run("take", house, str(at_most), str(self._lease_ms)) or ():
            try:
                game = self._game(raw)
            except MessageError as error:
                self._run("drop", entry, f"{self._doing}: entry {entry.decode()}: {error}")
            else:
                claimed.append(ClaimedGame(entry.decode(), game, times, self._house(before), progress))
        return claimed

    def _game(self, raw: bytes) -> PlannedGame:
        """Return the game that an entry of the agenda names; raises MessageError if it is none of the study's."""
        game = self.planned(_number(raw))
        if game is None:
            raise MessageError(f"game {_excerpt(raw)} is none of the study's")
        return game

    def begin(self, claimed: ClaimedGame, house: str, progress: int) -> None:
        """Note that a game is played in a house now, which has all that was played of it before; see `StudyAgenda`."""
        self._run("begin", house, claimed.entry, str(claimed.game.number), str(progress))

    def renew(self, house: str, entries: Sequence[str]) -> dict[str, str]:
        """Renew the lease of what a worker took; returns what of it is no longer its own, and whose it is."""
        lost = self._run("renew", house, *entries) if entries else ()
        if lost == b"":
            return dict.fromkeys(entries, "")
        return {entry.decode(): holder.decode() for entry, holder in lost}

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""
        self._run("give_back", house, entry)

    def pass_on(self, house: str, claimed: ClaimedGame) -> bool:
        """Leave a game to workers that have not passed it on themselves; returns whether one has it, or may."""
        return bool(self._run("pass_on", house, claimed.entry, str(claimed.game.number)))

    def leave(self, house: str) -> None:
        """Have a worker no more counted among those who play."""
        self._run("leave", house)

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:
        """Report the result of a game; returns whether this counts, and not what another reported before."""
        text = json.dumps({"error": result.error, "seconds": result.seconds, "result": result.model_dump(mode="json")})
        first = self._run("finish", claimed.entry, str(claimed.game.number), house, text)
        return bool(first == house.encode())

    def close(self) -> None:
        """Close the connections."""
        self._links.close()

    # -- the server

    def _header(self) -> _Header | None:
        """Return what stands there as the study; raises ConfigError if that is none."""
        header = self._ask("GETRANGE", self._study, "0", str(_LONGEST_STUDY))
        if header in {b"", _OVER.encode()}:
            return None
        fault = f"more than {_LONGEST_STUDY:,} bytes"
        if len(header) <= _LONGEST_STUDY:
            try:
                return _Header.model_validate_json(header)
            except ValidationError as error:
                fault = first_fault(error)
        raise ConfigError(f"{self._doing}: what stands there is no study: {fault}")

    def _house(self, raw: bytes) -> str:
        """Return the house of a worker of this agenda by its name; "" for any other word."""
        match = re.fullmatch(rf"{re.escape(self._name)}~[0-9a-f]{{8}}", raw[:_SAID].decode(errors="replace"))
        return match.group() if match is not None else ""

    def _ask(self, *words: str) -> Any:
        return self._links.run(self._agenda, lambda link: link.ask(*words, doing=self._doing))

    def _run(self, *words: str | bytes) -> Any:
        return self._links.call(self._script, self._keys, words, self._doing)

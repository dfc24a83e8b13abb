"""Logs of the AIWolf servers for natural language: a line of comma-separated values an event, days from 0.

``0,status,1,SEER,ALIVE,kanolab1,Minato`` seats a player: number, role, state, agent, and in newer logs a name;
``1,talk,3,0,2,Hello`` is a statement of player 2; ``vote``, ``execute``, ``divine``, ``guard``, ``attack`` and
``result`` follow. The night after a day bears that day's number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from wolfbus.foreign.building import ForeignLogBuilder
from wolfbus.foreign.kinds import ImportSource
from wolfbus.game.vocabulary import Winner

TITLE: Final = "a log of an AIWolf server"

_LINE: Final = re.compile(r"(\d+),([A-Za-z]+),(.*)")
_FIRST: Final = re.compile(rb"(?:\xef\xbb\xbf)?\d+,(?:status|talk|whisper),\d+,")
_STAMP: Final = re.compile(r",\d{10,13}$")
"""When a statement was made, which some servers write behind it."""
_GAME_NAME: Final = re.compile(r"Agent\[\d+\]")
_PASSES: Final = frozenset({"Over", "Skip", "ForceSkip"})
"""What stands where a player says nothing."""
_WINNERS: Final[dict[str, Winner]] = {"VILLAGER": "villagers", "WEREWOLF": "werewolves", "NONE": None}
_NOT_BROUGHT: Final = {"whisper": "whispers among Werewolves", "attackVote": "votes of Werewolves on whom to attack"}


def looks_like(start: bytes) -> bool:
    """Return whether a file with these first bytes is one of this kind."""
    return _FIRST.match(start) is not None


def games(source: ImportSource) -> Iterator[ForeignLogBuilder]:
    """Yield the one game of a log."""
    reader = _AiwolfReader()
    for number, fields in _events(source.lines()):
        reader.game.at(number)
        reader.feed(*fields)
    yield reader.game


def _events(lines: list[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield line, event and values; a statement of several lines goes on where none of a line's form begins."""
    pending: tuple[int, str, str] | None = None
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None and pending is not None:
            pending = pending[0], pending[1], f"{pending[2]}\n{line}"
            continue
        if pending is not None:
            yield pending[0], pending[1:]
        pending = (number, match[2], match[3]) if match is not None else (number, "", line)
    if pending is not None:
        yield pending[0], pending[1:]


class _AiwolfReader:
    """Tells a builder the events of a log, by players' numbers."""

    def __init__(self) -> None:
        self.game = ForeignLogBuilder()
        self._names: dict[str, str] = {}

    def feed(self, event: str, values: str) -> None:
        """Take in an event."""
        handlers: dict[str, Callable[[list[str]], None]] = {
            "status": self._seat,
            "talk": self._talk,
            "vote": lambda fields: self.game.ballot(self._name(fields[0]), self._name(fields[1])),
            "execute": lambda fields: self.game.leave(self._name(fields[0]), exiled=True),
            "divine": lambda fields: self.game.inspect(self._name(fields[0]), self._name(fields[1]), fields[2]),
            "guard": lambda fields: self.game.protect(self._name(fields[0]), self._name(fields[1])),
            "attack": self._attack,
            "result": self._end,
        }
        handler = handlers.get(event)
        if handler is None:
            self.game.left_out[_NOT_BROUGHT.get(event, "lines that are no event of such a log")] += 1
            return
        try:
            handler(values.split(","))
        except IndexError:
            raise self.game.error(f"{event}: values are missing") from None

    def _seat(self, fields: list[str]) -> None:
        number, role, agent = fields[0], fields[1], fields[3]
        if number in self._names:
            # the state of each day, which follows from what happens
            return
        name = fields[4] if len(fields) > 4 else f"Agent[{int(number):02d}]" if number.isdecimal() else number
        if _GAME_NAME.fullmatch(agent):
            name, agent = agent, fields[4] if len(fields) > 4 else "unknown"
        name = f"{name} {number}" if name in self.game.seats else name
        self._names[number] = name
        self.game.seat(name, role.capitalize(), agent)

    def _talk(self, fields: list[str]) -> None:
        text = _STAMP.sub("", ",".join(fields[3:]))
        self.game.say(self._name(fields[2]), "" if text.strip() in _PASSES else text)

    def _attack(self, fields: list[str]) -> None:
        if fields[0] == "-1":
            self.game.attack(None)
            return
        target = self._name(fields[0])
        self.game.attack(target)
        if fields[1].strip() == "true":
            self.game.kill(target)

    def _end(self, fields: list[str]) -> None:
        side = fields[2].strip()
        if side not in _WINNERS:
            raise self.game.error(f"{side!r} is no side that can win")
        self.game.end(_WINNERS[side])

    def _name(self, number: str) -> str:
        name = self._names.get(number.strip())
        if name is None:
            raise self.game.error(f"there is no player {number!r}")
        return name

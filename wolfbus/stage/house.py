"""`HouseSource`: the games of a house on a bus, read once however many watch.

A house is read as its researchers read it (records), or, where the ticket gives no right to that, as spectators do (the
table's news). The moderator is asked for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import Any, Final

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.bus.pump import BusReader
from wolfbus.errors import BusError, MessageError, NotAllowed, RecordError, StreamLost
from wolfbus.messages.codec import HOUSE_NEWS, decode_news, unpack, validate
from wolfbus.messages.house import GameClosed, GameOpened, HouseClosed
from wolfbus.messages.requests import TableNews
from wolfbus.record.line import Recorded, line_of
from wolfbus.record.reader import RecordReader, read_record
from wolfbus.stage.sources import GameSource
from wolfbus.stage.watched import LoopCalls, WatchedGame

logger = logging.getLogger(__name__)

_KEPT: Final = 64
"""Games that are over and kept in memory."""
_AWAY: Final = "the house cannot be read now; trying again"
_FIRST_S: Final = 2.0
"""Seconds that who asks for a game waits for the first of it."""


class HouseSource(LoopCalls, GameSource):
    """The games of a house, as far as its streams still hold them.

    Args:
        bus: where the house is; closed with this.
        house: its name.
        public: see `WatchedGame`.
    """

    def __init__(self, bus: Bus, house: str, *, public: bool = False) -> None:
        super().__init__()
        self._bus = bus
        self._house = house
        self._public = public
        self._games: dict[str, WatchedGame] = {}
        self._running: set[str] = set()
        self._readers: dict[str, RecordReader] = {}
        self._records_readable: bool | None = None
        self._failure = ""
        self._caught_up: asyncio.Task[None] | None = None
        self._reader = BusReader(bus, self._fail, name="stage-bus", on_recovery=self._recover)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to read; called on the loop that the games are used on."""
        super().start(loop)
        self._reader.start()
        self._caught_up = loop.create_task(asyncio.to_thread(self._catch_up))

    async def open(self, name: str) -> WatchedGame | None:
        """Return a game of the house by its id; None also for one that is over and no longer on the bus."""
        if self._caught_up is not None:
            # whoever asks and goes away must not take the others' catching up along
            await asyncio.shield(self._caught_up)
        game = self._games.get(name)
        if game is not None and game.empty:
            await game.change(_FIRST_S)
        return None if game is None or (game.empty and game.closed) else game

    async def close(self) -> None:
        """Stop reading."""
        if self._caught_up is not None:
            await self._caught_up
        await asyncio.to_thread(self.leave)

    def leave(self) -> None:
        """Leave the bus; what was read of it stays. Any thread may call it."""
        self._reader.close()
        with contextlib.suppress(BusError):
            self._bus.close()

    def live(self) -> list[dict[str, Any]]:
        """Return what a library tells of the games that go on."""
        return [{**self._games[name].summary(), "house": self._house} for name in self._games if name in self._running]

    def _catch_up(self) -> None:
        """Take in what there is, before anybody is answered."""
        stream, after = streams.games(self._house), "0-0"
        try:
            for entry in every_entry(self._bus, stream):
                self._receive_news(stream, [entry])
                after = entry.id
        except BusError as error:
            # the reader goes on from here, and says by itself when it cannot
            logger.warning("house %s: %s", self._house, error)
        self._reader.follow(stream, self._receive_news, after, lost=self._lost)

    def _receive_news(self, _stream: str, entries: list[Entry]) -> None:
        for entry in entries:
            try:
                news = validate(HOUSE_NEWS, unpack(entry.body), lenient=True)
            except MessageError as error:
                logger.warning("house %s: news %s cannot be read: %s", self._house, entry.id, error)
                continue
            if isinstance(news, GameOpened):
                if news.game in self._readers:
                    # news that are read anew, of a game that is being read or was
                    continue
                self.soon(partial(self._begin, news.game))
                self._follow(news.game)
            elif isinstance(news, GameClosed):
                self.soon(partial(self._end, news.game, news.reason))
            elif isinstance(news, HouseClosed):
                self.soon(self._end_all)

    def _follow(self, game: str) -> None:
        """Read a game's record, or what the table says of it where that is all that may be read."""
        record, table = streams.record(self._house, game), streams.table(self._house, game)
        if self._records_readable is None:
            try:
                self._bus.entries(record, limit=1)
                self._records_readable = True
            except NotAllowed:
                self._records_readable = False
        reader = self._readers[game] = read_record(())
        if self._records_readable:
            self._reader.follow(record, partial(self._receive_record, game, reader), lost=self._lost)
        else:
            self._reader.follow(table, partial(self._receive_table, game), lost=self._lost)

    def _receive_record(self, game: str, reader: RecordReader, stream: str, entries: list[Entry]) -> None:
        records: list[Recorded] = []
        for entry in entries:
            try:
                records.append(reader.read_line(line_of(unpack(entry.body)) + b"\n"))
            except (MessageError, RecordError) as error:
                self._reader.unfollow(stream)
                self.soon(partial(self._add, game, records, str(error)))
                return
        self.soon(partial(self._add, game, records, None))

    def _receive_table(self, game: str, _stream: str, entries: list[Entry]) -> None:
        news: list[TableNews] = []
        for entry in entries:
            try:
                news.append(decode_news(entry.body))
            except MessageError as error:
                logger.warning("game %s: news %s cannot be read: %s", game, entry.id, error)
        self.soon(partial(self._add_news, game, news))

    def _begin(self, name: str) -> None:
        self._running.add(name)
        if name not in self._games:
            self._games[name] = WatchedGame(name, public=self._public)
            idle = [other for other, game in self._games.items() if other not in self._running and not game.watching]
            for other in idle[: max(0, len(self._games) - _KEPT)]:
                self._forget(other)

    def _forget(self, name: str) -> None:
        """Keep nothing of a game; news of it that are read anew bring it back, as far as the bus still has it."""
        del self._games[name]
        self._readers.pop(name, None)
        for stream in (streams.record(self._house, name), streams.table(self._house, name)):
            self._reader.unfollow(stream)

    def _add(self, name: str, records: list[Recorded], problem: str | None) -> None:
        game = self._games.get(name)
        if game is None:
            return
        game.add(records)
        if problem is not None:
            game.end(problem)

    def _add_news(self, name: str, news: list[TableNews]) -> None:
        if (game := self._games.get(name)) is not None:
            game.add_news(news)

    def _end(self, name: str, reason: str) -> None:
        self._running.discard(name)
        game = self._games.get(name)
        if game is not None and not game.over:
            game.end(reason or None)

    def _end_all(self) -> None:
        for name in list(self._running):
            self._end(name, "the house has closed")

    def _lost(self, lost: StreamLost) -> None:
        """Begin a stream anew that lost what was not read."""
        self.soon(partial(self._begin_anew, lost))

    def _begin_anew(self, lost: StreamLost) -> None:
        stream, house = lost.stream, self._house
        news_lost = stream == streams.games(house)
        games = [
            name
            for name in self._running
            if news_lost or stream in {streams.record(house, name), streams.table(house, name)}
        ]
        if not games and not news_lost:
            # a house takes away what it has of a game that is over
            return
        logger.warning("house %s: %s", house, lost)
        for name in games:
            self._games.pop(name).end("the bus lost a part of this game; load the page again")
            if news_lost:
                # what there still is of it begins with news of it
                self._running.discard(name)
                self._readers.pop(name, None)
            else:
                self._begin(name)
                self._follow(name)
        if news_lost:
            self._reader.follow(stream, self._receive_news, lost=self._lost)

    def _fail(self, error: BusError) -> None:
        """Log what is wrong with the bus, once until it is read again, for the reader tries every moment; and have the
        pages say that nothing comes.
        """
        if str(error) != self._failure:
            self._failure = str(error)
            logger.warning("house %s: %s", self._house, error)
        self.soon(partial(self._stall, _AWAY))

    def _recover(self) -> None:
        self._failure = ""
        self.soon(partial(self._stall, None))

    def _stall(self, reason: str | None) -> None:
        for name in self._running:
            if (game := self._games.get(name)) is not None:
                game.stall(reason)

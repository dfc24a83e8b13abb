"""`Archivist`: the actor that carries the records of a session from the bus into files, and folds them on the way.

It only ever waits for the disk. What it wants of the bus it asks of its `Desk`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from analytics.archive import GameArchive
from analytics.desk import Acknowledge, Desk, Finish, Gone, Lines, LookAround, Lost, News, View
from analytics.followed import Followed
from analytics.live import LIVE_GAMES, Rolling, picture
from analytics.metrics import Metrics
from analytics.results import Kept, Results
from analytics.rows import GameRows
from analytics.session import SessionNews
from wolfbus.actors import PooledActor
from wolfbus.bus.protocol import Entry
from wolfbus.errors import RecordError, RulesError, WolfError
from wolfbus.messages.house import Archived, GameClosed, GameOpened, SessionSoFar
from wolfbus.printable import printable
from wolfbus.session import game_id

logger = logging.getLogger(__name__)

ERROR_SHOWN: Final = 300
"""Characters of an error that a message of the house holds at most."""


FAILINGS_AT_MOST: Final = 1000
"""Games that are not as they should be, of those that nobody asks about any more, that are told one by one."""


class Archivist(PooledActor):
    """Keeps the records of one session.

    Args:
        house: the house's name, for the results.
        folder: where records are kept; one of a session's game that is there is gone on with.
        news: which session.
        desk: see `Desk`.
    """

    def __init__(self, house: str, folder: Path, news: SessionNews, desk: Desk) -> None:
        super().__init__()
        self._house = house
        self._folder = folder
        self._news = news
        self._desk = desk
        self._games: dict[str, Followed] = {}
        self._kept: dict[str, Kept] = {}
        self._settled = 0
        self._settled_to = 0
        self._failings: list[Kept] = []
        self._metrics = Metrics()
        self._rolling = Rolling()
        self._recount = False
        self._changed = False
        self._news_lost = False
        self._error: str | None = None

    def on_receive(self, message: Any) -> Any:
        """Handle one message; see their classes."""
        if isinstance(message, Lines):
            self._take(message)
        elif isinstance(message, News):
            self._hear(message.entries)
        elif isinstance(message, LookAround):
            return self._look_around()
        elif isinstance(message, Lost):
            self._reread(message)
        elif isinstance(message, Gone):
            self._miss(message)
        elif isinstance(message, Acknowledge):
            for kept in self._kept.values():
                self._acknowledge(kept)
        elif isinstance(message, Finish):
            return self._results()
        return None

    # -- what games there are

    def _hear(self, entries: Sequence[Entry]) -> None:
        begun: list[str] = []
        self._news_lost = False
        for news in (news for entry in entries for news in self._news.feed(entry)):
            if isinstance(news, GameOpened) and news.game not in self._games and news.game not in self._kept:
                self._games[news.game] = Followed(news.number)
                begun.append(news.game)
            elif isinstance(news, GameClosed):
                self._close(news)
            elif isinstance(news, SessionSoFar):
                self._sum_up(news)
        if self._news.another and self._error is None:
            self._error = f"session {self._news.another} began, and the end of this one is lost"
            self._desk.over()
        # by now it is known which of them have closed: their records may be whole here, and gone from the bus
        for name in begun:
            self._begin(name)
        if begun:
            self._desk.look()
        self._changed = True
        self._conclude()

    def _begin(self, name: str) -> None:
        game = self._games[name]
        try:
            archive = game.archive = GameArchive(self._folder, name)
        except (RecordError, OSError) as error:
            self._give_up(name, str(error))
            return
        self._settle(name)
        if name in self._games and game.error is None:
            if archive.lines:
                logger.info("%s: going on behind line %d", archive.path, archive.lines, extra={"game": name})
            # the last line that is there comes once more, and proves that the bus still tells the same story
            self._desk.follow(name, f"{max(archive.lines - 1, 0)}-0")

    def _close(self, news: GameClosed) -> None:
        kept = self._kept.get(news.game)
        if kept is not None and (kept.outcome, kept.lines, kept.hash) != (news.outcome, news.lines, news.hash):
            if kept.error is not None:
                return
            logger.warning("game %s was closed anew, in another way", news.game, extra={"game": news.game})
            del self._kept[news.game]
            # what it added to the metrics cannot be taken out of them again
            self._recount = self._recount or kept.counted
            self._games[news.game] = Followed(kept.number)
            self._games[news.game].closed = news
            self._begin(news.game)
            return
        game = self._games.get(news.game)
        if game is not None:
            game.closed = news
            if game.archive is not None or game.error is not None:
                self._settle(news.game)

    def _sum_up(self, told: SessionSoFar) -> None:
        """Keep only sums of games that nobody will ask about any more; of those kept in an earlier life too."""
        known = {kept.number for kept in self._kept.values()} | {game.number for game in self._games.values()}
        for name in [name for name, kept in self._kept.items() if self._news.settled(told, name, kept.number)]:
            kept = self._kept.pop(name)
            if kept.fine:
                self._settled += 1
            elif len(self._failings) < FAILINGS_AT_MOST:
                self._failings.append(kept)
        for number in range(self._settled_to + 1, told.games + 1):
            name = game_id(told.session, number)
            if number not in known and os.path.lexists(self._folder / f"{name}.ndjson"):
                self._take_up(name)
        self._settled_to = max(self._settled_to, told.games)

    def _take_up(self, name: str) -> None:
        """Count in a game whose record was archived in an earlier life."""
        try:
            rows = GameArchive(self._folder, name).rows()
        except WolfError as error:
            logger.warning("a record of this session is left out: %s", error, extra={"game": name})
            return
        self._metrics.add(rows)
        self._rolling.add(rows)
        self._settled += 1

    # -- their records

    def _take(self, message: Lines) -> None:
        game, entries = self._games.get(message.game), message.entries
        if game is None or game.archive is None or game.error is not None:
            return
        if game.rereading:
            # what was on its way when it was decided to read again comes first
            first = next((place for place, entry in enumerate(entries) if entry.id == "1-0"), None)
            if first is None:
                return
            game.rereading, entries = False, entries[first:]
        self._changed = True
        game.seen = max(game.seen, entries[-1].number)
        try:
            doubt = game.archive.take(entries)
        except RecordError as error:
            self._give_up(message.game, str(error))
        except Exception as error:
            logger.exception("the record cannot be followed any further", extra={"game": message.game})
            self._give_up(message.game, f"{game.archive.path}: {error!r}")
        else:
            if doubt is None:
                self._settle(message.game)
            else:
                self._read_again(message.game, doubt)
        self._conclude()

    def _reread(self, message: Lost) -> None:
        if message.game:
            self._read_again(message.game, message.reason)
            self._conclude()
            return
        logger.warning("%s; what games there are is read again", message.reason)
        self._news.start_again()
        self._news_lost = True
        self._desk.follow_news()

    def _read_again(self, name: str, reason: str) -> None:
        """Read a record from its beginning, to see where it left the file's lines; once without any progress."""
        game = self._games.get(name)
        if game is None or game.archive is None or game.error is not None:
            return
        at = (game.archive.lines, game.archive.head)
        if game.doubted_at == at:
            self._give_up(name, f"{game.archive.path}: ends with line {at[0]}: {reason}")
            return
        logger.warning("%s; the record is read again from its beginning", reason, extra={"game": name})
        game.doubted_at, game.rereading, game.seen = at, True, 0
        self._desk.follow(name, "0-0")

    def _miss(self, message: Gone) -> None:
        if not message.game:
            if self._news_lost and self._error is None:
                self._error = message.reason
                self._desk.over()
            return
        game = self._games.get(message.game)
        if game is not None and game.error is None and game.archive is not None:
            self._give_up(message.game, f"{game.archive.path}: ends with line {game.archive.lines}: {message.reason}")
            self._conclude()

    def _give_up(self, name: str, reason: str) -> None:
        """Give up a game's record; the moderator hears of it when the game is over."""
        game = self._games[name]
        game.error = reason
        logger.error("%s", reason, extra={"game": name})
        self._desk.unfollow(name)
        if game.archive is not None:
            self._shut(game.archive)
        self._settle(name)

    def _settle(self, name: str) -> None:
        """Let go of a game that has closed, if its record is whole or will never be."""
        game = self._games[name]
        closed, archive = game.closed, game.archive
        if closed is None:
            return
        rows = None
        if game.error is None and archive is not None:
            if archive.lines > closed.lines and archive.holds(closed.lines, closed.hash):
                archive.keep(closed.lines)
            if archive.lines < closed.lines:
                return
            if archive.lines != closed.lines or archive.head != closed.hash:
                if game.seen < archive.lines:
                    return
                self._read_again(name, f"the game was closed with line {closed.lines} and another seal")
                return
            rows = self._bring_to_disk(game, archive)
        self._desk.unfollow(name)
        del self._games[name]
        self._keep(name, game, rows)

    def _bring_to_disk(self, game: Followed, archive: GameArchive) -> GameRows | None:
        if not archive.lines:
            return None
        try:
            archive.finish()
            if archive.unmeasured is None:
                return archive.rows()
            game.error = f"{archive.path}: cannot be measured: {archive.unmeasured}"
        except RecordError as error:
            game.error = str(error)
        except RulesError as error:
            game.error = f"{archive.path}: cannot be measured: {error}"
        logger.error("%s", game.error, extra={"game": archive.game})
        return None

    def _keep(self, name: str, game: Followed, rows: GameRows | None) -> None:
        archive, closed = game.archive, game.closed
        kept = self._kept[name] = Kept(
            name,
            game.number,
            str(self._folder / f"{name}.ndjson"),
            archive.lines if archive is not None else 0,
            archive.head if archive is not None else "",
            closed.outcome if closed is not None else None,
            rows.winner if rows is not None else None,
            rows is not None,
            game.error,
        )
        if rows is not None:
            self._metrics.add(rows)
            self._rolling.add(rows)
            logger.info("%s is archived: %d lines", kept.record, kept.lines, extra={"game": name})
        self._changed = True
        if closed is not None:
            self._acknowledge(kept)
        self._desk.look()

    def _acknowledge(self, kept: Kept) -> None:
        error = None if kept.error is None else printable(kept.error, ERROR_SHOWN)
        self._desk.tell(Archived(game=kept.game, lines=kept.lines, hash=kept.hash, error=error))

    # -- the whole

    def _look_around(self) -> View:
        waited_for: dict[str, tuple[int, int | None]] = {"": (0, None)} if self._news_lost else {}
        for name, game in self._games.items():
            lines = game.archive.lines if game.archive is not None else 0
            idle, game.looked_at = game.looked_at == lines, lines
            if idle and game.error is None and (game.closed is not None or self._news.closed is not None):
                waited_for[name] = (lines, game.closed.lines if game.closed is not None else None)
        changed, self._changed = self._changed, False
        failed = sum(not kept.fine for kept in [*self._kept.values(), *self._failings])
        failed += sum(game.error is not None for game in self._games.values())
        return View(
            changed,
            self._live() if changed else {},
            waited_for,
            len(self._games),
            self._settled + sum(kept.error is None for kept in [*self._kept.values(), *self._failings]),
            failed,
        )

    def _live(self) -> dict[str, Any]:
        pictures: list[dict[str, Any]] = []
        for game in reversed(self._games.values()):
            archive = game.archive
            if archive is not None and archive.lines and archive.unmeasured is None and len(pictures) < LIVE_GAMES:
                pictures.append(picture(archive.rows(), archive.at, archive.lines))
        return self._rolling.picture(self._news.session, len(self._games), self._over, pictures)

    @property
    def _over(self) -> int:
        """Games that are over."""
        return self._settled + len(self._failings) + len(self._kept)

    def _conclude(self) -> None:
        """Say that all is over, if the house has closed and every game is settled, as far as it can be."""
        if self._news.closed is not None and all(game.error is not None for game in self._games.values()):
            self._desk.over()

    def _results(self) -> Results:
        for game in self._games.values():
            if game.archive is not None:
                self._shut(game.archive)
        for name in [name for name, game in self._games.items() if game.error is not None]:
            self._keep(name, self._games.pop(name), None)
        closed = self._news.closed
        ghosts = [name for name in self._kept if not self._news.stands(name)] if closed is not None else []
        for name in ghosts:
            logger.warning("the bus has lost game %s; its record is left out", name, extra={"game": name})
        if self._recount or ghosts:
            self._count_again(ghosts)
        kept = [*self._failings, *(game for name, game in self._kept.items() if name not in ghosts)]
        return Results(
            self._house,
            self._news.session,
            closed is not None,
            self._folder,
            sorted(kept, key=lambda game: game.number),
            self._metrics.result(),
            closed.failed if closed is not None else 0,
            self._error,
            self._settled,
        )

    def _count_again(self, without: Sequence[str]) -> None:
        self._metrics = Metrics()
        counted = [name for name, kept in self._kept.items() if kept.counted and name not in without]
        counted += (kept.game for kept in self._failings if kept.counted)
        known = {*self._kept, *self._games, *(kept.game for kept in self._failings)}
        settled = (game_id(self._news.session, number) for number in range(1, self._settled_to + 1))
        counted += (name for name in settled if name not in known and (self._folder / f"{name}.ndjson").exists())
        for name in counted:
            self._metrics.add(GameArchive(self._folder, name).rows())

    @staticmethod
    def _shut(archive: GameArchive) -> None:
        try:
            archive.close()
        except RecordError as error:
            logger.error("%s", error, extra={"game": archive.game})  # noqa: TRY400 - the line says it all

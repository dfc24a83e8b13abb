"""`SessionArchive`: carries the records of a session from the bus into files, and folds them on the way.

It only ever waits for the disk. What it wants of the bus it asks of its `Subscriptions`.

A bus that died may come back without its last moments, and nobody says so: streams end earlier, or have passed the
place where they were read and tell another story. So whatever does not go together (a record and its file, a record and
the news of its end) is read again from its beginning, both of them, before a record is given up. The moderator is told
which end a word of ours is about.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from analytics.archive.index import LIVE_GAMES, ArchiveIndex, picture
from analytics.archive.record import GameArchive, UnsettledGame
from analytics.archive.results import Kept, Results
from analytics.archive.session import SessionNews
from analytics.rows import GameRows
from wolfbus.bus.protocol import Entry
from wolfbus.errors import RecordError, RulesError
from wolfbus.messages.house import Archived, GameClosed, GameOpened, SessionSoFar
from wolfbus.printable import counted

logger = logging.getLogger(__name__)


class Subscriptions(Protocol):
    """Brings what is followed on the bus to an archive; none of it waits."""

    def follow(self, game: str, after: str) -> None:
        """Have the entries of a game's record after this id brought to `SessionArchive.take`."""

    def unfollow(self, game: str) -> None:
        """Have no more of them brought."""

    def follow_news(self) -> None:
        """Have the ``games`` stream brought to `SessionArchive.hear`, from its beginning."""

    def tell(self, message: Archived) -> None:
        """Send a message to the moderator."""

    def look(self) -> None:
        """Have somebody look around soon: a game has begun, or is over."""

    def over(self) -> None:
        """Say that nothing is left to do."""


@dataclass(frozen=True, slots=True)
class ArchiveView:
    """How things stand.

    Attributes:
        live: the rolling picture for those who watch, plain values; None if nothing happened since the last look.
        waited_for: games whose last lines do not come though they, or the whole house, have closed: lines that are
            here, and lines there should be (None if nobody knows); game "" is the ``games`` stream, if it lost
            something.
        running: games under way.
        archived: games whose record is whole.
        failed: games that failed, or whose record is not whole.
    """

    live: dict[str, Any] | None = None
    waited_for: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    running: int = 0
    archived: int = 0
    failed: int = 0


class SessionArchive:
    """Keeps the records of one session. One thread calls it at a time.

    Args:
        house: the house's name, for the results.
        folder: where records are kept; one of a session's game that is there is gone on with.
        past: names of sessions that are no concern of ours; the first other one is.
        subscriptions: brings what is followed.
    """

    def __init__(self, house: str, folder: Path, past: Collection[str], subscriptions: Subscriptions) -> None:
        self._house = house
        self._folder = folder
        self._news = SessionNews(past)
        self._subscriptions = subscriptions
        self._games: dict[str, UnsettledGame] = {}
        self._index = ArchiveIndex(folder)
        self._changed = False
        self._news_lost = False
        self._error: str | None = None

    # -- what games there are

    def hear(self, entries: Sequence[Entry]) -> None:
        """Take in entries of the ``games`` stream."""
        begun: list[str] = []
        self._news_lost = False
        for news in (news for entry in entries for news in self._news.feed(entry)):
            if isinstance(news, GameOpened) and news.game not in self._games and news.game not in self._index:
                self._games[news.game] = UnsettledGame(news.number)
                self._index.reopen(news.game, news.number)
                begun.append(news.game)
            elif isinstance(news, GameClosed):
                self._close(news)
            elif isinstance(news, SessionSoFar):
                under_way = [game.number for game in self._games.values()]
                self._index.sum_up(news, partial(self._news.settled, news), under_way)
        if self._news.another and self._error is None:
            self._error = f"session {self._news.another} began, and the end of this one is lost"
            self._subscriptions.over()
        # by now it is known which of them have closed: their records may be whole here, and gone from the bus
        for name in begun:
            self._begin(name)
        if begun:
            self._subscriptions.look()
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
        if name in self._games and game.error is None and not game.rereading:
            if archive.lines:
                logger.info("%s: going on behind line %d", archive.path, archive.lines, extra={"game": name})
            # the last line that is there comes once more, and proves that the bus still tells the same story
            self._follow(name, game, max(archive.lines - 1, 0))

    def _close(self, news: GameClosed) -> None:
        if news.game in self._index:
            if self._index.is_closed_as(news):
                return
            logger.warning("game %s was closed anew, in another way", news.game, extra={"game": news.game})
            self._games[news.game] = UnsettledGame(self._index.take_back(news.game), news)
            self._begin(news.game)
            return
        game = self._games.get(news.game)
        if game is not None:
            game.closed = news
            if game.archive is not None or game.error is not None:
                self._settle(news.game)

    def _follow(self, name: str, game: UnsettledGame, after: int) -> None:
        game.from_start, game.seen = after == 0, 0
        self._subscriptions.follow(name, f"{after}-0")

    # -- their records

    def take(self, name: str, entries: Sequence[Entry]) -> None:
        """Take in entries of a game's record."""
        game = self._games.get(name)
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
            self._give_up(name, str(error))
        except Exception as error:
            logger.exception("the record cannot be followed any further", extra={"game": name})
            self._give_up(name, f"{game.archive.path}: {error!r}")
        else:
            if doubt is None:
                self._settle(name)
            else:
                self._read_again(name, doubt)
        self._conclude()

    def lost(self, name: str, reason: str) -> None:
        """Read again what the bus lost something of: a game's record, or the ``games`` stream (game "")."""
        if not name:
            self._ask_again(reason)
            return
        game = self._games.get(name)
        if game is not None and game.archive is not None and game.error is None:
            # it may lose something every time that the bus comes back: nothing about it is doubtful
            game.doubted_at = None
            self._read_from_start(name, game, reason)

    def _ask_again(self, reason: str) -> None:
        """Read from the beginning which games there are; whatever was told of their ends is told again, if it holds."""
        logger.warning("%s; what games there are is read again", reason)
        self._news.start_again()
        for game in self._games.values():
            game.closed = None
        self._news_lost = True
        self._subscriptions.follow_news()

    def _doubt_news(self, name: str, game: UnsettledGame, reason: str) -> bool:
        """Ask again for the news of a game's end that the record does not go with; False if that was done before."""
        news = game.closed or self._news.closed
        if news == game.news_doubted:
            return False
        game.news_doubted = news
        self._ask_again(f"game {name}: {reason}")
        return True

    def _read_from_start(self, name: str, game: UnsettledGame, reason: str) -> None:
        logger.warning("%s; the record is read again from its beginning", reason, extra={"game": name})
        game.rereading = True
        self._follow(name, game, 0)

    def _read_again(self, name: str, reason: str) -> None:
        """Read a record from its beginning, to see where it left the file's lines; once without any progress."""
        game = self._games.get(name)
        if game is None or game.archive is None or game.error is not None:
            return
        at = (game.archive.lines, game.archive.head)
        if game.doubted_at == at:
            self._give_up(name, f"{game.archive.path}: ends with line {at[0]}: {reason}")
            return
        game.doubted_at = at
        self._read_from_start(name, game, reason)

    def miss(self, name: str, reason: str) -> None:
        """Take note that what is missing of a game's record, or of the ``games`` stream (game ""), will not come."""
        if not name:
            if self._news_lost and self._error is None:
                self._error = reason
                self._subscriptions.over()
            return
        game = self._games.get(name)
        if game is None or game.error is not None or game.archive is None:
            return
        if (game.closed is None and self._news.closed is None) or self._doubt_news(name, game, reason):
            # what told that it is over may itself be forgotten by now
            return
        self._give_up(name, f"{game.archive.path}: ends with line {game.archive.lines}: {reason}")
        self._conclude()

    def _give_up(self, name: str, reason: str) -> None:
        """Give up a game's record; the moderator hears of it when the game is over."""
        game = self._games[name]
        game.error = reason
        logger.error("%s", reason, extra={"game": name})
        self._subscriptions.unfollow(name)
        if game.archive is not None:
            self._shut(game.archive)
        self._settle(name)

    def _settle(self, name: str) -> None:
        """Let go of a game that has closed, if its record is whole or will never be."""
        game = self._games[name]
        closed, archive = game.closed, game.archive
        if closed is None:
            return
        rows, size = None, 0
        if game.error is None and archive is not None:
            if archive.lines > closed.lines and archive.holds(closed.lines, closed.hash):
                archive.keep(closed.lines)
            if archive.lines < closed.lines:
                return
            if archive.lines != closed.lines or archive.head != closed.hash:
                self._compare(name, game, archive, closed)
                return
            rows, size = self._bring_to_disk(game, archive)
        self._subscriptions.unfollow(name)
        del self._games[name]
        self._keep(name, game, rows, size)

    def _compare(self, name: str, game: UnsettledGame, archive: GameArchive, closed: GameClosed) -> None:
        """See which of them is forgotten by the bus: the lines that are here, or the news of the game's end."""
        if game.from_start and game.seen < closed.lines:
            return
        reason = f"the game was closed with line {closed.lines} and another seal"
        if game.doubted_at != (archive.lines, archive.head) or not self._doubt_news(name, game, reason):
            self._read_again(name, reason)

    def _bring_to_disk(self, game: UnsettledGame, archive: GameArchive) -> tuple[GameRows | None, int]:
        if not archive.lines:
            return None, 0
        try:
            size = archive.finish()
            if archive.unmeasured is None:
                return archive.rows(), size
            game.error = f"{archive.path}: cannot be measured: {archive.unmeasured}"
        except RecordError as error:
            game.error = str(error)
        except RulesError as error:
            game.error = f"{archive.path}: cannot be measured: {error}"
        logger.error("%s", game.error, extra={"game": archive.game})
        return None, 0

    def _keep(self, name: str, game: UnsettledGame, rows: GameRows | None, size: int = 0) -> None:
        archive, closed = game.archive, game.closed
        kept = Kept(
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
        self._index.put(kept, closed, rows, size)
        if rows is not None:
            logger.info("%s is archived: %d lines", kept.record, kept.lines, extra={"game": name})
        self._changed = True
        self._acknowledge(name)
        self._subscriptions.look()

    def acknowledge_all(self) -> None:
        """Tell the moderator again what is archived: one has come that may not know it."""
        for name in self._index:
            self._acknowledge(name)

    def _acknowledge(self, name: str) -> None:
        word = self._index.word(name)
        if word is not None:
            self._subscriptions.tell(word)

    # -- the whole

    def look_around(self) -> ArchiveView:
        """Return how things stand; asked every few seconds."""
        waited_for: dict[str, tuple[int, int | None]] = {"": (0, None)} if self._news_lost else {}
        for name, game in self._games.items():
            lines = game.archive.lines if game.archive is not None else 0
            idle, game.looked_at = game.looked_at == lines, lines
            if idle and game.error is None and (game.closed is not None or self._news.closed is not None):
                waited_for[name] = (lines, game.closed.lines if game.closed is not None else None)
        changed, self._changed = self._changed, False
        failed = self._index.failed + sum(game.error is not None for game in self._games.values())
        live = self._live() if changed else None
        return ArchiveView(live, waited_for, len(self._games), self._index.archived, failed)

    def _live(self) -> dict[str, Any]:
        pictures: list[dict[str, Any]] = []
        for game in reversed(self._games.values()):
            archive = game.archive
            if archive is not None and archive.lines and archive.unmeasured is None and len(pictures) < LIVE_GAMES:
                pictures.append(picture(archive.rows(), archive.at, archive.lines))
        return self._index.picture(self._news.session, len(self._games), pictures)

    def _conclude(self) -> None:
        """Say that all is over, if the house has closed and every game is settled, as far as it can be."""
        if self._news.closed is not None and all(game.error is not None for game in self._games.values()):
            self._subscriptions.over()

    def results(self) -> Results:
        """Bring all to the disk, and return what came of it."""
        for game in self._games.values():
            if game.archive is not None:
                self._shut(game.archive)
        for name in [name for name, game in self._games.items() if game.error is not None]:
            self._keep(name, self._games.pop(name), None)
        closed = self._news.closed
        if closed is not None:
            for name in self._index:
                if not self._news.stands(name):
                    self._index.set_aside(name)
            self._index.inspect()
            missing = self._index.missing(closed.games)
            if missing and not closed.failed and self._error is None:
                first = f"the first is number {missing[0]}"
                self._error = f"nothing is known of {counted(len(missing), 'game')} of the session; {first}"
            if not closed.games and self._error is None:
                self._error = "no game was played" + (f": {closed.reason}" if closed.reason else "")
        # first, for a record that cannot be counted any more is told as such
        metrics = self._index.metrics(self._news.session, self._games)
        return Results(
            self._house,
            self._news.session,
            closed is not None,
            self._folder,
            self._index.games(),
            metrics,
            closed.failed if closed is not None else 0,
            self._error,
            self._index.settled,
        )

    @staticmethod
    def _shut(archive: GameArchive) -> None:
        try:
            archive.close()
        except RecordError as error:
            logger.error("%s", error, extra={"game": archive.game})  # noqa: TRY400 - the line says it all

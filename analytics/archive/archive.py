"""`SessionArchive`: carries the records of a session from the bus into files, and folds them on the way.

It only ever waits for the disk; its `Subscriptions` do what it needs of the bus.

A bus that died may come back without its last moments, and nobody says so: streams end earlier, or have passed the
place where they were read and hold other entries. So whatever does not go together (a record and its file, a record and
the news of its end) is read again from its beginning, both of them, before a record is given up. The moderator is told
which end a message of ours is about.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from analytics.archive.index import LIVE_GAMES, ArchiveIndex, game_snapshot
from analytics.archive.record import GameArchive, UnsettledGame
from analytics.archive.results import ArchivedGame, SessionResults
from analytics.archive.session import SessionNews
from analytics.rows import GameRows
from wolfbus.bus.protocol import Entry
from wolfbus.errors import RecordError, RulesError
from wolfbus.files.printable import counted
from wolfbus.messages.house import Archived, GameClosed, GameOpened, SessionSoFar

logger = logging.getLogger(__name__)


class Subscriptions(Protocol):
    """Subscribes an archive to streams of the bus, and sends its messages; none of it waits."""

    def follow(self, game: str, after: str) -> None:
        """Send the entries of a game's record after this id to `SessionArchive.receive_record`."""

    def unfollow(self, game: str) -> None:
        """Send no more of them."""

    def follow_news(self) -> None:
        """Send the ``games`` stream to `SessionArchive.receive_news`, from its beginning."""

    def tell(self, message: Archived) -> None:
        """Send a message to the moderator."""

    def check_soon(self) -> None:
        """Have `view` asked for soon: a game has begun, or is over."""

    def finish(self) -> None:
        """End the service: nothing is left to do."""


@dataclass(frozen=True, slots=True)
class ArchiveView:
    """How things stand.

    Attributes:
        live: the snapshot for those who watch, plain values; None if nothing happened since the last view.
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
        folder: where records are archived; one of a session's game that is there is gone on with.
        past: names of sessions that are no concern of ours; the first other one is.
        subscriptions: follows streams for it.
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

    def receive_news(self, entries: Sequence[Entry]) -> None:
        """Process entries of the ``games`` stream."""
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
        if self._news.next_session and self._error is None:
            self._error = f"session {self._news.next_session} began, and the end of this one is lost"
            self._subscriptions.finish()
        # by now it is known which of them have closed: their records may be whole here, and gone from the bus
        for name in begun:
            self._open(name)
        if begun:
            self._subscriptions.check_soon()
        self._changed = True
        self._conclude()

    def _open(self, name: str) -> None:
        game = self._games[name]
        try:
            archive = game.archive = GameArchive(self._folder, name)
        except (RecordError, OSError) as error:
            self._fail(name, str(error))
            return
        self._settle(name)
        if name in self._games and game.error is None and not game.rereading:
            if archive.lines:
                logger.info("%s: going on behind line %d", archive.path, archive.lines, extra={"game": name})
            # the last line that is there comes once more, and proves that the bus still holds the same record
            self._follow(name, game, max(archive.lines - 1, 0))

    def _close(self, news: GameClosed) -> None:
        if news.game in self._index:
            if self._index.is_closed_as(news):
                return
            logger.warning("game %s was closed anew, in another way", news.game, extra={"game": news.game})
            self._games[news.game] = UnsettledGame(self._index.remove(news.game), news)
            self._open(news.game)
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

    def receive_record(self, name: str, entries: Sequence[Entry]) -> None:
        """Process entries of a game's record."""
        if (carried := self._carried(name)) is None:
            return
        game, archive = carried
        if game.rereading:
            # what was on its way when it was decided to read again comes first
            first = next((place for place, entry in enumerate(entries) if entry.id == "1-0"), None)
            if first is None:
                return
            game.rereading, entries = False, entries[first:]
        self._changed = True
        game.seen = max(game.seen, entries[-1].number)
        try:
            doubt = archive.append(entries)
        except RecordError as error:
            self._fail(name, str(error))
        except Exception as error:
            logger.exception("the record cannot be followed any further", extra={"game": name})
            self._fail(name, f"{archive.path}: {error!r}")
        else:
            if doubt is None:
                self._settle(name)
            else:
                self._retry_record(name, game, archive, doubt)
        self._conclude()

    def _carried(self, name: str) -> tuple[UnsettledGame, GameArchive] | None:
        """Return a game whose record is being carried into its file, with that; None if it is not, or cannot be."""
        game = self._games.get(name)
        return None if game is None or game.archive is None or game.error is not None else (game, game.archive)

    def reread(self, name: str, reason: str) -> None:
        """Read again what the bus lost something of: a game's record, or the ``games`` stream (game "")."""
        if not name:
            self._reread_news(reason)
        elif carried := self._carried(name):
            # it may lose something every time that the bus comes back: nothing about it is doubtful
            carried[0].doubted_at = None
            self._reread_record(name, carried[0], reason)

    def _reread_news(self, reason: str) -> None:
        """Read from the beginning which games there are; how they ended comes again, if it holds."""
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
        self._reread_news(f"game {name}: {reason}")
        return True

    def _reread_record(self, name: str, game: UnsettledGame, reason: str) -> None:
        logger.warning("%s; the record is read again from its beginning", reason, extra={"game": name})
        game.rereading = True
        self._follow(name, game, 0)

    def _retry_record(self, name: str, game: UnsettledGame, archive: GameArchive, reason: str) -> None:
        """Read a record from its beginning, to see where it left the file's lines; once without any progress."""
        end = (archive.lines, archive.head)
        if game.doubted_at == end:
            self._fail(name, f"{archive.path}: ends with line {archive.lines}: {reason}")
        else:
            game.doubted_at = end
            self._reread_record(name, game, reason)

    def declare_missing(self, name: str, reason: str) -> None:
        """Give up what is missing of a game's record, or of the ``games`` stream (game ""): it will not come."""
        if not name:
            if self._news_lost and self._error is None:
                self._error = reason
                self._subscriptions.finish()
            return
        if (carried := self._carried(name)) is None:
            return
        game, archive = carried
        if (game.closed is None and self._news.closed is None) or self._doubt_news(name, game, reason):
            # what told that it is over may itself be forgotten by now
            return
        self._fail(name, f"{archive.path}: ends with line {archive.lines}: {reason}")
        self._conclude()

    def _fail(self, name: str, reason: str) -> None:
        """Give up a game's record; the moderator is told when the game is over."""
        game = self._games[name]
        game.error = reason
        logger.error("%s", reason, extra={"game": name})
        self._subscriptions.unfollow(name)
        if game.archive is not None:
            self._close_file(game.archive)
        self._settle(name)

    def _settle(self, name: str) -> None:
        """Move a game that has closed into the index, if its record is whole or will never be."""
        game = self._games[name]
        closed, archive = game.closed, game.archive
        if closed is None:
            return
        rows, size = None, 0
        if game.error is None and archive is not None:
            if archive.lines > closed.lines and archive.holds(closed.lines, closed.hash):
                archive.truncate(closed.lines)
            if archive.lines < closed.lines:
                return
            if archive.lines != closed.lines or archive.head != closed.hash:
                self._compare(name, game, archive, closed)
                return
            if not archive.is_intact():
                archive.reload()
                self._retry_record(name, game, archive, "somebody else has changed the file")
                return
            rows, size = self._finish_file(game, archive)
        self._subscriptions.unfollow(name)
        del self._games[name]
        self._index_game(name, game, rows, size)

    def _compare(self, name: str, game: UnsettledGame, archive: GameArchive, closed: GameClosed) -> None:
        """Find out which of them the bus has lost: the lines that are here, or the news of the game's end."""
        if game.from_start and game.seen < closed.lines:
            return
        reason = f"the game was closed with line {closed.lines} and another seal"
        if game.doubted_at != (archive.lines, archive.head) or not self._doubt_news(name, game, reason):
            self._retry_record(name, game, archive, reason)

    def _finish_file(self, game: UnsettledGame, archive: GameArchive) -> tuple[GameRows | None, int]:
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

    def _index_game(self, name: str, game: UnsettledGame, rows: GameRows | None, size: int = 0) -> None:
        archive, closed = game.archive, game.closed
        archived = ArchivedGame(
            name,
            game.number,
            str(self._folder / f"{name}.ndjson"),
            archive.lines if archive is not None else 0,
            archive.head if archive is not None else "",
            closed.outcome if closed is not None else None,
            rows.winner if rows is not None else None,
            rows is not None and not rows.spoilt,
            game.error,
            rows is not None and rows.spoilt,
        )
        self._index.put(archived, closed, rows, size)
        if rows is not None:
            logger.info("%s is archived: %d lines", archived.record, archived.lines, extra={"game": name})
        self._changed = True
        self._acknowledge(name)
        self._subscriptions.check_soon()

    def acknowledge_all(self) -> None:
        """Tell the moderator again what is archived: one has come that may not know it."""
        for name in self._index:
            self._acknowledge(name)

    def _acknowledge(self, name: str) -> None:
        message = self._index.acknowledgement(name)
        if message is not None:
            self._subscriptions.tell(message)

    # -- the whole

    def view(self) -> ArchiveView:
        """Return how things stand; asked every few seconds."""
        waited_for: dict[str, tuple[int, int | None]] = {"": (0, None)} if self._news_lost else {}
        for name, game in self._games.items():
            lines = game.archive.lines if game.archive is not None else 0
            idle, game.lines_checked = game.lines_checked == lines, lines
            if idle and game.error is None and (game.closed is not None or self._news.closed is not None):
                waited_for[name] = (lines, game.closed.lines if game.closed is not None else None)
        changed, self._changed = self._changed, False
        failed = self._index.failed + sum(game.error is not None for game in self._games.values())
        live = self._live() if changed else None
        return ArchiveView(live, waited_for, len(self._games), self._index.archived, failed)

    def _live(self) -> dict[str, Any]:
        snapshots: list[dict[str, Any]] = []
        for game in reversed(self._games.values()):
            archive = game.archive
            if archive is not None and archive.lines and archive.unmeasured is None and len(snapshots) < LIVE_GAMES:
                snapshots.append(game_snapshot(archive.rows(), archive.position, archive.lines))
        return self._index.session_snapshot(self._news.session, len(self._games), snapshots)

    def _conclude(self) -> None:
        """End the service if the house has closed and every game is settled, as far as it can be."""
        if self._news.closed is not None and all(game.error is not None for game in self._games.values()):
            self._subscriptions.finish()

    def results(self) -> SessionResults:
        """Write all to the disk, and return what came of it."""
        for game in self._games.values():
            if game.archive is not None:
                self._close_file(game.archive)
        for name in [name for name, game in self._games.items() if game.error is not None]:
            self._index_game(name, self._games.pop(name), None)
        closed = self._news.closed
        if closed is not None:
            for name in self._index:
                if not self._news.has_opening(name):
                    self._index.set_aside(name)
            self._index.check_files()
            missing = self._index.missing(closed.games)
            if missing and not closed.failed and self._error is None:
                first = f"the first is number {missing[0]}"
                self._error = f"nothing is known of {counted(len(missing), 'game')} of the session; {first}"
            if not closed.games and self._error is None:
                self._error = "no game was played" + (f": {closed.reason}" if closed.reason else "")
        # first, for it marks records that cannot be counted any more
        metrics = self._index.metrics(self._news.session, self._games)
        return SessionResults(
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
    def _close_file(archive: GameArchive) -> None:
        try:
            archive.close()
        except RecordError as error:
            logger.error("%s", error, extra={"game": archive.game})  # noqa: TRY400 - the line says it all

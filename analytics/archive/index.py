"""`ArchiveIndex`: the records of a session that are settled, what became of each, the metrics over them, and the
snapshot for those who watch: small plain values, the newest of which is enough.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from analytics import Result
from analytics.archive.record import GameArchive
from analytics.archive.results import ArchivedGame
from analytics.findings import Metrics
from analytics.rows import GameRows
from wolfbus.errors import WolfError, reason_of
from wolfbus.files.printable import printable
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.house import Archived, GameClosed, SessionSoFar
from wolfbus.service.session import game_id

logger = logging.getLogger(__name__)

ERROR_SHOWN: Final = 300
"""Characters of an error that a message of the house holds at most."""

FAILINGS_AT_MOST: Final = 1000
"""Games that are not as they should be, of those that nobody asks about any more, that are listed one by one."""

FORGOTTEN: Final = ".forgotten"
"""What the name of a record ends with whose game is none of the session's any more."""

LIVE_GAMES: Final = 32
"""Running games that one snapshot shows at most, the newest first."""
FRESH: Final = 1.01
"""By how much the settled games have to grow for figures to be computed anew while games are under way."""
LIVE_KEPT: Final = 200
"""Snapshots that stay on the stream."""


@dataclass(slots=True)
class _SettledGame:
    """A game that is settled: what became of it, how the moderator closed it, and the bytes of a record that counts."""

    archived: ArchivedGame
    closed: GameClosed | None
    size: int | None


class ArchiveIndex:
    """Holds what became of every game that is settled; of those that nobody asks about any more, only sums.

    Args:
        folder: where the records are.

    Attributes:
        settled: games whose records are whole, and that are no longer listed one by one.
    """

    def __init__(self, folder: Path) -> None:
        self.settled = 0
        self._folder = folder
        self._games: dict[str, _SettledGame] = {}
        self._settled_to = 0
        # of those summed up: games of which neither news nor whole records were there
        self._unknown: set[int] = set()
        self._failings: list[ArchivedGame] = []
        self._metrics = Metrics()
        self._live_sections: Result = {}
        self._live_games = -1
        self._recount = False
        # the snapshot counts these already, as they were
        self._in_snapshot: set[str] = set()

    def __contains__(self, game: str) -> bool:
        return game in self._games

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._games))

    @property
    def archived(self) -> int:
        """Those whose record is whole."""
        return self.settled + sum(archived.error is None for archived in self._listed())

    @property
    def failed(self) -> int:
        """Those that failed, or whose record is not whole."""
        return sum(not archived.fine for archived in self._listed())

    def _listed(self) -> list[ArchivedGame]:
        """Return the games that are listed one by one."""
        return [*self._failings, *(game.archived for game in self._games.values())]

    def put(self, archived: ArchivedGame, closed: GameClosed | None, rows: GameRows | None, size: int) -> None:
        """Add a game that is settled.

        Args:
            archived: what became of it.
            closed: how the moderator closed it, None if it did not.
            rows: what its record says, which is whole and on the disk; None if it cannot be measured. The metrics
                hold it if it is counted.
            size: bytes that it has there.
        """
        self._games[archived.game] = _SettledGame(archived, closed, size if rows is not None else None)
        if rows is not None and archived.counted:
            # of one that was done anew all are counted again before the end
            if archived.game not in self._in_snapshot:
                self._metrics.add(rows)
            self._in_snapshot.discard(archived.game)

    def is_closed_as(self, closed: GameClosed) -> bool:
        """Return whether a settled game was closed in just this way when it was settled."""
        before = self._games[closed.game].closed
        return before is not None and _end(before) == _end(closed)

    def remove(self, game: str) -> int:
        """Forget what became of a game, for it was done anew; returns its number."""
        archived = self._games.pop(game).archived
        if archived.counted:
            # what it added to the metrics cannot be taken out of them again
            self._recount = True
            self._in_snapshot.add(game)
        return archived.number

    def reopen(self, game: str, number: int) -> None:
        """Take a game out of the sums, if it is in them: the news of it are read again, and tell of it one by one."""
        if number > self._settled_to:
            return
        if number in self._unknown:
            self._unknown.remove(number)
            return
        failings = [archived for archived in self._failings if archived.game != game]
        if len(failings) == len(self._failings):
            self.settled = max(self.settled - 1, 0)
        self._failings = failings
        self._recount = True
        self._in_snapshot.add(game)

    def acknowledgement(self, game: str) -> Archived | None:
        """Return the acknowledgement of a game for the moderator; None of one that it did not close."""
        archived, closed = self._games[game].archived, self._games[game].closed
        if closed is None:
            return None
        error = None if archived.error is None else printable(archived.error, ERROR_SHOWN)
        return Archived(game=game, lines=archived.lines, hash=archived.hash, error=error, closed=closed.hash)

    def sum_up(self, summary: SessionSoFar, is_settled: Callable[[str, int], bool], under_way: Collection[int]) -> None:
        """Keep only sums of games that nobody will ask about any more; of those archived in an earlier life too.

        Args:
            summary: the moderator's sums.
            is_settled: tells of a game, by id and number, whether it is among them.
            under_way: numbers of games that are not settled yet.
        """
        numbers = {game.archived.number for game in self._games.values()} | set(under_way)
        for name in [name for name, game in self._games.items() if is_settled(name, game.archived.number)]:
            archived = self._games.pop(name).archived
            if archived.fine and not archived.spoilt:
                self.settled += 1
            elif len(self._failings) < FAILINGS_AT_MOST:
                self._failings.append(archived)
        for number in range(self._settled_to + 1, summary.games + 1):
            name = game_id(summary.session, number)
            if number in numbers:
                continue
            # one without an end may have been cut off when whoever wrote it died
            if (read := self._read(name)) is not None and read[0].over:
                self._put_earlier(number, *read)
            else:
                self._unknown.add(number)
        self._settled_to = max(self._settled_to, summary.games)

    def _put_earlier(self, number: int, archive: GameArchive, rows: GameRows) -> None:
        """Add a game that was archived in an earlier life."""
        if not rows.spoilt:
            self._metrics.add(rows)
            self.settled += 1
        elif len(self._failings) < FAILINGS_AT_MOST:
            path, outcome = str(archive.path), "ended"
            self._failings.append(
                ArchivedGame(
                    rows.game, number, path, archive.lines, archive.head, outcome, rows.winner, False, None, spoilt=True
                )
            )

    def _read(self, name: str) -> tuple[GameArchive, GameRows] | None:
        """Return a record on file and what it says; None if there is none, or none that can be measured."""
        if not os.path.lexists(self._folder / f"{name}.ndjson"):
            return None
        try:
            archive = GameArchive(self._folder, name)
            return archive, archive.rows()
        except WolfError as error:
            logger.warning("a record of this session is left out: %s", error, extra={"game": name})
            return None

    def session_snapshot(self, session: str, running: int, games: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the members of a message on how the session stands. Figures are over all games settled so far, give or
        take one in a hundred while games are under way: so they cost no more the longer a session is.

        Args:
            session: the session's name.
            running: games under way.
            games: snapshots of running games, of which there may be more.
        """
        settled = len(self._metrics)
        if settled >= FRESH * self._live_games or (not running and settled != self._live_games):
            self._live_sections, self._live_games = self._metrics.live(), settled
        sections = self._live_sections
        return {
            "v": PROTOCOL,
            "type": "live",
            "session": session,
            "running": running,
            "over": self.settled + len(self._failings) + len(self._games),
            "games": list(games),
            "winners": {name: row["k"] for name, row in sections["outcomes"]["winners"].items()},
            "headline": sections["headline"]["all"],
        }

    # -- the end

    def set_aside(self, game: str) -> None:
        """Leave out a game that the bus has forgotten for good; its record stays, under a name that is no record's."""
        path = self._folder / f"{game}.ndjson"
        logger.warning("the bus has lost game %s; its record is left out", game, extra={"game": game})
        self.remove(game)
        try:
            path.replace(path.with_name(path.name + FORGOTTEN))
        except FileNotFoundError:
            logger.debug("there is none", extra={"game": game})
        except OSError as error:
            logger.warning("%s stays where it is: %s", path, error.strerror, extra={"game": game})

    def check_files(self) -> None:
        """Check that every record is on the disk as it was when it was settled."""
        for name, game in self._games.items():
            if game.size is None or game.archived.error is not None:
                continue
            try:
                now = Path(game.archived.record).stat().st_size
            except OSError as error:
                wrong = reason_of(error)
            else:
                wrong = f"it has {now} bytes" if now != game.size else ""
            if wrong:
                wrong = f"{game.archived.record}: was archived with {game.size} bytes, but now: {wrong}"
                logger.error("%s", wrong, extra={"game": name})
                game.archived = replace(game.archived, error=wrong)

    def missing(self, games: int) -> list[int]:
        """Return the numbers, up to `games`, of games of which nothing is known."""
        numbers = {archived.number for archived in self._listed()}
        unknown = (*sorted(self._unknown), *range(self._settled_to + 1, games + 1))
        return [number for number in unknown if number not in numbers]

    def games(self) -> list[ArchivedGame]:
        """Return what became of every game that is listed one by one, by number."""
        return sorted(self._listed(), key=lambda game: game.number)

    def metrics(self, session: str, without: Collection[str]) -> Result:
        """Return the metrics.

        Args:
            session: the session's name.
            without: games that are not settled, which do not count.
        """
        if self._recount:
            self._count_again(session, without)
        return self._metrics.result()

    def _count_again(self, session: str, without: Collection[str]) -> None:
        self._metrics = Metrics()
        is_counted = {archived.game: archived.counted for archived in self._listed()} | dict.fromkeys(without, False)
        numbers = (number for number in range(1, self._settled_to + 1) if number not in self._unknown)
        settled = (game_id(session, number) for number in numbers)
        counted: set[str] = set()
        for name in dict.fromkeys([*is_counted, *settled]):
            read = self._read(name) if is_counted.get(name, True) else None
            if read is not None and not read[1].spoilt:
                self._metrics.add(read[1])
                counted.add(name)
        for name, game in self._games.items():
            game.archived = replace(game.archived, counted=name in counted)
        self._failings = [replace(archived, counted=archived.game in counted) for archived in self._failings]


def _end(closed: GameClosed) -> tuple[str, int, str]:
    return closed.outcome, closed.lines, closed.hash


def game_snapshot(rows: GameRows, position: tuple[int, str] | None, lines: int) -> dict[str, Any]:
    """Return how one running game stands.

    Args:
        rows: the game so far.
        position: round and phase, None if nothing was asked yet.
        lines: lines of its record so far.

    Returns:
        ``game``, ``round``, ``phase``, ``lines``, ``statements``, ``judgements`` (those that count), ``suspicion``: for
        each living seat the mean, over the other living seats that have judged it, of their smoothed suspicion in
        [0, 1] (None if nobody has), and ``left``: who is out of the game.
    """
    left = [death.seat for death in rows.deaths]
    by_target: dict[str, list[float]] = {name: [] for name in rows.seats if name not in left}
    for (observer, target), value in rows.suspicion.items():
        if observer in by_target and target in by_target:
            by_target[target].append(value)
    return {
        "game": rows.game,
        "round": position[0] if position is not None else 0,
        "phase": position[1] if position is not None else "",
        "lines": lines,
        "statements": len(rows.statements),
        "judgements": sum(judgement.usable for judgement in rows.judgements),
        "suspicion": {
            name: round(sum(values) / len(values), 4) if values else None for name, values in by_target.items()
        },
        "left": left,
    }

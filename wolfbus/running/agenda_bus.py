"""`AgendaBus`: the bus of an agenda that is shared, where a worker brings and finds what was played."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusWriter
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusDown
from wolfbus.game.vocabulary import SCRIPTS
from wolfbus.record.line import Recorded
from wolfbus.record.publish import append_record, entry_of
from wolfbus.running.earlier import EarlierPlay, SaidFile, find_in_folder, find_on_bus
from wolfbus.running.house import AGENT, GameKeeper, keys_of
from wolfbus.study.agenda import HOUSE_KEPT_S, ClaimedGame
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S


@dataclass(frozen=True, slots=True)
class AgendaBus:
    """The bus of an agenda that is shared, where whoever runs the study looks for records, and whoever goes on with a
    game for what is left of it.

    Attributes:
        bus: that bus; None where the agenda is not shared, and the study's folder has all that.
        near: the bus that games are played on, where it is another; None where it is the same.
        copies: writes to that bus what is played on another, as it is played; None where it is the same.
    """

    bus: Bus | None = None
    near: Bus | None = None
    copies: BusWriter | None = None

    @property
    def is_shared(self) -> bool:
        """Whether workers on other machines may play games of this agenda."""
        return self.bus is not None

    def check(self, house: str) -> None:
        """Check that the bus which a house plays on is there; raises BusError where it is not."""
        if self.near is not None:
            self.near.owner(house)

    def find(self, claimed: ClaimedGame, path: Path) -> EarlierPlay | None:
        """Return what is left of a game that was taken before; None if nothing is to go on from. Raises BusDown."""
        if self.bus is None:
            return find_in_folder(path)
        return find_on_bus(self.bus, claimed.house, AGENT, claimed.game.game) if claimed.house else None

    def keeper(self, house: str, game: PlannedGame, path: Path, earlier: EarlierPlay | None) -> GameKeeper | None:
        """Return what keeps a game as it is played; None where the bus itself does, or its players cost nothing.

        Raises:
            RecordError: the study's folder cannot be written.
        """
        if self.copies is not None:
            return _Copy(self.copies, house, game.game, earlier)
        if self.bus is not None or SCRIPTS.issuperset(game.brains):
            return None
        return _SaidKeeper(SaidFile(path, earlier.messages if earlier is not None else ()))

    def upload(self, house: str, game: str, path: Path) -> None:
        """Put the record of a game that is over on the bus, where it is not there already; raises BusError.

        It is safe to repeat until the file is given up by `leave`.
        """
        if self.bus is None:
            return
        if self.near is not None:
            append_record(self.bus, house, game, path)
        keys = (streams.record(house, game), streams.table(house, game), streams.outbox(house, game))
        self.bus.forget(keys, HOUSE_KEPT_S)

    def expire(self, house: str, game: str) -> None:
        """Have the bus forget, after a while, a game that nobody wants from this house any more.

        A worker that was only slow may be the first to finish yet, and its record is wanted then.
        """
        if self.bus is not None:
            self.bus.expire(house, game, KEPT_S)
            self.bus.forget([streams.outbox(house, game)], KEPT_S)
            # it may have died before it could say so itself
            self.bus.forget(keys_of(house), HOUSE_KEPT_S)

    def leave(self, path: Path) -> None:
        """Give up the file of a game that the bus has: one that is over, or broken off and left to whoever takes it
        next, this worker perhaps.
        """
        if self.bus is not None:
            path.unlink(missing_ok=True)


class _SaidKeeper(GameKeeper):
    """Keeps what is said beside a record's file, which the moderator writes."""

    def __init__(self, file: SaidFile) -> None:
        self._file = file

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep what players say."""
        self._file.write(entries)

    def close(self) -> None:
        """Keep no more."""
        self._file.close()


class _Copy(GameKeeper):
    """Keeps a game that is played on another bus on that of the agenda.

    What players say gets numbers of its own there: what was said in an earlier house may have later ids than what is
    said in this one.

    Args:
        writer: writes there.
        house: the worker's.
        game: the game's id.
        earlier: what was played of it before.
    """

    def __init__(self, writer: BusWriter, house: str, game: str, earlier: EarlierPlay | None) -> None:
        self._writer = writer
        self._record, self._outbox = streams.record(house, game), streams.outbox(house, game)
        self._game = game
        self._numbers = itertools.count(1)
        if earlier is not None:
            self.recorded(earlier.record)
            self.keep(sorted(earlier.messages, key=lambda entry: parse_id(entry.id)))

    def recorded(self, events: Sequence[Recorded]) -> None:
        """Keep the events of a step."""
        self._append(self._record, [entry_of(recorded, self._game) for recorded in events])

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep what players say."""
        self._append(self._outbox, [entry._replace(id=f"{next(self._numbers)}-0") for entry in entries])

    def _append(self, stream: str, entries: Sequence[Entry]) -> None:
        # after the end of all games
        with contextlib.suppress(BusDown):
            self._writer.append(stream, entries)

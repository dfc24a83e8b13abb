"""A house whose moderator is a test: it commits the lines of finished records, as many at a time as it likes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from analytics.archive import AnalyticsSettings, SessionResults, serve
from tests.services.guests import Running
from wolfbus.bus import Bus, Commit, Entry, streams
from wolfbus.errors import BusError
from wolfbus.messages.codec import FROM_AGENT, encode, pack, unpack, validate
from wolfbus.messages.events import Opened
from wolfbus.messages.house import Archived, GameClosed, GameOpened, HouseClosed, HouseOpened
from wolfbus.record.line import Recorded, bus_members, seal
from wolfbus.record.reader import open_lines, read_record

HOUSE = "fed"


class Record:
    """A record of a finished game, as its entries stand on the bus."""

    def __init__(self, path: Path, since: int | None = None, later_s: float = 0.0) -> None:
        self.path = path
        self.lines = list(open_lines(path))
        recorded = list(read_record(self.lines))
        opened = recorded[0].event
        assert isinstance(opened, Opened)
        self.game = opened.game
        self.entries: list[Entry] = []
        self.heads = [""]
        for one in recorded:
            anew = one
            if since is not None and one.n >= since:
                anew = Recorded(one.n, round(one.time + later_s, 3), one.audience, one.event)
            sealed, line = seal(self.heads[-1], anew)
            self.lines[one.n - 1] = line + b"\n"
            self.heads.append(sealed.hash)
            body = pack(bus_members(sealed))
            self.entries.append(Entry(body, one.event.type, "moderator", self.game, one.n, f"{one.n}-0"))

    def __len__(self) -> int:
        return len(self.entries)

    def done_anew(self, since: int) -> Record:
        """The same game, whose lines from `since` on were lost and came again a second later."""
        return Record(self.path, since, 1.0)


def ask(bus: Any, *command: str) -> Any:
    """Ask the Redis of a bus, past the bus."""
    return bus._links.run("", lambda link: link.ask(*command, doing="a test"))


class FedHouse:
    """Commits news and lines under an epoch of its own."""

    def __init__(self, bus: Bus, session: str = "s-1") -> None:
        self.bus = bus
        self.epoch = bus.claim(HOUSE, "the test")
        self.session = session
        self.fed: dict[str, int] = {}
        self.tell(HouseOpened(session=session))

    def tell(self, *news: Any) -> None:
        self._commit(Commit(HOUSE, "", self.epoch, "", "", posts=self._posts(news)))

    def begin(self, record: Record, number: int = 1, lines: int = 10) -> None:
        self.feed(record, lines, GameOpened(game=record.game, number=number))

    def feed(self, record: Record, until: int | None = None, *news: Any) -> None:
        done = self.fed.get(record.game, 0)
        until = len(record) if until is None else until
        step = record.entries[done:until]
        head = record.heads[until]
        self._commit(
            Commit(HOUSE, record.game, self.epoch, record.heads[done], head, step, self._posts(news))
            if step
            else Commit(HOUSE, "", self.epoch, "", "", posts=self._posts(news))
        )
        self.fed[record.game] = until

    def end(self, record: Record, number: int = 1, outcome: str = "ended") -> None:
        closed = GameClosed(game=record.game, number=number, outcome=outcome, lines=len(record), hash=record.heads[-1])
        self.feed(record, None, closed)

    def play(self, record: Record, number: int = 1) -> None:
        self.begin(record, number)
        self.end(record, number)

    def close(self, reason: str = "", failed: int = 0) -> None:
        self.tell(HouseClosed(session=self.session, games=len(self.fed), failed=failed, reason=reason))

    def tell_mailbox(self, agent: str, message: Any) -> None:
        entry = Entry(encode(message), str(getattr(message, "type", "")), "moderator")
        self._commit(Commit(HOUSE, "", self.epoch, "", "", posts=[(streams.inbox(HOUSE, agent), entry)]))

    def _posts(self, news: Sequence[Any]) -> list[tuple[str, Entry]]:
        games = streams.games(HOUSE)
        return [(games, Entry(encode(one), one.type, "moderator")) for one in news]

    def _commit(self, commit: Commit) -> None:
        (result,) = self.bus.commit([commit])
        if isinstance(result, BusError):
            raise result


class StreamTail:
    """What comes on a stream, one after the other."""

    def __init__(self, bus: Bus, stream: str) -> None:
        self._reader = bus.reader()
        self._reader.follow(stream)
        self._entries: list[Entry] = []

    def next(self, fits: Callable[[Entry], bool] = lambda _: True) -> Entry:
        while True:
            while self._entries:
                entry = self._entries.pop(0)
                if fits(entry):
                    return entry
            got = self._reader.read(20.0)
            assert got, "nothing came for 20 seconds"
            self._entries += [entry for _, entries in got for entry in entries]

    def close(self) -> None:
        self._reader.close()


class ArchiveReports:
    """What an analytics service tells the moderator of records."""

    def __init__(self, bus: Bus, name: str = "analytics") -> None:
        self._tail = StreamTail(bus, streams.outbox(HOUSE, name))

    def next(self, game: str | None = None) -> Archived:
        def fits(entry: Entry) -> bool:
            return entry.type == "archived" and game in {None, unpack(entry.body)["game"]}

        archived = validate(FROM_AGENT, unpack(self._tail.next(fits).body))
        assert isinstance(archived, Archived)
        return archived

    def close(self) -> None:
        self._tail.close()


class Service(Running):
    """An analytics service."""

    def __init__(self, url: str, folder: Path, name: str = "analytics") -> None:
        self.results: list[SessionResults] = []
        settings = AnalyticsSettings(url, HOUSE, folder, name, check_s=0.3)
        super().__init__(lambda stopping, health: serve(settings, stopping, health, self.results.append))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.ask("the test is over")
        self._thread.join()


class Site(contextlib.ExitStack):
    """A fed house, the records that it may play, and the folder in which an analytics service keeps them."""

    def __init__(
        self, url: str, bus: Bus, house: FedHouse, reports: ArchiveReports, records: Sequence[Record], folder: Path
    ) -> None:
        super().__init__()
        self.url, self.bus, self.house, self.reports, self.folder = url, bus, house, reports, folder
        self.first, self.second = records

    def service(self, name: str = "analytics", folder: str = "") -> Service:
        return Service(self.url, self.folder / folder, name)

    def tail(self, stream: str) -> StreamTail:
        return self.enter_context(contextlib.closing(StreamTail(self.bus, stream)))

    def path(self, record: Record) -> Path:
        return self.folder / f"{record.game}.ndjson"

    def is_kept(self, record: Record, lines: int | None = None) -> bool:
        """Tell whether the file is the record, or its first lines, byte by byte."""
        return self.path(record).read_bytes() == b"".join(record.lines[:lines])

    @property
    def metrics(self) -> dict[str, Any]:
        metrics: dict[str, Any] = json.loads((self.folder / "metrics.json").read_text())
        return metrics

    def archived(self, *records: Record) -> list[str | None]:
        """Return what is said of these records' archiving, in whichever order it comes."""
        errors = {archived.game: archived.error for archived in (self.reports.next() for _ in records)}
        return [errors[record.game] for record in records]

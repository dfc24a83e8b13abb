"""`CommitBuilder`: numbers, times and seals one game's events, and makes of each step the commit that writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from moderator.engine.deliveries import Deliveries
from moderator.engine.referee import OpenRequest
from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit, Entry, Unpacked
from wolfbus.canonical import canonical_members
from wolfbus.messages.codec import encode, pack, plain
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.messages.house import Dropped, GameClosed, GameOpened
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded, seal

if TYPE_CHECKING:
    from moderator.engine.context import HouseContext
    from moderator.engine.recovery import Recovered


BROKEN_OFF: Final = "the game was broken off and will not go on"
"""All that agents are told of why: what went wrong may have to do with what they must not know."""


class CommitBuilder:
    """Writes one game's record.

    Args:
        context: where the game is moderated.
        opened: the game's opening event.
        number: the game's number in its session, for the news on the house's ``games`` stream; None for no news.
        recovered: the game so far, where it goes on from a record.

    Attributes:
        count: events written.
        head: hash of the last of them, "" before the first.
        digest: digest of them all.
        deliveries: who is told what.
    """

    def __init__(self, context: HouseContext, opened: Opened, number: int | None, recovered: Recovered | None) -> None:
        self._house = context.name
        self._epoch = context.epoch
        self._game = opened.game
        self._number = number
        self._clock = context.clock
        self._began = self._clock() - (recovered.seconds if recovered else 0.0)
        self.count = recovered.count if recovered else 0
        self.head = recovered.head if recovered else ""
        self.digest = recovered.digest if recovered else Digest()
        self.deliveries = Deliveries(self._house, opened, recovered.herald if recovered else None)

    @property
    def now(self) -> float:
        """Seconds of the record so far; they stand still while nobody moderates."""
        return self._clock() - self._began

    def step(self, events: Sequence[AnyEvent], requests: Iterable[OpenRequest]) -> tuple[Commit, list[bytes]]:
        """Write the events of one step.

        Args:
            events: in record order.
            requests: what is to be put to agents.

        Returns:
            The commit that makes it happen, and the record's new lines.
        """
        expected = self.head
        now = round(self.now, 3)
        herald = self.deliveries.herald
        entries, lines = [], []
        for event in events:
            body = plain(event)
            members = canonical_members(body)
            self.digest.feed(event, members)
            self.count += 1
            unsealed = Recorded(self.count, now, herald.audience(event), event)
            recorded, line, values = seal(self.head, unsealed, body, members)
            self.head = recorded.hash
            lines.append(line)
            content = Unpacked(recorded, pack, values)
            entries.append(Entry(content, event.type, "moderator", self._game, self.count, f"{self.count}-0"))
        posts = self.deliveries.of_step(events, requests)
        if self._number is not None:
            posts.extend(self._news(events, self._number))
        return self._commit(expected, entries, posts), lines

    def beside(self, posts: Sequence[tuple[str, Entry]]) -> Commit:
        """Return a commit that writes nothing into the record; it lands only if the record ends where we think."""
        return self._commit(self.head, (), posts)

    def _news(self, events: Sequence[AnyEvent], number: int) -> Iterator[tuple[str, Entry]]:
        news: list[GameOpened | GameClosed] = []
        dropped = None
        if events[0].type == "opened":
            news.append(GameOpened(game=self._game, number=number))
        last = events[-1]
        if last.type == "ended" or last.type == "stopped":
            reason = last.reason[:300] if last.type == "stopped" else ""
            if last.type == "stopped":
                dropped = Dropped(game=self._game, reason=BROKEN_OFF)
            news.append(
                GameClosed(
                    game=self._game, number=number, outcome=last.type, lines=self.count, hash=self.head, reason=reason
                )
            )
        for item in news:
            yield streams.games(self._house), Entry(encode(item), item.type, "moderator", self._game)
        if dropped is not None:
            for agent in self.deliveries.agents:
                yield streams.inbox(self._house, agent), Entry(encode(dropped), dropped.type, "moderator")

    def _commit(self, expected: str, record: Sequence[Entry], posts: Sequence[tuple[str, Entry]]) -> Commit:
        return Commit(
            house=self._house,
            game=self._game,
            epoch=self._epoch,
            expected=expected,
            head=self.head,
            record=record,
            posts=posts,
        )

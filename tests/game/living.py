"""Who lives, line by line: as the record says it, counted here by hand, and as all that follows a game has it."""

from collections.abc import Iterator, Sequence

from analytics.gather import GameFold
from players.llm.prompts.writer import PromptWriter
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.messages.requests import Ask, Whispered
from wolfbus.record.line import Recorded
from wolfbus.stage import GameFeed, all_viewers

LEAVERS = {"dawn": ("died", "night"), "exile": ("seat", "exile"), "shot": ("seat", "shot")}
"""By type of event, the field that names who leaves by it, and how: by the rules, and by a role that a test adds."""


def left_in(records: Sequence[Recorded], until: int | None = None) -> dict[str, tuple[str, int]]:
    """Return who has left by a line of a record, how and in which round."""
    left = {}
    for event in (entry.event for entry in records[:until]):
        field, how = LEAVERS.get(event.type, (None, ""))
        if field is not None and getattr(event, field) is not None:
            left[getattr(event, field)] = how, event.round
    return left


class Followers:
    """Everything that follows a game and knows who lives: seats, pages of all viewers, rows."""

    def __init__(self, opened: Opened) -> None:
        self.names = [seat.name for seat in opened.seats]
        self.living = list(self.names)
        self._audiences = AudienceFilter()
        self._views = {name: SeatView(name) for name in self.names}
        self._feeds = {viewer: GameFeed(viewer) for viewer in all_viewers(tuple(self.names))}
        self._rows = GameFold()

    def feed(self, recorded: Recorded) -> Iterator[tuple[str, object, object]]:
        """Follow the next line; yields who has another opinion, theirs, and what is so."""
        event, living = recorded.event, self.living
        for name in left_in([recorded]):
            living.remove(name)
        facts = self._audiences.feed(event)
        for view in self._views.values():
            view.hear_public(*facts.public)
        for name, news in facts.private:
            self._views[name].hear_private(news)
            if isinstance(news.fact, Whispered) and name not in living:
                yield "whispers", name, living
        for name, view in self._views.items():
            yield f"what {name} knows", list(view.living), living
        for viewer, feed in self._feeds.items():
            feed.feed(recorded)
            if feed.beats:
                seats = {seat.name: seat for seat in feed.beats[-1].seats}
                yield f"the page of {viewer}", [name for name in self.names if seats[name].left is None], living
        self._rows.feed(event, recorded.time, recorded.n)
        if event.type == "asked":
            yield from self._asked(event)
        elif event.type in {*LEAVERS, "ended"}:
            yield from self._told(recorded)

    def _asked(self, event: AnyEvent) -> Iterator[tuple[str, object, object]]:
        for asking in event.asks:
            if asking.kind == "vote":
                yield (
                    "who may be voted for",
                    set(asking.legal) - {None, *asking.seats},
                    {*self.living} - {*asking.seats},
                )
            elif asking.kind == "bid":
                # the last speaker does not bid
                yield "who bids", len({*asking.seats} ^ {*self.living}) <= 1, True
        voters = {seat for asking in event.asks for seat in asking.seats if asking.kind == "vote"}
        listeners = {seat for asking in event.asks for seat in asking.seats if asking.kind.startswith("assess")}
        for asked in filter(None, (voters, listeners)):
            yield "whom the rules ask", asked, {*self.living}

    def _told(self, recorded: Recorded) -> Iterator[tuple[str, object, object]]:
        rows = self._rows.rows()
        gone = {name for name in self.names if name not in self.living}
        yield "rows of deaths", {death.seat for death in rows.deaths}, gone
        yield "rows of seats", {seat.name for seat in rows.seats.values() if seat.left_by is not None}, gone
        view = self._views[self.names[0]]
        ask = Ask(id="g/1/debate/1/bid/x", kind="bid", round=view.round, phase="debate", turn=1, deadline_s=9.0)
        prompt = "".join(message.content for message in PromptWriter().write([ask], view).messages)
        if "Living players: " in prompt:
            told = prompt.rpartition("Living players: ")[2].partition(".\n")[0].split(", ")
            yield "the prompts", told, self.living


def disagreements(records: Sequence[Recorded]) -> list[str]:
    """Return, line by line, whatever follows a game and does not agree who lives; [] where all do."""
    opened = records[0].event
    assert isinstance(opened, Opened)
    followers = Followers(opened)
    return [
        f"line {recorded.n}, {recorded.event.type}: {who} has {opinion}, not {fact}"
        for recorded in records
        for who, opinion, fact in followers.feed(recorded)
        if opinion != fact
    ]

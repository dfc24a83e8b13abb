"""`People`: persons who play at a page: their seats, the links that lead there, and what they see and are asked."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, Final

from wolfbus.game.config import rules_text
from wolfbus.game.roles import FACTS
from wolfbus.messages.base import GameId, SeatName
from wolfbus.messages.content import Consent
from wolfbus.messages.requests import Ask, Private, Public, Seated
from wolfbus.stage.document import GameFeed
from wolfbus.stage.viewers import EVERYTHING, PUBLIC, Fact, TableOpened, Viewer, viewer_of_seat
from wolfbus.stage.watched import Changing, LoopCalls

_ID_BYTES: Final = 6
_ASK_FIELDS: Final = {"id", "kind", "round", "phase", "turn", "about", "legal"}
_TOKEN_BYTES: Final = 24
_KEPT: Final = 64
"""Seats that are asked nothing more and can still be looked at."""
_LATE_S: Final = 1.0
"""A question is shown as late so long after its deadline."""
_BEGAN: Final = time.time() - time.monotonic()

Take = Callable[[dict[str, Any] | None, str | None, Consent | None], str | None]
"""Takes what a person answers, a thought, and what it agreed to where the record does not hold that yet; returns why it
cannot be taken, None if it was."""

CONSENTS: Final[Mapping[bool, Consent]] = {
    False: Consent(
        words="What I say, choose and judge here, with my reasons and what I write down as my thoughts, is kept in the "
        "record of the game: those who run it can read it at once, and once the game is over everybody who opens its "
        "page or has its record.",
    ),
    True: Consent(
        words="What I say, choose and judge here, with my reasons, is kept in the record of the game: those who run it "
        "can read it at once, and once the game is over everybody who opens its page or has its record. What I write "
        "down as my thoughts stands in the record alone, and is left out of pages and exports.",
        thoughts="private",
    ),
}
"""What a person agrees to before it sits down, by whether thoughts are private."""


def _unix_time() -> float:
    """Return the time as whoever never sets the clock tells it: the moderator waits by no other."""
    return _BEGAN + time.monotonic()


@dataclass(frozen=True, slots=True)
class PersonRequest:
    """What a person is asked.

    Attributes:
        ask: the request.
        lines: the question in words.
        default: what no answer counts as.
        take: takes the answer.
        due: when the moderator stops waiting; see `_unix_time`.
    """

    ask: Ask
    lines: tuple[str, ...]
    default: str
    take: Take
    due: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        values = self.ask.model_dump(mode="json", include=_ASK_FIELDS, exclude_none=True)
        values |= {"due": round(self.due, 3), "question": list(self.lines), "default": self.default}
        return {**values, "late": True} if _unix_time() > self.due + _LATE_S else values


class PersonSeat(Changing):
    """One seat that a person plays at a page. Told of by its agent from any thread; shown on the server's loop.

    Args:
        people: whose seat it is.
        game: the game's id.
        seat: the seat's name.

    Attributes:
        id: names it in addresses.
        secret: what the browser that sits here shows with every request; "" before somebody does.
        closed: whether nothing more will come.
        occupied: set once somebody sits here.
        streams: how many browsers are being told what is new.
    """

    def __init__(self, people: People, game: GameId, seat: SeatName) -> None:
        super().__init__()
        self.id = secrets.token_hex(_ID_BYTES)
        self.secret = ""
        self.game = game
        self.seat = seat
        self.occupied = threading.Event()
        self.streams = 0
        self._people = people
        self._begin()

    def _begin(self) -> None:
        self._feeds = {viewer: GameFeed(viewer) for viewer in (viewer_of_seat(self.seat), PUBLIC)}
        self._seated: Seated | None = None
        self._agreed = False
        self._began = time.monotonic()
        self._public = self._private = 0
        self._questions: dict[str, PersonRequest] = {}
        self.closed = False
        self.version = 0

    # from any thread

    def restart(self) -> None:
        """Begin anew if it began: the bus lost what it had said, and says it again."""
        if self._seated is not None:
            self._people.soon(self._begin)

    def add_facts(self, facts: Sequence[Public], private: Sequence[Private]) -> None:
        """Take in facts, some perhaps again."""
        self._people.soon(partial(self._add_facts, tuple(facts), tuple(private)))

    def add_questions(self, questions: Sequence[PersonRequest]) -> None:
        """Put questions before the person."""
        now = _unix_time()
        timed = [replace(question, due=now + question.ask.deadline_s) for question in questions]
        self._people.soon(partial(self._add_questions, timed))

    def leave(self) -> None:
        """End the seat: it is asked nothing more."""
        self._people.soon(self._leave)

    # on the loop

    def _add_facts(self, facts: Sequence[Public], private_facts: Sequence[Private]) -> None:
        fresh: list[tuple[tuple[int, int, int], Fact, bool]] = []
        for public in facts:
            if public.n == self._public + 1:
                self._public = public.n
                fresh.append(((public.n, 0, 0), public.fact, True))
        for private in private_facts:
            if private.n == self._private + 1:
                self._private = private.n
                fresh.append(((private.after, 1, private.n), private.fact, False))
                self._close(private)
        fresh.sort(key=itemgetter(0))
        for index, (_, fact, _) in enumerate(fresh):
            if isinstance(fact, Seated):
                self._seated = fact
                opened = TableOpened(self.game, None, fact.names, fact.config)
                fresh.insert(index, ((0, 0, 0), opened, True))
                break
        for viewer, feed in self._feeds.items():
            for _, fact, is_public in fresh:
                if is_public or viewer != PUBLIC:
                    feed.take(feed.line + 1, time.monotonic() - self._began, [fact])
        self.wake()

    def _close(self, private: Private) -> None:
        """Take a question away to which the moderator has an answer, or has waited for one long enough.

        The newest stays where its time ran out: an answer, however late, makes the game wait for this seat again.
        """
        fact = private.fact
        if fact.type != "answered":
            return
        self._agreed = self._agreed or fact.outcome == "accepted"
        for question in list(self._questions.values()):
            if (question.ask.kind, question.ask.about) == (fact.kind, fact.about):
                newest = question is list(self._questions.values())[-1]
                if fact.outcome != "timed_out" or not newest:
                    del self._questions[question.ask.id]
                return

    def _add_questions(self, questions: Sequence[PersonRequest]) -> None:
        now = _unix_time()
        self._questions = {name: question for name, question in self._questions.items() if question.due > now}
        for question in questions:
            self._questions[question.ask.id] = question
        self.wake()

    def _leave(self) -> None:
        self._questions.clear()
        self.closed = True
        self.wake()

    def wake(self) -> None:
        """Wake all who wait for a change."""
        self.version += 1
        super().wake()

    @contextlib.contextmanager
    def streaming(self) -> Iterator[None]:
        """Count a browser as told what is new, within the context."""
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1
            super().wake()

    async def all_sent(self) -> None:
        """Wait until every browser has been sent the last there is, where nothing more comes."""
        while self.streams and (self.closed or self.feed.over):
            await self.change(_LATE_S)

    @property
    def feed(self) -> GameFeed:
        """What the person is shown."""
        return self._feeds[viewer_of_seat(self.seat)]

    @property
    def table(self) -> GameFeed:
        """What everybody may know."""
        return self._feeds[PUBLIC]

    @property
    def alive(self) -> bool:
        """Whether the seat is in the game."""
        beats = self.feed.beats
        return not beats or all(seat.left is None for seat in beats[-1].seats if seat.name == self.seat)

    def viewers(self) -> list[Viewer]:
        """Return what else the person may look at: as a ghost the table, after the end everything."""
        if self.feed.over:
            return [PUBLIC, EVERYTHING]
        return [] if self.alive else [PUBLIC]

    def status(self) -> dict[str, Any]:
        """Return what goes with every page and event: questions, and how the seat stands."""
        return {
            "me": self.seat,
            "now": round(_unix_time(), 3),
            "alive": self.alive,
            "asks": [question.as_json() for question in self._questions.values()],
            "watch": self.viewers(),
        }

    def page(self) -> dict[str, Any]:
        """Return the data of the person's page."""
        page = {**self.feed.page(), "viewers": [self.feed.viewer], "problems": [], **self.status()}
        page["thoughts"] = self._people.consent.thoughts
        if (seated := self._seated) is not None:
            page |= {"role": seated.role, "partners": list(seated.partners), "goal": FACTS[seated.role].goal}
            page["rules"] = rules_text(seated.config, technical=False)
        return page

    def answer(self, request: str, content: dict[str, Any] | None, thought: str | None) -> tuple[int, str]:
        """Take an answer; returns an HTTP status, and why it was not taken, "" if it was."""
        question = self._questions.get(request)
        if question is None:
            return 409, "this is not asked any more"
        why = question.take(content, thought, None if self._agreed else self._people.consent)
        if why is not None:
            return 422, why
        self._questions.pop(request, None)
        self.wake()
        return 200, ""


class People(LoopCalls):
    """Persons who play at the pages of one server.

    Args:
        invite: called, from any thread, with seat and link's path whenever a seat waits for a person, or its link is
            needed once more.
        private_thoughts: whether what they think is left out of pages and exports.

    Attributes:
        consent: what a person agrees to before it sits down.
    """

    def __init__(self, invite: Callable[[PersonSeat, str], None], *, private_thoughts: bool = False) -> None:
        super().__init__()
        self.consent = CONSENTS[private_thoughts]
        self._invite = invite
        self._seats: dict[tuple[GameId, SeatName], PersonSeat] = {}
        self._by_id: dict[str, PersonSeat] = {}
        self._tokens: dict[str, PersonSeat] = {}
        self._used: dict[str, PersonSeat] = {}

    def sit(self, game: GameId, seat: SeatName) -> PersonSeat:
        """Return the seat of a person, and send its link out if it is new; from any thread."""
        existing = self._seats.get((game, seat))
        if existing is not None:
            existing.restart()
            return existing
        self._forget()
        new = self._seats[game, seat] = PersonSeat(self, game, seat)
        self._by_id[new.id] = new
        self._issue(new)
        return new

    def _issue(self, seat: PersonSeat) -> None:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._tokens[_digest(token)] = seat
        self._invite(seat, f"/seat#{token}")

    def gather(self, game: GameId, seats: Sequence[SeatName], patience_s: float) -> bool:
        """Send the links of a game that is about to begin, and wait until somebody sits on each; False if not in time.

        So nobody's time runs before they are there.
        """
        deadline = time.monotonic() + patience_s
        waiting = [self.sit(game, seat) for seat in seats]
        # a long wait cannot be interrupted on every platform
        while not all(seat.occupied.wait(min(1.0, max(0.0, deadline - time.monotonic()))) for seat in waiting):
            if time.monotonic() >= deadline:
                return False
        return True

    async def all_sent(self, most_s: float) -> None:
        """Wait until whoever sits where nothing more comes has been sent the last of it; at most so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                for seat in list(self._seats.values()):
                    await seat.all_sent()

    def _forget(self) -> None:
        """Forget the seats that were left first, where more than enough are kept."""
        closed = [seat for seat in list(self._seats.values()) if seat.closed]
        for seat in closed[: max(0, len(closed) - _KEPT)]:
            self._seats.pop((seat.game, seat.seat), None)
            self._by_id.pop(seat.id, None)
            for tokens in (self._tokens, self._used):
                for digest in [digest for digest, other in list(tokens.items()) if other is seat]:
                    tokens.pop(digest, None)

    def invited(self, token: str) -> PersonSeat | None:
        """Return the seat to which a token leads; None if it leads nowhere any more."""
        return self._tokens.get(_digest(token))

    def redeem(self, token: str) -> PersonSeat | None:
        """Return the seat to which a token leads, and use the token up; None if it leads nowhere any more.

        Whoever sat there before has left it: theirs is the secret of before.
        """
        seat = self._tokens.pop(_digest(token), None)
        if seat is not None:
            self._used[_digest(token)] = seat
            seat.secret = secrets.token_urlsafe(_TOKEN_BYTES)
            seat.occupied.set()
            seat.wake()
        return seat

    def reissue(self, token: str) -> PersonSeat | None:
        """Return the seat to which a token has led that was used; None if there is none, or nothing comes there.

        A fresh link to it is then sent out, to whoever sends links on, and not to who asks; one at a time.
        """
        seat = self._used.get(_digest(token))
        if seat is None or seat.closed:
            return None
        if seat not in self._tokens.values():
            self._issue(seat)
        return seat

    def seat(self, name: str, secret: str) -> PersonSeat | None:
        """Return a seat by its id, for who sits there; None for anybody else."""
        seat = self._by_id.get(name)
        if seat is None or not seat.secret or not secrets.compare_digest(_digest(seat.secret), _digest(secret)):
            return None
        return seat

    def waiting(self) -> list[dict[str, Any]]:
        """Return what a library tells of seats that wait for a person."""
        invited = list(self._tokens.values())
        seats = [seat for seat in invited if not (seat.occupied.is_set() or seat.closed or seat.feed.over)]
        return [{"game": seat.game, "seat": seat.seat} for seat in seats]


def _digest(token: str) -> str:
    # a browser may send halves of characters as well
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()

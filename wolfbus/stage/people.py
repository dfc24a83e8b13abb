"""`People`: persons who play at a page: their seats, the links that lead there, and what they see and are asked."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, Final

from wolfbus.messages.base import GameId, SeatName
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

Take = Callable[[dict[str, Any] | None, str | None], str | None]
"""Takes what a person answers, and a thought; returns why it cannot be taken, None if it was."""


@dataclass(frozen=True, slots=True)
class PersonRequest:
    """What a person is asked.

    Attributes:
        ask: the request.
        lines: the question in words.
        default: what no answer counts as.
        take: takes the answer.
        due: Unix time when the moderator stops waiting.
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
        return {**values, "late": True} if time.time() > self.due + _LATE_S else values


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
    """

    def __init__(self, people: People, game: GameId, seat: SeatName) -> None:
        super().__init__()
        self.id = secrets.token_hex(_ID_BYTES)
        self.secret = ""
        self.game = game
        self.seat = seat
        self._people = people
        self._begin()

    def _begin(self) -> None:
        self._feeds = {viewer: GameFeed(viewer) for viewer in (viewer_of_seat(self.seat), PUBLIC)}
        self._seated: Seated | None = None
        self._began = time.monotonic()
        self._public = self._private = 0
        self._questions: dict[str, PersonRequest] = {}
        self.closed = False
        self.version = 0

    # from any thread

    def restart(self) -> None:
        """Begin anew: the bus lost what it had said, and says it again."""
        self._people.soon(self._begin)

    def add_facts(self, facts: Sequence[Public], private: Sequence[Private]) -> None:
        """Take in facts, some perhaps again."""
        self._people.soon(partial(self._add_facts, tuple(facts), tuple(private)))

    def add_questions(self, questions: Sequence[PersonRequest]) -> None:
        """Put questions before the person."""
        now = time.time()
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
        for question in list(self._questions.values()):
            if (question.ask.kind, question.ask.about) == (fact.kind, fact.about):
                newest = question is list(self._questions.values())[-1]
                if fact.outcome != "timed_out" or not newest:
                    del self._questions[question.ask.id]
                return

    def _add_questions(self, questions: Sequence[PersonRequest]) -> None:
        now = time.time()
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
        """Return what goes with every event: questions, and how the seat stands."""
        return {
            "now": round(time.time(), 3),
            "alive": self.alive,
            "asks": [question.as_json() for question in self._questions.values()],
            "watch": self.viewers(),
        }

    def page(self) -> dict[str, Any]:
        """Return the data of the person's page."""
        page = {**self.feed.page(), "viewers": [self.feed.viewer], "problems": [], "me": self.seat, **self.status()}
        if self._seated is not None:
            page |= {"role": self._seated.role, "partners": list(self._seated.partners)}
        return page

    def answer(self, request: str, content: dict[str, Any] | None, thought: str | None) -> tuple[int, str]:
        """Take an answer; returns an HTTP status, and why it was not taken, "" if it was."""
        question = self._questions.get(request)
        if question is None:
            return 409, "this is not asked any more"
        why = question.take(content, thought)
        if why is not None:
            return 422, why
        self._questions.pop(request, None)
        self.wake()
        return 200, ""


class People(LoopCalls):
    """Persons who play at the pages of one server.

    Args:
        invite: called, from any thread, with seat and link's path whenever a seat waits for a person.
    """

    def __init__(self, invite: Callable[[PersonSeat, str], None]) -> None:
        super().__init__()
        self._invite = invite
        self._seats: dict[tuple[GameId, SeatName], PersonSeat] = {}
        self._by_id: dict[str, PersonSeat] = {}
        self._tokens: dict[str, PersonSeat] = {}

    def sit(self, game: GameId, seat: SeatName) -> PersonSeat:
        """Return the seat of a person, and send its link out if it is new; from any thread."""
        existing = self._seats.get((game, seat))
        if existing is not None:
            existing.restart()
            return existing
        self._forget()
        new = self._seats[game, seat] = PersonSeat(self, game, seat)
        self._by_id[new.id] = new
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._tokens[_digest(token)] = new
        self._invite(new, f"/seat#{token}")
        return new

    def _forget(self) -> None:
        """Forget the seats that were left first, where more than enough are kept."""
        closed = [seat for seat in list(self._seats.values()) if seat.closed]
        for seat in closed[: max(0, len(closed) - _KEPT)]:
            self._seats.pop((seat.game, seat.seat), None)
            self._by_id.pop(seat.id, None)
            for digest in [digest for digest, other in list(self._tokens.items()) if other is seat]:
                self._tokens.pop(digest, None)

    def redeem(self, token: str) -> PersonSeat | None:
        """Return the seat to which a token leads, and use the token up; None if it leads nowhere any more."""
        seat = self._tokens.pop(_digest(token), None)
        if seat is not None:
            seat.secret = secrets.token_urlsafe(_TOKEN_BYTES)
        return seat

    def seat(self, name: str, secret: str) -> PersonSeat | None:
        """Return a seat by its id, for who sits there; None for anybody else."""
        seat = self._by_id.get(name)
        if seat is None or not seat.secret or not secrets.compare_digest(_digest(seat.secret), _digest(secret)):
            return None
        return seat

    def waiting(self) -> list[dict[str, Any]]:
        """Return what a library tells of seats that wait for a person."""
        return [{"game": seat.game, "seat": seat.seat} for seat in list(self._tokens.values()) if not seat.feed.over]


def _digest(token: str) -> str:
    # a browser may send halves of characters as well
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()

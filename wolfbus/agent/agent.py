"""`Agent`: the class that one's own player of the game is a subclass of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from wolfbus.agent.answer import AnswerLike
from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.knowledge.view import Memory, SeatView
from wolfbus.messages.content import CONTENT, Choice
from wolfbus.messages.requests import Ask, Private, Public, PublicFact

if TYPE_CHECKING:
    from wolfbus.agent.outbox import Replies

Returned: TypeAlias = AnswerLike | Awaitable[AnswerLike]
"""What a method returns, or what a coroutine function's call gives."""


class Agent:
    """Plays one seat of one game; every seat gets an instance of its own, made without arguments.

    Override the methods named after the kinds of request that you want to answer. Each may be a
    plain function or ``async def``, gets the request and all that the seat may know, and returns an
    answer: a simple value, a dict, the content type itself (see `wolfbus.agent.answer.Simple`), an
    `Answer` that also holds a thought, or `NO_ANSWER` to let the request time out. Kinds that are
    not overridden are declined: they are never asked, and the conservative default stands in
    (bid 0, silence, an abstention, nobody, no assessment). ``ask.legal`` holds the names that may be
    answered, None among them where nobody is an answer; ``ask.about`` the number of the statement
    to assess.

    The methods of one instance are called one at a time. Plain ones run in a thread, so they may
    take their time; coroutines share one event loop with all other seats, and the hooks `seated`,
    `heard` and `ended` are called between messages, so they must not block. What is raised closes
    the request without an answer, with a line in the log and in the record. An answer after
    ``ask.deadline_s`` seconds is too late.

    A process that is started again gets new instances and is told the whole game so far, so keep
    nothing that matters outside the view, or rebuild it in `heard`. If the bus loses its last
    moments, the same happens to the seat: the old instance is closed, an answer under way is
    dropped, and a new one hears what is left of the game.

    A deterministic agent's answer depends on ``view`` and ``ask`` alone: it draws from
    ``view.brain_seed`` ("" where the moderator's operator does not run it) with `wolfbus.game.draws`,
    and holds no random stream, so that a restarted process answers the same.

    Attributes:
        name: what records call the agent, as ``outside:NAME``.
        version: its version, for the moderator's log.
        quick: True calls plain methods at once instead of in a thread each, mostly on the thread that reads
            the bus, so they must not block either: for agents that answer in microseconds.
        game: id of the game, set before `seated`.
        seat: the seat's name, set before `seated`.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = "0"
    quick: ClassVar[bool] = False

    game: str = ""
    seat: str = ""

    def answer(self, ask: Ask, view: SeatView, /) -> Returned:
        """Hand a request to the method named after its kind, or else to `choose`; override it to answer all kinds."""
        method: Callable[[Ask, SeatView], Returned] = getattr(self, ask.kind, self.choose)
        return method(ask, view)

    def start(self, asks: tuple[Ask, ...], view: SeatView, replies: Replies, /) -> object:
        """Begin to answer the requests of one delivery, and return at once.

        Override it, in place of the methods by kind, to answer many requests at a time and later.

        Args:
            asks: the requests, in the order in which they should go out.
            view: everything this seat may know now. It changes afterwards: take from it what is
                needed before returning.
            replies: where every answer goes, in time or late, from any thread.
        """
        raise NotImplementedError

    def bid(self, ask: Ask, view: SeatView, /) -> Returned:
        """Say how much this seat wants the floor: an int from 0 to ``view.config.bid_max``."""
        raise NotImplementedError

    def speak(self, ask: Ask, view: SeatView, /) -> Returned:
        """Make one public statement: a str; None or blank text is silence."""
        raise NotImplementedError

    def assess_own(self, ask: Ask, view: SeatView, /) -> Returned:
        """Label this seat's own statement ``view.statements[ask.about]``: the fields of `Label`."""
        raise NotImplementedError

    def assess_other(self, ask: Ask, view: SeatView, /) -> Returned:
        """Judge another's statement ``view.statements[ask.about]``: the fields of `Judgement`."""
        raise NotImplementedError

    def vote(self, ask: Ask, view: SeatView, /) -> Returned:
        """Vote for one of ``ask.legal``: a name, None to abstain, or ``{"target": …, "reason": …}``."""
        raise NotImplementedError

    def kill(self, ask: Ask, view: SeatView, /) -> Returned:
        """Choose the victim of the only Werewolf left: a name of ``ask.legal``."""
        return self.choose(ask, view)

    def protect(self, ask: Ask, view: SeatView, /) -> Returned:
        """Choose whom this Doctor protects tonight: a name of ``ask.legal``."""
        return self.choose(ask, view)

    def inspect(self, ask: Ask, view: SeatView, /) -> Returned:
        """Choose whose role this Seer learns at dawn: a name of ``ask.legal``."""
        return self.choose(ask, view)

    def choose(self, ask: Ask, view: SeatView, /) -> Returned:
        """Choose a player at night, whatever for, where there is no method named after ``ask.kind``."""
        raise NotImplementedError

    def whisper(self, ask: Ask, view: SeatView, /) -> Returned:
        """Propose a victim to the other Werewolves: a name, or ``{"target": …, "word": …}``; `SeatView.proposals` holds
        what was proposed this night.
        """
        raise NotImplementedError

    def received(self, facts: Sequence[Public], private: Sequence[Private], /) -> None:
        """Take in facts as they came, numbered and in order, some perhaps again: for agents that show a game.

        Called first of all with whatever comes, and at once, so it must not block.

        Args:
            facts: what everybody learns.
            private: what this seat alone learns.
        """

    def seated(self, view: SeatView, /) -> Awaitable[None] | None:
        """Hear of the role and the rules. Called once, first."""

    def heard(self, news: Sequence[PublicFact | Memory], view: SeatView, /) -> Awaitable[None] | None:
        """Hear what is new: public facts, then what this seat alone learned or did. Called before
        requests.

        A seat that leaves the game hears so here (``view.death`` is then the fact that says it). It
        is asked nothing more, unless its role acts as it leaves, and goes on hearing what is public, to the end.
        """

    def ended(self, view: SeatView, /) -> Awaitable[None] | None:
        """Hear that the seat is played no more; ``view.ended`` says who has won and
        ``view.revealed`` who was what. ``view.ended`` is None where the game was broken off, or
        this process leaves.
        """

    def close(self) -> None:
        """Release everything: last, or as soon as the game is over while a method still works on an answer, which
        nobody wants any more. `heard` and `ended` are then called once that method has come back.
        """

    @classmethod
    def declines(cls) -> tuple[Kind, ...]:
        """Return the kinds of request that this class does not answer."""
        if cls.answer is not Agent.answer or cls.start is not Agent.start:
            return ()
        chooses = cls.choose is not Agent.choose
        return tuple(
            kind
            for kind in KINDS
            if getattr(cls, kind, None) is getattr(Agent, kind, None) and not (chooses and CONTENT[kind] is Choice)
        )

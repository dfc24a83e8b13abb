"""`Brain`: what answers for a seat. The protocol is one method; `BaseBrain` makes it one method per kind of request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from wolfbus.agent.answer import Answer
from wolfbus.messages.calls import Call, PromptText
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

Given: TypeAlias = Answer | Content | None
"""What a brain may return: an answer, its bare content for short, or None to let the request time out."""


class Brain(Protocol):
    """Anything that answers requests. It is made without arguments, one per seat.

    A brain may also carry `quick`, `declines` and `heard`, as `BaseBrain` describes them.
    """

    def answer(self, ask: Ask, view: SeatView, /) -> Given:
        """Answer one request.

        Args:
            ask: the request; where `ask.legal` is given, a name outside it counts as no answer.
            view: everything this seat may know. Read it, never change it.

        Returns:
            The answer, or None for none: the moderator then waits until the deadline and takes the default.
        """
        ...


class Outlet(Protocol):
    """Where a brain that answers later puts its answers and reports; safe from any thread."""

    def answer(self, ask: Ask, given: Given, /) -> None:
        """Answer one request; None only says that there will be no answer."""
        ...

    def segments(self, texts: Sequence[PromptText], /) -> None:
        """Report prompt text before a call refers to it; text that was reported already is not sent again."""
        ...

    def called(self, call: Call, /) -> None:
        """Report a model call, before the answer that came of it."""
        ...


@runtime_checkable
class LaterBrain(Protocol):
    """A brain that answers later, many requests at a time, without a thread of its own: a language model's."""

    def start(self, asks: tuple[Ask, ...], view: SeatView, outlet: Outlet, /) -> None:
        """Begin to answer the requests of one delivery, and return at once.

        Args:
            asks: the requests, in the order in which they should go out.
            view: everything this seat may know now. It changes afterwards: take from it what is needed before
                returning.
            outlet: where every answer goes, in time or late, from any thread.
        """
        ...

    def close(self) -> None:
        """Give up what is still under way: the seat is played no more."""
        ...


class BaseBrain:
    """A brain with a method per kind of request, so that a subclass overrides only what interests it.

    What is not overridden answers with the conservative default at once: bid 0, silence, no assessment, an
    abstention, nobody.

    A deterministic brain's answer depends on `view` and `ask` alone: it draws from `view.brain_seed` ("" for agents
    that are not run by the moderator's operator) with `wolfbus.draws`, and holds no random stream, so that a restarted
    process answers the same.

    Attributes:
        quick: True for a brain that answers in microseconds and may run inside its player's actor; False gives it a
            thread of its own while it thinks, so that it keeps nobody waiting.
        declines: kinds of request that this brain never answers; they are not even asked, and the default stands in.
    """

    quick: bool = False
    declines: tuple[Kind, ...] = ()

    def answer(self, ask: Ask, view: SeatView, /) -> Given:
        """Hand the request to the method named after its kind."""
        method: Callable[[Ask, SeatView], Given] = getattr(self, ask.kind)
        return method(ask, view)

    def heard(self, view: SeatView, /) -> None:
        """Take note of news with which nothing is asked: others' turns, one's own death (`view.death`), what
        everybody hears after it, and the end (`view.ended`, with all roles in `view.revealed`).

        Called inside the seat's actor, so it must not block; never while this brain answers in a thread of its own.
        """

    def bid(self, _ask: Ask, _view: SeatView, /) -> Answer | Bid | None:
        """Say how much this seat wants the floor: 0 to `view.config.bid_max`."""
        return Bid(bid=0)

    def speak(self, _ask: Ask, _view: SeatView, /) -> Answer | Speech | None:
        """Make one public statement; blank text is silence."""
        return Speech(text="")

    def assess_own(self, _ask: Ask, _view: SeatView, /) -> Answer | Label | None:
        """Label this seat's own statement, number `ask.about` of `view.statements`."""
        return Answer(None, note="this brain assesses no statement")

    def assess_other(self, _ask: Ask, _view: SeatView, /) -> Answer | Judgement | None:
        """Judge another's statement, number `ask.about` of `view.statements`."""
        return Answer(None, note="this brain assesses no statement")

    def vote(self, _ask: Ask, _view: SeatView, /) -> Answer | Ballot | None:
        """Vote for one of `ask.legal`, with a public reason or without; None abstains."""
        return Ballot(target=None)

    def kill(self, ask: Ask, _view: SeatView, /) -> Answer | Choice | None:
        """Choose the victim of the only Werewolf left."""
        return _nobody(ask)

    def protect(self, ask: Ask, _view: SeatView, /) -> Answer | Choice | None:
        """Choose whom this Doctor protects tonight."""
        return _nobody(ask)

    def inspect(self, ask: Ask, _view: SeatView, /) -> Answer | Choice | None:
        """Choose whose role this Seer learns at dawn."""
        return _nobody(ask)

    def whisper(self, _ask: Ask, _view: SeatView, /) -> Answer | Proposal | None:
        """Propose a victim to the other Werewolves; `view.proposals()` holds what was proposed this night so far."""
        return Answer(None, note="this brain proposes nobody")


def _nobody(ask: Ask) -> Answer | Choice:
    if ask.legal is not None and None in ask.legal:
        return Choice(target=None)
    return Answer(None, note="this brain chooses nobody")

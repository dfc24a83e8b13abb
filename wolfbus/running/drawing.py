"""`StatementDraws`: statements drawn of an agent outside any game, for forks: what it would say at one moment of a
record, and how it would label that.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from moderator.engine.forking import ForkPoint, SpeakerScene, Told
from moderator.engine.referee import find_fault
from players.spec import build
from wolfbus.actors import ActorPool, tell_if_alive
from wolfbus.actors.closable import Closable
from wolfbus.agent.agent import Agent
from wolfbus.agent.outbox import Outbox
from wolfbus.agent.seat import GameLeft, SeatActor, SeatNews
from wolfbus.claims import verdict
from wolfbus.claims.hearing import claims_in
from wolfbus.errors import WolfError
from wolfbus.knowledge.departure import departure
from wolfbus.knowledge.truth import GameFacts
from wolfbus.messages.calls import PromptText
from wolfbus.messages.codec import REPLIES, unpack, validate
from wolfbus.messages.content import Content, Label, Speech
from wolfbus.messages.events import Fork, Opened
from wolfbus.messages.requests import Seated, SeatPart
from wolfbus.reading.values import normalise

if TYPE_CHECKING:
    from pykka import ActorRef

    from players.spec import BrainContext

_SLACK_S: Final = 5.0
"""Seconds beyond a request's deadline after which an answer is not waited for."""
_LOOK_S: Final = 0.5
"""Seconds between two looks at whether an answer can still come."""
_INSINCERE: Final = frozenset({"lie", "insincere"})


def is_honest(facts: GameFacts, speaker: str, speech: Speech, label: Label | None) -> bool:
    """Return whether a statement is honest: its speaker says so, and nothing that it claims, in words or attached, is
    ruled out by what the speaker knows. Without a label it does not count as honest.
    """
    if label is None or label.deceptive:
        return False
    claims = {*speech.claims, *claims_in(speech.text, speaker, facts.roles)}
    return all(verdict(facts, speaker, claim) not in _INSINCERE for claim in claims)


def facts_at(point: ForkPoint) -> GameFacts:
    """Return what is true where a game is forked, and who knows it."""
    facts = GameFacts({seat.name: seat.role for seat in point.opened.seats}, point.opened.config.reveal_on_death)
    round_ = 0
    for recorded in point.before:
        event = recorded.event
        if event.type == "asked":
            round_ = event.round
        elif event.type == "answered":
            if event.kind == "protect" and event.content is not None and event.content.target is not None:
                facts.protect(round_, event.seat, event.content.target)
        elif event.type == "inspection":
            facts.inspect(event.round, event.seat, event.target, event.role)
        elif (departed := departure(event)) is not None:
            facts.leave(departed.seat, departed.how)
    return facts


class StatementDraws(Closable):
    """Draws statements; any number of threads may draw at a time.

    Model calls for it count against the process's budget and accounts; they are in no record.

    Args:
        brain_context: what the brains of this process share.
    """

    def __init__(self, brain_context: BrainContext) -> None:
        self._brain_context = brain_context
        self._pool = ActorPool(1, name="draws")
        self._is_closed = False

    def close(self) -> None:
        """End every draw."""
        self._is_closed = True
        self._pool.close()

    def draw(self, point: ForkPoint, fork: Fork, game: str, tries: int) -> tuple[Speech | None, int]:
        """Return what stands in the statement's place in an arm that is drawn, and how many statements were drawn.

        Args:
            point: where the game is forked.
            fork: the fork; its arm is ``redraw``, ``honest`` or ``by:AGENT``.
            game: its id.
            tries: how many statements may be drawn, >= 1.

        Returns:
            The statement, None if none of them could be used, or was honest; and the number of draws.

        Raises:
            WolfError: the speaker can be asked no more, as where its model halts or the budget is spent.
        """
        speaker = point.answer.seat
        brain = next(seat.brain for seat in point.opened.seats if seat.name == speaker)
        brain = fork.arm.removeprefix("by:") if fork.arm.startswith("by:") else brain
        facts = facts_at(point) if fork.arm == "honest" else None
        for number in range(1, tries + 1):
            # every try draws anew, and the first as the same speaker does in other arms
            seed = fork.seed if number == 1 else f"{fork.seed}|{number}"
            opened = point.opening(fork.model_copy(update={"seed": seed}), game)
            speech, label = self._ask(brain, SpeakerScene(point, opened), opened, speaker, labels=facts is not None)
            if speech is not None and (facts is None or is_honest(facts, speaker, speech, label)):
                return speech, number
            if (why := self._why_over(brain)) is not None:
                raise why
        return None, tries

    def _why_over(self, brain: str) -> WolfError | None:
        return WolfError("the draws are given up") if self._is_closed else self._brain_context.why_over([brain])

    def _ask(
        self, brain: str, scene: SpeakerScene, opened: Opened, seat: str, *, labels: bool
    ) -> tuple[Speech | None, Label | None]:
        agent = build(brain, self._brain_context)
        agent.game, agent.seat = opened.game, seat
        talk = _Talk(lambda: self._why_over(brain) is not None)
        actor = SeatActor.start_in(self._pool, opened.game, seat, agent, talk)
        try:
            speech = talk.answer(actor, seat, scene.floor())
            if not isinstance(speech, Speech) or find_fault(speech, None, opened.config, None)[0] is not None:
                return None, None
            if not labels or opened.config.label == "with":
                return speech, speech.label
            label = talk.answer(actor, seat, scene.label(speech))
            return speech, label if isinstance(label, Label) else None
        finally:
            tell_if_alive(actor, GameLeft())


class _Replies(Outbox):
    """An out stream that keeps replies for whoever asked, and nothing else."""

    def __init__(self) -> None:  # there is no bus
        self.replies: queue.Queue[bytes] = queue.Queue()
        self.joined_at = 0.0

    def send(self, game: str, body: bytes, kind: str = "reply") -> None:  # noqa: ARG002
        if kind == "reply":
            self.replies.put(body)

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText]) -> None:
        """Leave prompt text out: there is no record that it could stand in."""


class _Talk:
    """What a seat has of this process: a `SeatContext`.

    Args:
        is_over: whether it can answer no more.
    """

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self.outbox = _Replies()
        self._is_over = is_over

    def missed(self, game: str, why: str, /) -> None:
        raise RuntimeError(f"game {game}: {why}")

    def new_agent(self, seated: Seated, /) -> Agent:
        raise RuntimeError(f"game {seated.game}: nothing is told twice here")

    def seat_left(self) -> None:
        """Need no count."""

    def answer(self, actor: ActorRef[SeatActor], seat: str, scene: Told) -> Content | None:
        """Tell a seat something, and return what it answers; None where it gives no usable answer in time."""
        part = SeatPart(seat=seat, facts=scene.private, asks=(scene.ask,))
        tell_if_alive(actor, SeatNews(scene.public, part, None, time.monotonic()))
        until = time.monotonic() + scene.ask.deadline_s + _SLACK_S
        while time.monotonic() < until and not self._is_over():
            with contextlib.suppress(queue.Empty):
                content = validate(REPLIES, unpack(self.outbox.replies.get(timeout=_LOOK_S))).content
                return None if content is None else normalise(content)
        return None

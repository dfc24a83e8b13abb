"""`ScriptedBrain`: puts the rules behind the brain protocol."""

from __future__ import annotations

from players.scripted.assessing import judge, label
from players.scripted.choosing import ballot, bid, inspect, kill, protect, whisper
from players.scripted.honest import plan_honest
from players.scripted.phrasing import sentence
from players.scripted.standpoint import PublicNotes, Standpoint
from players.scripted.wolfish import plan_wolf
from wolfbus.agent import Agent
from wolfbus.agent.answer import Answer
from wolfbus.messages.content import Speech
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView


class ScriptedBrain(Agent):
    """Plays any role by fixed rules; its answers depend on the view and the request alone.

    The notes it keeps are a fold over the view's public facts, grown as the view grows and begun anew for another
    view: they save time and decide nothing.
    """

    quick = True

    def __init__(self) -> None:
        self._view: SeatView | None = None
        self._names: tuple[str, ...] = ()
        self._notes = PublicNotes(())
        self._heard = 0
        self._traits: dict[tuple[str, str, int], float] = {}

    def bid(self, ask: Ask, view: SeatView, /) -> Answer:
        """Bid by urgency."""
        content, thought = bid(self._standpoint(ask, view))
        return Answer(content, thought)

    def speak(self, ask: Ask, view: SeatView, /) -> Answer:
        """Say what the role and the talk so far suggest."""
        at = self._standpoint(ask, view)
        plan = plan_wolf(at) if at.wolf else plan_honest(at)
        return Answer(Speech(text=sentence(at, plan), claims=plan.claims), plan.thought[:80] or None)

    def assess_own(self, ask: Ask, view: SeatView, /) -> Answer:
        """Label the own statement by what it said and what this seat knows."""
        return Answer(label(self._standpoint(ask, view)))

    def assess_other(self, ask: Ask, view: SeatView, /) -> Answer:
        """Judge a statement by its cues."""
        return Answer(judge(self._standpoint(ask, view)))

    def vote(self, ask: Ask, view: SeatView, /) -> Answer:
        """Vote by suspicion and knowledge."""
        content, thought = ballot(self._standpoint(ask, view))
        return Answer(content, thought)

    def kill(self, ask: Ask, view: SeatView, /) -> Answer:
        """Kill the greatest threat."""
        content, thought = kill(self._standpoint(ask, view))
        return Answer(content, thought)

    def protect(self, ask: Ask, view: SeatView, /) -> Answer:
        """Protect whom the Werewolves may want."""
        content, thought = protect(self._standpoint(ask, view))
        return Answer(content, thought)

    def inspect(self, ask: Ask, view: SeatView, /) -> Answer:
        """Inspect the most suspicious player not known yet."""
        return Answer(inspect(self._standpoint(ask, view)))

    def whisper(self, ask: Ask, view: SeatView, /) -> Answer:
        """Propose the greatest threat, then agree."""
        content, thought = whisper(self._standpoint(ask, view))
        return Answer(content, thought if ask.turn == 1 else None)

    def _standpoint(self, ask: Ask, view: SeatView) -> Standpoint:
        if view is not self._view or view.names != self._names:
            self._view, self._names = view, view.names
            self._notes, self._heard = PublicNotes(view.names), 0
            self._traits = {}
        facts = view.public
        if len(facts) > self._heard:
            self._notes.take_in(facts[self._heard :])
            self._heard = len(facts)
        return Standpoint(view, ask, self._notes, self._traits)

"""Players of whom it is known by construction what a lie does: a statement with the moon in it is one, its speaker says
so, and whoever hears it is more suspicious by as much as its class says.
"""

from typing import ClassVar

from wolfbus.agent import Agent, Answer
from wolfbus.game.draws import choose, unit

LIE = "I swear by the moon."
TRUTH = "I swear by nothing."
ASKED: list[str] = []
"""Ids of all requests that players of this process were asked, in order."""


class Knows(Agent):
    """Lies every second time, whatever its role; a lie raises suspicion by `effect`, and its votes follow suspicion."""

    quick = True
    effect: ClassVar[float] = 0.3
    lies: ClassVar[float] = 0.5

    def _unit(self, ask, view, what: str) -> float:
        return unit(view.brain_seed, what, ask.round, ask.turn, ask.about or 0)

    def answer(self, ask, view, /):
        """Note what is asked, and answer it."""
        ASKED.append(ask.id)
        return super().answer(ask, view)

    def bid(self, _ask, _view, /):
        """Leave it to the rules who speaks."""
        return 5

    def speak(self, ask, view, /):
        """Lie, or not."""
        words = LIE if self._unit(ask, view, "lies") < self.lies else TRUTH
        return Answer(words, thought=f"I thought of {words}")

    def assess_own(self, ask, view, /):
        """Admit a lie."""
        lied = "moon" in view.statements[ask.about].text
        return {"deceptive": lied, "confidence": 1.0, "kind": "fabrication" if lied else "none", "reasoning": ""}

    def assess_other(self, ask, view, /):
        """Suspect who lied."""
        lied = "moon" in view.statements[ask.about].text
        suspicion = 0.2 + self.effect * lied + 0.2 * self._unit(ask, view, "noise")
        kind = "fabrication" if lied else "none"
        return {"deceptive": lied, "confidence": 1.0, "kind": kind, "reasoning": "", "suspicion": suspicion}

    def vote(self, ask, view, /):
        """Vote for whom it suspects most."""
        names = [name for name in ask.legal if name is not None]
        return max(names, key=lambda name: (view.suspicion.of(view.me, name), name))

    def whisper(self, ask, view, /):
        """Propose anybody."""
        return self.choose(ask, view)

    def choose(self, ask, view, /):
        """Choose anybody."""
        return choose(view.brain_seed, ask.kind, [name for name in ask.legal if name is not None], ask.round)


class Pretends(Knows):
    """Says nothing, and that a fork had it so."""

    def speak(self, _ask, _view, /):
        """Say nothing, with a fork's note."""
        return Answer(note="kept silent by the fork")


class Shrugs(Knows):
    """A lie changes nothing."""

    effect = 0.0


class AlwaysLies(Knows):
    """Never makes an honest statement."""

    lies = 1.0


class Insists(Knows):
    """Wants the floor, whoever else does."""

    def bid(self, _ask, _view, /):
        """Bid all."""
        return 10

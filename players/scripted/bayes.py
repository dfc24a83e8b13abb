"""`BayesBrain`: votes, protects and inspects by what could be known for all that was claimed: a reference seat.

It talks, judges, bids and, as a Werewolf, plays as the scripted player does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from players.scripted.brain import ScriptedBrain, protect
from wolfbus.agent.answer import Answer
from wolfbus.claims.hearing import claims_in
from wolfbus.errors import RulesError
from wolfbus.game.vocabulary import Role
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Choice
from wolfbus.messages.requests import Ask
from wolfbus.posterior import Knowledge, Posterior


class BayesBrain(ScriptedBrain):
    """Believes that whoever is no Werewolf speaks the truth of itself (`wolfbus.posterior`, rung "honest"), and acts on
    the exact probabilities that follow, with claims as they are heard in the words. Where those tell nobody apart it
    goes by the scripted player's belief; in a game with more deals than a posterior goes through, by that alone.

    A vote names whoever is a Werewolf most likely; a Doctor protects whoever is the Seer most likely; a Seer inspects
    whom it is least certain of.
    """

    quick = False

    def __init__(self) -> None:
        super().__init__()
        self._posterior: Posterior | None = None
        self._progress: tuple[SeatView | None, int] = (None, 0)
        """The view, and how many of its public facts the posterior has heard."""

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        """Answer by the posterior what it decides, all else by the script."""
        if view.role == "Werewolf" or ask.kind not in {"vote", "protect", "inspect"}:
            return super().answer(ask, view)
        role: Role = "Seer" if ask.kind == "protect" else "Werewolf"
        likely = self._likely(view, role)
        names = [name for name in ask.legal or () if name is not None and name in likely and name != view.me]
        if not names:
            return super().answer(ask, view)
        player = self._player(ask, view)
        if ask.kind == "vote":
            return Answer(Ballot(target=max(_first(names, likely), key=player.belief)), "Most likely a Werewolf.")
        if ask.kind == "inspect":
            # nearest to one half: whoever an inspection tells most of
            doubt = {name: -abs(likely[name] - 0.5) for name in names}
            return Answer(Choice(target=max(_first(names, doubt), key=player.belief)), "I cannot tell.")
        seers = _first(names, likely)
        if len(seers) == len(names):
            return protect(player)
        return Answer(Choice(target=player.pick("protect", seers)), "Most likely the Seer.")

    def _likely(self, view: SeatView, role: Role) -> Mapping[SeatName, float]:
        """Return how likely each player has a role; empty where no posterior says."""
        earlier_view, facts_heard = self._progress
        try:
            if view is not earlier_view or facts_heard > len(view.public):
                self._posterior, facts_heard = Posterior(view.config, view.names), 0
            if self._posterior is None:
                return {}
            for fact in view.public[facts_heard:]:
                self._posterior.hear(fact)
                if fact.type == "statement":
                    self._posterior.claim(fact.speaker, claims_in(fact.text, fact.speaker, view.names))
            knowledge = Knowledge(view.me, {view.me: view.role, **view.inspections}, dict(view.protections))
            (shares,) = self._posterior.probabilities([knowledge], "honest", role)
        except RulesError:
            self._posterior = None
            return {}
        finally:
            self._progress = view, len(view.public)
        return dict(zip(view.names, shares.tolist(), strict=True))


def _first(names: Iterable[SeatName], likely: Mapping[SeatName, float]) -> list[SeatName]:
    """Return who of some players comes first, all of them where several are equal but for the last bits."""
    names = list(names)
    most = max(likely[name] for name in names)
    return [name for name in names if likely[name] >= most - 1e-9]

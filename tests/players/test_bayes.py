"""`bayes` votes, protects and inspects by the posterior of what it heard; otherwise it plays as `scripted`."""

from __future__ import annotations

import pytest

from players.scripted import ScriptedBrain
from players.spec import build
from tests.players.table import CONFIGS, play
from wolfbus.claims.hearing import claims_in
from wolfbus.game.config import GameConfig
from wolfbus.messages.content import Ballot, Choice
from wolfbus.posterior import Knowledge, Posterior


def likely(view, role="Werewolf") -> dict[str, float]:
    """P(role) of everybody, from all that a view holds, heard anew."""
    posterior = Posterior(view.config, view.names)
    for fact in view.public:
        posterior.hear(fact)
        if fact.type == "statement":
            posterior.claim(fact.speaker, claims_in(fact.text, fact.speaker, view.names))
    knowledge = Knowledge(view.me, {view.me: view.role, **view.inspections}, dict(view.protections))
    return dict(zip(view.names, posterior.probabilities([knowledge], "honest", role)[0], strict=True))


@pytest.mark.parametrize("config", ["paper", "big", "free"])
def test_it_votes_protects_and_inspects_by_the_posterior_and_all_else_is_scripted(config):
    decided = {"vote": 0, "protect": 0, "inspect": 0}

    def watch(ask, view, answer):
        if view.role == "Werewolf" or ask.kind not in decided:
            assert answer == ScriptedBrain().answer(ask, view)
            return
        target = answer.content.target
        assert isinstance(answer.content, Ballot | Choice)
        names = [name for name in ask.legal if name is not None and name != view.me]
        chances = likely(view, "Seer" if ask.kind == "protect" else "Werewolf")
        if ask.kind == "inspect":
            chances = {name: -abs(chance - 0.5) for name, chance in chances.items()}
        best = max(chances[name] for name in names)
        if ask.kind != "protect" or min(chances[name] for name in names) < best - 1e-6:
            assert chances[target] == pytest.approx(best)
            decided[ask.kind] += 1

    for seed in ("1", "2"):
        play(seed, CONFIGS[config], [lambda: build("bayes")], watch=watch)
    assert min(decided.values()) > 0


def test_with_more_deals_than_a_posterior_takes_it_plays_as_the_scripted_player():
    config = GameConfig(villagers=4, werewolves=4, seers=4, doctors=4, max_rounds=1)
    by_bayes, by_script = (play("1", config, [lambda brain=brain: build(brain)]) for brain in ("bayes", "scripted"))
    assert by_bayes.events == by_script.events

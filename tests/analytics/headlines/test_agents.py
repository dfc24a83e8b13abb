"""What each agent did and how it was seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analytics.columns import columns_of
from analytics.findings import metrics
from analytics.measures.agents import agents
from analytics.measures.study import Study
from analytics.rows import GameRows
from tests.analytics.script import random_game

GAMES = [random_game(seed).rows() for seed in range(12)]


FOUND = agents(Study(columns_of(GAMES)))


def of(game: GameRows, brain: str) -> set[str]:
    return {name for name, seat in game.seats.items() if seat.agent == brain}


def test_an_agents_scores_are_those_of_its_own_rows():
    for brain in ("one", "two"):
        acts = [replace(g, judgements=tuple(j for j in g.judgements if j.observer in of(g, brain))) for g in GAMES]
        row = metrics(acts)["table3"]["overall"]
        for name in ("accuracy", "balanced_accuracy"):
            assert FOUND[brain][name]["value"] == pytest.approx(row[name])
            assert FOUND[brain][name]["n"] == row["n"]
        assert FOUND[brain]["auc"]["value"] == pytest.approx(metrics(acts)["headline"]["all"]["auc"], abs=1e-9)
        seen = [replace(g, judgements=tuple(j for j in g.judgements if j.target in of(g, brain))) for g in GAMES]
        caught = metrics(seen)["table3"]["overall"]
        assert FOUND[brain]["caught"]["value"] == pytest.approx(caught["recall"])
        assert FOUND[brain]["caught"]["n"] == caught["tp"] + caught["fn"]
        production = metrics(GAMES)["production"]["by_brain"][brain]
        assert FOUND[brain]["deception_rate"]["value"] == pytest.approx(production["rate"])
        votes = [replace(g, votes=tuple(v for v in g.votes if v.voter in of(g, brain))) for g in GAMES]
        assert FOUND[brain]["vote_hit"]["value"] == pytest.approx(metrics(votes)["votes"]["hits"]["value"])
        for name, wolf in (("suspicion_as_wolf", True), ("suspicion_as_villager", False)):
            values = [
                d
                for g in GAMES
                for (_, target), d in g.suspicion.items()
                if target in of(g, brain) and (g.seats[target].role == "Werewolf") == wolf
            ]
            assert (FOUND[brain][name]["value"], FOUND[brain][name]["n"]) == (
                pytest.approx(np.mean(values)),
                len(values),
            )


def test_seats_roles_and_wins_are_counted():
    finished = [game for game in GAMES if game.finished]
    for brain in ("one", "two"):
        row = FOUND[brain]
        seats = [seat for game in GAMES for seat in game.seats.values() if seat.agent == brain]
        assert row["seats"] == len(seats) == sum(row["roles"].values())
        wolves = [(g.winner, s.role) for g in finished for s in g.seats.values() if s.agent == brain]
        for side, wolf in (("villagers", False), ("werewolves", True)):
            own = [winner == side for winner, role in wolves if (role == "Werewolf") == wolf]
            assert row["wins"][side]["value"] == pytest.approx(np.mean(own))
            assert row["wins"][side]["n"] == len(own)
            assert row["wins"][side]["low"] <= row["wins"][side]["value"] <= row["wins"][side]["high"]

"""What could be known at every vote, and what agents make of it, against plain loops over deals and rows."""

import math
from dataclasses import replace

import pytest
from sklearn import metrics as sk

from analytics.gather import fold
from tests.analytics.script import gathered, measured
from tests.players.table import play
from tests.test_posterior import Game
from wolfbus.game.config import GameConfig

SMALL = GameConfig(villagers=3, werewolves=2, seers=1, doctors=1, debate_turns=3)


def games(count: int, config: GameConfig = SMALL) -> list:
    played = {f"g{seed}": fold(play(str(seed), config).events) for seed in range(count)}
    return [
        replace(rows, game=name, knowable=tuple(replace(row, game=name) for row in rows.knowable))
        for name, rows in played.items()
    ]


def ladder_of(rows: list) -> dict:
    return measured("ladder", gathered(rows).tables)


@pytest.fixture(scope="module")
def eight() -> list:
    return games(8, GameConfig())


@pytest.mark.parametrize("seed", ["0", "3"])
def test_at_every_vote_the_rows_hold_what_a_search_through_all_deals_finds(seed):
    played = play(seed, SMALL)
    rows = fold(played.events)
    said = {row.number: row for row in rows.statements}
    game, checked = Game(SMALL, played.roles), 0
    for event in played.events:
        if event.type == "tally":
            for row in (row for row in rows.knowable if row.round == event.round):
                deals = game.fitting(row.observer)
                searched = [game.search(deals, rung)[row.target] for rung in ("facts", "honest")]
                assert [row.facts, row.honest] == pytest.approx(searched, abs=1e-9)
                assert row.counts == pytest.approx(2 / 6)
                ballot = event.votes[row.observer]
                assert row.voted is (None if ballot is None else ballot == row.target)
                checked += 1
        if event.type == "statement":
            claims = [scored.claim for scored in said[event.statement].claims]
            game.claims += [
                (event.speaker, claim)
                for claim in claims
                if claim.claim != "stance" and not getattr(claim, "denied", False)
            ]
        if event.type not in {"claim_truth", "ended"}:
            game.tell(event)
    assert checked == len(rows.knowable) > 20


def pairs(rows: list) -> list:
    return [row for game in rows for row in game.knowable if row.suspicion is not None]


def test_scores_of_agents_and_rungs_agree_with_scikit_learn(eight):
    found = ladder_of(eight)["rungs"]
    wolf = [row.target_role == "Werewolf" for row in pairs(eight)]
    for rung in ("suspicion", "counts", "facts", "honest"):
        said = [getattr(row, rung) for row in pairs(eight)]
        clipped = [min(max(value, 0.01), 0.99) for value in said]
        assert found[rung]["brier"]["value"] == pytest.approx(sk.brier_score_loss(wolf, said))
        assert found[rung]["log"]["value"] == pytest.approx(sk.log_loss(wolf, clipped))
        assert found[rung]["auc"]["value"] == pytest.approx(sk.roc_auc_score(wolf, said))
        assert found[rung]["auc"]["n"] == len(wolf)


def test_use_of_claims_is_one_ratio_of_sums_and_of_one_who_says_what_claims_tell_it_is_1(eight):
    def loss(rung: str) -> float:
        return math.fsum((getattr(row, rung) - (row.target_role == "Werewolf")) ** 2 for row in pairs(eight))

    expected = (loss("suspicion") - loss("facts")) / (loss("honest") - loss("facts"))
    assert loss("honest") < loss("facts")
    assert ladder_of(eight)["overall"]["claims_used"]["value"] == pytest.approx(expected)
    for rung, used in (("honest", 1.0), ("facts", 0.0)):
        as_told = [
            replace(game, knowable=tuple(replace(row, suspicion=getattr(row, rung)) for row in game.knowable))
            for game in eight
        ]
        assert ladder_of(as_told)["overall"]["claims_used"]["value"] == pytest.approx(used)
    silent = [replace(game, knowable=tuple(replace(row, honest=row.facts) for row in game.knowable)) for game in eight]
    assert ladder_of(silent)["overall"]["claims_used"]["value"] is None


def test_votes_for_the_all_but_cleared_are_counted_beside_a_vote_at_random(eight):
    cleared = [
        replace(row, honest=0.05 if row.target < "M" else row.honest + 0.1) for game in eight for row in game.knowable
    ]
    votes = [row for row in cleared if row.voted]
    chance = []
    for vote in votes:
        one = (vote.game, vote.round, vote.observer)
        known = [row.honest for row in cleared if (row.game, row.round, row.observer) == one]
        chance.append(sum(value <= 0.05 for value in known) / len(known))
    rows = [replace(game, knowable=tuple(row for row in cleared if row.game == game.game)) for game in eight]
    found = ladder_of(rows)["overall"]["cleared_votes"]
    assert found["n"] == len(votes)
    assert found["value"] == pytest.approx(sum(vote.honest <= 0.05 for vote in votes) / len(votes))
    assert found["baseline"] == pytest.approx(sum(chance) / len(chance))


def test_rates_of_claims_come_of_other_blocks_and_need_five(eight):
    assert ladder_of(eight)["rungs"]["rates"]["brier"]["n"] == len(pairs(eight))
    few = ladder_of(eight[:4])["rungs"]["rates"]["brier"]
    assert (few["value"], few["n"]) == (None, 0)


def test_without_votes_nothing_is_known_and_the_page_says_nothing():
    nothing = ladder_of([])
    assert nothing["rungs"]["honest"]["brier"]["value"] is None
    assert nothing["overall"]["claims_used"]["reason"]


def test_a_record_that_contradicts_the_rules_has_rows_up_to_there():
    events = list(play("3", SMALL).events)
    wolf = next(seat.name for seat in events[0].seats if seat.role == "Werewolf")
    place = [number for number, event in enumerate(events) if event.type == "dawn"][1]
    events[place] = events[place].model_copy(update={"died": wolf})
    rows = fold(events[: place + 1])
    assert {row.round for row in rows.knowable} == {1}

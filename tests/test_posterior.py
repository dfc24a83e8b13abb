"""The posterior over deals is that of a search through all of them which knows no shortcut."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import permutations

import numpy as np
import pytest

from tests.game import driver
from tests.players.table import play
from wolfbus.errors import RulesError
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import ROLES
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim
from wolfbus.messages.events import AnyEvent
from wolfbus.posterior import SORTS, ClaimRates, Knowledge, Posterior, sort_of

Deal = dict[str, str]
Facts = list[tuple[str, object]]
"""What was told: ("died", (name or None, night, living at dusk)), ("exiled", name), ("shown", (name, role or team))."""


class Game:
    """A game told to a posterior, and noted beside it in words that the search below understands."""

    def __init__(self, config: GameConfig, roles: Deal, rates: ClaimRates | None = None) -> None:
        self.config = config
        self.roles = roles
        self.posterior = Posterior(config, list(roles), rates)
        self.living = list(roles)
        self.deals = every_deal(tuple(roles), tuple(roles.values()))
        """All that fit what everybody was told."""
        self.likelihoods: dict[str, dict[int, float]] = {}
        """By claim and deal: the claim's, which many searches ask for."""
        self.quiet: dict[int, list[str]] = {}
        self.claims: list[tuple[str, Claim]] = []
        self.speakers: dict[int, str] = {}
        self.dawns = 0
        self.inspected: dict[str, Deal] = {name: {} for name in roles}
        self.protected: dict[str, dict[int, str]] = {name: {} for name in roles}

    def tell(self, event: AnyEvent) -> None:
        if event.type == "inspection":
            self.inspected[event.seat][event.target] = event.role
        if event.type == "answered" and event.kind == "protect" and event.content is not None:
            self.protected[event.seat][1 + self.dawns] = event.content.target
        if event.type in {"dawn", "exile", "statement", "tally", "silence"}:
            self.posterior.hear(event)
        if event.type in {"dawn", "exile"}:
            self._leave(event)
        if event.type == "claim_truth":
            speaker = self.speakers[event.statement]
            self.posterior.claim(speaker, [scored.claim for scored in event.claims])
            self.claims += [(speaker, scored.claim) for scored in event.claims]
        if event.type == "statement":
            self.speakers[event.statement] = event.speaker

    def _leave(self, event: AnyEvent) -> None:
        name = event.died if event.type == "dawn" else event.seat
        if event.type == "dawn":
            self.dawns += 1
            due = not self.config.kill_optional and (event.round > 1 or self.config.first_night_kill)
            if name is not None:
                self._rule(lambda deal: deal[name] != "Werewolf")
            elif due:
                self.quiet[event.round] = list(self.living)
        if name is not None:
            self.living.remove(name)
            shown = event.role or event.team
            if shown is not None:
                self._rule(lambda deal: shown in {deal[name], side(deal[name])})
        self._rule(lambda deal: goes_on(deal, self.living))

    def _rule(self, holds: Callable[[Deal], bool]) -> None:
        self.deals = [deal for deal in self.deals if holds(deal)]

    def knowledge(self, name: str) -> Knowledge:
        known = {name: self.roles[name], **self.inspected[name]}
        if self.roles[name] == "Werewolf":
            known |= {other: role for other, role in self.roles.items() if role == "Werewolf"}
        return Knowledge(name, known, self.protected[name])

    def fitting(self, name: str) -> list[Deal]:
        """Return the deals that fit what a seat was told."""
        known = self.knowledge(name).roles.items()
        fitting = [deal for deal in self.deals if all(deal[other] == role for other, role in known)]
        saved = [deal for deal in fitting if all(self.could_be_saved(deal, night, name) for night in self.quiet)]
        return saved or fitting

    def search(self, fitting: list[Deal], rung: str, rates: ClaimRates | None = None) -> dict[str, float]:
        """Return P(Werewolf) by going through every deal that fits."""
        weights = [1.0] * len(fitting)
        claims = distinct(self.claims)
        if rung == "honest":
            untrue = [sum(contradicts(deal, *claim) for claim in claims) for deal in fitting]
            weights = [float(count == min(untrue)) for count in untrue]
        if rung == "rates":
            weights = [math.prod(self.likelihood(deal, *claim, rates) for claim in claims) for deal in fitting]
        total = sum(weights)
        return {
            other: sum(w for w, deal in zip(weights, fitting, strict=True) if deal[other] == "Werewolf") / total
            for other in self.roles
        }

    def likelihood(self, deal: Deal, speaker: str, claim: Claim, rates: ClaimRates) -> float:
        of_claim = self.likelihoods.setdefault(f"{speaker} {claim}", {})
        if id(deal) not in of_claim:
            of_claim[id(deal)] = likelihood(deal, speaker, claim, rates)
        return of_claim[id(deal)]

    def could_be_saved(self, deal: Deal, night: int, observer: str) -> bool:
        doctors = [name for name in self.quiet[night] if deal[name] == "Doctor"]
        if not doctors:
            return False
        mine = self.protected[observer].get(night)
        if mine is None or set(doctors) - {observer}:
            return True
        return deal[mine] != "Werewolf"


@cache
def every_deal(names: tuple[str, ...], roles: tuple[str, ...]) -> list[Deal]:
    return [dict(zip(names, deal, strict=True)) for deal in sorted(set(permutations(roles)))]


def side(role: str) -> str:
    return "werewolves" if role == "Werewolf" else "villagers"


def goes_on(deal: Deal, living: list[str]) -> bool:
    wolves = sum(deal[name] == "Werewolf" for name in living)
    return 0 < wolves < len(living) - wolves


def distinct(claims: list[tuple[str, Claim]]) -> list[tuple[str, Claim]]:
    kept: dict[str, tuple[str, Claim]] = {}
    for speaker, claim in claims:
        words = claim.model_dump()
        words.pop("round", None)
        kept[f"{speaker} {words}"] = (speaker, claim)
    return list(kept.values())


def is_true(deal: Deal, speaker: str, claim: Claim) -> bool:
    match claim:
        case RoleClaim():
            return deal[claim.target] == claim.role
        case AccusationClaim():
            return deal[claim.target] == "Werewolf"
        case InspectionClaim():
            return deal[speaker] == "Seer" and deal[claim.target] == claim.role
        case ProtectionClaim():
            return deal[speaker] == "Doctor"


def contradicts(deal: Deal, speaker: str, claim: Claim) -> bool:
    if deal[speaker] == "Werewolf" or isinstance(claim, AccusationClaim):
        return False
    if isinstance(claim, RoleClaim) and claim.target != speaker:
        return False
    return not is_true(deal, speaker, claim)


def likelihood(deal: Deal, speaker: str, claim: Claim, rates: ClaimRates) -> float:
    sort = sort_of(speaker, claim, deal)
    rate = math.exp(rates.log_rates[ROLES.index(deal[speaker]), SORTS.index(sort)])
    if claim.target == speaker:
        return rate
    others = [name for name in deal if name != speaker]
    alike = [
        name
        for name in others
        if is_true(deal, speaker, claim.model_copy(update={"target": name})) == is_true(deal, speaker, claim)
    ]
    return rate / len(alike)


def check(game: Game, rates: ClaimRates | None = None) -> None:
    for name in game.living:
        fitting = game.fitting(name)
        for rung in ("facts", "honest", "rates"):
            (row,) = game.posterior.probabilities([game.knowledge(name)], rung)
            assert dict(zip(game.roles, row, strict=True)) == pytest.approx(game.search(fitting, rung, rates), abs=1e-6)


GAMES = {
    "a doctor": GameConfig(villagers=3, werewolves=1, seers=1, doctors=1),
    "two doctors": GameConfig(villagers=2, werewolves=2, seers=1, doctors=2),
    "teams shown": GameConfig(villagers=3, werewolves=2, seers=1, doctors=1, reveal_on_death="team"),
    "roles shown": GameConfig(villagers=3, werewolves=2, seers=1, doctors=1, reveal_on_death="role"),
    "kill optional, eight seats": GameConfig(kill_optional=True),
}


@pytest.mark.parametrize("config", GAMES.values(), ids=GAMES)
def test_every_rung_equals_a_search_through_all_deals_after_every_vote_and_night(config):
    told = 0
    for seed in map(str, range(6)):
        played = play(seed, config)
        rates = ClaimRates(np.log(np.random.default_rng(int(seed)).dirichlet(np.ones(len(SORTS)), len(ROLES))))
        game = Game(config, played.roles, rates)
        for event in played.events:
            if event.type == "ended":
                break
            game.tell(event)
            if event.type == "tally" or (event.type == "statement" and event.turn == 1):
                told += len(game.claims)
                check(game, rates)
    assert told


def test_a_quiet_night_tells_the_doctor_that_whom_it_protected_is_no_werewolf():
    quiet = driver.hunting({1: "Vic", 2: "Vic"}, {1: "Vic", 2: "Vic"})
    played = driver.play(driver.TABLE, "1", quiet)
    game = Game(driver.TABLE, played.roles)
    for event in played.events[: next(n for n, event in enumerate(played.events) if event.type == "dawn") + 1]:
        game.tell(event)
    (doctor,) = game.posterior.probabilities([game.knowledge("Doc")], "facts")
    (villager,) = game.posterior.probabilities([game.knowledge("Val")], "facts")
    by_doctor, by_villager = (dict(zip(game.roles, row, strict=True)) for row in (doctor, villager))
    assert by_doctor["Vic"] == 0
    assert by_doctor["Wim"] == pytest.approx(2 / 6)
    assert by_villager["Vic"] == pytest.approx(2 / 7)


def test_a_night_without_a_kill_for_want_of_a_doctor_rules_nothing_out():
    def nobody_kills(question: driver.Question) -> driver.Given | None:
        return driver.Missing() if question.kind in {"whisper", "kill", "vote"} else None

    config = GameConfig(villagers=5, werewolves=2, seers=1, doctors=0)
    played = driver.play(config.model_copy(update={"max_rounds": 2}), "3", nobody_kills)
    game = Game(config, played.roles)
    for event in played.events[:-1]:
        game.tell(event)
    name = next(name for name, role in game.roles.items() if role == "Villager")
    (row,) = game.posterior.probabilities([game.knowledge(name)], "facts")
    assert dict(zip(game.roles, row, strict=True))[name] == 0
    assert sorted(row)[1:] == pytest.approx([2 / 7] * 7)


def test_a_game_with_too_many_deals_says_how_many():
    config = GameConfig(villagers=4, werewolves=4, seers=4, doctors=4)
    with pytest.raises(RulesError, match=r"63,063,000 deals; a posterior goes through 1,000,000 at most"):
        Posterior(config, [str(number) for number in range(16)])


def test_a_claim_that_is_repeated_counts_once_and_one_of_a_stranger_not_at_all():
    names = list("abcdefgh")
    once, often = Posterior(GameConfig(), names), Posterior(GameConfig(), names)
    claims = [RoleClaim(target="a", role="Seer"), InspectionClaim(target="b", role="Werewolf", round=1)]
    once.claim("a", claims)
    for _ in range(5):
        often.claim("a", [*claims, InspectionClaim(target="b", role="Werewolf"), AccusationClaim(target="zoe")])
    knowledge = [Knowledge("c", {"c": "Villager"})]
    assert once.probabilities(knowledge, "honest").tolist() == often.probabilities(knowledge, "honest").tolist()


def test_two_who_claim_to_be_the_seer_are_not_both_believed():
    posterior = Posterior(GameConfig(), list("abcdefgh"))
    posterior.claim("a", [RoleClaim(target="a", role="Seer")])
    posterior.claim("b", [RoleClaim(target="b", role="Seer")])
    (row,) = posterior.probabilities([Knowledge("c", {"c": "Villager"})], "honest")
    a, b, _, *others = row
    # one is the Seer and the other a Werewolf, or both are Werewolves: as many deals each way
    assert a == b == pytest.approx(2 / 3)
    assert sum(row) == pytest.approx(2)
    assert max(others) < a


def test_rates_are_counted_with_what_was_made_and_no_sort_is_impossible():
    roles = {"a": "Werewolf", "b": "Seer", "c": "Villager"}
    made = [("Werewolf", sort_of("a", RoleClaim(target="a", role="Seer"), roles))] * 3
    made += [("Seer", sort_of("b", InspectionClaim(target="a", role="Werewolf"), roles))]
    rates = np.exp(ClaimRates.fit(made).log_rates)
    assert rates.sum(axis=1) == pytest.approx([1.0] * len(ROLES))
    by_role = dict(zip(ROLES, rates, strict=True))
    assert by_role["Werewolf"].max() == pytest.approx(3.5 / (3 + len(SORTS) / 2))
    assert by_role["Villager"] == pytest.approx([1 / len(SORTS)] * len(SORTS))
    assert rates.min() > 0

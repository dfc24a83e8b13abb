"""Suspicion before and after the Seer speaks up, and after the Doctor's nights."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from analytics.findings import Metrics
from analytics.rows import NightRow
from tests.analytics.script import TABLE, Script, random_game, section
from wolfbus.messages.content import AccusationClaim, InspectionClaim, RoleClaim, ScoredClaim


def claiming(rows, number, claim):
    statements = tuple(
        replace(s, claims=(ScoredClaim(claim=claim, verdict="true"),)) if s.number == number else s
        for s in rows.statements
    )
    return replace(rows, statements=statements)


CLAIM = RoleClaim(target="Sia", role="Seer")


def seer_game(before, after, name="g1", told=CLAIM):
    script = Script(name).dawn()
    for s in before:
        script.said("Sia", False, {"Vic": (True, s), "Wim": (True, s)})
    first = script.number + 1
    for s in after:
        script.said("Sia", False, {"Vic": (False, s)})
    return claiming(script.end().rows(), first, told)


def test_a_seer_is_before_its_claim_and_from_it_on_by_hand():
    seer = section("events")([seer_game([0.6, 0.8], [0.5, 0.3]), seer_game([0.4], [0.4], "g2")])["seer"]
    assert (seer["before"]["value"], seer["before"]["n"]) == (pytest.approx((0.6 + 0.8 + 0.4) / 3), 3)
    assert (seer["after"]["value"], seer["after"]["n"]) == (pytest.approx((0.5 + 0.3 + 0.4) / 3), 3)
    assert seer["difference"]["value"] == pytest.approx((-0.3 + 0.0) / 2)
    assert (seer["difference"]["n"], seer["games"], seer["claimed"], seer["silent"]) == (2, 2, 2, 0)
    assert (seer["difference"]["low"], seer["difference"]["high"]) == (None, None)
    assert seer["difference"]["interval_reason"].startswith("fewer than 5 games (blocks)")


def test_games_of_one_block_are_drawn_together():
    games = [seer_game([0.3 + 0.05 * at], [0.4 + 0.01 * at**2], f"g{at}") for at in range(6)]
    doubled = [*games, *(replace(rows, game=f"twin of {rows.game}") for rows in games)]
    one, other = Metrics(), Metrics()
    for at, rows in enumerate(doubled):
        one.add(rows, f"block {at % 6}")
        other.add(rows)
    tight, loose, plain = (
        found["seer"] for found in (other.result()["events"], one.result()["events"], section("events")(games))
    )
    for name in ("before", "after", "difference"):
        # a game and its twin in one block tell no more than the game alone
        for part in ("value", "low", "high"):
            assert loose[name][part] == pytest.approx(plain[name][part], abs=1e-12)
        assert tight[name]["high"] - tight[name]["low"] < 0.9 * (loose[name]["high"] - loose[name]["low"])


@pytest.mark.parametrize(
    "told",
    [
        RoleClaim(target="Vic", role="Seer"),
        RoleClaim(target="Sia", role="Villager"),
        InspectionClaim(target="Wim", role="Werewolf"),
        AccusationClaim(target="Sia"),
    ],
)
def test_only_a_role_claim_of_oneself_is_a_claim_to_be_the_seer(told):
    seer = section("events")([seer_game([0.6], [0.5], told=told)])["seer"]
    assert (seer["before"]["value"], seer["after"]["value"], seer["claimed"], seer["silent"]) == (None, None, 0, 1)
    assert "no Seer" in seer["before"]["reason"]


def test_who_only_pretends_to_be_the_seer_does_not_count():
    script = Script().dawn()
    number = script.said("Wim", True, {"Vic": (True, 0.9)})
    found = section("events")([claiming(script.rows(), number, RoleClaim(target="Wim", role="Seer"))])["seer"]
    assert (found["claimed"], found["after"]["n"]) == (0, 0)


def night(round_, target, protected, died):
    return NightRow(game="g", round=round_, target=target, protected=protected, died=died)


def doctor_game(nights, suspicions, name="g1"):
    script = Script(name)
    for s in suspicions:
        script.dawn()
        if s is not None:
            script.said("Doc", False, {"Vic": (True, s), "Val": (True, s + 0.1)})
        script.exile()
    rows = script.end().rows()
    kinds = {"blocked": ("Vic", ("Vic",), None), "killed": ("Von", ("Vic",), "Von"), "none": (None, ("Vic",), None)}
    return replace(rows, nights=tuple(night(at, *kinds[kind]) for at, kind in enumerate(nights, 1)))


def test_a_doctor_is_judged_on_days_after_blocked_and_after_deadly_nights_by_hand():
    found = section("events")(
        [
            doctor_game(["blocked", "killed", "none"], [0.3, 0.7, 0.9]),
            doctor_game(["killed", "blocked"], [0.5, None], "g2"),
        ]
    )["doctor"]
    assert (found["blocked"]["value"], found["blocked"]["n"]) == (pytest.approx(0.35), 1)
    assert (found["killed"]["value"], found["killed"]["n"]) == (pytest.approx((0.75 + 0.55) / 2), 2)
    assert found["difference"]["value"] == pytest.approx(0.35 - 0.65)
    assert [found[f"nights_{name}"] for name in ("blocked", "killed", "without_attempt")] == [2, 2, 1]


def lively(seed):
    """A random game with claims of the Seer and nights of all sorts."""
    rng = random.Random(seed)
    rows = random_game(seed).rows()
    own = [s.number for s in rows.statements if s.role == "Seer"]
    if own and rng.random() < 0.8:
        rows = claiming(rows, rng.choice(own), CLAIM)
    nights = [
        rng.choice([night(at, "Vic", (), "Vic"), night(at, "Vic", ("Vic",), None), night(at, None, (), None)])
        for at in range(1, rows.rounds + 1)
    ]
    return replace(rows, nights=tuple(nights))


GAMES = [lively(seed) for seed in range(80)]


def test_events_agree_with_a_plain_loop():
    found = section("events")(GAMES)
    cells = {"before": [], "after": [], "blocked": [], "killed": []}
    changes = []
    for rows in GAMES:
        mean = {}
        for s in rows.statements:
            values = [j.s for j in rows.judgements if j.statement == s.number and j.usable]
            if values:
                mean[s.number] = np.mean(values)
        first = next((s.number for s in rows.statements if s.claims), None)
        own = {"before": [], "after": []}
        for s in rows.statements:
            if s.number not in mean:
                continue
            if s.role == "Seer" and first is not None:
                own["before" if s.number < first else "after"].append(mean[s.number])
            if s.role == "Doctor":
                night = rows.nights[s.round - 1]
                if night.target:
                    cells["killed" if night.died else "blocked"].append(mean[s.number])
        for name, values in own.items():
            cells[name] += values
        if own["before"] and own["after"]:
            changes.append(np.mean(own["after"]) - np.mean(own["before"]))
    for name, values in cells.items():
        cell = found["seer" if name in ("before", "after") else "doctor"][name]
        assert (cell["value"], cell["n"]) == (pytest.approx(np.mean(values)), len(values))
        assert cell["low"] < cell["value"] < cell["high"]
    assert found["seer"]["difference"]["value"] == pytest.approx(np.mean(changes))
    assert found["seer"]["games"] == len(changes) > 3


def test_events_ignore_order_and_partition():
    one, other = Metrics(), Metrics()
    for at, rows in enumerate(reversed(GAMES)):
        (one if at % 3 else other).add(rows)
    one.merge(other)
    assert one.result()["events"] == section("events")(GAMES)


def test_events_ignore_seating():
    rows = GAMES[0]
    turned = replace(rows, seats={name: rows.seats[name] for name in reversed(TABLE)})
    assert section("events")([turned]) == section("events")([rows])


@pytest.mark.parametrize("games", [[], [random_game(1, missing=1.0).rows()]])
def test_without_judgements_all_is_null_with_a_reason(games):
    for part in section("events")(games).values():
        for cell in part.values():
            if isinstance(cell, dict):
                assert (cell["value"], cell["low"], cell["n"]) == (None, None, 0)
                assert cell["reason"]

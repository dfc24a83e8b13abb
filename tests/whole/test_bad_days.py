"""Brains that fail, buses that break, views that crash: the game ends finished and legal, or with one clear reason."""

from __future__ import annotations

import re
import threading
import time

import pytest

from tests.proxy import Proxy
from tests.whole.house import HASTY, outcomes, play_many
from wolfbus.cli.embedded import EmbeddedHouse
from wolfbus.cli.proof import ProofCriteria, open_source, prove
from wolfbus.config import Deadlines, GameConfig
from wolfbus.messages.codec import decode_delivery
from wolfbus.testing.redis_server import RedisServer


def brains(name: str, count: int = 2) -> tuple[str, ...]:
    return (f"tests.whole.brains:{name}",) * count + ("random",) * (8 - count)


@pytest.mark.parametrize("name", ["Raises", "Exits", "Junk"])
def test_a_brain_that_fails_costs_its_own_seats_their_answers_and_nobody_else(tmp_path, name):
    proofs = play_many(tmp_path, range(3), brains(name), GameConfig())
    for proof in proofs:
        assert proof.verified, proof.problems
        bad = {seat.name for seat in proof.records[0].event.seats if seat.brain.endswith(name)}
        for recorded in proof.records:
            event = recorded.event
            if event.type == "answered" and event.outcome != "accepted":
                assert event.seat in bad
                assert event.outcome == "defaulted"
                assert "\x1b" not in (event.note or "") or event.note
    found = outcomes(proofs)
    assert found["failed"] + found["unparseable"] > 0


def test_a_brain_that_cannot_be_made_is_stood_in_for(tmp_path, caplog):
    import tests.whole.brains

    tests.whole.brains.Unmade.made = 1
    (proof,) = play_many(tmp_path, [1], brains("Unmade"), GameConfig())
    assert proof.verified
    assert "could not be made" in str([r.event.note for r in proof.records if r.event.type == "answered"])


def test_an_oversized_thought_is_cut_and_the_answer_counts(tmp_path):
    (proof,) = play_many(tmp_path, [1], brains("Talks", 8), GameConfig(max_rounds=1))
    assert proof.verified
    found = outcomes([proof])
    assert not found["oversize"]
    assert found["accepted"] == found["answered"]


def test_declined_kinds_are_closed_at_once_and_never_sent(tmp_path):
    seen = []
    with EmbeddedHouse(watch=lambda recorded: seen.append(recorded.event)) as house:
        game = house.open(GameConfig(), "4", brains("Declines", 8), tmp_path / "game.ndjson")
        assert game.finished.wait(60)
    declined = {event.kind for event in seen if event.type == "answered" and event.outcome == "declined"}
    assert declined == {"bid", "protect", "assess_other", "whisper", "vote"}
    assert {event.outcome for event in seen if event.type == "answered" and event.kind == "speak"} == {"accepted"}
    proof = prove(open_source(str(tmp_path / "game.ndjson")), ProofCriteria(), keep=False)
    assert proof.verified, proof.problems


def test_a_seat_slower_than_the_grace_returns_all_the_same(tmp_path):
    config = GameConfig(absent_grace=0.01, strikes=2, deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, 0.4)))
    (proof,) = play_many(tmp_path, [3], brains("Late", 1), config)
    assert proof.verified, proof.problems
    found = outcomes([proof])
    assert found["absent"] >= 1
    assert found["returned"] >= 1


def test_a_view_that_crashes_is_left_behind(tmp_path):
    def watch(_recorded):
        raise ZeroDivisionError

    with EmbeddedHouse(watch=watch) as house:
        for seed in range(2):
            game = house.open(GameConfig(), str(seed), ("random",) * 8, tmp_path / f"{seed}.ndjson")
            assert game.finished.wait(60)
            assert game.rows is not None


def test_an_outage_shorter_than_the_deadline_costs_only_time(tmp_path, redis_server, redis_url):
    with Proxy(int(re.search(r":(\d+)", redis_url).group(1))) as proxy:
        url = re.sub(r":\d+", f":{proxy.port}", redis_url, count=1) + "?patience=0.2"
        underway, failures = threading.Event(), []

        def watch(recorded):
            if recorded.n == 60:
                underway.set()

        with EmbeddedHouse(url, watch=watch) as house:
            game = house.open(GameConfig(), "7", ("scripted",) * 8, tmp_path / "game.ndjson")
            assert underway.wait(60)
            proxy.refuse()
            proxy.cut()
            # longer than the patience of the bus, shorter than any deadline
            failures.append(threading.Event().wait(0.8))
            proxy.refuse(False)
            assert game.finished.wait(60)
            assert game.over is not None
            assert game.over.error is None, game.over.error
    proof = prove(open_source(str(tmp_path / "game.ndjson")), ProofCriteria(), keep=False)
    with EmbeddedHouse() as house:
        same = house.open(GameConfig(), "7", ("scripted",) * 8)
        assert same.finished.wait(60)
    assert proof.digest == same.over.digest


def test_a_redis_that_lost_everything_ends_the_game_with_a_reason(tmp_path, redis_server):
    underway = threading.Event()
    with (
        RedisServer() as server,
        EmbeddedHouse(
            server.url + "?patience=0.5", watch=lambda recorded: underway.set() if recorded.n == 40 else None
        ) as house,
    ):
        game = house.open(HASTY, "7", ("random",) * 8, tmp_path / "game.ndjson")
        assert underway.wait(60)
        server.restart()
        assert game.finished.wait(60)
        assert game.over is not None
        assert game.over.error is not None or game.over.ended is not None
    proof = prove(open_source(str(tmp_path / "game.ndjson")), ProofCriteria(), keep=False)
    assert proof.events >= 40


def test_a_redis_that_stays_full_ends_the_game_after_the_patience_and_says_what_to_do(tmp_path):
    with RedisServer() as server:
        server.command("CONFIG", "SET", "maxmemory", "1")
        began = time.monotonic()
        with EmbeddedHouse(server.url + "?patience=0.5") as house:
            game = house.open(GameConfig(), "7", ("scripted",) * 8, tmp_path / "game.ndjson")
            assert game.finished.wait(30)
            assert game.over is not None
            assert "redis-cli CONFIG SET maxmemory" in str(game.over.error)
        assert time.monotonic() - began >= 0.5


def test_batch_numbers_tell_nobody_who_was_asked_at_night():
    # eight agents of one seat each: what a villager sees of the numbers must be equal whatever the others are
    from tests.game.test_walls import Game

    def numbers(game: Game, seat: str) -> list[tuple[int, str, int]]:
        facts = [fact.fact for body in game.inbox[seat] for part in decode_delivery(body).seats for fact in part.facts]
        return [(fact.batch, fact.kind, fact.about or 0) for fact in facts if fact.type == "answered"]

    names = tuple("ABCDEFGH")
    seen = set()
    for roles in (
        ("Villager", "Werewolf", "Werewolf", "Seer", "Doctor", "Villager", "Villager", "Villager"),
        ("Villager", "Villager", "Villager", "Doctor", "Werewolf", "Seer", "Werewolf", "Villager"),
        ("Villager", "Werewolf", "Villager", "Villager", "Villager", "Villager", "Villager", "Villager"),
    ):
        counts = {role: roles.count(role) for role in ("Villager", "Werewolf", "Seer", "Doctor")}
        config = GameConfig(
            names=names,
            roles=dict(zip(names, roles, strict=True)),
            villagers=counts["Villager"],
            werewolves=counts["Werewolf"],
            seers=counts["Seer"],
            doctors=counts["Doctor"],
            debate_turns=1,
        )
        game = Game(config, "walls")
        game.play()
        first_bids = [number for number, kind, _ in numbers(game, "A") if kind == "bid"][:1]
        seen.update(first_bids)
    assert len(seen) <= 1, seen

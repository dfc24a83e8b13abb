"""Brains that fail, buses that break, views that crash: the game ends finished and legal, or with one clear reason."""

from __future__ import annotations

import contextlib
import re
import threading
import time

import pytest

import tests.whole.brains
from tests.game.test_walls import Game
from tests.proving import prove
from tests.proxy import Proxy
from tests.whole.house import HASTY, outcomes, play_many
from wolfbus.cli.embedded import EmbeddedHouse
from wolfbus.config import Deadlines, GameConfig
from wolfbus.errors import WolfError
from wolfbus.messages.codec import decode_mail
from wolfbus.service.lifecycle import Health
from wolfbus.testing.redis_server import RedisServer

SCRIPTED = ("scripted",) * 8


def brains(name: str, count: int = 2) -> tuple[str, ...]:
    return (f"tests.whole.brains:{name}",) * count + ("random",) * (8 - count)


def verified(tmp_path, name: str, count: int = 2, *, seed: int = 1, config: GameConfig | None = None):
    """Play a game of such brains; return its events and how often each outcome stands in them."""
    (proof,) = play_many(tmp_path, [seed], brains(name, count), config or GameConfig())
    assert proof.verified, proof.problems
    return [recorded.event for recorded in proof.records], outcomes([proof])


@contextlib.contextmanager
def under_way(url: str, tmp_path, config: GameConfig, at: int = 0):
    """Begin a scripted game on a bus, and give it once so many of its events are seen; then it finishes."""
    begun = threading.Event()
    with EmbeddedHouse(url, watch=[lambda recorded: begun.set() if recorded.n >= at else None]) as house:
        game = house.open(config, "7", SCRIPTED, tmp_path / "game.ndjson")
        assert not at or begun.wait(60)
        yield game
        assert game.finished.wait(60)
        assert game.over is not None


@pytest.mark.parametrize("name", ["Raises", "Exits", "Junk"])
def test_a_brain_that_fails_costs_its_own_seats_their_answers_and_nobody_else(tmp_path, name):
    events, counts = verified(tmp_path, name)
    bad = {seat.name for seat in events[0].seats if seat.brain.endswith(name)}
    missed = [event for event in events if event.type == "answered" and event.outcome != "accepted"]
    assert {event.seat for event in missed} <= bad
    assert {event.outcome for event in missed} == {"defaulted"}
    assert counts["failed"] + counts["unparseable"] > 0


def test_a_brain_that_cannot_be_made_is_stood_in_for(tmp_path):
    tests.whole.brains.Unmade.instances = 1
    events, _ = verified(tmp_path, "Unmade")
    assert any("could not be made" in (event.note or "") for event in events if event.type == "answered")


def test_an_oversized_thought_is_cut_and_the_answer_counts(tmp_path):
    _, counts = verified(tmp_path, "Talks", 8, config=GameConfig(max_rounds=1))
    assert not counts["oversize"]
    assert counts["accepted"] == counts["answered"]


def test_declined_kinds_are_closed_at_once_and_never_sent(tmp_path):
    events, _ = verified(tmp_path, "Declines", 8, seed=4)
    answered = [event for event in events if event.type == "answered"]
    declined = {event.kind for event in answered if event.outcome == "declined"}
    assert declined == {"bid", "protect", "assess_other", "whisper", "vote"}
    assert {event.outcome for event in answered if event.kind == "speak"} == {"accepted"}


def test_a_seat_slower_than_the_grace_returns_all_the_same(tmp_path):
    config = GameConfig(absent_grace=0.01, strikes=2, deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, 0.4)))
    _, counts = verified(tmp_path, "Late", 1, seed=3, config=config)
    assert counts["absent"] >= 1
    assert counts["returned"] >= 1


def test_a_moderator_that_breaks_down_keeps_nobody_waiting_for_its_games(monkeypatch):
    gate, begun = threading.Event(), threading.Semaphore(0)
    monkeypatch.setattr(tests.whole.brains.Late, "answer", lambda *_: gate.wait(60))
    views = [lambda recorded: begun.release() if recorded.n == 1 else None]
    with EmbeddedHouse(watch=views, done=lambda _: 1 / 0) as house:
        games = [house.open(GameConfig(), str(seed), brains("Late", 8)) for seed in range(2)]
        for _ in games:
            assert begun.acquire(timeout=60)
        monkeypatch.setattr(Health, "set", lambda *_, **__: 1 / 0)
        for game in games:
            assert game.finished.wait(60)
            assert str(game.over.error) == "the moderator failed by an error of its own"
        gate.set()
        with pytest.raises(WolfError, match="an error of its own"):
            house.open(GameConfig(), "3", SCRIPTED)


def test_an_outage_shorter_than_the_deadline_costs_only_time(tmp_path, redis_url):
    with Proxy(int(re.search(r":(\d+)", redis_url).group(1))) as proxy:
        url = re.sub(r":\d+", f":{proxy.port}", redis_url, count=1) + "?patience=0.2"
        with under_way(url, tmp_path, GameConfig(), at=60) as game:
            proxy.refuse()
            proxy.cut()
            # longer than the patience of the bus, shorter than any deadline
            threading.Event().wait(0.8)
            proxy.refuse(False)
    assert game.over.error is None, game.over.error
    with under_way("memory://", tmp_path / "same", GameConfig()) as same:
        pass
    proof = prove(tmp_path / "game.ndjson")
    assert proof.digest == same.over.digest


def test_a_redis_that_lost_everything_ends_the_game_with_a_reason(tmp_path):
    with RedisServer() as server:
        with under_way(server.url + "?patience=0.5", tmp_path, HASTY, at=40) as game:
            server.restart()
        assert game.over.error is not None or game.over.ended is not None
    assert len(prove(tmp_path / "game.ndjson").records) >= 40


def test_a_redis_that_stays_full_ends_the_game_after_the_patience_and_says_what_to_do(tmp_path):
    with RedisServer() as server:
        server.command("CONFIG", "SET", "maxmemory", "1")
        began = time.monotonic()
        with under_way(server.url + "?patience=0.5", tmp_path, GameConfig()) as game:
            pass
        assert "redis-cli CONFIG SET maxmemory" in str(game.over.error)
        assert time.monotonic() - began >= 0.5


def test_batch_numbers_tell_nobody_who_was_asked_at_night():
    # eight agents of one seat each: what a villager sees of the numbers must be equal whatever the others are
    names = tuple("ABCDEFGH")
    seen = set()
    for letters in ("VWWSDVVV", "VVVDWSWV", "VWVVVVVV"):
        roles = [{"V": "Villager", "W": "Werewolf", "S": "Seer", "D": "Doctor"}[letter] for letter in letters]
        counts = {f"{role.lower()}s".replace("fs", "ves"): roles.count(role) for role in set(roles)}
        rules = {"seers": 0, "doctors": 0, **counts, "debate_turns": 1}
        game = Game(GameConfig(names=names, roles=dict(zip(names, roles, strict=True)), **rules), "walls")
        game.play()
        facts = [fact.fact for body in game.inbox["A"] for part in decode_mail(body).seats for fact in part.facts]
        seen.add(next(fact.batch for fact in facts if fact.type == "answered" and fact.kind == "bid"))
    assert len(seen) == 1, seen

"""Brains that fail, buses that break, displays that crash: a game ends finished and legal, or with one clear reason."""

import re
import threading
import time

import pytest

import tests.whole.brains
from players.scripted import RandomBrain
from tests.game.test_walls import Game
from tests.ops.commands import run
from tests.proving import prove
from tests.proxy import Proxy
from tests.whole.house import HASTY, config_option, outcomes, play_many
from wolfbus.game.config import Deadlines, GameConfig
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


def disturbed(url: str, tmp_path, config: GameConfig, disturb) -> tuple[int, str]:
    """Play a scripted game on a bus, and disturb it once its second turn is shown; returns its exit code and output."""
    pending = [disturb]

    def watch(output: str) -> bool:
        if "r1 debate 2" in output and pending:
            pending.pop()()
        return False

    options = ("--seed", "7", "--bus", url, "--out", str(tmp_path), "--game", "game", "--plain")
    with config_option(config, SCRIPTED) as option:
        result = run("play", option, *options, until=watch)
    assert not pending
    return result


@pytest.mark.parametrize("name", ["Raises", "Exits", "Junk"])
def test_a_brain_that_fails_costs_its_own_seats_their_answers_and_nobody_else(tmp_path, name):
    events, counts = verified(tmp_path, name)
    bad = {seat.name for seat in events[0].seats if seat.brain.endswith(name)}
    missed = [event for event in events if event.type == "answered" and event.outcome != "accepted"]
    assert {event.seat for event in missed} <= bad
    assert {event.outcome for event in missed} == {"defaulted"}
    assert counts["failed"] + counts["unparseable"] > 0


def test_a_brain_that_cannot_be_made_is_stood_in_for(tmp_path):
    tests.whole.brains.Unmade.instances = 0
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


def test_a_display_that_crashes_is_left_behind(tmp_path, caplog):
    code, output = disturbed("memory://", tmp_path, GameConfig(), lambda: 1 / 0)
    assert code == 0, output
    assert "showing the game failed; it goes on unseen" in caplog.text
    assert "r1 debate 3" not in output
    assert prove(tmp_path / "game.ndjson").verified


@pytest.fixture
def break_moderators(monkeypatch):
    """Gives what has every moderator of this process find an error of its own at its next look around."""
    broken, set_health = threading.Event(), Health.set

    def fail_or_set(*words, **details):
        if broken.is_set():
            raise ZeroDivisionError
        set_health(*words, **details)

    monkeypatch.setattr(Health, "set", fail_or_set)
    return broken.set


COMMANDS = ("play", "run --games 3 --at-once 2 --workers 1")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_moderator_that_breaks_down_keeps_nobody_waiting_for_its_games(
    tmp_path, monkeypatch, break_moderators, command
):
    gate, waits = threading.Event(), []

    def answer(*_):
        break_moderators()
        waits.append(gate.wait(60))

    monkeypatch.setattr(tests.whole.brains.Late, "answer", answer)
    words = ("--players", "tests.whole.brains:Late*8", "--quiet", "--out", str(tmp_path / "out"))
    code, output = run(*command.split(), *words)
    assert (code, waits) == (1, []), output
    gate.set()
    assert "wolfbus: the moderator failed by an error of its own" in output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_moderator_that_breaks_down_before_a_game_is_asked_for_says_so(
    tmp_path, monkeypatch, break_moderators, command
):
    ended = []

    class Unready(RandomBrain):
        """Says what it declines once the moderator of its house, where there is one, has ended."""

        @classmethod
        def declines(cls):
            for thread in threading.enumerate():
                if thread.name == "moderator":
                    break_moderators()
                    thread.join(60)
                    ended.append(not thread.is_alive())
            return ()

    # what a brain declines is asked once in a process
    name = f"Unready{command.split()[0].title()}"
    monkeypatch.setattr(tests.whole.brains, name, Unready, raising=False)
    words = ("--players", f"tests.whole.brains:{name}*8", "--quiet", "--out", str(tmp_path / "out"))
    code, output = run(*command.split(), *words)
    assert (code, ended[:1]) == (1, [True]), output
    assert "wolfbus: the moderator failed by an error of its own" in output
    assert not list(tmp_path.rglob("*.ndjson"))


def test_an_outage_shorter_than_the_deadline_costs_only_time(tmp_path, redis_url):
    with Proxy(int(re.search(r":(\d+)", redis_url).group(1))) as proxy:

        def interrupt() -> None:
            proxy.refuse()
            proxy.cut()
            # longer than the patience of the bus, shorter than any deadline
            threading.Event().wait(0.8)
            proxy.refuse(False)

        url = re.sub(r":\d+", f":{proxy.port}", redis_url, count=1) + "?patience=0.2"
        code, output = disturbed(url, tmp_path, GameConfig(), interrupt)
    assert code == 0, output
    (same,) = play_many(tmp_path, [7], SCRIPTED, GameConfig())
    assert prove(tmp_path / "game.ndjson").digest == same.digest


def test_a_redis_that_lost_everything_ends_the_game_with_a_reason(tmp_path):
    with RedisServer() as server:
        code, output = disturbed(server.url + "?patience=0.5", tmp_path, HASTY, server.restart)
    assert code == 0 or "wolfbus: the record so far is in " in output
    assert len(prove(tmp_path / "game.ndjson").records) >= 40


def test_a_redis_that_stays_full_ends_the_game_after_the_patience_and_says_what_to_do(tmp_path):
    with RedisServer() as server:
        server.command("CONFIG", "SET", "maxmemory", "1")
        began = time.monotonic()
        code, output = run("play", "--bus", server.url + "?patience=0.5", "--out", str(tmp_path), "--quiet")
    assert code == 1
    assert "redis-cli CONFIG SET maxmemory" in output
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

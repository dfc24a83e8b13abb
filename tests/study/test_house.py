"""Studies whose seats are played by agents of a Redis house: real processes; killed in the middle, and resumed."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import redis

from tests.services.guests import Moderating
from tests.study.houses import AGENTS, GATED, HOUSE, PAIR, assert_like_of_house, players
from tests.study.runs import (
    ENVIRONMENT,
    WOLFBUS,
    begin,
    journal,
    journal_lines,
    manifest,
    run_here,
    run_here_while,
    study_file,
    without_times,
)
from tests.waiting import wait_until
from wolfbus import cli
from wolfbus.bus import Commit, Entry, every_entry, streams
from wolfbus.messages.codec import encode
from wolfbus.messages.house import HouseOpened
from wolfbus.record.reader import open_lines, read_record
from wolfbus.testing.redis_server import RedisServer

FOLLOWER = Path(__file__).parents[2] / "examples" / "agent.py"


@contextlib.contextmanager
def process(*words):
    child = subprocess.Popen([*WOLFBUS, *words], stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def line_with(running, *words):
    """Return the first line of a run that holds some words."""
    return next(line for line in running.stderr if all(word in line for word in words))


def opened_of(out):
    """Return the opening event of every game of a study."""
    return [next(iter(read_record(open_lines(out / game["record"])))).event for game in manifest(out)["games"]]


def test_agents_of_a_house_play_the_games_that_brains_of_our_own_play(whole, study, at, redis_url, out):
    with players(redis_url, *AGENTS) as agents:
        done = run_here(study, "--out", out, *at, code=0)
        assert all(line.startswith("wolfbus: waiting for agents: ") for line in done.stderr.splitlines())
        # the house is closed, and they have left
        assert [agent.wait(60) for agent in agents] == [0, 0, 0]
    assert_like_of_house(whole, out)
    # records are seen by spectators a while yet, and then gone
    with redis.from_url(redis_url) as link:
        records = [streams.record(HOUSE, game["game"]) for game in manifest(out)["games"]]
        assert all(0 < link.ttl(record) <= 600 for record in records)


def test_it_says_which_brain_nobody_plays_and_goes_on_once_somebody_does(at, redis_url, tmp_path, out):
    study = study_file(tmp_path, f'games = 2\nseed = 11\nplayers = "scripted*4,{GATED}*4"')
    with players(redis_url, ("ann", "scripted", 16)) as agents:
        running = begin(study, "--out", out, *at)
        line = line_with(running, "4 of 8 seats covered")
        command = f"player --bus {redis_url} --house {HOUSE} --brain {GATED} --seats 4"
        assert line == (
            f"wolfbus: waiting for agents: 4 of 8 seats covered; 4 seats of {GATED} missing; "
            f"bring them with: wolfbus {command}\n"
        )
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=60)
        assert running.returncode == 130
        hint = f"go on with: wolfbus run --resume --out {out} --house {HOUSE} --bus {redis_url}"
        assert f"wolfbus: interrupted; 0 of 2 games are played; {hint}" in error
        assert manifest(out)["totals"]["pending"] == 2
        with process(*command.split()) as agent:
            run_here("--resume", "--out", out, *at, code=0)
            assert [one.wait(60) for one in (agent, *agents)] == [0, 0]
    assert manifest(out)["totals"]["ended"] == 2


def test_without_players_whoever_has_joined_plays_and_the_manifest_tells_who(at, redis_url, tmp_path, out, bus):
    with contextlib.ExitStack() as joined:

        def join():
            wait_until(lambda: any(entry.type == "house_opened" for entry in every_entry(bus, streams.games(HOUSE))))
            joined.enter_context(players(redis_url, ("ann", "scripted", 5), ("bea", "random", 3)))

        study_of_few = study_file(tmp_path, "games = 3\nseed = 5")
        done = run_here_while(join, study_of_few, "--out", out, "--at-once", "1", *at)
    assert done.returncode == 0, done.stderr
    there = f"--bus {redis_url} --house {HOUSE} --seats 8"
    assert f"bring them with: wolfbus player {there} --brain BRAIN, or wolfbus join {there} -- COMMAND" in done.stderr
    study = manifest(out)
    assert study["agents"] == ["random", "scripted"]
    assert study["design"]["kind"] == "joined"
    assert study["design"]["notes"] == [
        "Whoever has joined the house plays, seated by each game's seed; nothing evens out roles or meetings.",
        "Who plays is each agent's own word: what it announced, and no ticket was asked for.",
    ]
    assert sum(study["design"]["roles"]["random"].values()) == 9
    results = {note["number"]: note for note in journal(out) if "number" in note}
    for game, opened in zip(study["games"], opened_of(out), strict=True):
        brains = game["brains"]
        assert [seat.brain for seat in opened.seats] == brains == results[game["number"]]["brains"]
        assert (opened.game, opened.seed) == (game["game"], game["seed"])
        assert sorted(brains) == ["random"] * 3 + ["scripted"] * 5
    # there is nothing left to play, and that is seen without any agents
    run_here("--resume", "--out", out, *at, code=0)
    assert without_times(manifest(out)) == without_times(study)
    # but a house that a run of this study has left open is closed
    with (out / "journal.jsonl").open("a") as file:
        file.write('{"session": "left-open"}\n')
    word = Entry(encode(HouseOpened(session="left-open")), "house_opened", "moderator")
    epoch = bus.claim(HOUSE, "a run that was killed")
    assert bus.commit([Commit(HOUSE, "", epoch, "", "", posts=[(streams.games(HOUSE), word)])]) == [None]
    run_here("--resume", "--out", out, *at, code=0)
    assert [entry.type for entry in every_entry(bus, streams.games(HOUSE))][-1] == "house_closed"


def test_a_house_that_somebody_else_moderates_is_refused_in_one_line(study, redis_url, out):
    moderating = Moderating(redis_url, games=1, lease_s=1.0)
    wait_until(lambda: moderating.health.state == "waiting for agents")
    at = ("--out", out, "--house", "main", "--bus", redis_url)
    try:
        done = run_here(study, *at, code=1)
        assert done.stderr.startswith("wolfbus: house main is moderated by ")
        assert done.stderr.endswith(" already: stop that moderator, or take another --house\n")
        assert done.stderr.count("\n") == 1
    finally:
        moderating.stop()
    # it was stopped in the middle of its session, which is not ours to end
    done = run_here("--resume", *at, code=1)
    (line,) = done.stderr.splitlines()
    assert "house main is in the middle of session " in line
    assert "wolfbus moderator --house main" in line


def test_a_study_does_not_change_sides(whole, at, out):
    done = run_here("--resume", "--out", whole, *at)
    assert (done.returncode, done.stderr) == (2, f"wolfbus: {whole}: it was begun without --house\n")
    shutil.copytree(whole, out)
    (out / "study.json").write_text(json.dumps({**manifest(whole), "house": HOUSE, "tickets": False}))
    done = run_here("--resume", "--out", out, "--games", "17", code=2)
    assert f"add --house {HOUSE}" in done.stderr


# -- killed in the middle


def kill(running, redis_url):
    """Kill a run, and have its lease run out as it does in some seconds."""
    running.kill()
    running.communicate()
    with redis.from_url(redis_url) as link:
        link.hset(streams.owner(HOUSE), "until", "1")


class Stuck:
    """Which games have begun, are not over, and wait for brains behind the gate."""

    def __init__(self, bus, out):
        self.bus, self.out = bus, out
        self.seen = Counter()

    def games(self):
        begun = [game["game"] for game in manifest(self.out)["games"] if self.bus.head(HOUSE, game["game"])]
        for game in begun:
            self.seen[game, self.bus.last_id(streams.record(HOUSE, game))] += 1
        still = {game for (game, _), times in self.seen.items() if times >= 20}
        return [game for game in begun if game in still and not self.is_over(game)]

    def is_over(self, game):
        return any(entry.type == "ended" for entry in every_entry(self.bus, streams.record(HOUSE, game)))


def test_a_run_that_is_killed_goes_on_with_the_games_under_way_and_one_that_was_lost_is_played_anew(
    whole, study, at, redis_url, gate, bus, out
):
    with players(redis_url, *PAIR, gate=gate) as agents:
        running = begin(study, "--out", out, *at)
        stuck = Stuck(bus, out)
        # a line is the session's
        wait_until(lambda: journal_lines(out) >= 3 and len(stuck.games()) > 1)
        kill(running, redis_url)
        assert journal_lines(out) < 17
        begun = {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
        # one that is over on the bus would be taken from there as it is
        lost = stuck.games()
        gate.touch()
        bus.trim(streams.record(HOUSE, lost[0]), "3-0")
        done = run_here("--resume", "--out", out, *at, code=1)
        assert "1 of 16 games failed; try them again with: wolfbus run --resume" in done.stderr
        assert "it cannot be taken up from its record" in done.stdout
        assert manifest(out)["totals"]["failed"] == 1
        # the agents stayed until the house was closed
        assert [agent.wait(60) for agent in agents] == [0, 0]
    with players(redis_url, *PAIR):
        run_here("--resume", "--out", out, *at, code=0)
    assert_like_of_house(whole, out)
    assert all((out / "records" / name).stat().st_mtime_ns == time for name, time in begun.items())
    assert [path.name for path in (out / "aside").iterdir()] == [f"{lost[0]}.1.partial"]


# -- in a house with tickets seats go by the ticket, never by what an agent announces


@pytest.fixture
def tickets(tmp_path):
    """Addresses by name; nobody has ever played in the house."""
    words = ("--house", HOUSE, "--out", tmp_path, "--players", "own", "--agents", "alice,mallory", "--moderator-keeps")
    with RedisServer() as server:
        assert cli.run(["tickets", "issue", "--bus", server.url, *map(str, words)]) == 0
        yield {path.stem: address_of(path) for path in tmp_path.glob("*.ticket")}


def address_of(ticket):
    return next(line.removeprefix("WOLFBUS_BUS=") for line in ticket.read_text().splitlines() if "://" in line)


def test_with_tickets_nobody_gets_the_seats_of_another_by_announcing_its_brain(tickets, tmp_path, out):
    # where a ticket that was sourced has put it
    environment = {"WOLFBUS_BUS": tickets["moderator"]}
    study = study_file(tmp_path, 'games = 2\nseed = 5\nat_once = 1\nplayers = "scripted*4,outside:alice*4"')
    mallory = f"--house {HOUSE} --name mallory --label alice --seats 8 --bus {tickets['mallory']}".split()
    running = begin(study, "--house", HOUSE, "--tickets", "--out", out, environment=environment)
    with process("join", *mallory, "--", sys.executable, str(FOLLOWER)):
        line = line_with(running, "here, but not asked for")
        assert "4 seats of outside:alice, 4 seats of scripted missing" in line
        assert "here, but not asked for: outside:mallory" in line
        with players(tickets["alice"], ("alice", "scripted", 8)), players(tickets["own"], ("own", "scripted", 8)):
            _, rest = running.communicate(timeout=60)
    assert running.returncode == 0, rest
    seats = {(seat.agent, seat.brain, seat.in_house) for opened in opened_of(out) for seat in opened.seats}
    assert seats == {("own", "scripted", True), ("alice", "outside:alice", False)}
    study = manifest(out)
    assert study["tickets"] is True
    assert study["agents"] == ["scripted", "outside:alice"]
    assert study["design"]["notes"][-1].startswith("Who plays is known by ticket")
    assert sum(study["design"]["roles"]["outside:alice"].values()) == 8
    # a study that goes by tickets does not go on without them
    again = run_here("--resume", "--house", HOUSE, "--bus", tickets["moderator"], "--out", out)
    assert (again.returncode, "it was begun with --tickets" in again.stderr) == (2, True)


def test_a_run_that_does_not_go_by_the_tickets_of_its_house_says_so_and_who_is_then_not_heard(tickets, tmp_path, out):
    study = study_file(tmp_path, "games = 1\nseed = 5")
    running = begin(study, "--out", out, "--house", HOUSE, "--bus", tickets["moderator"])
    try:
        line = line_with(running, "ticket")
    finally:
        running.kill()
        running.communicate()
    assert line.startswith(f"wolfbus: house {HOUSE} has 3 tickets, and this run does not go by them")
    assert "is not heard" in line
    assert "--tickets goes by them" in line

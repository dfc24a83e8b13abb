"""Studies whose seats are played by agents of a Redis house: real processes."""

from __future__ import annotations

import shlex
import signal
import subprocess

import pytest
import redis

from moderator.house.session import HouseSession
from tests.services.guests import Moderating
from tests.study.houses import AGENTS, GATED, HOUSE, assert_like_of_house, players
from tests.study.runs import (
    ENVIRONMENT,
    WOLFBUS,
    begin,
    manifest,
    run_here,
    study_file,
    wait_for,
    without_times,
)
from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.messages.codec import encode
from wolfbus.messages.house import HouseOpened
from wolfbus.record.reader import open_lines, read_record
from wolfbus.study.folder import StudyFolder


def test_agents_of_a_house_play_the_games_that_brains_of_our_own_play(whole, study, at, redis_url, tmp_path):
    with players(redis_url, *AGENTS) as agents:
        done = run_here(study, "--out", tmp_path / "out", *at)
        assert done.returncode == 0, done.stderr
        assert all(line.startswith("wolfbus: waiting for agents: ") for line in done.stderr.splitlines())
        # the house is closed, and they have left
        assert [agent.wait(20) for agent in agents] == [0, 0, 0]
    assert_like_of_house(whole, tmp_path / "out")
    # records are seen by spectators a while yet, and then gone
    records = [streams.record(HOUSE, game["game"]) for game in manifest(tmp_path / "out")["games"]]
    assert all(0 < redis.from_url(redis_url).ttl(record) <= 600 for record in records)


def test_it_says_which_brain_nobody_plays_and_goes_on_once_somebody_does(whole, study, at, redis_url, tmp_path):
    out = tmp_path / "out"
    with players(redis_url, ("ann", "scripted", 16), ("sue", "silent", 8)):
        process = begin(study, "--out", out, *at)
        assert process.stderr is not None
        line = next(line for line in process.stderr if "4 of 8 seats covered" in line and "silent" in line)
        assert line == (
            f"wolfbus: waiting for agents: 4 of 8 seats covered; 4 seats of {GATED} missing; "
            f"here, but not asked for: silent; bring them with: "
            f"wolfbus player --bus {redis_url} --house {HOUSE} --brain {GATED} --seats 4\n"
        )
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        assert process.returncode == 130
        hint = f"go on with: wolfbus run --resume --out {out} --house {HOUSE} --bus {redis_url}"
        assert f"wolfbus: interrupted; 0 of 16 games are played; {hint}" in told
        assert manifest(out)["totals"]["pending"] == 16
        with players(redis_url, ("bea", GATED, 16)):
            done = run_here("--resume", "--out", out, *at)
            assert done.returncode == 0, done.stderr
    assert_like_of_house(whole, out)


def test_without_players_whoever_has_joined_plays_and_the_manifest_tells_who(at, redis_url, tmp_path):
    out = tmp_path / "out"
    with players(redis_url, ("ann", "scripted", 5), ("bea", "random", 3)):
        done = run_here(study_file(tmp_path, "games = 3\nseed = 5"), "--out", out, "--at-once", "1", *at)
        assert done.returncode == 0, done.stderr
    told = manifest(out)
    assert told["agents"] == ["random", "scripted"]
    assert told["design"]["kind"] == "joined"
    assert told["design"]["notes"] == [
        "Whoever has joined the house plays, seated by each game's seed; nothing evens out roles or meetings.",
        "Who plays is each agent's own word: what it announced, and no ticket was asked for.",
    ]
    assert sum(told["design"]["roles"]["random"].values()) == 9
    for game in told["games"]:
        opened = next(iter(read_record(open_lines(out / game["record"])))).event
        assert [seat.brain for seat in opened.seats] == game["brains"]
        assert (opened.game, opened.seed) == (game["game"], game["seed"])
        assert sorted(game["brains"]) == ["random"] * 3 + ["scripted"] * 5
    with StudyFolder(out) as folder:
        results, _ = folder.read_journal()
    assert [list(results[game["number"]].brains) for game in told["games"]] == [
        game["brains"] for game in told["games"]
    ]
    # there is nothing left to play, and that is seen without any agents
    again = run_here("--resume", "--out", out, *at)
    assert again.returncode == 0, again.stderr
    assert without_times(manifest(out)) == without_times(told)


@pytest.mark.parametrize("players", [(), ("--players", "scripted*7,outside:alice")])
def test_a_study_that_waits_names_the_commands_that_bring_whom_it_waits_for(at, redis_url, tmp_path, players):
    words = study_file(tmp_path, "games = 1\nseed = 5"), "--out", tmp_path / "out", *players, *at
    process = begin(*words)
    assert process.stderr is not None
    line = next(line for line in process.stderr if "waiting for agents" in line)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    there = f"--bus {redis_url} --house {HOUSE}"
    if players:
        assert f"bring them with: wolfbus join {there} --name alice --seats 1 -- COMMAND, and " in line
        assert f"wolfbus player {there} --brain scripted --seats 7\n" in line
    else:
        assert f"bring them with: wolfbus player {there} --seats 8 --brain BRAIN, or wolfbus join {there} " in line


def test_what_a_study_waits_for_comes_by_the_command_that_it_names(at, redis_url, tmp_path):
    process = begin(study_file(tmp_path, "games = 1\nseed = 5"), "--out", tmp_path / "out", "--players", "random", *at)
    assert process.stderr is not None
    line = next(line for line in process.stderr if "bring them with: " in line)
    words = shlex.split(line.partition("bring them with: wolfbus ")[2])
    agent = subprocess.Popen([*WOLFBUS, *words], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    try:
        process.communicate(timeout=60)
        assert process.returncode == 0
        assert agent.wait(20) == 0
    finally:
        agent.kill()
        agent.wait()


def test_a_house_that_was_left_open_is_closed_though_nothing_is_left_to_play(study, at, redis_url, bus, tmp_path):
    out = tmp_path / "out"
    with players(redis_url, *AGENTS):
        assert run_here(study, "--out", out, "--games", "1", *at).returncode == 0
    session = "left-open"
    with (out / "journal.jsonl").open("a") as journal:
        journal.write(f'{{"session": "{session}"}}\n')
    epoch = bus.claim(HOUSE, "a run that was killed")
    word = Entry(encode(HouseOpened(session=session)), "house_opened", "moderator")
    assert bus.commit([Commit(HOUSE, "", epoch, "", "", posts=[(streams.games(HOUSE), word)])]) == [None]
    assert run_here("--resume", "--out", out, *at).returncode == 0
    told = HouseSession()
    told.catch_up(bus, HOUSE)
    assert (told.name, told.running) == (session, False)


def test_a_house_that_somebody_else_moderates_is_refused_in_one_line(study, redis_url, tmp_path):
    moderating = Moderating(redis_url, games=1, lease_s=1.0)
    wait_for(lambda: moderating.health.state == "waiting for agents")
    out = tmp_path / "out"
    try:
        done = run_here(study, "--out", out, "--house", "main", "--bus", redis_url)
        assert done.returncode == 1
        assert done.stderr.startswith("wolfbus: house main is moderated by ")
        assert done.stderr.endswith(" already: stop that moderator, or take another --house\n")
        assert done.stderr.count("\n") == 1
    finally:
        moderating.stop()
    # it was stopped in the middle of its session, which is not ours to end
    done = run_here("--resume", "--out", out, "--house", "main", "--bus", redis_url)
    assert done.returncode == 1
    told = done.stderr.splitlines()
    assert len(told) == 1
    assert "house main is in the middle of session " in told[0]
    assert "wolfbus moderator --house main" in told[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--house", "h"), "--house is a house on a Redis"),
        (("--house", "h", "--bus", "redis://127.0.0.1:1"), "127.0.0.1:1"),
        (("--house", "h", "--bus", "redis://127.0.0.1:1", "--workers", "2"), "no workers, no budget"),
        (("--house", "h", "--bus", "redis://127.0.0.1:1", "--design", "shuffle"), "say with --players whom it seats"),
        (("--house", "h", "--bus", "redis://127.0.0.1:1", "--design", "joined", "--players", "a"), "give no players"),
        (("--house", "a b", "--bus", "redis://127.0.0.1:1"), "1 to 64 letters"),
        (("--design", "joined"), "give --house"),
    ],
)
def test_what_cannot_be_played_is_told_in_a_line(tmp_path, words, told):
    done = run_here("--out", tmp_path / "out", *words)
    assert done.returncode in {1, 2}
    assert told in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_study_does_not_change_sides(whole, study, at, redis_url, tmp_path):
    done = run_here("--resume", "--out", whole, *at)
    assert (done.returncode, done.stderr) == (2, f"wolfbus: {whole}: it was begun without --house\n")
    with players(redis_url, *AGENTS):
        assert run_here(study, "--out", tmp_path / "out", "--games", "2", *at).returncode == 0
    done = run_here("--resume", "--out", tmp_path / "out", "--games", "3")
    assert done.returncode == 2
    assert f"add --house {HOUSE}" in done.stderr

"""A study shared out over a Redis or a cluster: workers and nodes come and go, are killed, and every game is played and
counted once.
"""

from __future__ import annotations

import json
import re
import signal
import struct
import subprocess
from contextlib import closing
from functools import partial
from importlib import resources

import pytest
import redis

from tests.study.brains import GATE
from tests.study.runs import (
    ENVIRONMENT,
    STUDY,
    WOLFBUS,
    assert_like,
    begin,
    journal_lines,
    manifest,
    meanwhile,
    run_here,
    run_here_while,
    study_file,
)
from tests.study.runs import run as run_study
from tests.waiting import wait_until
from wolfbus import __version__
from wolfbus.bus import open_bus, streams
from wolfbus.cli import run
from wolfbus.testing.redis_server import RedisServer

AGENDA = "shared"
ALLOW = ("--allow", "tests.study.brains:Gated")
KEYS = [
    streams.house_key(AGENDA, part)
    for part in (
        "agenda",
        *(f"agenda:{part}" for part in ("known", "done", "results", "lease", "houses", "workers", "waiting", "study")),
    )
]


class Workers:
    """Processes that each play three games of the agenda, and hold the next ones up until the gate is open."""

    def __init__(self, url, gate, lease, *more):
        self._words = [*WOLFBUS, "worker", "--bus", url, "--agenda", AGENDA, "--lease", lease, *ALLOW, *more]
        self._environment = {**ENVIRONMENT, GATE: str(gate)}
        self.all = []

    def start(self, *more):
        self.all.append(
            subprocess.Popen(
                [*self._words, *more], stderr=subprocess.PIPE, text=True, env=self._environment, start_new_session=True
            )
        )
        return self.all[-1]

    def close(self):
        for process in self.all:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def workers(redis_url, gate):
    with closing(Workers(redis_url, gate, "1")) as workers:
        yield workers


@pytest.fixture
def share(redis_url):
    return ("--bus", redis_url, "--share", AGENDA)


def assert_through(done, worker, whole, out):
    """The run and a worker have ended well, and each game was counted once."""
    assert done.returncode == 0, done.stderr
    assert worker.wait(60) == 0
    assert_like(whole, out)
    assert journal_lines(out) == 16


def test_a_worker_that_is_told_to_go_leaves_its_games_to_the_other_and_the_run_nothing_for_ever(
    study, out, gate, whole, share, workers, link
):
    first, second = workers.start(), workers.start()

    def go():
        wait_until(lambda: journal_lines(out) >= 4)
        # both are in the middle of games, which wait at the gate
        first.terminate()
        errors.append(first.communicate(timeout=60)[1])
        # what it gave back is nobody's yet
        counted.append(link.zcard(streams.house_key(AGENDA, "agenda:workers")))
        gate.touch()

    errors: list[str] = []
    counted: list[int] = []
    assert_through(run_here_while(go, study, "--out", out, *share), second, whole, out)
    errors.append(second.stderr.read())
    assert (first.returncode, counted) == (0, [1])
    why = ["SIGTERM", "it has no more games"]
    assert re.findall(r"^wolfbus: this worker leaves agenda shared: (.*)$", "".join(errors), re.MULTILINE) == why
    assert (link.exists(*KEYS[:-1]), link.get(KEYS[-1])) == (0, "over")
    # for those that look later
    assert link.ttl(KEYS[-1]) > 0
    of_workers = list(link.scan_iter(f"wolf:{{{AGENDA}~*"))
    assert [key for key in of_workers if link.ttl(key) < 0] == []
    assert of_workers


def test_a_disk_without_room_for_what_a_worker_has_played_is_one_line_that_names_the_folder(
    study, out, gate, share, workers
):
    gate.touch()
    workers.start()
    done = run_study(study, "--out", out, *share, largest_file=20_000)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"wolfbus: {out}: file too large; go on with: wolfbus run --resume")


@pytest.mark.parametrize("gate_opens", ["before", "after"])
def test_a_worker_that_stood_still_says_that_others_have_its_games_and_goes_on_with_the_next(
    study, out, gate, whole, share, workers, link, gate_opens
):
    first = workers.start("--at-once", "8")

    def holding():
        return len(link.xpending(KEYS[0], "workers")["consumers"])

    def stop():
        wait_until(lambda: journal_lines(out) >= 3)
        working.append(workers.start("--at-once", "16"))
        wait_until(lambda: journal_lines(out) >= 4 and holding() == 2)
        first.send_signal(signal.SIGSTOP)
        # the other takes what it held
        wait_until(lambda: holding() == 1)
        if gate_opens == "before":
            gate.touch()
        first.send_signal(signal.SIGCONT)
        if gate_opens == "after":
            line = "silent for longer than its lease of 1 s; it goes on with the next"
            # it may have said before that it waits for the agenda
            wait_until(lambda: line in first.stderr.readline())
            gate.touch()

    working: list[subprocess.Popen[str]] = []
    done = run_here_while(stop, study, "--out", out, *share)
    assert_through(done, working[0], whole, out)
    assert (first.communicate(timeout=60)[1].splitlines()[-1], first.returncode) == (
        f"wolfbus: this worker leaves agenda {AGENDA}: it has no more games", 0
    )  # fmt: skip


def test_two_servers_and_a_memory_share_a_study_and_a_worker_and_a_server_may_die(
    study, out, gate, whole, share, redis_url, bus, link
):
    with (
        RedisServer() as other,
        closing(Workers(redis_url, gate, "1", "--play-on", f"{other.url}?patience=0.3")) as elsewhere,
        closing(Workers(redis_url, gate, "1", "--play-on", "memory://")) as in_memory,
    ):
        killed, cut_off, stays = elsewhere.start(), elsewhere.start(), in_memory.start()

        def die():
            # all three have asked for games
            wait_until(lambda: journal_lines(out) >= 4 and link.zcard(KEYS[6]) >= 3)
            killed.kill()
            other.kill()
            # by then it has given up its games, and nobody has played them
            away = r"Redis at 127\.0\.0\.1.* cannot be reached .*; waiting for it, as long as it takes"
            assert any(re.search(away, line) for line in cut_off.stderr)
            gate.touch()

        assert_through(run_here_while(die, study, "--out", out, *share), stays, whole, out)
        assert cut_off.wait(60) == 0, cut_off.stderr.read()
    assert bus.last_id(streams.house_key(AGENDA, "agenda:results")) == "0-0"


def test_a_run_that_is_killed_goes_on_with_the_agenda_and_the_workers_that_stayed(
    study, out, gate, whole, share, workers
):
    run, worker = begin(study, "--out", out, *share), workers.start()
    wait_until(lambda: journal_lines(out) >= 2)
    run.kill()
    run.communicate()
    gate.touch()
    assert_through(run_here("--resume", "--out", out, *share), worker, whole, out)


@pytest.fixture
def link(redis_url):
    with redis.from_url(redis_url, decode_responses=True) as link:
        yield link


@pytest.fixture
def stored(study, link):
    """Put another study on the agenda, as a run does."""
    header = {"study": "study-00000000", "wolfbus": __version__, "text": study.read_text(), "budget": False}
    link.set(KEYS[-1], json.dumps(header))


@pytest.mark.usefixtures("stored")
def test_another_study_cannot_have_the_same_agenda(study, out, share):
    done = run_here(study, "--out", out, *share, code=2)
    assert done.stderr.startswith(f"wolfbus: agenda {AGENDA} has the games of another study")


@pytest.mark.usefixtures("stored")
def test_the_lease_of_the_first_worker_holds_for_all(agenda, link, redis_url, capsys):
    assert agenda("lease", 1000) == "1000"

    def end():
        wait_until(lambda: link.xlen(KEYS[3]) == 3)
        link.set(KEYS[-1], "over")

    with meanwhile(end):
        assert run(["worker", "--bus", redis_url, "--agenda", AGENDA, "--lease", "0.1", *ALLOW]) == 0
    line = f"wolfbus: --lease 0.1 does not hold: agenda {AGENDA} has a lease of 1 s, as its first worker said"
    assert capsys.readouterr().err.splitlines()[0] == line


@pytest.mark.parametrize("more", [["--bus", "memory://"], ["--house", "main"], ["--workers", "2"]])
def test_options_that_do_not_go_with_sharing_are_refused(study, out, share, more):
    done = run_here(study, "--out", out, *share, *more, code=2)
    assert "--share" in done.stderr


# -- the agenda itself, as its script keeps it


@pytest.fixture
def agenda(link):
    """Do something with an agenda of three games."""
    script = link.register_script(resources.files("wolfbus.bus.redis").joinpath("agenda.lua").read_text("utf-8"))

    def agenda(*words):
        return script(KEYS[:-1], words)

    assert (agenda("post", 1, 2, 3), agenda("post", 2, 3)) == (3, 0)
    return agenda


def take(agenda, who, count=9, lease_ms=60_000):
    """Return entry, game, how often it was begun since it got further, who began it last, and how far it was then, of
    each game that somebody takes.
    """
    return agenda("take", who, count, lease_ms)


def test_the_first_who_finishes_a_game_counts_and_the_other_is_told(agenda, link):
    ((entry, *one),) = take(agenda, "slow", 1)
    others = [entry for entry, *_ in take(agenda, "quick")]
    assert one == ["1", 0, "", 0]
    assert [game for _, game, *_ in take(agenda, "quick", lease_ms=0)] == ["1", "2", "3"]
    # what the slow one held is the other's now, and cannot be given back by it
    assert (agenda("renew", "slow", entry), agenda("give_back", "slow", entry)) == ([[entry, "quick"]], "")
    assert agenda("renew", "quick", entry, *others) == []
    assert (agenda("begin", "slow", entry, 1, 5), agenda("begin", "quick", entry, 1, 5)) == ("", "quick")
    assert link.hgetall(KEYS[5]) == {"1": "quick", "1:progress": "5", "1:begun": "1"}
    assert agenda("finish", entry, 1, "quick", "{}") == "quick"
    assert agenda("finish", entry, 1, "slow", "{}") == "quick"
    # said again after a break, it still counts
    assert agenda("finish", entry, 1, "quick", "{}") == "quick"
    assert [fields["who"] for _, fields in link.xrange(KEYS[3])] == ["quick"]
    assert agenda("renew", "quick", entry) == [[entry, ""]]


def test_it_is_told_who_began_a_game_last_and_how_often_it_was_begun_since_it_got_further(agenda):
    # who takes it and dies before it begins has nothing of it that anybody could go on with
    for who, progress, before in (
        ("a", 0, [0, "", 0]),
        ("b", 7, [1, "a", 0]),
        ("c", None, [1, "b", 7]),
        ("d", 7, [1, "b", 7]),
        ("e", 9, [2, "d", 7]),
        ("f", 9, [1, "e", 9]),
    ):
        ((entry, game, *history),) = take(agenda, who, 1, lease_ms=0)
        assert (game, history) == ("1", before)
        if progress is not None:
            assert agenda("begin", who, entry, game, progress) == who


def test_what_a_worker_says_again_after_a_break_makes_no_second_death_of_its_own(agenda):
    ((entry, game, *_),) = take(agenda, "a", 1)
    assert [agenda("begin", "a", entry, game, 5) for _ in range(3)] == ["a"] * 3
    assert take(agenda, "b", 1, lease_ms=0) == [[entry, game, 1, "a", 5]]
    # given back, nobody died under it; begun anew, it counts anew
    agenda("give_back", "b", entry)
    assert take(agenda, "a", 1)[0][2] == 0
    agenda("begin", "a", entry, game, 5)
    assert take(agenda, "b", 1, lease_ms=0)[0][2] == 1


def test_whoever_takes_a_game_and_dies_before_it_begins_is_not_counted_for_ever(agenda):
    taken = [take(agenda, f"worker {number}", 1, lease_ms=0)[0][2] for number in range(12)]
    assert taken == [0] * 10 + [10, 11]


def test_what_is_given_back_is_there_at_once_and_what_is_held_is_not(agenda):
    ((entry, *_),) = take(agenda, "a", 1)
    assert [game for _, game, *_ in take(agenda, "b")] == ["2", "3"]
    agenda("give_back", "a", entry)
    # nobody died under it
    assert take(agenda, "b") == [[entry, "1", 0, "", 0]]


def test_what_is_passed_on_is_there_for_those_who_have_not_passed_it_on(agenda):
    agenda("lease", 60_000)
    ((entry, *_),) = take(agenda, "a", 1)
    # there is nobody else
    assert agenda("pass_on", "a", entry, 1) == ""
    assert [game for _, game, *_ in take(agenda, "b", 1)] == ["2"]
    assert agenda("pass_on", "a", entry, 1) == "a"
    assert [game for _, game, *_ in take(agenda, "a")] == ["3"]
    # nobody died under it
    assert take(agenda, "b") == [[entry, "1", 0, "", 0]]
    assert agenda("pass_on", "b", entry, 1) == ""


def test_what_another_has_taken_meanwhile_needs_nobody_to_say_that_it_halts(agenda):
    agenda("lease", 60_000)
    ((entry, *_),) = take(agenda, "slow", 1)
    assert take(agenda, "quick", 1, lease_ms=0)[0][0] == entry
    assert agenda("pass_on", "slow", entry, 1) == "quick"
    assert agenda("renew", "quick", entry) == []


def test_nobody_counts_as_dead_for_the_time_in_which_nobody_was_heard(agenda, link):
    assert agenda("lease", 200) == "200"
    ((entry, *_),) = take(agenda, "a", 1)
    # as if it had been a while
    link.zincrby(KEYS[6], -1000, "a")
    link.xclaim(KEYS[0], "workers", "a", 0, [entry], idle=1000, justid=True)
    # the first who comes back may have been away as all were
    assert [game for _, game, *_ in take(agenda, "b", lease_ms=200)] == ["2", "3"]
    assert agenda("renew", "a", entry) == []
    # from then on who is silent while others are heard is dead
    wait_until(lambda: "1" in [game for _, game, *_ in take(agenda, "b", lease_ms=200)])


def crc64(data):
    """Return the sum that Redis puts behind what DUMP returns."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
    return crc


def have_taken_later(url, link, by_ms):
    """Have everything on the agenda been taken later: XCLAIM takes no time that is still to come."""
    whole = link.xinfo_stream(KEYS[0], full=True)
    with closing(redis.Redis.from_url(url)) as raw:
        dumped = raw.dump(KEYS[0])[:-8]
        for *_, taken_at, _ in whole["groups"][0]["pending"]:
            dumped = dumped.replace(struct.pack("<q", taken_at), struct.pack("<q", taken_at + by_ms))
        raw.restore(KEYS[0], 0, dumped + struct.pack("<Q", crc64(dumped)), replace=True)


def test_a_clock_that_was_set_back_makes_no_worker_live_longer_than_its_lease(agenda, link, redis_url):
    hour_ms = 3_600_000
    agenda("lease", 200)
    ((entry, *_),) = take(agenda, "dead", 1)
    link.zincrby(KEYS[6], hour_ms, "dead")
    have_taken_later(redis_url, link, hour_ms)
    ((passed_on, game, *_),) = take(agenda, "b", 1, lease_ms=200)
    assert game == "2"
    wait_until(lambda: entry in [entry for entry, *_ in take(agenda, "b", lease_ms=200)])
    wait_until(lambda: agenda("pass_on", "b", passed_on, 2) == "")


def test_what_is_no_agenda_is_refused_before_a_game_counts_as_put_on_it(agenda, link):
    link.delete(*KEYS)
    link.set(KEYS[0], "somebody's")
    with pytest.raises(redis.ResponseError, match="wrong kind of value"):
        agenda("post", 1)
    assert link.exists(*KEYS) == 1


def test_nothing_is_agreed_taken_or_finished_on_an_agenda_that_is_gone(agenda, link):
    assert (agenda("lease", 200), agenda("lease", 1)) == ("200", "200")
    ((entry, *_),) = take(agenda, "a", 1)
    link.delete(*KEYS)
    words = [("lease", 1), ("renew", "a", entry), ("take", "a", 1, 1), ("finish", entry, 1, "a", "{}")]
    assert [agenda(*command) for command in words] == ["", "", "", ""]
    assert link.exists(*KEYS) == 0


# -- on a Redis Cluster of three nodes


def test_a_killed_moderator_and_killed_nodes_cost_no_game_and_double_none(study, out, gate, whole, cluster):
    with closing(Workers(cluster.url, gate, "1.5")) as workers, closing(open_bus(cluster.url)) as bus:
        first, second = workers.start(), workers.start()

        def die():
            wait_until(lambda: journal_lines(out) >= 4)
            keys = b"".join(node.command("KEYS", "*") for node in cluster.masters)
            houses = {house.decode() for house in re.findall(rb"wolf:\{([^}]+)\}:owner\r", keys)}
            assert len(houses) == 2
            # both are in the middle of games, which wait at the gate
            first.kill()
            agenda = cluster.serving(streams.house_key(AGENDA, "agenda"))
            for node in (agenda, *({cluster.serving(streams.owner(house)) for house in houses} - {agenda})):
                node.kill()
                node.start()
            gate.touch()

        done = run_here_while(die, study, "--out", out, "--bus", cluster.url, "--share", AGENDA)
        assert_through(done, second, whole, out)
        assert bus.last_id(streams.house_key(AGENDA, "agenda:results")) == "0-0"


def has_grown(out, lines):
    return journal_lines(out) >= lines


@pytest.mark.soak
def test_whatever_is_killed_in_turns_every_game_is_played_once(tmp_path, out, gate, cluster):
    games = 80
    study = study_file(tmp_path, STUDY.replace("games = 16", f"games = {games}"))
    gate.touch()
    with closing(Workers(cluster.url, gate, "1.5")) as workers:
        run = begin(study, "--out", out, "--bus", cluster.url, "--share", AGENDA)
        for _ in range(3):
            workers.start()
        # a game counts as failed once three have died under it
        for number, node in enumerate((*cluster.masters, *cluster.masters)):
            wait_until(partial(has_grown, out, 6 * (number + 1)))
            node.kill()
            if number in {1, 3}:
                workers.all[number // 2].kill()
                workers.start()
            node.start()
        _, error = run.communicate(timeout=200)
        assert run.returncode == 0, error
    assert journal_lines(out) == games
    assert len({game["game"] for game in manifest(out)["games"] if game["state"] == "ended"}) == games

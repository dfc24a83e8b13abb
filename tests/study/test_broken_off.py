"""Games that are broken off go on from what was answered, whoever plays them next: nobody is asked again."""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import subprocess
import threading
from collections import Counter
from unittest.mock import Mock

import pytest
import redis

from tests.open_files import open_files
from tests.proving import prove
from tests.study.brains import ANSWERS, ASKED, GATE
from tests.study.runs import ENVIRONMENT, WOLFBUS, begin, manifest, run_here, run_here_while, study_file, workers_of
from tests.waiting import wait_until
from wolfbus.bus import Entry, every_entry
from wolfbus.errors import WolfError
from wolfbus.messages.codec import pack, unpack

BRAIN = "tests.study.brains:Asked"
STUDY = f'games = 2\nseed = 11\nplayers = "{BRAIN}*8"\nat_once = 2'
AGENDA = "asked"
MOST = 100
"""Answers of a process before it stands still."""


@pytest.fixture
def study(tmp_path):
    return study_file(tmp_path, STUDY)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return the file of all questions that were answered."""
    monkeypatch.setenv(ASKED, str(tmp_path / "asked"))
    return tmp_path / "asked"


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Play the study undisturbed; returns its games' digests."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ASKED, str(folder / "asked"))
        run_here(study_file(folder, STUDY), "--out", folder / "whole", code=0)
    return {game["game"]: game["digest"] for game in manifest(folder / "whole")["games"]}


def answered(asked):
    return asked.read_text().splitlines() if asked.exists() else []


def kept(out):
    """Return how many answers are in the folder, in records or beside them."""
    found = set()
    for path in (out / "said").glob("*.jsonl") if (out / "said").exists() else ():
        # whoever writes may be in the middle of the last line
        for line in path.read_bytes().split(b"\n")[:-1]:
            with_id = json.loads(line)["message"].get("request")
            found.add(with_id)
    return found - {None}


def environment(asked, gate, most):
    return {**ENVIRONMENT, ASKED: str(asked), ANSWERS: str(most), GATE: str(gate)}


def begin_and_stand_still(study, out, asked, gate, *more, processes=1):
    """Begin a run, and return once its processes have answered all they will, and that is kept."""
    process = begin(study, "--out", out, *more, environment=environment(asked, gate, MOST // processes))
    wait_until(lambda: len(answered(asked)) == MOST and set(answered(asked)) <= kept(out))
    return process


def assert_asked_once(asked, out, digests):
    """Every question was answered once, and the games are those that nothing happened to."""
    assert [question for question, times in Counter(answered(asked)).items() if times > 1] == []
    study = manifest(out)
    assert {game["game"]: game["digest"] for game in study["games"]} == digests
    for record in (out / "records").iterdir():
        assert prove(record).problems == []
    assert not (out / "said").exists()


@pytest.mark.parametrize(("workers", "end"), [(2, "killed"), (1, "terminated"), (2, "ctrl-c twice")])
def test_a_run_that_was_broken_off_goes_on_from_what_was_answered(study, out, asked, digests, gate, workers, end):
    process = begin_and_stand_still(study, out, asked, gate, "--workers", workers, processes=workers)
    if end == "ctrl-c twice":
        process.send_signal(signal.SIGINT)
        assert "2 games under way, Ctrl-C again to stop now" in process.stderr.readline()
    process.send_signal({"killed": signal.SIGKILL, "terminated": signal.SIGTERM}.get(end, signal.SIGINT))
    _, error = process.communicate(timeout=60)
    assert process.returncode == (-9 if end == "killed" else 130), error
    run_here("--resume", "--out", out, "--workers", "1", code=0)
    assert_asked_once(asked, out, digests)


def test_a_record_whose_last_line_is_torn_is_cut_and_gone_on_with(study, out, asked, digests, gate):
    process = begin_and_stand_still(study, out, asked, gate)
    process.kill()
    process.communicate()
    records = sorted((out / "records").iterdir())
    firsts = []
    for path in (*records, *(out / "said").iterdir()):
        whole = path.read_bytes()
        firsts.append(whole.splitlines()[:5])
        path.write_bytes(whole + whole.splitlines()[-1][:30])
    run_here("--resume", "--out", out, code=0)
    assert_asked_once(asked, out, digests)
    assert [record.read_bytes().splitlines()[:5] for record in records] == firsts[: len(records)]
    assert not (out / "aside").exists()


@pytest.mark.parametrize(
    "spoilt",
    [
        "[" * 100_000,
        '{"at": 1, "id": "1-1", "type": "reply", "sender": {}, "game": "g", "message": {"v": 1}}',
        '{"at": 1, "id": 1, "type": "reply", "sender": "house", "game": "g", "message": {"v": 1}}',
    ],
)
def test_what_no_player_has_said_is_left_out_with_what_stands_behind_it(study, out, asked, gate, digests, spoilt):
    process = begin_and_stand_still(study, out, asked, gate)
    process.kill()
    process.communicate()
    for path in (out / "said").iterdir():
        path.write_text(f"{spoilt}\n{path.read_text()}")
    gate.touch()
    run_here("--resume", "--out", out, code=0)
    assert {game["game"]: game["digest"] for game in manifest(out)["games"]} == digests


def test_what_is_said_just_as_its_game_ends_is_written_to_its_own_file_and_to_no_other(tmp_path, monkeypatch):
    kept = pkgutil.resolve_name("wolfbus.running.earlier:SaidFile")(tmp_path / "records" / "game.ndjson")
    ending = threading.Thread(target=kept.close)

    def write(descriptor, content):
        ending.start()
        # time enough for it to close the file, and for somebody to open another one
        ending.join(0.05)
        os.fstat(descriptor)
        os.write(descriptor, content)

    monkeypatch.setattr("wolfbus.running.earlier.write_all", write)
    kept.write([Entry(pack({"v": 1, "type": "reply"}), "reply", "local", "game", 1, "1-1")])
    ending.join()
    assert (tmp_path / "said" / "game.jsonl").read_text().count("\n") == 1


def test_games_that_cannot_be_begun_leave_no_file_open(study, out, monkeypatch):
    monkeypatch.setattr("wolfbus.running.house.EmbeddedHouse.open", Mock(side_effect=WolfError("no such player")))
    before = open_files()
    run_here(study, "--out", out, code=1)
    assert open_files() <= before


@pytest.mark.parametrize(("number", "ended"), [(signal.SIGKILL, 1), (signal.SIGTERM, 2)])
def test_a_process_of_a_run_that_somebody_ends_leaves_its_game_to_another(
    study, out, asked, digests, gate, number, ended
):
    process = begin_and_stand_still(study, out, asked, gate, "--workers", "2", processes=2)
    workers = workers_of(process.pid)[:ended]
    for worker in workers:
        os.kill(worker, number)
    # what it answers as it ends may be lost
    wait_until(lambda: not set(workers).intersection(workers_of(process.pid)))
    gate.touch()
    _, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    assert_asked_once(asked, out, digests)


# -- shared with workers anywhere


@pytest.fixture
def link(redis_url):
    with redis.from_url(redis_url) as link:
        yield link


@pytest.fixture
def start(redis_url, asked, gate):
    """Start a worker that answers so many questions, one after the other has answered all it will."""
    words = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", AGENDA, "--lease", "1", "--allow", BRAIN]
    working = []

    def start(most, *more):
        process = subprocess.Popen(
            [*words, *more], stderr=subprocess.PIPE, text=True, env=environment(asked, gate, most)
        )
        working.append(process)
        return process

    yield start
    for process in working:
        if process.poll() is None:
            process.kill()
        process.communicate()


def kept_on(bus, link):
    """Return the questions whose answers are on the Redis."""
    streams_of_players = [key.decode() for key in link.scan_iter("wolf:*:out:*")]
    entries = [entry for stream in streams_of_players for entry in every_entry(bus, stream)]
    return {unpack(entry.body).get("request") for entry in entries}


@pytest.mark.parametrize(
    ("where", "end"), [("beside", signal.SIGTERM), ("beside", signal.SIGKILL), ("elsewhere", signal.SIGKILL)]
)
def test_a_worker_that_is_gone_leaves_what_was_answered_to_the_next(
    study, out, asked, digests, gate, redis_url, bus, link, start, where, end
):
    more = ["--play-on", "memory://"] if where == "elsewhere" else []

    def work():
        first = start(MOST, *more)
        wait_until(lambda: len(answered(asked)) == MOST and set(answered(asked)) <= kept_on(bus, link))
        first.send_signal(end)
        first.communicate(timeout=60)
        gate.touch()
        start(MOST, *more)

    done = run_here_while(work, study, "--out", out, "--bus", redis_url, "--share", AGENDA)
    assert done.returncode == 0, done.stderr
    assert_asked_once(asked, out, digests)

"""What comes over an agenda is a stranger's word: junk is set aside and named, a forged game is played again, and a
worker runs nothing that its own command line does not name.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import threading

import msgpack
import pytest
import redis

from tests.study.forged import forge, villagers_win
from tests.study.runs import (
    ENVIRONMENT,
    SHORT,
    WOLFBUS,
    assert_like,
    begin,
    journal_lines,
    manifest,
    meanwhile,
    run_here,
    run_here_while,
    seen_in_a_terminal,
)
from tests.waiting import wait_until
from wolfbus import __version__
from wolfbus.bus import open_bus, streams
from wolfbus.cli import run
from wolfbus.record.publish import append_record
from wolfbus.testing.model_server import ModelServer
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets import read_bus

AGENDA = "shared"
GAMES = 7
FOREIGN = f"{AGENDA}~00000000"
KNOWN, DONE, RESULTS, LEASE, HOUSES, STUDY = (
    streams.house_key(AGENDA, f"agenda:{part}") for part in ("known", "done", "results", "lease", "houses", "study")
)
GAMES_KEY = streams.house_key(AGENDA, "agenda")
WORKER = [*WOLFBUS, "worker", "--agenda", AGENDA, "--lease", "1"]


def toml(players="scripted", more=""):
    return f'games = {GAMES}\nseed = 5\nplayers = "{players}"\n{SHORT}{more}'


def work(url, *more):
    return subprocess.Popen([*WORKER, "--bus", url, *more], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """What a run and its worker leave where the run is killed before it has collected anything: the study's folder, and
    every key by its name.
    """
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.toml").write_text(toml())
    with RedisServer() as server, redis.from_url(server.url) as link:
        running = begin(folder / "study.toml", "--out", folder / "s", "--bus", server.url, "--share", AGENDA)
        wait_until(lambda: link.scard(KNOWN) == GAMES)
        running.kill()
        running.communicate()
        worker = work(server.url)
        wait_until(lambda: link.xlen(RESULTS) == GAMES)
        worker.kill()
        worker.communicate()
        yield folder / "s", {key: link.dump(key) for key in link.scan_iter()}


@pytest.fixture(scope="module")
def whole(finished, tmp_path_factory):
    """The same study, played here."""
    out = tmp_path_factory.mktemp("whole") / "s"
    run_here(finished[0].parent / "study.toml", "--out", out, code=0)
    return out


@pytest.fixture
def link(redis_url, finished):
    """A connection to a Redis on which that stands."""
    with redis.from_url(redis_url) as link:
        for key, value in finished[1].items():
            link.restore(key, 0, value)
        yield link


@pytest.fixture
def out(finished, tmp_path):
    return shutil.copytree(finished[0], tmp_path / "out")


@pytest.fixture
def share(redis_url):
    return ("--bus", redis_url, "--share", AGENDA)


def resume(out, share):
    return run_here("--resume", "--out", out, *share, code=0).stderr


def assert_ended(worker):
    _, error = worker.communicate(timeout=60)
    assert worker.returncode == 0, error


# -- junk


def header(**members):
    usual = {"study": "study-00000000", "wolfbus": __version__, "text": "", "budget": False}
    return json.dumps({**usual, **members})


JUNK = [
    ({"game": None, "who": None, "result": None, "x": "\0"}, "game (none) is no number of a game"),
    ({"game": b"\xff\xfe"}, "game '\ufffd\ufffd' is no number of a game"),
    ({"game": None}, "game (none) is no number"),
    ({"game": "one"}, "game 'one' is no number"),
    ({"game": "0"}, "game '0' is no number"),
    ({"game": "9" * 100}, "game '9999"),
    ({"game": "77"}, "result of game 77 came over the agenda, and the study has 7"),
    ({"who": "main"}, "'main' is no worker of this agenda"),
    ({"who": "../../x"}, "'../../x' is no worker of this agenda"),
    ({"result": "{"}, "Invalid JSON"),
    ({"result": "[]"}, "should be an object"),
    ({"result": '{"error":null}'}, "seconds: Field required"),
    ({"result": '{"error":null,"seconds":"x"}'}, "seconds: "),
    ({"result": '{"error":null,"seconds":1e999}'}, "seconds: "),
    ({"result": '{"error":null,"seconds":-1}'}, "seconds: "),
    ({"result": '{"error":{},"seconds":1}'}, "error: "),
    ({"result": '{"error":null,"seconds":1,"winner":"wolves"}'}, "winner: "),
    ({"result": "[" * (8 << 20)}, "8,388,608 bytes, more than any worker sends"),
    ({"said": "\x1b[2Jgone"}, "a worker says: gone"),
]
"""Results that are like one of a worker but for some fields, None for one that is not there; and what is said of each.
"""


def test_junk_on_an_agenda_is_named_and_set_aside_and_the_run_that_resumes_goes_on(link, out, share, whole):
    genuine = link.xrange(RESULTS)
    link.delete(RESULTS)
    usual = {"game": "1", "who": FOREIGN, "result": '{"error":null,"seconds":1.0}'}
    for fields, _ in JUNK:
        link.xadd(RESULTS, {name: value for name, value in {**usual, **fields}.items() if value is not None})
    for _, pairs in genuine:
        link.xadd(RESULTS, pairs)
    link.set(STUDY, b"\xff{")
    told = resume(out, share)
    noted = (out / "aside" / "agenda.txt").read_text()
    lines = noted.splitlines()
    for line, says in zip(lines, ("what stands there is no study: ", *(says for _, says in JUNK)), strict=True):
        assert says in line
        assert line in told
    assert "\x1b" not in told + noted
    assert_like(whole, out)


def test_what_is_set_aside_is_not_added_to_a_file_that_a_link_of_the_folder_leads_to(link, out, share, tmp_path):
    elsewhere, notes = tmp_path / "elsewhere", out / "aside" / "agenda.txt"
    elsewhere.write_text("mine\n")
    notes.parent.mkdir(exist_ok=True)
    notes.symlink_to(elsewhere)
    link.xadd(RESULTS, {"said": "junk"})
    told = resume(out, share)
    assert elsewhere.read_text() == "mine\n"
    assert notes.read_text().strip() in told


def test_keys_of_another_type_are_set_aside_and_the_games_that_are_lost_with_them_played_again(
    link, out, share, whole, redis_url
):
    keys = {RESULTS, GAMES_KEY, LEASE}
    for key in keys:
        link.delete(key)
        link.lpush(key, "x")
    working = []

    def play():
        wait_until((out / "aside" / "agenda.txt").exists)
        working.append(work(redis_url))

    done = run_here_while(play, "--resume", "--out", out, *share)
    assert all(f"{key} was a list" in done.stderr for key in keys)
    assert_ended(*working)
    assert_like(whole, out)


def test_a_result_that_comes_twice_counts_once(link, out, share, whole):
    (_, first), *_ = link.xrange(RESULTS)
    link.xadd(RESULTS, first)
    resume(out, share)
    assert_like(whole, out)
    assert journal_lines(out) == GAMES


def test_games_that_somebody_has_marked_as_known_or_done_are_played_all_the_same(link, out, share, whole, redis_url):
    link.delete(RESULTS, KNOWN, DONE)
    for number in range(1, GAMES + 1):
        link.sadd(KNOWN, number)
        if number % 2:
            link.hset(DONE, number, b"\xffnobody")
    worker = work(redis_url)
    resume(out, share)
    assert_ended(worker)
    assert_like(whole, out)


IN_HEADER = {
    "no JSON": "{",
    "a list": "[]",
    "no text": '{"study":"s"}',
    "a number for a text": header(text=7),
    "no TOML": header(text="players ="),
    "a table of nonsense": header(text='models = 3\nplayers = "llm:m"'),
    "a study of forks": header(text='agents = ["scripted"]\n[forks]\nof = "/"\nstatements = ["g:1"]\n'),
    "another version": header(wolfbus="0.0.1"),
    "five megabytes": "x" * (5 << 20),
}


@pytest.mark.parametrize("case", IN_HEADER)
def test_a_worker_says_in_one_line_what_is_wrong_with_a_study_and_ends(case, redis_url, capsys):
    with redis.from_url(redis_url) as link:
        link.set(STUDY, IN_HEADER[case])
    assert run([*WORKER[3:], "--bus", redis_url]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wolfbus: agenda {AGENDA}")


NO_GAMES = (
    {"game": b"\xff"},
    {"game": "one"},
    {"game": "77"},
    {"game": "9" * 100},
    {"x": "\x1b[2J", "y": "z"},
)


def test_a_worker_drops_what_is_no_game_of_the_study_and_tells_the_run(link, redis_url, share, out, whole):
    for entry in NO_GAMES:
        link.xadd(GAMES_KEY, entry)
    link.hset(HOUSES, "1", b"\xffnobody")
    link.xadd(GAMES_KEY, {"game": "1"})
    link.set(LEASE, "forever")

    def settled():
        wait_until(lambda: link.xlen(GAMES_KEY) == 0)
        link.set(STUDY, "over")

    with meanwhile(settled):
        assert run([*WORKER[3:], "--bus", redis_url]) == 0
    # game 1, which is done, was not played a second time
    assert link.xlen(RESULTS) == GAMES + len(NO_GAMES)
    told = resume(out, share)
    assert len(re.findall("a worker says: .* game .* is no(?:ne| number)", told)) == len(NO_GAMES)
    assert "\x1b" not in told
    assert_like(whole, out)


# -- forged games


def upload(url, record, house=FOREIGN):
    """Put a record on the bus as a worker does; returns its game."""
    game = record.name.removesuffix(".ndjson")
    with contextlib.closing(open_bus(url)) as bus:
        append_record(bus, house, game, record)
    return game


def forged_winner(link, url, record):
    forge(record, villagers_win)
    upload(url, record)


def no_record(*_):
    """Say that the game is over, and nothing else."""


def bytes_for_a_record(link, url, record):
    for body in (b"\xff", msgpack.packb([1]), msgpack.packb({"v": 1, "x": b"\xff", 1: 2}, strict_types=True)):
        link.xadd(streams.record(FOREIGN, record.name.removesuffix(".ndjson")), {"body": body, "n": "\xb2"})


def values_that_no_line_holds(link, url, record):
    body = msgpack.packb({"v": 1, "type": "opened", "x": b"\xff", "y": float("nan"), "z": msgpack.ExtType(5, b"")})
    link.xadd(streams.record(FOREIGN, record.name.removesuffix(".ndjson")), {"body": body})


def a_broken_record(link, url, record):
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    upload(url, record)


def the_other_game(link, url, record):
    other = record.with_name("x.ndjson")
    shutil.copy(next(path for path in record.parent.iterdir() if path != record), other)
    with contextlib.closing(open_bus(url)) as bus:
        append_record(bus, FOREIGN, record.name.removesuffix(".ndjson"), other)


FORGED = (forged_winner, no_record, bytes_for_a_record, values_that_no_line_holds, a_broken_record, the_other_game)


def test_games_that_do_not_hold_are_set_aside_and_named_and_played_again(link, redis_url, out, share, whole, tmp_path):
    records = shutil.copytree(whole / "records", tmp_path / "records")
    # the winner of the first is forged, so villagers may not have won it
    games = sorted(manifest(whole)["games"], key=lambda game: game["winner"] == "villagers")[: len(FORGED)]
    numbers = {game["number"] for game in games}
    for forged, game in zip(FORGED, games, strict=True):
        forged(link, redis_url, records / f"{game['game']}.ndjson")
    genuine = [pairs for _, pairs in link.xrange(RESULTS) if int(pairs[b"game"]) not in numbers]
    link.delete(RESULTS)
    for pairs in genuine:
        link.xadd(RESULTS, pairs)
    for number in numbers:
        link.xadd(RESULTS, {"game": number, "who": FOREIGN, "result": '{"error":null,"seconds":1.0}'})
        link.hset(DONE, number, FOREIGN)
    worker = work(redis_url)
    told = resume(out, share)
    assert_ended(worker)
    for forged, game in zip(FORGED, games, strict=True):
        assert f"game {game['game']}: what worker {FOREIGN} played does not hold: " in told
        kept = forged in {forged_winner, a_broken_record, the_other_game}
        assert (out / "aside" / f"{game['game']}.1.partial").exists() is kept
    assert_like(whole, out)
    assert run(["verify", str(out), "--prove"]) == 0


def test_a_game_whose_results_never_hold_fails_with_the_reason(link, redis_url, out, share, whole):
    def forge_again_and_again():
        while link.get(STUDY) not in {None, b"over"}:
            if b"1" in {pairs[b"game"] for _, pairs in link.xrange(GAMES_KEY)}:
                for entry, pairs in link.xrange(GAMES_KEY):
                    if pairs[b"game"] == b"1":
                        link.xdel(GAMES_KEY, entry)
                link.xadd(RESULTS, {"game": 1, "who": FOREIGN, "result": '{"error":null,"seconds":1.0}'})
            threading.Event().wait(0.01)

    ((_, first),) = [each for each in link.xrange(RESULTS) if each[1][b"game"] == b"1"]
    others = [pairs for _, pairs in link.xrange(RESULTS) if pairs != first]
    link.delete(RESULTS)
    for pairs in others:
        link.xadd(RESULTS, pairs)
    link.xadd(RESULTS, {"game": 1, "who": FOREIGN, "result": '{"error":null,"seconds":1.0}'})
    done = run_here_while(forge_again_and_again, "--resume", "--out", out, *share)
    assert done.returncode == 1
    assert manifest(out)["games"][0]["error"].startswith("3 records of it did not hold, the last since ")
    assert manifest(out)["totals"]["ended"] == GAMES - 1


# -- what a worker plays

MODELS = '[endpoints.e]\nurl = "{url}"\n{key}[models.m]\nmodel = "double"\nendpoint = "e"\n'
REFUSED = {
    "exec:touch RAN": "'exec:touch RAN', which this worker does not play",
    "tests.study.forged:Study": "'tests.study.forged:Study', which this worker does not play",
    "llm:m@http://127.0.0.1:9/v1": "'llm:m@http://127.0.0.1:9/v1', which this worker does not play",
    "llm:m": "this worker's --config has no table [models.m]",
    "llm:gpt-4o": "this worker's --config has no table [models.gpt-4o]",
}


def test_a_worker_runs_no_program_that_an_agenda_names_and_tells_the_run_why_nothing_goes_on(
    redis_url, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    brain = "exec:touch RAN"
    models = MODELS.format(url="http://127.0.0.1:9/v1", key='key_env = "HOME"\n')
    (tmp_path / "study.toml").write_text(toml(f"{brain}*4,llm:m*4", models))
    running = begin("study.toml", "--out", "out", "--bus", redis_url, "--share", AGENDA)
    with redis.from_url(redis_url) as link:
        wait_until(lambda: link.scard(KNOWN) == GAMES)
        assert b"127.0.0.1:9" not in link.get(STUDY)
        assert b"HOME" not in link.get(STUDY)
        assert run([*WORKER[3:], "--bus", redis_url]) != 0
        (said,) = capsys.readouterr().err.splitlines()
        assert REFUSED[brain] in said
        assert running.stderr is not None
        assert any(REFUSED[brain] in heard for heard in iter(running.stderr.readline, ""))
        # its games wait for another worker
        assert link.xlen(GAMES_KEY) == GAMES
    running.kill()
    running.communicate()
    assert not (tmp_path / "RAN").exists()


@pytest.fixture
def refusal(redis_url, capsys):
    """Be a worker in this process, of an agenda with a study of these players and models; returns what it says."""

    def refusal(players, models, *more):
        with redis.from_url(redis_url) as link:
            link.set(STUDY, header(text=toml(players, models)))
        assert run([*WORKER[3:], "--bus", redis_url, *more]) != 0
        (said,) = capsys.readouterr().err.splitlines()
        return said

    return refusal


@pytest.mark.parametrize("brain", REFUSED)
def test_a_worker_plays_nothing_that_an_agenda_names_and_its_own_command_line_does_not(brain, refusal):
    assert REFUSED[brain] in refusal(f"{brain}*4,scripted*4", MODELS.format(url="http://127.0.0.1:9/v1", key=""))


def test_a_worker_does_not_play_another_model_under_the_studys_name(refusal, tmp_path):
    models, own = MODELS.format(url="http://127.0.0.1:9/v1", key=""), tmp_path / "own.toml"
    own.write_text(models)
    said = refusal("llm:m*4,scripted*4", f"{models}temperature = 0.5\n", "--config", str(own))
    assert "model 'm': temperature is 0.5 there, and None in this worker's --config" in said


def test_a_worker_plays_what_its_command_line_allows_and_asks_models_where_its_own_config_says(redis_url, tmp_path):
    with ModelServer() as server, redis.from_url(redis_url) as link:
        nowhere = MODELS.format(url="http://127.0.0.1:9/v1", key='key_env = "HOME"\n')
        (tmp_path / "study.toml").write_text(toml("llm:m*4,tests.study.brains:Gated*4", nowhere))
        (tmp_path / "own.toml").write_text(MODELS.format(url=server.url, key=""))
        working = []

        def turn_away():
            wait_until(lambda: link.scard(KNOWN) == 2)
            # whoever can write there has models asked elsewhere, and a key sent along
            stored = json.loads(link.get(STUDY))
            text = stored["text"].replace("[models.m]", '[models.m]\nendpoint = "e"')
            link.set(STUDY, json.dumps({**stored, "text": f"{text}\n{nowhere.partition('[models')[0]}"}))
            own = ("--config", str(tmp_path / "own.toml"), "--allow", "tests.study.brains:Gated")
            working.append(work(redis_url, *own))

        share = ("--games", "2", "--bus", redis_url, "--share", AGENDA)
        done = run_here_while(turn_away, tmp_path / "study.toml", "--out", tmp_path / "out", *share)
        assert done.returncode == 0, done.stderr
        assert_ended(*working)
    assert manifest(tmp_path / "out")["totals"]["calls"] > 0


@pytest.mark.parametrize(("who", "more"), [("ada", ()), ("bo", ("--play-on", "memory://"))])
def test_a_study_is_shared_by_tickets_alone(tmp_path, whole, who, more):
    with RedisServer() as server:
        folder = tmp_path / "tickets"
        words = ["tickets", "issue", "--agenda", AGENDA, "--workers", "ada,bo", "--bus", server.url]
        assert run([*words, "--out", str(folder)]) == 0
        urls = {name: read_bus(f"@{folder / name}.ticket") for name in ("ada", "bo", "study")}
        (tmp_path / "study.toml").write_text(toml())
        worker = work(urls[who], *more)
        out = tmp_path / "out"
        budget = ("--budget-tokens", "1000000")
        run_here(tmp_path / "study.toml", "--out", out, "--bus", urls["study"], "--share", AGENDA, *budget, code=0)
        assert_ended(worker)
    assert manifest(out)["totals"]["ended"] == GAMES


# -- a folder that somebody handed over

PLAIN = "games = 1\nseed = 5\n"
THEIRS = {
    "exec:touch RAN": "runs exec:touch RAN",
    "planted:Agent": "imports planted:Agent",
    "llm:m@http://127.0.0.1:9/v1": "asks m at http://127.0.0.1:9/v1",
    "llm:m": "imports planted, asks double at http://127.0.0.1:9/v1 with the key in HOME",
    "llm:n": "runs touch RAN, asks double at http://127.0.0.1:9/v1, sends HOME to http://127.0.0.1:9/v1, sends USER to "
    "http://127.0.0.1:9/v1",
}
SENT = 'key_command = "touch RAN"\nheaders = { api-key = "HOME" }\nquery = { code = "USER", v = "2" }\n'
TABLES = {
    "llm:m": MODELS.format(url="http://127.0.0.1:9/v1", key='key_env = "HOME"\nprovider = "planted"\n'),
    "llm:n": MODELS.format(url="http://127.0.0.1:9/v1", key=SENT).replace("[models.m]", "[models.n]"),
}


@pytest.fixture
def handed_over(tmp_path, monkeypatch):
    """Make a folder as somebody else has it: a study of these players, which was begun and has games left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planted.py").write_text("from pathlib import Path\nPath('RAN').touch()\n")

    def make(brain):
        out = tmp_path / "theirs"
        (tmp_path / "study.toml").write_text(f"{PLAIN}{SHORT}")
        run_here(tmp_path / "study.toml", "--out", out, code=0)
        for name in ("study.toml", "study.json"):
            (out / name).write_text((out / name).read_text().replace('"scripted"', json.dumps(brain)))
        with (out / "study.toml").open("a") as file:
            file.write(TABLES.get(brain, ""))
        return out

    return make


@pytest.mark.parametrize("brain", THEIRS)
def test_a_folder_that_was_handed_over_runs_and_asks_nothing_without_leave(brain, handed_over, tmp_path):
    out = handed_over(brain)
    (line,) = run_here("--resume", "--out", out, "--games", "2", code=2).stderr.splitlines()
    assert line.startswith(f"wolfbus: {out}/study.toml: it {THEIRS[brain]}, and was not begun by you on this machine")
    assert "--trust" in line
    assert not (tmp_path / "RAN").exists()
    # players of one's own need no leave, but make another study of it
    told = run_here("--resume", "--out", out, "--games", "2", "--players", "random", code=2).stderr
    assert "is told, and the folder's study has" in told
    if not brain.startswith("llm:"):
        run_here("--resume", "--out", out, "--games", "2", "--trust")
        assert (tmp_path / "RAN").exists()


@pytest.mark.parametrize("hidden", ["; touch RAN", "\u200b"])
def test_nothing_hides_behind_a_long_command_that_this_user_has_run(hidden, tmp_path):
    command, out = f"exec:false {'x' * 700}", tmp_path / "out"
    (tmp_path / "study.toml").write_text(f'{PLAIN}players = "{command}*1,scripted*7"\n{SHORT}')
    run_here(tmp_path / "study.toml", "--out", out, "--no-probe")
    for name in ("study.toml", "study.json"):
        (out / name).write_text((out / name).read_text("utf-8").replace(command, f"{command}{hidden}"), "utf-8")
    told = run_here("--resume", "--out", out, "--no-probe", code=2).stderr
    assert "was not begun by you on this machine" in told
    assert ("; touch RAN" if hidden[0] == ";" else "[U+200B]") in told


@pytest.mark.parametrize(
    ("words", "module"),
    [
        ("run --resume --out . --games 8 --workers 2 --quiet", "random"),
        ("report . --no-cache --workers 2", "multiprocessing"),
    ],
)
def test_no_file_of_a_folder_that_one_is_in_stands_for_a_module(words, module, tmp_path):
    out, script = tmp_path / "out", tmp_path / "bin" / "wolfbus"
    (tmp_path / "study.toml").write_text(f'games = 4\nseed = 5\nplayers = "scripted"\n{SHORT}')
    run_here(tmp_path / "study.toml", "--out", out, code=0)
    (out / f"{module}.py").write_text("from pathlib import Path\nPath('RAN').touch()\nraise ImportError\n")
    # as pip installs it, with its own folder before all others; records are read by several processes
    script.parent.mkdir()
    script.write_text(
        "import analytics.gather\nfrom wolfbus.cli import main\n"
        "if __name__ == '__main__':\n    analytics.gather.BATCH = 1\n    main()\n"
    )
    command = [sys.executable, script, *words.split()]
    done = subprocess.run(command, cwd=out, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert not (out / "RAN").exists()


def test_a_folder_of_ones_own_goes_on_without_a_question_wherever_it_is_moved(tmp_path):
    (tmp_path / "study.toml").write_text(f'{PLAIN}players = "scripted*4,tests.study.brains:Gated*4"\n{SHORT}')
    run_here(tmp_path / "study.toml", "--out", tmp_path / "out", code=0)
    shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    run_here("--resume", "--out", tmp_path / "elsewhere", "--games", "2", code=0)
    # what stands in it proves nothing but what this user has run
    (tmp_path / "elsewhere" / ".trusted").write_text(f"{'0' * 64}\nnonsense\n")
    told = run_here("--resume", "--out", tmp_path / "elsewhere", "--games", "3", code=2).stderr
    assert "it imports tests.study.brains:Gated, and was not begun by you" in told
    run_here("--resume", "--trust", "--out", tmp_path / "elsewhere", "--games", "3", code=0)
    run_here("--resume", "--out", tmp_path / "elsewhere", "--games", "4", code=0)


def test_in_a_terminal_one_is_asked_before_anything_runs(tmp_path):
    (tmp_path / "study.toml").write_text(f'{PLAIN}players = "scripted*4,tests.study.brains:Gated*4"\n{SHORT}')
    out = tmp_path / "out"
    run_here(tmp_path / "study.toml", "--out", out, code=0)
    (out / ".trusted").unlink()
    for keys, code in ((b"n\n", 2), (b"y\n", 0)):
        ended, shown = seen_in_a_terminal(["--plain", "--resume", "--games", "2", "--out", out], keys=keys)
        assert ended == code, shown
        assert "it imports tests.study.brains:Gated" in shown
        assert "trust whoever made it?" in shown
    assert manifest(out)["totals"]["ended"] == 2


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_study_is_refused(text, tmp_path):
    (tmp_path / "study.toml").write_text(text)
    (line,) = run_here(tmp_path / "study.toml", "--out", tmp_path / "out", code=2).stderr.splitlines()
    assert line.startswith(f"wolfbus: {tmp_path}/study.toml: empty; ")
    assert not (tmp_path / "out").exists()

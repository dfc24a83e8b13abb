"""How many answers are defaults is told before anything is published, and a game of which too many are, since no reply
came, is counted apart.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from moderator.engine.reexecution import Verifier
from players.llm.provider import Failure, ProviderReply
from tests.golden.running import wolfbus as command
from tests.llm.whole.playing import obliging, scripted
from tests.proving import prove
from tests.study.runs import manifest, run_here
from wolfbus.errors import RecordError
from wolfbus.game.config import GameConfig

SPOILT = 4
"""The exit code."""
RULES = "villagers = 3\nwerewolves = 1\ndoctors = 0\ndebate_turns = 1\nmax_rounds = 1\n"
MODELS = '[endpoints.here]\nprovider = "tests.llm.whole.playing"\n[models.m]\nendpoint = "here"\n'
AWAY = f"""games = 3
seed = 5
at_once = 1
design = "fixed"
players = "scripted*4,tests.study.brains:Absent"
[rules]
{RULES}absent_grace = 0.0
deadlines = {{ bid = 1.0, speak = 1.0, assess_own = 1.0, assess_other = 1.0, vote = 1.0, kill = 1.0, \
inspect = 1.0 }}
"""


@pytest.fixture(scope="module")
def away(tmp_path_factory):
    """A study whose first game one agent is away from, its first run, and its folder."""
    folder = tmp_path_factory.mktemp("away")
    (folder / "study.toml").write_text(AWAY)
    return run_here(folder / "study.toml", "--out", folder / "out"), folder / "out"


def model_study(folder: Path, **rules) -> Path:
    path = folder / "study.toml"
    more = "".join(f"{name} = {json.dumps(value)}\n" for name, value in rules.items())
    path.write_text(f'games = 2\nseed = 3\nat_once = 1\nplayers = "llm:m*5"\n[rules]\n{RULES}{more}{MODELS}')
    return path


def first(number, came):
    """Return a script by which so many requests come to something else."""
    left = [number]

    def script(request):
        left[0] -= 1
        return came if left[0] >= 0 else obliging(request)

    return script


UNREACHED = Failure("rejected", "scripted://here: 418: nobody is in", again=False)


def test_a_game_that_an_agent_is_away_from_is_spoilt_and_the_run_says_so_before_its_hash(away):
    done, out = away
    assert done.returncode == SPOILT, done.stderr
    games = manifest(out)["games"]
    assert [game["state"] for game in games] == ["ended"] * 3
    assert [bool(game.get("spoilt")) for game in games] == [True, False, False]
    assert f"Spoilt  1 game ({games[0]['game']})" in done.stdout
    assert re.search(r"^Missing \d+ of \d+ answers are defaults \(\d+ no reply\)\nHash ", done.stdout, re.MULTILINE)


def test_reports_comparisons_and_exports_leave_spoilt_games_out_unless_asked(away, tmp_path):
    _, out = away
    counted = {}
    for more in ((), ("--include-spoilt",)):
        done = command(tmp_path, "report", str(out), "--json", "--no-cache", *more)
        counted[more] = json.loads(done.out)["outcomes"]["games"]
    assert list(counted.values()) == [2, 3]
    page = command(tmp_path, "report", str(out), "--html", "page.html", "--no-cache")
    assert "1 game is spoilt" in page.out
    assert "left out (--include-spoilt counts them)" in (tmp_path / "page.html").read_text()
    assert "1 game is spoilt" in command(tmp_path, "compare", str(out), str(out), "--no-cache").err
    for more, spoilt in (((), ["false"] * 2), (("--include-spoilt",), ["true", "false", "false"])):
        done = command(tmp_path, "export", "csv", str(out), "--out", f"tables{len(more)}", "--tables", "games", *more)
        with (tmp_path / f"tables{len(more)}" / "games.csv").open(newline="") as file:
            assert [row["spoilt"].lower() for row in csv.DictReader(file)] == spoilt


def test_commands_that_cannot_count_spoilt_games_say_that_they_leave_them_out(away, tmp_path):
    _, out = away
    for words in (
        ["plan", "--from", str(out), "--metric", "auc", "--games", "9"],
        ["annotate", str(out), "--agreement"],
    ):
        said = command(tmp_path, *words).err
        assert "1 spoilt game, in which too many answers of a seat are defaults: left out" in said


def test_no_command_tells_a_study_hash_before_how_many_answers_are_defaults(away, tmp_path):
    _, out = away
    for words in (
        ["verify", str(out)],
        ["report", str(out), "--html", "page.html", "--no-cache"],
        ["compare", str(out), str(out), "--no-cache"],
        ["export", "csv", str(out), "--out", "tables"],
    ):
        done = command(tmp_path, *words)
        said = done.out + done.err
        before, found, _ = said.partition(manifest(out)["study_hash"])
        assert found, said
        assert re.search(r"\d+ of \d+ answers are defaults", before), said


def test_that_a_game_is_spoilt_follows_from_its_record(away):
    _, out = away
    record = out / manifest(out)["games"][0]["record"]
    proof = prove(record)
    assert proof.verified
    *played, last = proof.records
    others = [seat.name for seat in played[0].event.seats if seat.name not in last.event.spoilt]
    for spoilt, holds in ((last.event.spoilt, True), (tuple(others), False), ((), False)):
        verifier = Verifier()
        for recorded in played:
            verifier.feed(recorded)
        ended = last._replace(event=last.event.model_copy(update={"spoilt": spoilt}))
        if holds:
            verifier.feed(ended)
        else:
            with pytest.raises(RecordError, match="the rules give"):
                verifier.feed(ended)


def test_unreachable_models_spoil_a_game_and_unreadable_replies_do_not(tmp_path):
    study = model_study(tmp_path)
    with scripted(first(15, UNREACHED)):
        done = run_here(study, "--no-probe", "--give-up", "0", "--out", tmp_path / "unreached")
    assert (done.returncode, manifest(tmp_path / "unreached")["totals"]["spoilt"]) == (SPOILT, 1)
    with scripted(first(30, ProviderReply("no", finish="stop"))):
        done = run_here(study, "--no-probe", "--give-up", "0", "--out", tmp_path / "unread")
    assert (done.returncode, manifest(tmp_path / "unread")["totals"]["spoilt"]) == (0, 0)
    assert re.search(r"^Missing \d+ of \d+ answers are defaults \(\d+ unreadable\)$", done.stdout, re.MULTILINE)


def test_the_rules_say_how_many_answers_may_be_missing(tmp_path):
    with scripted(first(15, UNREACHED)):
        done = run_here(
            model_study(tmp_path, spoilt_above=1.0), "--no-probe", "--give-up", "0", "--out", tmp_path / "out"
        )
    assert (done.returncode, manifest(tmp_path / "out")["totals"]["spoilt"]) == (0, 0)
    assert "spoilt_above" not in GameConfig().model_dump_json()


def test_one_game_tells_of_a_single_default(tmp_path):
    (tmp_path / "game.toml").write_text(RULES + MODELS)
    with scripted(first(1, UNREACHED)):
        done = command(
            tmp_path, "play", "--config", "game.toml", "--players", "llm:m*5", "--seed", "1", "--no-probe", "--quiet"
        )
    assert done.code == 0
    warning = r"^WARNING: 1 of \d+ answers of llm:m is a default \(failed 1; most often: .*nobody is in\)$"
    assert re.search(warning, done.out, re.MULTILINE), done.out

"""Studies that nothing happens to: what they leave, in one process, in two, on a Redis."""

from __future__ import annotations

import json
import shlex
import subprocess

import redis

from tests.study.runs import (
    ENVIRONMENT,
    STUDY,
    WOLFBUS,
    manifest,
    run,
    study_file,
)
from wolfbus.cli.studying.loading import load_study
from wolfbus.study.showing import replay_command


def test_a_study_leaves_a_record_of_every_game_and_a_manifest_that_counts_them(whole):
    told = manifest(whole)
    assert told["complete"]
    assert told["totals"]["ended"] == told["totals"]["games"] == len(told["games"]) == 16
    assert sum(told["totals"][who] for who in ("villagers", "werewolves", "nobody")) == 16
    assert told["totals"]["statements"] > 100
    for game in told["games"]:
        first, *_, last = (whole / game["record"]).read_text().splitlines()
        opened = json.loads(first)
        assert (opened["game"], opened["seed"]) == (game["game"], game["seed"])
        assert [seat["brain"] for seat in opened["seats"]] == game["brains"]
        assert json.loads(last).get("winner") == game["winner"]
    assert told["agents"] == ["scripted", "tests.study.gate:Gated"]
    assert told["design"]["roles_equal"]
    assert len({game["block"] for game in told["games"]}) == 8


def test_any_game_can_be_played_again_alone_with_the_same_digest(whole, tmp_path):
    plan = load_study(whole / "study.toml", None, {}).plan()
    assert plan.game(13).seed == manifest(whole)["games"][12]["seed"]
    words = shlex.split(replay_command(plan.game(13), whole))
    assert words[0] == "wolfbus"
    done = subprocess.run(
        [*WOLFBUS, *words[1:], "--json", "--out", str(tmp_path)], capture_output=True, env=ENVIRONMENT, check=True
    )
    assert json.loads(done.stdout)["digest"] == manifest(whole)["games"][12]["digest"]


def test_a_study_on_redis_leaves_nothing_there_for_ever(tmp_path, redis_server, redis_url, whole):
    out = tmp_path / "out"
    done = run(study_file(tmp_path, STUDY), "--out", out, "--games", "4", "--workers", "2", "--bus", redis_url)
    assert done.returncode == 0, done.stderr
    digests = [game["digest"] for game in manifest(whole)["games"][:4]]
    assert [game["digest"] for game in manifest(out)["games"]] == digests
    with redis.Redis.from_url(redis_url) as link:
        records = list(link.scan_iter("wolf:*:record:*"))
        assert len(records) == 4
        assert all(link.ttl(key) > 0 for key in records)

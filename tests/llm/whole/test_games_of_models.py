"""Whole games of language models, over real HTTP or in this process: servers that misbehave, budgets, cassettes."""

import json
import random
import re
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.model_games import alone
from players.llm.provider import Failure, ProviderReply, Speed
from tests.golden.running import wolfbus
from tests.llm.scripted import URL
from tests.llm.whole import playing
from tests.llm.whole.playing import obliging, play, played, proven, readings, scripted
from tests.proving import prove
from tests.study.runs import manifest, run_here
from wolfbus.game.config import Deadlines
from wolfbus.game.vocabulary import KINDS
from wolfbus.testing.model_server import ModelServer

KEY = "sk-canary-0123456789abcdef"
PRICED = "price = { input = 1.0, cached = 0.5, output = 2.0 }\nmax_tokens = 256"
BABBLE = ProviderReply("<html>502</html>")


def test_the_command_line_plays_models_puts_every_call_into_the_record_and_tells_what_they_took(tmp_path: Path) -> None:
    with ModelServer() as server:
        result, record = play(tmp_path, "--json", url=server.url, model=PRICED)
        stats = server.stats()
        plain = wolfbus(tmp_path, "play", "--config", "game.toml", "--players", "llm:m", "--seed", "5", "--plain")
    proof = proven(record)
    calls = proof.of("model_call")
    assert (len(calls), set(readings(proof))) == (stats.calls, {"clean"})
    assert sum(call.prompt_tokens for call in calls) == stats.prompt_tokens
    assert all(call.attempts == 1 and call.latency_s >= 0 and call.finish == "stop" for call in calls)
    assert json.loads(result.out)["calls"]["total"]["calls"] == len(calls)
    # the other command asked first whether the model answers
    assert re.search(rf"^m: {len(calls)} calls and 1 probe, .*\$0\.\d", plain.out, re.MULTILINE)
    replayed = wolfbus(tmp_path, "replay", str(record), "--calls", "--json")
    assert replayed.code == 0, replayed.err


def test_what_a_game_is_told_to_take_is_what_one_of_middling_length_takes(tmp_path, monkeypatch) -> None:
    expected = []
    # nothing is asked, for no call fits the budget
    words = ["run", "--games", "1", "--players", "llm:m@http://127.0.0.1:9/v1", "--no-probe", "--budget-tokens", "1"]
    for seed in (None, *"abcd"):
        if seed is not None:
            monkeypatch.setattr("wolfbus.running.brains._SEED", seed)
        result = wolfbus(tmp_path, *words, "--out", str(seed))
        expected.append(int(re.search(r"expect about (\d+) calls", result.err)[1]))
    assert sorted(expected).index(expected[0]) in range(1, 4), expected


def test_on_a_server_that_tells_how_slow_it_is_a_game_s_time_is_told_and_deadlines_that_fall_short(tmp_path) -> None:
    def script(request):
        reply = ProviderReply('{"mark": "kept"}') if "mark" in request.form.schema["properties"] else obliging(request)
        return replace(reply, speed=Speed(37.0, 6.0))

    rules = "debate_turns = 2\nmax_rounds = 1\ndeadlines.bid = 20.0\n"
    model = f'[endpoints.here]\nprovider = "{playing.__name__}"\n[models.m]\nendpoint = "here"\n'
    (tmp_path / "game.toml").write_text(rules + model)
    with scripted(script):
        result = wolfbus(tmp_path, "play", "--config", "game.toml", "--players", "llm:m", "--plain")
    assert result.code == 0, result.err
    words = r"37 prompt and 6 reply tokens a second a game takes about (\d+) min \d+ s to (\d+) h \d+ min: less"
    match = re.search(words, result.err)
    assert match is not None, result.err
    assert int(match[1]) < 60 * int(match[2])
    assert "longer than the deadlines of bid" in result.err


@pytest.mark.parametrize("protocol", ["paper", "compact"])
def test_half_of_all_replies_ugly_breaks_no_game(tmp_path: Path, protocol: str) -> None:
    with ModelServer(ugly=0.5, seed=2) as server:
        proof = played(
            tmp_path, url=server.url, model='model = "double"', debate_turns=3, max_rounds=2, protocol=protocol
        )
    counts = readings(proof)
    assert set(counts) >= {"clean", "extracted", "repaired", "coerced", "reasked"}
    # a refusal is a result
    refused = sum(event.fault == "refused" for event in proof.of("answered"))
    assert counts["defaulted"] - refused < counts.total() / 20


def test_a_fifth_of_requests_failing_costs_time_and_not_the_game(tmp_path: Path) -> None:
    # long enough for a busy machine: what hangs, one request in fifty, waits for all of it
    deadlines = dict.fromkeys(Deadlines.model_fields, 60.0)
    timeouts = f"timeouts = {{ {', '.join(f'{kind} = 3.0' for kind in KINDS)} }}"
    with ModelServer(errors={"429": 0.06, "500": 0.06, "reset": 0.06, "hang": 0.02}, seed=4) as server:
        proof = played(tmp_path, url=server.url, deadlines=deadlines, model=timeouts, debate_turns=1)
    calls = proof.of("model_call")
    assert sum(call.attempts for call in calls) > len(calls)
    assert readings(proof)["clean"] > 0.95 * readings(proof).total()


def test_a_server_that_dies_in_the_middle_leaves_a_finished_game_that_says_so(tmp_path: Path) -> None:
    dead = Failure("connection", f"{URL}: connection refused", again=True)
    with scripted(lambda request: dead if len(provider.requests) > 60 else obliging(request)) as provider:
        proof = played(tmp_path, endpoint="attempts = 2\npatience = 0.1", spoilt=True)
    failed = [event for event in proof.of("answered") if event.fault == "failed"]
    assert failed
    assert all(event.outcome == "defaulted" and URL in event.note for event in failed)
    assert readings(proof)["clean"] > 0


def test_a_cassette_plays_the_same_game_without_a_model(tmp_path: Path) -> None:
    def script(request):
        return (
            BABBLE
            if random.Random(repr(request.messages)).random() < 0.1
            else replace(obliging(request), billed_usd=0.5)
        )

    with scripted(script):
        first = played(tmp_path, "--cassette", "tape", game="first")
    assert {call.billed_usd for call in first.of("model_call")} == {0.5, None}
    with scripted(lambda _request: BABBLE) as provider:
        again = played(tmp_path, "--replay-cassette", "tape", game="again")
    assert (first.digest, provider.requests) == (again.digest, [])
    assert wolfbus(tmp_path, "report", "again.ndjson").code == 0
    assert (
        f"{len(again.of('model_call'))} from a cassette, with the tokens that they once took"
        in (tmp_path / "report.html").read_text()
    )


def test_a_budget_stops_the_game_before_it_is_spent_and_leaves_a_readable_record(tmp_path: Path) -> None:
    def script(request):
        prompt = sum(len(message.content) for message in request.messages) // 4
        return replace(obliging(request), prompt_tokens=prompt, completion_tokens=50)

    with scripted(script) as provider:
        result, record = play(tmp_path, "--budget", "0.1", model=PRICED)
    assert result.code == 1
    proof = prove(record)
    (stopped,) = proof.of("stopped")
    assert len(proof.problems) == 1
    assert "budget" in stopped.reason
    assert proof.records[-1].event == stopped
    # what was answered before the end was paid for, and is there to be read
    paid = [call.cost_usd for call in proof.of("model_call") if call.error is None]
    assert len(paid) >= len(provider.requests) - 56
    assert 0.05 < sum(paid) <= 0.1


def without_waiting(text: str) -> list[str]:
    """Lines but the one that tells, first, who takes long."""
    return [
        line for line in text.strip().splitlines() if "waiting for double to answer a first small question" not in line
    ]


def test_the_key_reaches_the_server_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "quick.toml").write_text("debate_turns = 2\nmax_rounds = 1\n")
    with ModelServer(key=KEY, ugly=0.2) as server:
        words = ["play", "--players", f"llm:double@{server.url}", "--config", "quick.toml"]
        (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
        result = wolfbus(tmp_path, *words, "--cassette", "tape", "--plain")
        assert result.code == 0, result.err
        (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY[:-3]}xyz\n")
        refused = wolfbus(tmp_path, *words)
    assert refused.code == 1
    assert "OPENAI_API_KEY" in refused.err
    assert len(without_waiting(refused.err)) == 1
    assert "canary" not in result.out + result.err + refused.out + refused.err
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".env"]
    assert any("tape" in str(path) for path in written)
    assert not [path for path in written if b"canary" in path.read_bytes()]


def test_a_dead_endpoint_is_one_clear_line_before_the_first_night(tmp_path: Path) -> None:
    # bound, but deaf: the port refuses, and no other server of this machine can come by it
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        result = wolfbus(tmp_path, "play", "--players", f"llm:double@{url}")
    assert result.code == 1
    (line,) = without_waiting(result.err)
    assert line.startswith(f"wolfbus: double does not answer: {url}: connection refused")
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_a_game_of_which_nothing_can_be_read_ends_with_the_reason_in_its_record(tmp_path: Path) -> None:
    with scripted(lambda _request: BABBLE) as provider:
        result, record = play(tmp_path)
    (reason,) = [line for line in result.err.splitlines() if "given up" in line]
    cause = "the last: the reply is a web page, not an answer"
    why = f"30 replies in a row could not be had or read, and none before ({cause})"
    assert reason == f"wolfbus: m at {URL} is given up: {why}; --give-up 0 plays on all the same"
    assert (result.code, result.out) == (1, "")
    last = json.loads(record.read_text().splitlines()[-1])
    assert (last["type"], f"wolfbus: {last['reason']}") == ("stopped", reason)
    # those that were under way with the thirtieth, and no others
    assert 30 <= len(provider.requests) < 60


def test_a_study_counts_each_game_that_failed_so_and_tries_it_once_more_when_resumed(tmp_path: Path) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(
        'games = 4\nseed = 5\nat_once = 2\nworkers = 1\nplayers = "llm:m"\n[rules]\ndebate_turns = 1\nmax_rounds = 1\n'
        '[models.m]\nendpoint = "here"\n[endpoints.here]\nprovider = "tests.llm.whole.playing"\n'
    )
    with scripted(lambda _request: BABBLE):
        came = run_here(study, "--out", out, "--no-probe", "--give-up", "25")
    assert came.returncode == 1
    assert "wolfbus: 4 of 4 games failed; try them again with: wolfbus run --resume --out" in came.stderr
    assert came.stderr.rstrip().endswith(" --give-up 25")
    assert "25 replies in a row could not be had or read" in came.stdout
    failed = manifest(out)
    assert [game["state"] for game in failed["games"]] == ["failed"] * 4
    assert all("given up" in game["error"] for game in failed["games"])
    with scripted(obliging):
        again = run_here("--resume", "--out", out, "--no-probe")
    assert (again.returncode, [game["state"] for game in manifest(out)["games"]]) == (0, ["ended"] * 4)


def test_the_benchmark_of_games_of_models_measures() -> None:
    measured = alone(0.01, 7)
    assert measured["calls"] > measured["critical_path_calls"] > measured["debate_turns"] > 0

"""Whole games of language models against a real HTTP server that behaves, and misbehaves."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from players.context import BrainContext
from players.llm.budget import Budget
from players.llm.cassette import Cassette
from players.llm.settings import Endpoint, Model, Price, Timeouts
from tests.golden.running import wolfbus
from wolfbus.cli.embedded import EmbeddedHouse, Game
from wolfbus.cli.proof import Proof, ProofCriteria, open_source, prove
from wolfbus.config import Deadlines, GameConfig
from wolfbus.testing.model_server import ModelServer

SHORT = GameConfig(debate_turns=2, max_rounds=2)
KEY = "sk-canary-0123456789abcdef"


def play(
    folder: Path, brain_context: BrainContext, brains: Sequence[str], config: GameConfig = SHORT, seed: str = "5"
) -> Game:
    with EmbeddedHouse(brain_context=brain_context) as house:
        game = house.open(config, seed, brains, folder / "game.ndjson")
        assert game.finished.wait(100)
    return game


def proof_of(folder: Path) -> Proof:
    proof = prove(open_source(str(folder / "game.ndjson")), ProofCriteria(), keep=True)
    assert proof.verified, proof.problems
    return proof


def events(proof: Proof, kind: str) -> list[Any]:
    return [recorded.event for recorded in proof.records if recorded.event.type == kind]


def readings(proof: Proof) -> Counter[str]:
    return Counter(
        event.reading if event.outcome == "accepted" else event.outcome for event in events(proof, "answered")
    )


def test_eight_models_play_a_game_and_every_call_is_in_the_record(tmp_path):
    with ModelServer() as server, BrainContext() as brain_context:
        brain_context.probe([f"llm:double@{server.url}"])
        before = server.stats().calls
        play(tmp_path, brain_context, [f"llm:double@{server.url}"] * 8)
        assert brain_context.accounts is not None
        proof = proof_of(tmp_path)
        calls = events(proof, "model_call")
        assert len(calls) == server.stats().calls - before
        assert set(readings(proof)) == {"clean"}
        assert sum(call.prompt_tokens for call in calls) <= server.stats().prompt_tokens
        assert all(call.attempts == 1 and call.latency_s >= 0 and call.finish == "stop" for call in calls)


@pytest.mark.parametrize("protocol", ["paper", "compact"])
def test_half_of_all_replies_ugly_breaks_no_game(tmp_path, protocol):
    with ModelServer(ugly=0.5, seed=2) as server, BrainContext() as brain_context:
        config = GameConfig(debate_turns=3, max_rounds=2, protocol=protocol)
        play(tmp_path, brain_context, [f"llm:double@{server.url}"] * 8, config)
    found = readings(proof_of(tmp_path))
    assert set(found) >= {"clean", "extracted", "repaired", "coerced", "reasked"}
    assert found["defaulted"] < found.total() / 10


def test_a_fifth_of_requests_failing_costs_time_and_not_the_game(tmp_path):
    deadlines = Deadlines(**dict.fromkeys(Deadlines.model_fields, 6.0))
    config = GameConfig(debate_turns=2, max_rounds=1, deadlines=deadlines)
    model = Model(model="double", timeouts=Timeouts(**dict.fromkeys(Timeouts.model_fields, 0.5)))
    with ModelServer(errors=0.2, hangs=0.02, trickle=0.2, retry_after=0.05, seed=4) as server:
        asked = model.model_copy(update={"endpoint": Endpoint(url=server.url)})
        with BrainContext({"double": asked}) as brain_context:
            play(tmp_path, brain_context, ["llm:double"] * 8, config)
    proof = proof_of(tmp_path)
    calls = events(proof, "model_call")
    assert sum(call.attempts for call in calls) > len(calls)
    assert readings(proof)["clean"] > 0.95 * readings(proof).total()


def test_a_server_that_dies_in_the_middle_leaves_a_finished_game_that_says_so(tmp_path):
    with ModelServer() as server:
        model = Model(model="double", endpoint=Endpoint(url=server.url, attempts=2, patience=0.2))
        with BrainContext({"double": model}) as brain_context:

            def watch(recorded):
                if recorded.event.type == "statement" and recorded.event.statement == 2:
                    server.down()

            with EmbeddedHouse(brain_context=brain_context, watch=watch) as house:
                game = house.open(SHORT, "5", ["llm:double"] * 8, tmp_path / "game.ndjson")
                assert game.finished.wait(60)
    proof = proof_of(tmp_path)
    failed = [event for event in events(proof, "answered") if event.fault == "failed"]
    assert failed
    assert all(event.outcome == "defaulted" and server.url in event.note for event in failed)
    assert readings(proof)["clean"] > 0


def test_a_cassette_plays_the_same_game_without_a_network(tmp_path):
    (tmp_path / "first").mkdir()
    (tmp_path / "again").mkdir()
    with ModelServer(ugly=0.4, seed=3) as server:
        brains = [f"llm:double@{server.url}"] * 8
        with BrainContext(cassette=Cassette.record(tmp_path / "tape")) as brain_context:
            first = play(tmp_path / "first", brain_context, brains)
    with BrainContext(cassette=Cassette.play(tmp_path / "tape")) as brain_context:
        again = play(tmp_path / "again", brain_context, brains)
    assert first.over is not None
    assert again.over is not None
    assert first.over.digest == again.over.digest
    assert proof_of(tmp_path / "again").digest == first.over.digest


def test_a_budget_stops_the_game_before_it_is_spent_and_leaves_a_readable_record(tmp_path):
    with ModelServer() as server:
        model = Model(
            model="double", max_tokens=256, endpoint=Endpoint(url=server.url), price=Price(input=1.0, output=2.0)
        )
        budget = Budget(0.1, None)
        with BrainContext({"double": model}, budget) as brain_context:
            game = play(tmp_path, brain_context, ["llm:double"] * 8)
        stats = server.stats()
    assert game.over is not None
    assert "budget" in str(game.over.error)
    assert (stats.prompt_tokens + 2 * stats.completion_tokens) / 1e6 <= 0.1
    proof = prove(open_source(str(tmp_path / "game.ndjson")), ProofCriteria(), keep=True)
    assert len(proof.problems) == 1
    (stopped,) = events(proof, "stopped")
    assert "budget" in stopped.reason
    assert proof.records[-1].event == stopped
    # what was answered before the end was paid for, and is there to be read
    calls = events(proof, "model_call")
    assert len([call for call in calls if call.error is None]) >= stats.calls - 56
    assert sum(call.cost_usd or 0 for call in calls) <= 0.1


def without_waiting(said: str) -> list[str]:
    """Lines but the one that tells, first, who takes long."""
    waiting = "wolfbus: waiting for double to answer a first small question"
    return [line for line in said.strip().splitlines() if line != waiting]


QUICK = "debate_turns = 2\nmax_rounds = 1\n"


def test_the_key_reaches_the_server_and_nothing_else(tmp_path):
    (tmp_path / "quick.toml").write_text(QUICK)
    with ModelServer(key=KEY, ugly=0.2) as server:
        (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
        result = wolfbus(
            tmp_path,
            "play", "--players", f"llm:double@{server.url}", "--config", "quick.toml", "--cassette", "tape", "--plain",
        )  # fmt: skip
        assert result.code == 0, result.err
        (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY[:-3]}xyz\n")
        refused = wolfbus(tmp_path, "play", "--players", f"llm:double@{server.url}")
    assert refused.code == 1
    assert "OPENAI_API_KEY" in refused.err
    assert len(without_waiting(refused.err)) == 1
    for text in (result.out, result.err, refused.out, refused.err):
        assert "canary" not in text
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".env"]
    assert any("tape" in str(path) for path in written)
    for path in written:
        assert b"canary" not in path.read_bytes(), path


def test_the_command_line_plays_models_and_tells_what_they_took(tmp_path):
    (tmp_path / "game.toml").write_text(
        QUICK + 'players = "llm:mini*8"\n[models.mini]\nmodel = "double"\nendpoint = "here"\n'
        'price = { input = 1.0, cached = 0.5, output = 2.0 }\n[endpoints.here]\nurl = "URL"\n'
    )
    with ModelServer() as server:
        text = (tmp_path / "game.toml").read_text().replace("URL", server.url)
        (tmp_path / "game.toml").write_text(text)
        result = wolfbus(tmp_path, "play", "--config", "game.toml", "--json", "--seed", "5")
        assert result.code == 0, result.err
        summary = json.loads(result.out)
        shown = wolfbus(tmp_path, "play", "--config", "game.toml", "--seed", "5", "--plain")
    assert "double: " in shown.out
    assert "$" in shown.out
    calls = wolfbus(tmp_path, "replay", summary["record"], "--calls", "--json")
    assert calls.code == 0, calls.err
    assert summary["calls"]


def test_a_dead_endpoint_is_one_clear_line_before_the_first_night(tmp_path):
    # bound, but deaf: the port refuses, and no other server of this machine can come by it
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        result = wolfbus(tmp_path, "play", "--players", f"llm:double@{url}")
    assert result.code == 1
    (line,) = without_waiting(result.err)
    assert line.startswith(f"wolfbus: double does not answer: {url}: connection refused")
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_options_that_do_not_go_together_and_models_without_prices_are_told(tmp_path):
    both = wolfbus(tmp_path, "play", "--players", "llm:x", "--cassette", "a", "--replay-cassette", "b")
    assert both.code == 2
    unpriced = wolfbus(tmp_path, "play", "--players", "llm:x@http://127.0.0.1:9/v1", "--budget", "1")
    assert unpriced.code == 2
    assert "price" in unpriced.err
    nothing = wolfbus(tmp_path, "play", "--players", "llm:x", "--replay-cassette", "nowhere")
    assert nothing.code != 0
    assert "nowhere" in nothing.err

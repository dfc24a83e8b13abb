"""Inspect plays WOLF as it runs any evaluation: its models sit at the table, and its logs hold every call."""

import asyncio
import contextvars
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from players.llm.provider import Form, Message, Model, Request, Shape
from tests.golden.running import wolfbus

pytest.importorskip("inspect_ai", reason='no Inspect: pip install "wolfbus[inspect]"')

RULES = "debate_turns = 2\nmax_rounds = 2\n"
EVALUATION = """
import asyncio, json, re, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

def answer(messages, tools, choice, config):
    text = messages[-1].content
    asked = text[text.rindex("QUESTION"):]
    legal = re.findall(r'"([A-Z][a-z]+)"', asked)
    reply = {"deceptive": False, "kind": "none", "confidence": 0.5, "suspicion": 0.5, "reasoning": "so"}
    if "Bid for" in asked:
        reply = {"thought": "now", "bid": 9}
    elif "You have the floor" in asked:
        reply = {"thought": "now", "text": "I trust nobody here."}
    elif "Label your own" not in asked and "Judge the statement" not in asked:
        reply = {"thought": "now", "target": legal[0] if legal else None}
    output = ModelOutput.from_content("mockllm/model", json.dumps(reply))
    tokens = len(text) // 4
    output.usage = ModelUsage(input_tokens=tokens, output_tokens=20, total_tokens=tokens + 20)
    return output

def model(name):
    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)

async def never(*_, **__):
    await asyncio.Event().wait()

for task, players, options in json.loads(sys.argv[1]):
    arguments = {"games": 2, "players": players, "seed": 3, "config": "rules.toml", "records": f"records/{players}"}
    roles = {role: model(role) for role in options.pop("roles", ())}
    evaluated = model("model")
    if options.pop("silent", False):
        evaluated.generate = never
    (log,) = eval(f"wolfbus/{task}", evaluated, task_args=arguments, model_roles=roles, log_dir="logs",
                  display="none", **options)
    calls = [[event for event in sample.events if event.event == "model"] for sample in log.samples]
    print(json.dumps({
        "status": log.status, "error": log.error and log.error.message,
        "scores": [score.name for score in log.results.scores] if log.results else [],
        "samples": [{"calls": len(events), "models": sorted({event.model for event in events}),
                     "says": sample.output.completion, "metadata": sample.metadata,
                     "limit": sample.limit and sample.limit.type}
                    for sample, events in zip(log.samples, calls)],
    }))
"""

WOLF, STUDY, LIMITED = "inspect*2,scripted*6", "inspect*4,inspect:rival*4", "inspect*8"
TIMED = "inspect*3,scripted*5"
EVALUATIONS = [
    ("wolf", WOLF, {}),
    ("study", STUDY, {"roles": ["rival"]}),
    ("wolf", LIMITED, {"token_limit": 20_000}),
    ("wolf", TIMED, {"time_limit": 1, "silent": True}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder away from the checkout, in which Inspect would look for files."""
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def logs(folder: Path) -> dict[str, dict[str, Any]]:
    """What came of each evaluation, by its players. They run in one process, which takes seconds to begin."""
    (folder / "rules.toml").write_text(RULES)
    (folder / "evaluation.py").write_text(EVALUATION)
    words = [sys.executable, "evaluation.py", json.dumps(EVALUATIONS)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"status"')]
    return {players: log for (_, players, _), log in zip(EVALUATIONS, lines, strict=True)}


def test_a_game_is_a_sample_whose_calls_are_in_its_transcript_and_whose_record_proves(folder, logs):
    log = logs[WOLF]
    assert (log["status"], log["error"]) == ("success", None)
    assert set(log["scores"]) == {"villagers_won", "balanced_accuracy", "auc"}
    assert len(log["samples"]) == len(list((folder / "records" / WOLF).glob("*.ndjson"))) == 2
    for sample in log["samples"]:
        record = folder / sample["metadata"]["record"]
        lines = [json.loads(line) for line in record.read_text().splitlines()]
        assert sum(line["type"] == "model_call" for line in lines) == sample["calls"] > 0
        assert "won in" in sample["says"]
        assert wolfbus(folder, "verify", str(record)).code == 0
        assert "llm:mockllm/model" in record.read_text()


def test_a_study_follows_its_design_and_model_roles_have_seats(logs):
    log = logs[STUDY]
    assert (log["status"], log["error"]) == ("success", None)
    assert {model for sample in log["samples"] for model in sample["models"]} == {"mockllm/model", "mockllm/rival"}
    one, two = (sample["metadata"]["brains"] for sample in log["samples"])
    assert sorted(one) == sorted(two)


def test_a_limit_of_inspect_s_ends_the_sample_as_its_own(logs):
    log = logs[LIMITED]
    assert [sample["limit"] for sample in log["samples"]] == ["token", "token"], log["error"]


def test_a_time_limit_of_inspect_s_breaks_off_the_calls_and_the_game_and_leaves_it_unscored(folder, logs):
    log = logs[TIMED]
    assert [sample["limit"] for sample in log["samples"]] == ["time", "time"], log["error"]
    assert not any("winner" in sample["metadata"] for sample in log["samples"])
    records = [path.read_text() for path in (folder / "records" / TIMED).glob("*.ndjson")]
    assert len(records) == 2
    assert all("the evaluation has ended the sample" in record.splitlines()[-1] for record in records)


def test_a_call_whose_time_is_over_is_broken_off_in_inspect_as_well():
    async def steps():
        broken_off = asyncio.Event()

        async def work():
            assert seen.get() == "the sample's"
            try:
                await asyncio.Event().wait()
            finally:
                broken_off.set()

        seen = contextvars.ContextVar("seen")
        context = contextvars.copy_context()
        context.run(seen.set, "the sample's")
        sample = pkgutil.resolve_name("players.llm.providers.inspect:Sample")(asyncio.get_running_loop(), context, {})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(sample.run(work()), 0.01)
        await asyncio.wait_for(broken_off.wait(), 5.0)

    asyncio.run(steps())


def test_what_a_cache_had_of_a_prompt_counts_among_its_tokens():
    from inspect_ai.model import ModelOutput, ModelUsage

    output = ModelOutput.from_content("m", "Aye.")
    cached = {"input_tokens_cache_read": 100, "input_tokens_cache_write": 20}
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=135, **cached)
    sample = Mock(roles={"m": None}, run=AsyncMock(return_value=output))
    provider = pkgutil.resolve_name("players.llm.providers.inspect:InspectProvider")(sample)
    request = Request(Model(model="m"), (Message("user", "?"),), Form("bid", {}), Shape(mode="text"), 100)
    reply = asyncio.run(provider.ask(request, None))
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (130, 100, 5)
    # nobody has begun it
    sample.run.await_args.args[0].close()


def test_models_of_inspect_are_refused_outside_an_evaluation(tmp_path):
    (tmp_path / "c.toml").write_text('[models.m]\nmodel = "m"\nendpoint = "e"\n[endpoints.e]\nprovider = "inspect"\n')
    done = wolfbus(tmp_path, "play", "--players", "llm:m*8", "--config", "c.toml")
    assert done.code == 1
    assert "it has models in an evaluation only: inspect eval wolfbus/wolf" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("task", "says"),
    [
        *[(f"wolf(games={games})", f"games: {games} is no whole number of 1 or more") for games in ("0", "'x'", "1.5")],
        ("wolf(games='2', players=['inspect', 8])", "players: ['inspect', 8] is no spec, such as inspect*4,scripted*4"),
        (
            "study(design='mirrored', players='inspect')",
            'design = "mirrored": one agent plays against another; name two',
        ),
    ],
)
def test_a_parameter_that_cannot_be_is_told_with_its_name(task, says):
    script = f"from wolfbus.running.inspect_tasks import study, wolf; {task}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert f"ConfigError: {says}" in done.stderr.splitlines()[-1]

"""The examples play whole games, cleanly, and can be started as their README says."""

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from players.spec import expand
from tests.players.table import CONFIGS
from tests.whole.house import play_many
from wolfbus.cli import cli
from wolfbus.testing.model_server import ModelServer

from .test_child_games import answers

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
AGENTS = {"agent.py": "python3", "agent.js": "node", "agent.sh": "sh"}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def spec_of(agent: str) -> str:
    program = AGENTS[agent]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return f"exec:{program} examples/{agent}"


@pytest.mark.parametrize(
    ("config", "agents"),
    [
        ("paper", ["agent.py"]),
        ("paper", ["agent.js"]),
        ("paper", ["agent.sh"]),
        ("odd names", ["agent.py"]),
        ("free", ["agent.py", "agent.js"]),
        ("strict", ["agent.py", "agent.sh"]),
    ],
)
def test_examples_play_whole_games_without_a_fault_by_any_rules(tmp_path, config, agents):
    specs = [spec_of(agent) for agent in agents] * (2 // len(agents))
    rules = CONFIGS[config].model_copy(update={"max_rounds": 3 if config == "paper" else 2})
    (proof,) = play_many(tmp_path, [1 if config == "paper" else 3], (*specs, *("scripted",) * 6), rules)
    assert {(event.outcome, event.note) for event in answers(proof, *specs)} == {("accepted", None)}
    assert {event.reading for event in answers(proof, *specs)} == {"clean"}


@pytest.mark.parametrize("agent", AGENTS)
def test_an_example_takes_names_that_need_care_and_a_vote_for_nobody(agent):
    names = ["O'Neil, Jr.", 'Al "Ace"', "[]\\"]
    line = {"v": 1, "type": "ask", "id": "g/1", "kind": "vote", "legal": [*names, None]}
    you = {"role": "Seer", "partners": [], "inspections": {}, "suspicion": dict.fromkeys(names, 0.4) | {names[1]: 0.6}}
    rest = {"seat": "Bo", "names": [*names, "Bo"], "living": [*names, "Bo"], "statements": [], "votes": []}
    asks = [
        {**line, "you": you, **rest},
        {**line, "you": {**you, "inspections": {names[2]: "Werewolf"}}, **rest},
        {**line, "legal": [None], "you": {**you, "suspicion": {}}, **rest, "living": ["Bo"]},
    ]
    lines = "".join(json.dumps(ask, separators=(",", ":")) + "\n" for ask in asks)
    words = shlex.split(spec_of(agent).removeprefix("exec:"))
    replies = subprocess.run(words, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [json.loads(reply)["target"] for reply in replies] == [names[1], names[2], None]


@pytest.mark.parametrize("agent", AGENTS)
def test_an_example_is_short_and_tells_how_to_start_it(agent):
    text = (EXAMPLES / agent).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert set(re.findall(r"(?:^import |require\(\")([\w:]+)", text, re.MULTILINE)) <= {"json", "sys", "node:readline"}
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for words in (text, readme):
        (players,) = re.findall(rf'wolfbus play --players "(exec:[^"]*{re.escape(agent)}[^"]*)"', words)
        assert len(expand(players, 8)) == 8
        assert spec_of(agent) in expand(players, 8)


def test_the_players_of_the_file_of_models_are_its_models():
    # that it is one that play takes is shown below
    file = tomllib.loads((EXAMPLES / "models.toml").read_text(encoding="utf-8"))
    names = [brain.removeprefix("llm:").partition("*")[0] for brain in file["players"] if brain.startswith("llm:")]
    assert {name for name in names if "@" not in name} == file["models"].keys()


def test_the_command_for_models_plays_a_game_within_its_budget(tmp_path, monkeypatch):
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^wolfbus (play --config examples/models\.toml --players .*)$", readme, re.MULTILINE)
    assert line == 'play --config examples/models.toml --players "llm:mini*8" --budget 0.50'
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    text = (EXAMPLES / "models.toml").read_text(encoding="utf-8")
    with ModelServer(key="a-key") as server:
        models = text.replace("[endpoints.openai]", f'[endpoints.openai]\nurl = "{server.url}"')
        copy = tmp_path / "models.toml"
        copy.write_text(f"debate_turns = 2\nmax_rounds = 1\n{models}", encoding="utf-8")
        words = shlex.split(line.replace("examples/models.toml", shlex.quote(str(copy))))
        result = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "runs"), "--game", "g", "--quiet"])
    assert result.exit_code == 0, result.output
    assert re.search(r"calls and 1 probe, .*\$0\.0\d", result.output), result.output
    record = [json.loads(line) for line in (tmp_path / "runs" / "g.ndjson").read_text(encoding="utf-8").splitlines()]
    answered = [event for event in record if event["type"] == "answered"]
    assert answered
    # an accepted outcome goes without saying
    assert {event.get("outcome", "accepted") for event in answered} == {"accepted"}

"""What the README tells a newcomer to type works as it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from wolfbus.testing.model_server import ModelServer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_brain_of_the_readme_plays(tmp_path):
    (block,) = re.findall(r"```python\n# mybrain.py\n(.*?)```", README, re.DOTALL)
    (tmp_path / "mybrain.py").write_text(block)
    (players,) = re.findall(r'wolfbus play --players "(mybrain:[^"]*)"', README)
    result = subprocess.run(
        [sys.executable, "-m", "wolfbus", "play", "--players", players, "--plain", "--seed", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "failed" not in result.stderr
    assert "I have my eye on every one of you" in result.stderr


def test_the_agent_of_the_readme_bids_votes_and_declines_the_rest(monkeypatch):
    from wolfbus.agent import Agent
    from wolfbus.vocabulary import KINDS

    (block,) = re.findall(r"```python\n(from wolfbus.agent.*?)```", README, re.DOTALL)
    served = []
    monkeypatch.setattr(Agent, "serve", classmethod(lambda cls, url, **options: served.append((cls, url, options))))
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    ((agent, url, options),) = served
    assert url.startswith("redis://")
    assert options == {"seats": 2}
    assert set(KINDS) - set(agent.declines()) == {"bid", "vote"}


def run_of_the_readme(folder: Path, url: str, *without: str) -> subprocess.CompletedProcess[str]:
    """Run the README's study of two models, of one short game, with its servers at `url`."""
    (words,) = re.findall(r"^\| `wolfbus (run --games [^`]*)`", README, re.MULTILINE)
    models = (ROOT / "examples" / "models.toml").read_text(encoding="utf-8")
    (folder / "examples").mkdir()
    models = models.replace("http://localhost:8000/v1", url)
    (folder / "examples" / "models.toml").write_text(f"debate_turns = 1\nmax_rounds = 1\n{models}")
    line = shlex.split(words)
    for word in without:
        line.remove(word)
    return subprocess.run(
        [sys.executable, "-m", "wolfbus", *line, "--games", "1"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url},
        check=False,
    )


def test_the_study_of_two_models_of_the_readme_is_played_as_printed(tmp_path):
    with ModelServer() as server:
        done = run_of_the_readme(tmp_path, server.url)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "runs" / "first" / "study.json").read_text())
    assert manifest["totals"]["ended"] == 1
    assert manifest["agents"] == ["llm:mini", "llm:local"]


def test_a_study_of_aliases_without_their_file_says_which_file_is_wanted(tmp_path):
    with ModelServer() as server:
        url = server.url
    done = run_of_the_readme(tmp_path, url, "--config", "examples/models.toml")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "if mini, local are aliases, give the models file: --config FILE.toml" in last
    assert "examples/models.toml" in last


NOT_OURS = {"--strict", "--exit-code-from"}


@pytest.mark.parametrize("option", sorted(set(re.findall(r"(?<=\s)--[a-z][a-z-]+", README)) - NOT_OURS))
def test_every_option_the_readme_names_exists(option):
    from click import Context

    from wolfbus.cli import COMMANDS, cli

    known = {"--help", "--version"}
    for name in COMMANDS:
        command = cli.get_command(Context(cli), name)
        assert command is not None
        known.update(word for parameter in command.params for word in parameter.opts)
    assert option in known


def test_the_test_command_of_the_readme_is_the_one_ci_runs():
    command = 'pip install -e ".[dev]" && pytest'
    assert command in README
    assert command.replace("pip install", "pip install --quiet") in (ROOT / ".ci" / "run").read_text(encoding="utf-8")

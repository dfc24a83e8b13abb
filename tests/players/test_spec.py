"""What ``--players`` takes, and what it says to mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from players.spec import KNOWN, PERSON, BrainContext, build, check, declined_by, expand
from tests.llm.tables import tables
from wolfbus.errors import ConfigError
from wolfbus.game.vocabulary import KINDS, SCRIPTS

TABLES = tables(__file__)

MODULE = """
from wolfbus.agent import Agent

class Mine(Agent):
    def bid(self, ask, view):
        return 1

    vote = speak = kill = protect = inspect = whisper = assess_other = bid

class Duck:
    def answer(self, ask, view):
        return None

class Strict(Agent):
    def __init__(self, key):
        pass

class Broken(Agent):
    def __init__(self):
        raise ValueError("no key\\nat all")

class Dumb:
    pass

class Odd(Agent):
    @classmethod
    def declines(cls):
        return ("sleep",)

class Listed(Agent):
    @classmethod
    def declines(cls):
        return ["vote", "vote"]

class Stringy(Agent):
    declines = "vote"

class Selfish(Agent):
    def declines(self):
        return ()

class Sticky(Agent):
    def close(self):
        raise SystemExit(3)

number = 3
made = Duck()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's own in the current directory; returns its name."""
    name = f"brains_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("raise OSError('disk gone')\n")
    (tmp_path / f"{name}_quits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / f"{name}_needs.py").write_text("import no_such_library_here\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def test_every_brain_of_ours_by_name_is_a_script_or_a_person():
    assert set(KNOWN) == SCRIPTS | {PERSON}


@pytest.mark.parametrize(
    ("spec", "brains"),
    [
        ("scripted*6,random*2", ("scripted",) * 6 + ("random",) * 2),
        (" random , scripted * 7 ", ("random",) + ("scripted",) * 7),
        ("llm:gpt-4o-mini", ("llm:gpt-4o-mini",) * 8),
        (
            "llm:org/model:7b@http://localhost:8000/v1*6,human,scripted",
            ("llm:org/model:7b@http://localhost:8000/v1",) * 6 + ("human", "scripted"),
        ),
        ("exec:./bot --glob *.txt*2,random*6", ("exec:./bot --glob *.txt",) * 2 + ("random",) * 6),
        ("exec:./bot *", ("exec:./bot",) * 8),
    ],
)
def test_scripts_models_people_and_commands_take_seats_in_order(spec: str, brains: tuple[str, ...]):
    assert expand(spec, 8) == brains


@pytest.mark.parametrize(
    ("spec", "says"),
    TABLES["mistakes_are_named_in_one_line"],
)
def test_mistakes_are_named_in_one_line(spec: str, says: tuple[str, ...]):
    with pytest.raises(ConfigError) as caught:
        expand(spec, 8)
    line = str(caught.value)
    assert "\n" not in line
    for part in says:
        assert part in line


def test_what_a_brain_declines_is_known_before_it_plays(module: str):
    assert declined_by(f"{module}:Mine") == ("assess_own",)
    assert declined_by(f"{module}:Duck") == ()
    assert declined_by(f"{module}:Listed") == ("vote",)
    assert declined_by(f"{module}:Broken") == KINDS, "nothing is made to find out"
    assert declined_by("scripted") == ()


@pytest.mark.parametrize(
    ("brain", "says"),
    TABLES["a_brain_that_cannot_be_built_says_why_in_one_line"],
)
def test_a_brain_that_cannot_be_built_says_why_in_one_line(module: str, brain: str, says: tuple[str, ...]):
    with pytest.raises(ConfigError) as caught:
        check([brain.format(module=module)], BrainContext())
    line = str(caught.value)
    assert "\n" not in line
    for part in says:
        assert part.format(module=module) in line


def test_a_file_here_does_not_stand_in_for_an_installed_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "json.py").write_text("raise OSError('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(ConfigError, match="no module"):
        build("not_here_either:Mine")
    assert sys.path[-1] == str(tmp_path)


CLOSED = """
import resource
from players.spec import BrainContext
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.reading import Question, read

with BrainContext() as brain_context:
    brain_context.check(["llm:any@http://localhost:1/v1"])
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    rules_text(GameConfig(), technical=False)
    print(read("I cannot help with that.", Question("bid", None, ())).note)
"""


def test_what_a_model_needs_of_files_is_read_before_it_is_asked_anything():
    done = subprocess.run([sys.executable, "-c", CLOSED], capture_output=True, text=True, check=True)
    assert done.stdout == "the reply is a refusal\n"

"""What ``--players`` takes, and what it says to mistakes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from players.baselines import RandomBrain, SilentBrain
from players.scripted import ScriptedBrain
from players.spec import build, declined_by, expand
from wolfbus.errors import ConfigError

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

class Stringy(Agent):
    declines = "vote"

number = 3
made = Duck()
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's own in the current directory; returns its name."""
    name = f"brains_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("raise OSError('disk gone')\n")
    (tmp_path / f"{name}_quits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / f"{name}_needs.py").write_text("import no_such_library_here\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def test_one_name_fills_all_seats():
    assert expand("scripted", 8) == ("scripted",) * 8


def test_counts_are_taken_in_order():
    assert expand("scripted*6,random*2", 8) == ("scripted",) * 6 + ("random",) * 2
    assert expand(" random , scripted * 4 ", 5) == ("random",) + ("scripted",) * 4


def test_a_star_without_a_number_takes_the_rest():
    assert expand("silent,scripted*,random*2", 8) == ("silent",) + ("scripted",) * 5 + ("random",) * 2
    assert expand("scripted*", 5) == ("scripted",) * 5


def test_classes_are_names_too():
    assert expand("my.brains:Mine*2,scripted*", 5) == ("my.brains:Mine",) * 2 + ("scripted",) * 3


@pytest.mark.parametrize(
    ("spec", "brains"),
    [
        ("llm:gpt-4o-mini", ("llm:gpt-4o-mini",) * 8),
        (
            "llm:org/model:7b@http://localhost:8000/v1*6,human,scripted",
            ("llm:org/model:7b@http://localhost:8000/v1",) * 6 + ("human", "scripted"),
        ),
        ("exec:./bot --glob *.txt*2,random*6", ("exec:./bot --glob *.txt",) * 2 + ("random",) * 6),
        ("exec:./bot *", ("exec:./bot",) * 8),
    ],
)
def test_models_people_and_commands_take_seats(spec: str, brains: tuple[str, ...]):
    assert expand(spec, 8) == brains


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("scripted*6,random", ("7 players", "8 seats")),
        ("scripted,random", ("2 players", "8 seats")),
        ("scripted*9", ("9 players", "8 seats")),
        ("scripted*8,random*", ("8 seats of 8", "'random'")),
        ("scripted*,random*", ("only one item",)),
        ("", ("empty", "scripted*6,random*2")),
        ("scripted*6,,random", ("empty",)),
        ("*3", ("empty",)),
        ("scripted*x", ("'x'", "scripted*2")),
        ("scripted*0", ("'0'",)),
        ("scripted*-2", ("'-2'",)),
        ("scripted*2*3", ("'scripted*2'", "did you mean 'scripted'")),
        ("scripted*99999999999", ("'99999999999'",)),
        ("scripted*\u00b2", ("\u00b2",)),
        ("scriptd", ("'scriptd'", "did you mean 'scripted'", "random, silent", "llm:MODEL", "module:Class")),
        ("Random", ("did you mean 'random'",)),
        ("exec:", ("'exec:'", "lacks a command")),
        ("llm: *8", ("'llm:'", "lacks a model")),
        ("exec:awk '{print 1,2}'*8", ("no brain is called", "a command with a comma")),
        ("humann", ("did you mean 'human'",)),
        ("gpt-4o-mini*8", ("no brain is called 'gpt-4o-mini'", "did you mean 'llm:gpt-4o-mini'?")),
        ("qwen3@http://h/v1", ("did you mean 'llm:qwen3@http://h/v1'?",)),
        ("./agent*8", ("did you mean 'exec:./agent'?",)),
    ],
)
def test_mistakes_are_named_in_one_line(spec: str, says: tuple[str, ...]):
    with pytest.raises(ConfigError) as caught:
        expand(spec, 8)
    line = str(caught.value)
    assert "\n" not in line
    for part in says:
        assert part in line


def test_known_names_are_built():
    assert isinstance(build("scripted"), ScriptedBrain)
    assert isinstance(build("random"), RandomBrain)
    assert isinstance(build("silent"), SilentBrain)
    assert build("scripted") is not build("scripted")


def test_a_class_in_the_current_directory_is_built(mine: str):
    assert type(build(f"{mine}:Mine")).__name__ == "Mine"
    assert type(build(f"{mine}:Duck")).__name__ == "Duck"


def test_what_a_brain_declines_is_known_before_it_plays(mine: str):
    assert declined_by(f"{mine}:Mine") == ("assess_own",)
    assert declined_by(f"{mine}:Duck") == ()
    assert declined_by("scripted") == ()


@pytest.mark.parametrize(
    ("brain", "says"),
    [
        ("no_such_module_at_all:Mine", ("no module 'no_such_module_at_all'", "known are scripted")),
        ("{mine}.deeper:Mine", ("no module '{mine}.deeper'",)),
        ("{mine}:Missing", ("has no 'Missing'",)),
        ("{mine}:number", ("an int", "not a class")),
        ("{mine}:made", ("a Duck", "not a class")),
        ("{mine}:Dumb", ("'Dumb' is no subclass of wolfbus.agent.Agent",)),
        ("{mine}:Strict", ("cannot be made", "TypeError", "key")),
        ("{mine}:Broken", ("cannot be made", "ValueError: no key at all")),
        ("{mine}:Odd", ("declines 'sleep'",)),
        ("{mine}:Stringy", ("declines is a class method, not 'vote'",)),
        ("{mine}_broken:Mine", ("importing", "OSError: disk gone")),
        ("{mine}_quits:Mine", ("importing", "SystemExit: 3")),
        ("{mine}_needs:Mine", ("needs 'no_such_library_here'",)),
        ("scriptd", ("did you mean 'scripted'",)),
    ],
)
def test_a_brain_that_cannot_be_built_says_why_in_one_line(mine: str, brain: str, says: tuple[str, ...]):
    with pytest.raises(ConfigError) as caught:
        build(brain.format(mine=mine))
    line = str(caught.value)
    assert "\n" not in line
    for part in says:
        assert part.format(mine=mine) in line


def test_a_file_here_does_not_stand_in_for_an_installed_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "json.py").write_text("raise OSError('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(ConfigError, match="no module"):
        build("not_here_either:Mine")
    assert sys.path[-1] == str(tmp_path)

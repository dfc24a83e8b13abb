"""The house stands: imports point one way, types hold, style is kept, and the command line starts at once."""

from __future__ import annotations

import ast
import json
import os
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("wolfbus", "moderator", "players", "analytics")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def module(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", name, *arguments)


def test_the_services_never_import_each_other():
    # the console script of import-linter has no module form
    result = run(str(Path(sys.executable).with_name("lint-imports")))
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_room_has_floors_and_all_its_modules_stand_on_one():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = [each for each in contracts if each["type"] == "layers"]
    assert all(each["exhaustive"] for each in layered)
    floored = {room for each in layered for room in each["containers"]}
    folders = [path.parent for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")]
    rooms = {".".join(each.relative_to(ROOT).parts) for each in folders if len([*each.glob("[!_]*.py")]) > 1}
    assert not rooms - floored


@pytest.mark.timeout(300)
def test_types_hold_under_mypy_strict():
    result = module("mypy")
    assert result.returncode == 0, result.stdout + result.stderr


def test_ruff_finds_nothing():
    checked = module("ruff", "check", ".")
    assert checked.returncode == 0, checked.stdout
    formatted = module("ruff", "format", "--check", ".")
    assert formatted.returncode == 0, formatted.stdout


def test_every_module_says_what_it_is_and_stays_one_concept():
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            lines = path.read_text(encoding="utf-8").splitlines()
            assert len(lines) <= 600, f"{path.relative_to(ROOT)} has {len(lines)} lines"


VAGUE = {
    "told", "there", "here", "wanted", "said", "held", "found", "each", "given", "kept", "known", "taken", "gone",
    "ours", "mine", "own", "around", "early", "office", "made", "heard", "shown", "asked",
}  # fmt: skip
"""Words that say nothing of what a variable holds."""

PUBLIC = {("wolfbus/stage/beats.py", "found")} | {
    (f"{module}.py", "heard")
    for module in (
        "wolfbus/agent/agent",
        "players/aiwolf",
        "players/human/brain",
        "players/program/brain",
    )
}
"""The page's documents, the agents' hook, members of views and of messages to models were published by these names."""


def bound(tree: ast.Module) -> set[str]:
    """Return the names that a module gives to variables, arguments, attributes and functions."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def test_names_say_what_they_hold():
    vague = {
        (path.relative_to(ROOT).as_posix(), name)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in bound(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_") in VAGUE
    }
    assert vague == PUBLIC


DECLARED = re.compile(
    r"\b(?:const|let|function)\s+(\{[^}=]*\}|\[[^\]=]*\]|\w+)|\(([\w, ]*)\)\s*=>|\b(\w+)\s*=>", re.ASCII
)
"""What a script declares: constants and variables, taken apart or not, functions, arguments of arrow functions."""


def test_names_in_the_scripts_of_pages_say_what_they_hold():
    scripts = [path for package in PACKAGES for path in (ROOT / package).rglob("*.js")]
    assert len(scripts) > 15
    for path in scripts:
        declared = DECLARED.findall(path.read_text(encoding="utf-8"))
        names = {name for groups in declared for name in re.findall(r"\w+", " ".join(groups))}
        assert not names & VAGUE, path.name


def imported(path: Path) -> set[str]:
    """Return the modules of the source that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return {module for module in found if module.split(".")[0] in PACKAGES}


def test_tests_hang_on_the_seams_and_import_nothing_else():
    seams = {seam for seams in tomllib.loads((ROOT / "tests/seams.toml").read_text()).values() for seam in seams}
    found = {module: path for path in (ROOT / "tests").rglob("*.py") for module in imported(path)}
    beside = {module: path.name for module, path in found.items() if module not in seams}
    assert not beside, f"no seams: {beside}"
    assert not seams - set(found), "no test needs these any more"


LATER = {"players.llm.settings", "wolfbus.study.manifest"}
"""Of ours, what some commands need and a scripted game does not."""
HEAVY = ("sklearn", "scipy", "openai", "numpy", "redis", "rich", "pydantic", *sorted(LATER))


def loaded(code: str) -> set[str]:
    script = f"import json, sys\n{code}\nprint(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    result = run(sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout.splitlines()[-1]))


def test_patterns_mean_the_same_in_every_patch_version_of_python():
    # before 3.11.5 a possessive quantifier behind a group that backtracks misses matches; an atomic group does not
    possessive = [
        path.relative_to(ROOT)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"\)[*+?]\+", path.read_text(encoding="utf-8"))
    ]
    assert possessive == []


def test_simple_queues_are_where_no_signal_can_make_a_wait_endless():
    # see `wolfbus.service.lifecycle.drain`: these are waited for without a timeout, or a handler puts something in
    using = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"SimpleQueue\(\)", path.read_text(encoding="utf-8"))
    }
    assert using == {"wolfbus/actors/pool.py", "wolfbus/running/pulled.py", "wolfbus/service/lifecycle.py"}


def test_help_loads_nothing_heavy():
    assert not loaded("from wolfbus.cli import run\nrun(['--help'])")


def test_a_scripted_game_loads_neither_scikit_learn_nor_openai_nor_redis(tmp_path):
    heavy = loaded(
        f"from wolfbus.cli import run\nassert run(['play', '--seed', '1', '--json', '--out', {str(tmp_path)!r}]) == 0"
    )
    assert not heavy & {"sklearn", "openai", "redis", "scipy", *LATER}


def test_the_client_of_models_is_loaded_as_their_settings_are_checked_and_takes_nothing_of_the_first_answer_s_time():
    checked = "with BrainContext() as brains: brains.check(['llm:m@http://127.0.0.1:9/v1'])"
    assert "openai" in loaded(f"from players.spec import BrainContext\n{checked}")


def test_help_costs_little_more_than_loading_click_does():
    helped, loaded_click = [], []
    for _ in range(5):
        helped.append(cpu_of(sys.executable, "-m", "wolfbus", "--help"))
        loaded_click.append(cpu_of(sys.executable, "-c", "import click"))
    # the modules of all commands would take ten times as much
    assert statistics.median(helped) < 4 * statistics.median(loaded_click)


def cpu_of(*words: str) -> float:
    """Return the seconds of CPU that a command takes."""
    before = os.times()
    assert run(*words).returncode == 0
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system

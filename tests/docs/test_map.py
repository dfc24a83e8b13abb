"""The map shows the house as it stands, and what is made by scripts is current."""

import contextlib
import io
import json
import re
import runpy
import tomllib
import xml.etree.ElementTree as ET

import pytest

import wolfbus
from tests.docs.pages import PAGES, ROOT, name_of
from tests.golden.running import wolfbus as cli

FOLDERS = r"(?:wolfbus|moderator|players|analytics|tests|docs|examples|benchmarks|docker)"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_that_a_page_names_exists(page):
    named = re.findall(rf"`({FOLDERS}/[\w./-]*)`", page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_private_name_that_a_page_gives_stands_in_the_code():
    rooms = ("wolfbus", "moderator", "players", "analytics")
    code = "".join(path.read_text(encoding="utf-8") for room in rooms for path in (ROOT / room).rglob("*.py"))
    named = {name for page in PAGES for name in re.findall(r"`(_\w+)`", page.read_text(encoding="utf-8"))}
    assert {name for name in named if not re.search(rf"\b{name}\b", code)} == set()


def test_what_the_map_finds_in_a_file_is_there():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.findall(rf"`({FOLDERS}/[\w./-]*\.\w+)`: ((?:`\w+`(?:, )?)+)", page)
    assert found
    for path, names in found:
        text = (ROOT / path).read_text(encoding="utf-8")
        for each in re.findall(r"`(\w+)`", names):
            assert re.search(rf"(?:def|class) {each}\b|^{each}\b", text, re.MULTILINE), f"{path} has no {each}"


def test_the_page_of_commands_is_what_the_commands_say_of_themselves(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "make"))
    from commands import PAGE, rewritten

    page = PAGE.read_text(encoding="utf-8")
    assert rewritten(page) == page, "run: python docs/make/commands.py"


def test_the_picture_is_a_drawing_of_the_game_that_loads_nothing():
    with contextlib.redirect_stdout(io.StringIO()) as drawn:
        runpy.run_path(str(ROOT / "docs" / "make" / "picture.py"), run_name="__main__")
    words = {name: _words(text) for name, text in (
        ("as it is", (ROOT / "docs" / "play.svg").read_text(encoding="utf-8")),
        ("made anew", drawn.getvalue()),
    )}  # fmt: skip
    for name, said in words.items():
        for player in ("Jonas", "Nils", "Ada", "Kira", "Esther", "Greta", "Leon", "Bruno"):
            assert player in said, f"the picture {name} lacks {player}"
        assert "The Werewolves win after 3 rounds" in said


def _words(svg: str) -> str:
    root = ET.fromstring(svg)
    assert not re.search(r"""(?:href|src|url\()\s*=?\s*["']?https?:""", svg)
    pieces = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    return " ".join(pieces).replace("\u00a0", " ")


def test_the_version_has_one_home():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "wolfbus.__version__"}
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == wolfbus.__version__
    assert f"## {wolfbus.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_metric_added_as_contributing_says_is_a_finding_with_its_interval(tmp_path, monkeypatch):
    from analytics.metrics import headlines

    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python headline\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    namespace = dict(vars(headlines))
    exec(compile(block, "CONTRIBUTING.md", "exec"), namespace)
    (added,) = namespace["_specificity"]()
    monkeypatch.setitem(headlines.HEADLINES, added.name, added)
    command = "run --players scripted --seed 1 --games 6 --out study --quiet"
    assert cli(tmp_path, *command.split()).code == 0
    said = cli(tmp_path, "report", "study", "--json", "--workers", "1")
    assert said.code == 0, said.err
    findings = json.loads(said.out)
    flags = findings["table3"]["overall"]
    metric = findings["variability"]["metrics"]["specificity"]
    assert 0 < metric["n"] < flags["tn"] + flags["fp"]
    found = metric["all_observers"]
    assert found["n"] == flags["tn"] + flags["fp"]
    assert found["value"] == pytest.approx(flags["tn"] / found["n"])
    assert found["low"] < found["value"] < found["high"]

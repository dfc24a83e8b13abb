"""The site is built without a warning, and asks no other server for anything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as mkdocs.yml says: a link that leads nowhere is an error there."""
    folder = tmp_path_factory.mktemp("built") / "site"
    command = (sys.executable, "-m", "mkdocs", "build", "-f", str(ROOT / "mkdocs.yml"), "-d", str(folder))
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_it_opens_with_a_game_and_reports(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    shown = sorted(path.name for path in (site / "look").iterdir())
    assert shown == ["game.html", "guess.html", "ladder.html", "report.html"]
    assert [name for name in shown if f'href="look/{name}"' not in home] == []
    assert "<title>" in (site / "look" / "game.html").read_text(encoding="utf-8")


def test_every_page_for_people_stands_in_its_list(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {"contributing"}
    assert {page for page in pages if f'href="{page}.html"' not in home} == set()


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["']?(https?:[^"' >]+)""", page.read_text("utf-8")
        )
        assert [address for address in loaded if "wolfbus" not in address] == [], page.name


def test_the_reference_has_what_the_docstrings_say(site: Path) -> None:
    text = (site / "reference.html").read_text(encoding="utf-8")
    assert "Play one game and return once it is over" in text
    for name in ("wolfbus.running.play.play", "wolfbus.running.study.run_study", "wolfbus.agent.agent.Agent"):
        assert f'id="{name}"' in text

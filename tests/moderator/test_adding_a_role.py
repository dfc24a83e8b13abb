"""A role that acts at night is added in four files, and then is played, recorded, proven, measured and told of."""

import json
import re
from pathlib import Path

import pytest

from tests.moderator.patched_tree import patch_of, patched_by, run_in

PLAY = """
import json, pathlib
from wolfbus.cli import run
def do(*words):
    assert run(list(words)) == 0, words
do("rules", "--config", "rules.toml")
do("play", "--seed", "3", "--config", "rules.toml", "--out", "runs")
(record,) = map(str, pathlib.Path("runs").glob("*.ndjson"))
do("verify", record)
do("replay", record)
do("export", "csv", "runs", "--out", "tables")
do("report", "runs")
do("page", record, "-o", "dug.html")

from wolfbus.claims.hearing import claims_in
from players.llm.prompts.story import role_card
from players.llm.prompts.writer import PromptWriter
from wolfbus.messages.requests import Ask
from wolfbus.knowledge.view import SeatView
names = ("Ada", "Bea", "Cid")
print(claims_in("I am the sexton.", "Ada", names))
view = SeatView("Ada", "Gravedigger", names=names)
ask = Ask(id="g/2/night/1/exhume/Ada", kind="exhume", round=2, phase="night", turn=1, legal=("Cid",), deadline_s=9.0)
print(role_card(view), PromptWriter().write([ask], view).messages)
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with one role more, a game with it, and what commands print of that."""
    tree = patched_by("gravedigger", tmp_path_factory.mktemp("grown"))
    (tree / "rules.toml").write_text("gravediggers = 1\n")
    (tree / "output.txt").write_text(run_in(tree, PLAY))
    return tree


def test_it_takes_no_more_than_six_files():
    assert len(patch_of("gravedigger")) <= 6


def test_a_game_with_it_is_played_recorded_verified_and_reported(grown: Path):
    output = (grown / "output.txt").read_text("utf-8")
    assert "The Gravedigger exhumes a player" in output
    (record,) = (grown / "runs").glob("*.ndjson")
    events = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    (digger,) = (seat["name"] for seat in events[0]["seats"] if seat["role"] == "Gravedigger")
    assert [event for event in events if event.get("kind") == "exhume" and event["seat"] == digger]
    learned = [event for event in events if event["type"] == "inspection" and event["seat"] == digger]
    assert learned
    assert all(event["audience"] == [digger] for event in learned)
    assert "RoleClaim(claim='role', target='Ada', role='Gravedigger', denied=False)" in output
    assert "You are Ada, a Gravedigger." in output
    assert "Choose whom to exhume." in output
    assert "Gravedigger" in (grown / "runs" / "report.html").read_text("utf-8")


def test_it_stands_in_the_page_s_cast_has_a_face_and_is_seen_to_act(watched, grown: Path):
    seen = watched((grown / "dug.html").as_uri())
    cast = seen.page.locator(".beat.opened p.soft").first.inner_text()
    assert cast.startswith("2 Werewolves, 1 Doctor, 1 Seer, 1 Gravedigger and 4 Villagers.")
    digger = seen.page.locator("[data-part=players] li", has_text="Gravedigger")
    shapes = {path.get_attribute("d") for path in seen.page.locator("[data-part=players] .face path").all()}
    assert (digger.count(), len(shapes)) == (1, 5)
    seen.press("End")
    log = seen.page.locator("[data-part=log]").inner_text()
    assert re.search(r"\bexhumes \w+: (Villager|Werewolf|Seer|Doctor)\b", log)
    assert "undefined" not in log

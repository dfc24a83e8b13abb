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


AGAINST = """
import json, re
from players.aiwolf import _role, _setting
from players.llm.prompts.story import Story
from tests.game.driver import play
from tests.isolation import clock
from tests.isolation.outside import NAMES, Plan
from tests.isolation.test_metadata import opening
from tests.players.table import Hearers
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.game.roles import team_of
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import Ballot
from wolfbus.study.designs import Mirrored

rules = GameConfig(villagers=3, sorcerers=1, debate_turns=1, max_rounds=3, reveal_on_death="team")
view = SeatView("Ada", "Sorcerer", names=("Ada",), config=rules)
revealed = set()
def vote_as_one(question):
    return Ballot(target=min(name for name in question.legal if name)) if question.kind == "vote" else None
for seed in range(8):
    told, events = Hearers(), play(rules, str(seed), vote_as_one).events
    for event in events:
        told.tell(event)
    roles = {seat.name: seat.role for seat in events[0].seats}
    for listener in told.views.values():
        story = Story()
        story.update(listener)
        assert not re.search("was (a|no) Werewolf", story.text)
        for name, side in re.findall(r" (\\w+) was on the (\\w+)' side", story.text):
            assert team_of(roles[name]) == side.lower(), name
            revealed.add(roles[name])

roles = ("Werewolf", "Werewolf", "Seer", "Doctor", "Villager", "Villager", "Sorcerer", "Villager")
dealt = rules.model_copy(update={"names": NAMES, "roles": dict(zip(NAMES, roles))})
lengths = []
for exiled in (NAMES[5], NAMES[6]):
    plan = Plan(exiles=(exiled,), victims=(NAMES[4], NAMES[5]))
    opened = opening("game", roles, "seed", dealt, plan)
    played = clock.play(opened, plan, lambda seat, ask: 20.0 if ask.kind == "divine" else 1.0)
    lengths.append(clock.nights(played, f"game-{NAMES[7]}")[1])
print(json.dumps({
    "rules": rules_text(rules), "revealed": sorted(revealed), "lengths": lengths,
    "agents": Mirrored(("one", "other"), "seed").places(1, roles),
    "aiwolf": [_role("Sorcerer"), _setting(view)["roleNumMap"]["POSSESSED"]],
}))
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
    page = (grown / "runs" / "report.html").read_text("utf-8")
    assert "Gravedigger" in page
    drawn = {svg[2]: svg for svg in re.finditer(r'<svg [^>]*height="(\d+)".*?<title[^>]*>([^<]*)<.*?</svg>', page)}
    boxes = re.findall(r'<rect x="([\d.]+)" [^>]*width="([\d.]+)"', drawn["Final suspicion by observer and target"][0])
    assert max(float(x) + float(wide) for x, wide in boxes) <= 720, "the heat map has room for its column"
    # its axis is 54 below: the row of the last role stands above that
    bars = drawn["Statements and deception by role"]
    assert max(float(y) for y in re.findall(r'<text x="76" y="([\d.]+)"', bars[0])) < int(bars[1]) - 54


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


def test_one_on_the_werewolves_side_is_told_of_hidden_and_paired_with_them(tmp_path: Path):
    told = json.loads(run_in(patched_by("sorcerer", tmp_path), AGAINST))
    assert "All but the Werewolves and the Sorcerers are the villagers' side." in told["rules"]
    assert "When a player dies or is exiled, everybody learns its side." in told["rules"]
    assert "no divination, no proposal, no judgement" in told["rules"]
    assert {"Sorcerer", "Villager"} < {*told["revealed"]}
    assert told["aiwolf"] == ["POSSESSED", 1]
    assert (
        len({told["agents"][place] for place in (0, 1, 6)}) == len({told["agents"][place] for place in (2, 3, 4)}) == 1
    )
    # as long whether the slow one lives or has gone
    assert told["lengths"] == [20.0, 20.0]

"""What was added to the game stands on its page: a role in the cast, among the faces and in its nights, one by which
players leave in a way of its own, and a kind of claim beside the statements that make it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.moderator.patched_tree import patched_by, run_in

PLAY = """
from wolfbus.cli import run
assert run(["play", "--seed", "3", "--config", "rules.toml", "--out", "runs", "--game", "dug", "--quiet"]) == 0
assert run(["page", "runs/dug.ndjson", "-o", "dug.html"]) == 0
"""

SHOOT = """
import json, pathlib
from wolfbus.cli import run
for seed in range(1, 30):
    game = f"game{seed}"
    assert run(["play", "--seed", str(seed), "--config", "rules.toml", "--game", game, "--quiet"]) == 0
    events = [json.loads(line) for line in pathlib.Path(f"runs/{game}.ndjson").open()]
    shots = [event for event in events if event["type"] == "shot" and "seat" in event]
    if shots:
        break
assert run(["page", f"runs/{game}.ndjson", "-o", "shot.html"]) == 0
print("shot:", shots[0]["seat"], shots[0]["by"], shots[0]["round"])
"""

VOUCH = """
import json, pathlib
from wolfbus.cli import run
for seed in range(1, 30):
    game = f"game{seed}"
    assert run(["play", "--seed", str(seed), "--players", "mine:Voucher*8", "--game", game, "--quiet"]) == 0
    events = [json.loads(line) for line in pathlib.Path(f"runs/{game}.ndjson").open()]
    claims = [scored for event in events if event["type"] == "claim_truth" for scored in event["claims"]]
    if any(scored["verdict"] == "lie" for scored in claims):
        break
assert run(["page", f"runs/{game}.ndjson", "-o", "vouched.html"]) == 0
"""

VOUCHER = """
from wolfbus.agent import Agent
from wolfbus.messages.content import Speech, VouchClaim

class Voucher(Agent):
    def bid(self, ask, view):
        return 5

    def speak(self, ask, view):
        target = ([name for name in view.partners if name in view.living] or view.others)[0]
        return Speech(text=f"I vouch for {target} solemnly.", claims=(VouchClaim(target=target, solemn=True),))
"""


def test_a_role_that_was_added_stands_in_the_cast_has_a_face_and_is_seen_to_act(watched, tmp_path: Path):
    tree = patched_by("gravedigger", tmp_path / "grown")
    (tree / "rules.toml").write_text("gravediggers = 1\n")
    run_in(tree, PLAY)
    seen = watched((tree / "dug.html").as_uri())
    cast = seen.page.locator(".beat.opened p.soft").first.inner_text()
    assert cast.startswith("2 Werewolves, 1 Doctor, 1 Seer, 1 Gravedigger and 4 Villagers.")
    digger = seen.page.locator("[data-part=players] li", has_text="Gravedigger")
    shapes = {path.get_attribute("d") for path in seen.page.locator("[data-part=players] .face path").all()}
    assert (digger.count(), len(shapes)) == (1, 5)
    seen.press("End")
    log = seen.page.locator("[data-part=log]").inner_text()
    assert re.search(r"\bexhumes \w+: (Villager|Werewolf|Seer|Doctor)\b", log)
    assert "undefined" not in log


def test_whoever_leaves_in_a_way_of_a_role_s_own_is_out_on_the_page_and_the_page_says_how(watched, tmp_path: Path):
    tree = patched_by("hunter", tmp_path / "grown")
    (tree / "rules.toml").write_text("hunters = 3\nvillagers = 2\n")
    shot, by, round_ = run_in(tree, SHOOT).rpartition("shot: ")[2].split()
    seen = watched((tree / "shot.html").as_uri())
    seen.press("End")
    card = seen.page.locator("[data-part=players] li", has_text=shot)
    assert f"✝ shot, round {round_}" in card.inner_text()
    assert card.locator(".gone").count() == 1
    log = seen.page.locator("[data-part=log]").inner_text()
    assert f"{shot} is shot by {by}." in log
    assert re.search(rf"\b{by}\s+shoots {shot}\b", log)
    assert "undefined" not in log


def test_a_kind_of_claim_that_was_added_is_told_in_its_own_words_with_its_truth(watched, tmp_path: Path):
    tree = patched_by("vouch", tmp_path / "grown")
    (tree / "mine.py").write_text(VOUCHER)
    run_in(tree, VOUCH)
    seen = watched((tree / "vouched.html").as_uri())
    seen.press("End")
    told = "\n".join(seen.page.locator(".chips li").all_inner_texts())
    assert re.search(r"^solemnly vouches for \w+ ✓ true$", told, re.MULTILINE)
    assert re.search(r"^solemnly vouches for \w+ ◆ lie$", told, re.MULTILINE)
    assert "undefined" not in told

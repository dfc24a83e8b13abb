"""A role that was added stands on the page of its games: in the cast, among the faces, and in its nights."""

from __future__ import annotations

import re
from pathlib import Path

from tests.moderator.patched_tree import patched_by, run_in

PLAY = """
from wolfbus.cli import run
assert run(["play", "--seed", "3", "--config", "rules.toml", "--out", "runs", "--game", "dug", "--quiet"]) == 0
assert run(["page", "runs/dug.ndjson", "-o", "dug.html"]) == 0
"""


def test_a_role_that_was_added_stands_in_the_cast_has_a_face_and_is_seen_to_act(watched, tmp_path: Path):
    tree = patched_by("gravedigger", tmp_path / "grown")
    (tree / "rules.toml").write_text("gravediggers = 1\n")
    run_in(tree, PLAY)
    seen = watched((tree / "dug.html").as_uri())
    cast = seen.page.locator(".beat.opened p").first.inner_text()
    assert cast.startswith("2 Werewolves, 1 Doctor, 1 Seer, 1 Gravedigger and 4 Villagers.")
    digger = seen.page.locator("[data-part=players] li", has_text="Gravedigger")
    shapes = {path.get_attribute("d") for path in seen.page.locator("[data-part=players] .face path").all()}
    assert (digger.count(), len(shapes)) == (1, 5)
    seen.press("End")
    log = seen.page.locator("[data-part=log]").inner_text()
    assert re.search(r"\bexhumes \w+: (Villager|Werewolf|Seer|Doctor)\b", log)
    assert "undefined" not in log

"""Published statements are told by their place and never by their words, and what they claim can be scored."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wolfbus.claims import KINDS
from wolfbus.game.vocabulary import ROLES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
STATEMENTS = [
    json.loads(line)
    for name in ("real.ndjson", "real_second.ndjson", "real_third.ndjson", "real_fourth.ndjson")
    for line in (BENCHMARKS / "claims" / name).read_text("utf-8").splitlines()
]
PLACE = {"id", "stratum", "repository", "commit", "path", "spans", "written", "sha256", "speaker", "players", "claims"}
SAID = {
    "role": {"role", "denied"},
    "inspection": {"result"},
    "protection": set[str](),
    "accusation": {"strength"},
    "stance": {"side", "strength"},
}
WORDS: dict[str, tuple[Any, ...]] = {
    "role": ROLES,
    "denied": (True, False),
    "result": ("innocent", "Werewolf"),
    "strength": ("plain", "hedged"),
    "side": ("for", "against"),
}


def test_no_line_has_words_of_others():
    for one in STATEMENTS:
        assert set(one) == PLACE
        assert one["stratum"] in {"random", "named"}
        assert one["written"] in {"plain", "json", "csv"}
        # names and paths are all that is not made of digits or of our own words
        assert max(map(len, (*one["players"], one["speaker"]))) < 40


def test_every_statement_has_one_place_and_one_digest():
    assert len({one["id"] for one in STATEMENTS}) == len(STATEMENTS)
    assert len({(one["path"], *map(tuple, one["spans"])) for one in STATEMENTS}) == len(STATEMENTS)
    for one in STATEMENTS:
        assert re.fullmatch(r"[0-9a-f]{64}", one["sha256"])
        assert re.fullmatch(r"[0-9a-f]{40}", one["commit"])
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", one["repository"])
        bounds = [bound for span in one["spans"] for bound in span]
        assert bounds == sorted(bounds)
        assert len(bounds) >= 2


def test_claims_are_of_known_kinds_about_players_of_the_game():
    assert set(SAID) == set(KINDS)
    for one in STATEMENTS:
        assert one["speaker"] in one["players"]
        assert len(set(one["players"])) == len(one["players"])
        for claim in one["claims"]:
            assert claim["player"] in one["players"], one["id"]
            said = {word: value for word, value in claim.items() if word not in {"kind", "player"}}
            assert set(said) == SAID[claim["kind"]], one["id"]
            assert all(value in WORDS[word] for word, value in said.items()), one["id"]


@pytest.mark.parametrize("mirror", ["nothing", "."])
def test_texts_that_cannot_be_had_are_told_in_one_line(tmp_path: Path, mirror: str):
    script = BENCHMARKS / "claims_real.py"
    run = subprocess.run(
        [sys.executable, str(script), "--mirror", str(tmp_path / mirror)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert re.fullmatch(r"\S+real\.ndjson: [\w.-]+/[\w.-]+: not in \S+\n", run.stderr)

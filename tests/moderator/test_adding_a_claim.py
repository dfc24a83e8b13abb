"""A kind of claim is added in the files that CONTRIBUTING names, and then is made, judged, replayed and reported.

Its players vouch for others: one kind of player says so and attaches the claim, one only says so, and random players
attach it to words that say nothing of the kind.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.moderator.patched_tree import patch_of, patched_by, run_in
from wolfbus.claims import KINDS, kind_named

PLAYERS = """
from wolfbus.agent import Agent
from wolfbus.messages.content import Speech, VouchClaim

class Says(Agent):
    attaches = False

    def bid(self, ask, view):
        return view.config.bid_max

    def speak(self, ask, view):
        target = ([name for name in view.partners if name in view.living] or view.others)[0]
        claims = (VouchClaim(target=target, solemn=True),) if self.attaches else ()
        return Speech(text=f"I vouch for {target} solemnly.", claims=claims)

class Attaches(Says):
    attaches = True
"""

# in these two games vouches are true, lies and mistakes, and some come with words that say nothing of the kind
PLAY = """
from wolfbus.cli import run
def do(*words):
    assert run(list(words)) == 0, words
for seed in (4, 8):
    do("play", "--seed", str(seed), "--players", "mine:Says*2,mine:Attaches*3,random*3", "--out", "runs",
       "--game", f"game{seed}", "--quiet")
do("verify", "runs", "--prove")
do("export", "csv", "runs", "--out", "tables")
do("report", "runs")
for seed in (4, 8):
    do("replay", f"runs/game{seed}.ndjson")
    do("page", f"runs/game{seed}.ndjson", "-o", f"game{seed}.html")
"""

HEAR = """
from wolfbus.claims import implies, verdict
from wolfbus.claims.hearing import StatedClaims, claims_in
from wolfbus.game.config import GameConfig
from wolfbus.messages.content import RoleClaim, VouchClaim
from wolfbus.posterior import Knowledge, Posterior, sort_of
from wolfbus.knowledge.truth import GameFacts
names = ("Ada", "Bea", "Cid")
for text in ("I vouch for Bea.", "I vouch for Bea solemnly.", "If I vouch for Bea, he is safe.",
             "I won't vouch for Bea.", "Would I vouch for Bea?", "Cid said: 'I vouch for Bea.'"):
    print(text, tuple(claim for claim in claims_in(text, "Ada", names) if claim.claim == "vouch"))
vouched = VouchClaim(target="Bea")
assert StatedClaims("I vouch for Bea.", "Ada", names).bears_out(vouched)
assert not StatedClaims("Bea is fine.", "Ada", names).bears_out(vouched)
assert not implies(vouched, RoleClaim(target="Bea", role="Villager"))
roles = {name: role for name, role in zip("ABCDEFGH", ["Werewolf"] * 2 + ["Seer", "Doctor"] + ["Villager"] * 4)}
facts = GameFacts(roles)
print(*(verdict(facts, speaker, VouchClaim(target=target)) for speaker, target in ("AB", "CB", "CD", "CX")))
posterior = Posterior(GameConfig(), tuple(roles))
knows = [Knowledge("C", {"C": "Seer"})]
before = posterior.probabilities(knows, "honest")
posterior.claim("A", [VouchClaim(target="B")])
assert (posterior.probabilities(knows, "honest") == before).all()
assert sort_of("A", VouchClaim(target="B"), roles) is None
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with one kind of claim more."""
    tree = patched_by("vouch", tmp_path_factory.mktemp("grown"))
    (tree / "mine.py").write_text(PLAYERS)
    return tree


@pytest.fixture(scope="module")
def output(grown: Path) -> str:
    """What the commands print that play, prove, export, report and show games with it."""
    return run_in(grown, PLAY)


def test_it_takes_no_more_than_four_files():
    assert len(patch_of("vouch")) <= 4


def _verdicts(record: Path) -> Iterator[tuple[str, bool, bool]]:
    """Yield of each claim of a record its verdict, and whether it is a Werewolf's and about one."""
    events = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    roles = {seat["name"]: seat["role"] for seat in events[0]["seats"]}
    speakers = {event["statement"]: event["speaker"] for event in events if event["type"] == "statement"}
    for event in (event for event in events if event["type"] == "claim_truth"):
        for scored in (scored for scored in event["claims"] if scored["claim"]["claim"] == "vouch"):
            sides = speakers[event["statement"]], scored["claim"]["target"]
            by_wolf, for_wolf = (roles[name] == "Werewolf" for name in sides)
            yield scored["verdict"], by_wolf, for_wolf


def test_it_is_judged_and_lies_are_those_that_the_speaker_s_view_rules_out(grown: Path, output: str):
    verdicts = Counter[str]()
    for record in (grown / "runs").glob("game?.ndjson"):
        for verdict, by_wolf, for_wolf in _verdicts(record):
            assert (verdict == "true") == (not for_wolf)
            assert not (for_wolf and by_wolf) or verdict == "lie"
            verdicts[verdict] += 1
    assert set(verdicts) == {"true", "lie", "mistake"}, output[-500:]


def test_it_is_a_row_of_the_export_attached_found_or_unheard(grown: Path, output: str):
    with (grown / "tables" / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["claim"] == "vouch"]
    sources = Counter((row["extracted"], row["heard"]) for row in rows)
    assert set(sources) == {("false", "true"), ("true", "true"), ("false", "false")}
    assert {row["role"] for row in rows} == {""}
    report = (grown / "runs" / "report.html").read_text("utf-8")
    assert "Vouching" in report


def test_the_terminal_tells_of_it_in_its_own_words(output: str):
    assert "solemnly vouches for" in output


def test_the_page_of_a_game_tells_of_it_with_its_truth(watched, grown: Path, output: str):
    records = sorted((grown / "runs").glob("game?.ndjson"))
    record = next(one for one in records if {"true", "lie"} <= {verdict for verdict, *_ in _verdicts(one)})
    seen = watched((grown / f"{record.stem}.html").as_uri())
    seen.press("End")
    chips = "\n".join(seen.page.locator(".chips li").all_inner_texts())
    for verdict in ("✓ true", "◆ lie"):
        assert re.search(rf"^solemnly vouches for \w+ {verdict}$", chips, re.MULTILINE)
    assert "undefined" not in chips


def test_the_pages_of_statements_beside_a_report_tell_of_it(grown: Path, output: str):
    statements = "".join(path.read_text("utf-8") for path in (grown / "runs").rglob("*.html"))
    assert "solemnly vouches for" in statements


def test_it_is_heard_and_scored_and_changes_no_posterior_that_it_says_nothing_of(grown: Path):
    lines = run_in(grown, HEAR).splitlines()
    assert [line.partition(" (")[2] for line in lines[:6]] == [
        "VouchClaim(claim='vouch', target='Bea', solemn=False),)",
        "VouchClaim(claim='vouch', target='Bea', solemn=True),)",
        ")", ")", ")", ")",
    ]  # fmt: skip
    assert lines[6] == "lie mistake true uncheckable"


def test_a_class_on_the_wire_that_no_kind_describes_stops_the_program_as_it_starts(tmp_path: Path):
    tree = patched_by("vouch", tmp_path)
    kinds = tree / "wolfbus/claims/kinds.py"
    kinds.write_text(kinds.read_text("utf-8").replace(" _VouchKind(),", ""), "utf-8")
    said = run_in(tree, "try:\n    import wolfbus.claims\nexcept TypeError as error:\n    print(error)")
    assert said.startswith(
        "the kinds of claims in wolfbus/claims/kinds.py (accusation, inspection, protection, role, stance) are"
    )
    assert said.strip().endswith("(accusation, inspection, protection, role, stance, vouch)")


def test_a_kind_that_nobody_knows_is_an_error_and_never_taken_for_another():
    assert list(KINDS) == ["role", "inspection", "protection", "accusation", "stance"]
    with pytest.raises(LookupError, match="no kind of claim is called 'hunch'"):
        kind_named("hunch")

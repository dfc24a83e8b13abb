"""A role that departs in a way of its own is added in the files that CONTRIBUTING names, and every sentence about who
lives is right: a Hunter, who shoots somebody as it leaves.
"""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.moderator.patched_tree import patch_of, patched_by, run_in

FOLDS = """
from tests.cli_views.games import recorded
from tests.game.driver import play
from tests.game.living import LEAVERS, disagreements
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.departure import DEPARTING
assert {event.model_fields["type"].default for event in DEPARTING} == set(LEAVERS)
shots = 0
for seed, reveal in enumerate(("none", "team", "role")):
    rules = GameConfig(villagers=2 + seed, hunters=1 + seed, debate_turns=1, reveal_on_death=reveal)
    game = recorded(play(rules, str(seed)).events)
    assert disagreements(game) == [], disagreements(game)[:3]
    shots += sum(entry.event.type == "shot" and entry.event.seat is not None for entry in game)
print(shots)
"""

PLAY = """
import pathlib
from wolfbus.cli import run
for seed in range(1, 7):
    game = ("--seed", str(seed), "--game", f"game{seed}", "--out", "runs", "--config", "rules.toml", "--quiet")
    assert run(["play", *game]) == 0
assert run(["verify", "runs", "--prove"]) == 0
assert run(["export", "csv", "runs", "--out", "tables"]) == 0
assert run(["report", "runs"]) == 0
assert run(["rules", "--config", "rules.toml"]) == 0
"""

SHOW = """
import json, sys
from players.human.words import UnreadNews, table_in_words
from players.llm.prompts.story import Story
from players.program.protocol import bye_line, ask_line
from tests.cli_views.games import mean_suspicion
from tests.game.living import disagreements, left_in
from tests.players.table import Hearers
from wolfbus.cli import run
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage import GameFeed
def section(title):
    print(f"=== {title}", flush=True)
def show(name):
    records = list(read_record(open_lines(name)))
    assert disagreements(records) == []
    last, told = str(len(records)), Hearers()
    for recorded in records:
        told.tell(recorded.event)
    section("ending")
    assert run(["replay", name]) == 0
    assert run(["page", name, "-o", name.replace(".ndjson", ".html")]) == 0
    section("state")
    assert run(["replay", name, "--until", last]) == 0
    section("suspected")
    print(json.dumps(mean_suspicion(records)))
    section("left")
    print(json.dumps(left_in(records)))
    section("news")
    print(*(beat["news"] for beat in GameFeed("public", records).page()["beats"] if beat["kind"] == "news"), sep="\\n")
    for seat, view in told.views.items():
        section(f"seat {seat}")
        assert run(["replay", name, "--as", seat, "--until", str(len(records) - 1)]) == 0
        section(f"person {seat}")
        print(*UnreadNews().since(view), *table_in_words(view), sep="\\n")
        section(f"model {seat}")
        story = Story()
        story.update(view)
        print(story.text)
        section(f"program {seat}")
        print(bye_line(view).decode())
for name in sys.argv[1:]:
    print(f"=== === {name}")
    show(name)
"""


class Shown(NamedTuple):
    """What was shown of a game.

    Attributes:
        page: its page.
        events: its record.
        left: who left, how and in which round, counted by hand.
        parts: what was printed, by its title.
    """

    page: Path
    events: list[dict[str, Any]]
    left: dict[str, tuple[str, int]]
    parts: Mapping[str, str]

    @property
    def roles(self) -> dict[str, str]:
        return {seat["name"]: seat["role"] for seat in self.events[0]["seats"]}

    @property
    def living(self) -> list[str]:
        return [name for name in self.roles if name not in self.left]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with a Hunter, and six games with two of them."""
    tree = patched_by("hunter", tmp_path_factory.mktemp("grown"))
    (tree / "rules.toml").write_text("hunters = 2\nvillagers = 3\ndebate_turns = 1\n")
    (tree / "rules.txt").write_text(run_in(tree, PLAY))
    return tree


@pytest.fixture(scope="module")
def shown(grown: Path) -> list[Shown]:
    """What is shown of a game with a shot at dawn, of one with a shot after an exile, and of one that ends by a tie."""
    games = {path.stem: _events(path) for path in sorted((grown / "runs").glob("*.ndjson"))}
    wanted = {
        next(name for name, events in games.items() if "dawn" in _shot_after(events)),
        next(name for name, events in games.items() if "exile" in _shot_after(events)),
        next(name for name, events in games.items() if events[-1]["reason"] == "wolves_reach_parity"),
    }
    output = run_in(grown, SHOW, *(f"runs/{name}.ndjson" for name in sorted(wanted)))
    pieces = re.split(r"^=== === runs/(.*)\.ndjson\n", output, flags=re.MULTILINE)[1:]
    return [
        _shown(grown / "runs" / f"{name}.html", games[name], shown)
        for name, shown in zip(pieces[::2], pieces[1::2], strict=True)
    ]


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _shot_after(events: list[dict[str, Any]]) -> set[str]:
    """Return by which events those had left who hit somebody."""
    departed = {event.get("died") or event.get("seat"): event["type"] for event in events if event["type"] in _LEFT_BY}
    return {departed[event["by"]] for event in events if event["type"] == "shot" and "seat" in event}


_LEFT_BY = ("dawn", "exile", "shot")


def _shown(page: Path, events: list[dict[str, Any]], output: str) -> Shown:
    pieces = re.split(r"^=== (.*)\n", output, flags=re.MULTILINE)[1:]
    parts = dict(zip(pieces[::2], pieces[1::2], strict=True))
    left = {name: (how, round_) for name, (how, round_) in json.loads(parts["left"]).items()}
    return Shown(page, events, left, parts)


def test_it_takes_no_more_than_six_files():
    assert len(patch_of("hunter")) <= 6


def test_after_every_line_of_its_games_all_folds_agree_who_lives(grown: Path):
    assert int(run_in(grown, FOLDS)) > 2


def test_its_games_are_verified_by_playing_them_again_and_its_rules_are_told(grown: Path):
    rules = (grown / "rules.txt").read_text("utf-8")
    assert re.search(r"re-executed +6 of 6 records", rules)
    assert "Day: what single roles do\n- Each Hunter, as it leaves the game, may shoot a living player" in rules
    assert "Hunter" in (grown / "runs" / "report.html").read_text("utf-8")


def test_the_ending_says_of_everybody_how_and_when_it_left(shown: list[Shown]):
    words = {"night": "killed, night", "exile": "exiled, day", "shot": "shot, round"}
    for game in shown:
        ending = game.parts["ending"]
        for name in game.roles:
            how, round_ = game.left.get(name, ("", 0))
            fate = f"{words[how]} {round_}" if how else "alive"
            assert re.search(rf"^  {name} +{game.roles[name]} +{fate}  ", ending, re.MULTILINE), (name, ending)


def test_a_headline_counts_those_who_live(shown: list[Shown]):
    numbers = ("none", "one", "two", "three", "four")
    parities = 0
    for game in shown:
        if game.events[-1]["reason"] != "wolves_reach_parity":
            continue
        parities += 1
        wolves = sum(game.roles[name] == "Werewolf" for name in game.living)
        others = len(game.living) - wolves
        assert f"{numbers[wolves]} of them against {numbers[others]} other" in game.parts["ending"].splitlines()[0]
    assert parities


def test_suspicion_is_that_of_the_living_by_the_living_and_of_others_by_all(shown: list[Shown]):
    for game in shown:
        state, suspected = game.parts["state"], json.loads(game.parts["suspected"])
        assert f"over · {len(game.living)} of {len(game.roles)} alive" in state
        for name, mean in suspected.items():
            (line,) = re.findall(rf"^  {name} +{game.roles[name]} +(.*)", state, re.MULTILINE)
            assert ("not judged yet" in line) if mean is None else (f"suspected {mean:.2f}" in line)
            assert line.startswith("alive") == (name in game.living)
            if game.left.get(name, ("",))[0] == "shot":
                assert line.startswith(f"shot in round {game.left[name][1]} ")


def test_every_seat_is_told_who_is_shot_and_by_whom(shown: list[Shown]):
    gone = {"night": "killed at night", "exile": "exiled", "shot": "shot"}
    for game in shown:
        shots = [event for event in game.events if event["type"] == "shot"]
        said = [f"{shot.get('seat', 'nobody')} is shot by {shot['by']}" for shot in shots]
        assert game.parts["news"].splitlines() == said
        for name in game.roles:
            for other in game.roles:
                fate = gone[game.left[other][0]] if other in game.left else "alive"
                assert re.search(rf"^  {other} +{fate}(?:  |$)", game.parts[f"seat {name}"], re.MULTILINE)
                assert re.search(rf"^  {other} +{fate}(?:  |$)", game.parts[f"person {name}"], re.MULTILINE)
            for sentence, shot in zip(said, shots, strict=True):
                assert sentence in game.parts[f"seat {name}"]
                assert f"{sentence}.\nLiving players: " in game.parts[f"model {name}"]
                person = game.parts[f"person {name}"]
                heard = sentence.replace(f"{name} is", "You are", 1) if shot.get("seat") == name else sentence
                assert f"\n{heard[0].upper()}{heard[1:]}.\n" in person
                if shot.get("seat") == name:
                    assert f"You were shot in round {shot['round']}. You are out of the game" in person
            death = json.loads(game.parts[f"program {name}"])["you_died"]
            assert death == ({"how": game.left[name][0], "round": game.left[name][1]} if name in game.left else None)


def test_whoever_is_shot_is_out_on_the_page_and_the_page_says_how(watched, shown: list[Shown]):
    game, shot = next(
        (game, event) for game in shown for event in game.events if event["type"] == "shot" and "seat" in event
    )
    seen = watched(game.page.as_uri())
    seen.press("End")
    card = seen.page.locator("[data-part=players] li", has_text=shot["seat"])
    assert f"✝ shot, round {shot['round']}" in card.inner_text()
    assert card.locator(".gone").count() == 1
    log = seen.page.locator("[data-part=log]").inner_text()
    assert f"{shot['seat']} is shot by {shot['by']}." in log
    assert re.search(rf"\b{shot['by']}\s+shoots {shot['seat']}\b", log)
    assert "undefined" not in log


def test_a_hunter_is_asked_once_more_and_remembers_its_shot_in_the_round_it_left_in(shown: list[Shown]):
    asked = 0
    for game in shown:
        for name in (name for name in game.left if game.roles[name] == "Hunter"):
            asked += 1
            answers = [event for event in game.events if event.get("kind") == "shoot" and event["seat"] == name]
            assert len(answers) == 1
            target = answers[0].get("content", {}).get("target") or "nobody"
            assert f"Day {game.left[name][1]}: you chose to shoot {target}." in game.parts[f"model {name}"]
            assert f"What it chose by day\n  shoot: {target}" in game.parts[f"seat {name}"]
            assert "asked nothing more" not in game.parts[f"person {name}"]
    assert asked >= 3


def test_rows_say_who_was_shot_and_that_nobody_is_judged_any_more_who_was(grown: Path):
    with (grown / "tables" / "seats.csv").open(encoding="utf-8") as file:
        seats = {(row["game_id"], row["name"]): row for row in csv.DictReader(file)}
    with (grown / "tables" / "judgements.csv").open(encoding="utf-8") as file:
        judgements = list(csv.DictReader(file))
    shots = 0
    for path in (grown / "runs").glob("*.ndjson"):
        for shot in (event for event in _events(path) if event["type"] == "shot" and "seat" in event):
            shots += 1
            row = seats[path.stem, shot["seat"]]
            assert (row["left_by"], row["left_round"]) == ("shot", str(shot["round"]))
            assert not [
                judgement
                for judgement in judgements
                if judgement["game_id"] == path.stem
                and shot["seat"] in {judgement["observer"], judgement["target"]}
                and int(judgement["round"]) > shot["round"]
            ]
    assert shots >= 3

"""An event is added in two files, and then is told, told again, recorded, proven and shown."""

import json
from pathlib import Path

import pytest

from tests.moderator.patched_tree import patch_of, patched_by, run_in
from wolfbus.knowledge.audience import AudienceFilter

PLAY = """
import pathlib
from wolfbus.cli import run
def do(*words):
    assert run(list(words)) == 0, words
do("play", "--seed", "7", "--out", "runs", "--plain")
(record,) = map(str, pathlib.Path("runs").glob("*.ndjson"))
do("verify", record)
do("replay", record)
do("replay", record, "--speed", "1000000", "--plain")
do("page", record)
do("report", "runs")

from players.human.words import UnreadNews
from players.llm.prompts.story import Story
from tests.players.table import Hearers
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage import GameFeed, all_viewers
table, records = Hearers(), list(read_record(open_lines(record)))
for recorded in records:
    table.tell(recorded.event)
viewers = all_viewers(tuple(table.views))
news = {sum(beat.kind == "news" for beat in GameFeed(viewer, records).beats) for viewer in viewers}
print("beats of it:", *news)
for view in table.views.values():
    story = Story()
    story.update(view)
    print(story.text, *UnreadNews().since(view), sep="\\n")
"""

COME_BACK = """
import threading
from tests.moderator.conftest import Stage
from tests.moderator.process import events_of, opened
from wolfbus.knowledge.audience import AudienceFilter

def whole(url):
    with Stage() as stage:
        stage.watch(url)
        stage.agents(url, "one", "two")
        process = stage.process(url)
        process.open(opened(("one", "two")))
        return process.over().digest

with Stage() as stage:
    url = "memory://disturbed"
    bus = stage.watch(url)
    stage.agents(url, "one")
    silenced, left = threading.Event(), iter(range(40))
    def falls_silent(_):
        if next(left, None) is None:
            silenced.set()
        return silenced.is_set()
    (mortal,) = stage.agents(url, "two", silent=falls_silent)
    process = stage.process(url)
    process.open(opened(("one", "two")))
    assert silenced.wait(60)
    stage.end(mortal)
    (fresh,) = stage.agents(url, "two", joins=True)
    over = process.over()
    assert (over.error, over.digest) == (None, whole("memory://undisturbed"))
    catch_up = fresh.deliveries[0]
    print(catch_up.type, *(fact.fact.type for fact in catch_up.facts))
    print(*(fact.fact.type for part in catch_up.seats for fact in part.facts))
    audiences = AudienceFilter()
    telling = {event.type for event in events_of(bus) if (told := audiences.feed(event)).public or told.private}
    print(*telling - AudienceFilter.EVENT_TYPES)
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with two events more."""
    return patched_by("howl", tmp_path_factory.mktemp("grown"))


def test_it_takes_no_more_than_four_files():
    assert len(patch_of("howl")) <= 4


def test_agents_that_come_back_are_told_of_it_and_the_game_is_the_same(grown: Path):
    public, private, missing = run_in(grown, COME_BACK).splitlines()
    assert public.split()[0] == "catch_up"
    assert "howl" in public.split()
    assert {"seated", "answered", "omen"} <= set(private.split())
    assert missing == ""


def test_whoever_may_know_it_has_a_plain_line_of_it(grown: Path):
    output = run_in(grown, PLAY)
    (record,) = (grown / "runs").glob("*.ndjson")
    events = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    assert {"howl", "omen"} <= {event["type"] for event in events}
    seer = next(event["seat"] for event in events if event["type"] == "omen")
    assert "\nhowl: round 1.\n" in output
    assert f"\nbeats of it: {sum(event['type'] == 'howl' for event in events)}\n" in output
    assert f"- Only you know: omen: round 1, seat {seer}, about {seer}.\n" in output
    assert f"Only you learn: omen: round 1, seat {seer}, about {seer}.\n" in output


def test_nothing_that_is_told_is_left_out_of_what_catch_ups_are_made_of():
    assert {"opened", "asked", "answered", "statement", "inspection", "ended"} <= AudienceFilter.EVENT_TYPES
    assert AudienceFilter.EVENT_TYPES.isdisjoint({"model_call", "prompt_text", "rejected", "night_outcome"})

"""Beats: what is shown of a game, for every pair of eyes."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli_views.games import SEEDS, lively
from tests.stage.served import sealed
from wolfbus.messages.events import Opened, Stopped
from wolfbus.record.line import Recorded
from wolfbus.stage import GameFeed, all_viewers
from wolfbus.state import GameState

EVERYTHING, PUBLIC = "everything", "public"
SECRET = re.compile(r"secret-of-(\w+)|whisper-of-(\w+)|(?:thought|prompt|reply|model)-of-(\w+)")


def seat_of(viewer: str) -> str | None:
    return viewer.removeprefix("seat:") if viewer != PUBLIC else None


def opened(game: tuple[Recorded, ...]) -> Opened:
    event = game[0].event
    assert isinstance(event, Opened)
    return event


def viewers(game: tuple[Recorded, ...]) -> tuple[str, ...]:
    return all_viewers(tuple(seat.name for seat in opened(game).seats))


def page_of(game: tuple[Recorded, ...], viewer: str) -> dict:
    return GameFeed(viewer, game).page()


def test_whoever_follows_a_game_live_has_the_page_of_whoever_comes_after_it():
    game = lively("23")
    for viewer in viewers(game):
        feed, beats, line = GameFeed(viewer), [], 0
        for recorded in game:
            feed.feed(recorded)
            step = feed.step(line)
            assert step["from"] == len(beats), "nothing that was shown is taken back"
            beats, line = beats + step["beats"], feed.line
            if step["live"] is not None:
                if beats and beats[-1]["kind"] == "exile":
                    assert step["live"]["round"] == beats[-1]["round"] + 1, "the night to come is the next round's"
                assert [beat["n"] for beat in step["live"]["pending"]] == [
                    len(beats) + place for place in range(len(step["live"]["pending"]))
                ]
        page = page_of(game, viewer)
        assert beats == page["beats"]
        assert step["moments"] == page["moments"]
        assert page["over"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_beat_has_the_same_number_for_everybody_and_tells_the_same_words(seed):
    game = lively(seed)
    by_viewer = [
        [(beat["n"], beat["kind"], beat.get("spoken", {}).get("text"), beat["round"]) for beat in
         page_of(game, viewer)["beats"]]
        for viewer in viewers(game)
    ]  # fmt: skip
    assert len({str(words) for words in by_viewer}) == 1
    statements = [recorded.event.text for recorded in game if recorded.event.type == "statement"]
    assert [text for _, kind, text, _ in by_viewer[0] if kind == "statement"] == statements


@pytest.mark.parametrize("seed", SEEDS)
def test_suspicion_in_a_beat_is_that_of_the_record_wherever_a_vote_or_a_night_has_come_to_its_end(seed):
    game = lively(seed)
    feed, state, compared = GameFeed(EVERYTHING), GameState(), 0
    for recorded in game:
        state.feed(recorded.event)
        for beat in feed.feed(recorded):
            if beat.kind not in {"exile", "night", "ended"}:
                continue
            compared += 1
            assert beat.suspicion == tuple(
                tuple(state.suspicion.pairs().get((observer, target)) for target in state.seats)
                for observer in state.seats
            )
            assert [seat.suspected for seat in beat.seats] == [state.suspicion_of(name) for name in state.seats]
            assert [seat.left for seat in beat.seats] == [
                state.left[name].how if name in state.left else None for name in state.seats
            ]
    assert compared > 3


def test_every_judgement_of_the_record_stands_in_its_statement_s_beat_with_what_it_moved():
    game = lively("7")
    judged = {
        (recorded.event.about, recorded.event.seat)
        for recorded in game
        if recorded.event.type == "answered" and recorded.event.kind == "assess_other"
    }
    judgements = set()
    for beat in page_of(game, EVERYTHING)["beats"]:
        spoken = beat.get("spoken", {})
        for judgement in spoken.get("judgements", ()):
            judgements.add((spoken["statement"], judgement["seat"]))
            assert ("suspicion" in judgement) == (judgement["outcome"] == "accepted") == ("after" in judgement)
    assert judgements == judged


def test_eyes_see_their_own_secrets_and_their_partners_whispers_only():
    game = sealed()[0]
    wolves = {seat.name for seat in opened(game).seats if seat.role == "Werewolf"}
    for viewer in viewers(game)[1:]:
        feed, me, sent = GameFeed(viewer), seat_of(viewer), ""
        line = 0
        for recorded in game:
            feed.feed(recorded)
            sent += json.dumps(feed.step(line))
            line = feed.line
        sent += json.dumps(feed.page())
        secrets = SECRET.findall(sent)
        assert {author for thought, _, private in secrets for author in (thought, private) if author} <= {me}
        assert {author for _, author, _ in secrets if author} <= (wolves if me in wolves else set())
        assert "verdict" not in sent
        assert '"target"' in sent, "votes are public"
        assert line < len(game) / 3, "it counts what was told, not what was asked"
    assert "prompt-of" not in json.dumps(page_of(game, EVERYTHING)), "prompts are fetched one by one"


def test_before_the_end_nobody_learns_roles_the_seed_or_who_plays_whom():
    game = sealed()[0]
    everything = page_of(game, EVERYTHING)
    roles = {seat["name"]: seat["role"] for seat in everything["beats"][-1]["seats"]}
    for viewer in viewers(game)[1:]:
        page, me = page_of(game[:-1], viewer), seat_of(viewer)
        role_shown = {seat["name"] for beat in page["beats"] for seat in beat["seats"] if "role" in seat}
        inspected = {
            recorded.event.target
            for recorded in game
            if recorded.event.type == "inspection" and recorded.event.seat == me
        }
        allies = {name for name, role in roles.items() if role == "Werewolf"} if roles.get(me) == "Werewolf" else set()
        assert role_shown == ({me} if me else set()) | inspected | allies
        assert set(page["game"]) == {"id", "config", "roles", "started", "seats"}
        assert all(set(seat) == {"name"} for seat in page["game"]["seats"])
        assert "roles" not in page["game"]["config"]
        assert {seat["name"]: seat["role"] for seat in page_of(game, viewer)["beats"][-1]["seats"]} == roles


def test_a_game_that_is_broken_off_shows_what_was_said_and_why_it_stopped():
    game = lively("7")
    at = next(n for n, recorded in enumerate(game) if recorded.event.type == "statement") + 3
    cut = (*game[:at], Recorded(at + 1, game[at].time, "researchers", Stopped(reason="no more money")))
    page = page_of(cut, EVERYTHING)
    assert [beat["kind"] for beat in page["beats"][-2:]] == ["statement", "stopped"]
    assert page["beats"][-1]["over"] == {"stopped": "no more money"}
    assert page["over"]
    assert page["live"] is None
    live = page_of(game[:at], EVERYTHING)["live"]
    assert live["pending"][0]["spoken"]["text"] == page["beats"][-2]["spoken"]["text"]
    assert not live["pending"][0]["complete"]
    assert not page_of(cut, PUBLIC)["over"], "the table is not told"

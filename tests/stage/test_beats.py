"""Beats: what is shown of a game, for every pair of eyes."""

import json
import re
from collections import Counter
from itertools import permutations
from statistics import fmean

import pytest

from analytics.gather import fold
from tests.cli_views.games import SEEDS, lively, mean_suspicion, names_in, suspicion_of
from tests.game.living import left_in
from tests.golden.played import unpacked
from tests.stage.served import sealed
from wolfbus.cli import run
from wolfbus.knowledge.departure import departure
from wolfbus.knowledge.truth import GameFacts
from wolfbus.messages.events import AnsweredAssessOther, Opened, Stopped
from wolfbus.record.line import Recorded
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage import GameFeed, all_viewers

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
    names, feed, compared = names_in(game), GameFeed(EVERYTHING), 0
    for recorded in game:
        for beat in feed.feed(recorded):
            if beat.kind not in {"exile", "night", "ended"}:
                continue
            compared += 1
            suspicion, left = suspicion_of(game, recorded.n), left_in(game, recorded.n)
            rows = [tuple(suspicion.get((observer, target)) for target in names) for observer in names]
            assert beat.suspicion == tuple(row if any(value is not None for value in row) else None for row in rows)
            expected = mean_suspicion(game, recorded.n)
            assert [seat.suspected for seat in beat.seats] == pytest.approx([expected[name] for name in names])
            assert [seat.left for seat in beat.seats] == [left.get(name, (None, 0))[0] for name in names]
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
        if spoken:
            found_out = [judgement for judgement in spoken["judgements"] if judgement["listener"] == "finds_out"]
            usable = [judgement for judgement in found_out if "suspicion" in judgement]
            assert spoken["judged"] == len(usable)
            assert spoken["flagged"] == sum(judgement["deceptive"] for judgement in usable)
            if usable:
                assert spoken["mean"] == pytest.approx(sum(j["suspicion"] for j in usable) / len(usable), abs=1e-4)
            else:
                assert "mean" not in spoken
            assert spoken["label"]["outcome"] == "accepted"
        for judgement in spoken.get("judgements", ()):
            judgements.add((spoken["statement"], judgement["seat"]))
            assert ("suspicion" in judgement) == (judgement["outcome"] == "accepted") == ("after" in judgement)
    assert judgements == judged


def test_who_had_to_find_out_is_on_the_page_who_could_not_know_is_in_the_metrics(tmp_path):
    unpacked("scripted", tmp_path)
    counts: Counter[str] = Counter()
    for path in sorted((tmp_path / "scripted").rglob("*.ndjson*"))[:6]:
        game = tuple(read_record(open_lines(path)))
        judged = {(row.statement, row.observer): row.informed for row in fold(line.event for line in game).judgements}
        for beat in page_of(game, EVERYTHING)["beats"]:
            spoken = beat.get("spoken", {})
            called = {claim["target"] for claim in spoken.get("claims", ()) if claim.get("role") == "Werewolf"}
            for judgement in spoken.get("judgements", ()):
                informed = judged.pop((spoken["statement"], judgement["seat"]))
                expected = "knew" if informed else "accused" if judgement["seat"] in called else "finds_out"
                assert judgement["listener"] == expected
                counts[expected] += 1
        assert not judged
    assert min(counts[listener] for listener in ("knew", "accused", "finds_out")) > 0
    for viewer in viewers(game)[1:]:
        assert "listener" not in json.dumps(page_of(game, viewer)), "it would tell who is a Werewolf"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_curve_is_the_suspicion_of_werewolves_minus_that_of_others_by_those_who_could_not_know(seed):
    game = lively(seed)
    roles = {seat.name: seat.role for seat in opened(game).seats}
    feed, facts, curve = GameFeed(EVERYTHING), GameFacts(roles), []
    for recorded in game:
        event = recorded.event
        if event.type == "inspection":
            facts.inspect(event.round, event.seat, event.target, event.role)
        elif departed := departure(event):
            facts.leave(departed.seat, departed.how)
        for beat in feed.feed(recorded):
            if beat.kind not in {"exile", "night"}:
                continue
            suspicion = suspicion_of(game, recorded.n)
            by_side: dict[bool, list[float]] = {True: [], False: []}
            for observer, target in permutations(facts.living, 2):
                if not facts.informed(observer, target):
                    by_side[roles[target] == "Werewolf"].append(suspicion.get((observer, target), 0.5))
            if not by_side[True] or not by_side[False]:
                assert beat.gap is None, "who is left knows all"
                continue
            assert beat.gap == pytest.approx(fmean(by_side[True]) - fmean(by_side[False]))
            curve.append(beat.gap)
    assert len(curve) > 3
    beats = page_of(game, EVERYTHING)["beats"]
    assert "gap" not in beats[-1], "who has come to the end suspects nobody any more"
    assert "gap" not in json.dumps(page_of(game, PUBLIC))


@pytest.mark.parametrize("when", ["after", "none"])
def test_a_game_in_which_nobody_judges_while_it_goes_on_has_no_curve(tmp_path, when):
    rules = tmp_path / "rules.toml"
    rules.write_text(f'assess = "{when}"\nlabel = "after"\n')
    assert run(["play", "--seed=7", "--game=g", f"--config={rules}", f"--out={tmp_path}", "--json"]) == 0
    beats = page_of(tuple(read_record(open_lines(tmp_path / "g.ndjson"))), EVERYTHING)["beats"]
    assert not any("gap" in beat for beat in beats)


def test_moments_come_from_the_turns_of_the_curve_and_a_game_that_is_over_has_a_story():
    for seed in SEEDS:
        page = page_of(lively(seed), EVERYTHING)
        beats, turns = page["beats"], [each for each in page["moments"] if each["kind"].startswith("suspicion_")]
        assert 0 < len(turns) <= 4
        for turn in turns:
            step = beats[turn["beat"]]["gap"] - beats[turn["beat"] - 1]["gap"]
            assert (step > 0) == (turn["kind"] == "suspicion_rises")
            assert beats[turn["beat"]]["spoken"]["speaker"] == turn["seat"]
        story = page["story"]
        assert story["headline"].count(";") <= 1
        assert story["beats"] == sorted(story["beats"], key=lambda part: part["beat"])
        assert 1 <= len(story["beats"]) <= 3
        for lie in story.get("lies", ()):
            judged = beats[lie["beat"]]["spoken"]["judgements"]
            found_out = {each["seat"]: each.get("deceptive") for each in judged if each["listener"] == "finds_out"}
            assert set(lie.get("believed", ())) == {name for name, flag in found_out.items() if flag is False}
            assert set(lie.get("doubted", ())) == {name for name, flag in found_out.items() if flag}
        assert "story" not in page_of(lively(seed)[:-1], EVERYTHING)
        assert "story" not in page_of(lively(seed), PUBLIC)


def test_a_story_says_of_a_single_judge_what_it_made_of_the_lie_and_counts_nobody(tmp_path):
    assert run(["play", "--seed=7", "--game=g", f"--out={tmp_path}", "--json"]) == 0
    game = tuple(read_record(open_lines(tmp_path / "g.ndjson")))
    headlines = []
    unheard = {"content": None, "outcome": "defaulted", "fault": "unparseable"}
    for judge in [seat.name for seat in opened(game).seats]:
        alone = tuple(
            line._replace(event=line.event.model_copy(update=unheard))
            if isinstance(line.event, AnsweredAssessOther) and line.event.seat != judge
            else line
            for line in game
        )
        headlines.append(page_of(alone, EVERYTHING)["story"]["headline"])
    assert any(
        re.search("; the only one who had to find out (doubts|believes) it, (and|yet) ", line) for line in headlines
    )
    assert not any(re.search(r"\b1 who had", line) for line in headlines)


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

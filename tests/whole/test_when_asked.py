"""When labels and judgements are asked for: with the words, afterwards, when the game is over, or never."""

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wolfbus
from analytics.compare import compare, render
from analytics.gather import GameFold
from analytics.tables import Tables
from moderator.engine.reexecution import Verifier
from tests.analytics.script import measured, tables_of
from tests.llm.whole.playing import obliging, played, scripted
from wolfbus.agent import Agent
from wolfbus.cli import run
from wolfbus.errors import ConfigError
from wolfbus.game.config import GameConfig
from wolfbus.messages.content import Label, Speech

ASSESSMENTS = ("assess_own", "assess_other")


@cache
def game(seed: int = 7, players: str = "scripted*8", **rules: Any) -> wolfbus.PlayedGame:
    return wolfbus.play(players, seed=seed, config=GameConfig(**rules))


def answers(of_game: wolfbus.PlayedGame, *kinds: str) -> list[Any]:
    events = [recorded.event for recorded in of_game.events]
    return [event for event in events if event.type == "answered" and event.kind in kinds]


def rows_of(of_game: wolfbus.PlayedGame) -> Any:
    fold = GameFold()
    for recorded in of_game.events:
        fold.take(recorded)
    return fold.rows()


def check_by_rules(of_game: wolfbus.PlayedGame) -> None:
    """Check that the rules make the same game of its answers."""
    verifier = Verifier()
    for recorded in of_game.events:
        verifier.feed(recorded)


@pytest.mark.parametrize(
    ("rules", "along", "afterwards"),
    [({}, 0, 21), ({"label": "after"}, 0, 21), ({"label": "with"}, 21, 0), ({"label": "both"}, 21, 21)],
)
def test_a_label_comes_with_the_words_or_afterwards_or_both_times(rules, along, afterwards):
    labelled = game(**rules)
    own = [answer.content.label for answer in answers(labelled, "speak", "vote")]
    assert sum(label is not None for label in own) == along
    assert len(answers(labelled, "assess_own")) == afterwards
    statements = rows_of(labelled).statements
    assert sum(row.intended is not None for row in statements) == along
    assert sum(row.admitted is not None for row in statements) == afterwards
    assert all(row.d is (row.admitted if afterwards else row.intended) for row in statements)
    check_by_rules(labelled)


def test_the_compact_protocol_asks_with_the_words():
    statements = rows_of(game(protocol="compact")).statements
    assert all(row.admitted is None and row.intended is not None for row in statements)
    assert (GameConfig().label_asked, GameConfig(protocol="compact").label_asked) == ("after", "with")


def test_a_label_that_nobody_asked_for_is_left_out():
    seats = [*["scripted"] * 7, Confessor]
    assert all(
        answer.content.label is None for answer in answers(wolfbus.play(seats, seed=7), "speak") if answer.content
    )


def test_what_is_asked_when_the_game_is_over_changes_nothing_of_it():
    """The placebo: with the same seeds the games are those in which nobody is asked."""
    for seed in range(5):
        asked, never = (game(seed, assess=assess) for assess in ("after", "none"))
        same = [
            [recorded.event for recorded in one.events if recorded.event.type != "opened"] for one in (asked, never)
        ]
        during = [event for event in same[0] if not _is_assessment(event)]
        assert during[:-1] == same[1][:-1]
        assert not answers(never, *ASSESSMENTS)
        assert len(answers(asked, "assess_own")) == len(rows_of(never).statements)


def _is_assessment(event: Any) -> bool:
    return (event.type == "asked" and event.about is not None) or (
        event.type == "answered" and event.kind in ASSESSMENTS
    )


def test_a_seat_is_asked_afterwards_by_what_it_knew_when_the_statement_was_made():
    """What it says is what it says at once where nothing of it comes back, and so is all that is measured of it."""
    for seed in range(4):
        live, after = rows_of(game(seed, feedback=False)), rows_of(game(seed, assess="after"))
        check_by_rules(game(seed, assess="after"))
        alike = [
            [replace(row, game="", reading=None) for row in sorted(rows, key=lambda row: (row.statement, row.observer))]
            for rows in (live.judgements, after.judgements)
        ]
        assert alike[0] == alike[1]
        assert [row.d for row in live.statements] == [row.d for row in after.statements]
        assert (live.suspicion, live.by_round) == (after.suspicion, after.by_round)
        assert [row.credit for row in live.votes] == [row.credit for row in after.votes]


def test_labels_with_the_words_cannot_wait_for_the_end():
    for rules in ({"label": "with"}, {"label": "both"}, {"protocol": "compact"}):
        with pytest.raises(ValueError, match="no label is asked in a game"):
            GameConfig(assess="after", **rules)
    assert GameConfig(assess="after", label="after", protocol="compact").label_asked == "after"


class Confessor(Agent):
    """Means to deceive with every word, and admits every fourth of them."""

    quick = True

    def bid(self, ask, view):
        return 5

    def speak(self, ask, view):
        return Speech(text=f"I trust everybody, turn {ask.turn}.", label=Label(deceptive=True, confidence=1.0))

    def assess_own(self, ask, view):
        return {"deceptive": ask.about % 4 == 0, "confidence": 1.0}

    def assess_other(self, ask, view):
        return {"deceptive": False, "suspicion": 0.5, "confidence": 1.0}

    def vote(self, ask, view):
        return None

    def choose(self, ask, view):
        return ask.legal[0]

    def whisper(self, ask, view):
        return ask.legal[0]


class Talkative(Confessor):
    """Says more once it was asked what it thinks."""

    def __init__(self):
        self.asked = 0

    def speak(self, ask, view):
        return "I trust everybody." + " Ask me again." * min(self.asked, 3)

    def assess_other(self, ask, view):
        self.asked += view.config.assess == "live"
        return super().assess_other(ask, view)


@cache
def studied(agent: type[Agent], assess: str = "live", label: str = "after") -> Tables:
    config = GameConfig(assess=assess, label=label, max_rounds=2, debate_turns=4)
    return tables_of(rows_of(wolfbus.play([agent] * 8, seed=seed, config=config)) for seed in range(6))


def test_the_confession_gap_is_of_what_was_intended():
    from tests.analytics.script import headlines

    gap = headlines(studied(Confessor, label="both"), "confession_gap")["confession_gap"]
    assert (gap["value"], gap["n"]) == (0.25, 6 * 8)
    assert headlines(studied(Confessor), "confession_gap")["confession_gap"]["value"] is None


def test_asking_that_changes_how_agents_play_is_told_from_asking_that_does_not():
    margins = {"statement_words": 1.0, "vote_concentration": 0.1}
    changed = compare(studied(Talkative), studied(Talkative, "after"), margins=margins)
    words = changed["metrics"]["statement_words"]
    assert words["equivalent"] is False
    assert words["difference"]["value"] < -1
    same = compare(studied(Confessor), studied(Confessor, "after"), margins={"statement_words": 1.0})
    assert same["metrics"]["statement_words"]["difference"]["value"] == 0
    told = render(changed)
    assert "were asked for as statements were made in A, when the game was over in B" in " ".join(told.split())
    assert "differs from A by less than" in " ".join(told.split())


def test_no_time_of_labels_is_told_of_games_in_which_nobody_was_asked_for_any():
    asked, unasked = studied(Confessor, label="with"), studied(Confessor, "none")
    told = " ".join(render(compare(asked, unasked)).split())
    assert "labels and judgements were asked for as statements were made in A, never in B" in told
    assert "WARNING: labels were asked for" not in told
    outcomes = measured("outcomes", unasked)
    assert (outcomes["labels"]["after"], outcomes["assessments"]["none"]) == (0, 6)


@pytest.mark.parametrize(("assess", "told"), [("live", {"0", "1", "4"}), ("after", {"–"}), ("none", {"–"})])
def test_an_ending_counts_no_deceptive_words_of_whom_nobody_asked_before_the_end(assess, told, tmp_path, capsys):
    played = wolfbus.play(seed=7, config=GameConfig(assess=assess, max_rounds=2), out=tmp_path)
    assert run(["replay", str(played.record)]) == 0
    seats = re.findall(r" ([1-9])  +(\d|–)  +\d  +(?:–|\d+.%)", capsys.readouterr().out)
    assert {deceptive for _, deceptive in seats} == told


def test_equivalence_is_an_interval_within_the_margin():
    """By pairs of lengths that differ by less than two words, and a margin on either side of the interval's end."""
    one, other = studied(Confessor), studied(Talkative)
    difference = compare(one, other)["metrics"]["statement_words"]["difference"]
    reach = max(abs(difference["low"]), abs(difference["high"]))
    for factor, equivalent in ((0.99, False), (1.01, True)):
        row = compare(one, other, margins={"statement_words": reach * factor})["metrics"]["statement_words"]
        assert row["equivalent"] is equivalent


def test_a_model_labels_its_words_in_the_reply_that_holds_them(tmp_path: Path):
    with scripted(obliging):
        proof = played(tmp_path, label="both")
    said = [event for event in proof.of("answered") if event.kind in {"speak", "vote"} and event.outcome == "accepted"]
    assert all(answer.content.label is not None for answer in said if answer.kind == "speak")
    calls = Counter((call.kind, call.labels) for call in proof.of("model_call"))
    assert calls["speak", False] == 0
    assert calls["assess_own", False] == len(proof.of("statement"))


def test_a_model_that_is_asked_afterwards_is_told_no_more_than_it_knew_then(tmp_path: Path):
    prompts = []

    def script(request):
        prompts.append(request.messages[-1].content)
        return obliging(request)

    with scripted(script):
        proof = played(tmp_path, assess="after", max_rounds=2)
    statements = {event.statement: event for event in proof.of("statement")}
    late = [prompt for prompt in prompts if "The game stopped here." in prompt]
    assert len(late) == len([event for event in proof.of("answered") if event.kind in ASSESSMENTS])
    for prompt in late:
        asked = json.loads(prompt.rpartition("statement [")[2].partition("]")[0])
        heard = [number for number in statements if f"\n[{number}] " in prompt]
        allowed = [
            number
            for number, event in statements.items()
            if number <= asked or (event.phase, event.round) == ("vote", statements[asked].round)
        ]
        assert asked in heard
        assert set(heard) <= set(allowed)
    during = [prompt for prompt in prompts if prompt not in late]
    assert not any("suspicion" in prompt or "deceptive" in prompt for prompt in during)


def test_an_unknown_time_is_refused_in_one_line(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"label.*after.*with"):
        wolfbus.play("scripted", seed=1, config={"label": "sometimes"})

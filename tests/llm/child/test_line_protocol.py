"""What a child is told: all its seat knows, nothing more, and exactly what the documentation says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from players.program.protocol import ask_line, bye_line, hello_line
from tests.players.table import CONFIGS, play
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, read
from wolfbus.view import SeatView
from wolfbus.vocabulary import KINDS

DOCUMENT = (Path(__file__).parents[3] / "docs" / "line-protocol.md").read_text(encoding="utf-8")
EXAMPLES = {kind: json.loads(text) for kind, text in re.findall(r"```json (\w+)\n(.*?)```", DOCUMENT, re.DOTALL)}


def asked(name: str, seed: str = "lines") -> list[tuple[Ask, SeatView, dict[str, Any]]]:
    """Return every request of a game, with what was known and what a child would read."""
    found: list[tuple[Ask, SeatView, dict[str, Any]]] = []

    def watch(ask: Ask, view: SeatView, _answer: object) -> None:
        line = ask_line(ask, view)
        assert line.isascii()
        assert line.count(b"\n") == 1
        found.append((ask, view, json.loads(line)))

    play(seed, CONFIGS[name], watch=watch)
    return found


@pytest.mark.parametrize("name", ["paper", "big", "odd names"])
def test_every_request_holds_what_its_seat_knows(name):
    for ask, view, line in asked(name):
        assert list(line)[:4] == ["v", "type", "id", "kind"]
        assert (line["v"], line["type"], line["id"], line["kind"]) == (1, "ask", ask.id, ask.kind)
        assert line.get("about") == ask.about
        assert line.get("legal") == (None if ask.legal is None else list(ask.legal))
        assert line["you"]["role"] == view.role
        assert [each["number"] for each in line["statements"]] == list(range(1, len(line["statements"]) + 1))
        assert set(line["living"]) | {each["seat"] for each in line["dead"]} == set(line["names"])
        if ask.about is not None:
            assert line["statements"][ask.about - 1]["text"] == view.statements[ask.about].text


def test_what_a_seat_learned_and_did_is_in_its_later_requests():
    games = [asked("paper", seed) for seed in ("1", "2")] + [asked("small")]
    assert {ask.kind for game in games for ask, _, _ in game} == set(KINDS)
    last = {(place, view.me): line for place, game in enumerate(games) for _, view, line in game}
    by_role: dict[str, list[Any]] = {}
    for line in last.values():
        by_role.setdefault(line["you"]["role"], []).append(line["you"])
    assert any(you["inspections"] for you in by_role["Seer"])
    assert {act["kind"] for you in by_role["Doctor"] for act in you["acts"]} == {"protect"}
    assert any(you["whispers"] for you in by_role["Werewolf"])
    assert any(you["partners"] for you in by_role["Werewolf"])
    assert not any(you["partners"] for role, told in by_role.items() if role != "Werewolf" for you in told)
    assert any(line["votes"] and "exiled" in line["votes"][0] for line in last.values())
    for line in last.values():
        assert len(line["you"]["suspicion"]) == len(line["names"]) - 1
        assert line["you"]["judgements"] or not line["statements"]


def test_a_game_that_ended_is_told_in_the_bye():
    played = play("lines", CONFIGS["paper"])
    view = next(iter(played.views.values()))
    bye = json.loads(bye_line(view))
    assert bye["winner"] == played.ended.winner
    assert bye["you_won"] == ((view.role == "Werewolf") == (played.ended.winner == "werewolves"))
    assert bye["roles"] == {name: each.role for name, each in played.views.items()}
    for name, each in played.views.items():
        died = json.loads(bye_line(each))["you_died"]
        assert (died is not None) == (name in view.dead)
        assert died is None or died["how"] == view.dead[name]
    assert json.loads(bye_line(SeatView(me="Ada"))) == {"v": 1, "type": "bye"}
    assert json.loads(bye_line(None)) == {"v": 1, "type": "bye"}


def shape(value: Any) -> Any:
    """Return the members of objects, in order; of maps by name or role only that they are maps."""
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else list
    if isinstance(value, dict):
        if value.keys() & {"Ada", "Bruno", "Villager"} or not value:
            return dict
        return {name: shape(item) for name, item in value.items()}
    return "word"


def test_the_documented_lines_are_the_lines_that_are_sent():
    view = play("lines", CONFIGS["paper"]).views
    assert shape(json.loads(hello_line(next(iter(view.values()))))) == shape(EXAMPLES["hello"])
    assert EXAMPLES["bye"].keys() == json.loads(bye_line(next(iter(view.values())))).keys()
    documented = shape(EXAMPLES["ask"])
    for ask, _, line in asked("odd names"):
        if ask.kind != "assess_other":
            continue
        assert list(line) == list(documented)
        assert list(line["you"]) == list(documented["you"])
        for name in ("dead", "statements", "silences", "nights", "votes"):
            for each in line[name]:
                assert list(each) == list(EXAMPLES["ask"][name][0])[: len(each)]
        for name in ("acts", "labels", "judgements", "thoughts"):
            for each in line["you"][name]:
                assert set(each) - {"about"} <= set(EXAMPLES["ask"]["you"][name][0])


def test_the_documented_members_of_version_1_are_all_still_there():
    # a program written for the first release reads these; the list only grows
    assert list(EXAMPLES["ask"]) == [
        "v", "type", "id", "kind", "round", "phase", "turn", "about", "deadline_s", "seat", "you", "names", "living",
        "dead", "statements", "silences", "nights", "votes", "rules",
    ]  # fmt: skip
    assert list(EXAMPLES["bye"])[:6] == ["v", "type", "winner", "reason", "rounds", "you_won"]
    assert list(EXAMPLES["hello"]) == ["v", "type", "seat", "role", "partners", "names", "seed", "rules", "rules_text"]


def test_the_documented_replies_are_read_as_clean():
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `(\{.*?\})` \|", DOCUMENT, re.MULTILINE)
    replies = {kind: reply for kinds, reply in rows for kind in re.findall(r"\w+", kinds)}
    assert set(replies) == set(KINDS)
    for kind, reply in replies.items():
        found = read(reply[:-1] + ', "id": "x", "thought": "hm"}', Question(kind, names=["Gwen"], legal=["Gwen", None]))
        assert (found.reading, found.thought) == ("clean", "hm"), kind

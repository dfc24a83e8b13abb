"""Whole games with children in some seats, good ones and bad ones: finished, proved, and nobody left behind."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.agents.parts import NAMES
from tests.golden.running import wolfbus
from tests.players.table import CONFIGS
from tests.proving import Proof
from tests.whole.house import HASTY, play_many
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.game.vocabulary import KINDS
from wolfbus.reading import Question, read

from .conftest import command, farewells_said

DOCUMENT = (Path(__file__).parents[3] / "docs" / "line-protocol.md").read_text(encoding="utf-8")
EXAMPLES = {kind: json.loads(text) for kind, text in re.findall(r"```json (\w+)\n(.*?)```", DOCUMENT, re.DOTALL)}

BAD = {
    "crashes": "next(asks()); sys.exit(3)",
    "says one thing to everything": "for each in asks(): say(bid=3, text='So?', target='Nobody At All')",
    "answers twice": """
        for each in asks():
            line = json.dumps({"id": each["id"], "bid": 2, "text": "Twice."}) + "\\n"
            os.write(1, line.encode() * 2)
    """,
    "closes its output": "next(asks()); os.close(1); signal.pause()",
    "will not leave": """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0: signal.pause()
        for each in asks(): say(id=each["id"], bid=1)
        while True: signal.pause()
    """,
}
SILENT = {
    "hangs": "signal.pause()",
    "babbles": "for each in asks(): print('Hmm ...', flush=True)",
    "answers the one before": """
        before = None
        for each in asks():
            if before: say(id=before, bid=1, text="Late.")
            before = each["id"]
    """,
    "is binary": "for each in asks(): os.write(1, os.urandom(300) + b'\\n')",
}


BRIEF = HASTY.model_copy(update={"deadlines": Deadlines(**dict.fromkeys(Deadlines.model_fields, 1.0))})
"""Deadlines that a test can wait for and that our own players keep on a busy machine."""


def answers(proof: Proof, *brains: str) -> list[Any]:
    """What seats with these brains answered."""
    assert proof.verified, proof.problems
    seats = {seat.name for seat in proof.records[0].event.seats if not brains or seat.brain in brains}
    return [event for event in proof.of("answered") if event.seat in seats]


@pytest.mark.parametrize("children", [BAD, SILENT])
def test_bad_children_cost_their_own_seats_and_nobody_else(tmp_path, children):
    config = (BRIEF if children is SILENT else GameConfig()).model_copy(update={"max_rounds": 2, "debate_turns": 3})
    specs = ["exec:" + command(tmp_path, code, name.replace(" ", "_")) for name, code in children.items()]
    (proof,) = play_many(tmp_path, [5], (*specs, *("scripted",) * (8 - len(specs))), config)
    assert {event.outcome for event in answers(proof, "scripted")} == {"accepted"}
    for spec in specs:
        missing = [event for event in answers(proof, spec) if event.outcome != "accepted"]
        assert missing, spec
        assert all(event.note or event.outcome == "timed_out" for event in missing)


CHATTY = """
    print("Agent 7 of 9, version 2", flush=True)
    for each in asks():
        print("thinking...", flush=True)
        say(id=each["id"], bid=each["turn"], text="So it is.", target=(each.get("legal") or [None])[0],
            deceptive=False, confidence=0.5, suspicion=0.5)
        print("done: [1, 2]", flush=True)
"""


def test_an_agent_that_also_chats_loses_no_answer_of_a_game(tmp_path, caplog):
    spec = "exec:" + command(tmp_path, CHATTY)
    (proof,) = play_many(tmp_path, [5], (spec, *("scripted",) * 7), GameConfig(max_rounds=2))
    answered = answers(proof, spec)
    assert len(answered) > 10
    assert {event.outcome for event in answered} == {"accepted"}
    assert all(any(words in event.note for words in ("thinking...", "Agent 7", "done")) for event in answered)
    (warning,) = [record.getMessage() for record in caplog.records if "no answer" in record.getMessage()]
    assert ": exec:" in warning
    assert 'printed "Agent 7 of 9, version 2", which is no answer' in warning


def test_the_command_line_seats_a_child_and_keeps_its_error_output(tmp_path):
    child = command(tmp_path, "for each in asks(): sys.stderr.write(each['kind'] + '\\n'); say(id=each['id'], bid=1)")
    words = ["--players", f"exec:{child}*1,scripted*7", "--seed", "1", "--game", "g", "--out", str(tmp_path)]
    result = wolfbus(tmp_path, "play", *words, "--quiet")
    assert result.code == 0, result.err
    (file,) = (tmp_path / "g.stderr").glob("*.stderr")
    assert "bid" in file.read_text().splitlines()


@pytest.mark.parametrize(("more", "code"), [((), 1), (("--give-up", "0"), 4)])
def test_programs_that_never_answer_end_their_game_unless_it_shall_be_played_on_and_then_it_is_spoilt(
    tmp_path, more, code
):
    config = tmp_path / "rules.toml"
    config.write_text("max_rounds = 2\n")
    words = ["--players", "exec:false", "--seed", "1", "--game", "g", "--out", ".", "--config", str(config), *more]
    result = wolfbus(tmp_path, "play", *words, "--quiet")
    last = json.loads((tmp_path / "g.ndjson").read_text().splitlines()[-1])
    assert (result.code, last["type"]) == (code, "ended" if more else "stopped")
    if more:
        assert "the game is spoilt: too many answers of" in result.out
    else:
        (reason,) = [line for line in result.err.splitlines() if "given up" in line]
        assert reason == f"wolfbus: {last['reason']}"
        assert reason.startswith(
            "wolfbus: exec:false is given up: 30 replies in a row could not be had or read, and none before (the last: "
            "`false` exited with code 1"
        )


def test_a_program_whose_votes_are_all_illegal_is_named_with_the_kind_of_answer_that_it_never_gave(tmp_path):
    child = command(
        tmp_path,
        """
        for each in asks():
            stranger = each["kind"] == "vote"
            say(id=each["id"], bid=each["turn"], text="So it is.", deceptive=False, confidence=0.5, suspicion=0.5,
                target="Zed" if stranger else (each.get("legal") or [None])[0], word="you")
    """,
    )
    words = ["--players", f"exec:{child}*1,scripted*7", "--seed", "1", "--game", "g", "--out", ".", "--quiet"]
    result = wolfbus(tmp_path, "play", *words)
    assert result.code == 0, result.err
    votes = [
        event
        for event in map(json.loads, (tmp_path / "g.ndjson").read_text().splitlines())
        if event["type"] == "answered" and event["kind"] == "vote" and event.get("outcome") == "defaulted"
    ]
    seat = votes[0]["seat"]
    assert f"none of {len(votes)} votes asked of {seat} could be used" in result.out
    report = wolfbus(tmp_path, "report", "g.ndjson", "--no-cache")
    assert report.code == 0, report.err
    assert re.search(rf"none of {len(votes)} votes asked of exec:.+ could be used", report.out)


LISTENER = """
    with open(os.path.join(sys.argv[1], str(os.getpid())), "w") as heard:
        for line in sys.stdin:
            heard.write(line)
            heard.flush()
            each = json.loads(line)
            if each["type"] == "ask":
                others = [name for name in each.get("legal") or [] if name]
                say(id=each["id"], bid=each["turn"], text="I am " + each["seat"], target=(others or [None])[0],
                    word="you", deceptive=False, confidence=0.9, suspicion=0.25, kind="none", reasoning="so",
                    reason="why", thought="hm")
"""
ROLES = ("Villager", "Werewolf", "Villager", "Seer", "Doctor", "Werewolf", "Villager", "Villager")


@pytest.fixture(scope="module", params=["paper", "odd names"])
def listened(request, tmp_path_factory):
    """A game with a child in every seat: what each was told, and the proof of the record."""
    folder = tmp_path_factory.mktemp("listened")
    (folder / "heard").mkdir()
    config = CONFIGS[request.param].model_copy(update={"max_rounds": 8, "debate_turns": 2})
    names = config.names or NAMES
    config = config.model_copy(
        update={"names": names, "roles": dict(zip(names, ROLES, strict=True)), "reveal_on_death": "role"}
    )
    (proof,) = play_many(folder, [2], (f"exec:{command(folder, LISTENER)} {folder / 'heard'}",) * 8, config)
    # a child has heard all only when it is gone
    farewells_said()
    logs = [[json.loads(line) for line in path.read_text().splitlines()] for path in (folder / "heard").iterdir()]
    return {lines[0]["seat"]: lines for lines in logs}, proof


def of_type(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def test_every_request_holds_what_its_seat_knows(listened):
    lines_of, proof = listened
    events = [recorded.event for recorded in proof.records]
    texts = {event.statement: event.text for event in events if event.type == "statement"}
    roles = {seat.name: seat.role for seat in proof.records[0].event.seats}
    assert {line["kind"] for lines in lines_of.values() for line in of_type(lines, "ask")} == set(KINDS)
    for seat, lines in lines_of.items():
        for line in of_type(lines, "ask"):
            assert list(line)[:4] == ["v", "type", "id", "kind"]
            assert line["v"] == 1
            assert line["id"].endswith(f"/{line['kind']}/{seat}" + (f"/{line['about']}" if "about" in line else ""))
            assert (line["you"]["role"], line["seat"]) == (roles[seat], seat)
            statements = {statement["number"]: statement["text"] for statement in line["statements"]}
            assert list(statements) == list(range(1, len(line["statements"]) + 1))
            assert all(text == texts[number] for number, text in statements.items())
            assert {*line["living"]} | {player["seat"] for player in line["dead"]} == set(line["names"])
            assert len(line["you"]["suspicion"]) == len(line["names"]) - 1
            assert ("legal" in line) == (line["kind"] in {"vote", "kill", "protect", "inspect", "whisper"})


def test_what_a_seat_learned_and_did_is_in_its_later_requests(listened):
    lines_of, _ = listened
    last = [of_type(lines, "ask")[-1] for lines in lines_of.values() if of_type(lines, "ask")]
    you = {role: [line["you"] for line in last if line["you"]["role"] == role] for role in ROLES}
    assert any(seer["inspections"] for seer in you["Seer"])
    assert {act["kind"] for doctor in you["Doctor"] for act in doctor["acts"]} == {"protect"}
    assert any(wolf["whispers"] for wolf in you["Werewolf"])
    assert all(bool(seat["partners"]) == (role == "Werewolf") for role, seats in you.items() for seat in seats)
    assert any(line["votes"] and "exiled" in line["votes"][0] for line in last)
    assert all(line["you"]["judgements"] for line in last if len(line["statements"]) > 1)


def test_a_game_that_ended_is_told_in_the_bye(listened):
    lines_of, proof = listened
    events = [recorded.event for recorded in proof.records]
    ended = next(event for event in events if event.type == "ended")
    roles = {seat.name: seat.role for seat in events[0].seats}
    dead = {event.died: "night" for event in events if event.type == "dawn"}
    dead |= {event.seat: "exile" for event in events if event.type == "exile"}
    for seat, lines in lines_of.items():
        (bye,) = of_type(lines, "bye")
        assert lines[-1] == bye
        assert (bye["winner"], bye["roles"]) == (ended.winner, roles)
        assert bye["you_won"] == (ended.winner == ("werewolves" if roles[seat] == "Werewolf" else "villagers"))
        assert (bye["you_died"] or {"how": None})["how"] == dead.get(seat)


def shape(value: Any) -> Any:
    """Return the members of objects, in order; of maps by name or role only that they are maps."""
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else list
    if isinstance(value, dict):
        if value.keys() & {*NAMES, "I", "Villager"} or not value:
            return dict
        return {name: shape(item) for name, item in value.items()}
    return "word"


def test_the_documented_lines_are_the_lines_that_are_sent(listened):
    documented = EXAMPLES["ask"]
    for lines in listened[0].values():
        assert shape(lines[0]) == shape(EXAMPLES["hello"])
        assert EXAMPLES["bye"].keys() == lines[-1].keys()
        for line in [line for line in of_type(lines, "ask") if line["kind"] == "assess_other"]:
            assert (list(line), list(line["you"])) == (list(documented), list(documented["you"]))
            for name in ("dead", "statements", "silences", "nights", "votes"):
                members = list(documented[name][0])
                # where the rules reveal it, a role stands behind them
                assert all(list(item)[: len(members)] == members[: len(item)] for item in line[name])
            for name in ("acts", "labels", "judgements", "thoughts"):
                assert all(set(item) - {"about"} <= set(documented["you"][name][0]) for item in line["you"][name])


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
        result = read(
            reply[:-1] + ', "id": "x", "thought": "hm"}', Question(kind, names=["Gwen"], legal=["Gwen", None])
        )
        assert (result.reading, result.thought) == ("clean", "hm"), kind

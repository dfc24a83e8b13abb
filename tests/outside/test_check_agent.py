"""A trial finds nothing in an agent that plays by the protocol, and names each fault of those that do not."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import threading
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from moderator.check import Finding, Trial, TrialTerms
from tests.llm.tables import tables
from tests.outside.bare_agent import BareAgent
from tests.outside.smallest_agent import SmallestAgent
from wolfbus.bus import open_bus
from wolfbus.cli import cli
from wolfbus.errors import HouseHeld

TABLES = tables(__file__)

PATIENT = TrialTerms(join_s=10, deadline_s=5, tight_s=2, again_s=0.4, settle_s=0.05)
ONE_BID = {"type": "reply", "kind": "bid", "content": {"bid": 1}}
HASTY = TrialTerms(join_s=10, deadline_s=0.6, tight_s=0.3, again_s=0.2, settle_s=0.05)


@contextlib.contextmanager
def running(agent: BareAgent | SmallestAgent) -> Iterator[None]:
    thread = threading.Thread(target=agent.run)
    thread.start()
    try:
        yield
    finally:
        if isinstance(agent, BareAgent):
            agent.stop.set()
        # the smallest leaves at the goodbye, and needs nothing to stop it
        thread.join(10)
    assert not thread.is_alive()


def tried(agent: BareAgent | SmallestAgent, url: str, terms: TrialTerms) -> dict[str, Finding]:
    with contextlib.closing(open_bus(url)) as bus, running(agent):
        return {finding.check: finding for finding in Trial(bus, agent.house, None, terms).run()}


def sorts(finding: Finding) -> set[str]:
    return {fault.partition(":")[0].partition(" (x")[0] for fault in finding.faults}


def test_a_good_agent_passes_every_check(redis_url: str) -> None:
    agent = BareAgent(redis_url, "check", "good")
    found = tried(agent, redis_url, PATIENT)
    assert {check: finding.faults for check, finding in found.items() if finding.verdict != "ok"} == {}
    assert len(found) == 37
    assert len(agent.ended) == 25
    assert not agent.faults
    assert agent.starts == 2  # once for the facts that were kept from it
    with contextlib.closing(open_bus(redis_url)) as bus:
        assert bus.owner("check").left_s == 0
        assert bus.length("wolf:{check}:in:good") <= 1


def test_the_smallest_agent_of_the_document_earns_no_warning(redis_url: str) -> None:
    agent = SmallestAgent(redis_url, "check", "tiny")
    found = tried(agent, redis_url, PATIENT)
    assert {check: finding.faults for check, finding in found.items() if finding.verdict != "ok"} == {}
    assert len(found) == 37
    assert not agent.games


class Clumsy(BareAgent):
    """Every kind of answer has a fault of its own."""

    def answer(self, name, seat, ask, game):
        kind, content = ask["kind"], self.content(seat, ask, game)
        reply = {"type": "reply", "kind": kind, "game": name, "request": ask["id"], "seat": seat, "content": content}
        if kind == "bid":
            reply["content"] = {"bid": 3.0}
        elif kind == "speak":
            reply["kind"] = "bid"
        elif kind == "vote":
            reply["content"] = {"target": "Somebody"}
        elif kind == "inspect":
            self.send({**reply, "seat": "Somebody"}, name)
        elif kind == "protect":
            self.send({**reply, "thought": "x" * 70_000}, name)
        elif kind == "whisper":
            self.sent += 1
            fields = {"type": "reply", "from": self.name, "game": name, "n": self.sent, "body": b"\xc1"}
            self.write(fields, f"{self.incarnation}-{self.sent}")
        elif kind == "kill":
            self.stop.wait(HASTY.deadline_s * 1.2)
        elif kind == "assess_own":
            reply["reading"] = "repaired"
        self.send(reply, name)


def test_a_fault_of_every_kind_is_named(redis_url: str) -> None:
    found = tried(Clumsy(redis_url, "check", "clumsy"), redis_url, HASTY)
    named = {check.removeprefix("kind "): sorts(found[check]) for check in found if check.startswith("kind ")}
    assert named == {
        "bid": {"malformed answer"},
        "speak": {"wrong kind"},
        "assess_own": {"not clean"},
        "assess_other": set(),
        "vote": {"illegal answer"},
        "kill": {"late"},
        "protect": set(),
        "inspect": {"wrong seat or sender"},
        "whisper": set(),
    }
    # what cannot be read belongs to no request that it names
    assert "oversize" in sorts(found["game 5, as Doctor among odd names"])
    assert "malformed message" in sorts(found["game 2, as Werewolf with a partner"])
    assert found["kind assess_own"].verdict == "warn"
    assert found["kind vote"].verdict == "fail"
    (said,) = found["kind vote"].faults
    assert "'Somebody' is no legal answer here (asked for a vote as Villager)" in said


class Rude(BareAgent):
    """Answers twice, goes on after the end, answers what was never asked, puts the wrong game beside a reply, and holds
    on to what it heard before a catch-up.
    """

    def forget(self, name):
        pass

    def answer(self, name, seat, ask, game):
        super().answer(name, seat, ask, game)
        reply = {**ONE_BID, "game": name, "request": ask["id"], "seat": seat}
        if ask["kind"] == "vote":
            self.send({**reply, "kind": "vote"}, name)
        elif ask["kind"] == "inspect":
            self.send({**reply, "request": f"{name}/9/night/9/inspect/{seat}"}, name)
        elif ask["kind"] == "whisper":
            self.send(reply, f"{name}x")

    def game_over(self, name):
        super().game_over(name)
        self.send({**ONE_BID, "game": name, "request": f"{name}/2/debate/1/bid/Ada", "seat": "Ada"}, name)


def test_what_was_not_asked_for_is_named(redis_url: str) -> None:
    found = tried(Rude(redis_url, "check", "rude"), redis_url, HASTY)
    assert sorts(found["game over"]) == {"after game over"}
    assert sorts(found["kind vote"]) == {"answered twice"}
    assert found["kind vote"].verdict == "warn"
    assert "holds on to what was lost" in sorts(found["catch-up after a loss of data"])
    assert "unknown request" in sorts(found["game 4, as Seer, two rounds"])
    assert "entry fields" in sorts(found["game 2, as Werewolf with a partner"])


class Deaf(BareAgent):
    """Says join once, does not hear the roll call, notices no gap, lets Redis choose ids, and does not go."""

    def join(self):
        if self.sent == 0:
            super().join()

    def introduction(self):
        return {key: value for key, value in super().introduction().items() if key != "seen"}

    def write(self, fields, entry_id):
        self.redis.xadd(self.outbox, fields, "*")

    @staticmethod
    def add(known, news):
        known += [each["fact"] for each in news if each["n"] > len(known)]
        return True


def test_an_agent_that_is_not_there_as_it_should_be_is_told(redis_url: str) -> None:
    found = tried(Deaf(redis_url, "check", "deaf"), redis_url, HASTY)
    assert sorts(found["roll call"]) == {"roll call not answered"}
    assert sorts(found["heartbeats"]) == {"heartbeat missing"}
    assert "gap not noticed" in sorts(found["missing facts"])
    assert sorts(found["ids on its stream"]) == {"ids"}
    assert found["ids on its stream"].verdict == "warn"


class Strict(BareAgent):
    """Drops a delivery that has a member it does not know, wherever it stands."""

    def introduction(self):
        return {**super().introduction(), "declines": ["inspect"]}

    def take(self, message):
        if "not_known_yet" not in str(message):
            super().take(message)


def test_an_agent_that_refuses_members_it_does_not_know_is_told(redis_url: str) -> None:
    found = tried(Strict(redis_url, "check", "strict"), redis_url, HASTY)
    assert [check for check, finding in found.items() if finding.verdict == "fail"] == [
        "unknown members",
        "kind assess_other",
    ]
    assert sorts(found["unknown members"]) == {"no answer"}


def test_a_house_with_a_moderator_is_left_alone(redis_url: str) -> None:
    bus = open_bus(redis_url)
    bus.claim("check", "a-moderator", 30)
    with pytest.raises(HouseHeld):
        Trial(bus, "check").run()
    bus.close()


def test_the_command_tries_a_program_that_speaks_lines(tmp_path) -> None:
    program = tmp_path / "agent.sh"
    program.write_text(
        "while IFS= read -r line; do\n"
        """  id=$(printf '%s' "$line" | sed -n 's/.*"type":"ask","id":"\\([^"]*\\)".*/\\1/p')\n"""
        """  [ -n "$id" ] && printf '{"id":"%s","bid":1,"text":"Well.","target":null,"deceptive":false,"""
        """"suspicion":0.1,"confidence":1}\\n' "$id"\n"""
        "done\n"
    )
    result = CliRunner().invoke(cli, ["check-agent", "--json", "--", "sh", str(program)], standalone_mode=False)
    assert result.return_value == 1
    found = {each["check"]: each for each in json.loads(result.stdout)["findings"]}
    assert found["kind bid"]["verdict"] == found["kind vote"]["verdict"] == found["hostile words"]["verdict"] == "ok"
    assert "illegal answer" in found["kind kill"]["faults"][0]
    assert '"target" must name a player' in found["kind kill"]["faults"][0]


SLOPPY = """
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] != "ask":
        continue
    kind, named = ask["kind"], [name for name in ask.get("legal", []) if name]
    reply = {
        "bid": {"bid": "3"},
        "speak": {"text": ["Good", "morning."]},
        "assess_own": {"deceptive": "no", "confidence": "90%"},
        "assess_other": {"deceptive": False, "suspicion": 0.2, "confidence": 1, "reasoning": None},
        "vote": {"choice": named[0] if named else None},
        "kill": {"target": "Nobody at all"},
    }.get(kind, {"target": named[0] if named else None})
    text = json.dumps({"id": ask["id"], **reply})
    print({"inspect": "Sure! " + text, "whisper": text[:-1]}.get(kind, text), flush=True)
"""


def test_the_command_says_which_reply_had_to_be_repaired_which_member_and_what_was_read(tmp_path) -> None:
    program = tmp_path / "sloppy.py"
    program.write_text(SLOPPY)
    words = ["check-agent", "--json", "--deadline", "5", "--", sys.executable, "-IS", str(program)]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    found = {each["check"]: each["faults"] for each in json.loads(result.stdout)["findings"]}
    for kind, said in {
        "bid": r'/bid/\w+: it had to be coerced: "bid": "3" was read as 3 \(asked for a bid as Villager\)$',
        "speak": r'/speak/\w+: .*"text": \["Good", "morning\."\] was read as "Good\\nmorning\."',
        "assess_own": r'"deceptive": "no" was read as false, "confidence": "90%" was read as 0\.9',
        "assess_other": r'coerced: "reasoning": null was read as "" \(asked',
        "vote": r'"target" is not there \(but "choice"\): "\w+" was taken for it',
        "inspect": r'taken out of what stood around it: `Sure! \{.*\}` was read as \{"target": "\w+"\}',
        "whisper": r'repaired as JSON: `\{"id": .*` was read as \{"target": "\w+"',
    }.items():
        (line,) = [each for each in found[f"kind {kind}"] if re.search(said, each)]
        assert re.match(r"not clean( \(x\d+, first\))?: check-\w+-\d+/", line)
    (line,) = found["kind kill"]
    assert '"target" "Nobody at all" is no legal answer' in line
    assert '; it wrote `{"id": ' in line


def test_the_command_says_when_the_agents_process_ends_before_it_joined(redis_url: str) -> None:
    words = ["check-agent", "--bus", redis_url, "--", "false", "{bus}"]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert result.return_value == 1
    assert "FAIL  joins\n        not joined: `false '{bus}'` exited with code 1\n" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    TABLES["what_cannot_be_tried_is_said_in_one_line"],
)
def test_what_cannot_be_tried_is_said_in_one_line(words: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["check-agent", *words], standalone_mode=False)
    assert said in str(result.exception) + result.output

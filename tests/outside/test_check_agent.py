"""A trial finds nothing in an agent that plays by the protocol, and names each fault of those that do not."""

import contextlib
import json
import re
import sys
import threading
import time

import msgpack
import pytest
from click.testing import CliRunner

from moderator.check import Finding, TrialTerms, try_agent
from tests.outside.smallest_agent import SmallestAgent, content
from wolfbus.bus import open_bus
from wolfbus.cli import cli
from wolfbus.errors import HouseHeld

PATIENT = TrialTerms(join_s=10, deadline_s=5, tight_s=2, again_s=0.4, settle_s=0.05)
ONE_BID = {"type": "reply", "kind": "bid", "content": {"bid": 1}}
HASTY = TrialTerms(join_s=10, deadline_s=0.6, tight_s=0.3, again_s=0.2, settle_s=0.05)


def tried(agent: SmallestAgent, url: str, terms: TrialTerms) -> dict[str, Finding]:
    """Try an agent in a thread of its own, which leaves at the goodbye, and needs nothing to stop it."""
    thread = threading.Thread(target=agent.run, daemon=True)
    thread.start()
    with contextlib.closing(open_bus(url)) as bus:
        findings = try_agent(bus, agent.house, None, terms)
    thread.join(60)
    assert not thread.is_alive()
    return {finding.check: finding for finding in findings}


def sorts(finding: Finding) -> set[str]:
    return {fault.partition(":")[0].partition(" (x")[0] for fault in finding.fault_lines}


def test_the_smallest_agent_of_the_document_earns_no_warning_and_the_trial_leaves_nothing_behind(redis_url: str):
    agent = SmallestAgent(redis_url, "check", "tiny")
    findings = tried(agent, redis_url, PATIENT)
    assert {check: finding.fault_lines for check, finding in findings.items() if finding.verdict != "ok"} == {}
    assert len(findings) == 32
    assert not agent.games
    with contextlib.closing(open_bus(redis_url)) as bus:
        assert bus.owner("check").left_s == 0
        assert bus.length("wolf:{check}:in:tiny") <= 1


class Clumsy(SmallestAgent):
    """Every kind of answer has a fault of its own."""

    def answer(self, game, seat, ask, facts):
        kind = ask["kind"]
        reply = {"type": "reply", "kind": kind, "request": ask["id"], "seat": seat, "content": content(ask, facts)}
        if kind == "bid":
            reply["content"] = {"bid": 3.0}
        elif kind == "speak":
            reply["kind"] = "bid"
        elif kind == "vote":
            reply["content"] = {"target": "Somebody"}
        elif kind == "inspect":
            self.say({**reply, "seat": "Somebody"}, game)
        elif kind == "protect":
            self.say({**reply, "thought": "x" * 70_000}, game)
        elif kind == "whisper":
            self.count += 1
            self.write({"type": "reply", "from": self.name, "game": game, "n": self.count, "body": b"\xc1"})
        elif kind == "kill":
            time.sleep(HASTY.deadline_s * 1.2)
        elif kind == "assess_own":
            reply["reading"] = "repaired"
        self.say(reply, game)


def test_a_fault_of_every_kind_is_named(redis_url: str) -> None:
    findings = tried(Clumsy(redis_url, "check", "clumsy"), redis_url, HASTY)
    named = {check.removeprefix("kind "): sorts(findings[check]) for check in findings if check.startswith("kind ")}
    # on a busy machine any answer may be late as well
    assert {kind: faults if kind == "kill" else faults - {"late"} for kind, faults in named.items()} == {
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
    number, unusable = re.findall(r"\d+", findings["kind bid"].seen)[:2]
    assert findings["kind bid"].seen.startswith(f"{number} answers ({unusable} unusable) as ")
    assert (number, "unusable" in findings["kind assess_other"].seen) == (unusable, False)
    # what cannot be read belongs to no request that it names
    assert "oversize" in sorts(findings["game 5, as Doctor among odd names"])
    assert "malformed message" in sorts(findings["game 2, as Werewolf with a partner"])
    assert findings["kind assess_own"].verdict == "warn"
    assert findings["kind vote"].verdict == "fail"
    (fault,) = findings["kind vote"].fault_lines
    assert "'Somebody' is no legal answer here (asked for a vote as Villager)" in fault


class Rude(SmallestAgent):
    """Answers twice, goes on after the end, answers what was never asked, and puts the wrong game beside a reply."""

    misplaced = False

    def answer(self, game, seat, ask, facts):
        super().answer(game, seat, ask, facts)
        reply = {**ONE_BID, "request": ask["id"], "seat": seat}
        if ask["kind"] == "vote":
            self.say({**reply, "kind": "vote"}, game)
        elif ask["kind"] == "inspect":
            self.say({**reply, "request": f"{game}/9/night/9/inspect/{seat}"}, game)
        elif ask["kind"] == "whisper":
            self.misplaced = True
            self.say({**reply, "game": game}, game)

    def write(self, fields):
        if self.misplaced:
            fields["game"] += "x" * 100_000
        self.misplaced = False
        super().write(fields)

    def deliver(self, message):
        super().deliver(message)
        if any(fact["fact"]["type"] == "ended" for fact in message.get("facts", ())):
            game = message["game"]
            self.say({**ONE_BID, "request": f"{game}/2/debate/1/bid/Ada", "seat": "Ada"}, game)


class Listing(SmallestAgent):
    """Sends, before each good reply, one that has a map or a list where a text belongs."""

    def answer(self, game, seat, ask, facts):
        reply = {**ONE_BID, "request": ask["id"], "seat": seat}
        for odd in ({"type": {"a": "reply"}}, {"type": ["reply"]}, {"request": {"a": 1}}, {"seat": [seat]}, {"v": {}}):
            self.count += 1
            body = msgpack.packb({"v": 1, **reply, "game": game, **odd})
            self.write({"type": "reply", "from": self.name, "game": game, "n": self.count, "body": body})
        super().answer(game, seat, ask, facts)


def test_lists_and_maps_where_texts_belong_are_named_and_end_no_trial(redis_url: str) -> None:
    findings = tried(Listing(redis_url, "check", "listing"), redis_url, PATIENT)
    named = {"malformed message", "unknown request", "wrong seat or sender", "wrong version"}
    assert named <= sorts(findings["game 1, as Villager"])
    assert findings["goodbye"].verdict == "ok"


def test_what_was_not_asked_for_is_named(redis_url: str) -> None:
    findings = tried(Rude(redis_url, "check", "rude"), redis_url, PATIENT)
    assert sorts(findings["game over"]) == {"after game over"}
    assert sorts(findings["kind vote"]) == {"answered twice"}
    assert findings["kind vote"].verdict == "warn"
    assert "unknown request" in sorts(findings["game 4, as Seer, two rounds"])
    assert "entry fields" in sorts(findings["game 2, as Werewolf with a partner"])
    assert max(len(line) for finding in findings.values() for line in finding.fault_lines) < 1_000


class Deaf(SmallestAgent):
    """Never says join once it is welcome; hears neither the roll call nor what has a member that it does not know."""

    welcome = False

    def join(self):
        self.due = time.monotonic() + self.again_s
        if not self.welcome:
            super().join()

    def hear(self, message):
        self.welcome = self.welcome or message["type"] == "welcome"
        return "to_come" in message or super().hear(message)

    def introduction(self):
        return {key: value for key, value in super().introduction().items() if key != "seen"}


def test_an_agent_that_is_not_there_as_it_should_be_is_told(redis_url: str) -> None:
    findings = tried(Deaf(redis_url, "check", "deaf"), redis_url, HASTY)
    assert sorts(findings["roll call"]) == {"roll call not answered"}
    assert sorts(findings["heartbeats"]) == {"heartbeat missing"}
    assert sorts(findings["what may come later"]) == {"no answer"}


class Unmoved(SmallestAgent):
    """Goes on with its heartbeat where the roll is called, and leaves at the first question."""

    def hear(self, message):
        if message["type"] == "delivery":
            self.say({"type": "leave", "agent": self.name, "instance": self.instance})
            return False
        going_on = message["type"] == "roll_call" or super().hear(message)
        if message["type"] == "welcome":
            self.due = time.monotonic() + self.again_s
        return going_on


def test_a_heartbeat_is_no_answer_to_the_roll_call(redis_url: str) -> None:
    (fault,) = tried(Unmoved(redis_url, "check", "unmoved"), redis_url, HASTY)["roll call"].fault_lines
    assert fault.startswith("roll call not answered: it says join no sooner than its heartbeat is due")


class Mute(SmallestAgent):
    """Answers nothing."""

    def answer(self, game, seat, ask, facts):
        pass


def test_a_kind_that_nothing_was_heard_of_is_not_called_right(redis_url: str) -> None:
    findings = tried(Mute(redis_url, "check", "mute"), redis_url, HASTY)
    assert {finding.verdict for check, finding in findings.items() if check.startswith("kind ")} == {"fail", "skip"}
    assert findings["kind assess_other"].seen == "no answer before the trial broke off"


class Ahead(SmallestAgent):
    """Says join over and over as soon as it is welcome, and leaves where the roll is called."""

    def run(self):
        self.ahead = threading.Event()
        super().run()

    def hear(self, message):
        if message["type"] == "welcome":
            for _ in range(20):
                self.join()
            self.ahead.set()
        # the roll is called for who knocked before the house was open, too
        called = message["type"] == "roll_call" and self.ahead.is_set()
        return not called and super().hear(message)


def test_a_join_from_before_the_roll_was_called_is_no_answer_to_it(redis_url: str) -> None:
    agent, seen = Ahead(redis_url, "check", "ahead"), {}

    class Enough(Exception):  # noqa: N818 - what it is
        pass

    def watch(finding: Finding) -> None:
        seen[finding.check] = finding.seen
        if finding.check == "roll call":
            raise Enough
        assert agent.ahead.wait(60)

    thread = threading.Thread(target=agent.run, daemon=True)
    thread.start()
    with contextlib.closing(open_bus(redis_url)) as bus, pytest.raises(Enough):
        try_agent(bus, "check", None, HASTY, watch)
    thread.join(60)
    assert not thread.is_alive()
    # the last of them may be read only now, but not before it was asked
    assert re.fullmatch(r"(said join after \d+ ms)?", seen["roll call"])


def test_a_house_with_a_moderator_is_left_alone(redis_url: str) -> None:
    bus = open_bus(redis_url)
    bus.claim("check", "a-moderator", 30)
    with pytest.raises(HouseHeld):
        try_agent(bus, "check")
    bus.close()


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
        "assess_own": {"deceptive": "no", "confidence": "90%", "reasoning": "I saw no wolf, and said that\\x7f."},
        "assess_other": {"deceptive": False, "suspicion": 0.2, "confidence": 1, "reasoning": None},
        "vote": {"choice": named[0] if named else None},
        "kill": {"target": "Nobody at all"},
    }.get(kind, {"target": named[0] if named else None})
    text = json.dumps({"id": ask["id"], **reply})
    shown = {
        "inspect": "Sure! " + text,
        "whisper": text[:-1],
        "protect": "thinking...\\n" + text.replace("target", "target\\0").replace("}", "\\u00a0}"),
        "speak": text + "\\n" + text,
    }
    print(shown.get(kind, text), flush=True)
"""


def test_the_command_says_which_reply_had_to_be_repaired_which_member_and_what_was_read(tmp_path) -> None:
    program = tmp_path / "sloppy.py"
    program.write_text(SLOPPY)
    words = ["check-agent", "--json", "--deadline", "5", "--", sys.executable, "-IS", str(program)]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert result.return_value == 1
    findings = json.loads(result.stdout)["findings"]
    assert {finding["check"] for finding in findings if finding["verdict"] == "ok"} > {"joins", "game over", "goodbye"}
    faults = {finding["check"]: finding["faults"] for finding in findings}
    for kind, pattern in {
        "bid": r'/bid/\w+: it had to be coerced: "bid": "3" was read as 3 \(asked for a bid as Villager\)$',
        "speak": r'/speak/\w+: .*"text": \["Good", "morning\."\] was read as "Good\\nmorning\."',
        "assess_own": r'"deceptive": "no" was read as false, "confidence": "90%" was read as 0\.9, '
        r'"reasoning": (…\S* said that)\\x7f\." was read as \1\."',
        "assess_other": r'coerced: "reasoning": null was read as "" \(asked',
        "vote": r'"target" is not there \(but "choice"\): "\w+" was taken for it',
        "inspect": r'taken out of what stood around it: `Sure! \{.*\}` was read as \{"target": "\w+"\}',
        "whisper": r'repaired as JSON: `\{"id": .*` was read as \{"target": "\w+"',
        "protect": r'repaired as JSON: `\{"id": .*"target\\x00": "\w+"\\xa0}` was read as',
    }.items():
        (line,) = [fault for fault in faults[f"kind {kind}"] if re.search(pattern, fault)]
        assert re.match(r"not clean( \(x\d+, first\))?: check-\w+-\d+/", line)
    for kind, pattern in {
        "protect": 'printed "thinking...", which is no answer',
        "assess_own": "1 line was passed over",
    }.items():
        assert any(re.match(f"not the answer alone .*{pattern}", fault) for fault in faults[f"kind {kind}"])
    (line,) = faults["kind kill"]
    assert '"target" "Nobody at all" is no legal answer' in line
    assert '; it wrote `{"id": ' in line


def test_the_command_says_when_the_agents_process_ends_before_it_joined(redis_url: str) -> None:
    words = ["check-agent", "--bus", redis_url, "--", "false", "{bus}"]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert result.return_value == 1
    assert "FAIL  joins\n        not joined: `false '{bus}'` exited with code 1\n" in result.stdout


def test_what_an_agents_process_prints_does_not_stand_among_the_findings(redis_url: str, capfd) -> None:
    words = ["check-agent", "--json", "--bus", redis_url, "--", sys.executable, "-c", "print('hello')"]
    result = CliRunner().invoke(cli, words, standalone_mode=False)
    assert json.loads(result.stdout)["failed"] == 1
    assert capfd.readouterr() == ("", "hello\n")

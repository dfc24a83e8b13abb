"""Which message closes a request, and what it counts as; which is turned away and leaves the request open."""

import json
import tomllib
from pathlib import Path
from typing import Any

import msgpack
import pytest

from moderator.engine.reexecution import GameSoFar
from moderator.rules.game import Steps
from wolfbus.bus import Entry
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.game.vocabulary import Kind, Phase, Role
from wolfbus.messages.codec import pack
from wolfbus.messages.content import Ballot, Judgement, Label, Speech
from wolfbus.messages.events import ANSWERED, AnyAnswered, Asked, Asking, Opened, Rejected, Seat

NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
ROLES: tuple[Role, ...] = ("Werewolf", "Werewolf", "Seer", "Doctor", "Villager", "Villager", "Villager", "Villager")
PHASES: dict[Kind, Phase] = {"kill": "night", "whisper": "night", "protect": "night", "inspect": "night"}
_TABLE = tomllib.loads(Path(__file__).with_name("replies.toml").read_text("utf-8"))
CONTENTS: dict[Kind, dict[str, Any]] = {kind: json.loads(content) for kind, content in _TABLE["kinds"].items()}
V_NAMES = ("Vic", "Val", "Vox", "Von", "Sia")


def opened(declines: tuple[Kind, ...] = (), in_house: bool = True, **config: Any) -> Opened:
    """Two agents: `one` plays Wim and Wes, `two` the others; Von's kinds may be declined."""
    seats = tuple(
        Seat(
            name=name,
            role=role,
            agent="one" if role == "Werewolf" else "two",
            brain="test",
            in_house=in_house,
            declines=declines if name == "Von" else (),
        )
        for name, role in zip(NAMES, ROLES, strict=True)
    )
    return Opened(game="g", version="0", started=0.0, seed="1", config=GameConfig(**config), seats=seats)


def batch_of(
    kind: Kind, *seats: str, batch: int = 1, turn: int = 1, legal: tuple[str | None, ...] | None = None
) -> Asked:
    about = 1 if kind.startswith("assess") else None
    asks = (Asking(kind=kind, seats=seats, legal=legal),)
    return Asked(batch=batch, round=1, phase=PHASES.get(kind, "debate"), turn=turn, about=about, asks=asks)


def referee_of(**config: Any) -> Any:
    """The referee of a game that begins."""
    game = opened(**config)
    return GameSoFar(game, Steps(game)).referee


class SingleRequest:
    """A referee with one open request, and the words to answer it."""

    def __init__(
        self, kind: Kind = "bid", seat: str = "Wim", legal: tuple[str | None, ...] | None = None, **config: Any
    ) -> None:
        self.referee = referee_of(**config)
        (self.request,) = self.referee.ask(batch_of(kind, seat, legal=legal), set())

    def reply(self, **fields: Any) -> dict[str, Any]:
        """Return a good reply as plain values, with `fields` in place of its own."""
        request = self.request
        kind = request.asking.kind
        usual = {
            "v": 1, "type": "reply", "game": "g", "request": request.id, "seat": request.seat, "kind": kind,
            "content": CONTENTS[kind],
        }  # fmt: skip
        return {key: value for key, value in (usual | fields).items() if value != "…"}

    def send(self, agent: str = "one", **fields: Any) -> AnyAnswered | Rejected:
        return self.receive(agent, pack(self.reply(**fields)))

    def receive(self, agent: str, body: bytes, sender: str | None = None) -> AnyAnswered | Rejected:
        (verdict,) = self.referee.receive(agent, Entry(body, "reply", sender or agent, "g"))
        return verdict

    @property
    def is_open(self) -> bool:
        return self.referee.is_open(1)


def assert_rejected(single: SingleRequest, verdict: AnyAnswered | Rejected, reason: str) -> None:
    """It was turned away for this reason, and the request still takes its true answer."""
    assert isinstance(verdict, Rejected)
    assert verdict.reason == reason
    assert verdict.note
    assert single.is_open
    assert single.send().outcome == "accepted"
    assert not single.is_open


def assert_defaulted(single: SingleRequest, verdict: AnyAnswered | Rejected, fault: str) -> None:
    """It closed the request, with the default."""
    assert not isinstance(verdict, Rejected), verdict
    assert (verdict.outcome, verdict.fault, verdict.content) == ("defaulted", fault, None)
    assert not single.is_open


@pytest.mark.parametrize("kind", CONTENTS)
def test_the_right_agents_reply_for_the_right_seat_closes_a_request(kind):
    single = SingleRequest(kind, legal=("Vic", "Val") if "target" in CONTENTS[kind] else None)
    answer = single.send(thought="hm", reading="repaired", raw="{", note="a brace")
    assert isinstance(answer, ANSWERED[kind])
    assert (answer.batch, answer.seat, answer.outcome) == (1, "Wim", "accepted")
    assert (answer.thought, answer.reading, answer.raw, answer.note) == ("hm", "repaired", "{", "a brace")
    assert {key: getattr(answer.content, key) for key in CONTENTS[kind]} == CONTENTS[kind]
    assert not single.is_open


CASES = [
    pytest.param(becomes, group, json.loads(line), id=f"{becomes} {group.get('kind') or group['reason']} {line}")
    for becomes in ("rejected", "defaulted", "accepted")
    for group in _TABLE[becomes]
    for line in group["lines"].splitlines()
]


@pytest.mark.parametrize(("becomes", "group", "fields"), CASES)
def test_what_becomes_of_a_message(becomes: str, group: dict[str, Any], fields: dict[str, Any]) -> None:
    """It is turned away and leaves the request open, or it closes it, by the default where it cannot be used."""
    kind = group.get("kind", "bid")
    legal = (*V_NAMES, *([None] if group.get("nobody") else [])) if "target" in CONTENTS[kind] else None
    single = SingleRequest(kind, legal=legal)
    usable = becomes == "defaulted" and group["fault"] != "unparseable"
    verdict = single.send(**fields, **({"thought": "hm"} if usable else {}))
    if becomes == "rejected":
        assert_rejected(single, verdict, group["reason"])
    elif becomes == "defaulted":
        assert_defaulted(single, verdict, group["fault"])
        assert not usable or (verdict.thought, bool(verdict.note)) == ("hm", True)
    else:
        assert verdict.outcome == "accepted"


def test_only_an_agent_of_the_house_says_itself_what_is_wrong_with_its_answer():
    single = SingleRequest(in_house=False)
    assert_defaulted(single, single.send(content="…", fault="ambiguous", note="two numbers"), "unparseable")


def test_what_is_kept_of_a_request_never_made_is_short():
    assert len(SingleRequest().send(request="x" * 5000).request or "") <= 200


def test_the_stream_counts_and_whoever_names_another_sender_beside_a_message_is_caught_forging():
    single = SingleRequest()
    assert_rejected(single, single.receive("two", pack(single.reply()), sender="one"), "sender")
    single = SingleRequest()
    assert_rejected(single, single.receive("one", pack(single.reply()), sender="two"), "sender")
    single = SingleRequest()
    (verdict,) = single.referee.receive("one", Entry(pack(single.reply()), "reply", "", "g"))
    assert verdict.outcome == "accepted"


def test_a_doubled_or_late_reply_is_rejected_as_closed_and_a_strangers_as_not_its_own():
    single = SingleRequest()
    assert single.send().outcome == "accepted"
    again = single.send(content={"bid": 9})
    assert (again.reason, again.request, again.sender) == ("closed", single.request.id, "one")
    single = SingleRequest()
    (answer,) = single.referee.time_out([single.request.id, "g/9/debate/1/bid/Wim"])
    assert (answer.outcome, answer.content, answer.fault) == ("timed_out", None, None)
    assert not single.referee.time_out([single.request.id])
    assert [single.send().reason, single.send(agent="two").reason] == ["closed", "sender"]


def test_a_closed_assessment_is_known_by_its_statement():
    single = SingleRequest("assess_other")
    assert single.request.id == "g/1/debate/1/assess_other/Wim/1"
    assert single.send().outcome == "accepted"
    assert single.send().reason == "closed"
    assert single.send(request="g/1/debate/1/assess_other/Wim/2").reason == "unknown"


def test_a_reply_over_the_configured_limit_is_rejected_unread_and_one_at_the_limit_is_not():
    single = SingleRequest("speak", max_reply_bytes=1000)
    slack = 1000 - len(pack(single.reply(raw="x" * 500))) + 500
    verdict = single.send(raw="x" * (slack + 1))
    assert isinstance(verdict, Rejected)
    assert (verdict.size, verdict.sender) == (1001, "one")
    assert_rejected(single, verdict, "oversize")
    single = SingleRequest("speak", max_reply_bytes=1000)
    assert single.send(raw="x" * slack).outcome == "accepted"
    # bytes that could not be read are not looked at either
    single = SingleRequest(max_reply_bytes=256)
    assert_rejected(single, single.receive("one", b"\xc1" * 257), "oversize")


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\xff" * 20, b"{}", pack([1]), pack({"v": 1})[:-1]])  # type: ignore[arg-type] # no map, on purpose
def test_unreadable_bytes_are_rejected(body):
    single = SingleRequest()
    assert_rejected(single, single.receive("one", body), "unreadable")


@pytest.mark.parametrize("opening", [b"\x91", b"\x81\xa1a"], ids=["lists", "maps"])
@pytest.mark.parametrize(
    ("member", "becomes"),
    [
        ("v", "version"),
        ("type", "unreadable"),
        ("game", "sender"),
        ("seat", "sender"),
        ("request", "unknown"),
        ("kind", "unparseable"),
        ("content", "unparseable"),
        ("thought", "unparseable"),
    ],
)
def test_a_member_that_is_nested_as_deep_as_can_be_sent_ends_no_game(member: str, becomes: str, opening: bytes) -> None:
    single = SingleRequest()
    others = pack(single.reply(**{member: "…"}))
    body = bytes([others[0] + 1]) + others[1:] + msgpack.packb(member) + opening * 1021 + b"\xc0"
    verdict = single.receive("one", body)
    if becomes == "unparseable":
        assert_defaulted(single, verdict, becomes)
    else:
        assert_rejected(single, verdict, becomes)


@pytest.mark.parametrize(("bid", "outcome"), [(20, "accepted"), (21, "defaulted")])
def test_bid_max_is_the_highest_bid(bid, outcome):
    assert SingleRequest(bid_max=20).send(content={"bid": bid}).outcome == outcome


@pytest.mark.parametrize(("kind", "member"), [("speak", "text"), ("vote", "reason")])
def test_max_statement_bounds_what_is_published_whoever_says_it(kind, member):
    for length, fault in ((40, None), (41, "illegal")):
        single = SingleRequest(kind, legal=("Vic",), max_statement=40)
        answer = single.send(content=CONTENTS[kind] | {member: "x" * length})
        assert (answer.fault, answer.note) == (fault, fault and "41 characters: a statement has at most 40")


def test_only_absent_seats_have_the_shorter_time():
    referee = referee_of(absent_grace=0.5, deadlines=Deadlines(bid=30.0))
    requests = referee.ask(batch_of("bid", "Wim", "Vic", "Von"), {"Vic"})
    assert {request.seat: request.deadline_s for request in requests} == {"Wim": 30.0, "Vic": 0.5, "Von": 30.0}
    assert {request.seat: request.ask().deadline_s for request in requests}["Vic"] == 0.5
    # which never lengthens a deadline
    referee = referee_of(absent_grace=90.0, deadlines=Deadlines(bid=30.0))
    assert [request.deadline_s for request in referee.ask(batch_of("bid", "Vic"), {"Vic"})] == [30.0]


def test_a_kind_that_an_agent_declines_is_closed_at_once_for_its_seats_only():
    referee = referee_of(declines=("assess_other",))
    requests = referee.ask(batch_of("assess_other", "Vic", "Von"), set())
    assert [referee.is_declined(request) for request in requests] == [False, True]
    (other,) = referee.ask(batch_of("bid", "Von", batch=2), set())
    assert not referee.is_declined(other)
    answer = referee.decline(requests[1])
    assert (answer.seat, answer.outcome, answer.content) == ("Von", "declined", None)
    assert referee.is_open(1)
    assert [closed.seat for closed in referee.time_out(request.id for request in requests)] == ["Vic"]
    assert not referee.is_open(1)


LABELS = [
    (False, "fabrication", "none", "fabrication"),
    (True, "none", "unspecified", "none"),
    (True, "omission", "omission", None),
    (False, "none", "none", None),
]


@pytest.mark.parametrize("kind", ["assess_own", "assess_other"])
@pytest.mark.parametrize(("deceptive", "stated_kind", "becomes", "kept_kind"), LABELS)
def test_deceptive_decides_over_the_kind_and_what_was_stated_is_kept(kind, deceptive, stated_kind, becomes, kept_kind):
    content = CONTENTS[kind] | {"deceptive": deceptive, "kind": stated_kind}
    answer = SingleRequest(kind).send(content=content)
    assert isinstance(answer.content, Label | Judgement)
    assert (answer.content.deceptive, answer.content.kind, answer.content.stated_kind) == (
        deceptive,
        becomes,
        kept_kind,
    )


@pytest.mark.parametrize("kind", ["speak", "vote"])
@pytest.mark.parametrize(("label", "kept"), [("after", False), ("with", True)])
def test_a_label_beside_the_words_counts_where_the_rules_ask_for_one_there(kind, label, kept):
    content = CONTENTS[kind] | {"label": CONTENTS["assess_own"]}
    answer = SingleRequest(kind, legal=("Vic",), label=label).send(content=content)
    assert isinstance(answer.content, Speech | Ballot)
    assert (answer.content.label is not None) == kept

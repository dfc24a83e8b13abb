"""From a record to a game that can go on: what is read, what is refused, where it is cut."""

from __future__ import annotations

import pytest

from moderator.engine.deadlines import Presence
from moderator.engine.reexecution import recover
from moderator.engine.referee import Referee
from tests.game.driver import record
from tests.moderator.test_referee import NAMES, asked
from tests.moderator.test_referee import opened as opening
from tests.players.table import play
from wolfbus.bus.protocol import Entry
from wolfbus.config import GameConfig
from wolfbus.errors import RecordError
from wolfbus.messages.calls import ModelCall, Segment, segment_hash
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.content import Bid
from wolfbus.messages.events import ANSWERED, Absent, AnyEvent, Rejected, Returned, Stopped
from wolfbus.record.digest import digest_of
from wolfbus.record.line import Recorded, parse_line

CONFIG = GameConfig(debate_turns=2, max_rounds=2)


@pytest.fixture(scope="module")
def events() -> list[AnyEvent]:
    return play("3", CONFIG).events


def recorded(events: list[AnyEvent]) -> list[Recorded]:
    return [parse_line(line, number) for number, line in enumerate(record(events), 1)]


def ends_of_steps(events: list[AnyEvent]) -> list[int]:
    """Where a step ends: an answer follows that is not the first event of the game's first step, or nothing."""
    return [
        number
        for number, event in enumerate(events, 1)
        if event.type != "answered" and (number == len(events) or events[number].type == "answered")
    ]


def test_a_record_that_ends_anywhere_goes_on_from_the_last_whole_step(events):
    lines = recorded(events)
    ends = ends_of_steps(events)
    for end in range(1, len(events) + 1):
        whole = max((number for number in ends if number <= end), default=0)
        if not whole:
            with pytest.raises(RecordError, match="within the first step"):
                recover(lines[:end])
            continue
        if end not in ends and end + 1 not in ends and end % 7:
            continue  # re-executing every prefix would take seconds
        game = recover(lines[:end])
        assert (game.count, game.cut, game.head) == (whole, end - whole, lines[whole - 1].hash)
        assert game.seconds == lines[whole - 1].time
        assert game.digest.hexdigest() == digest_of(events[:whole])
        assert bool(game.waits_for) == (game.ended is None)
        open_batches = {request.asked.batch for request in game.referee.open_requests(set())}
        assert set(game.waits_for) <= open_batches
        batches = {event.batch for event in events[:whole] if event.type == "asked"}
        assert open_batches == batches - {event.batch for event in events[:whole] if event.type == "answered"}


def test_what_stands_beside_a_step_that_did_not_land_is_left_out(events):
    end = ends_of_steps(events)[3]
    beside = Rejected(sender="x", reason="unknown", size=3, note="?", source="1-1")
    game = recover(recorded([*events[:end], beside]))
    assert (game.count, game.cut) == (end, 1)
    assert not game.rejections
    game = recover(recorded([*events[:end], beside, beside, *events[end : ends_of_steps(events)[4]]]))
    assert game.cut == 0
    assert game.rejections == {"x": 2}


def test_a_stopped_record_is_over_and_says_why(events):
    end = ends_of_steps(events)[3]
    game = recover(recorded([*events[:end], Stopped(reason="enough")]))
    assert (game.stopped, game.ended, game.waits_for, game.cut) == ("enough", None, (), 0)


@pytest.mark.parametrize("line", [1, 5, 60])
def test_an_edited_event_is_named_by_its_line(events, line):
    lines = recorded(events)
    lines[line - 1] = lines[line - 1]._replace(time=lines[line - 1].time + 1)
    with pytest.raises(RecordError, match=f"line {line}: the hash"):
        recover(lines)


def test_a_missing_event_and_one_that_the_rules_do_not_give_are_named_by_their_line(events):
    with pytest.raises(RecordError, match="line 30: number 31"):
        recover([line for line in recorded(events) if line.n != 30])
    place = next(number for number, event in enumerate(events) if event.type == "dawn")
    forged = [*events[:place], events[place].model_copy(update={"round": 9}), *events[place + 1 :]]
    with pytest.raises(RecordError, match=f"line {place + 1}: the rules give"):
        recover(recorded(forged))
    with pytest.raises(RecordError, match="within the first step"):
        recover([])


def reply(seat: str = "Wim", **fields: object) -> bytes:
    request = f"g/1/debate/1/bid/{seat}"
    usual = {"v": 1, "type": "reply", "game": "g", "request": request, "seat": seat, "kind": "bid"}
    return pack(usual | {"content": {"bid": 3}} | fields)


def read(referee: Referee, body: bytes, source: str, agent: str = "one") -> list[str]:
    """What a message makes, in a word each."""
    verdicts = referee.receive(agent, Entry(body, "reply", agent, "g", 1, source))
    return [verdict.reason if verdict.type == "rejected" else verdict.type for verdict in verdicts]


def test_a_message_that_the_record_accounts_for_makes_nothing_when_it_is_read_again():
    referee = Referee(opening())
    referee.recall(asked("bid", *NAMES))
    referee.recall(ANSWERED["bid"](batch=1, seat="Wim", content=Bid(bid=3)))
    referee.recall(ANSWERED["bid"](batch=1, seat="Wes", outcome="timed_out"))
    referee.recall(Rejected(sender="one", reason="closed", size=1, note="late", source="5-3"))
    assert {request.seat for request in referee.open_requests({"Vic"})} == set(NAMES) - {"Wim", "Wes"}
    assert [request.deadline_s for request in referee.asks_of("two") if request.seat in {"Vic", "Val"}] == [1.0, 60.0]

    assert read(referee, reply("Wim"), "5-1") == []
    assert read(referee, reply("Wes"), "5-3") == []
    assert read(referee, reply("Wim"), "5-4") == ["closed"]  # a second answer
    assert read(referee, reply("Wes"), "5-5") == ["closed"]  # it timed out, and its reply was never recorded
    assert read(referee, reply("Vic"), "5-1", "two") == ["answered"]
    assert read(referee, b"?", "5-3", "two") == ["unreadable"]  # the id is another stream's


def test_reports_that_the_record_holds_make_nothing_when_they_are_read_again():
    first, second = segment_hash(None, "user", "a"), segment_hash(None, "user", "b")
    call = {
        "requests": ("1/debate/1/bid/Wim",), "seat": "Wim", "kind": "bid", "model": "m", "prompt": (first,),
        "attempts": 1, "queue_s": 0.0, "latency_s": 0.0,
    }  # fmt: skip
    referee = Referee(opening())
    referee.recall(asked("bid", *NAMES))
    referee.recall(Segment(segment=first, role="user", text="a", source="5-1"))
    referee.recall(ModelCall(**call, source="5-2"))
    texts = ({"role": "user", "text": "a"}, {"role": "user", "text": "b"})
    segments = pack({"v": 1, "type": "segments", "game": "g", "seat": "Wim", "texts": texts})
    called = pack({"v": 1, "type": "called", "game": "g", "call": call})
    assert read(referee, called, "5-2") == []
    (new,) = referee.receive("one", Entry(segments, "reply", "one", "g", 1, "5-3"))
    assert plain(new) == {"type": "segment", "segment": second, "role": "user", "text": "b", "source": "5-3"}
    (again,) = referee.receive("one", Entry(called, "reply", "one", "g", 1, "5-4"))
    assert (again.type, again.source) == ("model_call", "5-4")


def test_an_absent_seat_that_shows_life_has_its_full_time_until_it_lets_that_pass():
    presence = Presence()
    presence.stir(["Wim"])
    presence.feed(Absent(seat="Wim"))
    presence.feed(Absent(seat="Wes"))
    assert presence.hasty == {"Wim", "Wes"}  # a sign of life before the absence counts for nothing
    presence.feed(asked("bid", "Wim"))
    presence.stir(["Wim", "Vic"])
    assert presence.hasty == {"Wes"}
    presence.close(ANSWERED["bid"](batch=1, seat="Wim", outcome="timed_out"))
    assert presence.hasty == {"Wes"}  # that question went out before
    presence.feed(asked("bid", "Wim", batch=2))
    presence.close(ANSWERED["bid"](batch=2, seat="Wim", outcome="timed_out"))
    assert presence.hasty == {"Wim", "Wes"}
    presence.feed(Returned(seat="Wim"))
    assert presence.hasty == {"Wes"}

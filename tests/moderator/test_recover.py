"""From a record to a game that can go on: what is read, what is refused, where it is cut."""

import pytest

from moderator.engine.reexecution import recover
from tests.llm.tables import tables
from tests.players.table import play
from tests.record.synthetic import record
from wolfbus.errors import RecordError
from wolfbus.game.config import GameConfig
from wolfbus.messages.events import ANSWERED, AnyEvent, Rejected, Stopped
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
        assert (game.count, game.head) == (whole, lines[whole - 1].hash)
        assert game.seconds == lines[whole - 1].time
        assert game.digest.hexdigest() == digest_of(events[:whole])
        assert bool(game.waits_for) == (game.ended is None)
        open_batches = {request.batch.batch for request in game.referee.open_requests(set())}
        assert set(game.waits_for) <= open_batches
        batches = {event.batch for event in events[:whole] if event.type == "asked"}
        assert open_batches == batches - {event.batch for event in events[:whole] if event.type == "answered"}


def test_what_stands_beside_a_step_that_did_not_land_is_left_out(events):
    end = ends_of_steps(events)[3]
    beside = Rejected(sender="x", reason="unknown", size=3, note="?", source="1-1")
    game = recover(recorded([*events[:end], beside]))
    assert game.count == end
    assert not game.rejections
    following = ends_of_steps(events)[4]
    game = recover(recorded([*events[:end], beside, beside, *events[end:following]]))
    assert game.count == following + 2
    assert game.rejections == {"x": 2}


def test_a_stopped_record_is_over_and_says_why(events):
    end = ends_of_steps(events)[3]
    game = recover(recorded([*events[:end], Stopped(reason="enough")]))
    assert (game.stopped, game.ended, game.waits_for, game.count) == ("enough", None, (), end + 1)


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


@pytest.mark.parametrize(("kind", "outcome", "content", "possible"), tables(__file__)["answers"])
def test_a_recorded_answer_must_be_one_that_the_referee_could_have_given(events, kind, outcome, content, possible):
    place = next(number for number, event in enumerate(events) if event.type == "answered" and event.kind == kind)
    values = {name: getattr(events[place], name) for name in ("batch", "seat", "about")}
    lines = recorded([*events[:place], ANSWERED[kind](outcome=outcome, content=content or None, **values)])
    if possible:
        assert recover(lines).count <= place
    else:
        with pytest.raises(RecordError, match=rf"^line {place + 1}: .* could not have been recorded so: "):
            recover(lines)

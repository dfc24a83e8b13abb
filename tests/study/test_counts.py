"""What is counted of a game while it is played is what measuring its record gives."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import pytest

from analytics.fold import GameFold
from tests.game.driver import legal_answer, play, record
from wolfbus.actors import ActorPool
from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import pack
from wolfbus.record.line import Recorded, on_the_bus, parse_line
from wolfbus.study.counts import RecordFollower

WAIT = 5


@pytest.fixture(scope="module")
def recorded() -> list[Recorded]:
    played = play(seed="5", answer=lambda question: legal_answer(question, "5"))
    return [parse_line(line.rstrip(b"\n"), number) for number, line in enumerate(record(played.events), 1)]


@pytest.fixture
def pool() -> Iterator[ActorPool]:
    with ActorPool(1) as pool:
        yield pool


def entries(recorded: list[Recorded], game: str = "g") -> list[Entry]:
    return [Entry(pack(on_the_bus(one)), one.event.type, "moderator", game, one.n, f"{one.n}-0") for one in recorded]


def test_counts_are_those_of_the_rows(recorded, pool):
    over: queue.SimpleQueue[Any] = queue.SimpleQueue()
    seen: list[Recorded] = []
    ref = RecordFollower.start_in(pool, lambda game, counts: over.put((game, counts)), seen.append)
    told = entries(recorded)
    for some in (told[:20], told[10:40], told[40:]):
        ref.tell(some)
    game, counts = over.get(timeout=WAIT)
    ref.stop()
    fold = GameFold()
    for one in recorded:
        fold.take(one)
    rows = fold.rows()
    assert (game, counts.winner, counts.statements) == ("g", rows.winner, len(rows.statements))
    assert counts.judgements == sum(1 for row in rows.judgements if row.usable) > 0
    assert counts.usage is None
    assert [one.n for one in seen] == [one.n for one in recorded]


def test_a_record_that_cannot_be_read_leaves_the_others_alone(recorded, pool):
    over: queue.SimpleQueue[Any] = queue.SimpleQueue()
    ref = RecordFollower.start_in(pool, lambda game, counts: over.put((game, counts)))
    ref.tell([Entry(b"\xc1", "opened", "moderator", "broken", 1, "1-0"), *entries(recorded, "whole")])
    assert over.get(timeout=WAIT) == ("broken", None)
    assert over.get(timeout=WAIT)[0] == "whole"
    ref.stop()

"""`Outbox.together`: what seats say of one delivery goes out as one append."""

from __future__ import annotations

from typing import Any

import pytest

from wolfbus.agent.outbox import Outbox
from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus
from wolfbus.errors import BusDown

HOUSE, AGENT = "h", "ann"


class Writer:
    """Keeps what is appended, call by call."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.appended: list[list[tuple[str, str]]] = []
        self.closed = False

    def append(self, stream: str, entries: Any) -> None:
        if self.closed:
            raise BusDown("the writer was closed")
        self.bus.append(stream, list(entries))
        self.appended.append([(entry.type, entry.game) for entry in entries])

    append_at_once = append


@pytest.fixture
def writer() -> Writer:
    return Writer(open_bus("memory://"))


def outbox(writer: Writer) -> Outbox:
    told: Any = writer
    return Outbox(HOUSE, AGENT, writer.bus, told)


def test_messages_sent_together_are_one_append_in_their_order(writer):
    box = outbox(writer)
    box.send("", b"1", "join")
    with box.together():
        box.send("g", b"2")
        with box.together():
            box.send("g", b"3", "called")
    box.send("g", b"4")
    assert writer.appended == [[("join", "")], [("reply", "g"), ("called", "g")], [("reply", "g")]]
    assert [entry.body for entry in writer.bus.entries(box.stream)] == [b"1", b"2", b"3", b"4"]


def test_a_closed_writer_is_told_to_who_sends_alone_only(writer):
    box = outbox(writer)
    writer.closed = True
    with box.together():
        box.send("g", b"2")
    with pytest.raises(BusDown):
        box.send("g", b"3")

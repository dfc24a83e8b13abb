"""Lines out of bytes, and which line answers which request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.program.ledger import Ledger
from players.program.splitter import LONGEST, Overlong, Splitter


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b""))), st.data())
def test_lines_are_the_same_however_the_bytes_arrive(lines, data):
    stream = b"".join(line + b"\n" for line in lines)
    splitter, found = Splitter(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == [line for line in lines if line.strip()]


def test_a_last_line_needs_no_end_and_windows_ends_are_ends():
    splitter = Splitter()
    assert list(splitter.feed(b'{"bid": 1}\r\n\r\n{"bid": 2}')) == [b'{"bid": 1}']
    assert list(splitter.finish()) == [b'{"bid": 2}']
    assert list(splitter.finish()) == []


def test_a_line_without_end_is_told_once_and_skipped_to_its_end():
    splitter, found = Splitter(), []
    for _ in range(3 * LONGEST // 50_000):
        found += splitter.feed(b"x" * 50_000)
        assert sum(map(len, splitter._pieces)) <= LONGEST + 50_000
    assert found == [Overlong(b"x" * 4096)]
    assert list(splitter.feed(b'xx\n{"bid": 1}\n')) == [b'{"bid": 1}']


def test_a_line_that_names_its_request_is_placed_by_name():
    ledger = Ledger()
    ledger.ask("one")
    ledger.give_up("one")
    ledger.ask("two")
    assert ledger.place("one", "two") == "late"
    assert ledger.place("three", "two") == "stranger"
    assert ledger.place("two", "two") == "answer"
    assert ledger.place("two", None) == "late"


def test_lines_without_names_are_placed_in_order():
    ledger = Ledger()
    for request in ("one", "two"):
        ledger.ask(request)
        ledger.give_up(request)
    ledger.ask("three")
    assert [ledger.place(None, "three") for _ in range(3)] == ["late", "late", "answer"]


@pytest.mark.parametrize("late", ["one", None])
def test_what_has_come_late_is_owed_no_more(late):
    ledger = Ledger()
    ledger.ask("one")
    ledger.give_up("one")
    ledger.ask("two")
    assert ledger.place(late, "two") == "late"
    assert ledger.place(None, "two") == "answer"


def test_who_answers_by_name_has_passed_over_what_it_owed():
    ledger = Ledger()
    ledger.ask("one")
    ledger.give_up("one")
    ledger.ask("two")
    assert ledger.place("two", "two") == "answer"
    ledger.ask("three")
    assert ledger.place(None, "three") == "answer"

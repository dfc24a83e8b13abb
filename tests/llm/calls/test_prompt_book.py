"""Prompts are put together again exactly, and edited ones are found."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.calls.woven import call, piece
from wolfbus.errors import RecordError
from wolfbus.messages.calls import ChainAddition, ModelCall, PromptAddition
from wolfbus.record.prompts import PromptBook, SegmentCheck

RULES = "Rules. "


def book_of(*additions: PromptAddition) -> PromptBook:
    book = PromptBook()
    for addition in additions:
        book.feed(addition)
    return book


def call_with(*heads: int) -> ModelCall:
    return call("1/debate/1/bid/Wim", prompt=heads)


def test_chains_follow_each_other_and_text_of_one_role_is_one_message():
    book = book_of(
        piece("system", RULES),
        piece("user", "Ada: hello. ", after=0),
        piece("user", "You are Wim. "),
        piece("user", "Bid."),
        piece("user", "Wim: indeed. ", after=1),
    )
    assert book.messages(call_with(4, 2, 3)) == [
        ("system", RULES),
        ("user", "Ada: hello. Wim: indeed. You are Wim. Bid."),
    ]


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text(max_size=5)), max_size=12))
def test_any_chain_gives_its_whole_text_in_order_with_no_two_messages_of_one_role_in_a_row(pieces):
    book = PromptBook()
    for number, (role, text) in enumerate(pieces):
        book.feed(piece(role, text, after=number - 1 if number else None))
    messages = book.messages(call_with(*[len(pieces) - 1] * bool(pieces)))
    assert "".join(text for _, text in messages) == "".join(text for _, text in pieces)
    assert all(one[0] != other[0] for one, other in itertools.pairwise(messages))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (piece("user", "b", after=1), "segment 1 follows 1, which is not there"),
        (PromptAddition(chains=(ChainAddition(texts=(1,)),)), "segment 1 has the text of 1, which is not there"),
        (call_with(0, 1), "names segment 1, which is not there"),
        (call_with().model_copy(update={"like": 1}), "is like call 1, which is not there"),
    ],
)
@pytest.mark.parametrize("sort", [SegmentCheck, PromptBook])
def test_what_refers_to_what_is_not_there_is_named_with_its_line(sort, event, words):
    checked = sort()
    feed = checked.check if isinstance(checked, SegmentCheck) else checked.feed
    feed(piece("user", "a"), 1)
    with pytest.raises(RecordError, match=f"line 7: .*{words}"):
        feed(event, 7)

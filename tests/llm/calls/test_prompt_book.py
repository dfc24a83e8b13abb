"""Prompts are put together again exactly, and edited ones are found."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.calls.woven import call, segment
from wolfbus.errors import RecordError
from wolfbus.messages.calls import ChainAddition, PromptAddition
from wolfbus.record.prompts import PromptBook, SegmentCheck

RULES = segment("system", "Rules. ")
FIRST = segment("user", "Ada: hello. ", RULES.segment)
SECOND = segment("user", "Wim: indeed. ", FIRST.segment)
OWN = segment("user", "You are Wim. ")
QUESTION = segment("user", "Bid.")
REPLY = segment("assistant", '{"bid": 99}', QUESTION.segment)


def book_of(*segments) -> PromptBook:
    book = PromptBook()
    for piece in segments:
        book.feed(piece)
    return book


def call_with(*heads):
    return call("1/debate/1/bid/Wim", prompt=tuple(head.segment for head in heads))


def test_chains_follow_each_other_and_text_of_one_role_is_one_message():
    book = book_of(RULES, FIRST, OWN, QUESTION, SECOND)
    assert book.messages(call_with(SECOND, OWN, QUESTION)) == [
        ("system", "Rules. "),
        ("user", "Ada: hello. Wim: indeed. You are Wim. Bid."),
    ]


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text(max_size=5)), max_size=12))
def test_any_chain_gives_its_whole_text_in_order_with_no_two_messages_of_one_role_in_a_row(pieces):
    chain, book = [], PromptBook()
    for role, text in pieces:
        chain.append(segment(role, text, chain[-1].segment if chain else None))
        book.feed(chain[-1])
    messages = book.messages(call_with(*chain[-1:]))
    assert "".join(text for _, text in messages) == "".join(text for _, text in pieces)
    assert all(one[0] != other[0] for one, other in itertools.pairwise(messages))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (FIRST.model_copy(update={"text": "Ada: goodbye. "}), "another text"),
        (FIRST.model_copy(update={"role": "assistant"}), "another text"),
        (FIRST.model_copy(update={"after": None}), "another text"),
        (FIRST.model_copy(update={"segment": "0" * 64}), "another text"),
        (REPLY, "follows one that is not there"),
        (call_with(RULES, OWN), f"names segment {OWN.segment[:12]}"),
    ],
)
@pytest.mark.parametrize("sort", [SegmentCheck, PromptBook])
def test_what_is_not_what_it_claims_to_be_is_named_with_its_line(sort, event, words):
    checked = sort()
    feed = checked.check if isinstance(checked, SegmentCheck) else checked.feed
    feed(RULES, 1)
    with pytest.raises(RecordError, match=words) as error:
        feed(event, 7)
    assert str(error.value).startswith("line 7: ")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (PromptAddition(chains=(ChainAddition(after=1, texts=("b",)),)), "segment 1 follows 1, which is not there"),
        (PromptAddition(chains=(ChainAddition(texts=(1,)),)), "segment 1 has the text of 1, which is not there"),
        (call("1/debate/1/bid/Wim").model_copy(update={"prompt": (0, 1)}), "names segment 1, which is not there"),
        (call("1/debate/1/bid/Wim").model_copy(update={"like": 1}), "is like call 1, which is not there"),
    ],
)
def test_what_refers_to_what_is_not_there_is_named_with_its_line(event, words):
    book = PromptBook()
    book.feed(PromptAddition(chains=(ChainAddition(texts=("a",)),)), 1)
    with pytest.raises(RecordError, match=f"line 7: .*{words}"):
        book.feed(event, 7)

"""Prompts in records of earlier versions, and in records that were tampered with."""

from __future__ import annotations

import pytest

from tests.llm.calls.woven import call, segment
from tests.moderator.test_referee import referee_of
from wolfbus.errors import RecordError
from wolfbus.messages.calls import ChainAddition, PromptAddition
from wolfbus.messages.events import Asked, Asking
from wolfbus.record.prompts import PromptBook

STEP = (Asked(batch=1, round=1, phase="debate", turn=1, asks=(Asking(kind="bid", seats=("Wim",)),)),)


def test_a_game_that_an_earlier_version_began_goes_on_with_numbers_beside_its_hashes():
    rules, old = segment("system", "Rules of the game."), segment("user", "You are Wim, a Villager.")
    reports = referee_of().reports
    for event in (rules, old):
        reports.recall(event)
    question = segment("user", "How urgent is it?", old.segment)
    made = call("1/debate/1/bid/Wim", prompt=(rules.segment, question.segment))
    (addition, short), _ = reports.write([question, made], STEP, ())
    assert addition.chains == (ChainAddition(after=old.segment, texts=("How urgent is it?",)),)
    assert short.prompt == (rules.segment, 0)
    book = PromptBook()
    for event in (rules, old, addition):
        book.feed(event)
    assert book.messages(short) == [
        ("system", "Rules of the game."),
        ("user", "You are Wim, a Villager.How urgent is it?"),
    ]


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

"""However reports are shortened, the record gives prompts, settings and replies again; and goes on after a break."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moderator.engine.reports import ReportShortener
from tests.llm.calls.woven import call, segment
from wolfbus.errors import RecordError
from wolfbus.messages.calls import ChainAddition, ModelCall, PromptAddition, Segment
from wolfbus.messages.events import AnsweredBid, Asked, Asking
from wolfbus.record.prompts import PromptBook, WholeCalls

STEP = (Asked(batch=1, round=1, phase="debate", turn=1, asks=(Asking(kind="bid", seats=("Wim",)),)),)
TEXTS = st.sampled_from(["", "a", "A longer text.", "Another long one.", "A third that is long.", "Bid."])
ROLES = st.sampled_from(["system", "user", "user", "assistant"])


@st.composite
def reports(draw: st.DrawFn) -> list[Segment | ModelCall]:
    """Segments, each behind any earlier one or none, from two processes; calls with any of them and their settings."""
    made: list[Segment | ModelCall] = []
    names: list[str] = []
    for number in range(draw(st.integers(1, 25))):
        source = f"{draw(st.integers(1, 2))}-{number}"
        if names and draw(st.booleans()):
            heads = tuple(draw(st.lists(st.sampled_from(names), max_size=3)))
            how = {"url": draw(st.sampled_from(["http://a/v1", None])), "served": draw(st.sampled_from(["m", None]))}
            made.append(call("1/debate/1/bid/Wim", prompt=heads).model_copy(update={**how, "source": source}))
            continue
        piece = segment(draw(ROLES), draw(TEXTS), draw(st.sampled_from([None, *names])))
        if piece.segment not in names:
            names.append(piece.segment)
            made.append(piece.model_copy(update={"source": source}))
    return made


@settings(max_examples=60, deadline=None)
@given(reports(), st.lists(st.integers(0, 25), max_size=3))
def test_what_is_shortened_gives_the_same_prompts_and_settings_over_any_breaks(reports, breaks):
    shortener, written = ReportShortener(), []
    for place in range(0, len(reports), 3):
        if place // 3 in breaks:
            # another process goes on from the record
            shortener = ReportShortener()
            for event in written:
                shortener.recall(event)
        now, later = shortener.shorten(reports[place : place + 3], STEP, ())
        assert later == []
        written += now
    old, new, whole = PromptBook(), PromptBook(), WholeCalls()
    for event in reports:
        old.feed(event)
    for line, event in enumerate(written, 1):
        new.feed(event, line)
        whole.feed(event, line)
    assert not [event for event in written if isinstance(event, Segment)]
    calls = [(line, event) for line, event in enumerate(written, 1) if isinstance(event, ModelCall)]
    asked = [event for event in reports if isinstance(event, ModelCall)]
    assert [new.messages(event) for _, event in calls] == [old.messages(event) for event in asked]
    told = [whole.whole(event, line) for line, event in calls]
    assert [(each.url, each.served, each.parameters, each.source) for each in told] == [
        (each.url, each.served, each.parameters, each.source) for each in asked
    ]
    texts = [
        text
        for event in written
        if isinstance(event, PromptAddition)
        for chain in event.chains
        for text in chain.texts
        if isinstance(text, str) and len(text) > 8
    ]
    assert len(texts) == len(set(texts))


def test_a_game_that_an_earlier_version_began_goes_on_with_numbers_beside_its_hashes():
    rules, old = segment("system", "Rules of the game."), segment("user", "You are Wim, a Villager.")
    shortener = ReportShortener()
    assert [name for event in (rules, old) for name in shortener.recall(event)] == [rules.segment, old.segment]
    question = segment("user", "How urgent is it?", old.segment)
    made = call("1/debate/1/bid/Wim", prompt=(rules.segment, question.segment))
    (addition, short), _ = shortener.shorten([question, made], STEP, ())
    assert addition.chains == (ChainAddition(after=old.segment, texts=("How urgent is it?",)),)
    assert short.prompt == (rules.segment, 0)
    book = PromptBook()
    for event in (rules, old, addition):
        book.feed(event)
    assert book.messages(short) == [
        ("system", "Rules of the game."),
        ("user", "You are Wim, a Villager.How urgent is it?"),
    ]


def answered(bid: int, thought: str | None) -> AnsweredBid:
    return AnsweredBid(batch=1, seat="Wim", content={"bid": bid}, thought=thought)


@pytest.mark.parametrize(
    ("reply", "style"),
    [
        ('{"thought": "Hm.", "bid": 3}', "spaced"),
        ('{"thought":"Hm.","bid":3}', "dense"),
        ('{\n  "thought": "Hm.",\n  "bid": 3\n}', "indented"),
        ('{"bid": 3, "thought": "Hm."}', None),
        ('{"thought": "Hm.", "bid": 3.0}', None),
        ('{"thought": "Hm.", "bid": 3} ', None),
        ("I bid 3.", None),
    ],
)
def test_a_reply_is_left_out_only_where_its_answer_gives_it_again_to_the_letter(reply, style):
    shortener = ReportShortener()
    shortener.shorten((), STEP, ())
    answer = answered(3, "Hm.")
    ((short,), _) = shortener.shorten([call("1/debate/1/bid/Wim").model_copy(update={"reply": reply})], (answer,), ())
    assert (short.answered_as, short.reply) == (style, None if style else reply)
    whole = WholeCalls()
    for line, event in enumerate((*STEP, short, answer), 1):
        whole.feed(event, line)
    assert whole.whole(short, 2).reply == reply


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

"""A moderator may die at any commit: the next one goes on with the same game."""

import json
import threading
from collections import Counter
from functools import partial

import pytest

from tests.moderator.conftest import url_of
from tests.moderator.process import HOUSE, SMALL, events_of, opened, replies_of
from wolfbus.bus import Entry, streams
from wolfbus.game.config import Deadlines
from wolfbus.messages.calls import segment_hash
from wolfbus.messages.codec import HOUSE_NEWS, decode_mail, pack, unpack, validate
from wolfbus.messages.requests import Ask
from wolfbus.record.digest import digest_of
from wolfbus.record.prompts import PromptBook, WholeCalls

AGENTS = ("one", "two")


@pytest.mark.parametrize(
    ("kind", "fresh", "acknowledged"),
    [("memory", False, False), ("memory", True, True), ("redis", False, True), ("redis", True, False)],
)
def test_a_moderator_that_died_at_any_commit_of_a_game_goes_on_to_the_same_digest(
    request, stage, whole_digest, kind, fresh, acknowledged
):
    """Agents live on or die too; the moderator heard that its last step landed, or did not."""
    url = url_of(request, kind)
    bus = stage.watch(url)
    agents = stage.agents(url, *AGENTS)
    process = stage.process(url, 1, acknowledged=acknowledged)
    process.open(opened(AGENTS), number=1)
    deaths = 0
    while process.dies() and not has_ended(bus):
        deaths += 1
        stage.end(process)
        if fresh:
            stage.end(*agents)
            agents = stage.agents(url, *AGENTS, joins=True)
        process = stage.process(url, 1, acknowledged=acknowledged)
        process.take_over(AGENTS, number=1)
    assert deaths > 20

    last = stage.process(url)
    last.house.resume("g", last.overs.put)
    over = last.over()
    assert (over.error, over.digest) == (None, whole_digest)

    events = events_of(bus)
    answered = sum(event.type == "answered" for event in events)
    replies = replies_of(bus, AGENTS)
    assert max(replies.values()) == 1
    assert len(replies) == answered
    assert all(event.outcome == "accepted" for event in events if event.type == "answered")
    assert not any(event.type == "rejected" for event in events)
    news = [validate(HOUSE_NEWS, unpack(entry.body)) for entry in bus.entries(streams.games(HOUSE))]
    assert [item.type for item in news] == ["game_opened", "game_closed"]
    assert (news[1].outcome, news[1].lines, news[1].hash) == ("ended", len(events), bus.head(HOUSE, "g"))


def has_ended(bus) -> bool:
    last = bus.entries(streams.record(HOUSE, "g"), limit=100_000)[-1]
    return last.type == "ended"


@pytest.mark.parametrize("answered", [1, 40])
def test_an_agent_that_died_is_told_all_again_when_it_comes_back_and_the_game_is_the_same(
    url, stage, whole_digest, answered
):
    bus = stage.watch(url)
    stage.agents(url, "one")
    silenced = threading.Event()
    left = iter(range(answered))

    def falls_silent(_ask: Ask) -> bool:
        if next(left, None) is None:
            silenced.set()
        return silenced.is_set()

    (mortal,) = stage.agents(url, "two", silent=falls_silent)
    process = stage.process(url)
    process.open(opened(AGENTS))
    assert silenced.wait(60)
    stage.end(mortal)
    (fresh,) = stage.agents(url, "two", joins=True)
    assert process.over().digest == whole_digest
    assert max(replies_of(bus, AGENTS).values()) == 1
    catch_up = fresh.deliveries[0]
    assert catch_up.type == "catch_up"
    assert {part.seat for part in catch_up.seats} == {seat.name for seat in opened(AGENTS).seats if seat.agent == "two"}
    assert [fact.n for fact in catch_up.facts] == list(range(1, len(catch_up.facts) + 1))
    assert all(delivery.type == "delivery" for delivery in fresh.deliveries[1:])


def test_replies_that_came_while_nobody_moderated_are_used_and_not_asked_again(url, stage, whole_digest):
    bus = stage.watch(url)
    waiting = threading.Semaphore(0)

    def note(_agent: str, _ask: Ask, reply: bytes) -> list[bytes]:
        waiting.release()
        return [reply]

    agents = stage.agents(url, *AGENTS, answers=note)
    process = stage.process(url, 5)
    process.open(opened(AGENTS))
    assert process.dies()
    stage.end(process)
    request_count = sum(
        len(part.asks)
        for agent in AGENTS
        for entry in bus.entries(streams.inbox(HOUSE, agent))
        for part in decode_mail(entry.body).seats
    )
    for _ in range(request_count):
        assert waiting.acquire(timeout=60)
    while sum(replies_of(bus, AGENTS).values()) < request_count:
        assert not waiting.acquire(timeout=0.001)
    stage.end(*agents)
    fresh = stage.agents(url, *AGENTS, joins=True)
    process = stage.process(url)
    process.take_over(AGENTS)
    assert process.over().digest == whole_digest
    asks = [ask.id for one in fresh for part in one.deliveries[0].seats for ask in part.asks]
    assert not asks or not set(asks) & {name for one in agents for name in one.asks}


RULES = "The rules, with which every prompt begins."
WRITTEN = (
    partial(json.dumps, ensure_ascii=False),
    partial(json.dumps, ensure_ascii=False, separators=(",", ":")),
    partial(json.dumps, ensure_ascii=False, indent=2),
    lambda content: f"So be it: {json.dumps(content)}",
)


def noisy(sent_replies: dict[str, str], name: str, ask: Ask, reply: bytes) -> list[bytes]:
    """A call that is reported twice, with its prompt, a doubled reply, and something wrong."""
    game, _, request = ask.id.partition("/")
    seat = ask.id.split("/")[5]
    rules = segment_hash(None, "system", RULES)
    question = {"after": rules, "role": "user", "text": f"{ask.id} for {name}"}
    sent_replies[request] = WRITTEN[len(sent_replies) % 4](unpack(reply)["content"])
    call = {
        "requests": (request,), "seat": seat, "kind": ask.kind, "model": "dice", "prompt": (segment_hash(**question),),
        "url": f"http://{name}/v1", "served": "d6", "parameters": {"temperature": 0.7}, "attempts": 1, "queue_s": 0.0,
        "latency_s": 0.0, "reply": sent_replies[request],
    }  # fmt: skip
    texts = ({"role": "system", "text": RULES}, question)
    return [
        pack({"v": 1, "type": "segments", "game": game, "seat": seat, "texts": texts}),
        pack({"v": 1, "type": "called", "game": game, "call": call}),
        pack({"v": 1, "type": "called", "game": game, "call": call}),
        reply,
        reply,
        b"\xc1" if ask.kind == "bid" else pack(unpack(reply) | {"request": f"{ask.id}/99"}),
    ]


def test_segments_calls_and_rejections_stand_once_after_any_number_of_deaths(url, stage, whole_digest):
    bus = stage.watch(url)
    sent_replies: dict[str, str] = {}
    stage.agents(url, *AGENTS, answers=partial(noisy, sent_replies))
    process = stage.process(url, 3)
    process.open(opened(AGENTS))
    while process.dies() and not has_ended(bus):
        stage.end(process)
        process = stage.process(url, 4)
        process.take_over(AGENTS)
    events = events_of(bus)
    assert digest_of(events) == whole_digest
    agent_of = {seat.name: seat.agent for seat in opened(AGENTS).seats}
    answered = [event for event in events if event.type == "answered"]
    assert {event.outcome for event in answered} == {"accepted"}
    calls = [(agent_of[event.seat], event.source) for event in events if event.type == "model_call"]
    assert len(calls) == len(set(calls)) == 2 * len(answered)
    # the record keeps each text once, and gives every prompt, reply and setting again to the letter
    texts = [text for event in events if event.type == "prompt_text" for chain in event.chains for text in chain.texts]
    assert len(texts) == len(set(texts)) == len(answered) + 1
    book, whole = PromptBook(), WholeCalls()
    for line, event in enumerate(events, 1):
        book.feed(event, line)
        whole.feed(event, line)
    for line, event in enumerate(events, 1):
        if event.type == "model_call":
            call, name, (request,) = whole.whole(event, line), agent_of[event.seat], event.requests
            assert book.messages(event) == [("system", RULES), ("user", f"g/{request} for {name}")]
            assert (call.url, call.served, call.parameters) == (f"http://{name}/v1", "d6", {"temperature": 0.7})
            assert call.reply == sent_replies[request]
    styles = {event.answered_as for event in events if event.type == "model_call"}
    assert styles == {"spaced", "dense", "indented", None}
    rejected = [(event.sender, event.source) for event in events if event.type == "rejected"]
    assert len(rejected) == len(set(rejected))
    for agent in AGENTS:
        # of six messages to a request the fifth is a second reply, which may pass for the first one read again; of
        # what comes sixth none is missing before the last that was recorded
        entries = bus.entries(streams.outbox(HOUSE, agent), limit=100_000)
        sent = [entry.id for entry in entries if entry.type != "join"]
        wrong = [source for place, source in enumerate(sent) if place % 6 > 3]
        recorded = [source for sender, source in rejected if sender == agent]
        assert set(recorded) <= set(wrong)
        sixth = [source for source in recorded if source in sent[5::6]]
        assert sixth == sent[5::6][: len(sixth)]
        assert len(recorded) > len(answered) // 4
    reasons = Counter(event.reason for event in events if event.type == "rejected")
    assert set(reasons) == {"closed", "unknown", "unreadable"}


def test_a_reply_to_a_step_that_the_bus_lost_is_held_against_nobody_by_whoever_takes_over(
    memory_url, stage, whole_digest
):
    bus = stage.watch(memory_url)
    agents = stage.agents(memory_url, *AGENTS)
    process = stage.process(memory_url, 5)
    process.open(opened(AGENTS))
    assert process.dies()
    stage.end(process, *agents)
    seat = next(seat.name for seat in opened(AGENTS).seats if seat.agent == "one")
    words = {
        # what the rules ask there, and what they never ask, or not of this agent
        f"g/1/vote/1/vote/{seat}": "one",
        f"g/2/debate/2/assess_other/{seat}/9": "one",
        f"g/1/vote/1/bid/{seat}": "one",
        f"g/11/vote/1/vote/{seat}": "one",
        f"g/3/vote/1/vote/{seat}": "two",
    }
    for number, (request, agent) in enumerate(words.items(), 1):
        body = {"v": 1, "type": "reply", "game": "g", "request": request, "seat": seat}
        kind, content = ("vote", {"target": None}) if "/vote/" in request else ("bid", {"bid": 3})
        out = streams.outbox(HOUSE, agent)
        start, _, last = bus.last_id(out).partition("-")
        entry = Entry(pack(body | {"kind": kind, "content": content}), "reply", agent, "g", number)
        bus.append(out, [entry._replace(id=f"{start}-{int(last) + 1}")])
    stage.agents(memory_url, *AGENTS, joins=True)
    process = stage.process(memory_url)
    process.take_over(AGENTS)
    assert process.over().digest == whole_digest
    rejected = [event for event in events_of(bus) if event.type == "rejected"]
    assert {event.request for event in rejected if event.reason == "unknown"} == set(list(words)[2:])


def test_a_reply_that_comes_after_its_request_timed_out_is_rejected_once_however_often_it_is_read(memory_url, stage):
    bus = stage.watch(memory_url)
    hasty = SMALL.model_copy(update={"deadlines": Deadlines(**dict.fromkeys(Deadlines.model_fields, 0.05))})
    slow = threading.Event()
    (late,) = stage.agents(memory_url, "two", silent=lambda ask: slow.wait(20) and False)
    stage.agents(memory_url, "one")
    process = stage.process(memory_url, 4)
    process.open(opened(AGENTS, config=hasty))
    assert process.dies()
    slow.set()
    stage.end(process)
    while not has_ended(bus):
        process = stage.process(memory_url, 3)
        process.take_over(AGENTS)
        process.overs.get(timeout=60)
        stage.end(process)
    events = events_of(bus)
    rejected = [(event.sender, event.source) for event in events if event.type == "rejected"]
    assert len(rejected) == len(set(rejected)) > 0
    assert {event.reason for event in events if event.type == "rejected"} == {"closed"}
    assert late.asks

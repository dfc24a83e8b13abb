"""A language model in a seat: readings, one re-ask, defaults, the compact protocol, walls around prompts."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.llm.brain.gateway import Script, ScriptedContext, filled, obliging
from wolfbus.cli.embedded import EmbeddedHouse
from wolfbus.cli.proof import Proof, ProofCriteria, open_source, prove
from wolfbus.config import Deadlines, GameConfig
from wolfbus.record.digest import Digest
from wolfbus.record.prompts import PromptBook

SHORT = GameConfig(debate_turns=3, max_rounds=2)
COMPACT = SHORT.model_copy(update={"protocol": "compact"})


def play(
    folder: Path, script: Script, config: GameConfig = SHORT, brains: Sequence[str] = ("llm:m",) * 8, seed: str = "5"
) -> tuple[Proof, ScriptedContext]:
    with ScriptedContext(script) as brain_context, EmbeddedHouse(brain_context=brain_context) as house:
        path = folder / "game.ndjson"
        game = house.open(config, seed, brains, path)
        assert game.finished.wait(60)
        assert game.over is not None
        assert game.over.error is None, game.over.error
    proof = prove(open_source(str(path)), ProofCriteria(), keep=True)
    assert proof.verified, proof.problems
    return proof, brain_context


def of(proof: Proof, kind: str) -> list[Any]:
    return [recorded.event for recorded in proof.records if recorded.event.type == kind]


def test_every_call_in_the_record_rebuilds_the_prompt_that_was_sent(tmp_path):
    proof, brain_context = play(tmp_path, obliging)
    book = PromptBook()
    sent = Counter(tuple((message.role, message.content) for message in q.messages) for q in brain_context.questions)
    rebuilt: Counter[Any] = Counter()
    for recorded in proof.records:
        book.feed(recorded.event, recorded.n)
        if recorded.event.type == "model_call":
            rebuilt[tuple(book.messages(recorded.event))] += 1
    assert rebuilt == sent


def test_what_cannot_be_read_is_asked_for_once_more_with_the_fault_named(tmp_path):
    def script(question):
        if len(question.messages) == 2:
            return obliging(question).__class__(text="I would rather not say.", finish="stop", attempts=1)
        return obliging(question)

    proof, brain_context = play(tmp_path, script)
    answers = of(proof, "answered")
    read = {event.reading for event in answers if event.kind != "speak"}
    assert read == {"reasked"}
    calls = of(proof, "model_call")
    assert Counter(call.reask for call in calls)[True] > 0
    again = next(q for q in brain_context.questions if len(q.messages) > 2)
    assert again.messages[-2].role == "assistant"
    assert "JSON" in again.messages[-1].content


def test_what_cannot_be_read_twice_is_the_default_with_the_raw_text_and_the_fault(tmp_path):
    def script(question):
        return obliging(question).__class__(text="<html>502</html>", finish="stop", attempts=1)

    proof, _ = play(tmp_path, script)
    answers = [event for event in of(proof, "answered") if event.kind != "speak"]
    assert {(event.outcome, event.fault, event.raw) for event in answers} == {
        ("defaulted", "unparseable", "<html>502</html>")
    }


def test_a_refusal_is_recorded_in_the_models_words(tmp_path):
    def script(question):
        return obliging(question).__class__(refusal="I cannot help with deception.", attempts=1)

    proof, _ = play(tmp_path, script, brains=("llm:m",) + ("scripted",) * 7)
    answers = [event for event in of(proof, "answered") if event.fault]
    assert {(event.fault, event.raw) for event in answers} == {("refused", "I cannot help with deception.")}


def test_the_compact_protocol_needs_half_the_calls_and_is_marked(tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "compact").mkdir()
    whole = GameConfig(max_rounds=1)
    paper, _ = play(tmp_path / "paper", obliging, whole)
    compact, _ = play(tmp_path / "compact", obliging, whole.model_copy(update={"protocol": "compact"}))
    for proof in (paper, compact):
        answers = of(proof, "answered")
        assert {(event.outcome, event.reading) for event in answers} == {("accepted", "clean")}
    per_answer = [len(of(proof, "model_call")) / len(of(proof, "answered")) for proof in (paper, compact)]
    assert per_answer[0] == 1
    assert per_answer[1] < 0.55
    assert compact.records[0].event.config.protocol == "compact"
    several = [call for call in of(compact, "model_call") if len(call.requests) > 1]
    assert several
    assert all(request.split("/")[4] == call.seat for call in several for request in call.requests)


@pytest.mark.parametrize("kind", ["speak", "vote"])
def test_a_compact_label_is_that_of_the_words_it_came_with(tmp_path, kind):
    """The first reply has no usable words and calls itself a lie; the second one is honest."""

    def script(question):
        reply = obliging(question)
        value = json.loads(reply.text)
        if question.purpose == kind:
            first = len(question.messages) == 2
            value["label"] |= {"deceptive": first, "kind": "fabrication" if first else "none", "confidence": 0.9}
            if first and kind == "speak":
                value["speech"] = {"thought": "none"}
            elif first:
                value["vote"]["target"] = "Zebulon"
            else:
                words = value["speech"] if kind == "speak" else value["vote"]
                words["text" if kind == "speak" else "reason"] = f"Honest words {random.random()}"
        return reply.__class__(text=json.dumps(value), attempts=1)

    proof, _ = play(tmp_path, script, COMPACT)
    own = [event for event in of(proof, "answered") if event.kind == "assess_own"]
    said = {event.statement: event for event in of(proof, "statement")}
    labels = [event for event in own if (said[event.about].phase == "vote") is (kind == "vote")]
    assert labels
    assert {(event.content.deceptive, event.reading) for event in labels} == {(False, "reasked")}
    assert all(call.labels for call in of(proof, "model_call") if call.kind in {"speak", "vote"})


def test_calls_under_way_are_given_up_when_the_house_closes(tmp_path):
    import asyncio

    begun, cancelled = threading.Event(), threading.Event()

    async def complete(question):
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with ScriptedContext(obliging) as brain_context:
        brain_context.gateway.complete = complete
        with EmbeddedHouse(brain_context=brain_context) as house:
            house.open(SHORT, "5", ("llm:m",) * 8, tmp_path / "game.ndjson")
            assert begun.wait(10)
        assert cancelled.wait(10)


def test_no_prompt_of_a_seat_holds_another_seats_private_text(tmp_path):
    """Every private text of every seat carries a canary; the prompts show whose."""
    for config in (SHORT, COMPACT):
        lock, counter = threading.Lock(), iter(range(10**9))
        names: dict[str, str] = {}

        def script(question, lock=lock, counter=counter, names=names):
            seat = question.label.split("/")[5]
            with lock:
                number = next(counter)
            names[seat] = seat
            rng = random.Random(repr(question.messages))
            value = filled(question.form.schema, rng, f"canary<{seat}>{number}")
            return obliging(question).__class__(text=json.dumps(value), attempts=1, thought=f"canary<{seat}>{number}")

        (tmp_path / config.protocol).mkdir()
        proof, brain_context = play(tmp_path / config.protocol, script, config)
        wolves = {seat.name for seat in proof.records[0].event.seats if seat.role == "Werewolf"}
        own = 0
        for question in brain_context.questions:
            seat = question.label.split("/")[5]
            text = "\n".join(message.content for message in question.messages)
            for owner, member in re.findall(r"canary<([^>]+)>\d+([-\w]*)", text):
                if owner == seat:
                    own += 1
                    continue
                public = member.endswith(("-text", "-reason"))
                whisper = member.endswith("-word") and {owner, seat} <= wolves
                assert public or whisper, f"{seat}'s prompt holds {owner}'s {member}"
        assert own > 0


def test_a_model_that_is_slower_than_the_grace_wakes_its_seat(tmp_path):
    config = GameConfig(
        names=tuple("ABCDEFGH"),
        roles=dict(zip("ABCDEFGH", ["Werewolf", "Werewolf", *["Villager"] * 4, "Seer", "Doctor"], strict=True)),
        strikes=2,
        absent_grace=0.01,
        deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, 0.5)),
    )
    asked: Counter[str] = Counter()

    class Slow(ScriptedContext):
        pass

    async def complete(question, gateway):
        import asyncio

        gateway.questions.append(question)
        asked["all"] += 1
        if asked["all"] <= 2:
            # as the real gateway does: the deadline cuts the call off
            await asyncio.sleep(0.45)
            return obliging(question).__class__(timed_out=True, error="no reply in time", attempts=1)
        await asyncio.sleep(0.03)
        return obliging(question)

    with Slow(obliging) as brain_context:
        brain_context.gateway.complete = lambda question: complete(question, brain_context._gateway)
        with EmbeddedHouse(brain_context=brain_context) as house:
            game = house.open(config, "5", ("llm:m",) + ("scripted",) * 7, tmp_path / "game.ndjson")
            assert game.finished.wait(60)
    proof = prove(open_source(str(tmp_path / "game.ndjson")), ProofCriteria(), keep=True)
    assert proof.verified
    assert of(proof, "absent")
    assert of(proof, "returned")


@pytest.mark.parametrize("config", [SHORT, COMPACT], ids=["paper", "compact"])
def test_model_calls_are_no_part_of_the_digest(tmp_path, config):
    proof, _ = play(tmp_path, obliging, config)
    digest = Digest()
    for recorded in proof.records:
        if recorded.event.type not in {"model_call", "prompt_text"}:
            digest.feed(recorded.event)
    assert digest.hexdigest() == proof.digest

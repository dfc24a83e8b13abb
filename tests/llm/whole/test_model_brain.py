"""A language model in a seat: readings, one re-ask, defaults, the compact protocol, walls around prompts."""

import dataclasses
import json
import random
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from players.llm.prompts.style import Style
from players.llm.provider import Endpoint, Model, ProviderReply
from players.llm.settings import ThemeName
from players.spec import BrainContext, build
from tests.llm.whole import playing
from tests.llm.whole.playing import obliging, played, readings, scripted
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask
from wolfbus.record.digest import Digest
from wolfbus.record.prompts import PromptBook

PROTOCOLS = pytest.mark.parametrize("protocol", ["paper", "compact"])


@PROTOCOLS
def test_every_call_in_the_record_rebuilds_its_prompt_without_what_servers_show_and_is_no_part_of_the_digest(
    tmp_path: Path, protocol: str
) -> None:
    def script(request):
        first = len(request.messages) == 2 and random.Random(repr(request.messages)).random() < 0.1
        reply = ProviderReply("I would rather not say.") if first else obliging(request)
        return dataclasses.replace(reply, thought="hidden reasoning")

    with scripted(script) as provider:
        proof = played(tmp_path, protocol=protocol, max_rounds=2)
    book, digest, rebuilt = PromptBook(), Digest(), Counter()
    for recorded in proof.records:
        book.feed(recorded.event, recorded.n)
        if recorded.event.type == "model_call":
            rebuilt[tuple(book.messages(recorded.event))] += 1
        elif recorded.event.type != "prompt_text":
            digest.feed(recorded.event)
    sent = Counter(
        tuple((message.role, message.content) for message in request.messages) for request in provider.requests
    )
    assert rebuilt == sent
    assert "hidden reasoning" not in str(sent)
    assert {call.reasoning for call in proof.of("model_call")} == {"hidden reasoning"}
    assert digest.hexdigest() == proof.digest


def test_what_cannot_be_read_is_asked_for_once_more_with_the_fault_named(tmp_path: Path) -> None:
    def script(request):
        return ProviderReply("I would rather not say.") if len(request.messages) == 2 else obliging(request)

    with scripted(script) as provider:
        proof = played(tmp_path)
    assert {event.reading for event in proof.of("answered") if event.kind != "speak"} == {"reasked"}
    assert any(call.reask for call in proof.of("model_call"))
    again = next(request for request in provider.requests if len(request.messages) > 2)
    assert again.messages[-2].role == "assistant"
    assert "JSON" in again.messages[-1].content


def test_a_model_that_repeated_itself_is_told_so_and_not_shown_all_of_it(tmp_path: Path) -> None:
    sentence = "I trust nobody, and nobody trusts me. "
    cut = ProviderReply('{"thought": "' + sentence * 60, finish="length")
    with scripted(lambda request: cut if len(request.messages) == 2 else obliging(request)) as provider:
        proof = played(tmp_path)
    assert {event.reading for event in proof.of("answered")} == {"reasked"}
    for request in (request for request in provider.requests if len(request.messages) > 2):
        shown, question = request.messages[-2:]
        assert shown.content.startswith('{"thought": "I trust nobody')
        assert shown.content.count(sentence) < 4
        assert "it repeats itself until it is cut off; be brief" in question.content


def test_what_a_model_copies_from_its_prompt_s_form_is_neither_a_statement_nor_a_thought(tmp_path: Path) -> None:
    def script(request):
        copied = {**json.loads(obliging(request).text), "thought": "<your private reasoning>"}
        if "text" in copied and len(request.messages) == 2:
            copied["text"] = "String of at most 1000 characters, your public statement"
        return ProviderReply(json.dumps(copied))

    with scripted(script):
        proof = played(tmp_path)
    answers = proof.of("answered")
    assert {event.reading for event in answers if event.kind == "speak"} == {"reasked"}
    assert {event.content.text for event in answers if event.kind == "speak"} == {"word"}
    assert {event.thought for event in answers} == {None}


@pytest.mark.parametrize("rules", [{}, {"max_statement": 300}], ids=["any-length", "short"])
def test_what_its_form_says_of_a_statement_or_a_reason_is_never_published(
    tmp_path: Path, rules: dict[str, int]
) -> None:
    most = rules.get("max_statement")

    def script(request):
        copied = json.loads(obliging(request).text)
        if "text" in copied:
            longest = f"string of at most {most or 1000} characters"
            copied["text"] = f"{longest}, your public statement: new sentences, none from above"
        if "reason" in copied:
            longest = f"string of at most {most or 500} characters"
            copied["reason"] = f"{longest}, your public reason: new sentences, none from above, or null"
        return ProviderReply(json.dumps(copied))

    with scripted(script):
        proof = played(tmp_path, **rules)
    assert proof.of("silence")
    assert not proof.of("statement")


@pytest.mark.parametrize("label", ["after", "with"])
@pytest.mark.parametrize("again", ["own", "copied", "nothing"])
def test_a_statement_that_stands_in_its_prompt_is_asked_for_again_and_else_counts_as_copied(
    tmp_path: Path, again: str, label: str
) -> None:
    rule = "The Werewolves win when they are at least as many as the other living players."

    def script(request):
        answer = json.loads(obliging(request).text)
        speech = answer.get("speech", answer)
        assert rule in request.messages[0].content
        if "text" in speech and (again == "copied" or len(request.messages) == 2):
            speech["text"] = f"{rule.upper()}\n{rule}" if label == "after" else f"As you know, {rule}"
        elif "text" in speech and again == "nothing":
            return ProviderReply("{}")
        return ProviderReply(json.dumps(answer))

    with scripted(script) as provider:
        proof = played(tmp_path, label=label)
    spoken = [event for event in proof.of("answered") if event.kind == "speak"]
    assert {event.reading for event in spoken} == {"reasked" if again == "own" else "copied"}
    assert {event.content.text == "word" for event in spoken} == {again == "own"}
    assert {event.content.label is not None for event in spoken} == {label == "with"}
    asked = [request.messages[-1].content for request in provider.requests if len(request.messages) > 2]
    assert len(asked) == len(spoken)
    assert all("the words of the statement stand in the prompt already" in words for words in asked)


def test_under_a_theme_no_prompt_names_the_game_and_what_is_said_is_told_back_in_its_words(tmp_path: Path) -> None:
    themed = "Lookout here: SMUGGLERS, and a smuggler."

    def script(request):
        answer = json.loads(obliging(request).text)
        return ProviderReply(json.dumps({**answer, "text": themed} if "text" in answer else answer))

    with scripted(script) as provider:
        proof = played(tmp_path, model='theme = "smugglers"')
    sent = "\n".join(message.content for request in provider.requests for message in request.messages)
    assert "a Smuggler" in sent
    assert re.findall(r"(?i)\b\w*wol(?:f|ves)\b|\bvillag\w+|\bseers?\b|\bdoctors?\b", sent) == []
    spoken = [event for event in proof.of("answered") if event.kind == "speak"]
    told = "Seer here: WEREWOLVES, and a werewolf."
    assert {(event.content.text, event.reading) for event in spoken} == {(told, "clean")}
    # what others said is shown to each in the theme's words again, and the calls keep what the model said
    assert json.dumps(themed) in sent
    assert {json.loads(call.reply)["text"] for call in proof.of("model_call") if call.kind == "speak"} == {themed}


def test_a_name_that_a_theme_has_a_word_for_stays_a_name() -> None:
    skin = Style(theme="machines").skin(("Doctor", "Ada Wolf", "Eve"))
    assert (
        skin.to_theme("Doctor: Ada Wolf is a wolf, says the Seer.")
        == "Doctor: Ada Wolf is a replicant, says the Scanner."
    )
    assert skin.from_theme("Doctor: Ada Wolf is a replicant.") == "Doctor: Ada Wolf is a werewolf."
    assert Style().skin(("Ada",)).to_theme("a Werewolf") == "a Werewolf"


def test_every_theme_has_a_word_for_all_the_game_s_own_and_tells_it_back() -> None:
    sentence = "Werewolves and a werewolf, Villagers of the village, Seers, a Doctor."
    for theme in get_args(ThemeName):
        skin = Style(theme=theme).skin(("Ada",))
        assert (skin.to_theme(sentence) == sentence) == (theme == "werewolf")
        assert skin.from_theme(skin.to_theme(sentence)) == sentence


@pytest.mark.parametrize(
    ("reply", "fault", "raw"),
    [
        (ProviderReply("<html>502</html>"), "unparseable", "<html>502</html>"),
        (ProviderReply(None, refusal="I cannot help with deception."), "refused", "I cannot help with deception."),
    ],
)
def test_what_cannot_be_read_twice_is_the_default_with_the_raw_text_and_the_fault(tmp_path, reply, fault, raw):
    with scripted(lambda _request: reply):
        proof = played(tmp_path, "--give-up", "0", players="llm:m*1,scripted*7")
    faults = [event for event in proof.of("answered") if event.fault and event.kind != "speak"]
    assert {(event.outcome, event.fault, event.raw) for event in faults} == {("defaulted", fault, raw)}


def test_the_compact_protocol_needs_half_the_calls_and_is_marked(tmp_path: Path) -> None:
    per_answer = {}
    for protocol in ("paper", "compact"):
        with scripted(obliging):
            proof = played(tmp_path, game=protocol, protocol=protocol, debate_turns=8)
        assert set(readings(proof)) == {"clean"}
        per_answer[protocol] = len(proof.of("model_call")) / len(proof.of("answered"))
        assert proof.records[0].event.config.protocol == protocol
    assert per_answer["paper"] == 1
    assert per_answer["compact"] < 0.55
    several = [call for call in proof.of("model_call") if len(call.requests) > 1]
    assert several
    assert all(request.split("/")[4] == call.seat for call in several for request in call.requests)


@pytest.mark.parametrize("kind", ["speak", "vote"])
def test_a_compact_label_is_that_of_the_words_it_came_with(tmp_path: Path, kind: str) -> None:
    """The first reply has no usable words and calls itself a lie; the second one is honest."""

    def script(request):
        reply = obliging(request)
        value = json.loads(reply.text)
        words = value.get("speech" if kind == "speak" else "vote")
        if words is not None:
            first = len(request.messages) == 2
            value["label"] |= {"deceptive": first, "kind": "fabrication" if first else "none", "confidence": 0.9}
            if first and kind == "speak":
                value["speech"] = {"thought": "none"}
            elif first:
                words["target"] = "Zebulon"
            else:
                words["text" if kind == "speak" else "reason"] = f"Honest words {random.random()}"
        return dataclasses.replace(reply, text=json.dumps(value))

    with scripted(script):
        proof = played(tmp_path, protocol="compact")
    statements = {event.statement: event for event in proof.of("statement")}
    own_labels = [event for event in proof.of("answered") if event.kind == "assess_own"]
    labels = [event for event in own_labels if (statements[event.about].phase == "vote") is (kind == "vote")]
    assert {(event.content.deceptive, event.reading) for event in labels} == {(False, "reasked")}
    assert all(call.labels for call in proof.of("model_call") if call.kind in {"speak", "vote"})


def test_calls_under_way_are_given_up_when_the_seat_is(tmp_path: Path) -> None:
    begun, answered = threading.Event(), []

    class Replies:
        def answer(self, ask: Ask, answer: Any) -> None:
            answered.append(answer)

        def segments(self, _texts: Any) -> None:
            begun.set()

    ask = Ask(id="g/1/debate/1/bid/Ada", kind="bid", round=1, phase="debate", turn=1, deadline_s=60.0)
    model = Model(model="m", endpoint=Endpoint(provider=playing.__name__))
    with scripted(lambda _request: 60.0) as provider, BrainContext({"m": model}) as brain_context:
        brain = build("llm:m", brain_context)
        brain.start((ask,), SeatView(me="Ada", names=("Ada", "Bo"), config=GameConfig()), Replies())
        assert begun.wait(60)
        brain.close()
    assert (provider.open, answered) == (0, [])


def test_a_model_that_is_slower_than_the_grace_wakes_its_seat(tmp_path: Path) -> None:
    names = list("ABCDEFGH")
    roles = dict(zip(names, ["Werewolf", "Werewolf", *["Villager"] * 4, "Seer", "Doctor"], strict=True))
    slow = iter([1.0, 1.0])
    with scripted(lambda _request: next(slow, 0.03)):
        proof = played(
            tmp_path,
            players="llm:m*1,scripted*7",
            names=names,
            roles=roles,
            strikes=2,
            absent_grace=0.01,
            max_rounds=2,
            deadlines=dict.fromkeys(Deadlines.model_fields, 0.5),
            spoilt_above=1.0,
        )
    assert proof.of("absent")
    assert proof.of("returned")

"""What the double answers when it behaves."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from players.llm.prompts.writer import Prompt, PromptWriter
from tests.llm.double.parts import LEGAL, LIVING, TEMPLATES, said, said_to
from tests.players.table import CONFIGS, play
from wolfbus.agent.answer import Answer
from wolfbus.messages.content import Bid, Judgement, Label
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, read
from wolfbus.testing.model_answer import schema_of_prompt, schema_of_template
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

KINDS: tuple[Kind, ...] = get_args(Kind)


def body_of(prompt: Prompt, *, schema: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": message.role, "content": message.content} for message in prompt.messages],
    }
    if schema:
        form = {"name": prompt.form.name, "strict": True, "schema": prompt.form.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


class DoubleBrain:
    """Plays by what the double says; a request goes to it with the schema and without, and once more after a fault."""

    quick = True

    def __init__(self) -> None:
        self.writer = PromptWriter()

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        prompt = self.writer.write([ask], view)
        spoken = said(body_of(prompt, schema=True))
        in_words = said(body_of(prompt, schema=False))
        assert in_words.reply.text == spoken.reply.text, "the form makes the answer, however it is told"
        again = said(body_of(self.writer.reask(prompt, "what?", "the reply holds no JSON object"), schema=False))
        for each in (again, spoken):
            text = each.reply.text
            assert text is not None
            got = read(text, Question(ask.kind, legal=ask.legal, names=view.names, bid_max=view.config.bid_max))
            assert (got.reading, got.fault) == ("clean", None), (ask, text, got.note)
            assert got.thought
        return Answer(got.content, got.thought)


@pytest.mark.parametrize("config", ["paper", "small", "free", "strict", "odd names"])
def test_it_answers_every_prompt_of_a_whole_game_cleanly(config: str) -> None:
    asked: set[Kind] = set()
    bids: set[int] = set()

    def watch(ask: Ask, _view: SeatView, answer: Answer) -> None:
        asked.add(ask.kind)
        if isinstance(answer.content, Bid):
            bids.add(answer.content.bid)

    played = play("7", CONFIGS[config], [DoubleBrain], watch)
    assert played.ended.reason
    assert {"bid", "speak", "assess_own", "assess_other", "vote"} <= asked
    assert len(bids) > 3


def test_some_votes_reach_a_majority() -> None:
    exiled = [event.seat for event in play("5", CONFIGS["paper"], [DoubleBrain]).events if event.type == "exile"]
    assert any(exiled)


def test_a_call_that_asks_for_several_things_gets_all_of_them() -> None:
    seen: list[list[str]] = []

    def watch(ask: Ask, view: SeatView, _answer: Answer) -> None:
        if ask.kind == "assess_other" and not seen:
            assert ask.about is not None
            bid = Ask(id="b", kind="bid", round=1, phase="debate", turn=2, deadline_s=60.0)
            prompt = PromptWriter().write([ask, bid], view)
            for schema in (True, False):
                spoken = said(body_of(prompt, schema=schema))
                parts = json.loads(spoken.reply.text or "")
                seen.append(list(parts))
                assert read(json.dumps(parts["bid"]), Question("bid")).reading == "clean"
                assert read(json.dumps(parts[f"judgement_{ask.about}"]), Question("assess_other")).reading == "clean"

    play("7", CONFIGS["paper"], [DoubleBrain], watch)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 2


@pytest.mark.parametrize("kind", list(TEMPLATES))
def test_every_form_in_words_is_answered_cleanly(kind: Kind) -> None:
    legal = ("Raj", "Bo") if kind == "whisper" else LEGAL
    for number in range(50):
        text = said_to(kind, number).reply.text
        assert text is not None
        assert read(text, Question(kind, legal=legal, names=LIVING)).reading == "clean", text


def test_answers_depend_on_the_seed_and_the_messages_alone() -> None:
    one = said_to("speak", seed=3)
    assert said_to("speak", seed=3, latency=9.0, models=("x",), key="k").reply == one.reply
    assert said_to("speak", seed=4).reply != one.reply
    assert said_to("speak", 1, seed=3).reply != one.reply


def test_wolves_label_their_words_deceptive_more_often_than_villagers() -> None:
    def lies(role: str) -> int:
        return sum(json.loads(said_to("assess_own", n, role).reply.text or "")["deceptive"] for n in range(200))

    assert lies("Werewolf") > 100 > 40 > lies("Villager")


def test_suspicion_and_kind_follow_the_judgement() -> None:
    flagged = 0
    for number in range(100):
        judgement = read(said_to("assess_other", number).reply.text or "", Question("assess_other")).content
        assert isinstance(judgement, Judgement)
        assert judgement.deceptive == (judgement.suspicion > 0.5) == (judgement.kind != "none")
        assert judgement.stated_kind is None
        flagged += judgement.deceptive
    assert 15 < flagged < 60


def test_a_label_that_is_not_deceptive_is_of_no_kind() -> None:
    for number in range(50):
        label = read(said_to("assess_own", number, "Werewolf").reply.text or "", Question("assess_own")).content
        assert isinstance(label, Label)
        assert label.stated_kind is None


def test_what_it_says_is_about_living_players_but_itself() -> None:
    texts = [json.loads(said_to("speak", number).reply.text or "")["text"] for number in range(40)]
    assert all(any(name in text for name in LIVING) for text in texts)
    assert not any("Ada" in text for text in texts)
    assert len(set(texts)) > 20


def test_a_wolf_does_not_vote_for_its_partner() -> None:
    def target(number: int) -> str | None:
        body = {"model": "m", "messages": [{"role": "user", "content": prompt.replace("#", str(number))}]}
        vote: str | None = json.loads(said(body).reply.text or "")["target"]
        return vote

    prompt = (
        f"#\nYou are Ada, a Werewolf. Your partner: Bo.\nLiving players: {', '.join(LIVING)}.\n"
        f"Reply with one JSON object and nothing else, in this form:\n{TEMPLATES['vote']}"
    )
    assert {target(number) for number in range(100)} == {"Raj", "Chioma", None}


def test_a_question_without_a_form_gets_a_word() -> None:
    assert said({"model": "m", "messages": [{"role": "user", "content": "Reply with the word OK."}]}).reply.text == "OK"


def test_templates_are_understood() -> None:
    template = (
        '{"a": "<words>", "b": <whole number 2 to 7>, "c": <number 0 to 1>, "d": <true or false>, '
        '"e": <one of: "x>y", "comma, \\"quoted\\"", null>, "f": {"g": <true or false>}, '
        '"i": "constant", "j": <words, or null>}'
    )
    assert schema_of_template(template)["properties"] == {
        "a": {"type": "string"},
        "b": {"type": "integer", "minimum": 2, "maximum": 7},
        "c": {"type": "number", "minimum": 0, "maximum": 1},
        "d": {"type": "boolean"},
        "e": {"enum": ["x>y", 'comma, "quoted"', None]},
        "f": {"type": "object", "properties": {"g": {"type": "boolean"}}},
        "i": {"enum": ["constant"]},
        "j": {"type": ["string", "null"]},
    }


@pytest.mark.parametrize("broken", ['{"a": ', '{"a" 1}', '{"a": <one of: >}', "{" * 30, '{"a": <never closed', "{]"])
def test_what_is_no_template_is_no_form(broken: str) -> None:
    assert schema_of_prompt([f"Answer in this form:\n{broken}"]) is None


def test_a_form_that_another_player_speaks_of_is_not_the_form() -> None:
    hostile = 'Raj: "in this form: {\\"bid\\": 99}"\n'
    schema = schema_of_prompt([f"{hostile}Reply in this form:\n{TEMPLATES['bid']}"])
    assert schema == schema_of_template(TEMPLATES["bid"])

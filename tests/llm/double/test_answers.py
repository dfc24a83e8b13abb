"""What the double answers when it behaves."""

from __future__ import annotations

from typing import Any

import pytest

from players.llm.prompts.writer import Prompt, PromptWriter
from tests.llm.double.parts import said, said_to
from tests.players.table import CONFIGS, play
from wolfbus.agent.answer import Answer
from wolfbus.messages.content import Bid
from wolfbus.messages.requests import Ask
from wolfbus.reading import Question, read
from wolfbus.testing.model_answer import schema_of_template
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind


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


def test_answers_depend_on_the_seed_and_the_messages_alone() -> None:
    one = said_to("speak", seed=3)
    assert said_to("speak", seed=3, latency=9.0, models=("x",), key="k").reply == one.reply
    assert said_to("speak", seed=4).reply != one.reply
    assert said_to("speak", 1, seed=3).reply != one.reply


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

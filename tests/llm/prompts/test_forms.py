"""Forms keep to what servers take, say the same in both writings, and an obedient reply to one is read as clean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from players.llm.prompts.forms import FormPart, form_in_words, shaped
from tests.llm.prompts.calls import Calls
from tests.llm.prompts.games import CONFIGS, play
from wolfbus.reading import Question, read
from wolfbus.testing.model_answer import FormFiller, PromptScene, schema_of_prompt
from wolfbus.vocabulary import KINDS

NAMES = ('Ada "the" <wise>', "Bo, or so", "Ünal", "{t}", "a\\b", "null?")
LEGAL = (*NAMES[1:], None)
NAMING = ("vote", "kill", "protect", "inspect", "whisper")
PARTS = [
    FormPart(kind, 12 if kind.startswith("assess") else None, legal)
    for kind in KINDS
    for legal in ([LEGAL, NAMES] if kind in NAMING else [None])
]
STRICT = {"type", "properties", "required", "additionalProperties", "enum", "description"}


def strict(schema: Mapping[str, Any], depth: int = 1) -> None:
    assert depth <= 5
    assert set(schema) <= STRICT
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        for part in schema["properties"].values():
            strict(part, depth + 1)
    else:
        assert set([schema["type"]] if isinstance(schema["type"], str) else schema["type"]) <= {
            "string", "integer", "number", "boolean", "null",
        }  # fmt: skip
        assert len(schema.get("enum", "x")) <= 500


def one(part: FormPart, **options: Any):
    return shaped((part,), **{"bid_max": 10, "reasons": True, "together": False} | options)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_form_of_a_game_is_within_strict_mode(config):
    calls = Calls(compact=config.protocol == "compact")
    play(calls, config)
    for prompt in calls.prompts:
        strict(prompt.form.schema)
        json.dumps(prompt.form.schema)
        assert re.fullmatch(r"\w{1,64}", prompt.form.name, re.ASCII)


@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("writing", ["schema", "words"])
def test_an_obedient_reply_is_read_clean(part, writing):
    asked = one(part)
    schema = asked.form.schema if writing == "schema" else schema_of_prompt([form_in_words(asked.template)])
    assert schema is not None
    for number in range(30):
        reply = FormFiller(0, str(number), PromptScene(NAMES)).fill(schema)
        assert list(reply) == list(asked.form.schema["properties"])
        legal = part.legal
        got = read(json.dumps(reply, ensure_ascii=False), Question(part.kind, legal=legal, names=NAMES))
        assert got.reading == "clean", (reply, got)
        assert got.thought == reply["thought"]


def test_null_is_offered_exactly_where_it_is_legal():
    for kind in NAMING:
        for legal in (LEGAL, NAMES):
            asked = one(FormPart(kind, None, legal))
            target = asked.form.schema["properties"]["target"]
            assert target["enum"] == list(legal)
            assert target["type"] == (["string", "null"] if None in legal else "string")
            assert ("null>" in asked.template.replace("or null>", "")) is (None in legal)

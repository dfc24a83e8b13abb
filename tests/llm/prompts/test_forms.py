"""Forms keep to what servers take, say the same in both writings, and an obedient reply to one is read as clean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from players.llm.prompts.forms import KINDS_ASKED, FormPart, form_in_words, part_name, shaped
from tests.llm.prompts.calls import Calls
from tests.llm.prompts.games import CONFIGS, play
from wolfbus.messages.content import CONTENT
from wolfbus.reading import Question, read, read_parts
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
TOGETHER = [
    (FormPart("speak"), FormPart("assess_own")),
    (FormPart("vote", None, LEGAL), FormPart("assess_own")),
    (FormPart("assess_other", 9), FormPart("bid")),
    (*(FormPart("assess_other", number) for number in range(9, 17)), FormPart("assess_own", 17)),
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
def test_a_form_asks_for_the_thought_first_and_then_for_parts_of_the_content(part):
    first, *rest = one(part).form.schema["properties"]
    assert first == "thought"
    fields = set(CONTENT[part.kind].model_fields) - {"claims", "stated_kind"}
    assert set(rest) == fields


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


@pytest.mark.parametrize("parts", TOGETHER, ids=str)
@pytest.mark.parametrize("writing", ["schema", "words"])
def test_every_part_of_an_obedient_reply_is_read_clean(parts, writing):
    asked = shaped(parts, bid_max=10, reasons=True, together=True)
    schema, words = asked.form.schema, schema_of_prompt([form_in_words(asked.template)])
    wanted = {part_name(part.kind, part.about): Question(part.kind, part.legal, NAMES) for part in parts}
    for number in range(20):
        reply = FormFiller(0, str(number), PromptScene(NAMES)).fill(schema if writing == "schema" else words)
        got = read_parts(json.dumps(reply), wanted)
        assert {name: (read.reading, read.thought) for name, read in got.items()} == {
            name: ("clean", reply[name]["thought"]) for name in wanted
        }


def test_null_is_offered_exactly_where_it_is_legal():
    for kind in NAMING:
        for legal in (LEGAL, NAMES):
            asked = one(FormPart(kind, None, legal))
            target = asked.form.schema["properties"]["target"]
            assert target["enum"] == list(legal)
            assert target["type"] == (["string", "null"] if None in legal else "string")
            assert ("null>" in asked.template.replace("or null>", "")) is (None in legal)


def test_a_judgement_is_asked_for_in_the_order_and_words_of_the_paper():
    schema = one(FormPart("assess_other", 3)).form.schema["properties"]
    assert list(schema) == ["thought", "deceptive", "suspicion", "confidence", "kind", "reasoning"]
    assert schema["kind"]["enum"] == ["none", "omission", "distortion", "misdirection", "fabrication"]
    assert list(KINDS_ASKED) == schema["kind"]["enum"]


def test_a_template_is_one_line_as_documented():
    assert one(FormPart("bid")).template == '{"thought": "<your private reasoning>", "bid": <whole number 0 to 10>}'
    assert one(FormPart("kill", None, ("Ada", "Raj", None))).template == (
        '{"thought": "<your private reasoning>", "target": <one of: "Ada", "Raj", null>}'
    )


def test_a_bid_has_its_range_as_an_enum_where_that_is_short():
    assert one(FormPart("bid")).form.schema["properties"]["bid"]["enum"] == list(range(11))
    assert "enum" not in one(FormPart("bid"), bid_max=1000).form.schema["properties"]["bid"]


def test_parts_have_the_names_that_replies_are_read_by():
    names = [part_name(kind, 12) for kind in ("bid", "speak", "vote", "assess_own", "assess_other")]
    assert names == ["bid", "speech", "vote", "label", "judgement_12"]


def test_each_part_of_a_call_for_several_holds_its_own_form():
    parts = (FormPart("assess_other", 4), FormPart("assess_other", 5), FormPart("bid"))
    form = shaped(parts, bid_max=10, reasons=True, together=True)
    assert form.form.schema["properties"] == {part_name(part.kind, part.about): one(part).form.schema for part in parts}
    assert (
        form.template
        == "{" + ", ".join(f'"{part_name(part.kind, part.about)}": {one(part).template}' for part in parts) + "}"
    )
    with pytest.raises(ValueError, match="differ"):
        shaped((parts[0], parts[0]), bid_max=10, reasons=True, together=True)

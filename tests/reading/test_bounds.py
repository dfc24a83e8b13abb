import random
import time

import pytest

from wolfbus.game.vocabulary import Kind
from wolfbus.reading import Question, read, read_parts
from wolfbus.reading.copies import is_copied

SIZE = 200_000
_NOISE = random.Random(4)
GARBAGE = {
    "braces": "{" * SIZE,
    "brackets": "[" * SIZE,
    "open objects": '{"a":' * (SIZE // 5),
    "open Python objects": "{'" * (SIZE // 2),
    "quotes": '"' * SIZE,
    "backslashes": '{"a": "' + "\\" * SIZE,
    "line breaks": '{"a": "' + "\n" * SIZE,
    "parentheses": '{"a":' + "(" * SIZE,
    "comments": "{" + "/*" * (SIZE // 2),
    "bare words": "{" + "a:" * (SIZE // 2),
    "fences of broken JSON": '```json\n{"a\n```\n' * (SIZE // 17),
    "thinking tags": "<think></think>" * (SIZE // 15),
    "channels": "<|channel|>final<|message|>" * (SIZE // 27),
    "channels of thought": "<|channel|>analysis x" * (SIZE // 21),
    "analyses": "analysis" * (SIZE // 8),
    "closing tags": "</think>A" * (SIZE // 9),
    "objects": '{"bid":1} ' * (SIZE // 10),
    "broken objects": '{"a":1,,} ' * (SIZE // 10),
    "names": "Bram " * (SIZE // 5),
    "digits": "9" * SIZE,
    "emoji": "🐺" * SIZE,
    "NUL bytes": "\0" * SIZE,
    "lone surrogates": "\ud800" * SIZE,
    "noise": "".join(_NOISE.choice("{}[]\",:'ab1 \\\n") for _ in range(SIZE)),
    "what json-repair is slowest on": "{'a': " + "“:" * 3_900,
    "more of it": "{'a': " + '"bid":[' * 1_100,
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("kind", ["bid", "speak", "assess_other", "vote"])
def test_200_kb_of_garbage_cost_a_moment(kind: Kind, garbage: str) -> None:
    began = time.process_time()
    read(garbage, Question(kind, legal=["Ana", "Bram", None], names=["Ana", "Bram", "Dilara"]))
    # about 0.05 s on one core; the bound only has to tell it from the seconds and minutes of a quadratic search
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("depth", [101, 300, 450, 600, 950, 100_000])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}")], ids=["lists", "objects"])
@pytest.mark.parametrize("reply", ['{"bid": 7, "aside": %s}', "%s", "{'bid': %s,}", "Well: {bid: %s"])
def test_what_is_nested_deeper_than_any_answer_is_refused(reply: str, opening: str, closing: str, depth: int) -> None:
    text = reply % (opening * depth + "1" + closing * depth)
    assert read(text, Question("bid")).fault == "unparseable"
    assert read_parts(text, {"bid": Question("bid"), "vote": Question("vote")})["bid"].fault == "unparseable"


def test_a_reply_beyond_all_bounds_is_not_looked_at() -> None:
    got = read('{"bid": 7}' + " " * 1_000_000, Question("bid"))
    assert got.fault == "unparseable"


def test_a_long_statement_is_held_against_a_long_prompt_in_a_moment() -> None:
    began = time.process_time()
    assert not is_copied("no, " * (SIZE // 4), ", on" * (SIZE // 4))
    # it was ten seconds by a search through the prompt for each of its words
    assert time.process_time() - began < 0.5

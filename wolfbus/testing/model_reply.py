"""One request for a chat completion and what the double says to it, plain or ugly: no network, no clock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar

from wolfbus.draws import choose, unit
from wolfbus.testing.model_answer import (
    FormFiller,
    Schema,
    between,
    bounds,
    chooses_player,
    model_words,
    scene_of,
    schema_of_prompt,
)
from wolfbus.testing.model_behaviour import UGLY, Behaviour, UglySort, drawn_sort

T = TypeVar("T")

HUGE: Final = 200_000
"""Characters of a huge reply, at least."""

LEAST_THOUGHT: Final = 150
MOST_THOUGHT: Final = 600
"""Tokens that a reasoning model spends before it answers, from least to most."""

BLOCK_TOKENS: Final = 128
"""Tokens are cached by blocks of so many."""

CHARACTERS: Final = 4
"""Characters that count as a token."""

_BLOCK: Final = BLOCK_TOKENS * CHARACTERS
_MOST_BLOCKS: Final = 500_000


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the double says, and what a server counts beside it.

    Attributes:
        text: the content; None for none at all.
        finish: why it stopped.
        refusal: words of refusal in their own field.
        reasoning: thoughts in their own field.
        endless: whether it is held to no limit on its length.
        ugly: the sort of its ugliness.
        prompt_characters: length of all messages.
        prompt_tokens: what they count as.
        cached_tokens: how many of them were in the prefix cache.
        completion_tokens: what the reply counts as, reasoning included.
        reasoning_tokens: what was spent on thinking.
    """

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    endless: bool = False
    ugly: UglySort | None = None
    prompt_characters: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0

    def usage(self) -> dict[str, Any]:
        """Return the usage as servers report it."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
        }


class PrefixCache:
    """Remembers the prompts of each model by blocks, as servers do, each block together with all that goes before it.

    The oldest blocks are forgotten beyond half a million, about 250 MB of prompts.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, None] = {}

    def take(self, model: str, prompt: str) -> int:
        """Remember a prompt and return how many tokens it shares from its start with earlier ones, in whole blocks."""
        chain = hash(model)
        cached = 0
        unbroken = True
        for begin in range(0, len(prompt) - _BLOCK + 1, _BLOCK):
            chain = hash((chain, prompt[begin : begin + _BLOCK]))
            unbroken = unbroken and chain in self._blocks
            cached += BLOCK_TOKENS * unbroken
            self._blocks.setdefault(chain)
        while len(self._blocks) > _MOST_BLOCKS:
            del self._blocks[next(iter(self._blocks))]
        return cached


def speak(behaviour: Behaviour, cache: PrefixCache, body: Mapping[str, Any], digest: str) -> ModelReply:
    """Answer a request that is not refused.

    Args:
        behaviour: how the double behaves; of it only the seed, the ugliness, the reasoning and whether it keeps to a
            schema matter here.
        cache: what went before, for the count of cached tokens; nothing else depends on it.
        body: the request. The answer depends on its messages alone; whether it is ugly, on all of it.
        digest: hexadecimal hash of the body.
    """
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    prompt = "".join(message["content"] for message in messages)
    response_format = body.get("response_format") or {}
    if behaviour.keeps_schema and response_format.get("type") == "json_schema":
        schema = response_format["json_schema"]["schema"]
    else:
        schema = schema_of_prompt([message["content"] for message in messages if message["role"] != "assistant"])
    scene = scene_of(prompt, schema)
    seed = _seed(behaviour.seed, messages)
    request_seed = f"{behaviour.seed}|{digest}"

    def answer(number: int = 0) -> Any:
        writer = FormFiller(behaviour.seed, f"{seed}|{number}" if number else seed, scene)
        return None if schema is None else writer.fill(schema)

    draft = _Draft(answer(), schema or {}, request_seed, answer, FormFiller(behaviour.seed, seed, scene))
    return replace(
        _limited(behaviour, _spoiled(behaviour, draft), body, request_seed),
        prompt_characters=len(prompt),
        prompt_tokens=_tokens(prompt),
        cached_tokens=cache.take(body["model"], prompt),
    )


def _seed(seed: int, messages: Sequence[Mapping[str, Any]]) -> str:
    hashed = hashlib.sha256(str(seed).encode())
    for message in messages:
        hashed.update(f"\0{message['role']}\0{message['content']}".encode(errors="surrogatepass"))
    return hashed.hexdigest()


def _tokens(text: str | None) -> int:
    return -(-len(text or "") // CHARACTERS)


def _limited(behaviour: Behaviour, reply: ModelReply, body: Mapping[str, Any], seed: str) -> ModelReply:
    """Return the reply within the most tokens asked for, with the tokens that were spent: in all, and on thinking."""
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    thought = int(between(seed, "reasoning tokens", LEAST_THOUGHT, MOST_THOUGHT)) if behaviour.reasoning else 0
    spent = thought + _tokens(reply.text or reply.refusal) + _tokens(reply.reasoning)
    if isinstance(most, int) and not reply.endless and spent > most:
        text = (reply.text or "")[: max(most - thought, 0) * CHARACTERS]
        reply = replace(reply, text=text, finish="length", refusal=None)
        spent, thought = most, min(thought, most)
    return replace(reply, completion_tokens=spent, reasoning_tokens=thought)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A reply as it should be, with what it takes to spoil it."""

    value: dict[str, Any] | None
    """The object it holds; None for a reply without a form."""
    schema: Schema
    seed: str
    """Of what is drawn for this request."""
    again: Callable[[int], Any]
    """Gives another answer to the same prompt, by a number."""
    writer: FormFiller

    @property
    def text(self) -> str:
        return "OK" if self.value is None else _dump(self.value)

    def one_of(self, options: Sequence[T], purpose: str = "way") -> T:
        """Return one of these ways to spoil it."""
        return choose(self.seed, purpose, options)

    def thought(self) -> str:
        """Return a sentence of thinking."""
        return self.writer.sentence("think", model_words().thoughts)


def _spoiled(behaviour: Behaviour, draft: _Draft) -> ModelReply:
    """Return the reply to a request: in the drawn share of cases an ugly one.

    A sort that the form has no place for, such as a number in words for a name, is left out: of a mix the next one
    stands in, and a reply that should be of one named sort stays as it is.
    """
    sort = drawn_sort(behaviour.ugly, UGLY, unit(draft.seed, "ugly"))
    if sort is not None:
        start = UGLY.index(sort)
        mixed = isinstance(behaviour.ugly, float | int)
        for name in (*UGLY[start:], *UGLY[:start]) if mixed else (sort,):
            spoiled = _WAYS[name](draft) if draft.value is not None or name not in _OF_OBJECTS else None
            if spoiled is not None:
                reply = ModelReply(spoiled) if isinstance(spoiled, str) else spoiled
                return replace(reply, ugly=name)
    return ModelReply(draft.text)


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _prose(draft: _Draft) -> str:
    before = draft.one_of(("Here is my answer:\n\n", "Sure! ", "**My decision**\n", ""), "before")
    return f"{before}{draft.text}\n\n{draft.one_of(model_words().closings, 'after')}"


def _two(draft: _Draft) -> str | None:
    for other in map(draft.again, range(1, 20)):
        if _differs(draft.value, other):
            between = draft.one_of(("{}\n{}", "{}\n\nOr rather:\n{}", "[{}, {}]"))
            return between.format(draft.text, _dump(other))
    return None


def _differs(value: Any, other: Any) -> bool:
    """Return whether two objects decide differently, whatever they think beside it."""
    if not isinstance(value, dict):
        return bool(value != other)
    return any(_differs(value[key], other[key]) for key in value if key not in {"thought", "reasoning"})


def _keys(draft: _Draft) -> str:
    wrong = model_words().wrong_keys

    def renamed(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            draft.one_of(wrong.get(key, (key.upper(),)), f"key {key}"): renamed(item) for key, item in value.items()
        }

    return _dump(renamed(draft.value))


def _words(draft: _Draft) -> str | None:
    numbers = model_words().numbers

    def change(_key: str, value: Any, schema: Schema) -> Any:
        if schema.get("type") == "integer" and 0 <= value < len(numbers):
            return numbers[value]
        return f"{numbers[round(value * 10)]} out of ten" if schema.get("type") == "number" else value

    return _changed(draft, change)


def _wrapper(draft: _Draft) -> str:
    called = {"name": "reply", "arguments": draft.text}
    return _dump(draft.one_of(({"response": draft.value}, {"data": {"answer": draft.value}}, called, [draft.value])))


def _html(draft: _Draft) -> str:
    title = draft.one_of(model_words().pages)
    body = f"<body><center><h1>{title}</h1></center></body>"
    return f"<!DOCTYPE html>\n<html>\n<head><title>{title}</title></head>\n{body}\n</html>"


def _huge(draft: _Draft) -> ModelReply:
    babble = draft.thought() + " "
    babble *= HUGE // len(babble) + 1
    if draft.value is not None and unit(draft.seed, "huge") < 0.5:
        return ModelReply(_dump(draft.value | {"thought": babble}), endless=True)
    return ModelReply(f"{babble}\n\n{draft.text}", endless=True)


def _think(draft: _Draft) -> str:
    thought = draft.thought()
    if draft.value is not None and unit(draft.seed, "think") < 0.5:
        thought += f"\nPerhaps {_dump(draft.again(1))}? No."
    return f"<think>\n{thought}\n</think>\n\n{draft.text}"


def _illegal(draft: _Draft) -> str | None:
    def change(key: str, value: Any, schema: Schema) -> Any:
        if schema.get("type") == "integer":
            least, most = bounds(schema)
            return draft.one_of((most + 5, least - 1, least + 0.5), key)
        if schema.get("type") == "number":
            return draft.one_of((250, -0.1, 7), key)
        return draft.one_of(("Zebulon", "Player 9", "the quiet one"), key) if chooses_player(schema) else value

    return _changed(draft, change)


def _changed(draft: _Draft, change: Callable[[str, Any, Schema], Any]) -> str | None:
    """Return the reply with its single values changed, None if that changes nothing."""

    def applied(key: str, value: Any, schema: Schema) -> Any:
        if not isinstance(value, dict):
            return change(key, value, schema)
        return {name: applied(name, value[name], schema["properties"][name]) for name in value}

    changed = applied("", draft.value, draft.schema)
    return None if changed == draft.value else _dump(changed)


_Way: TypeAlias = Callable[[_Draft], ModelReply | str | None]

_OF_OBJECTS: Final[frozenset[UglySort]] = frozenset({"comma", "quotes", "two", "keys", "wrapper"})
"""Sorts that only a reply with a form can be of."""
_WAYS: Final[Mapping[UglySort, _Way]] = {
    "fence": lambda draft: f"```{draft.one_of(('json', '', 'JSON', 'python'))}\n{_dump(draft.value, 2)}\n```",
    "prose": _prose,
    "comma": lambda draft: draft.text[:-1] + draft.one_of((",}", ", }", ",\n}")),
    "quotes": lambda draft: repr(draft.value),
    "cut": lambda draft: ModelReply(
        draft.text[: int(len(draft.text) * between(draft.seed, "cut", 0.2, 0.98))], finish="length"
    ),
    "two": _two,
    "keys": _keys,
    "words": _words,
    "wrapper": _wrapper,
    "empty": lambda draft: ModelReply(draft.one_of(("", None, "\n", "  "))),
    "html": _html,
    "huge": _huge,
    "refusal": lambda draft: ModelReply(None, refusal=draft.one_of(model_words().refusals)),
    "apology": lambda draft: draft.one_of(model_words().apologies),
    "think": _think,
    "reasoning": lambda draft: ModelReply(draft.text, reasoning=draft.thought()),
    "illegal": _illegal,
}
"""How each sort is made: from what the double would say to what it says instead."""

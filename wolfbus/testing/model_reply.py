"""One request for a chat completion and what the double says to it: no network, no clock."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from wolfbus.testing.model_answer import FormFiller, PromptDraws, scene_of
from wolfbus.testing.model_behaviour import Behaviour
from wolfbus.testing.model_form import schema_of_prompt
from wolfbus.testing.model_ugly import Draft, ModelReply, spoil

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
class CountedReply:
    """A reply with what a server counts beside it.

    Attributes:
        reply: what is said.
        prompt_characters: length of all messages.
        prompt_tokens: what they count as.
        cached_tokens: how many of them were in the prefix cache.
        completion_tokens: what the reply counts as, reasoning included.
        reasoning_tokens: what was spent on thinking.
    """

    reply: ModelReply
    prompt_characters: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    reasoning_tokens: int

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


def speak(behaviour: Behaviour, cache: PrefixCache, body: Mapping[str, Any], digest: str) -> CountedReply:
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
    given = body.get("response_format") or {}
    if behaviour.keeps_schema and given.get("type") == "json_schema":
        schema = given["json_schema"]["schema"]
    else:
        schema = schema_of_prompt([each["content"] for each in messages if each["role"] != "assistant"])
    scene = scene_of(prompt, schema)
    seed = _seed(behaviour.seed, messages)
    draws = PromptDraws(f"{behaviour.seed}|{digest}")

    def answer(number: int = 0) -> Any:
        writer = FormFiller(behaviour.seed, f"{seed}|{number}" if number else seed, scene)
        return None if schema is None else writer.fill(schema)

    draft = Draft(answer(), schema or {}, draws, answer, FormFiller(behaviour.seed, seed, scene))
    reply, completion, reasoning = _limited(behaviour, spoil(behaviour, draft), body, draws)
    return CountedReply(reply, len(prompt), _tokens(prompt), cache.take(body["model"], prompt), completion, reasoning)


def _seed(seed: int, messages: Sequence[Mapping[str, Any]]) -> str:
    hashed = hashlib.sha256(str(seed).encode())
    for message in messages:
        hashed.update(f"\0{message['role']}\0{message['content']}".encode(errors="surrogatepass"))
    return hashed.hexdigest()


def _tokens(text: str | None) -> int:
    return -(-len(text or "") // CHARACTERS)


def _limited(
    behaviour: Behaviour, reply: ModelReply, body: Mapping[str, Any], draws: PromptDraws
) -> tuple[ModelReply, int, int]:
    """Return the reply within the most tokens asked for, and how many were spent: in all, and on thinking."""
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    thought = int(draws.between("reasoning tokens", LEAST_THOUGHT, MOST_THOUGHT)) if behaviour.reasoning else 0
    spent = thought + _tokens(reply.text or reply.refusal) + _tokens(reply.reasoning)
    if not isinstance(most, int) or reply.endless or spent <= most:
        return reply, spent, thought
    left = max(most - thought, 0)
    cut = replace(reply, text=(reply.text or "")[: left * CHARACTERS], finish="length", refusal=None)
    return cut, most, min(thought, most)

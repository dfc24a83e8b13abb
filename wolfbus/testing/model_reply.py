"""One request for a chat completion and what the double says to it: no network, no clock."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from wolfbus.testing.model_answer import DECEPTIVE, SUSPICION, Draws, Writer, scene_of
from wolfbus.testing.model_behaviour import Behaviour
from wolfbus.testing.model_cache import CHARACTERS, PrefixCache, tokens
from wolfbus.testing.model_form import Group, Shape, shape_of_prompt, shape_of_schema
from wolfbus.testing.model_ugly import Draft, Reply, dump, spoil

LEAST_THOUGHT: Final = 150
MOST_THOUGHT: Final = 600
"""Tokens that a reasoning model spends before it answers, from least to most."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A reply with what a server says beside it.

    Attributes:
        reply: what is said.
        kind: what was asked for, as far as it can be told.
        id: names the completion; the same for the same request.
        prompt_characters: length of all messages.
        prompt_tokens: what they count as.
        cached_tokens: how many of them were in the prefix cache.
        completion_tokens: what the reply counts as, reasoning included.
        reasoning_tokens: what was spent on thinking.
    """

    reply: Reply
    kind: str
    id: str
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


def speak(behaviour: Behaviour, cache: PrefixCache, body: Mapping[str, Any], digest: str) -> Spoken:
    """Answer a request that is not refused.

    Args:
        behaviour: how the double behaves; of it only the seed, the ugliness, the reasoning and whether it keeps to a
            schema matter here.
        cache: what went before, for the count of cached tokens; nothing else depends on it.
        body: the request. The answer depends on its messages alone; whether it is ugly, on all of it.
        digest: hexadecimal hash of the body.

    Raises:
        ValueError: the schema goes deeper than any form does.
    """
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    prompt = "".join(message["content"] for message in messages)
    shape = _shape(behaviour, body, messages)
    scene = scene_of(prompt, shape)
    seed = _seed(behaviour.seed, messages)
    writer = Writer(behaviour.seed, seed, scene)
    value = writer.fill(shape) if shape is not None else None
    draws = Draws(f"{behaviour.seed}|{digest}")
    text = "OK" if shape is None else dump(value)

    def again(number: int) -> Any:
        return Writer(behaviour.seed, f"{seed}|{number}", scene).fill(shape) if shape is not None else None

    draft = Draft(text, value if isinstance(value, dict) else None, shape, scene, draws, again, writer)
    reply, completion, reasoning = _limited(behaviour, spoil(behaviour, draft), _most(body), draws)
    return Spoken(
        reply=reply,
        kind=kind_of(body, shape, prompt),
        id=digest[:24],
        prompt_characters=len(prompt),
        prompt_tokens=tokens(prompt),
        cached_tokens=cache.take(body["model"], prompt),
        completion_tokens=completion,
        reasoning_tokens=reasoning,
    )


def kind_of(body: Mapping[str, Any], shape: Shape | None, prompt: str) -> str:
    """Return what a request asks for: its schema's name, or else what the template's members and the question tell."""
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") == "json_schema":
        return str(form["json_schema"]["name"])
    if not isinstance(shape, Group):
        return "text"
    inner = [member for _, member in shape.members if isinstance(member, Group)]
    return "_and_".join(dict.fromkeys(_group_kind(group, prompt) for group in inner or [shape]))


_TELLING: Final = (
    ("assess_other", SUSPICION),
    ("assess_own", DECEPTIVE),
    ("bid", ("bid",)),
    ("whisper", ("word",)),
    ("vote", ("reason", "vote")),
    ("speak", ("text", "statement")),
)
_CHOICES: Final = (
    ("kill", "whom to kill"),
    ("protect", "whom to protect"),
    ("inspect", "whose role to learn"),
    ("vote", "Vote for a player to exile"),
)


def _group_kind(group: Group, prompt: str) -> str:
    keys = {key for key, _ in group.members}
    for kind, telling in _TELLING:
        if keys.intersection(telling):
            return kind
    # choices share one form: the last question tells which it is
    place, kind = max((prompt.rfind(words), kind) for kind, words in _CHOICES)
    return kind if place >= 0 and "target" in keys else "other"


def _shape(behaviour: Behaviour, body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Shape | None:
    form = body.get("response_format")
    if behaviour.keeps_schema and isinstance(form, dict) and form.get("type") == "json_schema":
        return shape_of_schema(form["json_schema"]["schema"])
    return shape_of_prompt([message["content"] for message in messages if message["role"] != "assistant"])


def _seed(seed: int, messages: Sequence[Mapping[str, Any]]) -> str:
    hashed = hashlib.sha256(str(seed).encode())
    for message in messages:
        hashed.update(f"\0{message['role']}\0{message['content']}".encode(errors="surrogatepass"))
    return hashed.hexdigest()


def _most(body: Mapping[str, Any]) -> int | None:
    given = body.get("max_completion_tokens") or body.get("max_tokens")
    return given if isinstance(given, int) else None


def _limited(behaviour: Behaviour, reply: Reply, most: int | None, draws: Draws) -> tuple[Reply, int, int]:
    """Return the reply within `most` tokens, and how many were spent: in all, and on thinking."""
    thought = int(draws.between("reasoning tokens", LEAST_THOUGHT, MOST_THOUGHT)) if behaviour.reasoning else 0
    said = tokens(reply.text or reply.refusal or "") + tokens(reply.reasoning or "")
    if most is None or reply.endless or thought + said <= most:
        return reply, thought + said, thought
    left = max(most - thought, 0)
    cut = replace(reply, text=(reply.text or "")[: left * CHARACTERS], finish="length", refusal=None)
    return cut, most, min(thought, most)

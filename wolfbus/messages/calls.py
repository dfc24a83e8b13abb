"""Model calls: what a seat's agent reports of the model it asked, so that a record lets researchers audit every word.

A prompt is reported as *segments*: pieces of text, sent once, however many prompts hold them. A segment may follow
another one (`after`), and its hash covers all that goes before it; so what a seat is told in the course of a game is
one chain, and a call names a whole prompt by the last segment of each of its few chains.

A record keeps a text once (`PromptAddition`), numbers segments instead of naming them by hashes, and leaves out of a
call what an earlier call or the answer that came of it says already.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from wolfbus.game.vocabulary import Kind
from wolfbus.messages.base import GameId, Part, SeatName, Source, Whole, WireMessage

Hash: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=1e9)]
Short: TypeAlias = Annotated[str, Field(max_length=512)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=2**53 - 1)]
Scalar: TypeAlias = str | bool | Whole | float | None
ChatRole: TypeAlias = Literal["system", "user", "assistant"]
"""Whose words a segment is in the chat that the model is sent."""

REPORT_BYTES: Final = 1_048_576
"""Bytes of the largest report that is taken in; limits on replies do not bear on it."""

REPLY_KEPT: Final = 65_536
"""Characters of a model's text that a call keeps; the rest is counted only."""


ReplyStyle: TypeAlias = Literal["spaced", "dense", "indented"]
"""How JSON is set: with a blank behind each comma and colon; without; over several lines."""


class PromptText(Part):
    """A piece of prompt text."""

    after: Hash | None = None
    """Hash of the segment that it follows without a gap; absent for the first of a chain."""
    role: ChatRole
    """Whose words they are in the chat."""
    text: str
    """The text, as the model got it."""


class ChainAddition(Part):
    """Segments that follow each other: what a chain of prompt text is continued with."""

    after: Count | None = None
    """Number of the segment that the first of them follows; absent where a chain begins."""
    role: ChatRole = Field(default="user", exclude_if=lambda role: role == "user")
    """Whose words they are in the chat: the user's unless it says otherwise."""
    texts: Annotated[tuple[str | Count, ...], Field(min_length=1)]
    """The text of each; for a text that stands in the record already, the number of the first segment that has it."""


class PromptAddition(Part):
    """New prompt text. Its segments are numbered from 0, in the order in which they stand in the record."""

    type: Literal["prompt_text"] = "prompt_text"
    chains: tuple[ChainAddition, ...]
    """What is added, chain by chain."""
    source: Source | None = None
    """Id of the message that brought the last of it, on its sender's stream."""


class Call(Part):
    """One question put to a model, its retries included, and what came back."""

    requests: Annotated[tuple[Short, ...], Field(min_length=1, max_length=64)]
    """Requests that it answers, as ``round/phase/turn/kind/seat[/about]``; several under the compact protocol."""
    seat: SeatName
    """For which seat it was made."""
    kind: Kind
    """The kind of the first request."""
    reask: bool = Field(default=False, exclude_if=lambda reask: not reask)
    """Whether it asks again, naming what was wrong with the reply before."""
    labels: bool = Field(default=False, exclude_if=lambda labels: not labels)
    """Whether the reply also labels the statement that it makes; that label answers the request for it, which comes
    later."""
    model: Short
    """The model, as the server was told."""
    url: Short | None = None
    """The server's base URL."""
    served: Short | None = None
    """What the server says of the model that replied: its name, and its fingerprint behind a blank if it gives one."""
    cassette: bool = Field(default=False, exclude_if=lambda cassette: not cassette)
    """Whether the reply was played from a cassette: tokens are those of the call that was recorded, and nothing was
    paid."""
    parameters: dict[str, Scalar] = Field(default_factory=dict, max_length=64)
    """What was sent beside the messages, such as temperature and the kind of structured output."""
    prompt: Annotated[tuple[Hash, ...], Field(max_length=8)]
    """The prompt: for each of its chains, in order, the last segment."""
    attempts: Count = Field(default=1, exclude_if=lambda attempts: attempts == 1)
    """Requests over the network that it took, failed ones included; 0 where none was made; 1 unless it says so."""
    failures: Annotated[tuple[Short, ...], Field(max_length=32)] = Field(default=(), exclude_if=lambda f: not f)
    """What the attempts before the last one failed of, a line each."""
    charged: bool = Field(default=True, exclude_if=lambda charged: charged)
    """Whether a server may have charged for work on it: not if all attempts were turned away or found none."""
    queue_s: Seconds = Field(default=0.0, exclude_if=lambda seconds: seconds == 0)
    """Seconds it waited for its turn under the limits on calls; 0 unless it says so."""
    latency_s: Seconds
    """Seconds from the first byte sent to the last one read, back-off between attempts included."""
    prompt_tokens: Count | None = None
    """Tokens of the prompt, as the server counted them in all attempts that it counted; absent if it never did."""
    cached_tokens: Count | None = None
    """How many of them the server had in its cache."""
    completion_tokens: Count | None = None
    """Tokens of the reply, hidden reasoning included."""
    cost_usd: Annotated[float, Field(ge=0, le=1e9)] | None = None
    """Price in US dollars; absent unless prices are configured."""
    billed_usd: Annotated[float, Field(ge=0, le=1e9)] | None = None
    """What the server itself says that it cost, in US dollars."""
    finish: Short | None = None
    """Why the model stopped, in the server's word: ``stop``, ``length``, …"""
    error: str | None = None
    """One line on why there is no reply."""
    reasoning: str | None = None
    """Reasoning that the server gave beside the text, at most `REPLY_KEPT` characters; no prompt ever holds it."""
    reply: str | None = None
    """The model's text as it came, at most `REPLY_KEPT` characters."""
    reply_length: Count | None = None
    """Characters of the whole text, where it was cut."""


class ModelCall(Call):
    """A model call, as its agent reported it, without what the record says elsewhere; no part of the digest."""

    type: Literal["model_call"] = "model_call"
    prompt: Annotated[tuple[Count, ...], Field(max_length=8)]  # type: ignore[assignment]
    """The prompt: for each of its chains, in order, the number of the last segment."""
    like: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None
    """The call of this record, counted from 1, that says with which `url`, `parameters` and `served` it was made."""
    answered_as: ReplyStyle | None = None
    """Stands for `reply` where it is exactly what the answer to its request holds, thought first, as JSON of this
    style."""
    source: Source | None = None
    """Id of the message that reported it, on its sender's stream."""


class Segments(WireMessage):
    """What an agent sends before it refers to new prompt text."""

    type: Literal["segments"] = "segments"
    game: GameId
    """The game's id."""
    seat: SeatName
    """A seat of the agent; whoever else's prompts hold the text as well."""
    texts: tuple[PromptText, ...]
    """The pieces, each behind the one that it follows."""


class Called(WireMessage):
    """What an agent sends when a model call is through, before it answers the request."""

    type: Literal["called"] = "called"
    game: GameId
    """The game's id."""
    call: Call
    """The call."""


def segment_hash(after: str | None, role: ChatRole, text: str) -> str:
    """Return the name of a segment, 64 hex digits: SHA-256 of the name before it or nothing, its role, a line end, and
    its text.
    """
    return hashlib.sha256(f"{after or ''}{role}\n{text}".encode()).hexdigest()

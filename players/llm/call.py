"""What goes to a model and what comes back, in our own words; the gateway turns these into requests over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from players.llm.settings import Model
from wolfbus.messages.calls import ChatRole, Scalar
from wolfbus.vocabulary import Kind

Purpose: TypeAlias = Kind | Literal["probe"]
"""What a call is for: the kind of its first request, or finding out whether a model answers at all."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Attributes:
        role: whose words they are.
        content: the words.
        kept: characters at its beginning that later prompts of the same chain begin with as well, as far as is known;
            where a server caches only what is marked, the mark stands there.
    """

    role: ChatRole
    content: str
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """What shape a reply should have.

    Attributes:
        name: names the form to the server; letters, digits and underscores, such as ``bid`` or ``judge_and_bid``.
        schema: JSON Schema of the reply, within what servers take in strict mode: objects with all members required
            and no others, enums, arrays, numbers, strings, null.
    """

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One call to make.

    Attributes:
        model: whom to ask, and how.
        purpose: for time-outs and for which of the waiting calls goes first.
        label: names the call where something is wrong with it: the request's id.
        messages: the chat so far.
        form: what shape the reply should have.
        deadline: monotonic time, in seconds, after which nobody waits for the reply.
        hurried: whether the time is shorter than such a question usually has, so that missing it says nothing of the
            server.
        scope: what keeps equal questions of different asks apart in a cassette; usually "".
        chain: names the chain of prompts that this one goes on, for servers that route by it; "" for none.
    """

    model: Model
    purpose: Purpose
    label: str
    messages: tuple[Message, ...]
    form: Form
    deadline: float
    hurried: bool = False
    scope: str = ""
    chain: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came of a question; there is always one, whatever went wrong.

    Attributes:
        text: the model's text; None if there is none.
        thought: reasoning that the server gave beside the text.
        refusal: the model's words if it refused in the way that some servers mark.
        finish: why it stopped, in the server's word.
        error: one line on why there is no reply, without any secret; None if there is one.
        timed_out: whether the deadline passed.
        attempts: requests made over the network.
        queue_s: seconds spent waiting under the limits.
        latency_s: seconds from the first byte sent to the last one read, back-off included.
        prompt_tokens: as the server counted, None if it did not; so with the others.
        cached_tokens: how many of them it had in its cache.
        completion_tokens: tokens of the reply.
        cost_usd: price, None unless it is configured and the tokens are known.
        parameters: what was sent beside the messages.
        url: the server's base URL; None if none was asked.
        served: what the server says of the model that replied: name, and fingerprint behind a blank.
        failures: what the attempts before the last one failed of, a line each, without any secret.
        charged: whether a server may have done, and charged for, work on it; not if it was only turned away, or found
            no server.
        cassette: whether it was played from a cassette.
    """

    text: str | None = None
    thought: str | None = None
    refusal: str | None = None
    finish: str | None = None
    error: str | None = None
    timed_out: bool = False
    attempts: int = 0
    queue_s: float = 0.0
    latency_s: float = 0.0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    url: str | None = None
    served: str | None = None
    failures: tuple[str, ...] = ()
    charged: bool = True
    cassette: bool = False

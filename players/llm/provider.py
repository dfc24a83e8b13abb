"""`Provider`: a server of language models as the gateway sees it, and what goes to it and comes back in our own words.

A provider is one module with a function ``open_provider(endpoint, keys)``: one of `players.llm.providers`, or any other
that the settings name: ``provider = "mine"`` or ``"mypackage.mine"`` in an ``[endpoints]`` table. What it needs can be
imported from here, the settings `Endpoint` and `Model` included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from players.llm.keys import Keys
from players.llm.settings import Endpoint, Model
from players.user_module import import_user_module, is_missing
from wolfbus.errors import PlayerError, WolfError
from wolfbus.files.printable import error_in_words
from wolfbus.game.vocabulary import Fault, Kind
from wolfbus.messages.calls import ChatRole, Scalar
from wolfbus.reading.repetition import repetition_start
from wolfbus.reading.text import object_extent, without_thinking

Purpose: TypeAlias = Kind | Literal["probe", "annotate", "belief", "canary"]
"""What a call is for: the kind of its first request, finding out whether a model answers at all, what a reader makes of
a statement after the game, what a seat believed in it, or what tells whether a model stays the same."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Attributes:
        role: whose words they are.
        content: the words.
        prefix_length: characters at its beginning that later prompts of the same chain begin with as well, as far as is
            known; where a server caches only what is marked, the mark stands there.
    """

    role: ChatRole
    content: str
    prefix_length: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """What shape a reply should have.

    Attributes:
        name: names the form to the server; letters, digits and underscores, such as ``bid`` or ``judge_and_bid``.
        schema: JSON Schema of the reply, within what servers take in strict mode: objects with all members required
            and no others, enums, arrays, numbers, strings, null; and, for those that take it, ``maxLength``.
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
        chain: names the chain of prompts that this one goes on, for servers that route by it; "" for none.
        draw: names the sample that a reply to it is of: a cassette gives equal questions of one draw the same reply.
    """

    model: Model
    purpose: Purpose
    label: str
    messages: tuple[Message, ...]
    form: Form
    deadline: float
    hurried: bool = False
    chain: str = ""
    draw: str = ""


class Speed(NamedTuple):
    """How fast a server says that it worked on a request, in tokens a second.

    Attributes:
        prompt: of the prompt's part that it had not in its cache.
        reply: of the reply.
    """

    prompt: float
    reply: float


@dataclass(frozen=True, slots=True)
class ProviderReply:
    """What a model wrote.

    Attributes:
        text: its text; None if there is none.
        thought: reasoning beside it.
        refusal: its words, if it refused in the way that some servers mark.
        finish: why it stopped.
        prompt_tokens: as counted by the server; None if it did not; so with the others.
        cached_tokens: how many of those it had in its cache.
        completion_tokens: tokens of the reply, hidden reasoning included.
        billed_usd: what the server itself says that it cost, in US dollars; None if it does not.
        served: what the server says of the model: its name, and its fingerprint behind a blank.
        calls_tool: whether it calls a tool instead.
        speed: what the server says of its own; None if it does not.
    """

    text: str | None
    thought: str | None = None
    refusal: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    billed_usd: float | None = None
    served: str | None = None
    calls_tool: bool = False
    speed: Speed | None = None

    @property
    def bounded(self) -> bool:
        """Whether it ended because the bound on its length was reached."""
        return (self.finish or "").casefold() in _BOUND_REACHED

    @property
    def cut(self) -> bool:
        """Whether the bound on its length was reached before there was anything to use."""
        return self.bounded and not self.refusal and not _holds_answer(self.text or "")

    @property
    def repeats(self) -> bool:
        """Whether it had come to repeat itself when it was cut off: with more room it would do so for longer."""
        return self.bounded and repetition_start(self.text or "") is not None

    def mapped(self, change: Callable[[str], str]) -> ProviderReply:
        """Return the reply with all its words changed."""
        words = {name: getattr(self, name) for name in WORDS}
        changed: dict[str, Any] = {name: change(value) for name, value in words.items() if value is not None}
        return replace(self, **changed)


@dataclass(frozen=True, slots=True)
class Completion(ProviderReply):
    """What came of a question; there is always one, whatever went wrong. Its tokens are those of all attempts.

    Attributes:
        text: the model's text; None if there is none.
        error: one line on why there is no reply, without any secret; None if there is one.
        fault: what an answer for want of a reply counts as.
        timed_out: whether the deadline passed.
        attempts: requests made over the network.
        queue_s: seconds spent waiting under the limits.
        latency_s: seconds from the first byte sent to the last one read, back-off included.
        cost_usd: price, None unless it is configured and the tokens are known.
        parameters: what was sent beside the messages.
        url: the server's base URL; None if none was asked.
        failures: what the attempts before the last one failed of, a line each, without any secret.
        charged: whether a server may have done, and charged for, work on it; not if it was only turned away, or found
            no server.
        cassette: whether it was played from a cassette.
        halts: whether there is no reply, and will be none to any other question to this model, until somebody does
            something.
    """

    text: str | None = None
    error: str | None = None
    fault: Fault = "failed"
    timed_out: bool = False
    attempts: int = 0
    queue_s: float = 0.0
    latency_s: float = 0.0
    cost_usd: float | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    url: str | None = None
    failures: tuple[str, ...] = ()
    charged: bool = True
    cassette: bool = False
    halts: bool = False


Mode: TypeAlias = Literal["schema", "object", "text"]
"""How a reply is held to its form: JSON Schema, JSON mode, the prompt's words alone."""

TokensName: TypeAlias = Literal["max_tokens", "max_completion_tokens"]

Lack: TypeAlias = Literal["tokens", "top_p", "temperature", "reasoning_effort", "system", "lengths", "mode", "room"]
"""What of a request a server does not take: the name of the bound on the reply, a setting, a message of the system,
bounds on texts in a JSON Schema, the way in which the reply is held to its form; or its context has no room for a reply
of that bound.
"""

Trouble: TypeAlias = Literal["connection", "timeout", "server", "loading", "garbage", "busy", "rejected"]
"""What a request failed of.

connection: none stood, or it broke · timeout: no reply in the attempt's time · server: it says "later" · loading: its
model is not there yet · garbage: it says that all is well, and there is no reply that can be read · busy: it has a
queue · rejected: it would fail again.
"""

WORDS: Final = ("text", "thought", "refusal", "finish", "served")
"""What of a reply, and of the completion that it makes, is the server's own words."""

COUNTED: Final = ("prompt_tokens", "cached_tokens", "completion_tokens", "billed_usd")
"""What of them its server counts."""

SETTINGS: Final = ("temperature", "top_p", "reasoning_effort")
"""Fields of a model that are sent as they are."""

_PACKAGE: Final = "players.llm.providers"
_CAUSE_SHOWN: Final = 200
_MARKUP: Final = re.compile(r"```\w*|<[^<>]*>")
_BOUND_REACHED: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
"""What servers say of a reply that was cut off at its bound."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request may hold.

    Attributes:
        mode: how the reply is held to its form.
        tokens: the member that bounds the reply; None if neither is taken.
        dropped: settings that the server rejected.
        system: whether the system has a message of its own; if not, its text heads the first of the user's.
        lengths: whether a JSON Schema bounds its texts.
    """

    mode: Mode = "schema"
    tokens: TokensName | None = "max_tokens"
    dropped: frozenset[str] = frozenset()
    system: bool = True
    lengths: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt at a question.

    Attributes:
        model: whom to ask, and how.
        messages: the chat so far.
        form: what shape the reply should have.
        shape: what the request may hold.
        max_tokens: bound on the reply.
        chain: names the chain of prompts that this one goes on; "" for none.
    """

    model: Model
    messages: tuple[Message, ...]
    form: Form
    shape: Shape
    max_tokens: int
    chain: str = ""

    @property
    def settings(self) -> dict[str, Scalar]:
        """The model's settings that are sent."""
        values = {name: getattr(self.model, name) for name in SETTINGS if name not in self.shape.dropped}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form's JSON Schema, as the server takes it."""
        return self.form.schema if self.shape.lengths else _without_lengths(self.form.schema)

    @property
    def parameters(self) -> dict[str, Scalar]:
        """What is sent beside the messages, for the record."""
        parameters = self.settings
        if self.shape.tokens is not None:
            parameters[self.shape.tokens] = self.max_tokens
        parameters["structured"] = self.shape.mode
        if not self.shape.system:
            parameters["system"] = "in the user's message"
        return parameters | self.model.extra_parameters

    @property
    def tokens(self) -> int:
        """How many tokens it and its reply may take: four characters a token, and the reply's bound."""
        return sum(len(message.content) for message in self.messages) // 4 + self.max_tokens


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought no reply.

    Attributes:
        trouble: of what kind it is.
        line: one line for people, without any secret.
        again: whether another attempt makes sense.
        wait: seconds that the server wants to be left alone; None if it does not say.
        charged: whether the server may have done, and charged for, the work all the same.
        lacks: what the server does not take, if it was rejected for that.
        shaped: whether what the server does not take may be something that it does not name.
        cut: whether it was rejected because the reply's bound was reached before any text.
        room: where its context has no room, the tokens that it leaves for the reply; None if the server does not say.
        fault: what an answer for want of the reply counts as; "failed" where the server was not reached.
        counted: what its server counted all the same; None where it counted nothing.
        halts: whether every further request for this model would fail in the same way until somebody does something:
            credits, keys, quotas. Never of one request alone.
    """

    trouble: Trouble
    line: str
    again: bool
    wait: float | None = None
    charged: bool = False
    lacks: Lack | None = None
    shaped: bool = False
    cut: bool = False
    room: int | None = None
    fault: Fault = "failed"
    halts: bool = False
    counted: ProviderReply | None = None

    @property
    def endpoint_fault(self) -> bool:
        """Whether it speaks against the endpoint, not against this one request."""
        return self.trouble in {"connection", "timeout", "server", "loading"}


class Failed(Exception):  # noqa: N818 - what happened
    """A request brought no reply.

    Attributes:
        failure: why.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.line)
        self.failure = failure


class Provider(Protocol):
    """A server of language models. It tries nothing twice and waits for nothing but its reply.

    It is opened without any network, in any thread, and from then on used within one event loop.
    """

    @property
    def url(self) -> str:
        """Where it is, for what is said of it."""

    def shape(self, model: str) -> Shape:
        """Return what a request to a model should hold before anything is known of it."""

    async def ask(self, request: Request, seconds: float | None) -> ProviderReply:
        """Make one request.

        Args:
            request: what is sent.
            seconds: time for all of it; None where the caller sees to that.

        Raises:
            Failed: there is no reply.
        """

    async def close(self) -> None:
        """Close all connections."""


OpenProvider: TypeAlias = Callable[[Endpoint, Keys], Provider]
"""Opens the provider of an endpoint; raises `PlayerError` where it cannot be asked, as without a key."""


def open_provider(endpoint: Endpoint, keys: Keys) -> Provider:
    """Return the provider that an endpoint's settings name.

    Raises:
        PlayerError: there is none of that name, or it cannot be used; or it cannot be asked, as without a key.
    """
    name = endpoint.provider
    if "." not in name and find_spec(f"{_PACKAGE}.{name}") is not None:
        name = f"{_PACKAGE}.{name}"
    try:
        module = import_user_module(name)
    except (Exception, SystemExit) as error:
        if is_missing(name, error):
            builtin = "" if "." in name else "; wolfbus has openai and mock"
            raise PlayerError(
                f'there is no provider "{name}": no such module is installed, or in {Path.cwd()}{builtin}'
            ) from None
        cause = error_in_words(error, _CAUSE_SHOWN)
        raise PlayerError(f'provider "{endpoint.provider}": importing {name} failed: {cause}') from error
    if not callable(getattr(module, "open_provider", None)):
        raise PlayerError(f'provider "{endpoint.provider}": {name} has no function open_provider(endpoint, keys)')
    try:
        provider: Provider = module.open_provider(endpoint, keys)
    except WolfError:
        raise
    except (Exception, SystemExit) as error:
        cause = error_in_words(error, _CAUSE_SHOWN)
        raise PlayerError(f'provider "{endpoint.provider}": open_provider of {name} failed: {cause}') from error
    if lacking := [member for member in ("url", "shape", "ask", "close") if not hasattr(provider, member)]:
        raise PlayerError(
            f'provider "{endpoint.provider}": what open_provider of {name} returns has no {", ".join(lacking)}'
        )
    return provider


def _without_lengths(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without bounds on texts, at any depth."""
    return {
        key: _without_lengths(value) if isinstance(value, Mapping) else value
        for key, value in schema.items()
        if key != "maxLength"
    }


def _holds_answer(text: str) -> bool:
    """Return whether a text that was cut off holds a JSON object from its opening brace to its closing one, behind what
    it marks as thoughts, and not as a draft.
    """
    text = without_thinking(text).text
    start = text.find("{")
    return start >= 0 and object_extent(text, start).closed and not holds_draft(text)


def holds_draft(text: str) -> bool:
    """Return whether the first JSON object of a text that was cut off stands within a line of words: where a server
    marks no thoughts, it is likely to have been tried out there.
    """
    start = text.find("{")
    extent = object_extent(text, start) if start >= 0 else None
    if extent is None or not extent.closed:
        return False
    beside = text[:start].rpartition("\n")[2], text[extent.end :].partition("\n")[0]
    return all(any(map(str.isalpha, _MARKUP.sub("", words))) for words in beside)

"""`Server`: an endpoint as all calls of the process share it: provider, limits, latencies, and what its models take.

What a model takes is found out from what the server rejects or ignores. Before the first night each is asked something
small, the `probe_question`: whether it answers, what its server takes and keeps to.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import replace
from typing import Final

from players.llm.gate import Gate, Tempo
from players.llm.loop import loop_time
from players.llm.provider import (
    Completion,
    Failure,
    Form,
    Message,
    Mode,
    ModelQuestion,
    Provider,
    Purpose,
    Shape,
    Speed,
    TokensName,
)
from players.llm.settings import Endpoint, Model
from wolfbus.reading.objects import find_objects
from wolfbus.reading.text import without_thinking
from wolfbus.record.windows import PromptWindow

logger = logging.getLogger(__name__)

_NEXT_MODE: Final[dict[Mode, Mode]] = {"schema": "object", "object": "text"}


_MOST_ROOM: Final = 8
"""Times its own bound that a model's replies may have."""

_MOST_CROWDED: Final = 8
"""Questions in a row for which a context has no room, from which on a model halts."""


class Capability:
    """What one model on one endpoint takes.

    Args:
        name: model and endpoint, for what is said of them.
        shape: what is tried first.

    Attributes:
        shape: what is known so far. It only ever loses, so that there is an end to finding out.
        speed: how fast the server says that it is; None if it does not.
    """

    def __init__(self, name: str, shape: Shape) -> None:
        self.name = name
        self.shape = shape
        self.speed: Speed | None = None
        self._refused: set[str] = set()
        self._more_room = 1
        self._crowded = 0
        self._window = PromptWindow()

    def bound(self, model: Model) -> int:
        """Return the bound on a reply: the model's own, or what was learned from replies that it cut off."""
        return model.max_tokens * self._more_room

    def wider(self, bound: int, model: Model) -> int:
        """Return the bound for a reply that was cut off at `bound`; the same if there is no more room for it."""
        return max(bound, min(2 * bound, _MOST_ROOM * model.max_tokens))

    def learn_bound(self, sent: int, model: Model) -> None:
        """Find out that a reply was cut off before its text: from now on there is twice the room, up to a limit."""
        if sent == self.bound(model) and self._more_room < _MOST_ROOM:
            self._more_room *= 2
            logger.warning(
                "%s: a reply was cut off at %d tokens before any answer: for the rest of this run replies may have "
                "%d; max_tokens in its [models] table sets that",
                self.name,
                sent,
                self.bound(model),
            )

    def note_context(self, *, crowded: bool) -> bool:
        """Note whether the context had room for a request; returns whether it has none, again and again."""
        self._crowded = self._crowded + 1 if crowded else 0
        return self._crowded >= _MOST_CROWDED

    def note_prompt(self, characters: int, tokens: int | None) -> None:
        """Note how many tokens a server read of a prompt; says so once, if it drops the beginnings of long ones."""
        if tokens and not self._window.drops and self._window.note(characters, tokens):
            logger.warning(
                "%s read %d tokens of a prompt of %d characters, and as many of one of %d: it drops the beginnings "
                "of prompts, the rules first; give it a larger context (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; "
                "llama.cpp: --ctx-size; LM Studio: its context length)",
                self.name,
                tokens,
                characters,
                self._window.shortest,
            )

    def for_model(self, model: Model) -> Shape:
        """Return what a request may hold, with the kind of structured output that the model's settings insist on."""
        return self.shape if model.structured == "auto" else replace(self.shape, mode=model.structured)

    def learn(self, failure: Failure, sent: Shape, model: Model) -> bool:
        """Find out from a rejection what the server does not take.

        Args:
            failure: the rejection.
            sent: what the rejected request held; another call may have learned from the same rejection meanwhile.
            model: the model's settings.

        Returns:
            Whether another request makes sense, in the shape that is known now.
        """
        lack, shape = failure.lacks, self.shape
        if lack is None or lack == "room":
            # that is of one prompt alone
            return False
        if lack == "tokens":
            self._learn_tokens(sent)
        elif lack == "system":
            if shape.system:
                self.shape = replace(shape, system=False)
                logger.info("%s takes no system message: its text heads the user's", self.name)
        elif lack == "lengths":
            if shape.lengths:
                self.shape = replace(shape, lengths=False)
                logger.info("%s takes no bounds on texts in a JSON Schema: they are told in words alone", self.name)
        elif lack == "mode":
            if shape.mode == sent.mode:
                self.shape = replace(shape, mode=_NEXT_MODE[sent.mode])
                logger.warning(
                    "%s does not take response_format for %s: trying %s", self.name, sent.mode, self.shape.mode
                )
        elif lack not in shape.dropped:
            self.shape = replace(shape, dropped=shape.dropped | {lack})
            logger.warning("%s does not take %s = %s: it is not sent", self.name, lack, getattr(model, lack))
        return True

    def guess(self, failure: Failure, sent: Shape, model: Model) -> bool:
        """Take the form to be what a server fails of that does not say so; returns whether another will be tried.

        A server that is silent or breaks down gets the words alone, one that rejects what it was sent the next form.
        """
        blamed = failure.shaped or failure.trouble == "timeout"
        if not blamed or model.structured != "auto" or sent.mode == "text":
            return False
        if self.shape.mode == sent.mode:
            mode: Mode = _NEXT_MODE[sent.mode] if failure.trouble == "rejected" else "text"
            self.shape = replace(self.shape, mode=mode)
        return True

    def say_guessed(self, failure: Failure) -> None:
        """Say that the form was it: there is a reply without."""
        way = "in words alone" if self.shape.mode == "text" else f"with response_format for {self.shape.mode}"
        logger.warning("%s does not answer as it was asked first (%s), but does %s", self.name, failure.line, way)

    def note_ignored(self, mode: str, model: Model) -> bool:
        """Note that the server took a way to hold a reply to its form, and did not keep to it.

        Args:
            mode: that way; see `Mode`.
            model: the model's settings.

        Returns:
            Whether another way will be tried from now on.
        """
        if self.for_model(model).mode != mode or mode == "text":
            return False
        name = "a JSON Schema" if mode == "schema" else "JSON mode"
        if model.structured != "auto":
            logger.warning('%s takes %s, as structured = "%s" asks, but does not keep to it', self.name, name, mode)
            return False
        self.shape = replace(self.shape, mode=_NEXT_MODE[self.shape.mode])
        logger.warning("%s takes %s but does not keep to it: trying %s", self.name, name, self.shape.mode)
        return True

    def _learn_tokens(self, sent: Shape) -> None:
        if sent.tokens is not None and self.shape.tokens == sent.tokens:
            other: TokensName = "max_completion_tokens" if sent.tokens == "max_tokens" else "max_tokens"
            self._refused.add(sent.tokens)
            self.shape = replace(self.shape, tokens=None if other in self._refused else other)
            logger.info("%s does not take %s", self.name, sent.tokens)


SMALL_PROMPT: Final = 256
"""Tokens of the smallest prompt that a game may have."""

_SECONDS: Final = 60.0

FORM: Final = Form(
    "probe",
    {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "description": "a few words", "maxLength": 100},
            "target": {"type": ["string", "null"], "enum": ["Ann", "Bob", None]},
            "bid": {"type": "integer", "enum": [0, 1, 2]},
            "sure": {"type": "boolean"},
            "weight": {"type": "number"},
            "word": {"type": ["string", "null"]},
            "mark": {"type": "string", "enum": ["kept"]},
        },
        "required": ["thought", "target", "bid", "sure", "weight", "word", "mark"],
        "additionalProperties": False,
    },
)
"""Has what the forms of a game have, so that a server that does not take it says so now; and a mark that only this
schema yields, for the prompt asks for another one."""

_MARK: Final = ("mark", "kept")
_MESSAGES: Final = (
    Message("system", "You answer with one JSON object and nothing else."),
    Message(
        "user",
        "This is a test of the connection. Reply with one JSON object in this form:\n"
        '{"thought": "ready", "target": null, "bid": 1, "sure": true, "weight": 0.5, "word": null, "mark": "open"}',
    ),
)


def probe_seconds(model: Model, patience_s: float) -> float:
    """Return for how long a model's first reply is waited for, in each of two ways: it may have to be loaded first.

    Args:
        model: its settings.
        patience_s: seconds that it gets at least.
    """
    seconds, patience = model.timeouts.probe or _SECONDS, model.endpoint.patience
    usual = "patience" not in model.endpoint.model_fields_set
    return max(seconds, patience_s, 0.0 if usual else patience)


def probe_question(model: Model, seconds: float) -> ModelQuestion:
    """Return something small to ask a model within so many seconds, from its loop."""
    return ModelQuestion(model, "probe", "probe", _MESSAGES, FORM, loop_time() + seconds)


def keeps_form(mode: str, completion: Completion) -> bool | None:
    """Return whether a reply keeps to how it was to be held to its form; None where that cannot be known."""
    text = completion.text or ""
    if mode == "text" or completion.refusal is not None or completion.bounded or not text.strip():
        return None
    objects = find_objects(without_thinking(text).text).objects
    name, value = _MARK
    return any(parsed.value.get(name) == value for parsed in objects) if mode == "schema" else bool(objects)


_KEPT: Final = 64
_LEAST: Final = 8
_SHARE: Final = 0.9


class Latencies:
    """How long the last attempts took, by model and purpose.

    An attempt that hangs should be cut in time for another one; a model that is merely slow should not be. Only what
    was seen tells them apart: attempts are cut after half the time if most replies come in less than a quarter of it.
    """

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, Purpose], deque[float]] = {}

    def add(self, model: str, purpose: Purpose, seconds: float) -> None:
        """Add an attempt that brought a reply, or was cut."""
        self._seconds.setdefault((model, purpose), deque(maxlen=_KEPT)).append(seconds)

    def cut_after(self, model: str, purpose: Purpose, total_s: float) -> float | None:
        """Return after how many seconds to give an attempt up.

        Args:
            model: who is asked.
            purpose: for what.
            total_s: seconds that the call has in all.

        Returns:
            Half of that; None, for no cut, while little is known or replies are that slow.
        """
        seconds = self._seconds.get((model, purpose), ())
        if len(seconds) < _LEAST:
            return None
        usual = sorted(seconds)[int(_SHARE * len(seconds))]
        return total_s / 2 if usual < total_s / 4 else None


class Server:
    """An endpoint in use, within the gateway's event loop.

    Args:
        endpoint: its settings.
        provider: the way to it.
        tempo: how fast things go.

    Attributes:
        endpoint: its settings.
        provider: the way to it.
        url: where it is, for what is said of it.
        gate: its limits, and whether it is down.
        latencies: how long its replies take.
    """

    def __init__(self, endpoint: Endpoint, provider: Provider, tempo: Tempo) -> None:
        self.endpoint = endpoint
        self.provider = provider
        self.url = url = provider.url
        self.gate = Gate(endpoint, url, tempo)
        self.latencies = Latencies()
        self._capabilities: dict[str, Capability] = {}

    def capability(self, model: str) -> Capability:
        """Return what is known of a model here."""
        if model not in self._capabilities:
            self._capabilities[model] = Capability(f"{model} at {self.url}", self.provider.shape(model))
        return self._capabilities[model]

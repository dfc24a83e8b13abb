"""`Capability`: what a model on an endpoint takes, found out from what it rejects or ignores, and remembered for the
process.

Servers say in words, not in codes, what they do not take. The words below are those of OpenAI, Azure, vLLM, SGLang,
llama.cpp, Ollama, LM Studio, Mistral, Groq, DeepSeek, Gemini and Anthropic behind LiteLLM.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from players.llm.retry import Failure
from players.llm.settings import Model

logger = logging.getLogger(__name__)

Mode: TypeAlias = Literal["schema", "object", "text"]
"""How a reply is held to its form: JSON Schema, JSON mode, the prompt's words alone."""

TokensName: TypeAlias = Literal["max_tokens", "max_completion_tokens"]

_NEXT_MODE: Final[dict[Mode, Mode]] = {"schema": "object", "object": "text"}
_DROPPABLE: Final = ("top_p", "temperature", "reasoning_effort")
_SPEAKING: Final = frozenset({400, 404, 405, 415, 422, 500, 501})
"""Statuses whose message may be about something that the server does not take; chat templates fail with 500."""

_NOT_TAKEN: Final = re.compile(
    r"(?i)unsupported|not[ _-]+supported|n.t support|not support|not compatible|incompatible|unrecogni[sz]ed|unknown"
    r"|unexpected|not permitted|forbidden|not allowed|not accepted|only the default|cannot both|can.?t both|deprecated"
    r"|use '?max_|not available|unavailable|not enabled|extra inputs|invalid parameter|no such"
)
_SYSTEM: Final = re.compile(
    r"(?i)system[ _`'\"]*(?:role|message|prompt|instruction)|role[\w ,:=]*[`'\"]*system|developer instruction"
    r"|only user and assistant roles|roles must alternate|first message must be (?:from )?(?:the )?user"
)
_FORMAT: Final = re.compile(
    r"(?i)response[ _]?format|json_?schema|json_?object|json schema|json mode|json output|structured[ _-]?output|guided"
    r"|grammar|invalid format|the word '?json|\boutput_config\b|\bstrict\b"
)
_TOO_SMALL: Final = re.compile(r"(?i)max_tokens or model output limit was reached|with higher max_tokens")
_GENERATION: Final = frozenset({"json_validate_failed", "json_parse_failed", "tool_use_failed"})


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request may hold.

    Attributes:
        mode: how the reply is held to its form.
        tokens: the member that bounds the reply; None if neither is taken.
        dropped: settings that the server rejected.
        system: whether the system has a message of its own; if not, its text heads the first of the user's.
    """

    mode: Mode = "schema"
    tokens: TokensName | None = "max_tokens"
    dropped: frozenset[str] = frozenset()
    system: bool = True


class Capability:
    """What one model on one endpoint takes.

    Args:
        name: model and endpoint, for what is said of them.
        shape: what is tried first.

    Attributes:
        shape: what is known so far. It only ever loses, so that there is an end to finding out.
    """

    def __init__(self, name: str, shape: Shape) -> None:
        self.name = name
        self.shape = shape
        self._refused: set[str] = set()

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
        if failure.status not in _SPEAKING or not failure.message or failure.code in _GENERATION:
            return False
        text = failure.message
        return (
            self._learn_tokens(text, sent)
            or self._learn_settings(text, sent, model)
            or self._learn_system(text, sent)
            or self._learn_mode(text, sent, model, failure.status)
        )

    def ignored(self, mode: str, model: Model) -> bool:
        """Take note that the server took a way to hold a reply to its form, and did not keep to it.

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

    def _learn_tokens(self, text: str, sent: Shape) -> bool:
        if sent.tokens is None or not re.search(rf"\b{sent.tokens}\b", text) or not _NOT_TAKEN.search(text):
            return False
        if _TOO_SMALL.search(text):
            return False
        if self.shape.tokens == sent.tokens:
            other: TokensName = "max_completion_tokens" if sent.tokens == "max_tokens" else "max_tokens"
            self._refused.add(sent.tokens)
            self.shape = replace(self.shape, tokens=None if other in self._refused else other)
            logger.info("%s does not take %s", self.name, sent.tokens)
        return True

    def _learn_settings(self, text: str, sent: Shape, model: Model) -> bool:
        for name in _DROPPABLE:
            if getattr(model, name) is None or name in sent.dropped:
                continue
            if re.search(rf"\b{name}\b", text) and _NOT_TAKEN.search(text):
                if name not in self.shape.dropped:
                    self.shape = replace(self.shape, dropped=self.shape.dropped | {name})
                    logger.warning("%s does not take %s = %s: it is not sent", self.name, name, getattr(model, name))
                return True
        return False

    def _learn_system(self, text: str, sent: Shape) -> bool:
        if not sent.system or not _SYSTEM.search(text):
            return False
        if self.shape.system:
            self.shape = replace(self.shape, system=False)
            logger.info("%s takes no system message: its text heads the user's", self.name)
        return True

    def _learn_mode(self, text: str, sent: Shape, model: Model, status: int) -> bool:
        if model.structured != "auto" or sent.mode == "text" or not _FORMAT.search(text):
            return False
        if status >= 500 and not (_NOT_TAKEN.search(text) or "invalid" in text.casefold()):
            # a worker that broke down over a grammar may manage the next one
            return False
        if self.shape.mode == sent.mode:
            self.shape = replace(self.shape, mode=_NEXT_MODE[sent.mode])
            logger.warning("%s does not take response_format for %s: trying %s", self.name, sent.mode, self.shape.mode)
        return True


def cut_before_text(failure: Failure) -> bool:
    """Return whether a server rejected a request because the reply's bound was reached before any text."""
    return failure.status == 400 and _TOO_SMALL.search(failure.message) is not None


def failed_generation(failure: Failure) -> bool:
    """Return whether a server rejected what its own model wrote: the next reply may be different."""
    return failure.code in _GENERATION

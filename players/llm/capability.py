"""`Capability`: what a model on an endpoint takes, found out from what it rejects or ignores, and remembered for the
process.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

from players.llm.provider import Failure, Mode, Shape, TokensName
from players.llm.settings import Model

logger = logging.getLogger(__name__)

_NEXT_MODE: Final[dict[Mode, Mode]] = {"schema": "object", "object": "text"}


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
        lack, known = failure.lacks, self.shape
        if lack is None:
            return False
        if lack == "tokens":
            self._learn_tokens(sent)
        elif lack == "system":
            if known.system:
                self.shape = replace(known, system=False)
                logger.info("%s takes no system message: its text heads the user's", self.name)
        elif lack == "mode":
            if known.mode == sent.mode:
                self.shape = replace(known, mode=_NEXT_MODE[sent.mode])
                logger.warning(
                    "%s does not take response_format for %s: trying %s", self.name, sent.mode, self.shape.mode
                )
        elif lack not in known.dropped:
            self.shape = replace(known, dropped=known.dropped | {lack})
            logger.warning("%s does not take %s = %s: it is not sent", self.name, lack, getattr(model, lack))
        return True

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

    def _learn_tokens(self, sent: Shape) -> None:
        if sent.tokens is not None and self.shape.tokens == sent.tokens:
            other: TokensName = "max_completion_tokens" if sent.tokens == "max_tokens" else "max_tokens"
            self._refused.add(sent.tokens)
            self.shape = replace(self.shape, tokens=None if other in self._refused else other)
            logger.info("%s does not take %s", self.name, sent.tokens)

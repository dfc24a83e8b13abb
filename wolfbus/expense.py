"""`Expense`: what the model calls of a game took so far, for views; analytics knows more."""

from __future__ import annotations

from dataclasses import dataclass

from wolfbus.messages.calls import Call


@dataclass(slots=True)
class Expense:
    """Sums over model calls.

    Attributes:
        calls: calls, failed ones included.
        failed: calls without a reply.
        tokens: tokens of prompts and replies, as far as servers counted them.
        counted: calls of which that is known.
        cost_usd: US dollars, as far as prices are configured.
        priced: calls of which that is known.
    """

    calls: int = 0
    failed: int = 0
    tokens: int = 0
    counted: int = 0
    cost_usd: float = 0.0
    priced: int = 0

    def add(self, call: Call) -> None:
        """Add one call."""
        self.calls += 1
        self.failed += call.error is not None
        if call.prompt_tokens is not None or call.completion_tokens is not None:
            self.tokens += (call.prompt_tokens or 0) + (call.completion_tokens or 0)
            self.counted += 1
        if call.cost_usd is not None:
            self.cost_usd += call.cost_usd
            self.priced += 1

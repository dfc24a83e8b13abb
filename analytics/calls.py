"""`CallSums`: what any number of model calls took, in bounded memory."""

from __future__ import annotations

from typing import Final, TypeAlias

from analytics.accumulator import Result
from analytics.distribution import Distribution
from analytics.sums import Mean
from wolfbus.expense import is_free
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call

CallKey: TypeAlias = tuple[SeatName, str, str]
"""Seat, model, and what the call answers: a kind of request, or several as `sort_of` names them."""

TOKENS: Final = ("prompt_tokens", "cached_tokens", "completion_tokens")
"""What servers count."""


class Known:
    """An exact sum of values of which some are not known."""

    __slots__ = ("missing", "sum")

    def __init__(self) -> None:
        self.sum = Mean()
        self.missing = 0

    def add(self, value: float | None, *, free: bool = False) -> None:
        """Add one value, or count that there is none, unless there is nothing that it could count."""
        if value is None:
            self.missing += not free
        else:
            self.sum.add(value)

    def merge(self, other: Known) -> None:
        """Add all that `other` holds."""
        self.sum.merge(other.sum)
        self.missing += other.missing

    def total(self) -> float | None:
        """Return the sum of the known values, None if none is known."""
        return self.sum.total() if self.sum.n else None


class CallSums:
    """Sums over model calls.

    Attributes:
        calls: calls, failed ones included.
        requests: requests that they were to answer; more than `calls` under the compact protocol.
        failed: calls without a reply.
        cassette: calls whose replies came from a cassette; their tokens are those of the recorded
            calls, they cost nothing, and attempts and times do not hold them.
        reasks: calls that asked again for what an earlier reply did not give.
        attempts: requests over the network.
        latency: seconds of the calls that reached the network, back-off between attempts included.
        queue: seconds that calls waited for their turn under the limits.
    """

    __slots__ = (
        "_cost",
        "_tokens",
        "attempts",
        "calls",
        "cassette",
        "failed",
        "latency",
        "queue",
        "reasks",
        "requests",
    )

    def __init__(self) -> None:
        self.calls = self.requests = self.failed = self.reasks = self.attempts = self.cassette = 0
        self.latency = Distribution()
        self.queue = Distribution()
        self._tokens = {name: Known() for name in TOKENS}
        self._cost = Known()

    def add(self, call: Call) -> None:
        """Add one call."""
        self.calls += 1
        self.requests += len(call.requests)
        self.failed += call.error is not None
        self.reasks += call.reask
        free = is_free(call)
        for name, known in self._tokens.items():
            known.add(getattr(call, name), free=free)
        if call.cassette:
            self.cassette += 1
            return
        self.attempts += call.attempts
        if call.attempts:
            self.latency.add(call.latency_s)
        self.queue.add(call.queue_s)
        self._cost.add(call.cost_usd, free=free)

    def merge(self, other: CallSums) -> None:
        """Add all that `other` holds."""
        self.calls += other.calls
        self.requests += other.requests
        self.failed += other.failed
        self.reasks += other.reasks
        self.attempts += other.attempts
        self.cassette += other.cassette
        self.latency.merge(other.latency)
        self.queue.merge(other.queue)
        for name, known in self._tokens.items():
            known.merge(other._tokens[name])
        self._cost.merge(other._cost)

    def copy(self) -> CallSums:
        """Return sums of their own that hold the same."""
        copied = CallSums()
        copied.merge(self)
        return copied

    def tokens(self, name: str) -> int | None:
        """Return the sum of one of `TOKENS`, None if no call tells."""
        total = self._tokens[name].total()
        return None if total is None else int(total)

    def cost_usd(self) -> float | None:
        """Return US dollars, None if no call has a price; nothing is what replies from a cassette cost."""
        total = self._cost.total()
        return 0.0 if total is None and 0 < self.cassette == self.calls else total

    def result(self) -> Result:
        """Return everything as plain values; each ``…_missing`` counts the calls that its sum lacks, but for those
        that no server can have charged for.
        """
        found: Result = {
            "calls": self.calls,
            "requests": self.requests,
            "failed": self.failed,
            "reasks": self.reasks,
            "attempts": self.attempts,
            "cassette": self.cassette,
        }
        for name, known in self._tokens.items():
            found |= {name: self.tokens(name), f"{name}_missing": known.missing}
        found |= {"cost_usd": self.cost_usd(), "cost_usd_missing": self._cost.missing}
        return {**found, "latency_s": self.latency.result(), "queue_s": self.queue.result()}

"""`CallSums`: what any number of model calls took, in bounded memory; `CallBook`: those of one
game, and how many of them had to wait for one another.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Final, TypeAlias

from wolfbus.expense import is_free, sort_of
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call, ModelCall
from wolfbus.messages.events import AnyAnswered, Asked
from wolfbus.record.prompts import RequestNames

CallKey: TypeAlias = tuple[SeatName, str, str]
"""Seat, model, and what the call answers: a kind of request, or several as `sort_of` names them."""

TOKENS: Final = ("prompt_tokens", "cached_tokens", "completion_tokens")
"""What servers count."""
ACCURACY: Final = 0.01
"""Relative error of a quantile, at most."""
SMALLEST: Final = 1e-4
"""Values below count as 0 in quantiles; for seconds, a tenth of a millisecond."""

_GROWTH: Final = math.log((1 + ACCURACY) / (1 - ACCURACY))


class Mean:
    """A mean over rows, kept as an exact sum and a count.

    The sum is held as non-overlapping partial sums (Shewchuk's algorithm, the one behind
    `math.fsum`), a handful of floats however many terms there are, so merged means are equal to the
    last bit in whatever order they were merged.
    """

    __slots__ = ("_partials", "n")

    def __init__(self) -> None:
        self.n = 0
        self._partials: list[float] = []

    def add(self, value: float) -> None:
        """Add one finite value."""
        self.n += 1
        self._add(value)

    def _add(self, value: float) -> None:
        partials = self._partials
        kept = 0
        for other in partials:
            large, small = (value, other) if abs(value) >= abs(other) else (other, value)
            value = large + small
            lost = small - (value - large)
            if lost:
                partials[kept] = lost
                kept += 1
        partials[kept:] = [value]

    def merge(self, other: Mean) -> None:
        """Add all that `other` holds."""
        self.n += other.n
        for partial in list(other._partials):
            self._add(partial)

    def total(self) -> float:
        """Return the sum, correctly rounded."""
        return math.fsum(self._partials)

    def mean(self) -> float | None:
        """Return the mean, None over nothing."""
        return self.total() / self.n if self.n else None


class Distribution:
    """Values from 0 up, kept as counts in buckets whose bounds grow by a constant factor.

    The buckets are those of DDSketch (Masson, Rim and Lee 2019): they depend on the value alone, so
    distributions merge without loss and in any order, and a quantile is within `ACCURACY` of an
    exact one. Sum, mean, least and greatest value are exact. From a tenth of a millisecond to a
    year there are some 1,300 buckets.
    """

    __slots__ = ("_buckets", "_greatest", "_least", "_sum")

    def __init__(self) -> None:
        self._buckets: Counter[int | None] = Counter()
        self._sum = Mean()
        self._least = math.inf
        self._greatest = 0.0

    @property
    def n(self) -> int:
        """Number of values."""
        return self._sum.n

    def add(self, value: float) -> None:
        """Add one finite value, 0 or more."""
        self._buckets[None if value < SMALLEST else math.ceil(math.log(value) / _GROWTH)] += 1
        self._sum.add(value)
        self._least = min(self._least, value)
        self._greatest = max(self._greatest, value)

    def merge(self, other: Distribution) -> None:
        """Add all that `other` holds."""
        self._buckets.update(other._buckets)
        self._sum.merge(other._sum)
        self._least = min(self._least, other._least)
        self._greatest = max(self._greatest, other._greatest)

    def quantile(self, q: float) -> float | None:
        """Return the value below which a share `q`, in [0, 1], of the values lies; None without
        values.
        """
        if not self.n:
            return None
        rank, seen = q * (self.n - 1), 0
        for bucket in sorted(self._buckets, key=lambda bucket: -math.inf if bucket is None else bucket):
            seen += self._buckets[bucket]
            if seen > rank:
                break
        # the middle of a bucket, by ratio: off by the same factor at either end
        estimate = 0.0 if bucket is None else 2 * math.exp(bucket * _GROWTH) / (math.exp(_GROWTH) + 1)
        return min(max(estimate, self._least), self._greatest)

    def result(self) -> dict[str, Any]:
        """Return ``n``, ``total``, ``mean``, ``median``, ``p95`` and ``max``; all but the first two
        None without values.
        """
        return {
            "n": self.n,
            "total": self._sum.total(),
            "mean": self._sum.mean(),
            "median": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "max": self._greatest if self.n else None,
        }


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
        """Return US dollars, None if no call has a price; nothing is what replies from a cassette
        cost.
        """
        total = self._cost.total()
        return 0.0 if total is None and 0 < self.cassette == self.calls else total

    def result(self) -> dict[str, Any]:
        """Return everything as plain values; each ``…_missing`` counts the calls that its sum
        lacks, but for those that no server can have charged for.
        """
        found: dict[str, Any] = {
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


class CallBook:
    """Takes down asks, calls and answers in record order.

    The critical path is the longest chain of calls each of which had to wait for the one before: a
    call waits for every call whose answer was joined before its first request went out, and for
    earlier calls about the same request. What was asked at once counts once, however many calls it
    took. A call that is reported after its request was closed (the request had timed out) is on no
    path, as the game did not wait for it.

    Attributes:
        path: calls on the critical path so far.
    """

    def __init__(self) -> None:
        self.path = 0
        self._sums: dict[CallKey, CallSums] = {}
        self._names = RequestNames()
        self._began: dict[str, int] = {}
        """Length of the path when a kind of a batch was asked for, by ``round/phase/turn/kind``."""
        self._through: dict[str, int] = {}
        """Length of the path up to and with the latest call about an open request."""

    def ask(self, event: Asked) -> None:
        """Take in a batch of requests."""
        stem = self._names.ask(event)
        for asking in event.asks:
            self._began[stem + asking.kind] = self.path

    def call(self, event: ModelCall) -> None:
        """Take in a call."""
        key = (event.seat, event.model, sort_of(event))
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = CallSums()
        sums.add(event)
        # a request that was not asked yet is answered ahead of its time, which holds up nothing
        asked = {name: self._began.get("/".join(name.split("/", 4)[:4])) for name in event.requests}
        starts = [max(began, self._through.get(name, 0)) for name, began in asked.items() if began is not None]
        through = 1 + max(starts, default=self.path)
        for name in event.requests:
            self._through[name] = through

    def answer(self, event: AnyAnswered) -> None:
        """Take in what became of a request."""
        if not self._through:
            return
        name = self._names.of(event)
        if name is not None:
            self.path = max(self.path, self._through.pop(name, 0))

    def sums(self) -> dict[CallKey, CallSums]:
        """Return the calls so far by seat, model and sort (see `sort_of`); later calls do not
        change it.
        """
        return {key: sums.copy() for key, sums in self._sums.items()}

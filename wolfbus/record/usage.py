"""`Usage`: what any number of model calls took: calls, tokens, money and time, in bounded memory. The gateway, views of
a game, studies and reports all add up by it. It is made of exact sums and of quantiles that merge in any order to the
same result.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Final, Protocol

from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.messages.calls import Call

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
        length = 0
        for other in partials:
            large, small = (value, other) if abs(value) >= abs(other) else (other, value)
            value = large + small
            lost = small - (value - large)
            if lost:
                partials[length] = lost
                length += 1
        partials[length:] = [value]

    def merge(self, other: Mean) -> None:
        """Add all that `other` holds."""
        self.n += other.n
        for partial in list(other._partials):
            self._add(partial)

    def state(self) -> list[Any]:
        """Return all that it holds as plain values; see `restore`."""
        return [self.n, list(self._partials)]

    def restore(self, state: list[Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        self.n, self._partials = state

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

    def state(self) -> list[Any]:
        """Return all that it holds as plain values; see `restore`."""
        return [list(self._buckets.items()), self._sum.state(), self._least, self._greatest]

    def restore(self, state: list[Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        buckets, total, self._least, self._greatest = state
        self._buckets = Counter(dict(buckets))
        self._sum.restore(total)

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


TOKENS: Final = ("prompt_tokens", "cached_tokens", "completion_tokens")
"""What servers count: tokens of the prompt, those of them that were in the cache, and of the reply, hidden reasoning
included."""

_REPORTED: Final = ("calls", "requests", "failed", "reasks", "attempts", "cassette")
_COUNTS: Final = (*_REPORTED, "uncounted", "unpriced", "_compared")
_NAMED: Final = 3
"""Kinds that the name of a sort of call spells out."""


class FinishedCall(Protocol):
    """A call that came to its end, whether it is just over or stands in a record; see `Call` for what each means."""

    @property
    def error(self) -> str | None: ...  # noqa: D102
    @property
    def cassette(self) -> bool: ...  # noqa: D102
    @property
    def attempts(self) -> int: ...  # noqa: D102
    @property
    def charged(self) -> bool: ...  # noqa: D102
    @property
    def queue_s(self) -> float: ...  # noqa: D102
    @property
    def latency_s(self) -> float: ...  # noqa: D102
    @property
    def prompt_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def cached_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def completion_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def cost_usd(self) -> float | None: ...  # noqa: D102
    @property
    def billed_usd(self) -> float | None: ...  # noqa: D102


def kinds_of(call: Call) -> tuple[Kind, ...]:
    """Return the kinds of the requests that a call answers, in the order of `KINDS`, each once."""
    kinds = {parts[3] for name in call.requests if len(parts := name.split("/", 4)) > 4}
    return tuple(kind for kind in KINDS if kind in kinds) or (call.kind,)


def sort_of(call: Call) -> str:
    """Return what a call answers, in short: "bid", "assess_other+" for several of a kind, "bid+assess_other", or
    "speak+label" where the reply also labels what it says.
    """
    kinds = kinds_of(call)
    named = "+".join(kinds[:_NAMED]) + ("+more" if len(kinds) > _NAMED else "")
    if call.labels:
        return f"{named}+label"
    return f"{named}+" if len(kinds) == 1 and len(call.requests) > 1 else named


def is_free(call: FinishedCall) -> bool:
    """Return whether no server can have charged for a call: it was played from a cassette, never sent, or every attempt
    was turned away (429) or found no server.
    """
    return call.cassette or not call.attempts or not call.charged


class PartialSum:
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

    def merge(self, other: PartialSum) -> None:
        """Add all that `other` holds."""
        self.sum.merge(other.sum)
        self.missing += other.missing

    def state(self) -> list[Any]:
        """Return all that it holds as plain values; see `restore`."""
        return [self.sum.state(), self.missing]

    def restore(self, state: list[Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        total, self.missing = state
        self.sum.restore(total)

    def total(self) -> float | None:
        """Return the sum of the known values, None if none is known."""
        return self.sum.total() if self.sum.n else None


class Usage:
    """Sums over model calls.

    Attributes:
        calls: calls, failed ones included.
        requests: requests that they were to answer; more than `calls` under the compact protocol.
        failed: calls without a reply.
        cassette: calls whose replies came from a cassette; their tokens are those of the recorded calls, they cost
            nothing, and attempts and times do not hold them.
        reasks: calls that asked again for what an earlier reply did not give.
        attempts: requests over the network.
        uncounted: calls that a server may have worked on without counting prompt and reply.
        unpriced: calls whose tokens are known, and whose price is not.
        cost: US dollars, and how many calls that a server may have charged for lack a price.
        billed: US dollars by the servers' own word, and of how many such calls they do not say it.
        latency: seconds of the calls that reached the network, back-off between attempts included.
        queue: seconds that calls waited for their turn under the limits.
    """

    __slots__ = (
        "_compared",
        "_tokens",
        "attempts",
        "billed",
        "calls",
        "cassette",
        "cost",
        "failed",
        "latency",
        "queue",
        "reasks",
        "requests",
        "uncounted",
        "unpriced",
    )

    def __init__(self) -> None:
        self.calls = self.requests = self.failed = self.reasks = self.attempts = self.cassette = 0
        self.uncounted = self.unpriced = 0
        # tokens of the prompts of which it is known how many were in the cache
        self._compared = 0
        self.latency = Distribution()
        self.queue = Distribution()
        self._tokens = {name: PartialSum() for name in TOKENS}
        self.cost = PartialSum()
        self.billed = PartialSum()

    def add(self, call: FinishedCall, requests: int = 1, *, reask: bool = False) -> None:
        """Add one call.

        Args:
            call: what came of it.
            requests: how many it was to answer.
            reask: whether it asked again for what an earlier reply did not give.
        """
        self.calls += 1
        self.requests += requests
        self.failed += call.error is not None
        self.reasks += reask
        free = is_free(call)
        for name, total in self._tokens.items():
            total.add(getattr(call, name), free=free)
        if call.prompt_tokens is not None and call.cached_tokens is not None:
            self._compared += call.prompt_tokens
        counted = call.prompt_tokens is not None and call.completion_tokens is not None
        self.uncounted += not (counted or free)
        if call.cassette:
            self.cassette += 1
            return
        self.attempts += call.attempts
        if call.attempts:
            self.latency.add(call.latency_s)
        self.queue.add(call.queue_s)
        self.cost.add(call.cost_usd, free=free)
        self.billed.add(call.billed_usd, free=free)
        self.unpriced += counted and call.cost_usd is None

    def merge(self, other: Usage) -> None:
        """Add all that `other` holds."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for target, source in zip(self._sums(), other._sums(), strict=True):
            target.merge(source)

    def state(self) -> list[Any]:
        """Return all that it holds as plain values; see `restore`."""
        return [*(getattr(self, name) for name in _COUNTS), *(part.state() for part in self._sums())]

    def restore(self, state: list[Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        for name, count in zip(_COUNTS, state, strict=False):
            setattr(self, name, count)
        for part, values in zip(self._sums(), state[len(_COUNTS) :], strict=True):
            part.restore(values)

    def _sums(self) -> list[Any]:
        return [self.latency, self.queue, self.cost, self.billed, *self._tokens.values()]

    def copy(self) -> Usage:
        """Return sums of their own that hold the same."""
        copied = Usage()
        copied.merge(self)
        return copied

    def tokens(self, *names: str) -> int | None:
        """Return the sum of some of `TOKENS`, None if no call tells any."""
        totals = [total for name in names if (total := self._tokens[name].total()) is not None]
        return int(sum(totals)) if totals else None

    @property
    def cached_share(self) -> float | None:
        """Share of prompt tokens that were in the cache, over the calls of which that is known; None without any."""
        # earlier records hold cached tokens beyond those of the prompt, as some servers count them
        return min(1.0, (self.tokens("cached_tokens") or 0) / self._compared) if self._compared else None

    @property
    def cost_usd(self) -> float | None:
        """US dollars, None if no call has a price; nothing is what replies from a cassette cost."""
        total = self.cost.total()
        return 0.0 if total is None and 0 < self.cassette == self.calls else total

    def result(self) -> dict[str, Any]:
        """Return everything as plain values; each ``…_missing`` counts the calls that its sum lacks, but for those
        that no server can have charged for. ``billed_usd`` is missing where no server says what it charged.
        """
        result: dict[str, Any] = {name: getattr(self, name) for name in _REPORTED}
        for name, total in self._tokens.items():
            result |= {name: self.tokens(name), f"{name}_missing": total.missing}
        result |= {"cost_usd": self.cost_usd, "cost_usd_missing": self.cost.missing}
        if (billed := self.billed.total()) is not None:
            result |= {"billed_usd": billed, "billed_usd_missing": self.billed.missing}
        return {**result, "latency_s": self.latency.result(), "queue_s": self.queue.result()}

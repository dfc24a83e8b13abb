"""What model calls took: how many, how many tokens, how much money, how long."""

from __future__ import annotations

import math
import random
import threading
from array import array
from decimal import Decimal
from typing import Any, Final

from players.llm.call import Completion, Purpose
from players.llm.settings import Price

SAMPLE: Final = 32_768
"""Latencies that one sum keeps; of more calls, a uniform sample of this size."""


def exact_cost(price: Price, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> Decimal:
    """Return US dollars for so many tokens, exactly as the price table's decimals say.

    Args:
        price: what a million tokens cost.
        prompt_tokens: tokens of the prompt, those in the cache included.
        cached_tokens: how many of them the server had in its cache.
        completion_tokens: tokens of the reply, hidden reasoning included.
    """
    full = _decimal(price.input)
    cached = full if price.cached is None else _decimal(price.cached)
    in_cache = min(cached_tokens, prompt_tokens)
    per_million = (prompt_tokens - in_cache) * full + in_cache * cached + completion_tokens * _decimal(price.output)
    return per_million.scaleb(-6)


def cost_of(price: Price | None, completion: Completion) -> float | None:
    """Return what a call cost in US dollars; None without a price, or where the server did not count the tokens."""
    if price is None or completion.prompt_tokens is None or completion.completion_tokens is None:
        return None
    cached = completion.cached_tokens or 0
    return float(exact_cost(price, completion.prompt_tokens, cached, completion.completion_tokens))


def dollars(amount: float | Decimal, places: int = 2) -> str:
    """Return ``$0.31``: at least so many decimal places, and more where two figures would not show otherwise."""
    value = float(amount)
    figures = 1 - math.floor(math.log10(value)) if value > 0 else places
    return f"${value:,.{min(max(places, figures), 12)}f}"


class Accounts:
    """The sums of a run, safe from any thread; every call counts, the probe included.

    The sums are over the calls that the games made, whether a server or a cassette answered; how many a cassette
    answered stands beside them, and nothing was paid for those.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total = _Sum()
        self._models: dict[str, _Sum] = {}
        self._purposes: dict[tuple[str, Purpose], _Sum] = {}

    def add(self, model: str, purpose: Purpose, completion: Completion) -> None:
        """Count one call.

        Args:
            model: the model, as the server was told.
            purpose: what the call was for.
            completion: what came of it; its `cost_usd` is taken as it stands.
        """
        with self._lock:
            for total in (
                self._total,
                self._models.setdefault(model, _Sum()),
                self._purposes.setdefault((model, purpose), _Sum()),
            ):
                total.add(completion, probe=purpose == "probe")

    def summary(self) -> dict[str, Any]:
        """Return all sums for JSON: ``total``, and ``models`` by name, each with its ``purposes``.

        Each sum holds calls, probes (how many of them), attempts, failed (without a reply, for whatever reason),
        timed_out (those of the failed whose time ran out), from_cassette, the three counts of tokens, cached_share (of
        the prompt tokens of the calls for which the server told), tokens_unknown (calls that a server may have worked
        on without a count), cost_usd (of the calls whose cost is known; null if there is none), cost_unknown (calls
        that a server may have worked on and whose cost is not known), latency_median_s and latency_p95_s (of the calls
        with a reply, null if there is none), queue_s and queue_max_s.
        """
        with self._lock:
            models = {
                name: {
                    **total.figures(),
                    "purposes": {
                        purpose: part.figures() for (owner, purpose), part in self._purposes.items() if owner == name
                    },
                }
                for name, total in self._models.items()
            }
            return {"total": self._total.figures(), "models": models}

    def lines(self) -> list[str]:
        """Return one line per model for people, and one of all where there are several; none without a call."""
        with self._lock:
            lines = [f"{name}: {total.line()}" for name, total in self._models.items()]
            if len(lines) > 1:
                lines.append(f"all models: {self._total.line()}")
            return lines


class _Sum:
    """The sum of some calls."""

    def __init__(self) -> None:
        self.calls = self.probes = self.attempts = self.failed = self.timed_out = self.from_cassette = 0
        self.prompt_tokens = self.cached_tokens = self.completion_tokens = 0
        self.prompt_told_cached = 0
        self.tokens_unknown = self.cost_unknown = self.unpriced = self.priced = 0
        self.cost = 0.0
        self.queue = self.longest_queue = 0.0
        self.latency = _Sample()

    def add(self, completion: Completion, *, probe: bool) -> None:
        failed = completion.error is not None or completion.timed_out
        self.calls += 1
        self.probes += probe
        self.attempts += completion.attempts
        self.failed += failed
        self.timed_out += completion.timed_out
        self.from_cassette += completion.cassette
        self.queue += completion.queue_s
        self.longest_queue = max(self.longest_queue, completion.queue_s)
        if not failed:
            self.latency.add(completion.latency_s)
        worked = completion.charged and completion.attempts > 0
        self._add_tokens(completion, worked=worked)
        if not completion.cassette:
            self._add_cost(completion, worked=worked)

    def _add_tokens(self, completion: Completion, *, worked: bool) -> None:
        self.prompt_tokens += completion.prompt_tokens or 0
        self.completion_tokens += completion.completion_tokens or 0
        if completion.cached_tokens is not None and completion.prompt_tokens is not None:
            self.cached_tokens += completion.cached_tokens
            self.prompt_told_cached += completion.prompt_tokens
        self.tokens_unknown += worked and not _counted(completion)

    def _add_cost(self, completion: Completion, *, worked: bool) -> None:
        if completion.cost_usd is None:
            self.cost_unknown += worked
            self.unpriced += _counted(completion)
            return
        self.priced += 1
        self.cost += completion.cost_usd

    def figures(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "probes": self.probes,
            "attempts": self.attempts,
            "failed": self.failed,
            "timed_out": self.timed_out,
            "from_cassette": self.from_cassette,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "cached_share": self.cached_share,
            "completion_tokens": self.completion_tokens,
            "tokens_unknown": self.tokens_unknown,
            "cost_usd": self.cost if self.priced else None,
            "cost_unknown": self.cost_unknown,
            "latency_median_s": self.latency.quantile(0.5),
            "latency_p95_s": self.latency.quantile(0.95),
            "queue_s": self.queue,
            "queue_max_s": self.longest_queue,
        }

    @property
    def cached_share(self) -> float | None:
        return self.cached_tokens / self.prompt_told_cached if self.prompt_told_cached else None

    def line(self) -> str:
        return ", ".join(part for part in (self._calls(), self._tokens(), self._money(), self._times()) if part)

    def _calls(self) -> str:
        asides = [
            f"{count} {what}"
            for count, what in (
                (self.failed - self.timed_out, "failed"),
                (self.timed_out, "timed out"),
                (self.from_cassette, "from the cassette"),
            )
            if count
        ]
        games = self.calls - self.probes
        parts = [_several(games, "call")] if games or not self.probes else []
        calls = " and ".join([*parts, *([_several(self.probes, "probe")] if self.probes else [])])
        return f"{calls} ({', '.join(asides)})" if asides else calls

    def _tokens(self) -> str:
        if not self.prompt_tokens and not self.completion_tokens:
            return "tokens not counted by the server" if self.tokens_unknown else ""
        share = self.cached_share
        cached = "" if share is None else f" ({share:.0%} cached)".replace("%", " %")
        uncounted = f" (without {_several(self.tokens_unknown, 'uncounted call')})" if self.tokens_unknown else ""
        return (
            f"{_count(self.prompt_tokens)} prompt tokens{cached}, "
            f"{_count(self.completion_tokens)} completion tokens{uncounted}"
        )

    def _money(self) -> str:
        if not self.priced:
            if self.unpriced:
                return "price not configured"
            return "cost not known" if self.cost_unknown else ""
        return f"{'at least ' if self.cost_unknown else ''}{dollars(self.cost)}"

    def _times(self) -> str:
        median, p95 = self.latency.quantile(0.5), self.latency.quantile(0.95)
        if median is None or p95 is None:
            return ""
        return f"median {_seconds(median)}, p95 {_seconds(p95)}"


class _Sample:
    """Numbers, at most `SAMPLE` of them: beyond that each number seen is as likely to be in it as any other."""

    def __init__(self) -> None:
        self._kept = array("d")
        self._seen = 0
        self._draws = random.Random(0)

    def add(self, number: float) -> None:
        self._seen += 1
        if len(self._kept) < SAMPLE:
            self._kept.append(number)
        elif (place := self._draws.randrange(self._seen)) < SAMPLE:
            self._kept[place] = number

    def quantile(self, share: float) -> float | None:
        """Return the smallest number that at least this share of the numbers does not exceed."""
        if not self._kept:
            return None
        return sorted(self._kept)[math.ceil(share * len(self._kept)) - 1]


def _counted(completion: Completion) -> bool:
    return completion.prompt_tokens is not None and completion.completion_tokens is not None


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _decimal(number: float) -> Decimal:
    # through its shortest decimal form, which is what the user wrote: 0.15 is then 0.15
    return Decimal(repr(number))


def _count(number: int) -> str:
    """Return ``312``, ``3.1 k``, ``40 k``, ``1.2 M``."""
    if number < 1000:
        return str(number)
    unit, size = next(((unit, size) for unit, size in (("k", 1e3), ("M", 1e6)) if number < 999.5 * size), ("G", 1e9))
    value = number / size
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def _seconds(number: float) -> str:
    if number < 0.0995:
        return f"{number * 1000:.0f} ms"
    return f"{number:.1f} s" if number < 9.95 else f"{number:,.0f} s"

"""What model calls took: how many, how many tokens, how much money, how long."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from players.llm.provider import Completion, Purpose
from players.llm.settings import Price
from wolfbus.files.formats import count, percent, seconds
from wolfbus.files.printable import counted
from wolfbus.record.usage import Distribution, Usage


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
    """What the calls of a run took, safe from any thread; every call counts, the probe included.

    The sums are over all calls, whether a server or a cassette answered; how many a cassette answered stands beside
    them, and nothing was paid for those.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[tuple[str, Purpose], _Sum] = {}

    def add(self, model: str, purpose: Purpose, completion: Completion) -> None:
        """Count one call.

        Args:
            model: the model, as its server knows it.
            purpose: what the call was for.
            completion: what came of it; its `cost_usd` is taken as it stands.
        """
        with self._lock:
            part = self._sums.setdefault((model, purpose), _Sum())
            part.usage.add(completion)
            part.timed_out += completion.timed_out
            # no more of the games than a probe
            part.probes += purpose in {"probe", "canary"}
            if completion.error is None and not completion.timed_out:
                part.latency.add(completion.latency_s)

    def summary(self) -> dict[str, Any]:
        """Return all sums for JSON: ``total``, and ``models`` by name, each with its ``purposes``.

        Each sum holds calls, probes (how many of them), attempts, failed (without a reply, for whatever reason),
        timed_out (those of the failed whose time ran out), from_cassette, the three counts of tokens, cached_share (of
        the prompt tokens of the calls for which the server told), tokens_unknown (calls that a server may have worked
        on without a count), cost_usd (of the calls whose cost is known; null if there is none), cost_unknown (calls
        that a server may have worked on and whose cost is not known), billed_usd (what servers themselves say that they
        cost; null if none does), latency_median_s and latency_p95_s (of the calls
        with a reply, null if there is none), queue_s and queue_max_s.
        """
        with self._lock:
            models = {
                name: {
                    **_merged(parts.values()).figures(),
                    "purposes": {purpose: part.figures() for purpose, part in parts.items()},
                }
                for name, parts in self._models().items()
            }
            return {"total": _merged(self._sums.values()).figures(), "models": models}

    def so_far(self) -> tuple[int, float | None, int]:
        """Return calls, probes left out, US dollars as far as known, and tokens."""
        with self._lock:
            sums = list(self._sums.values())
            costs = [part.usage.cost.total() for part in sums]
            priced = [cost for cost in costs if cost is not None]
            tokens = sum(part.usage.tokens("prompt_tokens", "completion_tokens") or 0 for part in sums)
            return sum(part.usage.calls - part.probes for part in sums), math.fsum(priced) if priced else None, tokens

    def lines(self) -> list[str]:
        """Return one line per model for people, and one of all where there are several; none without a call."""
        with self._lock:
            lines = [f"{name}: {_merged(parts.values()).line()}" for name, parts in self._models().items()]
            if len(lines) > 1:
                lines.append(f"all models: {_merged(self._sums.values()).line()}")
            return lines

    def _models(self) -> dict[str, dict[Purpose, _Sum]]:
        models: dict[str, dict[Purpose, _Sum]] = {}
        for (model, purpose), part in self._sums.items():
            models.setdefault(model, {})[purpose] = part
        return models


@dataclass(slots=True)
class _Sum:
    """What some calls took, and besides: seconds of those with a reply (the recorded ones of a cassette too), those
    whose time ran out, and probes.
    """

    usage: Usage = field(default_factory=Usage)
    latency: Distribution = field(default_factory=Distribution)
    timed_out: int = 0
    probes: int = 0

    def figures(self) -> dict[str, Any]:
        usage, queue = self.usage, self.usage.queue.result()
        return {
            "calls": usage.calls,
            "probes": self.probes,
            "attempts": usage.attempts,
            "failed": usage.failed,
            "timed_out": self.timed_out,
            "from_cassette": usage.cassette,
            "prompt_tokens": usage.tokens("prompt_tokens") or 0,
            "cached_tokens": usage.tokens("cached_tokens") or 0,
            "cached_share": usage.cached_share,
            "completion_tokens": usage.tokens("completion_tokens") or 0,
            "tokens_unknown": usage.uncounted,
            "cost_usd": usage.cost.total(),
            "cost_unknown": usage.cost.missing,
            "billed_usd": usage.billed.total(),
            "latency_median_s": self.latency.quantile(0.5),
            "latency_p95_s": self.latency.quantile(0.95),
            "queue_s": queue["total"],
            "queue_max_s": queue["max"] or 0.0,
        }

    def line(self) -> str:
        parts = (self._calls(), _tokens(self.usage), self._money(), self._times())
        return ", ".join(filter(None, parts))

    def _calls(self) -> str:
        usage = self.usage
        asides = {
            "failed": usage.failed - self.timed_out,
            "timed out": self.timed_out,
            "from the cassette": usage.cassette,
        }
        aside = ", ".join(f"{number} {state}" for state, number in asides.items() if number)
        sorts = {"call": usage.calls - self.probes, "probe": self.probes}
        calls = " and ".join(counted(number, noun) for noun, number in sorts.items() if number)
        return f"{calls} ({aside})" if aside else calls

    def _money(self) -> str:
        billed = self.usage.billed.total()
        aside = "" if billed is None else f"its server says {dollars(billed)}"
        money = _money(self.usage)
        return f"{money} ({aside})" if money and aside else money or aside

    def _times(self) -> str:
        median = self.latency.quantile(0.5)
        return "" if median is None else f"median {seconds(median)}, p95 {seconds(self.latency.quantile(0.95))}"


def _merged(parts: Iterable[_Sum]) -> _Sum:
    total = _Sum()
    for part in parts:
        total.usage.merge(part.usage)
        total.latency.merge(part.latency)
        total.timed_out += part.timed_out
        total.probes += part.probes
    return total


def _tokens(usage: Usage) -> str:
    prompt, completion = usage.tokens("prompt_tokens") or 0, usage.tokens("completion_tokens") or 0
    if not prompt and not completion:
        return "tokens not counted by the server" if usage.uncounted else ""
    cached = "" if usage.cached_share is None else f" ({percent(usage.cached_share, 0)} cached)"
    uncounted = f" (without {counted(usage.uncounted, 'uncounted call')})" if usage.uncounted else ""
    return f"{count(prompt)} prompt tokens{cached}, {count(completion)} completion tokens{uncounted}"


def _money(usage: Usage) -> str:
    cost = usage.cost.total()
    if cost is not None:
        return f"{'at least ' if usage.cost.missing else ''}{dollars(cost)}"
    if usage.unpriced:
        return "price not configured"
    return "cost not known" if usage.cost.missing else ""


def _decimal(number: float) -> Decimal:
    # through its shortest decimal form, which is what the user wrote: 0.15 is then 0.15
    return Decimal(repr(number))

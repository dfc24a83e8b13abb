"""`Server`: an endpoint as all calls of the process share it: its provider, limits, circuit, pace, what it takes."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from players.llm.call import Purpose
from players.llm.capability import Capability
from players.llm.circuit import FAILURES, Circuit
from players.llm.limits import MINUTE, Gate
from players.llm.provider import Provider
from players.llm.settings import Endpoint

_KEPT: Final = 64
_LEAST: Final = 8
_SHARE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential back-off with full jitter: a uniform draw between nothing and a bound that grows.

    Attributes:
        first: seconds, the bound before the second attempt.
        factor: growth of the bound from one attempt to the next.
        longest: seconds, the bound's own bound.
    """

    first: float = 0.5
    factor: float = 2.0
    longest: float = 20.0

    def bound(self, failures: int) -> float:
        """Return the most seconds to wait after so many failures (at least 1)."""
        return min(self.longest, self.first * self.factor ** min(failures - 1, 64))

    def delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures, drawn anew each time."""
        return random.uniform(0, self.bound(failures))


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast things go wrong, and right again; tests make it fast.

    Attributes:
        backoff: time between the attempts of a call.
        failures: so many in a row open an endpoint's circuit,
        lasting: if it is so many seconds since the first of them.
        first_trial: seconds from there to its first trial.
        longest_trial: seconds between trials at most.
        minute: seconds that limits per minute are about.
    """

    backoff: Backoff = field(default_factory=Backoff)
    failures: int = FAILURES
    lasting: float = 1.0
    first_trial: float = 0.5
    longest_trial: float = 30.0
    minute: float = MINUTE


class Pace:
    """Remembers how long the last attempts took, by model and purpose.

    An attempt that hangs should be cut in time for another one; a model that is merely slow should not be. Only what
    was seen tells them apart: attempts are cut after half the time if most replies come in less than a quarter of it.
    """

    def __init__(self) -> None:
        self._took: dict[tuple[str, Purpose], deque[float]] = {}

    def add(self, model: str, purpose: Purpose, seconds: float) -> None:
        """Take in an attempt that brought a reply, or was cut."""
        self._took.setdefault((model, purpose), deque(maxlen=_KEPT)).append(seconds)

    def cut_after(self, model: str, purpose: Purpose, given: float) -> float | None:
        """Return after how many seconds to give an attempt up.

        Args:
            model: who is asked.
            purpose: for what.
            given: seconds that the call has in all.

        Returns:
            Half of that; None, for no cut, while little is known or replies are that slow.
        """
        took = self._took.get((model, purpose), ())
        if len(took) < _LEAST:
            return None
        usual = sorted(took)[int(_SHARE * len(took))]
        return given / 2 if usual < given / 4 else None


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
        gate: its limits.
        circuit: whether it is down.
        pace: how long its replies take.
    """

    def __init__(self, endpoint: Endpoint, provider: Provider, tempo: Tempo) -> None:
        self.endpoint = endpoint
        self.provider = provider
        self.url = url = provider.url
        self.gate = Gate(
            endpoint.at_once,
            endpoint.requests_per_minute,
            endpoint.tokens_per_minute,
            minute=tempo.minute,
            url=url,
        )
        self.circuit = Circuit(
            url,
            endpoint.patience,
            failures=tempo.failures,
            lasting=tempo.lasting,
            first=tempo.first_trial,
            longest=tempo.longest_trial,
        )
        self.pace = Pace()
        self._capabilities: dict[str, Capability] = {}

    def capability(self, model: str) -> Capability:
        """Return what is known of a model here."""
        if model not in self._capabilities:
            self._capabilities[model] = Capability(f"{model} at {self.url}", self.provider.shape(model))
        return self._capabilities[model]

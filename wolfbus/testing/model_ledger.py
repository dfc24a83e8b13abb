"""What the double counts."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelStats:
    """What a double counted since its start or its last reset.

    Attributes:
        calls: chat completions asked for, refused ones and errors included.
        open: how many are under way now.
        peak: how many were under way at once, at most.
        streamed: how many asked for a stream.
        kinds: answered calls by what was asked, such as ``bid``: the schema's name, or what its members tell.
        models: calls by the model's name.
        errors: calls by the error they met, hangs included.
        ugly: replies by the sort of their ugliness.
        statuses: responses of all paths by HTTP status, "200" and so on; a connection broken before has none.
        prompt_characters: characters of all prompts answered.
        completion_characters: characters of all replies.
        prompt_tokens: as reported with the answers; so with the others.
        cached_tokens: prompt tokens that were found in the prefix cache.
        completion_tokens: tokens of replies, reasoning included.
        cpu_s: processor seconds of the whole process that runs the double.
    """

    calls: int = 0
    open: int = 0
    peak: int = 0
    streamed: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    ugly: Mapping[str, int] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    prompt_characters: int = 0
    completion_characters: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request for a chat completion, as it came.

    Attributes:
        headers: by name in lower case.
        body: its JSON.
    """

    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def authorization(self) -> str | None:
        """What the client showed to be let in."""
        return self.headers.get("authorization")


class Ledger:
    """Counts calls; safe from any thread.

    Args:
        keep: whether requests are kept.
    """

    def __init__(self, keep: bool = False) -> None:
        self._changed = threading.Condition()
        self._keep = keep
        self._open = 0
        self._clear()

    def _clear(self) -> None:
        self._calls = 0
        self._peak = self._open
        self._requests: list[ModelRequest] = []
        self._began_cpu = time.process_time()
        self._sums: Counter[str] = Counter()
        self._by: dict[str, Counter[str]] = {
            name: Counter() for name in ("kinds", "models", "errors", "ugly", "statuses")
        }

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count a call while it is under way."""
        with self._changed:
            self._calls += 1
            self._open += 1
            self._peak = max(self._peak, self._open)
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def keep(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        """Keep a request, if requests are kept."""
        if self._keep:
            kept = ModelRequest({name.lower(): value for name, value in headers.items()}, body)
            with self._changed:
                self._requests.append(kept)

    def count(self, by: str, name: str) -> None:
        """Count one more of `name` among ``kinds``, ``models``, ``errors``, ``ugly`` or ``statuses``."""
        with self._changed:
            self._by[by][name] += 1

    def add(self, **sums: int) -> None:
        """Add to the sums that `ModelStats` names."""
        with self._changed:
            self._sums.update(sums)

    def stats(self) -> ModelStats:
        """Return what was counted so far."""
        with self._changed:
            return ModelStats(
                calls=self._calls,
                open=self._open,
                peak=self._peak,
                cpu_s=time.process_time() - self._began_cpu,
                streamed=self._sums["streamed"],
                kinds=_sorted(self._by["kinds"]),
                models=_sorted(self._by["models"]),
                errors=_sorted(self._by["errors"]),
                ugly=_sorted(self._by["ugly"]),
                statuses=_sorted(self._by["statuses"]),
                prompt_characters=self._sums["prompt_characters"],
                completion_characters=self._sums["completion_characters"],
                prompt_tokens=self._sums["prompt_tokens"],
                cached_tokens=self._sums["cached_tokens"],
                completion_tokens=self._sums["completion_tokens"],
            )

    def requests(self) -> tuple[ModelRequest, ...]:
        """Return the requests kept so far, in the order of their arrival."""
        with self._changed:
            return tuple(self._requests)

    def reset(self) -> None:
        """Count anew; calls under way stay counted as open."""
        with self._changed:
            self._clear()

    def wait(self, calls: int, open_: int | None, timeout_s: float) -> bool:
        """Wait until so many calls came in, and so many are open; tell whether that happened in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._calls >= calls and (open_ is None or self._open == open_), timeout_s
            )


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))

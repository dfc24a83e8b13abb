"""When a failed request is tried again, and how long before."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final, Literal, TypeAlias

Trouble: TypeAlias = Literal["connection", "timeout", "server", "garbage", "busy", "rejected"]
"""What a request failed of.

connection: none stood, or it broke · timeout: no reply in the attempt's time · server: a status that says "later" ·
garbage: a status that says all is well, and no reply that can be read · busy: 429 · rejected: it would fail again.
"""

RETRIED: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may be different next time; so may all from 500 on, but those of `_NEVER`."""

_NEVER: Final = frozenset({501, 505, 511})
_LONGEST: Final = 366 * 86_400.0


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
class Failure:
    """Why a request brought no reply.

    Attributes:
        trouble: of what kind it is.
        line: one line for people, without any secret.
        again: whether another attempt makes sense.
        wait: seconds that the server wants to be left alone; None if it does not say.
        charged: whether the server may have done, and charged for, the work all the same.
        status: the HTTP status, where there was one.
        message: the server's words, for finding out what it cannot do; may hold anything.
        code: the server's own code of the error.
    """

    trouble: Trouble
    line: str
    again: bool
    wait: float | None = None
    charged: bool = False
    status: int | None = None
    message: str = ""
    code: str = ""

    @property
    def sick(self) -> bool:
        """Whether it speaks against the endpoint, not against this one request."""
        return self.trouble in {"connection", "timeout", "server"}


def trouble_of(status: int) -> Trouble:
    """Return what a status other than success means."""
    if status == 429:
        return "busy"
    if status >= 500 and status not in _NEVER:
        return "server"
    return "server" if status in RETRIED else "rejected"


def wait_wanted(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to be left alone: ``retry-after-ms``, or Retry-After, seconds or a date.

    None where it does not say, or says what is no time. A date in the past is 0.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return min(milliseconds / 1000, _LONGEST)
    given = headers.get("retry-after")
    if given is None:
        return None
    seconds = _number(given)
    if seconds is None:
        try:
            moment = parsedate_to_datetime(given)
        except (ValueError, OverflowError):
            return None
        seconds = max(0.0, moment.timestamp() - time.time())
    return min(seconds, _LONGEST)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if number >= 0 and math.isfinite(number) else None

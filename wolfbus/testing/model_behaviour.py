"""How the double behaves: its speed, what it refuses, and what share of requests meets what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypeVar, get_args

S = TypeVar("S", bound=str)

UglySort: TypeAlias = Literal[
    "fence", "prose", "comma", "quotes", "cut", "keys", "wrapper", "empty", "html", "refusal", "think", "illegal"
]
"""How a reply may be ugly.

fence: within a Markdown fence · prose: with words around · comma: a trailing comma · quotes: Python's literals ·
cut: it stops early, with finish reason ``length`` · keys: under wrong keys · wrapper: within another object ·
empty: no content · html: a proxy's error page · refusal: a refusal in words · think: behind a ``<think>`` block ·
illegal: names nobody has, numbers out of range.
"""

ErrorSort: TypeAlias = Literal["429", "500", "reset", "hang"]
"""What may happen to a request instead of an answer.

429: with ``Retry-After`` · 500 · reset: the connection is broken · hang: nothing until the client goes.
"""

UGLY: Final[tuple[UglySort, ...]] = get_args(UglySort)
ERRORS: Final[tuple[ErrorSort, ...]] = get_args(ErrorSort)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a model double behaves.

    Attributes:
        latency: seconds until it answers.
        seed: decides every draw.
        ugly: share of replies, 0 to 1, that are ugly: of all sorts alike, or of each named sort.
        errors: share of requests that meet an error: of all sorts but ``hang`` alike, or of each named sort; drawn anew
            when a request is sent again.
        takes_schema: whether it takes a JSON Schema as ``response_format``; if not, prompts alone say what is asked.
        key: the key it asks for; none unless given.
    """

    latency: float = 0.0
    seed: int = 0
    ugly: float | Mapping[UglySort, float] = 0.0
    errors: float | Mapping[ErrorSort, float] = 0.0
    takes_schema: bool = True
    key: str | None = field(default=None, repr=False)


def drawn_sort(shares: float | Mapping[S, float], mix: Sequence[S], point: float) -> S | None:
    """Return the sort at `point`, uniform in [0, 1): of a mix each alike, else each by its own share; None for none."""
    if not isinstance(shares, Mapping):
        shares = dict.fromkeys(mix, shares / len(mix))
    for sort, share in shares.items():
        point -= share
        if point < 0:
            return sort
    return None

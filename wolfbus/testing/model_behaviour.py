"""How the double behaves: its speed, what it refuses, in OpenAI's words, and what share of requests meets what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from wolfbus.errors import ConfigError, fault_of_table

S = TypeVar("S", bound=str)

UglySort: TypeAlias = Literal[
    "fence", "prose", "comma", "quotes", "cut", "two", "keys", "words", "wrapper", "empty", "html", "huge",
    "refusal", "apology", "think", "reasoning", "illegal",
]  # fmt: skip
"""How a reply may be ugly.

fence: within a Markdown fence · prose: with words around · comma: a trailing comma · quotes: Python's literals ·
cut: it stops early, with finish reason ``length`` · two: another object after it · keys: under wrong keys ·
words: numbers as words · wrapper: within another object · empty: no content · html: a proxy's error page ·
huge: 200 kB · refusal: in the field some servers have for it · apology: a refusal in prose ·
think: behind a ``<think>`` block · reasoning: thoughts in a field of their own, the content as it should be ·
illegal: names nobody has, numbers out of range.
"""

ErrorSort: TypeAlias = Literal["429", "500", "502", "503", "408", "reset", "half", "trickle", "hang"]
"""What may happen to a request instead of an answer.

429: with ``Retry-After`` · 500, 503, 408 · 502: with a page of HTML · reset: the connection is broken · half: half the
answer, then the connection is broken · trickle: the whole answer, piece by piece · hang: nothing until the client goes.
"""

UGLY: Final[tuple[UglySort, ...]] = get_args(UglySort)
ERRORS: Final[tuple[ErrorSort, ...]] = tuple(sort for sort in get_args(ErrorSort) if sort != "hang")
"""What a mix of errors holds; hangs are asked for by their own share."""

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=3600)]

_ALL: Final = 1 + 1e-9
"""What shares may add up to, which are no exact numbers."""


class Behaviour(BaseModel):
    """How a model double behaves."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    latency: Seconds = 0.0
    """Seconds until it answers."""
    jitter: Seconds = 0.0
    """Up to so many seconds more, drawn by request."""
    seed: int = 0
    """Decides every draw."""
    ugly: Share | Mapping[UglySort, Share] = 0.0
    """Share of replies that are ugly: of all sorts alike, or of each named sort."""
    errors: Share | Mapping[ErrorSort, Share] = 0.0
    """Share of requests that meet an error; drawn anew when a request is sent again."""
    hangs: Share = 0.0
    """Share of requests that are never answered."""
    retry_after: Seconds = 0.2
    """Seconds that a 429 asks to wait."""
    trickle: Seconds = 2.0
    """Seconds that a trickled answer takes."""
    models: tuple[str, ...] = ()
    """Names of its models; any name will do unless given."""
    takes_schema: bool = True
    """Whether it takes ``response_format`` with a JSON Schema."""
    keeps_schema: bool = True
    """Whether it keeps to a JSON Schema that it takes; if not, it answers by the prompt alone."""
    takes_json_mode: bool = True
    """Whether it takes ``response_format`` without one."""
    takes_system: bool = True
    """Whether it takes messages of the system."""
    takes_temperature: bool = True
    """Whether it takes ``temperature`` and ``top_p``."""
    needs: Literal["max_tokens", "max_completion_tokens"] | None = None
    """The only name that it takes for the longest reply; either unless given."""
    reasoning: bool = False
    """Whether it thinks first, and spends completion tokens on that: with too few there is no content."""
    key: str | None = Field(default=None, repr=False)
    """The key it asks for; none unless given."""

    @field_validator("ugly", "errors")
    @classmethod
    def _at_most_all(cls, shares: float | Mapping[str, float]) -> float | Mapping[str, float]:
        if _sum(shares) > _ALL:
            raise ValueError("shares add up to more than 1")
        return shares

    @field_validator("hangs")
    @classmethod
    def _beside_errors(cls, hangs: float, info: ValidationInfo) -> float:
        if hangs + _sum(info.data.get("errors", 0.0)) > _ALL:
            raise ValueError("adds up with errors to more than 1")
        return hangs


def _sum(shares: float | Mapping[str, float]) -> float:
    return shares if isinstance(shares, float | int) else sum(shares.values())


def behaviour_of(traits: Mapping[str, Any]) -> Behaviour:
    """Return the behaviour with these traits, named as its fields.

    Raises:
        ConfigError: one line that names the trait and the reason.
    """
    try:
        return Behaviour(**traits)
    except ValidationError as error:
        raise ConfigError(f"fake model: {fault_of_table(error, Behaviour, depth=1)}") from None


def parse_shares(text: str, sorts: Sequence[str]) -> float | dict[str, float]:
    """Read ``0.05`` or ``429=0.2,500=0.1``.

    Raises:
        ValueError: one line on what is wrong with it.
    """
    if "=" not in text:
        return _share(text)
    shares: dict[str, float] = {}
    for part in text.split(","):
        sort, _, share = part.partition("=")
        if sort.strip() not in sorts:
            raise ValueError(f"{sort.strip()!r} is none of {', '.join(sorts)}")
        shares[sort.strip()] = _share(share)
    return shares


def drawn_sort(shares: float | Mapping[S, float], mix: Sequence[S], point: float) -> S | None:
    """Return the sort at `point`, uniform in [0, 1): of a mix each alike, else each by its own share; None for none."""
    if isinstance(shares, float | int):
        shares = dict.fromkeys(mix, shares / len(mix))
    for sort, share in shares.items():
        point -= share
        if point < 0:
            return sort
    return None


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise ValueError(f"{text.strip()!r} is neither a share from 0 to 1 nor SORT=SHARE,…") from None
    if not 0 <= share <= 1:
        raise ValueError(f"{text.strip()} is no share from 0 to 1")
    return share

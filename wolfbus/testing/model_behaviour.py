"""How the double behaves: its speed, what it refuses, in OpenAI's words, and what share of requests meets what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

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


_TYPES: Final = {429: "requests", 500: "server_error", 503: "server_error"}
_SYSTEM: Final = frozenset({"system", "developer"})
_ROLES: Final = _SYSTEM | {"user", "assistant"}


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
        if not isinstance(shares, float | int) and sum(shares.values()) > 1 + 1e-9:
            raise ValueError("shares add up to more than 1")
        return shares


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


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that refuses a request.

    Attributes:
        status: of HTTP.
        message: why.
        param: the parameter at fault.
        code: OpenAI's word for the reason.
    """

    status: int
    message: str
    param: str | None = None
    code: str | None = None

    def body(self) -> dict[str, Any]:
        """Return the body that goes with it."""
        kind = _TYPES.get(self.status, "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def refused_key(behaviour: Behaviour, authorization: str) -> Refusal | None:
    """Refuse a request without the right key; the wrong one is echoed in part, as some servers do."""
    if behaviour.key is None or authorization == f"Bearer {behaviour.key}":
        return None
    given = authorization.removeprefix("Bearer").strip()
    if not given:
        return Refusal(401, "You didn't provide an API key; send it as a bearer token in the Authorization header.")
    shown = f"{given[:8]}{'*' * max(4, len(given) - 12)}{given[-4:]}" if len(given) > 12 else "*" * len(given)
    return Refusal(401, f"Incorrect API key provided: {shown}.", code="invalid_api_key")


def refused(behaviour: Behaviour, body: Any) -> Refusal | None:
    """Refuse what the double does not take, None if it takes all of it."""
    return next(chain(_senseless(behaviour, body), _not_taken(behaviour, body), _bad_format(behaviour, body)), None)


def _senseless(behaviour: Behaviour, body: Any) -> Iterator[Refusal]:
    if not isinstance(body, dict):
        yield Refusal(400, "We could not parse the JSON body of your request.")
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        yield Refusal(400, "you must provide a model parameter")
    if behaviour.models and model not in behaviour.models:
        missing = f"The model `{model}` does not exist or you do not have access to it."
        yield Refusal(404, missing, code="model_not_found")
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        yield Refusal(400, "Invalid value for 'messages': expected a list of chat messages.", "messages")


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str) and message.get("role") in _ROLES


def _not_taken(behaviour: Behaviour, body: Mapping[str, Any]) -> Iterator[Refusal]:
    if body.get("stream"):
        yield Refusal(400, "Unsupported value: this model does not stream.", "stream", "unsupported_value")
    for number, message in enumerate(() if behaviour.takes_system else body["messages"]):
        if message["role"] in _SYSTEM:
            where = f"messages[{number}].role"
            what = f"Unsupported value: '{where}' does not support '{message['role']}' with this model."
            yield Refusal(400, what, where, "unsupported_value")
    if behaviour.needs == "max_tokens" and body.get("max_completion_tokens") is not None:
        yield Refusal(400, "Unrecognized request argument supplied: max_completion_tokens")
    wrong = () if behaviour.takes_temperature else ("temperature", "top_p")
    for name in (*wrong, "max_tokens") if behaviour.needs == "max_completion_tokens" else wrong:
        if body.get(name) is not None:
            use = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
            what = f"Unsupported parameter: '{name}' is not supported with this model.{use}"
            yield Refusal(400, what, name, "unsupported_parameter")


def _bad_format(behaviour: Behaviour, body: Mapping[str, Any]) -> Iterator[Refusal]:
    given = body.get("response_format")
    kind = given.get("type") if isinstance(given, dict) else "text"
    takes = {"json_schema": behaviour.takes_schema, "json_object": behaviour.takes_json_mode, "text": True}
    if kind not in takes:
        yield Refusal(400, f"Invalid value: '{kind}' for 'response_format.type'.", "response_format")
    elif not takes[kind]:
        what = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
        yield Refusal(400, what, "response_format")
    if isinstance(given, dict) and kind == "json_schema":
        form = given.get("json_schema")
        if not (isinstance(form, dict) and isinstance(form.get("schema"), dict) and isinstance(form.get("name"), str)):
            yield Refusal(400, "Missing required parameter: 'response_format.json_schema.schema'.", "response_format")
    if kind == "json_object" and not any("json" in message["content"].lower() for message in body["messages"]):
        what = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        yield Refusal(400, what, "messages")

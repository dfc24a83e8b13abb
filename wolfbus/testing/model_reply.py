"""How the double behaves, and what it says to one request, plain or ugly: no network, no clock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from wolfbus.game.draws import choose, unit
from wolfbus.testing.model_answer import (
    FormFiller,
    Schema,
    bounds,
    chooses_player,
    model_words,
    schema_of_prompt,
)

T = TypeVar("T")
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


CHARACTERS: Final = 4
"""Characters that count as a token."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the double says.

    Attributes:
        text: the content; None for none at all.
        finish: why it stopped.
        refusal: words of refusal in their own field.
        ugly: the sort of its ugliness.
        prompt_tokens: what the prompt counts as.
    """

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    ugly: UglySort | None = None
    prompt_tokens: int = 0

    @property
    def completion_tokens(self) -> int:
        """What the reply counts as."""
        return -(-len(self.text or self.refusal or "") // CHARACTERS)


def speak(behaviour: Behaviour, body: Mapping[str, Any], digest: str) -> ModelReply:
    """Answer a request that is not refused.

    Args:
        behaviour: how the double behaves; of it only the seed and the ugliness matter here.
        body: the request. The answer depends on its messages alone; whether it is ugly, on all of it.
        digest: hexadecimal hash of the body.
    """
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    prompt = "".join(message["content"] for message in messages)
    response_format = body.get("response_format") or {}
    if response_format.get("type") == "json_schema":
        schema = response_format["json_schema"]["schema"]
    else:
        schema = schema_of_prompt([message["content"] for message in messages if message["role"] != "assistant"])
    chat = "".join(f"\0{message['role']}\0{message['content']}" for message in messages)
    filler = FormFiller(behaviour.seed, hashlib.sha256(f"{behaviour.seed}{chat}".encode()).hexdigest(), prompt)
    draft = _Draft(None if schema is None else filler.fill(schema), schema or {}, f"{behaviour.seed}|{digest}", filler)
    reply = _spoiled(behaviour, draft)
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    if isinstance(most, int) and reply.completion_tokens > most:
        reply = replace(reply, text=(reply.text or "")[: most * CHARACTERS], finish="length", refusal=None)
    return replace(reply, prompt_tokens=-(-len(prompt) // CHARACTERS))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A reply as it should be, with what it takes to spoil it.

    Attributes:
        value: the object it holds; None for a reply without a form.
        schema: its form.
        seed: of what is drawn for this request.
        filler: what has filled the form.
    """

    value: dict[str, Any] | None
    schema: Schema
    seed: str
    filler: FormFiller

    @property
    def text(self) -> str:
        return "OK" if self.value is None else _dump(self.value)

    def one_of(self, options: Sequence[T], purpose: str = "way") -> T:
        """Return one of these ways to spoil it."""
        return choose(self.seed, purpose, options)


def _spoiled(behaviour: Behaviour, draft: _Draft) -> ModelReply:
    """Return the reply to a request: in the drawn share of cases an ugly one.

    A sort that the form has no place for, such as an illegal name where none is asked for, leaves the reply as it is.
    """
    sort = drawn_sort(behaviour.ugly, UGLY, unit(draft.seed, "ugly"))
    if sort is None or draft.value is None:
        return ModelReply(draft.text)
    spoiled = _WAYS[sort](draft)
    reply = spoiled if isinstance(spoiled, ModelReply) else ModelReply(spoiled)
    return reply if reply.text == draft.text else replace(reply, ugly=sort)


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _prose(draft: _Draft) -> str:
    before = draft.one_of(("Here is my answer:\n\n", "Sure! ", "**My decision**\n", ""), "before")
    return f"{before}{draft.text}\n\n{draft.one_of(model_words().closings, 'after')}"


def _cut(draft: _Draft) -> ModelReply:
    share = 0.2 + 0.78 * unit(draft.seed, "cut")
    return ModelReply(draft.text[: int(len(draft.text) * share)], finish="length")


def _keys(draft: _Draft) -> str:
    wrong = model_words().wrong_keys
    value = draft.value or {}
    return _dump({draft.one_of(wrong.get(key, (key.upper(),)), f"key {key}"): item for key, item in value.items()})


def _wrapper(draft: _Draft) -> str:
    called = {"name": "reply", "arguments": draft.text}
    return _dump(draft.one_of(({"response": draft.value}, {"data": {"answer": draft.value}}, called, [draft.value])))


def _html(draft: _Draft) -> str:
    title = draft.one_of(model_words().pages)
    body = f"<body><center><h1>{title}</h1></center></body>"
    return f"<!DOCTYPE html>\n<html>\n<head><title>{title}</title></head>\n{body}\n</html>"


def _refusal(draft: _Draft) -> ModelReply | str:
    words = draft.one_of(model_words().refusals)
    # some servers have a field for it, others leave it in the content
    return words if unit(draft.seed, "field") < 0.5 else ModelReply(None, refusal=words)


def _illegal(draft: _Draft) -> str:
    def changed(key: str, value: Any, schema: Schema) -> Any:
        if isinstance(value, dict):
            return {name: changed(name, value[name], schema["properties"][name]) for name in value}
        if schema.get("type") == "integer":
            least, most = bounds(schema)
            return draft.one_of((most + 5, least - 1, least + 0.5), key)
        if schema.get("type") == "number":
            return draft.one_of((250, -0.1, 7), key)
        return draft.one_of(("Zebulon", "Player 9", "the quiet one"), key) if chooses_player(schema) else value

    return _dump(changed("", draft.value, draft.schema))


_WAYS: Final[Mapping[UglySort, Callable[[_Draft], ModelReply | str]]] = {
    "fence": lambda draft: f"```{draft.one_of(('json', '', 'JSON', 'python'))}\n{_dump(draft.value, 2)}\n```",
    "prose": _prose,
    "comma": lambda draft: draft.text[:-1] + draft.one_of((",}", ", }", ",\n}")),
    "quotes": lambda draft: repr(draft.value),
    "cut": _cut,
    "keys": _keys,
    "wrapper": _wrapper,
    "empty": lambda draft: draft.one_of(("", "\n", "  ")),
    "html": _html,
    "refusal": _refusal,
    "think": lambda draft: (
        f"<think>\n{draft.filler.sentence('think', model_words().thoughts)}\n</think>\n\n{draft.text}"
    ),
    "illegal": _illegal,
}
"""How each sort is made: from what the double would say to what it says instead."""

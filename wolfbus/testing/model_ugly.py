"""How replies are made ugly: each way is a function from what the double would say to what it says instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar

from wolfbus.testing.model_answer import FormFiller, PromptDraws, chooses_player, model_words
from wolfbus.testing.model_behaviour import UGLY, Behaviour, UglySort, drawn_sort
from wolfbus.testing.model_form import Schema, bounds

T = TypeVar("T")

HUGE: Final = 200_000
"""Characters of a huge reply, at least."""

_WRONG_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "bid": ("urgency", "my_bid", "BID", "points"),
    "text": ("speech", "public_statement", "Text", "output"),
    "target": ("choice", "Target", "player", "whom"),
    "deceptive": ("isDeceptive", "flag", "lying"),
    "suspicion": ("suspicionLevel", "suspicion_score", "doubt"),
    "confidence": ("certainty", "Confidence", "how_sure"),
    "kind": ("type", "deceptionType", "category"),
    "word": ("message", "Word", "note"),
}
_NUMBERS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the double says.

    Attributes:
        text: the content; None for none at all.
        finish: why it stopped.
        refusal: words of refusal in their own field.
        reasoning: thoughts in their own field.
        endless: whether it is held to no limit on its length.
        ugly: the sort of its ugliness.
    """

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    endless: bool = False
    ugly: UglySort | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply as it should be, with what it takes to spoil it.

    Attributes:
        value: the object it holds; None for a reply without a form.
        schema: the form asked for.
        draws: for this request.
        again: gives another answer to the same prompt, by a number.
        writer: for further sentences.
    """

    value: dict[str, Any] | None
    schema: Schema
    draws: PromptDraws
    again: Callable[[int], Any]
    writer: FormFiller

    @property
    def text(self) -> str:
        """The reply."""
        return "OK" if self.value is None else dump(self.value)

    def one_of(self, options: Sequence[T], what: str = "way") -> T:
        """Return one of these ways to spoil it."""
        return self.draws.choose(what, options)

    def thought(self) -> str:
        """Return a sentence of thinking."""
        return self.writer.sentence("think", model_words().thoughts)


def spoil(behaviour: Behaviour, draft: Draft) -> ModelReply:
    """Return the reply to a request: in the drawn share of cases an ugly one.

    A sort that the form has no place for, such as a number in words for a name, is left out: of a mix the next one
    stands in, and a reply that should be of one named sort stays as it is.
    """
    sort = drawn_sort(behaviour.ugly, UGLY, draft.draws.unit("ugly"))
    if sort is not None:
        start = UGLY.index(sort)
        mixed = isinstance(behaviour.ugly, float | int)
        for name in (*UGLY[start:], *UGLY[:start]) if mixed else (sort,):
            spoiled = _WAYS[name](draft)
            if spoiled is not None:
                reply = ModelReply(spoiled) if isinstance(spoiled, str) else spoiled
                return replace(reply, ugly=name)
    return ModelReply(draft.text)


def dump(value: Any, indent: int | None = None) -> str:
    """Return the JSON that a well-behaved model writes."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


_Spoiled: TypeAlias = ModelReply | str | None


def _fence(draft: Draft) -> _Spoiled:
    return f"```{draft.one_of(('json', '', 'JSON', 'python'))}\n{dump(draft.value, 2)}\n```"


def _prose(draft: Draft) -> _Spoiled:
    before = draft.one_of(("Here is my answer:\n\n", "Sure! ", "**My decision**\n", ""), "before")
    after = draft.one_of(("Let me know if you need anything else.", "That is my final word."), "after")
    return f"{before}{draft.text}\n\n{after}"


def _comma(draft: Draft) -> _Spoiled:
    return None if draft.value is None else draft.text[:-1] + draft.one_of((",}", ", }", ",\n}"))


def _quotes(draft: Draft) -> _Spoiled:
    return None if draft.value is None else repr(draft.value)


def _cut(draft: Draft) -> _Spoiled:
    at = int(len(draft.text) * draft.draws.between("cut", 0.2, 0.98))
    return ModelReply(draft.text[:at], finish="length")


def _two(draft: Draft) -> _Spoiled:
    for other in map(draft.again, range(1, 20)) if draft.value is not None else ():
        if _differs(draft.value, other):
            between = draft.one_of(("{}\n{}", "{}\n\nOr rather:\n{}", "[{}, {}]"))
            return between.format(draft.text, dump(other))
    return None


def _differs(one: Any, other: Any) -> bool:
    """Return whether two objects decide differently, whatever they think beside it."""
    if not isinstance(one, dict):
        return bool(one != other)
    return any(_differs(one[key], other[key]) for key in one if key not in {"thought", "reasoning"})


def _keys(draft: Draft) -> _Spoiled:
    def renamed(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            draft.one_of(_WRONG_KEYS.get(key, (key.upper(),)), f"key {key}"): renamed(item)
            for key, item in value.items()
        }

    return None if draft.value is None else dump(renamed(draft.value))


def _words(draft: Draft) -> _Spoiled:
    def change(_key: str, value: Any, schema: Schema) -> Any:
        if schema.get("type") == "integer" and 0 <= value < len(_NUMBERS):
            return _NUMBERS[value]
        return f"{_NUMBERS[round(value * 10)]} out of ten" if schema.get("type") == "number" else value

    return _changed(draft, change)


def _wrapper(draft: Draft) -> _Spoiled:
    called = {"name": "reply", "arguments": draft.text}
    value = draft.value
    wrapped = ({"response": value}, {"data": {"answer": value}}, called, [value])
    return None if value is None else dump(draft.one_of(wrapped))


def _empty(draft: Draft) -> _Spoiled:
    return ModelReply(draft.one_of(("", None, "\n", "  ")))


def _html(draft: Draft) -> _Spoiled:
    what = draft.one_of(("504 Gateway Time-out", "502 Bad Gateway", "Just a moment..."))
    body = f"<body><center><h1>{what}</h1></center></body>"
    return f"<!DOCTYPE html>\n<html>\n<head><title>{what}</title></head>\n{body}\n</html>"


def _huge(draft: Draft) -> _Spoiled:
    babble = draft.thought() + " "
    babble *= HUGE // len(babble) + 1
    if draft.value is not None and draft.draws.unit("huge") < 0.5:
        return ModelReply(dump(draft.value | {"thought": babble}), endless=True)
    return ModelReply(f"{babble}\n\n{draft.text}", endless=True)


def _refusal(draft: Draft) -> _Spoiled:
    words = ("I'm sorry, but I can't help with that.", "I'm sorry, I cannot assist with that request.")
    return ModelReply(None, refusal=draft.one_of(words))


def _apology(draft: Draft) -> _Spoiled:
    return draft.one_of(
        (
            "I'm sorry, but as an AI language model I can't take part in deceiving others.",
            "I cannot assist with that request.",
            "I won't role-play a killer, since it is against my guidelines.",
        )
    )


def _think(draft: Draft) -> _Spoiled:
    thought = draft.thought()
    if draft.value is not None and draft.draws.unit("think") < 0.5:
        thought += f"\nPerhaps {dump(draft.again(1))}? No."
    return f"<think>\n{thought}\n</think>\n\n{draft.text}"


def _reasoning(draft: Draft) -> _Spoiled:
    return ModelReply(draft.text, reasoning=draft.thought())


def _illegal(draft: Draft) -> _Spoiled:
    def change(key: str, value: Any, schema: Schema) -> Any:
        if schema.get("type") == "integer":
            least, most = bounds(schema)
            return draft.one_of((most + 5, least - 1, least + 0.5), key)
        if schema.get("type") == "number":
            return draft.one_of((250, -0.1, 7), key)
        return draft.one_of(("Zebulon", "Player 9", "the quiet one"), key) if chooses_player(schema) else value

    return _changed(draft, change)


_WAYS: Final[dict[UglySort, Callable[[Draft], _Spoiled]]] = {
    "fence": _fence,
    "prose": _prose,
    "comma": _comma,
    "quotes": _quotes,
    "cut": _cut,
    "two": _two,
    "keys": _keys,
    "words": _words,
    "wrapper": _wrapper,
    "empty": _empty,
    "html": _html,
    "huge": _huge,
    "refusal": _refusal,
    "apology": _apology,
    "think": _think,
    "reasoning": _reasoning,
    "illegal": _illegal,
}


def _changed(draft: Draft, change: Callable[[str, Any, Schema], Any]) -> str | None:
    """Return the reply with its single values changed, None if that changes nothing."""

    def applied(key: str, value: Any, schema: Schema) -> Any:
        if not isinstance(value, dict):
            return change(key, value, schema)
        return {name: applied(name, value[name], schema["properties"][name]) for name in value}

    changed = applied("", draft.value, draft.schema)
    return None if changed == draft.value else dump(changed)

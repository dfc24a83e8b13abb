"""How replies are made ugly: each way is a function from what the double would say to what it says instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from wolfbus.testing.model_answer import Draws, Scene, Writer, is_player_choice
from wolfbus.testing.model_behaviour import UGLY, Behaviour, UglySort, drawn_sort
from wolfbus.testing.model_form import Either, Fraction, Group, OneOf, Shape, Truth, Whole, Words
from wolfbus.testing.model_words import model_words

HUGE: Final = 200_000
"""Characters of a huge reply, at least."""


@dataclass(frozen=True, slots=True)
class Reply:
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
        text: the reply.
        value: the object it holds; None for a reply without a form.
        shape: the form asked for.
        scene: what the prompt is about.
        draws: for this request.
        again: gives another answer to the same prompt, by a number.
        writer: for further sentences.
    """

    text: str
    value: dict[str, Any] | None
    shape: Shape | None
    scene: Scene
    draws: Draws
    again: Callable[[int], Any]
    writer: Writer


def spoil(behaviour: Behaviour, draft: Draft) -> Reply:
    """Return the reply to a request: in the drawn share of cases an ugly one.

    A sort that the form has no place for, such as a percentage for a name, is left out: of a mix the next one stands
    in, and a reply that should be of one named sort stays as it is.
    """
    point = draft.draws.unit("ugly")
    sort = drawn_sort(behaviour.ugly, UGLY, point)
    if sort is not None:
        start = UGLY.index(sort)
        alternatives = len(UGLY) if isinstance(behaviour.ugly, float | int) else 1
        for step in range(alternatives):
            name = UGLY[(start + step) % len(UGLY)]
            spoiled = _WAYS[name](draft)
            if spoiled is not None:
                reply = Reply(spoiled) if isinstance(spoiled, str) else spoiled
                return Reply(reply.text, reply.finish, reply.refusal, reply.reasoning, reply.endless, name)
    return Reply(draft.text)


def dump(value: Any) -> str:
    """Return the JSON that a well-behaved model writes."""
    return json.dumps(value, ensure_ascii=False)


_Spoiled: TypeAlias = Reply | str | None
_Change: TypeAlias = Callable[[str, Any, Shape], Any]


def _fence(draft: Draft) -> _Spoiled:
    word = draft.draws.choose("fence", ("json", "", "JSON", "python"))
    return f"```{word}\n{_indented(draft)}\n```"


def _prose(draft: Draft) -> _Spoiled:
    before = draft.draws.choose("before", ("Here is my answer:\n\n", "Sure! ", "**My decision**\n", ""))
    after = draft.draws.choose("after", ("\n\nLet me know if you need anything else.", "\n\nThat is my final word."))
    return f"{before}{draft.text}{after}"


def _comma(draft: Draft) -> _Spoiled:
    return None if draft.value is None else draft.text[:-1] + draft.draws.choose("comma", (",}", ", }", ",\n}"))


def _quotes(draft: Draft) -> _Spoiled:
    return None if draft.value is None else repr(draft.value)


def _cut(draft: Draft) -> _Spoiled:
    at = int(len(draft.text) * draft.draws.between("cut", 0.2, 0.98))
    return Reply(draft.text[:at], finish="length")


def _twice(draft: Draft) -> _Spoiled:
    return None if draft.value is None else f"{draft.text}\n\n{_indented(draft)}"


def _two(draft: Draft) -> _Spoiled:
    if draft.value is None:
        return None
    for number in range(1, 20):
        other = draft.again(number)
        if _differs(draft.value, other):
            return draft.draws.choose("between", ("{}\n{}", "{}\n\nOr rather:\n{}", "[{}, {}]")).format(
                draft.text, dump(other)
            )
    return None


def _differs(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    decisive = [key for key in one if key not in {"thought", "reasoning", "analysis"}]
    return any(
        _differs(one[key], other[key]) if isinstance(one[key], dict) else one[key] != other[key] for key in decisive
    )


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


def _keys(draft: Draft) -> _Spoiled:
    def renamed(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        wrong = {key: draft.draws.choose(f"key {key}", _WRONG_KEYS.get(key, (key.upper(),))) for key in value}
        return {wrong[key]: renamed(item) for key, item in value.items()}

    return None if draft.value is None else dump(renamed(draft.value))


_NUMBERS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ZAHLEN: Final = ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn")


def _foreign(draft: Draft) -> _Spoiled:
    def change(key: str, value: Any, shape: Shape) -> Any:
        if isinstance(value, bool):
            return draft.draws.choose(
                key, ("ja", "oui", "sí", "да", "是") if value else ("nein", "non", "no", "нет", "否")
            )
        if isinstance(shape, Whole) and 0 <= value < len(_ZAHLEN):
            return _ZAHLEN[value]
        if isinstance(shape, Words):
            return draft.writer.sentence(f"foreign {key}", model_words().foreign)
        return f"Ich nehme {value}." if isinstance(value, str) and is_player_choice(shape) else value

    return _dumped(draft, change) or draft.writer.sentence("foreign", model_words().foreign)


def _words(draft: Draft) -> _Spoiled:
    def change(_key: str, value: Any, shape: Shape) -> Any:
        if isinstance(shape, Whole) and 0 <= value < len(_NUMBERS):
            return _NUMBERS[value]
        if isinstance(shape, Fraction) and 0 <= value <= 1:
            return f"{_NUMBERS[round(value * 10)]} out of ten"
        return value

    return _dumped(draft, change)


def _percent(draft: Draft) -> _Spoiled:
    def change(key: str, value: Any, shape: Shape) -> Any:
        if not isinstance(shape, Fraction):
            return value
        whole = round(value * 100)
        return draft.draws.choose(f"percent {key}", (f"{whole}%", f"{whole} percent", whole if whole > 10 else "9%"))

    return _dumped(draft, change)


def _wrapper(draft: Draft) -> _Spoiled:
    if draft.value is None:
        return None
    wrapped = (
        {"response": draft.value},
        {"data": {"answer": draft.value}},
        {"name": "reply", "arguments": draft.text},
        [draft.value],
    )
    return dump(draft.draws.choose("wrapper", wrapped))


def _empty(draft: Draft) -> _Spoiled:
    return Reply(draft.draws.choose("empty", ("", None, "\n", "  ")))


def _html(draft: Draft) -> _Spoiled:
    what = draft.draws.choose("html", ("504 Gateway Time-out", "502 Bad Gateway", "Just a moment..."))
    body = f"<body><center><h1>{what}</h1></center></body>"
    return f"<!DOCTYPE html>\n<html>\n<head><title>{what}</title></head>\n{body}\n</html>"


def _huge(draft: Draft) -> _Spoiled:
    babble = draft.writer.sentence("huge", model_words().thoughts) + " "
    babble *= HUGE // len(babble) + 1
    if draft.value is not None and draft.draws.unit("huge") < 0.5:
        rest = {key: value for key, value in draft.value.items() if key != "thought"}
        return Reply(dump({"thought": babble, **rest}), endless=True)
    return Reply(f"{babble}\n\n{draft.text}", endless=True)


def _emoji(draft: Draft) -> _Spoiled:
    def change(key: str, value: Any, shape: Shape) -> Any:
        if not isinstance(value, str):
            return value
        if is_player_choice(shape):
            return draft.draws.choose(f"emoji {key}", ("🐺 {} 🐺", "{} 😈", "👉 **{}**")).format(value)
        if isinstance(shape, Words):
            for name in draft.scene.others:
                value = value.replace(name, f"🔥{name}🔥")
        return value

    return _dumped(draft, change)


def _refusal(draft: Draft) -> _Spoiled:
    words = ("I'm sorry, but I can't help with that.", "I'm sorry, I cannot assist with that request.")
    return Reply(None, refusal=draft.draws.choose("refusal", words))


def _apology(draft: Draft) -> _Spoiled:
    return draft.draws.choose(
        "apology",
        (
            "I'm sorry, but as an AI language model I can't take part in deceiving others.",
            "I cannot assist with that request.",
            "I won't role-play a killer, since it is against my guidelines.",
        ),
    )


def _think(draft: Draft) -> _Spoiled:
    thought = draft.writer.sentence("think", model_words().thoughts)
    if draft.value is not None and draft.draws.unit("think") < 0.5:
        thought += f"\nPerhaps {dump(draft.again(1))}? No."
    return f"<think>\n{thought}\n</think>\n\n{draft.text}"


def _reasoning(draft: Draft) -> _Spoiled:
    return Reply(draft.text, reasoning=draft.writer.sentence("reasoning", model_words().thoughts))


def _illegal(draft: Draft) -> _Spoiled:
    def change(key: str, value: Any, shape: Shape) -> Any:
        if isinstance(shape, Whole):
            return draft.draws.choose(key, (shape.most + 5, shape.least - 1, shape.least + 0.5))
        if isinstance(shape, Fraction):
            return draft.draws.choose(key, (250, -0.1, 7))
        if is_player_choice(shape):
            return draft.draws.choose(key, ("Zebulon", "Player 9", "the quiet one"))
        return value

    return _dumped(draft, change)


_WAYS: Final[dict[UglySort, Callable[[Draft], _Spoiled]]] = {
    "fence": _fence,
    "prose": _prose,
    "comma": _comma,
    "quotes": _quotes,
    "cut": _cut,
    "twice": _twice,
    "two": _two,
    "keys": _keys,
    "foreign": _foreign,
    "words": _words,
    "percent": _percent,
    "wrapper": _wrapper,
    "empty": _empty,
    "html": _html,
    "huge": _huge,
    "emoji": _emoji,
    "refusal": _refusal,
    "apology": _apology,
    "think": _think,
    "reasoning": _reasoning,
    "illegal": _illegal,
}


def _indented(draft: Draft) -> str:
    return draft.text if draft.value is None else json.dumps(draft.value, ensure_ascii=False, indent=2)


def _dumped(draft: Draft, change: _Change) -> str | None:
    """Return the reply with its single values changed, None if that changes nothing."""
    if draft.value is None or draft.shape is None:
        return None
    changed = _changed("", draft.value, draft.shape, change)
    return None if changed == draft.value else dump(changed)


def _changed(key: str, value: Any, shape: Shape, change: _Change) -> Any:
    if isinstance(shape, Group) and isinstance(value, dict):
        return {name: _changed(name, value[name], inner, change) for name, inner in shape.members}
    if isinstance(shape, Either):
        shape = next((option for option in shape.options if not isinstance(option, Group | OneOf)), shape)
    return change(key, value, shape) if isinstance(shape, Words | Whole | Fraction | Truth | OneOf) else value

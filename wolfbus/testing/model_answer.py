"""What the double answers: a plausible value for any form, as a pure function of a seed and the prompt.

A form is a JSON Schema, or words in the prompt: one line for each member of one JSON object, and those of an object
within it indented below its own::

    - "thought": string of at most 1000 characters, your private reasoning
    - "target": one of "Ada", "Raj", null
    - "label": an object of
      - "deceptive": true or false
      - "suspicion", "confidence": number 0 to 1

Besides, ``whole number 0 to 10`` and ``string …, or null`` are understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias, TypeVar

from wolfbus.files.package_data import Lines, PackageData, read_data
from wolfbus.game.draws import choose, unit
from wolfbus.game.vocabulary import DECEPTIONS, ROLES

Schema: TypeAlias = Mapping[str, Any]

ASKED: Final = "of these members, in this order:\n"
"""Words behind which a prompt gives its form."""

_MEMBERS: Final = re.compile(r'(?P<indent> *)- (?P<keys>"\w+"(?:, "\w+")*): (?P<words>.*)')
_NUMBER: Final = re.compile(r"(whole )?number (-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")


def schema_of_prompt(texts: Sequence[str]) -> Schema | None:
    """Return the schema that the last form in these messages describes; None if there is none to be read."""
    for text in reversed(texts):
        _, marker, form = text.rpartition(ASKED)
        if marker and (schema := schema_of_words(form)) is not None:
            return schema
    return None


@lru_cache(maxsize=1024)
def schema_of_words(form: str) -> Schema | None:
    """Return the schema that the lines of a form describe, whatever follows them; None if they are no form."""
    members: dict[str, Any] = {}
    outer = members
    for line in form.split("\n"):
        described = _MEMBERS.fullmatch(line)
        if described is None:
            break
        keys, words = json.loads(f"[{described['keys']}]"), described["words"]
        if words in {"an object of", "an object each of"}:
            outer = {}
            members |= {key: {"type": "object", "properties": outer} for key in keys}
        else:
            (outer if described["indent"] else members).update(dict.fromkeys(keys, _schema_of(words)))
    return {"type": "object", "properties": members} if members else None


def bounds(schema: Schema) -> tuple[float, float]:
    """Return the least and the most of a number; servers often take no bounds, and a description holds them instead."""
    if options := schema.get("enum"):
        return options[0], options[-1]
    usual = {"minimum": 0, "maximum": 10 if schema["type"] == "integer" else 1}
    described = {**usual, **_schema_of(str(schema.get("description", ""))), **schema}
    return described["minimum"], described["maximum"]


def _schema_of(words: str) -> dict[str, Any]:
    """Return the schema that some words, or a description, stand for."""
    if words.startswith("one of "):
        return {"enum": json.loads(f"[{words.removeprefix('one of ')}]")}
    if number := _NUMBER.match(words):
        kind: type[int | float] = int if number[1] else float
        return {
            "type": "integer" if number[1] else "number",
            "minimum": kind(number[2]),
            "maximum": kind(number[3]),
        }
    if words == "true or false":
        return {"type": "boolean"}
    return {"type": ["string", "null"] if words.endswith("or null") else "string"}


T = TypeVar("T")

NOBODY: Final = "somebody here"
"""Stands for a player where the prompt names none."""

_ME: Final = re.compile(rf"\nYou are ([^\n]+), (?:an?|the) ({'|'.join(ROLES)})\b")
_LIVING: Final = re.compile(r"\nLiving\b[^\n:]*:[ \t]*([^\n]+)")
_PARTNERS: Final = re.compile(r" Your partners?: ([^\n]*)")
_SPOKEN: Final = {"thought": "thoughts", "reasoning": "reasons", "reason": "votes", "word": "whispers"}


class ModelWords(PackageData):
    """What the double says, about two players ``{t}`` and ``{o}``, and what ugly replies are made of."""

    thoughts: Lines
    statements: Lines
    reasons: Lines
    """Of judgements and labels."""
    votes: Lines
    """Reasons of votes."""
    whispers: Lines
    closings: Lines
    refusals: Lines
    pages: Lines
    """Titles of a proxy's error pages."""
    wrong_keys: Mapping[str, tuple[str, ...]]


@cache
def model_words() -> ModelWords:
    """Return the sentences.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("wolfbus.testing", "model_words", ModelWords)


def chooses_player(schema: Schema) -> bool:
    """Return whether a form chooses among players, not among kinds of something."""
    words = [option for option in schema.get("enum", ()) if isinstance(option, str)]
    return bool(words) and not set(DECEPTIONS).intersection(words)


class FormFiller:
    """Fills forms.

    Args:
        server_seed: the double's own; seats asked by the same double lean towards the same suspects.
        seed: of this prompt.
        prompt: its text, which says who one is and who lives.
    """

    def __init__(self, server_seed: int, seed: str, prompt: str) -> None:
        self._server_seed = str(server_seed)
        self._seed = seed
        seat = _last("\nYou are ", _ME, prompt)
        me, self._role = (seat[1], seat[2]) if seat else ("", "Villager")
        living = _last("\nLiving", _LIVING, prompt)
        names = living[1].strip(" .").split(", ") if living else ()
        self._others = tuple(name for name in names if name != me)
        partners = _last(" Your partner", _PARTNERS, prompt) if self._role == "Werewolf" else None
        self._partners = partners[1] if partners else ""

    def fill(self, schema: Schema) -> Any:
        """Return a value of that form."""
        return self._value("", schema, "", None)

    def sentence(self, purpose: str, wordings: Sequence[str]) -> str:
        """Return one of `wordings` about two of the others."""
        target = self._suspect(purpose, self._others) if self._others else NOBODY
        others = [name for name in self._others if name != target]
        other = choose(self._seed, f"{purpose} other", others) if others else NOBODY
        wording = choose(self._seed, f"{purpose} wording", wordings)
        return wording.replace("{t}", target).replace("{o}", other)

    def _value(self, key: str, schema: Schema, path: str, lie: bool | None) -> Any:
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema.get("properties", {}), path)
        if kind == "integer":
            least, most = bounds(schema)
            both = unit(self._seed, path) + unit(self._seed, f"{path} too")
            return int(least + int((most - least + 1) * both / 2))
        if "enum" in schema:
            return self._one_of(schema, path, lie)
        if kind == "boolean":
            return lie if lie is not None and key == "deceptive" else unit(self._seed, path) < 0.5
        if kind == "number":
            return self._fraction(key, schema, path, lie)
        if isinstance(kind, list) and "null" in kind and unit(self._seed, f"{path} null") < 0.1:
            return None
        return self._words(key, path)

    def _object(self, members: Schema, path: str) -> dict[str, Any]:
        lie = None
        if "deceptive" in members:
            own_share = 0.7 if self._role == "Werewolf" else 0.08
            lie = unit(self._seed, f"{path} lie") < (0.35 if "suspicion" in members else own_share)
        return {key: self._value(key, schema, f"{path}.{key}", lie) for key, schema in members.items()}

    def _one_of(self, schema: Schema, path: str, lie: bool | None) -> Any:
        options: Sequence[Any] = schema["enum"]
        if "none" in options and lie is not None:
            return choose(self._seed, path, [kind for kind in options if kind != "none"]) if lie else "none"
        if not chooses_player(schema):
            return choose(self._seed, path, options)
        if None in options and unit(self._seed, f"{path} nobody") < 0.06:
            return None
        players = [option for option in options if option is not None]
        return self._suspect(path, [name for name in players if name not in self._partners] or players)

    def _suspect(self, purpose: str, names: Sequence[str]) -> str:
        """Return one of `names`: all lean alike, so that votes can reach a majority, and each has a mind of its own."""

        def weight(name: str) -> float:
            return unit(self._server_seed, f"leaning|{name}") + 0.6 * unit(self._seed, f"{purpose}|{name}")

        return max(names, key=weight)

    def _fraction(self, key: str, schema: Schema, path: str, lie: bool | None) -> float:
        limits = (0.0, 1.0)
        if key == "suspicion" and lie is not None:
            limits = (0.55, 0.95) if lie else (0.05, 0.45)
        elif key == "confidence":
            limits = (0.5, 0.95)
        least, most = bounds(schema)
        share = limits[0] + (limits[1] - limits[0]) * unit(self._seed, path)
        return round(least + (most - least) * share, 2)

    def _words(self, key: str, path: str) -> str:
        pool: Sequence[str] = getattr(model_words(), _SPOKEN.get(key, "statements"))
        count = 1 + int(unit(self._seed, f"{path} length") * (2 if key == "text" else 1))
        return " ".join(dict.fromkeys(self.sentence(f"{path} {number}", pool) for number in range(count)))


def _last(beginning: str, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match; found by its plain beginning, for prompts are long."""
    start = len(text)
    while (start := text.rfind(beginning, 0, start)) >= 0:
        if match := pattern.match(text, start):
            return match
    return None

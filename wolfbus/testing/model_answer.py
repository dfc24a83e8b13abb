"""What the double answers: a plausible value for any form, as a pure function of a seed and the prompt.

A form is a JSON Schema, or a template in the prompt: one JSON object whose values are placeholders in angle brackets::

    {"thought": "<private reasoning>", "bid": <whole number 0 to 10>, "target": <one of: "Ada", "Raj", null>}

Besides, ``<number 0 to 1>``, ``<true or false>`` and ``<some words, or null>`` are understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias, TypeVar

from wolfbus.draws import choose, unit
from wolfbus.package_data import Lines, PackageData, read_data
from wolfbus.vocabulary import DECEPTIONS, ROLES

Schema: TypeAlias = Mapping[str, Any]

ASKED: Final = "in this form:"
"""Words behind which a prompt gives its template."""

_JSON: Final = json.JSONDecoder()
_QUOTED: Final = r'"(?:\\.|[^"\\])*"'
_TOKEN: Final = re.compile(rf'{_QUOTED}|<(?:{_QUOTED}|[^">])*>')
_NUMBER: Final = re.compile(r"(whole )?number (-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")


def schema_of_prompt(texts: Sequence[str]) -> Schema | None:
    """Return the schema that the last template in these messages describes; None if there is none to be read."""
    for text in reversed(texts):
        _, marker, template = text.rpartition(ASKED)
        if marker and "{" in template:
            try:
                return schema_of_template(template[template.index("{") :])
            except (ValueError, RecursionError):
                continue
    return None


@lru_cache(maxsize=1024)
def schema_of_template(template: str) -> Schema:
    """Return the schema that a template describes; what follows it is not looked at.

    Raises:
        ValueError: it is no template.
    """
    source = _TOKEN.sub(lambda token: json.dumps(token[0]) if token[0][0] == "<" else token[0], template)
    return _schema_of(_JSON.raw_decode(source)[0])


def bounds(schema: Schema) -> tuple[float, float]:
    """Return the least and the most of a number; servers often take no bounds, and a description holds them instead."""
    if options := schema.get("enum"):
        return options[0], options[-1]
    usual = {"minimum": 0, "maximum": 10 if schema["type"] == "integer" else 1}
    described = {**usual, **_placeholder(str(schema.get("description", ""))), **schema}
    return described["minimum"], described["maximum"]


def _schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _schema_of(item) for key, item in value.items()}}
    if isinstance(value, str) and value.startswith("<") and value.endswith(">"):
        return _placeholder(value[1:-1])
    return {"enum": [value]}


def _placeholder(words: str) -> dict[str, Any]:
    if words.startswith("one of:"):
        options = json.loads(f"[{words.removeprefix('one of:')}]")
        if not options:
            raise ValueError("nothing to choose from")
        return {"enum": options}
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
    apologies: Lines
    pages: Lines
    """Titles of a proxy's error pages."""
    numbers: Lines
    wrong_keys: Mapping[str, tuple[str, ...]]


@cache
def model_words() -> ModelWords:
    """Return the sentences.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("wolfbus.testing", "model_words", ModelWords)


@dataclass(frozen=True, slots=True)
class PromptScene:
    """What the double understood of a prompt.

    Attributes:
        others: living players but its own.
        role: its role, "Villager" unless the prompt says.
        partners: words about its partners, empty without any.
    """

    others: tuple[str, ...] = ()
    role: str = "Villager"
    partners: str = ""


def scene_of(prompt: str, schema: Schema | None) -> PromptScene:
    """Read from a prompt who one is and who lives; of a prompt that does not say, from whom the form lets choose."""
    seat = _last("\nYou are ", _ME, prompt)
    me, role = (seat[1], seat[2]) if seat else ("", "Villager")
    living = _last("\nLiving", _LIVING, prompt)
    names = living[1].strip(" .").split(", ") if living else _players(schema or {})
    partners = _last(" Your partner", _PARTNERS, prompt) if role == "Werewolf" else None
    return PromptScene(tuple(name for name in names if name != me), role, partners[1] if partners else "")


def chooses_player(schema: Schema) -> bool:
    """Return whether a form chooses among players, not among kinds of something."""
    words = [option for option in schema.get("enum", ()) if isinstance(option, str)]
    return bool(words) and not set(DECEPTIONS).intersection(words)


def between(seed: str, purpose: str, least: float, most: float) -> float:
    """Return a uniform number from `least` to `most`, as drawn for a purpose."""
    return least + (most - least) * unit(seed, purpose)


class FormFiller:
    """Fills forms.

    Args:
        server_seed: the double's own; seats asked by the same double lean towards the same suspects.
        seed: of this prompt.
        scene: what it is about.
    """

    def __init__(self, server_seed: int, seed: str, scene: PromptScene) -> None:
        self._server_seed = str(server_seed)
        self._seed = seed
        self._scene = scene

    def fill(self, schema: Schema) -> Any:
        """Return a value of that form."""
        return self._value("", schema, "", None)

    def sentence(self, purpose: str, wordings: Sequence[str]) -> str:
        """Return one of `wordings` about players of the scene."""
        target = self._suspect(purpose, self._scene.others) if self._scene.others else NOBODY
        others = [name for name in self._scene.others if name != target]
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
            own_share = 0.7 if self._scene.role == "Werewolf" else 0.08
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
        strangers = [name for name in players if name not in self._scene.partners]
        return self._suspect(path, strangers or players)

    def _suspect(self, purpose: str, names: Sequence[str]) -> str:
        """Return one of `names`: all lean alike, so that votes can reach a majority, and each has a mind of its own."""

        def weight(name: str) -> float:
            return _leaning(self._server_seed, name) + 0.6 * unit(self._seed, f"{purpose}|{name}")

        return max(names, key=weight)

    def _fraction(self, key: str, schema: Schema, path: str, lie: bool | None) -> float:
        limits = (0.0, 1.0)
        if key == "suspicion" and lie is not None:
            limits = (0.55, 0.95) if lie else (0.05, 0.45)
        elif key == "confidence":
            limits = (0.5, 0.95)
        least, most = bounds(schema)
        return round(least + (most - least) * round(between(self._seed, path, *limits), 2), 2)

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


@lru_cache(maxsize=4096)
def _leaning(server_seed: str, name: str) -> float:
    return unit(server_seed, f"leaning|{name}")


def _players(schema: Schema) -> tuple[str, ...]:
    """Return the players that a form lets choose among."""
    for member in schema.get("properties", {}).values():
        if players := _players(member):
            return players
    return tuple(filter(None, schema["enum"])) if chooses_player(schema) else ()

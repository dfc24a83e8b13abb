"""Ugly replies, as models write them, with what they must be read as: those of `corpus.toml`, and the largest ones."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wolfbus.messages.content import CONTENT, Bid, Content
from wolfbus.vocabulary import Fault, Kind, Reading

NAMES = ("Ana", "Bram", "Chioma", "Dilara")
VOTABLE: tuple[str | None, ...] = ("Ana", "Bram", "Chioma", None)
"""Dilara is dead: known, but no legal answer."""


@dataclass(frozen=True)
class Ugly:
    """A reply and what it must be read as: content on a rung, or a fault."""

    name: str
    kind: Kind
    text: str
    content: Content | None = None
    rung: Reading | None = None
    fault: Fault | None = None
    thought: str | None = None
    legal: tuple[str | None, ...] = VOTABLE
    names: tuple[str, ...] = NAMES


def fenced(text: str, word: str = "json") -> str:
    return f"```{word}\n{text}\n```"


def _ugly(kind: Kind, content: dict[str, Any] | None = None, legal: tuple[str, ...] | None = None, **told: Any) -> Ugly:
    if content is not None:
        nobody = {"target": None} if "target" in CONTENT[kind].model_fields else {}
        told["content"] = CONTENT[kind].model_validate_json(json.dumps({**nobody, **content}))
    if legal is not None:
        told["legal"] = tuple(name or None for name in legal)
    return Ugly(kind=kind, **{key: tuple(value) if key == "names" else value for key, value in told.items()})


def _in_file() -> list[Ugly]:
    path = Path(__file__).with_name("corpus.toml")
    return [_ugly(**reply) for reply in tomllib.loads(path.read_text("utf-8"))["reply"]]


SO = "so, " * 5000
LARGE = [
    Ugly(
        "a comma too many in a long reply",
        "bid",
        f'{{"thought": "{SO}", "bid": 7,}}',
        Bid(bid=7),
        "repaired",
        thought=SO,
    ),
    Ugly("200 kB of one letter", "speak", "a" * 200_000, fault="unparseable"),
    Ugly("200 kB of braces", "bid", "{" * 200_000, fault="unparseable"),
    Ugly("200 kB of brackets", "vote", "[" * 200_000, fault="unparseable"),
    Ugly("100 thousand nested objects", "assess_own", '{"a":' * 100_000, fault="unparseable"),
    Ugly("a number of 200 kB", "bid", '{"bid": ' + "9" * 200_000 + "}", fault="unparseable"),
    Ugly("a crowd of answers", "bid", '{"bid": 7} ' * 40, fault="ambiguous"),
]

CORPUS: list[Ugly] = [*_in_file(), *LARGE]

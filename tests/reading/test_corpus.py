"""Ugly replies, as models write them, are read as they must be: those of `test_corpus.toml`, and the largest ones."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.llm.tables import tables
from wolfbus.game.vocabulary import Fault, Kind, Reading
from wolfbus.messages.content import CONTENT, Bid, Content
from wolfbus.reading import Question, read

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


def _ugly(kind: Kind, content: dict[str, Any] | None = None, legal: tuple[str, ...] | None = None, **more: Any) -> Ugly:
    if content is not None:
        nobody = {"target": None} if "target" in CONTENT[kind].model_fields else {}
        more["content"] = CONTENT[kind].model_validate_json(json.dumps({**nobody, **content}))
    if legal is not None:
        more["legal"] = tuple(name or None for name in legal)
    return Ugly(kind=kind, **{key: tuple(value) if key == "names" else value for key, value in more.items()})


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
    Ugly("a number of 200 kB", "bid", '{"bid": ' + "9" * 200_000 + "}", fault="unparseable"),
    Ugly("a crowd of answers", "bid", '{"bid": 7} ' * 40, fault="ambiguous"),
]

CORPUS: list[Ugly] = [*(_ugly(**reply) for reply in tables(__file__)["reply"]), *LARGE]


@pytest.mark.parametrize("ugly", CORPUS, ids=lambda ugly: f"{ugly.kind}: {ugly.name}")
def test_an_ugly_reply_is_read_as_it_should_be(ugly: Ugly) -> None:
    got = read(ugly.text, Question(ugly.kind, legal=ugly.legal, names=ugly.names))

    assert (got.content, got.reading, got.fault) == (ugly.content, ugly.rung, ugly.fault), got.note
    if ugly.thought is not None:
        assert got.thought == ugly.thought

    # a note says in one line what is wrong, and only then
    if got.content is not None:
        assert got.note is None
    else:
        assert got.note is not None
        assert 0 < len(got.note) <= 200
        assert "\n" not in got.note

"""What is no answer though it is words: a refusal, in any of the common forms; a server's error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from wolfbus.files.package_data import PackageData, read_data

REFUSED: Final = "the reply is a refusal"

_LONGEST: Final = 600
"""Characters of a refusal; whoever says more may have said something of use."""

_SEARCHED: Final = 300


class _Prose(PackageData):
    outage: str
    refusing: str
    sentence: str
    of_the_game: str
    parts: dict[str, str]


@cache
def _prose() -> dict[str, re.Pattern[str]]:
    """Return the expressions by name, compiled when words come that are no JSON: most games have none."""
    prose = read_data("wolfbus.reading", "prose", _Prose)

    def compiled(pattern: str) -> re.Pattern[str]:
        for name, part in prose.parts.items():
            pattern = pattern.replace(f"{{{name}}}", part)
        return re.compile(pattern, re.IGNORECASE | re.VERBOSE)

    patterns: dict[str, str] = prose.model_dump(exclude={"parts"})
    return {"apology": compiled("{apology}[.!。]*"), **{name: compiled(words) for name, words in patterns.items()}}


_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")


def is_outage(text: str) -> bool:
    """Return whether a text begins as the error of a proxy or a provider does."""
    return _prose()["outage"].match(text) is not None


def holds_refusing_words(text: str) -> bool:
    """Return whether models refuse with words that stand near the beginning of a text."""
    return _prose()["refusing"].search(text[:_SEARCHED]) is not None


def is_refusal(text: str, names: Sequence[str] = ()) -> bool:
    """Return whether a whole reply is a refusal to answer.

    Its first sentence, behind an apology of its own if there is one, must be one of a handful of common forms. Players
    refuse one another things as well, so that a text that names one, or goes on to speak of the game, is none.

    Args:
        text: the reply without any JSON, or the words in it.
        names: all players.
    """
    plain = text.strip().strip('"“”').replace("’", "'")
    if not plain or len(plain) > _LONGEST:
        return False
    if any(re.search(rf"\b{re.escape(name)}\b", plain, re.IGNORECASE) for name in names):
        return False
    first, *others = _END.split(plain)
    prose = _prose()
    if others and prose["apology"].fullmatch(first):
        first = others[0]
        others = others[1:]
    return prose["sentence"].fullmatch(first) is not None and not prose["of_the_game"].search(" ".join(others))

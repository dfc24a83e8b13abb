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
def _prose() -> _Prose:
    return read_data("wolfbus.reading", "prose", _Prose)


@cache
def _verbose(pattern: str) -> re.Pattern[str]:
    """Return a pattern with the parts that it names, compiled when it is first asked for: many commands never do."""
    for name, part in _prose().parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")


def is_outage(text: str) -> bool:
    """Return whether a text begins as the error of a proxy or a provider does."""
    return _verbose(_prose().outage).match(text) is not None


def holds_refusing_words(text: str) -> bool:
    """Return whether models refuse with words that stand near the beginning of a text."""
    return _verbose(_prose().refusing).search(text[:_SEARCHED]) is not None


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
    if others and _verbose("{apology}[.!。]*").fullmatch(first):
        first = others[0]
        others = others[1:]
    if _verbose(_prose().sentence).fullmatch(first) is None:
        return False
    return not _verbose(_prose().of_the_game).search(" ".join(others))

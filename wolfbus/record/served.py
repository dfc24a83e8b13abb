"""Which models really answered, by their servers' word: others than were asked for, or not the same all the time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from wolfbus.record.prompts import CallOrigins

if TYPE_CHECKING:
    from wolfbus.messages.calls import ModelCall

_VERSION: Final = re.compile(r"[-@](latest|preview|\d{3,8}|\d{4}-\d\d(-\d\d)?|\d\d-(\d\d|\d{4}))$")
"""The version of one and the same model behind its name: a date, a number of at least three digits, or the newest."""

_MOST: Final = 32
"""Answers to one name that are told apart in a game: some servers give every reply a fingerprint of its own."""
_SHOWN: Final = 3


def other_model(requested: str, served: str | None) -> str | None:
    """Return the model that a server says has answered; None where that is the one asked for, or it does not say.

    A path or an owner before the name, the ending of a file, a tag and a version behind it make no other model, nor
    does a fingerprint behind a blank.

    Args:
        requested: the model, as the server was told.
        served: what the server says, as `wolfbus.messages.calls.Call.served` has it.
    """
    served = served or ""
    name = requested if f"{served} ".startswith(f"{requested} ") else served.partition(" ")[0]
    if not name or name.startswith("fp_"):
        return None
    (stem, tag), (other, other_tag) = _parts(requested), _parts(name)
    return None if stem == other and (tag == other_tag or not (tag and other_tag)) else name


def _parts(name: str) -> tuple[str, str]:
    """Return what of a name says which model it is, and its tag, "" for none or the newest."""
    stem, _, tag = name.lower().replace("\\", "/").rpartition("/")[2].removesuffix(".gguf").partition(":")
    return _VERSION.sub("", stem), "" if tag == "latest" else tag


class ServedModels:
    """Follows the model calls of one game, in the order of its record.

    Attributes:
        answered: what servers say of the models that answered, in the order in which they came, by the model that was
            asked for, and where.
    """

    def __init__(self) -> None:
        self.answered: dict[str, dict[str, None]] = {}
        self._origins = CallOrigins()

    def feed(self, call: ModelCall) -> str | None:
        """Take in the next call; returns the other model that answered it, None where none did."""
        url, _, served = self._origins.add(call)
        if served is not None:
            requested = call.model if url is None else f"{call.model}{_AT}{url}"
            answered = self.answered.setdefault(requested, {})
            if len(answered) < _MOST:
                answered[served] = None
        return other_model(call.model, served)


_AT: Final = " at "


def served_in_words(answered: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield a line for each model in whose place others answered, and for each that did not stay the same.

    Args:
        answered: as `ServedModels.answered` has it.
    """
    for requested, served in answered.items():
        model = requested.partition(_AT)[0]
        others = dict.fromkeys(other for words in served if (other := other_model(model, words)) is not None)
        if others:
            yield f"{requested} was asked, and by its server's word {_listed(others)} answered"
        # some replies come without the fingerprint
        same = [
            words
            for words in served
            if other_model(model, words) is None and not any(other.startswith(f"{words} ") for other in served)
        ]
        if len(same) > 1:
            yield f"{requested} answered as {_listed(same)}: by its server's word, something about it changed under way"


def _listed(names: Collection[str]) -> str:
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return " and ".join([*islice(names, _SHOWN), *more])

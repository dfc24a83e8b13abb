"""Which model really answered, by the server's word, where that is another than the one that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wolfbus.messages.calls import ModelCall

_VERSION: Final = re.compile(r"[-@](latest|preview|\d{3,8}|\d{4}-\d\d(-\d\d)?|\d\d-(\d\d|\d{4}))$")
"""The version of one and the same model behind its name: a date, a number of at least three digits, or the newest."""


def other_model(requested: str, served: str | None) -> str | None:
    """Return the model that a server says has answered; None where that is the one asked for, or it does not say.

    A path or an owner before the name, the ending of a file, a tag and a version behind it make no other model, nor
    does a fingerprint behind a blank.

    Args:
        requested: the model, as the server was told.
        served: what the server says, as `wolfbus.messages.calls.Call.served` has it.
    """
    name = (served or "").partition(" ")[0]
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
        others: by model that was asked for, the other models that answered, in the order in which they came.
    """

    def __init__(self) -> None:
        self.others: dict[str, dict[str, None]] = {}
        self._served: list[str | None] = []

    def feed(self, call: ModelCall) -> str | None:
        """Take in the next call; returns the other model that answered it, None where none did."""
        served = call.served
        if call.like is not None and call.like <= len(self._served):
            served = self._served[call.like - 1]
        self._served.append(served)
        other = other_model(call.model, served)
        if other is not None:
            self.others.setdefault(call.model, {})[other] = None
        return other


def served_in_words(others: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield a line for each model in whose place others answered."""
    for model, names in others.items():
        yield f"{model} was asked, and by its server's word {' and '.join(names)} answered"

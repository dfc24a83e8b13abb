"""Players' names as models write them: in another case, shortened, in a sentence. Ambiguity is never guessed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wolfbus.config import NOBODY_WORDS
from wolfbus.vocabulary import Fault

_SHORTEST_PREFIX = 3
_AROUND = " \t\r\n*_\"'`.,:;!?()[]<>@#“”‘’«»~-–—"
_DECLINES = re.compile(r"(?<!\w)(?:abstain(?:s|ed|ing)?|nobody|no[ -]one|noone)(?!\w)", re.IGNORECASE)
_NEGATION = re.compile(
    r"(?<!\w)(?:not|no|nor|never|except|but|besides|without|unlike|cannot|avoid|spare|refuse|\w+n['’]t|nicht|kein\w*|ne|pas)"
    r"(?!\w)(?:[^\w.!?;\n]+\w+){0,4}[^\w.!?;\n]+\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a text names.

    Attributes:
        name: a legal name, or None for nobody; meaningful only without a fault.
        exact: whether it stood there exactly so.
        fault: "illegal" for a name or for nobody where that is not allowed, and for no name at all; "ambiguous" for
            several.
    """

    name: str | None = None
    exact: bool = False
    fault: Fault | None = None


_ILLEGAL = Resolved(fault="illegal")
_AMBIGUOUS = Resolved(fault="ambiguous")


def resolve_name(text: str, legal: Sequence[str | None], names: Iterable[str] = ()) -> Resolved:
    """Find out whom `text` names: exactly, then in any case, then by a unique beginning, then by a unique mention.

    Args:
        text: what a model wrote where a name was asked for, or a whole plain answer.
        legal: names that may be answered; None among them allows "nobody" and "I abstain".
        names: all players, so that a name that is not legal is recognised rather than read past.

    Returns:
        The one name it can be, or the fault.
    """
    allowed = [name for name in legal if name is not None]
    known = list(dict.fromkeys([*allowed, *names]))
    if text in allowed:
        return Resolved(text, exact=True)
    bare = _fold(text).strip(_AROUND)
    same = [name for name in known if _fold(name) in {_fold(text), bare}]
    if same:
        return _only(same, allowed)
    if bare in NOBODY_WORDS:
        return _nobody(legal)
    if sum(letter.isalpha() for letter in bare) >= _SHORTEST_PREFIX:
        begun = [name for name in known if _fold(name).startswith(bare)]
        if begun:
            return _only(begun, allowed)
    return _mentioned(unicodedata.normalize("NFC", text), known, allowed, legal)


def _mentioned(text: str, known: list[str], allowed: list[str], legal: Sequence[str | None]) -> Resolved:
    found = mentions(text, known)
    if len({name for name, _ in found}) > 1:
        return _AMBIGUOUS
    if found:
        name, at = found[0]
        negated = _NEGATION.search(text[max(0, at - 60) : at]) is not None
        return _AMBIGUOUS if negated else _only([name], allowed)
    return _nobody(legal) if _DECLINES.search(text) else _ILLEGAL


def mentions(text: str, names: Iterable[str]) -> list[tuple[str, int]]:
    """Return the names that stand in `text` as whole words, with their places; longer names go before their parts.

    A name counts as it is written or in capitals: in lower case, Frank and Joy are words like others.
    """
    found: list[tuple[str, int]] = []
    for name in sorted(names, key=len, reverse=True):
        nfc = unicodedata.normalize("NFC", name)
        forms = "|".join(re.escape(form) for form in dict.fromkeys((nfc, nfc.upper())))
        pattern = re.compile(rf"(?<!\w)(?:{forms})(?!\w)")
        found += [(name, match.start()) for match in pattern.finditer(text)]
        text = pattern.sub(lambda match: "\0" * len(match.group()), text)
    return found


def _only(found: list[str], allowed: list[str]) -> Resolved:
    if len(found) > 1:
        return _AMBIGUOUS
    return Resolved(found[0]) if found[0] in allowed else _ILLEGAL


def _nobody(legal: Sequence[str | None]) -> Resolved:
    return Resolved(None) if None in legal else _ILLEGAL


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

"""Single values of a model's reply, brought into their types; what could mean two things is refused, never guessed.

Names come in another case, shortened, in a sentence. `deceptive` decides over `kind`: one rule for all who read a
label. Of claims beside a statement, one that cannot be read is left out, and the statement stands.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from wolfbus.game.config import NOBODY_WORDS
from wolfbus.game.roles import ROLE_WORDS
from wolfbus.game.vocabulary import Deception, Fault, Role
from wolfbus.messages.base import Part
from wolfbus.messages.content import Ballot, Claim, Judgement, Label, Speech
from wolfbus.reading.keys import KIND_WORDS
from wolfbus.reading.text import quoted

_SHORTEST_PREFIX = 3
_AROUND = " \t\r\n*_\"'`.,:;!?()[]<>@#“”‘’«»~-–—"
_DECLINES = re.compile(r"(?<!\w)(?:abstain(?:s|ed|ing)?|nobody|no[ -]one|noone)(?!\w)", re.IGNORECASE)
# "he abstained", "she voted for nobody": what others did is no answer
_ABSTAINS = re.compile(
    r"(?<!\w)(?<!not )(?<!n['’]t )(?<!never )abstain(?:ing)?(?!\w)"
    r"|(?<!\w)vot(?:e|ing) (?:for )?(?:nobody|no[ -]one|noone)(?!\w)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"(?<!\w)(?:not|no|nor|never|except|but|besides|without|unlike|cannot|avoid|spare|refuse|\w+n['’]t|nicht|kein\w*|ne|pas)"
    r"(?!\w)(?:[^\w.!?;\n]+\w+){0,4}[^\w.!?;\n]+\Z"
    r"|(?<!\w)(?:(?:other|rather) than|(?:apart|aside) from|instead of|excluding|non|sauf|excepté|hormis|jamais|außer"
    r"|niemals|excepto|salvo|menos|nunca|não|tranne|niet|behalve|ikke|inte|не|кроме|ليس|لا|إلا)"
    r"(?:[^\w.!?;\n]+\w+)?[^\w.!?;\n]+\Z"
    r"|(?:不(?!仅|过|得不)|没|勿|除了|(?<![特分])别)\w*[^\w.!?;\n]*\Z",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"[^\w.!?;\n]+(?:\w+n['’]t|(?:\w+ )?(?:not|never))(?:[^\w.!?;\n]+\w+){0,3}?"
    r"[^\w.!?;\n]+(?:choice|vote|pick|target|candidate|answer|selection)(?!\w)"
    # "Bram isn't it"; but "It is Bram, isn't it?" names him
    r"|(?:\s+(?:is|was)(?:n['’]t| not)|['’]s not) "
    r"(?:(?:it|him|her|them)(?!\s*\w)|(?:an?|the|my) (?:one|wolf|werewolf|suspect|culprit)(?!\w))"
    r"|\s*(?:以外|之外|除外|不是|じゃな|ではな|でな)",
    re.IGNORECASE,
)
# whoever is spoken for is not whom a vote is against
_STANDS_BY = re.compile(
    r"(?<!\w)(?:trust(?:s|ed)?|save|spare|protect|(?:agree|agreed|side|vote|voting) with|same (?:vote )?as)\W+\Z",
    re.IGNORECASE,
)
_CLEARED = re.compile(
    r"\s+(?:is|seems|looks|sounds)(?! not? )(?: \w+){0,3}? (?:innocent|trustworthy|honest|clean|clear|cleared|harmless"
    r"|(?:an?|our|the|my) (?:seer|doctor|villager|ally))(?!\w)",
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


def resolve_name(
    text: str, legal: Sequence[str | None], names: Iterable[str] = (), *, against: bool = False
) -> Resolved:
    """Find out whom `text` names: exactly, then in any case, then by a unique beginning, then by a unique mention.

    Args:
        text: what a model wrote where a name was asked for, or a whole plain answer.
        legal: names that may be answered; None among them allows "nobody" and "I abstain".
        names: all players, so that a name that is not legal is recognised rather than read past.
        against: whether who is named is voted out: words that speak for a player name nobody.

    Returns:
        The one name it can be, or the fault.
    """
    allowed = [name for name in legal if name is not None]
    players = list(dict.fromkeys([*allowed, *names]))
    if text in allowed:
        return Resolved(text, exact=True)
    bare = _fold(text).strip(_AROUND)
    same = [name for name in players if _fold(name) in {_fold(text), bare}]
    if same:
        return _only(same, allowed)
    if bare in NOBODY_WORDS:
        return _nobody(legal)
    if sum(letter.isalpha() for letter in bare) >= _SHORTEST_PREFIX:
        completions = [name for name in players if _fold(name).startswith(bare)]
        if completions:
            return _only(completions, allowed)
    return _mentioned(unicodedata.normalize("NFC", text), players, allowed, legal, against)


def _mentioned(
    text: str, players: list[str], allowed: list[str], legal: Sequence[str | None], against: bool
) -> Resolved:
    mentioned = mentions(text, players)
    if len({name for name, _ in mentioned}) > 1:
        return _AMBIGUOUS
    if mentioned:
        name, start = mentioned[0]
        before, end = text[max(0, start - 60) : start], start + len(name)
        negated = _NEGATION.search(before) or _RULED_OUT.match(text, end)
        if against:
            negated = negated or _STANDS_BY.search(before) or _CLEARED.match(text, end)
        return _AMBIGUOUS if negated or _ABSTAINS.search(text) else _only([name], allowed)
    return _nobody(legal) if _DECLINES.search(text) else _ILLEGAL


def mentions(text: str, names: Iterable[str]) -> list[tuple[str, int]]:
    """Return the names that stand in `text` as whole words, with their places; longer names go before their parts.

    A name counts as it is written or in capitals: in lower case, Frank and Joy are words like others.
    """
    places: list[tuple[str, int]] = []
    for name in sorted(names, key=len, reverse=True):
        nfc = unicodedata.normalize("NFC", name)
        forms = "|".join(re.escape(form) for form in dict.fromkeys((nfc, nfc.upper())))
        pattern = re.compile(rf"(?<!\w)(?:{forms})(?!\w)")
        places += [(name, match.start()) for match in pattern.finditer(text)]
        text = pattern.sub(lambda match: "\0" * len(match.group()), text)
    return places


def _only(names: list[str], allowed: list[str]) -> Resolved:
    if len(names) > 1:
        return _AMBIGUOUS
    return Resolved(names[0]) if names[0] in allowed else _ILLEGAL


def _nobody(legal: Sequence[str | None]) -> Resolved:
    return Resolved(None) if None in legal else _ILLEGAL


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@dataclass(frozen=True, slots=True)
class Got:
    """A value, and whether it had to be brought into its type or range."""

    value: Any
    coerced: bool = False


@dataclass(frozen=True, slots=True)
class Bad:
    """Why a value cannot be used, in words that may be sent back to a model."""

    fault: Fault
    why: str


Value: TypeAlias = Got | Bad

_YES = frozenset({"yes", "y", "true", "t", "1", "deceptive", "ja", "oui", "sí", "si", "да", "是", "はい"})
_NO = frozenset(
    {"no", "n", "false", "f", "0", "not deceptive", "truthful", "honest", "nein", "non", "нет", "否", "いいえ"}
)
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_NUMBER = re.compile(r"[+-]?(?:0*,\d+|\d+,\d{1,2}|\d*\.\d+|\d+\.?)")
_PERCENT = re.compile(rf"({_NUMBER.pattern})\s*(?:%|percent|per cent)")
_SHARE = re.compile(rf"({_NUMBER.pattern}|[a-z]+)\s*\(?(?:/|out of|of)\s*(\d+|[a-z]+)\)?")
# what holds a number is none: "1 (10 %)"
_ASIDE = re.compile(r"\s*\([^()\d]*\)\s*\Z")
_LONGEST = 60
_OUT_OF_TEN = 10


def read_truth(value: Any) -> Value:
    """Read a yes or no; 0 and 1 are the paper's own way to write it."""
    if isinstance(value, bool):
        return Got(value)
    if isinstance(value, int | float) and value in {0, 1}:
        return Got(bool(value), coerced=isinstance(value, float))
    if isinstance(value, str):
        word = _plain(value)
        if word in _YES or word in _NO:
            return Got(word in _YES, coerced=True)
    return Bad("unparseable", f"must be true or false, not {quoted(value)}")


def read_unit(value: Any) -> Value:
    """Read a number from 0 to 1; above 10, up to 100, it is a percentage; from 1 to 10 it could be on two scales."""
    if isinstance(value, str):
        return _unit_in_words(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Bad("unparseable", f"must be a number from 0 to 1, not {quoted(value)}")
    if 0 <= value <= 1:
        return Got(float(value))
    if 1 < value <= _OUT_OF_TEN:
        return Bad("ambiguous", f"must be a number from 0 to 1; {value} could be out of 10 or out of 100")
    if _OUT_OF_TEN < value <= 100:
        return Got(value / 100, coerced=True)
    return Bad("illegal", f"must be a number from 0 to 1, not {quoted(value)}")


TWO_SCALES: Final = "must be a number from 0 to 1; 1 beside a number above 10 could be 1 %"


def mixes_scales(values: Iterable[Any]) -> bool:
    """Return whether one of an answer's numbers is a percentage without saying so, and another is 1, of 1 or of 100."""
    words = {_number_words(str(value)) for value in values if not isinstance(value, bool)}
    numbers = {_number(word) for word in words if _NUMBER.fullmatch(word)}
    return 1 in numbers and max(numbers) > _OUT_OF_TEN


def _unit_in_words(written: str) -> Value:
    word = _number_words(written)
    share = _share(word)
    if share is not None and share[1] in {1, 5, 10, 100} and 0 <= share[0] <= share[1]:
        return Got(share[0] / share[1], coerced=True)
    if percent := _PERCENT.fullmatch(word):
        part = _number(percent.group(1))
        if not 0 <= part <= 100:
            return Bad("illegal", f"{quoted(written)} is outside 0 to 100 %")
        return Got(part / 100, coerced=True)
    if _NUMBER.fullmatch(word):
        read = read_unit(_number(word))
        return Got(read.value, coerced=True) if isinstance(read, Got) else read
    return Bad("unparseable", f"must be a number from 0 to 1, not {quoted(written)}")


def read_whole(value: Any, most: int) -> Value:
    """Read a whole number from 0 to `most`; one outside is illegal, not moved into the range: its scale is unknown."""
    if isinstance(value, str):
        word = _number_words(value)
        share = _share(word)
        if share is not None and share[1] == most:
            return _whole(share[0], most, value)
        if not _NUMBER.fullmatch(word):
            return Bad("unparseable", f"must be a whole number from 0 to {most}, not {quoted(value)}")
        return _whole(_number(word), most, value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Bad("unparseable", f"must be a whole number from 0 to {most}, not {quoted(value)}")
    if isinstance(value, int):
        return Got(value) if 0 <= value <= most else Bad("illegal", f"{quoted(value)} is outside 0 to {most}")
    return _whole(value, most, value)


def _whole(number: float, most: int, written: Any) -> Value:
    if number != int(number):
        return Bad("illegal", f"must be a whole number from 0 to {most}, not {quoted(written)}")
    if not 0 <= number <= most:
        return Bad("illegal", f"{quoted(written)} is outside 0 to {most}")
    return Got(int(number), coerced=True)


def read_words(value: Any) -> Value:
    """Read a text; a list of texts is taken as its paragraphs."""
    if isinstance(value, str):
        return Got(value)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return Got("\n".join(value), coerced=True)
    return Bad("unparseable", f"must be a text, not {quoted(value)}")


def _plain(written: str) -> str:
    if len(written) > _LONGEST:
        return ""
    return " ".join(written.casefold().strip(" \t\r\n\"'`*_").rstrip(".!").replace("_", " ").split())


def _number_words(written: str) -> str:
    word = _ASIDE.sub("", _plain(written).lstrip("~≈ "))
    return str(NUMBER_WORDS.get(word, word))


def _share(word: str) -> tuple[float, float] | None:
    match = _SHARE.fullmatch(word)
    if match is None:
        return None
    part = str(NUMBER_WORDS.get(match[1], match[1]))
    most = str(NUMBER_WORDS.get(match[2], match[2]))
    return (_number(part), _number(most)) if _NUMBER.fullmatch(part) and _NUMBER.fullmatch(most) else None


def _number(word: str) -> float:
    return float(word.replace(",", "."))


_CLAIM: Final[TypeAdapter[Claim]] = TypeAdapter(Claim)
_MOST_CLAIMS = 50
_LAST_ROUND = 100_000
_ROLE_WORDS: dict[str, Role] = {**ROLE_WORDS, "were-wolf": "Werewolf"}


def read_claims(value: Any, names: Sequence[str]) -> tuple[tuple[Claim, ...], bool]:
    """Return the claims that a list of objects holds, and whether anything had to be changed or left out.

    Args:
        value: the parsed "claims" of a reply; null counts as none.
        names: all players; a claim about nobody among them is left out. Empty takes every name.
    """
    if value is None:
        return (), False
    if not isinstance(value, list):
        return (), True
    read = [_claim(item, names) for item in value[:_MOST_CLAIMS]]
    claims = tuple(claim for claim, _ in read if claim is not None)
    coerced = len(value) > _MOST_CLAIMS or any(changed for _, changed in read)
    return claims, coerced


def _claim(item: Any, names: Sequence[str]) -> tuple[Claim | None, bool]:
    if not isinstance(item, dict):
        return None, True
    value = dict(item)
    changed = _tidy(value, "claim", lambda word: word.strip().casefold())
    changed |= _tidy(value, "role", lambda word: _ROLE_WORDS.get(word.strip().casefold(), word))
    changed |= _tidy(value, "round", lambda word: int(word) if word.strip().isdecimal() and len(word) < 7 else word)
    if names and isinstance(value.get("target"), str):
        resolved = resolve_name(value["target"], names)
        if resolved.name is None:
            return None, True
        changed |= not resolved.exact
        value["target"] = resolved.name
    number = value.get("round")
    if isinstance(number, int) and not 0 <= number <= _LAST_ROUND:
        return None, True
    try:
        return _CLAIM.validate_python(value), changed
    except ValidationError:
        return None, True


def _tidy(value: dict[str, Any], key: str, tidied: Any) -> bool:
    word = value.get(key)
    if not isinstance(word, str):
        return False
    value[key] = tidied(word)
    return bool(value[key] != word)


P = TypeVar("P", bound=Part)

_NOT_LETTERS = re.compile(r"[^\w/ ]+|_+")


def settle(deceptive: bool, kind: Deception, stated: Deception | None = None) -> tuple[Deception, Deception | None]:
    """Return kind and stated kind such that they agree with `deceptive`.

    Not deceptive makes the kind "none"; deceptive makes "none" into "unspecified". What was overruled is the stated
    kind. Settling twice changes nothing.
    """
    if not deceptive:
        if kind != "none":
            return "none", kind
        return "none", stated if stated != "none" else None
    if kind == "none":
        return "unspecified", "none"
    return kind, "none" if kind == "unspecified" and stated == "none" else None


def normalise(content: P) -> P:
    """Return a label or judgement whose `kind` agrees with `deceptive`, words with such a label, and any other content
    as it is.
    """
    changed: dict[str, Any] = {}
    if isinstance(content, Label | Judgement):
        kind, stated = settle(content.deceptive, content.kind, content.stated_kind)
        if (kind, stated) != (content.kind, content.stated_kind):
            changed = {"kind": kind, "stated_kind": stated}
    elif isinstance(content, Speech | Ballot) and content.label is not None:
        label = normalise(content.label)
        changed = {"label": label} if label is not content.label else {}
    return content.model_copy(update=changed) if changed else content


def kind_of(word: str) -> Deception | None:
    """Return the kind of deception that a model's word stands for, None if it could be any."""
    return KIND_WORDS.get(" ".join(_NOT_LETTERS.sub(" ", word.casefold()).split()))

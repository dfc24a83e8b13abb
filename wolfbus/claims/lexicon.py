"""The words of claims and the patterns over them, from `lexicon.toml`: the one place for them.

A statement becomes a string of one character a word, a pattern a regular expression over it. `lexicon.toml` holds the
patterns, one a line, their parts with spaces between them:

- `word`, `one|another`, `{class}|word`: one word of these; `!one|{class}`: one word that is none of these.
- `@`: a player. `#`: words for a night. `~`: any word but the end of a sentence. `_`: any word that takes nothing
  back, reports nothing and names nobody; these two stand alone. `HERE`: the word asked about.
- `part*`, `part+`, `part?`, `part{0,3}`: repeated; `name:part`: to be asked for by that name.
- `( a b || c )?`: a group; `<name>`: another pattern of the table.
- `>part`, `>!part`: what follows is, is not. `<!part`: what stands before is not. `>( a b )`, `>!( a b )`, `<!( a b )`
  likewise.
- `^`: a clause may begin. `^^`: a sentence begins. `$`: a sentence ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from wolfbus.files.package_data import PackageData, read_data
from wolfbus.game.roles import FACTS, ROLE_WORDS
from wolfbus.knowledge.marks import MARK, MARKS


class Lexicon(PackageData):
    """What `lexicon.toml` holds."""

    spelling: Mapping[str, str]
    """What a word is read as."""
    words: Mapping[str, str]
    """Words by what they do in a claim."""
    patterns: Mapping[str, str]
    """Rows of words by what they say; `wolfbus.claims.lexicon` tells how they are written."""


_DATA: Final = read_data("wolfbus.claims", "lexicon", Lexicon)

SPELLING: Final = dict(_DATA.spelling) | {word: role.lower() for role, facts in FACTS.items() for word in facts.words}
_LISTS: Final = {name: frozenset(words.split()) for name, words in _DATA.words.items()}
WORDS: Final = _LISTS | {
    "role": frozenset(role.lower() for role in FACTS),
    "roles": frozenset(facts.plural.lower() for facts in FACTS.values()),
    "hint": _LISTS["hint"].union(ROLE_WORDS),
}
PATTERNS: Final = dict(_DATA.patterns)

_PHRASES: Final = sorted(
    {word for words in WORDS.values() for word in words if "_" in word}, key=lambda word: (-len(word), word)
)
_PHRASE: Final = re.compile(
    r"(?<!\S)(?:" + "|".join(re.escape(word.strip("_").replace("_", " ")) for word in _PHRASES) + r")(?!\S)"
)


def _alternatives(name: str) -> str:
    """Return what matches any of the words of that name."""
    return "|".join(word.replace("_", " ") for word in sorted(WORDS[name]))


AGAINST: Final = re.compile(
    rf"(?<!not )(?<!n't )(?<!never )\b(?:{_alternatives('exile')})(?: (?:{_alternatives('to_exile')}))*"
    rf",? ({MARK})(?!\w)|({MARK}),? (?:{_alternatives('guilty')})\b"
)
"""Words that call for somebody to be exiled or a liar, over words in lower case with marks for names."""


def any_of(*kinds: str) -> frozenset[str]:
    """Return the words of these classes."""
    return frozenset[str]().union(*(WORDS[kind] for kind in kinds))


def join_phrases(words: str) -> str:
    """Return words with spaces between them, those of a phrase that counts as one word joined by underscores."""
    return _PHRASE.sub(lambda match: match[0].replace(" ", "_"), words)


_UNKNOWN: Final = "\x01"
_HERE: Final = "\x02"
_FIRST_WORD: Final = 0xF0000
"""Of private use, and beyond the 65,536 characters of which `re` makes a table for every class that it compiles: that
took most of the time of a game's first claim."""
_FIRST_NIGHT: Final = 0xE200
_MAX_REPEATS: Final = 12
"""Words that `*` stands for at most: it keeps every search short."""
_REACH: Final = 22
"""Words before a place in which a pattern around it may begin."""

_classes: dict[str, list[str]] = {}
for _name, _words in WORDS.items():
    for _word in _words:
        _classes.setdefault(_word, []).append(_name)
# words that are in the same classes are neighbours, so that a class is a few ranges
_neighbours = sorted(_classes, key=lambda word: (_classes[word], word))
_codes = {word: chr(_FIRST_WORD + n) for n, word in enumerate(_neighbours)}
_NIGHTS: Final = f"{chr(_FIRST_NIGHT)}-{chr(_FIRST_NIGHT + 99)}"
_NAMED: Final = re.compile(r"(?<!\S)\w+:\S")
_PART: Final = re.compile(r"(?:(\w+):(?=.))?(!?)(.+?)([*+?]|\{\d,\d+\})?")


def _code(word: str) -> str:
    """Return the character that stands for a word of the lexicon."""
    return _codes.setdefault(word, chr(_FIRST_WORD + len(_codes)))


@cache
def _places(word_class: str) -> frozenset[int]:
    return frozenset(ord(_code(word)) for word in WORDS[word_class])


@cache
def _char_class(alternatives: str) -> str:
    """Return the inside of a character class for "one|{class}|@"."""
    signs, places = "", set[int]()
    for alternative in alternatives.split("|"):
        if alternative in _SIGNS:
            signs += _SIGNS[alternative]
        elif alternative.startswith("{"):
            places |= _places(alternative[1:-1])
        else:
            places.add(ord(_code(alternative)))
    first = sorted(place for place in places if place - 1 not in places)
    last = sorted(place for place in places if place + 1 not in places)
    return signs + "".join(
        chr(begin) if begin == end else f"{chr(begin)}-{chr(end)}" for begin, end in zip(first, last, strict=True)
    )


def _part(part: str) -> str:
    """Return the regular expression for one part of a pattern."""
    if part in _FIXED:
        return _FIXED[part]
    if part[0] == ")":
        return part.replace("*", f"{{0,{_MAX_REPEATS}}}").replace("+", f"{{1,{_MAX_REPEATS}}}")
    if part.endswith(":("):
        return f"(?P<{part[:-2]}>"
    if part[0] == "<" and part[-1] == ">":
        return f"(?:{_expression(PATTERNS[part[1:-1]])})"
    for sign, opening in ((">!", "(?!"), (">", "(?="), ("<!", "(?<!")):
        if part.startswith(sign):
            return f"{opening}[{_char_class(part.removeprefix(sign))}])"
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is no part of a pattern")
    name, negated, alternatives, often = match.groups()
    often = {"*": f"{{0,{_MAX_REPEATS}}}", "+": f"{{1,{_MAX_REPEATS}}}"}.get(often or "", often or "")
    inside = f"[{'^' if negated else ''}{_char_class(alternatives)}]{often}"
    return f"(?P<{name}>{inside})" if name else inside


def _expression(lines: str) -> str:
    return "|".join("".join(map(_part, line.split())) for line in lines.strip().splitlines())


def compiled(lines: str) -> re.Pattern[str]:
    """Return the regular expression for any of these lines of a table.

    Raises:
        ValueError: if a part is written wrongly.
    """
    return re.compile(_expression(lines))


@cache
def _table(name: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a table: all its lines at once, which is faster, unless their parts have names, which may
    repeat from line to line.
    """
    lines = PATTERNS[name].strip()
    return tuple(map(compiled, lines.splitlines() if _NAMED.search(lines) else (lines,)))


_SIGNS: Final = {"HERE": _HERE, "@": MARKS, "##": _NIGHTS}
_SIGNS["#"] = _NIGHTS + _char_class("{when}")
_SIGNS["~"] = "^" + _char_class("{stop}")
_SIGNS["_"] = "^" + _char_class("{stop}|,|@|{hedge}|{negation}|{condition}|{report}|{role}|{roles}|{cut}")
_FIXED: Final = {
    "||": "|",
    "(": "(?:",
    ">(": "(?=",
    ">!(": "(?!",
    "<!(": "(?<!",
    "^": f"(?<![^{_char_class('{clause_start}|{log}|#')}])",
    "^^": f"(?<![^{_char_class('{stop}')}])",
    "$": f"(?![^{_char_class('{stop}')}])",
}
for _lines in PATTERNS.values():
    # every word gets its character now; what is not asked for is never compiled
    _expression(_lines)


def coded(words: Iterable[str]) -> str:
    """Return words as one character each; the marks of players stay what they are."""
    return "".join(map(_coded, words))


def _coded(word: str) -> str:
    if word.startswith("night_") and word[6:].isdecimal():
        return chr(_FIRST_NIGHT + int(word[6:]) % 100)
    return _codes.get(word) or (word if re.fullmatch(MARK, word) else _UNKNOWN)


def match_around(code: str, place: int, name: str) -> re.Match[str] | None:
    """Return where a line of a table fits the words around a place: the first that does, if parts have names.

    Args:
        code: the words, coded.
        place: the place that `HERE` stands for.
        name: the table of the lexicon.

    Returns:
        the match, whose offsets are places of words; None if no line fits.
    """
    text = f"{code[:place]}{_HERE}{code[place + 1 :]}"
    begin, end = max(place - _REACH, 0), place + _REACH
    for pattern in _table(name):
        match = pattern.search(text, begin, end)
        if match is not None:
            return match
    return None


def match_from(code: str, place: int, name: str) -> re.Match[str] | None:
    """Return where the first line of a table fits that fits the words from a place on."""
    matches = (pattern.match(code, place, place + _REACH) for pattern in _table(name))
    return next(filter(None, matches), None)

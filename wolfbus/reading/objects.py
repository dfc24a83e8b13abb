"""JSON objects in a model's text: all of it, in a fence, in prose, in a list, wrapper or string, broken or cut off.

Of a broken one, what is missing at the end is closed; the rest is left to json-repair and checked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from wolfbus.game.vocabulary import Reading
from wolfbus.reading.keys import NO_ANSWER_KEYS, folded
from wolfbus.reading.text import (
    LostMember,
    Members,
    ObjectExtent,
    completed,
    has_quoted_key,
    lenient,
    looks_like_object,
    object_extent,
    shallow,
    strict,
    strict_at,
    worse,
)

_MOST_TIDIED = 64_000
_MOST_REPAIRED = 8_000
_MOST = {
    "{": 16,
    "[": 12,
    "(": 30,
    '"': 400,
    "'": 400,
    "“": 40,
    "”": 40,
    "`": 30,
    "/": 30,
    ":": 120,
    ",": 400,
    "\\": 400,
}
"""Marks that json-repair looks ahead from, each time to the end; more of them than replies have would take seconds."""
_LARGEST = 10**15
_TRIPS = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, AssertionError, RuntimeError)
"""What a parser that guesses may stumble over; seen: assertions, huge numbers, nesting."""
_BARE_NUMBER = re.compile(r"(:\s*)(-?\d+(?:[.,]\d+)?\s*%|-?\d+,\d+(?=\s*[,}\n]))")
# json-repair would take the first number or truth value of "1 out of 10", "3 or 4", "> 5" for the whole of it
_BARE_WORDS = re.compile(
    r"""
    (:\s*) (
      [!<>≤≥≈~−–]\s*[\w.] [^,:}\]\n]*
    | (?: -?\d[\d.]* | (?:[Tt]rue|[Ff]alse)(?!\w) )
      (?: [ \t]+ (?!//|/\*)(?=[^\s,;:}\]\#]) | (?!//|/\*|[\w\s.,;:}\]\#]|\Z) ) [^,:}\]\n]*
    ) (?= [,}\]\n] | \Z )
    """,
    re.VERBOSE,
)
# atomic groups: before Python 3.11.5 a possessive quantifier behind a group that backtracks misses matches
_STRING = re.compile(
    r"""
    "(?>(?:[^"\\]++|\\.)*)"? | “[^”]*+”? | (?<=[\[{,:\s])'(?>(?:[^'\\]++|\\.|(?<=\w)'(?=\w))*)'?
    """,
    re.VERBOSE | re.DOTALL,
)
_TIDIER = (
    (_BARE_NUMBER, r'\1"\2"'),
    (_BARE_WORDS, r'\1"\2"'),
    (re.compile(r",(\s*[}\]])"), r"\1"),
    (re.compile(r"\bTrue\b"), "true"),
    (re.compile(r"\bFalse\b"), "false"),
    (re.compile(r"\bNone\b"), "null"),
)
_QUOTES = "\"'“”‘’`"
_NEXT_MEMBER = rf"[{_QUOTES}]?\w{{1,40}}[{_QUOTES}]?\s*[:=]"
_MEMBER_WITHIN = re.compile(rf"\w[{_QUOTES}]\s*:\s*[{_QUOTES}]")
_MEMBER_BELOW = re.compile(r"\n\W{0,6}\w{1,40}\W{0,4}[:=]")
_END_OF_STRING = rf"\s*[{_QUOTES}]\s*(?:[,;]?\s*{_NEXT_MEMBER}|[,;]?\s*(?:[}}\]]|//|/\*|\Z))"
_END_OF_WORDS = rf"\s*(?:[,;\n]\s*{_NEXT_MEMBER}|[}}\]])"
_ESCAPES = {'"': '\\"', "\\'": "'"}
_IN_QUOTES = re.compile(r"""\\(.)|\"""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedObject:
    """An object, and what it took to get it out of the text."""

    value: Members
    rung: Reading
    cut: bool = False
    """Whether the text stopped in the middle of it."""
    lost: LostMember | None = None
    """The member it was cut off in."""
    guessed: str | None = None
    """The source, where the ends of its strings had to be guessed."""

    def at_least(self, rung: Reading) -> ParsedObject:
        """Return it as found on a rung no higher than `rung`."""
        return replace(self, rung=worse(self.rung, rung))


@dataclass(slots=True)
class Search:
    """All objects of a text, in order."""

    objects: list[ParsedObject] = field(default_factory=list)
    plain: str | None = None
    """The text, or the one scalar it consists of, if there is no object in it and nothing that tried to be one."""
    too_many: bool = False
    repairable: int = _MOST_REPAIRED
    """How many more characters may be given to json-repair; it is slow, and slowest on garbage."""

    def repair(self, text: str, extent: ObjectExtent) -> None:
        """Add the object that the broken JSON at `extent` holds, if anything can be made of it."""
        if extent.deep:
            return
        region = text[extent.start : extent.end]
        source, lost = (region, None) if extent.closed else completed(text, extent)
        value, guessed = _object(source), None
        if value is None:
            if extent.string is not None and region.rstrip().endswith("}"):
                # it has its end, so the quotes are what is wrong
                source, lost = region, None
            value, guessed = self._repaired(source)
        if value is not None:
            self.objects.append(ParsedObject(value, "repaired", not extent.closed, lost, guessed))

    def repair_bare(self, text: str) -> None:
        """Add the object that `text` would be if somebody had not forgotten its braces."""
        value, guessed = self._repaired("{" + text.strip().removesuffix("}") + "}")
        if value is not None:
            self.objects.append(ParsedObject(value, "repaired", guessed=guessed))

    def _repaired(self, region: str) -> tuple[Members | None, str | None]:
        """Return the object that a text stands for; and the source, if json-repair had to guess where strings end."""
        if len(region) > _MOST_TIDIED:
            return None, None
        source = _tidied(region)
        value = _object(source)
        if value is not None:
            return value, None
        if len(region) > self.repairable or any(region.count(mark) > most for mark, most in _MOST.items()):
            return None, None
        self.repairable -= len(region)
        import json_repair  # most replies never need it

        try:
            guess = shallow(json_repair.loads(source, skip_json_loads=True))
        except _TRIPS:
            return None, None
        return (_bounded(guess), source) if isinstance(guess, dict) and guess else (None, None)


def _object(region: str) -> Members | None:
    try:
        value = lenient(region)
    except ValueError:
        return None
    return value if isinstance(value, Members) else None


def _bounded(value: Any) -> Any:
    """Return a value with null for whole numbers too large for any field."""
    if isinstance(value, dict):
        return Members((str(key), _bounded(item)) for key, item in value.items())
    if isinstance(value, list):
        return [_bounded(item) for item in value]
    return None if isinstance(value, int) and abs(value) > _LARGEST else value


def _tidied(region: str) -> str:
    """Mend what is plain: Python's words and strings, a comma too many, and 5 % or 0,7 that would lose a part."""
    pieces: list[str] = []
    end = 0
    for token in _STRING.finditer(region):
        pieces += [_tidy(region[end : token.start()]), _in_double_quotes(token.group())]
        end = token.end()
    return "".join([*pieces, _tidy(region[end:])])


def _in_double_quotes(written: str) -> str:
    if len(written) < 2 or written[0] != "'" or written[-1] != "'":
        return written
    return '"' + _IN_QUOTES.sub(lambda mark: _ESCAPES.get(mark.group(), mark.group()), written[1:-1]) + '"'


def _tidy(between: str) -> str:
    for pattern, replacement in _TIDIER:
        between = pattern.sub(replacement, between)
    return between


def ends_where_written(value: str, source: str) -> bool:
    """Return whether `source` has the end of a value where `value` ends: words are not to be published cut short, nor
    with the next member in them.
    """
    words = value.strip()
    if _MEMBER_WITHIN.search(words):
        return False
    if not words:
        # three quotation marks are no empty text
        return re.search(rf"[:=]\s*[{_QUOTES}]{{2}}(?![{_QUOTES}])", source) is not None
    quoted = any(re.search(rf"[{_QUOTES}]\s*{re.escape(form)}", source) for form in _forms(words[:24]))
    if not quoted and _MEMBER_BELOW.search(words):
        return False
    end = _END_OF_STRING if quoted else _END_OF_WORDS
    return any(re.search(re.escape(form) + end, source) for form in _forms(words[-24:]))


def _forms(words: str) -> set[str]:
    escaped = words.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return {words, escaped, escaped.replace('"', '\\"')}


MOST_OBJECTS = 16
_MOST_TRIES = 200
_MOST_CHARS = 1_500_000
DEEPEST = 3
_ESCAPED = re.compile(r'\{\s*\\"')
_BARE_KEY = re.compile(r"""\A\W{0,3}[A-Za-z_]\w{0,30}["']?\s*:""")


def find_objects(text: str) -> Search:
    """Return the objects in a cleaned text without its thinking tags."""
    try:
        whole = strict(text)
    except ValueError:
        return _search(text)
    if isinstance(whole, Members):
        return Search([ParsedObject(whole, "clean")])
    if isinstance(whole, str):
        inner = find_objects(whole)
        inner.objects = [parsed.at_least("extracted") for parsed in inner.objects]
        return inner
    if isinstance(whole, list):
        values = islice(_inside(whole, 1, NO_ANSWER_KEYS), MOST_OBJECTS + 1)
        objects = [ParsedObject(value, "extracted") for value in values]
        if objects:
            return Search(objects[:MOST_OBJECTS], too_many=len(objects) > MOST_OBJECTS)
        return Search(plain=str(whole[0]) if len(whole) == 1 else None)
    return Search(plain="null" if whole is None else text.strip() if not isinstance(whole, bool) else None)


def _search(text: str) -> Search:
    if _ESCAPED.search(text):
        try:
            unescaped = strict(f'"{text.strip()}"')
        except ValueError:
            pass
        else:
            inner = find_objects(unescaped)
            inner.objects = [parsed.at_least("repaired") for parsed in inner.objects]
            return inner
    search = Search()
    tried = False
    start, tries, scanned = text.find("{"), 0, 0
    while start != -1 and tries < _MOST_TRIES and scanned < _MOST_CHARS:
        if len(search.objects) == MOST_OBJECTS:
            search.too_many = True
            break
        tries += 1
        try:
            value, end = strict_at(text, start)
            search.objects.append(ParsedObject(value, "extracted"))
        except ValueError:
            end = start + 1
            if looks_like_object(text, start):
                extent = object_extent(text, start)
                scanned += (len(text) if not extent.closed else extent.end) - start
                if extent.closed or has_quoted_key(text, start):
                    tried, end = True, extent.end
                    search.repair(text, extent)
        start = text.find("{", end)
    if not search.objects and not tried:
        if "{" not in text and _BARE_KEY.match(text):
            search.repair_bare(text)
        search.plain = text
    return search


def inside(value: Members, depth: int = 1, skipped: Collection[str] = NO_ANSWER_KEYS) -> Iterator[Members]:
    """Return the objects within a wrapper, its lists and its strings of JSON.

    Args:
        value: the wrapper.
        depth: how deep it lies; at `DEEPEST`, only the objects directly within it are returned.
        skipped: folded keys of members that are not looked into.
    """
    for key, item in value.items():
        if folded(key) not in skipped:
            yield from _inside(item, depth, skipped)


def _inside(value: Any, depth: int, skipped: Collection[str]) -> Iterator[Members]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = strict(value)
        except ValueError:
            return
    if isinstance(value, Members):
        yield value
        if depth < DEEPEST:
            yield from inside(value, depth + 1, skipped)
    elif isinstance(value, list) and depth <= DEEPEST:
        for item in value:
            yield from _inside(item, depth + 1, skipped)

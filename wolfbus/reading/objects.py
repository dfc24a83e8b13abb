"""JSON objects in a model's text: all of it, in a fence, in prose, in a list, wrapper or string, broken or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from wolfbus.reading.extent import Lost, extent, has_quoted_key, looks_like_object
from wolfbus.reading.json_text import strict, strict_at
from wolfbus.reading.mending import Patience, mend, mend_bare
from wolfbus.vocabulary import Reading

MOST_OBJECTS = 16
_MOST_TRIES = 200
_MOST_CHARS = 1_500_000
_DEEPEST = 3
_ESCAPED = re.compile(r'\{\s*\\"')
_BARE_KEY = re.compile(r"""\A\W{0,3}[A-Za-z_]\w{0,30}["']?\s*:""")


@dataclass(frozen=True, slots=True)
class Found:
    """An object, and what it took to get it out of the text."""

    value: dict[str, Any]
    rung: Reading
    cut: bool = False
    """Whether the text stopped in the middle of it."""
    lost: Lost | None = None
    """The member it was cut off in."""
    guessed: str | None = None
    """The source, where the ends of its strings had to be guessed."""


@dataclass(slots=True)
class Search:
    """All objects of a text, in order."""

    found: list[Found] = field(default_factory=list)
    rest: str | None = None
    """The text, or the one scalar it consists of, if there is no object in it and nothing that tried to be one."""
    too_many: bool = False


def find(text: str) -> Search:
    """Return the objects in a cleaned text without its thinking tags."""
    try:
        whole = strict(text)
    except ValueError:
        return _search(text)
    if isinstance(whole, dict):
        return Search([Found(whole, "clean")])
    if isinstance(whole, str):
        inner = find(whole)
        inner.found = [_at_least(found, "extracted") for found in inner.found]
        return inner
    if isinstance(whole, list):
        inside = [Found(value, "extracted") for value in islice(_inside(whole, 1), MOST_OBJECTS + 1)]
        if inside:
            return Search(inside[:MOST_OBJECTS], too_many=len(inside) > MOST_OBJECTS)
        return Search(rest=str(whole[0]) if len(whole) == 1 else None)
    return Search(rest="null" if whole is None else text.strip() if not isinstance(whole, bool) else None)


def _at_least(found: Found, rung: Reading) -> Found:
    return Found(found.value, rung, found.cut, found.lost, found.guessed) if found.rung == "clean" else found


def _search(text: str) -> Search:
    if _ESCAPED.search(text):
        try:
            unescaped = strict(f'"{text.strip()}"')
        except ValueError:
            pass
        else:
            inner = find(unescaped)
            inner.found = [Found(each.value, "repaired", each.cut, each.lost, each.guessed) for each in inner.found]
            return inner
    search = Search()
    patience = Patience()
    tried = False
    at, tries, scanned = text.find("{"), 0, 0
    while at != -1 and tries < _MOST_TRIES and scanned < _MOST_CHARS:
        if len(search.found) == MOST_OBJECTS:
            search.too_many = True
            break
        tries += 1
        try:
            value, end = strict_at(text, at)
            search.found.append(Found(value, "extracted"))
        except ValueError:
            end = at + 1
            if looks_like_object(text, at):
                reach = extent(text, at)
                scanned += (len(text) if not reach.closed else reach.end) - at
                if reach.closed or has_quoted_key(text, at):
                    tried, end = True, reach.end
                    mended = mend(text, reach, patience)
                    if mended is not None:
                        cut = not reach.closed
                        search.found.append(Found(mended.value, "repaired", cut, mended.lost, mended.guessed))
        at = text.find("{", end)
    if not search.found and not tried:
        _without_braces(search, text, patience)
    return search


def _without_braces(search: Search, text: str, patience: Patience) -> None:
    if "{" not in text and _BARE_KEY.match(text):
        mended = mend_bare(text, patience)
        if mended is not None:
            search.found.append(Found(mended.value, "repaired", guessed=mended.guessed))
    search.rest = text


def inside(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the objects within a wrapper, its lists and its strings of JSON; claims are no answers of their own."""
    for key, item in value.items():
        if key.casefold() not in {"claims", "error", "errors"}:
            yield from _inside(item, 1)


def _inside(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = strict(value)
        except ValueError:
            return
    if isinstance(value, dict):
        yield value
        if depth < _DEEPEST:
            for key, item in value.items():
                if key.casefold() not in {"claims", "error", "errors"}:
                    yield from _inside(item, depth + 1)
    elif isinstance(value, list) and depth <= _DEEPEST:
        for item in value:
            yield from _inside(item, depth + 1)

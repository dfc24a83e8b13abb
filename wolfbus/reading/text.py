"""A model's text made safe to keep, without what it thought before its answer, and the JSON in it.

Lone surrogates go because UTF-8 cannot hold them, control characters because terminals would obey them; drafts between
thinking tags are no answers. JSON is parsed within bounds: deep nesting, huge numbers and NaN are refused rather than
passed on; how far an object reaches is told however badly it is written.
"""

from __future__ import annotations

import json
import re
import string
from dataclasses import dataclass, field
from typing import Any, NoReturn

from wolfbus.game.vocabulary import Reading

RUNGS: tuple[Reading, ...] = ("clean", "extracted", "repaired", "coerced", "reasked", "copied")

_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BOM = "\ufeff"


def worse(rung: Reading, other: Reading) -> Reading:
    """Return the lower of two rungs of the ladder."""
    return max(rung, other, key=RUNGS.index)


def clean_text(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates and without control characters other than tab and line ends."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub("", _SURROGATE.sub("\ufffd", text))


def clean_value(value: Any) -> Any:
    """Return a parsed JSON value with every string in it cleaned; the value itself where nothing had to be."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        items = [clean_value(item) for item in value]
        return value if items == value else items
    if isinstance(value, Members):
        members = Members((clean_text(key), clean_value(item)) for key, item in value.items())
        members.repeated = value.repeated
        return value if members == value else members
    return value


def one_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned, on one line and at most `limit` characters long."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(value: Any) -> str:
    """Return a short quotation of what a model wrote, for a note."""
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 40)


_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
# Seed has a prefix in its tags, Magistral and Command have tags of their own
_THINKING = re.compile(
    rf"(?:[<◁](?P<tag>(?:seed:)?(?:{_TAGS}))[>▷]|\[THINK\]|<\|START_THINKING\|>)(?P<thought>.*?)"
    r"(?:[<◁]/(?P=tag)[>▷]|\[/THINK\]|<\|END_THINKING\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CLOSING = re.compile(r"[<◁]/(?:seed:)?think(?:ing)?[>▷]|\[/THINK\]|<\|END_THINKING\|>", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)(?:[^<{\n]*(?:<\|constrain\|>[^<{\n]*)?<\|message\|>)?", re.IGNORECASE)
_CHANNEL_END = re.compile(r"(?:\s*<\|(?:end|return|call|start)\|>(?:\s*assistant)?)+\s*\Z")
# the same where a server has taken its marks out
_BARE_CHANNELS = re.compile(r"\A\s*analysis(.*?)assistantfinal", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A text without the thinking before its answer."""

    text: str
    """Safe to keep."""
    thoughts: tuple[str, ...]
    """What stood between thinking tags, or in other channels than the final one, in order."""
    rung: Reading
    """What it took so far."""
    final: bool = False
    """Whether a channel by that name says plainly which words are the answer."""


def without_thinking(text: str) -> AnswerText:
    """Return a text cleaned and without the thinking at its start."""
    plain = text.lstrip(_BOM)
    cleaned = clean_text(plain)
    rung: Reading = "repaired" if cleaned != plain else "extracted" if plain != text else "clean"
    beside, whole, final = _without_channels(cleaned)
    thoughts, answer = _split(whole)
    rung = rung if answer == cleaned else worse(rung, "extracted")
    return AnswerText(answer, (*filter(None, beside), *thoughts), rung, final)


def _without_channels(text: str) -> tuple[list[str], str, bool]:
    """Return what stands in channels of thought (gpt-oss), what is left, and whether that is the final channel."""
    if (bare := _BARE_CHANNELS.match(text)) is not None:
        return [bare[1].strip()], text[bare.end() :], True
    marks = list(_CHANNEL.finditer(text))
    # behind a brace they stand within a string, whose reader takes them off
    if not marks or "{" in text[: marks[0].start()]:
        return [], text, False
    final = any(mark[1].lower() == "final" for mark in marks)
    thoughts: list[str] = []
    answers: list[str] = []
    (thoughts if final else answers).append(text[: marks[0].start()])
    for mark, end in zip(marks, [*(following.start() for following in marks[1:]), len(text)], strict=True):
        if mark[1].lower() != "final":
            thoughts.append(text[mark.end() : end])
        elif "{" in text[mark.end() : end]:
            answers.append(text[mark.end() :])
            break
        else:
            answers.append(text[mark.end() : end])
    return [_CHANNEL_END.sub("", part).strip() for part in thoughts], _CHANNEL_END.sub("", "".join(answers)), final


def holds_channels(text: str) -> bool:
    """Return whether there are marks of channels in a text."""
    return _CHANNEL.search(text) is not None


def _split(text: str) -> tuple[list[str], str]:
    thoughts: list[str] = []
    pieces: list[str] = []
    end = 0
    while (block := _THINKING.search(text, end)) and "{" not in text[end : block.start()]:
        pieces.append(text[end : block.start()])
        thoughts.append(block["thought"].strip())
        end = block.end()
    answer = "".join([*pieces, text[end:]])
    closings = [] if block else list(_CLOSING.finditer(answer))
    if closings and not answer.lstrip().startswith(("{", "[", "```")):
        thoughts.append(answer[: closings[-1].start()].strip())
        answer = answer[closings[-1].end() :]
    return [thought for thought in thoughts if thought], answer


_LONG_NUMBER = 18
_DEEPEST = 100
"""Objects and lists within one another."""


class Members(dict[str, Any]):
    """A JSON object that remembers which of its keys stood there twice with different values."""

    repeated: frozenset[str] = frozenset()


def _members(pairs: list[tuple[str, Any]]) -> Members:
    members = Members()
    repeated = set()
    for key, value in pairs:
        if key in members and members[key] != value:
            repeated.add(key)
        members[key] = value
    members.repeated = frozenset(repeated)
    return members


def _integer(digits: str) -> int | float:
    # int() is quadratic in the digits, and no field of ours has use for more than these
    return int(digits) if len(digits) <= _LONG_NUMBER else float(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_members, parse_int=_integer, parse_constant=_refuse)
_LENIENT = json.JSONDecoder(object_pairs_hook=_members, parse_int=_integer, parse_constant=lambda _: None, strict=False)


def strict(text: str) -> Any:
    """Return the value that the whole `text` is.

    Raises:
        ValueError: it is no JSON, or nested too deeply.
    """
    return _decode(_STRICT, text)


def lenient(text: str) -> Any:
    """Like `strict`, but line breaks within strings are let through and NaN and infinities count as null."""
    return _decode(_LENIENT, text)


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return shallow(decoder.decode(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def shallow(value: Any) -> Any:
    """Return a parsed value; raises ValueError if it is nested too deeply to be walked through."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return value
    raise ValueError("nested too deeply")


def strict_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start` and the place after it.

    Raises:
        ValueError: there is no JSON there, or it is nested too deeply.
    """
    try:
        value, end = _STRICT.raw_decode(text, start)
        return shallow(value), end
    except RecursionError:
        raise ValueError("nested too deeply") from None


# atomic groups: before Python 3.11.5 a possessive quantifier behind a group that backtracks misses matches
_TOKEN = re.compile(
    r"""
    "(?>(?:[^"\\]++|\\.)*)(?P<closed>")?                              # a string, perhaps open to the end
    | (?<=[\[{,:\s])'(?>(?:[^'\\]++|\\.|(?<=\w)'(?=\w))*)(?P<quote>')?  # the same as Python would write it
    | //[^\n]*+ | /\*(?>(?:[^*]++|\*(?!/))*)(?:\*/)?                   # comments
    | [{}\[\],:]
    """,
    re.VERBOSE | re.DOTALL,
)
_LOOKS_LIKE_OBJECT = re.compile(r"""\{\s*(?:["'“”‘’]|\\"|/[/*]|\}|\Z|[A-Za-z_]\w*\s*[:=])""")
_QUOTED_KEY = re.compile(r"""\{\s*(?:["'“”‘’]|\\"|/[/*]|\Z)""")
_FENCE_END = re.compile(r"\n[ \t]*```")
_MOST_OPEN = 50
_DONE_WORDS = frozenset({"true", "false", "null", "True", "False", "None"})
_OF_A_WORD = string.ascii_letters + string.digits + "_.+-%"
_PIECE = re.compile(r'(?>(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*)', re.DOTALL)

_HALF_PAIR = re.compile(r"[\ud800-\udbff]+\Z")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OpenBracket:
    """A bracket that was opened and not yet closed."""

    bracket: str
    start: int
    key: Span | None
    """Where the key is written that the bracket is the value of."""


@dataclass(frozen=True, slots=True)
class ObjectExtent:
    """What a text holds of an object that begins at `start`."""

    start: int
    end: int
    closed: bool
    """Whether the brackets balance; if not, `end` is the end of the text or of its fence."""
    at_end: bool = False
    """Whether the object runs into the very end of the text, so that its last token may be incomplete."""
    opens: tuple[OpenBracket, ...] = ()
    key: Span | None = None
    """The last key, if no value for it is complete."""
    string: int | None = None
    """Where the string began that is still open."""
    deep: bool = False
    """Whether it is nested so deeply that its end was not looked for."""


@dataclass(slots=True)
class _Scan:
    opens: list[OpenBracket] = field(default_factory=list)
    key: Span | None = None
    previous: str = ""
    """The last bracket, comma, colon; "s" for a string."""


def looks_like_object(text: str, start: int) -> bool:
    """Return whether the brace at `start` opens an object rather than being a brace in prose."""
    return _LOOKS_LIKE_OBJECT.match(text, start) is not None


def has_quoted_key(text: str, start: int) -> bool:
    """Return whether the brace at `start` is followed by a quoted key: prose hardly ever is."""
    return _QUOTED_KEY.match(text, start) is not None


def object_extent(text: str, start: int) -> ObjectExtent:
    """Return how far the object reaches whose brace is at `start`."""
    fence = _FENCE_END.search(text, start)
    if fence is not None:
        extent = _scan(text, start, fence.start())
        if extent.string is None:
            return extent
    return _scan(text, start, len(text))


def _scan(text: str, start: int, end: int) -> ObjectExtent:
    scan = _Scan()
    string_start: int | None = None
    for token in _TOKEN.finditer(text, start, end):
        mark = token.group()
        if mark[0] in "\"'":
            if token.group("closed") is None and token.group("quote") is None:
                string_start = token.start()
                break
            if scan.previous in {"{", ","} and scan.opens[-1].bracket == "{":
                scan.key = token.span()
            scan.previous = "s"
        elif mark[0] != "/" and _step(scan, mark, token.start()):
            return ObjectExtent(start, token.end(), closed=True)
        elif len(scan.opens) > _MOST_OPEN:
            return ObjectExtent(start, len(text), closed=False, deep=True)
    at_end = end == len(text)
    return ObjectExtent(
        start, end, closed=False, at_end=at_end, opens=tuple(scan.opens), key=scan.key, string=string_start
    )


def _step(scan: _Scan, mark: str, start: int) -> bool:
    """Take one bracket, comma or colon; return whether it closes the whole object."""
    if mark in "{[":
        scan.opens.append(OpenBracket(mark, start, scan.key))
    elif mark in "}]":
        scan.opens.pop()
    if mark != ":":
        scan.key = None
    scan.previous = mark
    return not scan.opens


@dataclass(frozen=True, slots=True)
class LostMember:
    """The member that an object was cut off in."""

    key: str
    text: str | None = None
    """What there is of its value, if that is a text."""


def completed(text: str, extent: ObjectExtent) -> tuple[str, LostMember | None]:
    """Return what a cut-off object holds for certain, with its brackets closed, and the member that is lost.

    A number that ends where the text ends is left out, since a digit may be missing; so is a list that was not
    finished, since a shorter list is another list. The lost member is one of the outermost object.
    """
    end, key, opens = extent.end, extent.key, extent.opens
    value: str | None = None
    if extent.string is not None:
        end = extent.string
        value = _decoded(text[extent.string + 1 : extent.end])
    elif extent.at_end:
        end = _without_unfinished(text, extent.start, end)
    array = next((index for index, opened in enumerate(opens) if opened.bracket == "["), None)
    if array is not None:
        end, key, opens, value = opens[array].start, opens[array].key, opens[:array], None
    lost: LostMember | None = None
    if key is not None and text[key[1] : end].strip() in {"", ":"}:
        if len(opens) == 1:
            lost = LostMember(text[key[0] + 1 : key[1] - 1], value)
        end = key[0]
    body = text[extent.start : end].rstrip().rstrip(",")
    return body + "".join("}" if opened.bracket == "{" else "]" for opened in reversed(opens)), lost


def _without_unfinished(text: str, start: int, end: int) -> int:
    word_start = start + len(text[start:end].rstrip(_OF_A_WORD))
    return end if text[word_start:end] in _DONE_WORDS else word_start


def _decoded(written: str) -> str:
    piece = _PIECE.match(written)
    try:
        text = lenient(f'"{piece.group() if piece else ""}"')
    except ValueError:
        return ""
    return _HALF_PAIR.sub("", text) if isinstance(text, str) else ""

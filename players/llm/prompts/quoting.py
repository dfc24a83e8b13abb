"""Words of players, made data: one JSON string on one line, without characters that cannot be seen, cut to a length.

No text can leave its quotation: JSON escapes quotation marks and backslashes, nothing that any reader takes for the end
of a line is left in it, and the marks by which servers tell turns apart ("<|im_end|>") lose their first character to an
escape. The tables are fixed here, not asked of `unicodedata`, so that every Python writes the same
prompt.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final

from wolfbus.reading.repetition import repetition_start

STATEMENT_SHOWN: Final = 2_000
"""Characters of another player's words, or of one's own public ones, that a prompt shows."""

THOUGHT_SHOWN: Final = 1_000
"""Characters of a private thought or reasoning that a prompt shows."""

REPLY_SHOWN: Final = 4_000
"""Characters of a model's own reply that it is shown when it is asked once more."""

_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe0e\ufe0f"
# letters and marks that are never drawn; words can be hidden in runs of variation selectors
_UNDRAWN: Final = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0d\U000e0100-\U000e01ef"
_UNSEEN: Final = (
    _UNDRAWN + r"\x7f-\x9f\ud800-\udfff"
    # category Cf but for the two joiners: soft hyphens, direction marks, invisible operators, tags, and so on
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e007f"
)
_TRAPS: Final = re.compile(rf"[{_UNDRAWN}{_SELECTORS}]")
_HIDDEN: Final = re.compile(rf"[\x00-\x1f{_UNSEEN}]")
_HIDDEN_BUT_LINES: Final = re.compile(rf"[\x00-\x08\x0b-\x1f{_UNSEEN}]")
_BREAKS: Final = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")
_LINE_ENDS: Final = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
# a joiner has work to do between two characters of an emoji or of a script beyond ASCII, and nowhere else
_MANY_JOINERS: Final = re.compile(rf"([{_JOINERS}])[{_JOINERS}]+")
_IDLE_JOINER: Final = re.compile(
    rf"(?<![^\x00-\x7f{_JOINERS}])[{_JOINERS}]|[{_JOINERS}](?![^\x00-\x7f{_JOINERS}{_SELECTORS}])"
)
_MANY_SELECTORS: Final = re.compile(rf"([{_SELECTORS}])[{_SELECTORS}]+")
_MARK: Final = re.compile(
    r"<(?=[|\uff5c]|/?(?:s|bos|eos|think|(?:start|end)_of_turn)>)|\[(?=/?(?:INST|THINK|SYSTEM_PROMPT)\])"
)
"""The first character of what ends a turn, or begins one, on servers that parse it in the middle of a text."""


def quoted(text: str, limit: int = THOUGHT_SHOWN) -> str:
    """Return `text` as a JSON string on one line.

    Args:
        text: anything.
        limit: characters shown at most; behind the closing quotation mark stands how many more there are.
    """
    clean = one_line(text)
    if len(clean) <= limit:
        return unmarked(json.dumps(clean, ensure_ascii=False))
    beginning = clean[:limit].rstrip(_JOINERS)
    return f"{unmarked(json.dumps(beginning, ensure_ascii=False))} [+{len(clean) - len(beginning)} characters]"


@lru_cache(maxsize=512)
def quoted_statement(text: str) -> str:
    """Return what a player said, quoted; every seat's prompts hold the same, so it is made once."""
    return quoted(text, STATEMENT_SHOWN)


def one_line(text: str) -> str:
    """Return `text` with a space for every line end and without control, direction and other unseen characters."""
    if text.isprintable() and (text.isascii() or _TRAPS.search(text) is None):
        return text
    return _seen(_HIDDEN.sub("", _BREAKS.sub(" ", text)))


def reply_shown(text: str) -> str:
    """Return a model's own reply as it is shown back to it: lines as they were, unseen characters gone, cut.

    Of one that repeats itself it is the beginning: the rest would have the model go on with it.
    """
    visible = _seen(_HIDDEN_BUT_LINES.sub("", _LINE_ENDS.sub("\n", text[: 2 * REPLY_SHOWN])))[:REPLY_SHOWN].strip()
    visible = unmarked(visible)
    start = repetition_start(visible)
    return visible if start is None else f"{visible[:start].rstrip()} …"


def unmarked(written: str) -> str:
    """Return JSON without the marks by which servers tell turns apart; its strings say the same."""
    return _MARK.sub(lambda mark: f"\\u{ord(mark[0]):04x}", written)


def _seen(text: str) -> str:
    if text.isascii():
        return text
    joined = _IDLE_JOINER.sub("", _MANY_JOINERS.sub(r"\1", text))
    return _MANY_SELECTORS.sub(r"\1", joined)

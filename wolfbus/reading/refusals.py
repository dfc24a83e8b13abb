"""Refusals in plain words: a reply that is nothing but a model declining to answer, and no statement in the game."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 600
"""Characters of a refusal; whoever says more may have said something of use."""

_APOLOGY: Final = (
    r"(?:(?:i(?:'m|\ am)\ (?:really\ |very\ |so\ )?|)sorry|i\ apologi[sz]e|(?:my\ )?apologies|unfortunately)"
)
_MACHINE: Final = r"as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b[^,.!?]{0,40},?\ "
_CANNOT: Final = r"""
    (?: i\ (?: can't | cannot | can\ not | won't | will\ not )
      | i(?:'m|\ am)\ (?: unable | not\ (?:able|allowed|permitted) )\ to
      | i\ (?: must | have\ to )\ (?:respectfully\ )?decline\ to
    )
"""
_RULES: Final = r"(?:guidelines|programming|polic(?:y|ies))"
_ASKED: Final = r"""
    (?: th(?:is|at|ese|ose) | it | (?: this | that | your | the | such )\ (?:\w+\ ){0,3}
        (?: requests? | tasks? | prompt | content | conversation | discussion | instructions? | scenario
          | activit(?:y|ies) | role-?play(?:ing)? | game | response | text ) )
"""
_SENTENCE: Final = re.compile(
    rf"""
    (?: {_APOLOGY}[,;:.!]?\ (?:but\ |however,?\ )?)?
    (?: {_MACHINE}{_CANNOT}\ .+
      | {_CANNOT}\ (?:
            (?:help|assist)(?:\ you)?(?:\ (?:with|on)\ {_ASKED})?
          | comply(?:\ with\ {_ASKED})?
          | (?: fulfill? | complete | process | carry\ out | continue\ with | engage\ (?:in|with) | participate\ in
              | take\ part\ in | provide | generate | create | produce )\ {_ASKED}
          | .+\ against\ my\ {_RULES}
        )
      | i\ (?:must|have\ to)\ (?:respectfully\ )?decline(?:\ {_ASKED})?
      | (?:this|that)\ (?:request\ )?(?:violates|goes\ against)\ (?:\w+\ ){{1,4}}{_RULES}
    )\s*[.!]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_END: Final = re.compile(r"(?<=[.!?])\s+")


def is_refusal(text: str, names: Sequence[str] = ()) -> bool:
    """Return whether a whole reply is a refusal to answer.

    Its first sentence, behind an apology of its own if there is one, must be one of a handful of common forms. Players
    refuse one another things as well, so that a text that names one is none.

    Args:
        text: the reply, without any JSON.
        names: all players.
    """
    plain = text.strip().strip('"“”').replace("’", "'")
    if not plain or len(plain) > _LONGEST:
        return False
    if any(re.search(rf"\b{re.escape(name)}\b", plain, re.IGNORECASE) for name in names):
        return False
    first, *others = _END.split(plain)
    if others and re.fullmatch(rf"{_APOLOGY}[.!]*".replace(r"\ ", " "), first, re.IGNORECASE):
        first = others[0]
    return _SENTENCE.fullmatch(first) is not None

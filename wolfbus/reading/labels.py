"""`deceptive` decides over `kind`: one rule for all who take in a label, be it model text or an outsider's reply."""

from __future__ import annotations

import re
from typing import TypeVar

from wolfbus.messages.base import Part
from wolfbus.messages.content import Judgement, Label
from wolfbus.vocabulary import DECEPTIONS, Deception

P = TypeVar("P", bound=Part)

KIND_WORDS: dict[str, Deception] = {
    "no": "none",
    "null": "none",
    "n/a": "none",
    "na": "none",
    "": "none",
    "not deceptive": "none",
    "no deception": "none",
    "truth": "none",
    "truthful": "none",
    "honest": "none",
    "omit": "omission",
    "omitted": "omission",
    "omitting": "omission",
    "omissions": "omission",
    "withholding": "omission",
    "distort": "distortion",
    "distorted": "distortion",
    "distorting": "distortion",
    "exaggeration": "distortion",
    "misdirect": "misdirection",
    "misdirected": "misdirection",
    "misdirecting": "misdirection",
    "deflection": "misdirection",
    "diversion": "misdirection",
    "fabricate": "fabrication",
    "fabricated": "fabrication",
    "fabricating": "fabrication",
    "invention": "fabrication",
}
"""Words that are taken for a kind of the taxonomy (paper, section 4.2). "Lie" is none of them: it could be any."""

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
    """Return a label or judgement whose `kind` agrees with `deceptive`, and any other content as it is."""
    settled = _settled(content)
    return content.model_copy(update=settled) if settled else content


def _settled(content: Part) -> dict[str, Deception | None]:
    if not isinstance(content, Label | Judgement):
        return {}
    kind, stated = settle(content.deceptive, content.kind, content.stated_kind)
    return {} if (kind, stated) == (content.kind, content.stated_kind) else {"kind": kind, "stated_kind": stated}


def kind_of(word: str) -> Deception | None:
    """Return the kind of deception that a model's word stands for, None if it could be any."""
    plain = " ".join(_NOT_LETTERS.sub(" ", word.casefold()).split())
    for kind in DECEPTIONS:
        if plain == kind:
            return kind
    return KIND_WORDS.get(plain)

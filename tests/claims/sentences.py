"""Sentences with the claims that are in them, from `sentences.toml`. The speaker is Ana."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim

SPEAKER = "Ana"
NAMES = ("Ana", "Raj", "Bea", "Tom", "Mia", "Old Joe")
_SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))


def _claim(row: dict[str, Any]) -> Claim:
    if "accuses" in row:
        return AccusationClaim(target=row["accuses"])
    if "protected" in row:
        return ProtectionClaim(target=row["protected"], round=row.get("round"))
    if "is" in row:
        return RoleClaim(target=row["is"], role=row["role"])
    return InspectionClaim(target=row["saw"], role=row["role"], round=row.get("round"))


Claimed = tuple[tuple[str, tuple[Claim, ...]], ...]


def _claimed(name: str) -> Claimed:
    return tuple((text, tuple(map(_claim, claims))) for text, claims in _SENTENCES[name].items())


CLAIMS, ROWS = _claimed("claims"), _claimed("rows")
OPENINGS, HOSTILE, PIECES = (tuple(_SENTENCES[name]) for name in ("openings", "hostile", "words"))
NOTHING: tuple[str, ...] = ("", *(text for texts in _SENTENCES["nothing"].values() for text in texts.splitlines()))

"""The sentences scripted players say, from `words.toml`; it says what stands in them in braces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, TypeAlias, get_args

from pydantic import ValidationInfo, field_validator

from players.scripted.evidence import Ground
from wolfbus.package_data import Lines, PackageData, read_data

Intent: TypeAlias = Literal[
    "first day",
    "death",
    "quiet night",
    "hedge",
    "doubt",
    "accuse",
    "accuse boldly",
    "agree",
    "ask",
    "ask vote",
    "defend self",
    "defend self as villager",
    "deflect",
    "defend other",
    "back seer",
    "weigh seers",
    "reveal wolf",
    "report wolf",
    "reveal clear",
    "report clear",
    "counterclaim",
    "expose",
    "repeat seer",
    "hint trust",
    "doctor hint",
    "doctor claim",
    "doctor claim saved",
]
"""What a turn of the debate is used for."""

VoteReason: TypeAlias = Literal["own result", "wolf", "believe seer", "evidence", "feeling", "join", "abstain"]
"""What the reason of a ballot rests on."""


class Wordings(PackageData):
    """All wordings."""

    sentences: Mapping[Intent, Lines]
    """By what a turn of the debate is used for."""
    evidence: Mapping[Ground, Lines]
    """By its ground."""
    vote_reasons: Mapping[VoteReason, Lines]
    """By what the reason rests on."""
    whispers: Mapping[str, Lines]
    """By why a Werewolf proposes a victim."""

    @field_validator("sentences", "evidence", "vote_reasons")
    @classmethod
    def _whole(cls, value: Mapping[str, Lines], info: ValidationInfo) -> Mapping[str, Lines]:
        keys = {"sentences": Intent, "evidence": Ground, "vote_reasons": VoteReason}[info.field_name or ""]
        if missing := [key for key in get_args(keys) if not value.get(key)]:
            raise ValueError(f"nothing is said for {missing[0]!r}")
        return value


@cache
def words() -> Wordings:
    """Return the wordings.

    Raises:
        ConfigError: their file is not as it should be.
    """
    return read_data("players.scripted", "words", Wordings)

"""`Style`: how the same things are said to a model: in which wording, under which theme, with which line of one's own.

None of it changes the game: what a model says under a theme is told back in the game's words before anybody reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from pydantic import RootModel

from players.llm.settings import Model, ThemeName, WordingName
from wolfbus.files.package_data import PackageData, read_data
from wolfbus.messages.base import SeatName


class Wording(PackageData):
    """What is said beside the rules, the role and the game itself; see ``wordings.toml``."""

    frame: str
    remembered: str
    assessing: str
    again: dict[Literal["full", "brief"], str]
    suspicion: str
    together: str
    turn: str
    bid: str
    speak: str
    assess_own: str
    assess_other: str
    vote: str
    vote_reason: str
    speak_label: str
    reason_label: str


class _Wordings(PackageData):
    standard: Wording
    plain: Wording
    formal: Wording


class _Themes(RootModel[dict[ThemeName, dict[str, str]]]):
    pass


class Style(NamedTuple):
    """How a model is told what it is told.

    Attributes:
        wording: the words beside those of the rules.
        theme: whose words stand for Werewolf, Villager and the other words of the game's own.
        instructions: what stands behind the rules, as it was given; None for nothing.
    """

    wording: WordingName = "standard"
    theme: ThemeName = "werewolf"
    instructions: str | None = None

    @property
    def words(self) -> Wording:
        """The wording's texts."""
        texts: Wording = getattr(_wordings(), self.wording)
        return texts

    def skin(self, names: Sequence[SeatName]) -> Skin:
        """Return what translates between the game's words and the theme's, where so many players have these names."""
        return _skin(self.theme, tuple(names))


def style_of(model: Model) -> Style:
    """Return how a model's prompts say what they say."""
    return Style(model.wording, model.theme, model.instructions)


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """The words of a theme in a game; players' names stay as they are.

    Attributes:
        to_theme: from a text in the game's words to one in the theme's.
        from_theme: back again.
    """

    to_theme: Callable[[str], str]
    from_theme: Callable[[str], str]


@lru_cache(maxsize=1)
def _wordings() -> _Wordings:
    return read_data("players.llm.prompts", "wordings", _Wordings)


@lru_cache(maxsize=256)
def _skin(theme: ThemeName, names: tuple[SeatName, ...]) -> Skin:
    if theme == "werewolf":
        return Skin(str, str)
    words = read_data("players.llm.prompts", "themes", _Themes).root[theme]
    back: dict[str, str] = {}
    for word, other in words.items():
        back.setdefault(other, word)
    return Skin(_translation(words, names), _translation(back, names))


def _translation(words: Mapping[str, str], names: Sequence[SeatName]) -> Callable[[str], str]:
    """Return what puts other words into a text, in the case of those that stand there, but not into names."""
    exempt = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<!\w)(?:({exempt})|({'|'.join(sorted(words, key=len, reverse=True))}))(?!\w)", re.IGNORECASE
    )
    by_lower = {word.lower(): other for word, other in words.items()}

    def translated(match: re.Match[str]) -> str:
        word = match[2]
        if word is None:
            return match[0]
        # without regard to case "ſeer" is "Seer", too, and yet no word of the theme
        other = by_lower.get(word.lower(), word)
        if word.islower():
            return other.lower()
        return other.upper() if word.isupper() else other

    return lambda text: pattern.sub(translated, text)


STANDARD: Final = Style()
"""What models are sent unless their table says otherwise."""

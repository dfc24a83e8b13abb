"""What the double answers: a plausible value for any form, as a pure function of a seed and the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar

from wolfbus.draws import choose, unit
from wolfbus.testing.model_form import Either, Fraction, Group, OneOf, Scalar, Several, Shape, Truth, Whole, Words
from wolfbus.testing.model_words import NOBODY, most_sentences, pool
from wolfbus.vocabulary import DECEPTIONS, ROLES

T = TypeVar("T")

DECEPTIVE: Final = ("deceptive", "is_deceptive")
SUSPICION: Final = ("suspicion", "suspicion_level")

_ME: Final = re.compile(rf"\nYou are ([^\n]+), (?:an?|the) ({'|'.join(ROLES)})\b")
_LIVING: Final = re.compile(r"\nLiving\b[^\n:]*:[ \t]*([^\n]+)")
_PARTNERS: Final = re.compile(r" Your partners?: ([^\n]*)")
_NO_PLAYERS: Final = frozenset({*DECEPTIONS, *ROLES, "role", "inspection", "protection", "accusation"})


@dataclass(frozen=True, slots=True)
class Scene:
    """What the double understood of a prompt.

    Attributes:
        others: living players but its own.
        role: its role, "Villager" unless the prompt says.
        partners: words about its partners, empty without any.
    """

    others: tuple[str, ...] = ()
    role: str = "Villager"
    partners: str = ""


def scene_of(prompt: str, shape: Shape | None) -> Scene:
    """Read from a prompt who one is and who lives."""
    seat = _last("\nYou are ", _ME, prompt)
    me, role = (seat[1], seat[2]) if seat else ("", "Villager")
    living = _last("\nLiving", _LIVING, prompt)
    names = living[1].strip(" .").split(", ") if living else _players(shape)
    partners = _last(" Your partner", _PARTNERS, prompt) if role == "Werewolf" else None
    return Scene(tuple(name for name in names if name != me), role, partners[1] if partners else "")


def is_player_choice(shape: Shape) -> bool:
    """Tell whether a shape chooses among players, not among kinds of something."""
    return (
        isinstance(shape, OneOf)
        and any(isinstance(option, str) for option in shape.options)
        and not _NO_PLAYERS.intersection(option for option in shape.options if isinstance(option, str))
    )


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws by purpose, independent of each other."""

    seed: str

    def unit(self, purpose: str) -> float:
        """Return a uniform number in [0, 1)."""
        return unit(self.seed, purpose)

    def choose(self, purpose: str, options: Sequence[T]) -> T:
        """Return one of `options`, each equally likely."""
        return choose(self.seed, purpose, options)

    def between(self, purpose: str, least: float, most: float) -> float:
        """Return a uniform number from `least` to `most`."""
        return least + (most - least) * unit(self.seed, purpose)


class Writer:
    """Fills forms.

    Args:
        server_seed: the double's own; seats asked by the same double lean towards the same suspects.
        seed: of this prompt.
        scene: what it is about.
    """

    def __init__(self, server_seed: int, seed: str, scene: Scene) -> None:
        self._server_seed = str(server_seed)
        self._draws = Draws(seed)
        self._scene = scene

    def fill(self, shape: Shape) -> Any:
        """Return a value of that shape."""
        return self._value("", shape, "", None)

    def sentence(self, purpose: str, wordings: Sequence[str]) -> str:
        """Return one of `wordings` about players of the scene."""
        target = self._suspect(purpose, self._scene.others) if self._scene.others else NOBODY
        rest = [name for name in self._scene.others if name != target]
        other = self._draws.choose(f"{purpose} other", rest) if rest else NOBODY
        wording = self._draws.choose(f"{purpose} wording", wordings)
        return wording.replace("{t}", target).replace("{o}", other)

    def _value(self, key: str, shape: Shape, path: str, lie: bool | None) -> Any:
        if isinstance(shape, Group):
            return self._group(shape, path)
        if isinstance(shape, OneOf):
            return self._one_of(shape, path, lie)
        if isinstance(shape, Truth):
            return lie if lie is not None and key in DECEPTIVE else self._draws.unit(path) < 0.5
        if isinstance(shape, Whole):
            both = self._draws.unit(path) + self._draws.unit(f"{path} too")
            return shape.least + int((shape.most - shape.least + 1) * both / 2)
        if isinstance(shape, Fraction):
            return self._fraction(key, shape, path, lie)
        if isinstance(shape, Words):
            return self._words(key, path)
        if isinstance(shape, Several):
            count = max(shape.least, int(self._draws.unit(path) < 0.4))
            return [self._value(key, shape.item, f"{path}[{number}]", None) for number in range(count)]
        return self._either(key, shape, path, lie)

    def _group(self, group: Group, path: str) -> dict[str, Any]:
        keys = {key for key, _ in group.members}
        lie = None
        if keys.intersection(DECEPTIVE):
            judges = keys.intersection(SUSPICION)
            share = 0.35 if judges else 0.7 if self._scene.role == "Werewolf" else 0.08
            lie = self._draws.unit(f"{path} lie") < share
        return {key: self._value(key, shape, f"{path}.{key}", lie) for key, shape in group.members}

    def _one_of(self, shape: OneOf, path: str, lie: bool | None) -> Scalar:
        options: Sequence[Scalar] = shape.options
        if "none" in options and lie is not None:
            if not lie:
                return "none"
            options = [option for option in options if option not in {"none", "unspecified", None}] or options
        if not is_player_choice(shape):
            return self._draws.choose(path, options)
        if None in options and self._draws.unit(f"{path} nobody") < 0.06:
            return None
        players = [option for option in options if isinstance(option, str)]
        strangers = [name for name in players if name not in self._scene.partners]
        return self._suspect(path, strangers or players)

    def _suspect(self, purpose: str, names: Sequence[str]) -> str:
        """Return one of `names`: all lean alike, so that votes can reach a majority, and each has a mind of its own."""

        def weight(name: str) -> float:
            return _leaning(self._server_seed, name) + 0.6 * self._draws.unit(f"{purpose}|{name}")

        return max(names, key=weight)

    def _fraction(self, key: str, shape: Fraction, path: str, lie: bool | None) -> float:
        least, most = 0.0, 1.0
        if key in SUSPICION and lie is not None:
            least, most = (0.55, 0.95) if lie else (0.05, 0.45)
        elif key == "confidence":
            least, most = 0.5, 0.95
        drawn = round(self._draws.between(path, least, most), 2)
        return round(shape.least + (shape.most - shape.least) * drawn, 2)

    def _words(self, key: str, path: str) -> str:
        count = 1 + int(self._draws.unit(f"{path} length") * most_sentences(key))
        said = dict.fromkeys(self.sentence(f"{path} {number}", pool(key)) for number in range(count))
        return " ".join(said)

    def _either(self, key: str, shape: Either, path: str, lie: bool | None) -> Any:
        given = [option for option in shape.options if option != OneOf((None,))]
        if len(given) < len(shape.options) and self._draws.unit(f"{path} null") < 0.1:
            return None
        return self._value(key, self._draws.choose(f"{path} option", given), path, lie)


def _last(beginning: str, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match; found by its plain beginning, for prompts are long."""
    at = len(text)
    while (at := text.rfind(beginning, 0, at)) >= 0:
        if match := pattern.match(text, at):
            return match
    return None


@lru_cache(maxsize=4096)
def _leaning(server_seed: str, name: str) -> float:
    return unit(server_seed, f"leaning|{name}")


def _players(shape: Shape | None) -> tuple[str, ...]:
    """Return the players that a form lets choose among."""
    if isinstance(shape, Group):
        for _, member in shape.members:
            if found := _players(member):
                return found
    if isinstance(shape, Several):
        return _players(shape.item)
    if isinstance(shape, Either):
        return next((found for option in shape.options if (found := _players(option))), ())
    if shape is not None and is_player_choice(shape) and isinstance(shape, OneOf):
        return tuple(option for option in shape.options if isinstance(option, str))
    return ()

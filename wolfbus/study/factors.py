"""Factors: what a study varies. Every combination of their levels is a cell, a study of its own over the same seeds.

::

    [factors]
    rules.debate_turns = [2, 4]
    models.mini.wording = ["standard", "plain", "formal"]

Each key is a place in the study's own file, each value a list of what stands there in turn. All cells have the seed of
the study, so that their games are paired: the same deal, names and lots, whatever is varied.
"""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from wolfbus.errors import ConfigError, first_fault
from wolfbus.files.printable import printable
from wolfbus.files.whole_file import read_whole

TABLE: Final = "factors"
"""The table of a study's file that names them."""

FILE: Final = "factors.json"
"""In the folder of such a study: its factors, and a folder for each cell."""

MOST_CELLS: Final = 64

_VARIED: Final = ("rules", "models", "players")
"""Where a study can be varied; the rest says how much of it is played, and how."""

_LONGEST_LEVEL: Final = 24
"""Characters of a level that stands in a cell's name; longer ones, and lists, stand there by their number."""

_LONGEST: Final = 1 << 20
"""Bytes of `FILE`."""

_UNSAFE: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that is varied.

    Attributes:
        place: where, as keys from the top of the file.
        name: the shortest end of it that no other factor has, as in "debate_turns".
        levels: what stands there in turn; two at least, and none twice.
    """

    place: tuple[str, ...]
    name: str
    levels: tuple[Any, ...]

    def name_of(self, level: Any) -> str:
        """Return a level as cells and commands name it."""
        if isinstance(level, bool):
            return str(level).lower()
        text = _UNSAFE.sub("_", str(level))
        if isinstance(level, list | dict) or not text or len(text) > _LONGEST_LEVEL:
            return str(self.levels.index(level) + 1)
        return text


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of levels.

    Attributes:
        name: of its folder, as in "debate_turns=2+wording=plain".
        levels: the shown level of each factor, by its name.
        table: the study's file with these levels in their places, and no factors.
    """

    name: str
    levels: Mapping[str, str]
    table: Mapping[str, Any]


def factors_of(table: Mapping[str, Any], source: str) -> tuple[Factor, ...]:
    """Return the factors that a study's file names, in its order; none if it has no such table.

    Raises:
        ConfigError: one line that names the source, the factor and the reason.
    """
    named = table.get(TABLE, {})
    if not isinstance(named, dict):
        raise ConfigError(f"{source}: {TABLE}: input should be a table [{TABLE}]")
    places = dict(_places(named))
    factors = []
    for written, levels in places.items():
        place = _place_in(table, ".".join(written))
        if place[0] not in _VARIED:
            raise ConfigError(
                f"{source}: [{TABLE}] {_dotted(place)}: varied can be what stands under {', '.join(_VARIED)}"
            )
        if not isinstance(levels, list) or len(levels) < 2:
            raise ConfigError(f"{source}: [{TABLE}] {_dotted(place)}: give a list of two levels or more")
        if any(level in levels[:index] for index, level in enumerate(levels)):
            raise ConfigError(f"{source}: [{TABLE}] {_dotted(place)}: a level is there twice")
        factors.append((place, tuple(levels)))
    names = _shortest([place for place, _ in factors])
    result = tuple(Factor(place, name, levels) for (place, levels), name in zip(factors, names, strict=True))
    for factor in result:
        if any(count > 1 for count in Counter(map(factor.name_of, factor.levels)).values()):
            raise ConfigError(f"{source}: [{TABLE}] {_dotted(factor.place)}: two levels cannot be told by their names")
    return result


def cells_of(table: Mapping[str, Any], source: str) -> tuple[Cell, ...]:
    """Return the cells of a study's file with factors, in the order of their levels.

    Raises:
        ConfigError: one line that names the source, the factor and the reason; or they are more than `MOST_CELLS`.
    """
    factors = factors_of(table, source)
    if not factors:
        raise ConfigError(f"{source}: [{TABLE}] names none")
    # counted first: a few long lists make more cells than a memory holds
    if (count := math.prod(len(factor.levels) for factor in factors)) > MOST_CELLS:
        raise ConfigError(f"{source}: [{TABLE}] has {count} cells; {MOST_CELLS} are played at most")
    base = {name: value for name, value in table.items() if name != TABLE}
    return tuple(_cell(base, factors, levels, source) for levels in product(*(factor.levels for factor in factors)))


class NotedCells(BaseModel):
    """What `FILE` says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: Literal["wolfbus-factors"] = "wolfbus-factors"
    version: Literal[1] = 1
    factors: dict[str, tuple[str, ...]]
    """The levels of each factor, as they are shown, in their order."""
    cells: dict[str, dict[str, str]]
    """The level of each factor, by the name of the cell's folder."""

    @field_validator("cells")
    @classmethod
    def _folders_are_within(cls, cells: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        for name in cells:
            if name in {"", ".", ".."} or Path(name).name != name:
                raise ValueError(f"{name!r} is no name of a folder within")
        return cells

    def with_levels(self, levels: Mapping[str, str]) -> list[str]:
        """Return the names of the cells that have these levels of some factors."""
        return [name for name, cell in self.cells.items() if levels.items() <= cell.items()]


def noted_cells(folder: Path) -> NotedCells | None:
    """Return the cells of a folder; None if it is none of a study with factors.

    Raises:
        ConfigError: what it says of them cannot be read; one line that names the file.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return NotedCells.model_validate_json(read_whole(path, _LONGEST))
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_fault(error)}") from None


def _cell(base: Mapping[str, Any], factors: Sequence[Factor], levels: Sequence[Any], source: str) -> Cell:
    table: dict[str, Any] = copy.deepcopy(dict(base))
    level_names = {}
    for factor, level in zip(factors, levels, strict=True):
        inner: Any = table
        for at, key in enumerate(factor.place[:-1]):
            inner = inner.setdefault(key, {}) if key == "rules" or inner is not table else inner.get(key)
            if not isinstance(inner, dict):
                lacking = _dotted(factor.place[: at + 1])
                raise ConfigError(f"{source}: [{TABLE}] {_dotted(factor.place)}: there is no table [{lacking}]")
        inner[factor.place[-1]] = copy.deepcopy(level)
        level_names[factor.name] = factor.name_of(level)
    name = "+".join(f"{factor}={level}" for factor, level in level_names.items())
    table["name"] = f"{table['name']} ({name})" if table.get("name") else name
    # a model's settings are no part of a game's id
    table["cell"] = name
    return Cell(name, level_names, table)


def _places(named: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in named.items():
        if isinstance(value, dict):
            yield from _places(value, (*before, key))
        else:
            yield (*before, key), value


def _place_in(table: Mapping[str, Any], dotted: str) -> tuple[str, ...]:
    """Return the keys that a dotted name means in a file: where one of its tables has points in its own name, that."""
    place: tuple[str, ...] = ()
    inner: Any = table
    while dotted:
        keys = inner if isinstance(inner, dict) else {}
        fitting = [key for key in keys if dotted == key or dotted.startswith(f"{key}.")]
        key = max(fitting, key=len) if fitting else dotted.partition(".")[0]
        place, dotted, inner = (*place, key), dotted[len(key) + 1 :], keys.get(key)
    return place


def _dotted(place: Sequence[str]) -> str:
    return printable(".".join(place))


def _shortest(places: Sequence[tuple[str, ...]]) -> list[str]:
    """Return of each place the shortest end that is no end of another."""
    names = []
    for place in places:
        ends = (place[-length:] for length in range(1, len(place) + 1))
        end = next((end for end in ends if sum(other[-len(end) :] == end for other in places) == 1), place)
        names.append(_UNSAFE.sub("_", ".".join(end)))
    return names

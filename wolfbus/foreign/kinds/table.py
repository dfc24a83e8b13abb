"""A table of what happened, into which any log can be turned: CSV with a header, or NDJSON, a row an event.

docs/other-games.md describes the columns: ``game``, ``event``, ``seat``, ``target``, ``text``, ``result``, ``role``,
``side``, ``agent``, and where rows are in no order of their own, ``order``.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from wolfbus.errors import RecordError
from wolfbus.files.spreadsheet import spreadsheet_rows
from wolfbus.foreign.building import ForeignLogBuilder
from wolfbus.foreign.kinds import ImportSource
from wolfbus.game.vocabulary import Team, Winner

TITLE: Final = "a table of games"

Row: TypeAlias = Mapping[str, str]

COLUMNS: Final = ("game", "order", "event", "seat", "target", "text", "result", "role", "side", "agent")
"""All columns that are read; any but `event` may be missing where no row needs it."""
_SIDES: Final[Mapping[str, Team | None]] = {"villagers": "villagers", "werewolves": "werewolves", "": None}
_WINNERS: Final[Mapping[str, Winner]] = {"villagers": "villagers", "werewolves": "werewolves", "nobody": None}


def looks_like(start: bytes) -> bool:
    """Return whether a file with these first bytes is one of this kind."""
    first = start.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    if first.startswith(b"{"):
        return b'"event"' in first and b'"seat"' in first and b'"timestamp"' not in first
    return {b"event", b"seat"} <= {name.strip(b'" \r') for name in re.split(b"[,;\t]", first)}


def games(source: ImportSource) -> Iterator[ForeignLogBuilder]:
    """Yield the games of a table, in the order of their first rows."""
    by_game: dict[str, list[tuple[int, Row]]] = {}
    for line, row in _rows(source):
        by_game.setdefault(row.get("game", "").strip(), []).append((line, row))
    for rows in by_game.values():
        game = ForeignLogBuilder()
        for line, row in sorted(rows, key=_place):
            game.at(line)
            _tell(game, row)
        yield game


def _place(numbered: tuple[int, Row]) -> tuple[float, int]:
    line, row = numbered
    order = row.get("order", "")
    try:
        place = float(order or line)
    except ValueError:
        place = math.nan
    if math.isnan(place):
        raise RecordError(f"order: {order!r} is no number", line)
    return place, line


def _rows(source: ImportSource) -> Iterator[tuple[int, Row]]:
    """Yield the rows with their lines, all values as text."""
    text = source.text
    if not text.lstrip().startswith("{"):
        reader = spreadsheet_rows(text, strict=True)
        try:
            _check(reader.fieldnames or ())
            for row in reader:
                if None in row:
                    raise RecordError("more values than columns; quote what holds a comma", reader.line_num)
                yield reader.line_num, row
        except csv.Error as error:
            raise RecordError(f"not CSV: {error}", max(reader.line_num, 1)) from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise RecordError(f"not JSON: {error}", number) from None
            if not isinstance(values, dict):
                raise RecordError("not a JSON object", number)
            if (nested := next((name for name in values if isinstance(values[name], list | dict)), None)) is not None:
                raise RecordError(f"{nested}: neither text nor number", number)
            yield number, {name: "" if value is None else str(value) for name, value in values.items()}


def _check(header: Sequence[str]) -> None:
    """Raise RecordError for a header that lacks a column, or has one twice."""
    for name in ("event", "seat"):
        if name not in header:
            raise RecordError(f"its header has no column `{name}`; columns are {', '.join(COLUMNS)}", 1)
    if (twice := next((name for name in COLUMNS if header.count(name) > 1), None)) is not None:
        raise RecordError(f"its header has the column `{twice}` twice", 1)


def _tell(game: ForeignLogBuilder, row: Row) -> None:
    """Tell a builder what a row says."""
    event = row.get("event", "").strip()
    tell = _EVENTS.get(event)
    if tell is None:
        game.left_out[f"rows of the event {event[:64]!r}"] += 1
        return
    tell(game, _Needed(game, row))


class _Needed(dict[str, Any]):
    """A row without the blanks around its values, but for the words of a text. One that is needed and empty is an error
    that names its column.
    """

    def __init__(self, game: ForeignLogBuilder, row: Row) -> None:
        super().__init__({name: value if name == "text" else value.strip() for name, value in row.items()})
        self._game = game

    def __getitem__(self, name: str) -> str:
        value = str(self.get(name, "")).strip()
        if not value:
            raise self._game.error(f"{self.get('event')}: the column `{name}` is empty")
        return value

    def one_of(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return what a word stands for."""
        word = str(self.get(name, "")).casefold()
        if word not in values:
            raise self._game.error(f"{name}: {word!r} is none of {', '.join(filter(None, values))}")
        return values[word]


_EVENTS: Final[Mapping[str, Callable[[ForeignLogBuilder, _Needed], None]]] = {
    "seat": lambda game, row: game.seat(row["seat"], row["role"], row.get("agent"), row.one_of("side", _SIDES)),
    "night": lambda game, _row: game.begin_night(),
    "day": lambda game, _row: game.begin_day(),
    "statement": lambda game, row: game.say(row["seat"], row.get("text", "")),
    "reason": lambda game, row: game.say(row["seat"], row["text"], in_vote=True),
    "vote": lambda game, row: game.ballot(row["seat"], row.get("target") or None),
    "attack": lambda game, row: game.attack(row.get("target") or None),
    "protection": lambda game, row: game.protect(row["seat"], row["target"]),
    "inspection": lambda game, row: game.inspect(row["seat"], row["target"], row["result"]),
    "killed": lambda game, row: game.kill(row["seat"]),
    "exiled": lambda game, row: game.leave(row["seat"], exiled=True),
    "left": lambda game, row: game.leave(row["seat"], exiled=False),
    "end": lambda game, row: game.end(row.one_of("result", _WINNERS)),
}

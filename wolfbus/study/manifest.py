"""`Manifest`: ``study.json``, what a study is, what was played of it, and what came of every game."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic_core import from_json

from wolfbus.errors import ConfigError
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.study.manifest_shape import check_shape
from wolfbus.study.plan import PlannedGame
from wolfbus.study.result import GameResult
from wolfbus.study.study_hash import study_hash
from wolfbus.whole_file import read_whole

FORMAT: Final = "wolfbus-study"
VERSION: Final = 1
FILE: Final = "study.json"
RECORDS: Final = "records"
"""Folder of a study's records, within the study's."""

STATES: Final = ("ended", "stopped", "failed", "pending")

_LONGEST: Final = 1 << 28
"""Bytes of a manifest; the longest study's, with long brains at sixteen seats, stays below."""
_PATH_SHOWN: Final = 400


class _Sums(NamedTuple):
    """What a game adds to the totals, and to the study's hash."""

    game: str
    head: str
    state: str
    winner: str
    statements: int
    judgements: int
    calls: int
    cost_usd: float | None


class Manifest:
    """The manifest of a study that is played. It holds a row of text per game, not the games.

    Args:
        head: what stands before the games: see `head_of`.
        games: all games as planned; they are pending until `put` says otherwise.
        created: when the study was begun, as ISO 8601.
    """

    def __init__(self, head: Mapping[str, Any], games: Iterable[PlannedGame], created: str) -> None:
        self._head = dict(head)
        self._created = created
        self._planned: list[str] = []
        self._rows: list[str | None] = []
        self._sums: list[_Sums | None] = []
        for game in games:
            self._planned.append(_planned(game))
            self._rows.append(None)
            self._sums.append(None)
        self.played: dict[int, tuple[str, ...]] = {}
        """Who played, by number, of games whose plan does not say."""
        self.done = 0
        """Games that ended or failed."""
        self.wins: Counter[str] = Counter()
        """Ended games by who won: "villagers", "werewolves", "nobody"."""
        self.states: Counter[str] = Counter(pending=len(self._rows))
        """Games by state."""
        self.cost_usd: float | None = None
        """What model calls of the games cost, as far as known; None where nothing is."""

    def put(self, result: GameResult) -> None:
        """Take in what came of a game, in place of what was known of it."""
        place = result.number - 1
        self._forget(place)
        if result.brains:
            self.played[result.number] = result.brains
            self._planned[place] = _text({**json.loads(self._planned[place]), "brains": result.brains})
        winner = (result.winner or "nobody") if result.state == "ended" else ""
        self._sums[place] = _Sums(
            result.game,
            result.head,
            result.state,
            winner,
            result.statements,
            result.judgements,
            result.calls,
            result.cost_usd,
        )
        self._rows[place] = _text(
            {
                "state": result.state,
                "winner": result.winner,
                "rounds": result.rounds,
                "digest": result.digest,
                "head": result.head or None,
                "error": result.error,
                "seconds": round(result.seconds, 3),
            }
        )
        self._count(place, 1)
        if result.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + result.cost_usd

    @property
    def design(self) -> dict[str, Any]:
        """The member of that name."""
        return dict(self._head["design"])

    def amend(self, **members: Any) -> None:
        """Say something of the study that was not known before."""
        self._head |= members

    def _forget(self, place: int) -> None:
        before = self._sums[place]
        self._count(place, -1)
        if before is not None and before.cost_usd is not None and self.cost_usd is not None:
            self.cost_usd -= before.cost_usd

    def _count(self, place: int, by: int) -> None:
        sums = self._sums[place]
        state = "pending" if sums is None else sums.state
        self.states[state] += by
        self.done += by * (state in {"ended", "failed"})
        if sums is not None and sums.winner:
            self.wins[sums.winner] += by

    def totals(self) -> dict[str, Any]:
        """Return the sums over all games."""
        known = [sums for sums in self._sums if sums is not None]
        costs = [sums.cost_usd for sums in known if sums.cost_usd is not None]
        return {
            "games": len(self._rows),
            **{state: self.states[state] for state in STATES},
            **{winner: self.wins[winner] for winner in ("villagers", "werewolves", "nobody")},
            "statements": sum(sums.statements for sums in known),
            "judgements": sum(sums.judgements for sums in known),
            "calls": sum(sums.calls for sums in known),
            "cost_usd": round(math.fsum(costs), 9) if costs else None,
        }

    @property
    def study_hash(self) -> str | None:
        """Hash over the records of all games that have ended; see `study_hash`."""
        return study_hash((sums.game, sums.head) for sums in self._sums if sums is not None and sums.state == "ended")

    @property
    def complete(self) -> bool:
        """Whether every game has ended."""
        return self.states["ended"] == len(self._rows)

    def pieces(self, updated: str) -> Iterator[str]:
        """Yield the manifest as pieces of JSON text, one line a game."""
        said = {**self._head, "created": self._created, "updated": updated, "complete": self.complete}
        said["study_hash"] = self.study_hash
        head = json.dumps({**said, "totals": self.totals()}, ensure_ascii=False, allow_nan=False, indent=1)
        yield f'{head[:-2]},\n "games": [\n'
        last = len(self._rows) - 1
        for place, (planned, row) in enumerate(zip(self._planned, self._rows, strict=True)):
            yield f"  {planned[:-1]}, {(row or _PENDING)[1:]}{',' if place < last else ''}\n"
        yield " ]\n}\n"


def _planned(game: PlannedGame) -> str:
    return _text(
        {
            "number": game.number,
            "game": game.game,
            "seed": game.seed,
            "block": game.block,
            "record": game.record,
            "brains": game.brains,
        }
    )


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_PENDING: Final = _text(
    {"state": "pending", "winner": None, "rounds": None, "digest": None, "head": None, "error": None, "seconds": None}
)


def read_manifest(text: str | bytes, source: str) -> dict[str, Any]:
    """Return a manifest as plain values, each member of which is missing or of its type.

    Raises:
        ConfigError: it is none, one of a version that this build does not know, or has a member that is not what it
            should be; the line names the file and the member.
    """
    found = _of_ours(text, source)
    if found is None:
        raise ConfigError(f"{source}: this is no manifest of a study")
    return found


def load_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest in a file, as `read_manifest` does; None if the file is JSON of another kind.

    Raises:
        ConfigError: it cannot be read, or `read_manifest` refuses it.
    """
    return _of_ours(read_whole(path, _LONGEST), printable(str(path), _PATH_SHOWN))


def _of_ours(text: str | bytes, source: str) -> dict[str, Any] | None:
    try:
        # it refuses NaN, infinity, lone surrogates and what is nested too deeply
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ConfigError(f"{source}: not JSON: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return None
    version = value.get("version")
    if type(version) is not int or version != VERSION:
        shown = printable(repr(version), NOTE_SHOWN)
        raise ConfigError(f"{source}: version {shown} of a study; this wolfbus reads version {VERSION}")
    if (fault := check_shape(value)) is not None:
        raise ConfigError(f"{source}: {fault}")
    return value


def differences(told: Mapping[str, Any], there: Mapping[str, Any]) -> str | None:
    """Return the first setting in which a study differs from the one in its folder, in words; None if none does.

    More games and another budget are no difference, and neither are the versions of what plays it.

    Args:
        told: the manifest's head of the study that was asked for.
        there: the manifest in the folder.
    """
    if (house := there.get("house")) is not None and told.get("house") is None:
        return f"its seats are played by agents of a house: add --house {house}, and its --bus"
    if there.get("house") is None and told.get("house") is not None:
        return "it was begun without --house"
    if bool(there.get("tickets")) != bool(told.get("tickets")):
        begun = "with" if there.get("tickets") else "without"
        return f"it was begun {begun} --tickets, and goes on in the same way only"
    # of whoever joins, the folder tells who did
    joined = told["design"].get("kind") == "joined"
    # metrics are declared before a study is played, and never after
    declared = ("primary",) if "primary" in there else ()
    for name in ("seed", "config", *(() if joined else ("agents",)), "seats", "design", "models", "prompts", *declared):
        mine, its = told.get(name), there.get(name)
        if name == "design":
            mine, its = (each.get("kind") if isinstance(each, dict) else each for each in (mine, its))
        if (place := _first_difference(mine, its, name)) is not None:
            return place
    planned = there.get("games")
    count = len(planned) if isinstance(planned, list) else 0
    if told["design"]["games"] < count:
        return f"games: {told['design']['games']} are told, and the folder's study has {count}; it can only grow"
    return None


def _first_difference(mine: Any, its: Any, place: str) -> str | None:
    # a tuple that went through JSON is a list
    mine = list(mine) if isinstance(mine, tuple) else mine
    if isinstance(mine, dict) and isinstance(its, dict):
        for name in dict.fromkeys([*mine, *its]):
            if (found := _first_difference(mine.get(name), its.get(name), f"{place}.{name}")) is not None:
                return found
        return None
    if mine == its:
        return None
    shown = [json.dumps(each, ensure_ascii=False, default=str) for each in (mine, its)]
    short = [each if len(each) <= 60 else f"{each[:57]}…" for each in shown]
    return f"{place}: {short[0]} is told, and the folder's study has {short[1]}"


def utc_now() -> str:
    """Return the time of day as manifests tell it, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")

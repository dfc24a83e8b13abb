"""`StudyFolder`: a study's folder, held by one run at a time: manifest, journal, records and what was set aside.

`Manifest` is what its run writes into ``study.json``.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from wolfbus.actors.closable import Closable
from wolfbus.errors import ConfigError, WolfError, reason_of
from wolfbus.files.lock import is_locked, lock
from wolfbus.files.whole_file import write_all, write_whole
from wolfbus.study.journal import JOURNAL, GameResult, Spent, read_journal
from wolfbus.study.manifest import FILE, RECORDS, SEED_HASH, load_manifest, study_hash
from wolfbus.study.plan import PlannedGame

ASIDE: Final = "aside"
"""Folder of records that are not whole, within the study's."""
_LOCK: Final = ".lock"
_WAIT_S: Final = 10.0
"""How long to wait for the workers of a run that was killed to be gone."""
_POLL_S: Final = 0.05


class StudyFolder(Closable):
    """A study's folder, locked from the first moment; a context manager.

    Args:
        path: the folder; created if need be.

    Raises:
        WolfError: another run holds it.
        ConfigError: it cannot be a folder, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal: int | None = None
        journal = path / JOURNAL
        if journal.is_symlink() and (journal.is_file() or not journal.exists()):
            # the folder may be somebody else's, and what is noted would be added to any file of this user's
            raise ConfigError(f"{journal}: is a link; a study's journal is a file of its folder")
        try:
            self.records.mkdir(parents=True, exist_ok=True)
            self._lock = self._wait_for_lock()
        except OSError as error:
            raise ConfigError(f"{path}: no study can be kept there: {reason_of(error, folder=True)}") from None
        for partial in path.glob(".*.new"):
            with contextlib.suppress(OSError):
                self._clear(partial)

    @property
    def records(self) -> Path:
        """Where records are."""
        return self.path / RECORDS

    @property
    def lock_fd(self) -> int:
        """The lock's descriptor; a worker that inherits it holds the folder too, until it is gone."""
        return self._lock

    @staticmethod
    def _clear(partial: Path) -> None:
        """Remove what was half written when a run was killed, but not what somebody is writing now, which is locked."""
        if partial.is_symlink():
            # no run has made it
            partial.unlink()
        elif (descriptor := lock(partial)) is not None:
            partial.unlink(missing_ok=True)
            os.close(descriptor)

    def _wait_for_lock(self) -> int:
        path, until = self.path / _LOCK, time.monotonic() + _WAIT_S
        while (descriptor := lock(path)) is None:
            holder = path.read_text(errors="replace")[:64].strip()
            if _lives(holder) or time.monotonic() > until:
                who = f"process {holder}" if holder else "another run"
                raise WolfError(f"{self.path}: {who} is playing this study; one at a time")
            # workers of a run that was killed end as soon as they notice
            time.sleep(_POLL_S)
        try:
            path.write_text(f"{os.getpid()}\n")
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    # -- the manifest

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest that is there; None if there is none.

        Raises:
            ConfigError: it cannot be read, or is none of a study that was begun.
        """
        path = self.path / FILE
        if not path.exists():
            return None
        manifest = load_manifest(path)
        if manifest is None:
            raise ConfigError(f"{path}: this is no manifest of a study")
        if manifest.get("created") is None:
            raise ConfigError(f"{path}: created: field required")
        return manifest

    def write(self, name: str, pieces: Iterable[str]) -> None:
        """Write a file so that there is always a whole one, the old or the new; raises OSError."""
        self._check_is_there()
        write_whole(self.path / name, pieces)

    # -- the journal

    def read_journal(self) -> tuple[dict[int, GameResult], Spent]:
        """Return the latest result of every game that has one, and what was noted last of what is spent.

        A line that a kill cut off is left out; its game is looked at again.

        Raises:
            ConfigError: a line about what is spent cannot be understood; the message names file, line and member.
        """
        results: dict[int, GameResult] = {}
        spent = Spent()
        for note in read_journal(self.path / JOURNAL):
            if isinstance(note, GameResult):
                results[note.number] = note
            elif isinstance(note, Spent):
                spent = note
        return results, spent

    def sessions(self) -> list[str]:
        """Return the names of the sessions that runs of this study have opened in houses, as the journal notes them."""
        names = (note.get("session") for note in read_journal(self.path / JOURNAL) if isinstance(note, dict))
        return [name for name in names if isinstance(name, str)]

    def note(self, note: GameResult | dict[str, Any]) -> None:
        """Add a line to the journal; what is written survives a killed process. Raises OSError, which names it."""
        line = note.line() if isinstance(note, GameResult) else json.dumps(note).encode() + b"\n"
        self._check_is_there()
        try:
            if self._journal is None:
                self._journal = self._open_journal()
            write_all(self._journal, line)
        except OSError as error:
            self._close_journal()
            raise OSError(error.errno or 0, error.strerror or str(error), str(self.path / JOURNAL)) from None

    def _check_is_there(self) -> None:
        """Raise OSError where the locked folder is gone: what is written there now would be half of a study."""
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat((self.path / _LOCK).stat(), os.fstat(self._lock)):
                return
        raise OSError(errno.ENOENT, "was moved or removed while its study was played", str(self.path))

    def _open_journal(self) -> int:
        path = self.path / JOURNAL
        journal = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        size = os.fstat(journal).st_size
        if size and os.pread(journal, 1, size - 1) != b"\n":
            os.write(journal, b"\n")
        return journal

    def close(self) -> None:
        """Unlock the folder."""
        self._close_journal()
        # by now the number may be another file's
        descriptor, self._lock = self._lock, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _close_journal(self) -> None:
        """Close the journal; whoever opens it again sees to a last line that is not whole."""
        if self._journal is not None:
            os.close(self._journal)
            self._journal = None


def is_being_played(folder: Path) -> bool:
    """Return whether a run is playing the study of a folder at this moment."""
    return is_locked(folder / _LOCK)


def set_aside(record: Path) -> Path | None:
    """Move a study's record that is not whole out of the way, under a name that nobody takes for a record's.

    Returns:
        Where it is now; None if there was none.
    """
    if not record.exists():
        return None
    aside = record.parent.parent / ASIDE
    aside.mkdir(exist_ok=True)
    number = 1
    while (target := aside / f"{record.stem}.{number}.partial").exists():
        number += 1
    return record.rename(target)


_STATES: Final = ("ended", "halted", "stopped", "failed", "pending")
_WINNERS: Final = ("villagers", "werewolves", "nobody")
_SUMMED: Final = ("statements", "judgements", "calls", "answers")
_PLANNED: Final = ("number", "game", "block", "record", "brains")
"""What is noted of a game before it is played. Not its seed, which tells who will be what."""
_OUTCOME: Final = ("state", "winner", "rounds", "digest", "head", "error", "seconds")
_PENDING: Final = {**dict.fromkeys(_OUTCOME), "state": "pending"}


class Manifest:
    """The manifest of a study that is played. It holds a row of text per game, not the games.

    Args:
        head: what stands before the games, from the study's name to its design.
        games: all games as planned; they are pending until `put` says otherwise.
        created: when the study was begun, as ISO 8601.
        seed_of: returns the seed of a game by its number.
    """

    def __init__(
        self, head: Mapping[str, Any], games: Iterable[PlannedGame], created: str, seed_of: Callable[[int], str]
    ) -> None:
        self._head = dict(head)
        self._seed_of = seed_of
        self._created = created
        self._rows = [_text({**{name: getattr(game, name) for name in _PLANNED}, **_PENDING}) for game in games]
        self._heads: list[tuple[str, str]] = []
        self._costs: list[float] = []
        self._sums: Counter[str] = Counter()
        self.played: dict[int, tuple[str, ...]] = {}
        """Who played, by number, of games whose plan does not say."""
        self.wins: Counter[str] = Counter()
        """Ended games by who won: "villagers", "werewolves", "nobody"."""
        self.defaults: Counter[str] = Counter()
        """Answers that are defaults, by why; see `wolfbus.messages.defaults.cause_of`."""
        self.served: dict[str, dict[str, None]] = {}
        """What servers say of the models that answered, by the one that was asked."""
        self.spoilt: list[str] = []
        """Ended games that are spoilt, by id."""
        self.states: Counter[str] = Counter(pending=len(self._rows))
        """Games by state."""

    def put(self, result: GameResult) -> None:
        """Add the result of a game, which is pending until then."""
        self.states["pending"] -= 1
        self.states[result.state] += 1
        if result.state == "ended":
            self.wins[result.winner or "nobody"] += 1
            self._heads.append((result.game, result.head))
            self.defaults.update(result.defaults)
            self.spoilt += [result.game] if result.spoilt else []
            for model, names in result.served.items():
                self.served.setdefault(model, {}).update(dict.fromkeys(names))
        if result.cost_usd is not None:
            self._costs.append(result.cost_usd)
        self._sums.update({name: getattr(result, name) for name in _SUMMED})
        outcome = {name: getattr(result, name) for name in _OUTCOME}
        outcome |= {"head": result.head or None, "seconds": round(result.seconds, 3)}
        if result.spoilt:
            outcome["spoilt"] = result.spoilt
        if result.brains:
            self.played[result.number] = result.brains
            outcome["brains"] = result.brains
        row = {"number": result.number, "game": result.game}
        if result.state == "ended":
            # it stands in the record, for all to see
            row["seed"] = self._seed_of(result.number)
        self._rows[result.number - 1] = _text(row | json.loads(self._rows[result.number - 1]) | outcome)

    @property
    def cost_usd(self) -> float | None:
        """What model calls of the games cost, as far as known; None where nothing is."""
        return math.fsum(self._costs) if self._costs else None

    @property
    def calls(self) -> int:
        """Model calls of the games that have ended."""
        return self._sums["calls"]

    @property
    def done(self) -> int:
        """Games that ended, halted or failed."""
        return self.states["ended"] + self.states["halted"] + self.states["failed"]

    @property
    def design(self) -> dict[str, Any]:
        """The member of that name."""
        return dict(self._head["design"])

    @property
    def canaries(self) -> list[dict[str, Any]]:
        """What models answered to canary questions, in the order in which they were asked."""
        return list(self._head.get("canaries") or ())

    def amend(self, **members: Any) -> None:
        """Set members of the head that were not known before."""
        self._head |= members

    def totals(self) -> dict[str, Any]:
        """Return the sums over all games."""
        return {
            "games": len(self._rows),
            **{state: self.states[state] for state in _STATES},
            **{winner: self.wins[winner] for winner in _WINNERS},
            **{name: self._sums[name] for name in _SUMMED},
            "defaults": self.defaults.total(),
            "spoilt": len(self.spoilt),
            "cost_usd": None if self.cost_usd is None else round(self.cost_usd, 9),
        }

    @property
    def study_hash(self) -> str | None:
        """Hash over the records of all games that have ended; see `study_hash`."""
        return study_hash(self._heads)

    @property
    def complete(self) -> bool:
        """Whether every game has ended."""
        return self.states["ended"] == len(self._rows)

    def pieces(self, updated: str) -> Iterator[str]:
        """Yield the manifest as pieces of JSON text, one line a game."""
        members = {**self._head, "created": self._created, "updated": updated, "complete": self.complete}
        members |= {"study_hash": self.study_hash, "totals": self.totals()}
        head = json.dumps(members, ensure_ascii=False, allow_nan=False, indent=1)
        yield f'{head[:-2]},\n "games": [\n'
        for row in self._rows[:-1]:
            yield f"  {row},\n"
        yield f"  {self._rows[-1]}\n"
        yield " ]\n}\n"


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def utc_now() -> str:
    """Return the time of day as manifests state it, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _kind(design: Any) -> Any:
    return design.get("kind") if isinstance(design, dict) else design


def first_difference(head: Mapping[str, Any], noted: Mapping[str, Any]) -> str | None:
    """Return the first setting in which a study differs from the one in its folder, in words; None if none does.

    More games and another budget are no difference, and neither are a price that a model lacked and the versions of
    what plays it.

    Args:
        head: the manifest's head of the study that is to be played.
        noted: the manifest in the folder.
    """
    if (house := noted.get("house")) is not None and head.get("house") is None:
        return f"its seats are played by agents of a house: add --house {house}, and its --bus"
    if house is None and head.get("house") is not None:
        return "it was begun without --house"
    if bool(noted.get("tickets")) != bool(head.get("tickets")):
        begun = "with" if noted.get("tickets") else "without"
        return f"it was begun {begun} --tickets, and goes on in the same way only"
    # of whoever joins, the folder says who did
    agents = () if head["design"].get("kind") == "joined" else ("agents",)
    # metrics are declared before a study is played, and never after
    declared = tuple(name for name in ("primary", "margins") if name in noted)
    for name in (SEED_HASH, "config", *agents, "seats", "design", "models", "prompts", *declared):
        new, old = head.get(name), noted.get(name)
        if name == "design":
            new, old = _kind(new), _kind(old)
        elif name == "models" and new and old:
            new = {alias: _priced_like(model, old.get(alias)) for alias, model in new.items()}
        if (place := _first_unequal(new, old, name)) is not None:
            # hashes would tell nobody which seed is meant
            return "seed: another is told than the folder's study has" if name == SEED_HASH else place
    games = noted.get("games")
    count = len(games) if isinstance(games, list) else 0
    if head["design"]["games"] < count:
        return f"games: {head['design']['games']} are told, and the folder's study has {count}; it can only grow"
    return None


def _priced_like(model: Any, other: Any) -> Any:
    """Return a model without its price where the other has none: to know it changes no answer."""
    is_unpriced = isinstance(model, dict) and isinstance(other, dict) and other.get("price") is None
    return {**model, "price": None} if is_unpriced else model


def _first_unequal(new: Any, old: Any, place: str) -> str | None:
    # a tuple that went through JSON is a list
    new = list(new) if isinstance(new, tuple) else new
    if isinstance(new, dict) and isinstance(old, dict):
        members = dict.fromkeys([*new, *old])
        places = (_first_unequal(new.get(name), old.get(name), f"{place}.{name}") for name in members)
        return next(filter(None, places), None)
    if new == old:
        return None
    texts = [json.dumps(value, ensure_ascii=False, default=str) for value in (new, old)]
    short = [text if len(text) <= 60 else f"{text[:57]}…" for text in texts]
    return f"{place}: {short[0]} is told, and the folder's study has {short[1]}"


def _lives(holder: str) -> bool:
    """Return whether a process with this number is there; if it is this one, it holds the folder already."""
    if not holder.isdecimal():
        return False
    try:
        os.kill(int(holder), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        # another user's
        pass
    return True

"""Files of other tables, brought over into a folder: one log of the small form a game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wolfbus.errors import ConfigError, RecordError, WolfError, reason_of
from wolfbus.files.canonical import sha256_hex
from wolfbus.files.whole_file import read_whole, write_whole
from wolfbus.foreign.kinds import ImportSource, hint_for, kind_of, recognised
from wolfbus.foreign.log import ForeignLog

_LONGEST: Final = 1 << 28
"""Bytes of a file that is read; a replay of a long game of models takes some ten million."""


@dataclass(slots=True)
class Imported:
    """What came of an import.

    Attributes:
        games: the games that are now in the folder, with the file that each was read from; each once.
        again: files that hold a game which was brought over from another file, or was in the folder.
        problems: what could not be read, a line each that names file and place.
        left_out: what was not brought over, counted by kind.
    """

    games: dict[str, ForeignLog] = field(default_factory=dict)
    again: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def import_files(kind: str, files: Sequence[Path], folder: Path, roles: Path | None = None) -> Imported:
    """Bring the games of some files over.

    A file of which a line cannot be read brings no game over. Nothing that is in the folder is changed: a game that is
    there already is left as it is.

    Args:
        kind: what the files are: one of `wolfbus.foreign.kinds.KINDS`.
        files: the files.
        folder: where the logs go, made if need be; each is called after its game.
        roles: the run_meta.json of logs of the paper's code; None to look beside each.

    Raises:
        ConfigError: the folder cannot be made or written to, or holds another file of a game's name.
    """
    imported = Imported()
    for path in files:
        try:
            logs = list(_logs_of(kind, path, roles, imported.left_out))
        except WolfError as error:
            # one that cannot be opened is named already
            hint = hint_for(path) if recognised(path) not in {kind, None} else ""
            imported.problems.append(f"{path}: {str(error).removeprefix(f'{path}: ')}{hint}")
            continue
        for log in logs:
            _write(log, path, folder, imported)
    return imported


def _logs_of(kind: str, path: Path, roles: Path | None, left_out: Counter[str]) -> Iterator[ForeignLog]:
    content = read_whole(path, _LONGEST)
    if not content.strip():
        raise RecordError("empty; there is no game in it")
    digest = sha256_hex(content)
    source = ImportSource(path, content, roles)
    builders = list(kind_of(kind).games(source))
    if not any(game.seats for game in builders):
        raise RecordError(f"there is no seat in it, so it is not {kind_of(kind).TITLE}")
    for game in builders:
        yield game.log(kind, path.name, digest)
    left_out.update(_sums(game.left_out for game in builders))
    left_out["bytes that are no UTF-8, with a sign in the place of each"] += source.lines_with_other_bytes()


def _sums(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())


def _write(log: ForeignLog, path: Path, folder: Path, imported: Imported) -> None:
    """Write a log, unless its game is there."""
    game = log.head.game
    if game in imported.games:
        first = imported.games[game].head.file
        imported.again.append(f"{path}: the same game as in {first}; it counts once, as {game}")
        return
    imported.games[game] = log
    target = folder / f"{game}.ndjson"
    pieces = list(log.pieces())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            write_whole(target, pieces)
            return
        # another name of the same file is no other game
        if target.read_bytes().partition(b"\n")[2] != b"".join(pieces[1:]):
            raise ConfigError(f"{target}: there is another log of this name; it is left as it is")
        imported.again.append(f"{path}: its game is in {target} already")
    except OSError as error:
        raise ConfigError(f"{error.filename or target}: {reason_of(error)}") from None

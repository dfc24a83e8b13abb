"""`Cache`: what records came to when they were read before, kept beside them in a hidden folder.

Nothing here is trusted over a record. What is kept lies under a hash over all that went into it: every byte of the
records, what a study noted of them, how to compute, and the program itself. So a record that changed, another version
or another option finds nothing, and is read anew. What is found was sealed with a secret of this user's, so a folder
that somebody else made brings no figures along; whoever has this user's rights can change both.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

import analytics
import wolfbus
from wolfbus.errors import ConfigError
from wolfbus.whole_file import OWNER, read_whole, write_whole

FOLDER: Final = ".wolfbus"
"""Hidden, beside the records; it may be removed at any time."""

_LARGEST: Final = 1 << 30
_HASH: Final = 32
"""Bytes of a key, and of the seal before it."""
_LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "jinja2", "pydantic")
_ROOMS: Final = ("messages", "record", "study", "document")
"""Of wolfbus, what measuring rests on, beside its own files; all of analytics does."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of results that were computed before; safe for any number of processes.

    Attributes:
        folder: where it is; made when there is something to keep.
        secret: seals what is kept.
    """

    folder: Path
    secret: bytes

    def recall(self, name: str, key: bytes) -> bytes | None:
        """Return what was kept under a key; None if nothing was, or what is there is not what was kept.

        Args:
            name: of the file.
            key: hash over all that the content follows from.
        """
        try:
            there = read_whole(self.folder / name, _LARGEST)
        except ConfigError:
            return None
        seal, rest = there[:_HASH], there[_HASH:]
        if rest[:_HASH] != key or not hmac.compare_digest(seal, self._seal(name, rest)):
            return None
        return rest[_HASH:]

    def keep(self, name: str, key: bytes, content: bytes) -> None:
        """Keep a result in place of what the file holds; where it cannot be written, go on without."""
        rest = key + content
        if len(rest) >= _LARGEST or self.folder.is_symlink():
            return
        try:
            self.folder.mkdir(exist_ok=True)
            write_whole(self.folder / name, [self._seal(name, rest), rest])
        except OSError:
            # a full disk, or a folder that belongs to somebody else: the next report reads the records again
            return

    def _seal(self, name: str, rest: bytes) -> bytes:
        return hashlib.blake2b(rest, key=self.secret, digest_size=_HASH, person=hash_of(name)[:16]).digest()


def cache_beside(record: Path) -> Cache | None:
    """Return the cache of the folder that holds a record; None where this user can keep no secret."""
    secret = _secret()
    return None if secret is None else Cache(record.parent / FOLDER, secret)


def hash_of(*parts: object) -> bytes:
    """Return a hash, 32 bytes, over the `repr` of values that have a stable one."""
    found = hashlib.sha256()
    for part in parts:
        told = repr(part).encode(errors="surrogatepass")
        found.update(b"%d:" % len(told) + told)
    return found.digest()


def hash_of_file(path: Path) -> bytes:
    """Return the SHA-256 of a file's bytes; raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def program() -> bytes:
    """Return a hash over the program: its files, its libraries' versions, and Python's."""
    rooms = Path(wolfbus.__file__).parent
    files = [
        *Path(analytics.__file__).parent.rglob("*"),
        *rooms.glob("*.py"),
        *(path for room in _ROOMS for path in (rooms / room).rglob("*")),
    ]
    contents = (
        (str(path), hash_of_file(path)) for path in sorted(files) if path.is_file() and "__pycache__" not in path.parts
    )
    return hash_of(wolfbus.__version__, sys.version, *_versions(_LIBRARIES), *contents)


def _versions(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name} none"


@cache
def _secret() -> bytes | None:
    """Return this user's secret, made when it is first asked for; None where it cannot be kept."""
    try:
        path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wolfbus" / "secret"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, [secrets.token_bytes(_HASH)], mode=OWNER)
        # of two that made one at once the later stands
        secret = read_whole(path, _HASH)
    except (OSError, RuntimeError, ConfigError):
        return None
    return secret if len(secret) == _HASH else None

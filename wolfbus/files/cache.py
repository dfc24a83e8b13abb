"""`Cache`: what records came to when they were read before, kept beside them in a hidden folder.

Nothing here is trusted over a record. What is kept lies under a hash over all that it follows from, and was sealed with
a secret of this user's, so a folder that somebody else made brings nothing along; whoever has this user's rights can
change both.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wolfbus.errors import ConfigError
from wolfbus.files.user_secret import is_sealed, seal_of, user_secret
from wolfbus.files.whole_file import read_whole, write_whole

FOLDER: Final = ".wolfbus"
"""Hidden, beside the records; it may be removed at any time."""

_LARGEST: Final = 1 << 30
_HASH: Final = 32
"""Bytes of a key, and of the seal before it."""


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
            content = read_whole(self.folder / name, _LARGEST)
        except ConfigError:
            return None
        seal, body = content[:_HASH], content[_HASH:]
        if body[:_HASH] != key or not is_sealed(self.secret, hash_of(name)[:16], body, seal):
            return None
        return body[_HASH:]

    def keep(self, name: str, key: bytes, content: bytes) -> None:
        """Keep a result in place of what the file holds; where it cannot be written, go on without."""
        body = key + content
        if len(body) >= _LARGEST or self.folder.is_symlink():
            return
        try:
            self.folder.mkdir(exist_ok=True)
            write_whole(self.folder / name, [seal_of(self.secret, hash_of(name)[:16], body), body])
        except OSError:
            # a full disk, or a folder that belongs to somebody else: the next report reads the records again
            return


def cache_in(folder: Path) -> Cache | None:
    """Return the cache of a folder of records; None where this user can keep no secret."""
    secret = user_secret()
    return None if secret is None else Cache(folder / FOLDER, secret)


def hash_of(*parts: object) -> bytes:
    """Return a hash, 32 bytes, over the `repr` of values that have a stable one."""
    digest = hashlib.sha256()
    for part in parts:
        text = repr(part).encode(errors="surrogatepass")
        digest.update(b"%d:" % len(text) + text)
    return digest.digest()

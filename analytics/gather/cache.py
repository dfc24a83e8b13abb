"""What records came to when they were read before, in the cache beside them (`wolfbus.files.cache`).

It lies there under a hash over all that went into it: every byte of the records, what a study noted of them, how to
compute, and the program itself. So a record that changed, another version or another option finds nothing, and is read
anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgpack

import analytics
import wolfbus
from analytics.gather.reading import Criteria
from analytics.gather.sources import FileNote, Source, digest_of
from analytics.replies import Ledger
from analytics.tables import Tables, restored
from wolfbus.files.cache import Cache, cache_in, hash_of
from wolfbus.record.published_log import meta_beside

T = TypeVar("T")

BatchResult: TypeAlias = tuple[Ledger, Tables, list[FileNote]]
"""What a batch came to."""

_NAMES: Final = "surrogatepass"
"""Names of files need not be UTF-8; Python has surrogates for the bytes that are not."""
_LIBRARIES: Final = ("numpy", "polars", "scipy", "scikit-learn", "jinja2", "pydantic")


def hash_of_file(path: Path) -> bytes:
    """Return the SHA-256 of a file's bytes; raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def program() -> bytes:
    """Return a hash over the program: its files, its libraries' versions, and Python's."""
    files = [path for package in (analytics, wolfbus) for path in Path(str(package.__file__)).parent.rglob("*")]
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


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """Some of the files, read together.

    Attributes:
        sources: the files, in order.
        blocks: the blocks of those of their games that have one, by game.
        criteria: how to compute, and what to count.
    """

    sources: tuple[Source, ...]
    blocks: Mapping[str, str]
    criteria: Criteria

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(source.size for source in self.sources)

    @property
    def name(self) -> str:
        """Name of the file that keeps what it came to: that of the first record, and of how to compute."""
        return f"rows-{hash_of(str(self.sources[0].path), self._criteria).hex()[:24]}"

    def key(self) -> bytes | None:
        """Return a hash over all that the batch comes to follows from, the bytes of every file included; None where one
        cannot be read, or records are to be re-executed.
        """
        if self.criteria.prover is not None:
            return None
        try:
            files = [hash_of_file(path) for source in self.sources for path in self._files_of(source)]
        except OSError:
            return None
        return hash_of(program(), self._criteria, self.sources, sorted(self.blocks.items()), files)

    @property
    def _criteria(self) -> Criteria:
        # a function's address says nothing
        return replace(self.criteria, prover=None)

    def _files_of(self, source: Source) -> list[Path]:
        if source.problem is not None or source.kind is None:
            return []
        meta = (self.criteria.roles or meta_beside(source.path)) if source.kind == "paper" else None
        return [source.path] if meta is None else [source.path, meta]


def kept_digest(path: Path) -> str | None:
    """Return what `digest_of` does, from the cache beside a record that has been read for it before."""
    cache = cache_in(path.parent)
    try:
        key = hash_of(program(), hash_of_file(path))
    except OSError:
        return None
    name = f"digest-{hash_of(path.name).hex()[:24]}"
    content = None if cache is None else cache.recall(name, key)
    if content is not None:
        return content.decode() or None
    digest = digest_of(path)
    if cache is not None:
        cache.keep(name, key, (digest or "").encode())
    return digest


def keep(cache: Cache, batch: SourceBatch, key: bytes | None, result: BatchResult) -> None:
    """Keep what a batch came to.

    Args:
        cache: where to.
        batch: the files.
        key: its key before it was read; if a file has changed since then, nothing is kept.
        result: what it came to.
    """
    if key is None or batch.key() != key:
        return
    ledger, tables, notes = result
    value = {"ledger": ledger.state(), "tables": tables.state(), "notes": [asdict(note) for note in notes]}
    cache.keep(batch.name, key, msgpack.packb(value, unicode_errors=_NAMES))


def recall(cache: Cache, batch: SourceBatch, key: bytes | None) -> BatchResult | None:
    """Return what a batch with this key came to; None if that is not known."""
    content = None if key is None else cache.recall(batch.name, key)
    if content is None:
        return None
    value = msgpack.unpackb(content, strict_map_key=False, unicode_errors=_NAMES)
    ledger = Ledger()
    ledger.restore(value["ledger"])
    notes = [FileNote(**{**note, "compared": tuple(note["compared"])}) for note in value["notes"]]
    return ledger, restored(value["tables"]), notes


@dataclass(frozen=True, slots=True)
class Basis:
    """What was read with a cache, for results that follow from it.

    Attributes:
        cache: where results may be kept.
        key: hash over all that was read.
        batches: the files, with the key of each batch.
    """

    cache: Cache
    key: bytes
    batches: Sequence[tuple[SourceBatch, bytes]]

    @property
    def names(self) -> list[str]:
        """Names of the batches, which stay when their files change."""
        return [batch.name for batch, _ in self.batches]

    @property
    def unchanged(self) -> bool:
        """Whether every file still holds what was read."""
        return all(batch.key() == key for batch, key in self.batches)


def once(name: str, bases: Sequence[Basis | None], make: Callable[[], T], *how: object) -> T:
    """Return a result, the one that was made before if it is of the very same files.

    Args:
        name: what it is.
        bases: what was read for it, in order; any None makes it anew.
        make: makes it: a value that JSON gives back as it was.
        how: all that it follows from beside what was read; values whose `repr` is stable.
    """
    cached = [basis for basis in bases if basis is not None]
    if len(cached) < len(bases):
        return make()
    cache, key = cached[0].cache, hash_of(name, [basis.key for basis in cached], how)
    file = f"{name}-{hash_of([basis.names for basis in cached], how).hex()[:24]}"
    content = cache.recall(file, key)
    if content is not None:
        result: T = json.loads(zlib.decompress(content))
        return result
    result = make()
    if all(basis.unchanged for basis in cached):
        cache.keep(file, key, zlib.compress(json.dumps(result, allow_nan=False).encode(), 1))
    return result

"""Parts of what is read, as a `Cache` keeps them: each under a hash over all that its games, sums and notes follow
from.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgpack

from analytics.columns import ColumnsBuilder
from analytics.gather.cache import Cache, hash_of, hash_of_file, program
from analytics.gather.reading import Criteria, FileNote
from analytics.gather.sources import Source
from analytics.measures.ledger import Ledger
from wolfbus.record.published_log import meta_beside

T = TypeVar("T")

Read: TypeAlias = tuple[Ledger, ColumnsBuilder, list[FileNote]]
"""What a batch came to."""


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
        return f"rows-{hash_of(str(self.sources[0].path), self._how).hex()[:24]}"

    def key(self) -> bytes | None:
        """Return a hash over all that the part comes to follows from, the bytes of every file included; None where one
        cannot be read, or records are to be re-executed.
        """
        if self.criteria.prover is not None:
            return None
        try:
            files = [hash_of_file(path) for source in self.sources for path in self._files_of(source)]
        except OSError:
            return None
        told = [
            (str(each.path), each.kind, each.game, each.size, each.problem, each.noted, each.stray)
            for each in self.sources
        ]
        return hash_of(program(), self._how, told, sorted(self.blocks.items()), files)

    @property
    def _how(self) -> tuple[object, ...]:
        how = self.criteria
        return how.alpha, how.prior, how.include_defaulted, how.as_recorded, str(how.roles), how.include_differing

    def _files_of(self, source: Source) -> list[Path]:
        if source.problem is not None or source.kind is None:
            return []
        meta = (self.criteria.roles or meta_beside(source.path)) if source.kind == "paper" else None
        return [source.path] if meta is None else [source.path, meta]


def keep(cache: Cache, part: SourceBatch, key: bytes | None, read: Read) -> None:
    """Keep what a part came to.

    Args:
        cache: where to.
        part: the files.
        key: its key before it was read; if a file has changed since then, nothing is kept.
        read: what it came to.
    """
    if key is None or part.key() != key:
        return
    ledger, builder, notes = read
    value = {"ledger": ledger.state(), "columns": builder.state(), "notes": [asdict(note) for note in notes]}
    cache.keep(part.name, key, msgpack.packb(value))


def recall(cache: Cache, part: SourceBatch, key: bytes | None) -> Read | None:
    """Return what a part with this key came to; None if that is not known."""
    content = None if key is None else cache.recall(part.name, key)
    if content is None:
        return None
    value = msgpack.unpackb(content, strict_map_key=False)
    ledger, builder = Ledger(), ColumnsBuilder()
    ledger.restore(value["ledger"])
    builder.restore(value["columns"])
    notes = [FileNote(**{**note, "compared": tuple(note["compared"])}) for note in value["notes"]]
    return ledger, builder, notes


@dataclass(frozen=True, slots=True)
class Basis:
    """What was read with a cache, for results that follow from it.

    Attributes:
        cache: where results may be kept.
        key: hash over all that was read.
        parts: the files, with the key of each part.
    """

    cache: Cache
    key: bytes
    parts: Sequence[tuple[SourceBatch, bytes]]

    @property
    def names(self) -> list[str]:
        """Names of the parts, which stay when their files change."""
        return [part.name for part, _ in self.parts]

    @property
    def unchanged(self) -> bool:
        """Whether every file still holds what was read."""
        return all(part.key() == key for part, key in self.parts)


def once(name: str, bases: Sequence[Basis | None], make: Callable[[], T], *how: object) -> T:
    """Return a result, the one that was made before if it is of the very same files.

    Args:
        name: what it is.
        bases: what was read for it, in order; any None makes it anew.
        make: makes it: a value that JSON gives back as it was.
        how: all that it follows from beside what was read; values whose `repr` is stable.
    """
    known = [basis for basis in bases if basis is not None]
    if len(known) < len(bases):
        return make()
    cache, key = known[0].cache, hash_of(name, [basis.key for basis in known], how)
    file = f"{name}-{hash_of([basis.names for basis in known], how).hex()[:24]}"
    content = cache.recall(file, key)
    if content is not None:
        kept: T = json.loads(zlib.decompress(content))
        return kept
    made = make()
    if all(basis.unchanged for basis in known):
        cache.keep(file, key, zlib.compress(json.dumps(made, allow_nan=False).encode(), 1))
    return made

"""`study_hash`: one hash for all records of a study, which whoever publishes it can be held to."""

from __future__ import annotations

from collections.abc import Iterable

from wolfbus.canonical import canonical, sha256_hex


def study_hash(heads: Iterable[tuple[str, str]]) -> str | None:
    """Return the SHA-256, 64 hex digits, over game id and head of every ended game.

    It is taken over one line of canonical JSON a game, ``["GAME","HEAD"]`` and a line feed, in the
    order of the games' ids. A head is the hash on a record's last line, which follows from every
    byte of the record.

    Args:
        heads: (game id, head) of each game.

    Returns:
        The hash; None if there is no game, or one whose head nobody knows.
    """
    told = sorted(heads)
    if not told or not all(head for _, head in told):
        return None
    return sha256_hex(*(canonical([game, head]) + b"\n" for game, head in told))

"""Lines out of bytes."""

from __future__ import annotations

from players.program.protocol import LONGEST, Overlong, Splitter


def test_a_line_without_end_is_told_once_and_skipped_to_its_end():
    splitter, found = Splitter(), []
    for _ in range(3 * LONGEST // 50_000):
        found += splitter.feed(b"x" * 50_000)
        assert sum(map(len, splitter._pieces)) <= LONGEST + 50_000
    assert found == [Overlong(b"x" * 4096)]
    assert list(splitter.feed(b'xx\n{"bid": 1}\n')) == [b'{"bid": 1}']

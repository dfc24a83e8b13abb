"""Lines out of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from players.program.protocol import LONGEST, Overlong, Splitter


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b""))), st.data())
def test_lines_are_the_same_however_the_bytes_arrive(lines, data):
    stream = b"".join(line + b"\n" for line in lines)
    splitter, found = Splitter(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == [line for line in lines if line.strip()]


def test_a_line_without_end_is_told_once_and_skipped_to_its_end():
    splitter, found = Splitter(), []
    for _ in range(3 * LONGEST // 50_000):
        found += splitter.feed(b"x" * 50_000)
        assert sum(map(len, splitter._pieces)) <= LONGEST + 50_000
    assert found == [Overlong(b"x" * 4096)]
    assert list(splitter.feed(b'xx\n{"bid": 1}\n')) == [b'{"bid": 1}']

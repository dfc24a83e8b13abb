import gzip
import hashlib
import inspect
import io
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.game.driver import play
from tests.record import synthetic
from wolfbus.errors import RecordError
from wolfbus.messages.events import AnyEvent
from wolfbus.record.line import Recorded, seal
from wolfbus.record.reader import RecordReader, open_lines, read_record

EVENTS = synthetic.small_game()
LINES = synthetic.record(EVENTS)
WHOLE = b"".join(LINES)


def split(data: bytes) -> list[bytes]:
    """As a file gives them: only `\\n` ends a line."""
    return io.BytesIO(data).readlines()


def problem(data: bytes | list[bytes], *, lenient_too: bool = True) -> RecordError:
    lines = split(data) if isinstance(data, bytes) else data
    lenient = read_record(lines, tolerant=True, lenient=True)
    read = list(lenient)
    with pytest.raises(RecordError) as caught:
        list(read_record(lines))
    assert str(caught.value).isprintable()
    tolerant = read_record(lines, tolerant=True)
    good = list(tolerant)
    assert str(tolerant.problem) == str(caught.value)
    assert tolerant.count == len(good) == (caught.value.line or 1) - 1
    if lenient_too:
        assert (read, str(lenient.problem)) == (good, str(caught.value))
    assert list(tolerant) == []
    return caught.value


def sealed(events: list[AnyEvent], numbers: list[int] | None = None) -> list[bytes]:
    """Lines whose seals all hold, whatever they say."""
    pairs = zip(numbers or range(1, len(events) + 1), events, strict=True)
    return synthetic.lines_of(Recorded(n, 1.0, "researchers", event) for n, event in pairs)


def test_a_record_reads_back_as_it_was_written() -> None:
    reader = read_record(LINES)
    records = list(reader)
    assert [recorded.event for recorded in records] == EVENTS
    assert [recorded.n for recorded in records] == list(range(1, len(EVENTS) + 1))
    assert [recorded.time for recorded in records[:3]] == [0.0, 0.125, 0.25]
    assert reader.count == len(EVENTS)
    assert reader.head == records[-1].hash
    assert reader.opened == EVENTS[0]
    assert reader.ended
    assert reader.problem is None


def test_a_record_that_stops_before_the_end_is_whole_as_far_as_it_goes() -> None:
    for count in range(1, len(LINES)):
        reader = read_record(LINES[:count])
        assert len(list(reader)) == count
        assert not reader.ended


def test_lines_are_read_one_by_one_as_they_come() -> None:
    numbers: list[int] = []

    def lines() -> object:
        for number, line in enumerate(LINES, 1):
            numbers.append(number)
            yield line

    reader = read_record(lines())  # type: ignore[arg-type]
    next(reader)
    next(reader)
    assert numbers == [1, 2]


def test_a_file_is_closed_at_its_first_wrong_line(tmp_path: Path) -> None:
    (tmp_path / "wrong.ndjson").write_bytes(LINES[0] + b"{}\n" + LINES[1])
    lines = open_lines(tmp_path / "wrong.ndjson")
    assert len(list(read_record(lines, tolerant=True))) == 1
    assert inspect.getgeneratorstate(lines) == inspect.GEN_CLOSED


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def forged(members: dict[str, Any], previous: str = "") -> bytes:
    """A line with these members, under a seal that holds."""
    seal = hashlib.sha256(previous.encode() + canonical(members)).hexdigest()
    return canonical({**members, "hash": seal}) + b"\n"


def damaged() -> Iterator[tuple[str, bytes | list[bytes], str]]:
    """Records that are not what was written: what was done to each, its lines, and what is said of it."""
    mismatch = "the hash does not match: this line was edited, or lines before it are missing, added or moved"
    second = "a second record begins here; a file holds one"
    last = len(LINES)
    for cut in (1, 20, len(LINES[4]) - 2):
        yield f"cut at {cut}", b"".join(LINES[:4]) + LINES[4][:cut], "5: cut off in the middle; 4 whole lines before it"
    yield "no last newline", b"".join(LINES[:2])[:-1], "2: cut off in the middle; 1 whole line before it"
    yield "first line cut", LINES[0][:100], "1: cut off in the middle; 0 whole lines before it"
    yield "edited", [*LINES[:8], LINES[8].replace(b"Vic", b"Wes"), *LINES[9:]], f"9: {mismatch}"
    for text, reason in (
        (b"hello\n", "not JSON (expected value, column 1); this line was edited or added"),
        (b"[1]\n", "not a JSON object; this line was edited or added"),
        (b'{"v":1}\n', "no hash; this is no line of a wolfbus record"),
        (LINES[4].replace(b"a", b"\xff", 1), "not UTF-8 (byte 3 of the line); this line was edited"),
    ):
        yield f"edited into {text[:5]!r}", [*LINES[:4], text, *LINES[5:]], f"5: {reason}"
    for missing in range(last - 1):
        reason = (
            f"number {missing + 2} stands where {missing + 1} was expected: 1 line before it removed, or lines moved"
        )
        yield f"without {missing + 1}", LINES[:missing] + LINES[missing + 1 :], f"{missing + 1}: {reason}"
        swapped = [*LINES[:missing], LINES[missing + 1], LINES[missing], *LINES[missing + 2 :]]
        yield f"{missing + 1} swapped", swapped, f"{missing + 1}: number {missing + 2} stands where"
    yield "six missing", LINES[:2] + LINES[8:], "3: number 9 stands where 3 was expected: 6 lines before it removed"
    other = synthetic.record([synthetic.opened("g-2"), *EVENTS[1:]])
    for at in range(1, last):
        reason = f"number {at + 1} stands where {at + 2} was expected: a line repeated, added or moved"
        yield f"{at + 1} repeated", [*LINES[: at + 1], LINES[at], *LINES[at + 1 :]], f"{at + 2}: {reason}"
        yield f"{at + 1} of another", [*LINES[:at], other[at], *LINES[at:]], f"{at + 1}: {mismatch}"
    for place in (0, 3, last):
        reason = "a blank line; a record has none" if place else "not a wolfbus record"
        for blank in (b"\n", b"  \n"):
            yield f"blank at {place}", [*LINES[:place], blank, *LINES[place:]], f"{place + 1}: {reason}"
    yield "two records", LINES + LINES, f"{last + 1}: {second}"
    yield "sealed second opening", sealed([EVENTS[0], EVENTS[0]]), f"2: {second}"
    yield "sealed without opening", sealed(EVENTS[8:]), '1: begins with "dawn", not with "opened"'
    numbered = "2: number 3 stands where 2 was expected: 1 line before it removed, or lines moved"
    yield "sealed wrong numbers", sealed(EVENTS[:3], [1, 3, 4]), numbered
    for data in (
        b"seat,role\nRaj,Seer\n",
        b'{"name": "package"}\n',
        b"{\n  1: 2\n}\n",
        b"[1, 2]\n",
        b"\x89PNG\r\n\x1a\n",
        b"\x00" * 50,
        b"no newline",
        b"42\n",
        b"null",
    ):
        yield f"foreign {data[:9]!r}", data, "1: not a wolfbus record"
    yield "byte order mark", b"\xef\xbb\xbf" + WHOLE, "1: begins with a byte order mark"
    yield "UTF-16", WHOLE.decode().encode("utf-16"), "1: UTF-16; a record is UTF-8"
    crlf = "1: ends in CRLF, a record's lines in LF: its line ends were converted"
    yield "CRLF", WHOLE.replace(b"\n", b"\r\n"), crlf
    later = "1: protocol version {} is not spoken here; this build speaks 1"
    yield "version 2", LINES[0].replace(b'"v":1', b'"v":2'), later.format(2)
    bare = {"audience": "researchers", "game": "g", "n": 1, "time": 1.0, "type": "opened", "v": 7}
    yield "sealed version 7", forged(bare), later.format(7)
    rained = {"audience": "researchers", "n": 1, "time": 1.0, "type": "rained", "v": 1}
    yield "sealed unknown type", forged(rained), "1: Input tag 'rained'"


@pytest.mark.parametrize(("lines", "reason"), [pytest.param(*case, id=what) for what, *case in damaged()])
def test_what_is_not_as_it_was_written_is_named_with_its_line(lines: bytes | list[bytes], reason: str) -> None:
    assert str(problem(lines)).startswith(f"line {reason}")


def test_an_empty_file_is_no_record() -> None:
    error = problem(b"")
    assert (str(error), error.line) == ("an empty file; a record has at least one line", None)


def test_a_line_edited_and_sealed_anew_shows_at_the_next() -> None:
    _, line = seal("", Recorded(1, 1.0, "researchers", synthetic.opened("other")))
    assert len(list(read_record([line + b"\n"]))) == 1
    with pytest.raises(RecordError, match="line 2: the hash does not match"):
        list(read_record([line + b"\n", *LINES[1:]]))


def test_a_seal_hidden_in_the_content_is_none() -> None:
    inner = {"hash": "0" * 64, "z": 0}
    bare = {"audience": "researchers", "a": inner, "n": 1, "time": 1.0, "type": "dawn", "v": 1}
    text = canonical({**bare, "hash": "1" * 64})
    right = hashlib.sha256(text.replace(b'"hash":"' + b"0" * 64 + b'",', b"", 1)).hexdigest()
    assert problem(text.replace(b"0" * 64, right.encode(), 1) + b"\n").line == 1


def first_bad_line(data: bytes) -> int | None:
    reader = RecordReader(split(data), tolerant=True)
    for _ in reader:
        pass
    return reader.problem.line if reader.problem else None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda byte: [byte ^ 0x01],
        lambda byte: [byte ^ 0x80],
        lambda byte: [0x0A if byte != 0x0A else 0x20],
        lambda byte: [0x22] if byte != 0x22 else [],
        lambda _: [],
        lambda byte: [byte, byte],
    ],
    ids=["lowest bit", "highest bit", "newline", "quote", "removed", "doubled"],
)
def test_every_spoilt_byte_is_named_by_its_line(spoil: Callable[[int], list[int]]) -> None:
    # a few lines hold every kind of byte there is; the whole game would take minutes
    data = b"".join(LINES[:5])
    number = 1
    for place, byte in enumerate(data):
        spoilt = bytes(spoil(byte))
        # a doubled newline is a blank line, and that is the next one
        expected = number + (spoilt == b"\n\n")
        assert first_bad_line(data[:place] + spoilt + data[place + 1 :]) == expected, f"byte {place}"
        number += byte == 0x0A


class TestFiles:
    def test_gzip_is_known_by_its_bytes_not_by_its_name(self, tmp_path: Path) -> None:
        packed, plain = tmp_path / "game.ndjson", tmp_path / "game.ndjson.gz"
        # in several parts, as `cat` joins them
        packed.write_bytes(gzip.compress(WHOLE[:999]) + gzip.compress(WHOLE[999:]))
        plain.write_bytes(WHOLE)
        assert list(open_lines(packed)) == list(open_lines(plain)) == LINES

    def test_every_cut_of_a_gzip_is_named_with_what_came_before(self, tmp_path: Path) -> None:
        path = tmp_path / "game.gz"
        packed = gzip.compress(WHOLE)
        for end in range(2, len(packed), 37):
            path.write_bytes(packed[:end])
            reader = read_record(open_lines(path), tolerant=True)
            good = len(list(reader))
            lines = "1 whole line" if good == 1 else f"{good} whole lines"
            assert str(reader.problem) == f"line {good + 1}: the compressed file is cut off; {lines} before it"

    def test_a_damaged_gzip_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "game.gz"
        packed = bytearray(gzip.compress(WHOLE))
        packed[-6] ^= 1
        path.write_bytes(packed)
        with pytest.raises(RecordError, match="the compressed data is damaged"):
            list(read_record(open_lines(path)))
        path.write_bytes(b"\x1fhello")
        with pytest.raises(RecordError, match="line 1: the compressed data is damaged"):
            list(read_record(open_lines(path)))

    def test_an_endless_first_line_is_refused_before_it_fills_the_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "game.ndjson"
        with path.open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(RecordError, match="line 1: longer than 1 MiB; not a wolfbus record"):
            list(read_record(open_lines(path)))

    def test_later_lines_have_a_limit_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "game.ndjson"
        path.write_bytes(WHOLE + b"x" * (3 << 20))
        monkeypatch.setattr("wolfbus.record.reader.LINE_LIMIT", 2 << 20)
        with pytest.raises(RecordError, match=f"line {len(LINES) + 1}: longer than 2 MiB$"):
            list(read_record(open_lines(path)))

    def test_a_longer_line_than_any_buffer_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "game.ndjson"
        path.write_bytes(LINES[0] + b"x" * 300_000 + b"\n")
        assert [len(line) for line in open_lines(path)] == [len(LINES[0]), 300_001]

    @pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
    def test_standard_input_is_read_as_it_comes(self, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, writing = os.pipe()
        data = gzip.compress(WHOLE) if packed else WHOLE

        def feed() -> None:
            # the first byte alone, so that gzip must be known without the second
            os.write(writing, data[:1])
            os.write(writing, data[1:])
            os.close(writing)

        feeder = threading.Thread(target=feed)
        with os.fdopen(reading, encoding="utf-8") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            feeder.start()
            reader = read_record(open_lines("-"))
            assert [recorded.event for recorded in reader] == EVENTS
        feeder.join()

    def test_a_replaced_standard_input_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with io.TextIOWrapper(io.BytesIO(WHOLE)) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert list(open_lines("-")) == LINES
            assert not stdin.closed


class TestLenient:
    """Reading for measurement: quicker, by passing over members that nobody knows."""

    def test_it_gives_the_same_events_with_all_that_stands_around_them(self) -> None:
        played = synthetic.record(play(seed="lenient").events)
        for lines in (LINES, played):
            assert list(read_record(lines, lenient=True)) == list(read_record(lines))

    def test_a_member_that_nobody_knows_is_passed_over_in_a_line_that_is_sealed(self) -> None:
        members = {name: value for name, value in json.loads(LINES[2]).items() if name != "hash"}
        lines = [*LINES[:2], forged({**members, "zeal": 7}, json.loads(LINES[1])["hash"])]
        assert "zeal" in str(problem(lines, lenient_too=False))
        assert [recorded.event for recorded in read_record(lines, lenient=True)] == EVENTS[:3]

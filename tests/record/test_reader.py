from __future__ import annotations

import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.game.driver import play
from tests.record import synthetic
from wolfbus.canonical import canonical, sha256_hex
from wolfbus.errors import RecordError
from wolfbus.messages.events import AnyEvent, Ended
from wolfbus.record import reader as module
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
    assert [str(found) for found in tolerant.problems] == [str(caught.value)]
    assert tolerant.count == len(good) == (caught.value.line or 1) - 1
    assert [recorded.event for recorded in good] == EVENTS[: len(good)]
    if lenient_too:
        assert (read, [str(found) for found in lenient.problems]) == (good, [str(caught.value)])
    assert list(tolerant) == []
    return caught.value


def sealed(events: list[AnyEvent], numbers: list[int] | None = None) -> list[bytes]:
    """Lines whose seals all hold, whatever they say."""
    head, lines = "", []
    for n, event in zip(numbers or range(1, len(events) + 1), events, strict=True):
        recorded, line = seal(head, Recorded(n, 1.0, "researchers", event))
        head = recorded.hash
        lines.append(line + b"\n")
    return lines


def test_a_record_reads_back_as_it_was_written() -> None:
    reader = read_record(LINES)
    found = list(reader)
    assert [recorded.event for recorded in found] == EVENTS
    assert [recorded.n for recorded in found] == list(range(1, len(EVENTS) + 1))
    assert [recorded.time for recorded in found[:3]] == [0.0, 0.125, 0.25]
    assert reader.count == len(EVENTS)
    assert reader.head == found[-1].hash
    assert reader.opened == EVENTS[0]
    assert reader.ended
    assert reader.problems == []


def test_a_record_that_stops_before_the_end_is_whole_as_far_as_it_goes() -> None:
    for count in range(1, len(LINES)):
        reader = read_record(LINES[:count])
        assert len(list(reader)) == count
        assert not reader.ended


def test_lines_are_read_one_by_one_as_they_come() -> None:
    taken: list[int] = []

    def lines() -> object:
        for number, line in enumerate(LINES, 1):
            taken.append(number)
            yield line

    reader = read_record(lines())  # type: ignore[arg-type]
    next(reader)
    next(reader)
    assert taken == [1, 2]


def test_after_a_problem_the_reader_stays_at_its_end() -> None:
    reader = read_record([LINES[0], LINES[2]])
    next(reader)
    with pytest.raises(RecordError):
        next(reader)
    with pytest.raises(StopIteration):
        next(reader)


class TestWhatIsNamed:
    def test_a_line_cut_in_the_middle(self) -> None:
        for cut in (1, 20, len(LINES[4]) - 2):
            found = problem(b"".join(LINES[:4]) + LINES[4][:cut])
            assert str(found) == "line 5: cut off in the middle; 4 whole lines before it"

    def test_a_last_line_without_its_newline(self) -> None:
        assert str(problem(b"".join(LINES[:2])[:-1])) == "line 2: cut off in the middle; 1 whole line before it"

    def test_a_first_line_cut_in_the_middle(self) -> None:
        assert str(problem(LINES[0][:100])) == "line 1: cut off in the middle; 0 whole lines before it"

    def test_an_edited_line(self) -> None:
        edited = [*LINES[:8], LINES[8].replace(b"Vic", b"Wes"), *LINES[9:]]
        assert str(problem(edited)) == (
            "line 9: the hash does not match: this line was edited, or lines before it are missing, added or moved"
        )

    def test_a_line_edited_into_something_else(self) -> None:
        for text, said in (
            (b"hello\n", "not JSON (expected value, column 1); this line was edited or added"),
            (b"[1]\n", "not a JSON object; this line was edited or added"),
            (b'{"v":1}\n', "no hash; this is no line of a wolfbus record"),
            (LINES[4].replace(b"a", b"\xff", 1), "not UTF-8 (byte 3 of the line); this line was edited"),
        ):
            assert str(problem([*LINES[:4], text, *LINES[5:]])) == f"line 5: {said}"

    def test_a_line_edited_and_sealed_anew_shows_at_the_next(self) -> None:
        _, line = seal("", Recorded(1, 1.0, "researchers", synthetic.opened("other")))
        good = list(read_record([line + b"\n"]))
        assert len(good) == 1
        with pytest.raises(RecordError, match="line 2: the hash does not match"):
            list(read_record([line + b"\n", *LINES[1:]]))

    def test_a_missing_line(self) -> None:
        for gone in range(len(LINES) - 1):
            found = problem(LINES[:gone] + LINES[gone + 1 :])
            assert str(found) == (
                f"line {gone + 1}: number {gone + 2} stands where {gone + 1} was expected: "
                "1 line before it removed, or lines moved"
            )

    def test_several_missing_lines(self) -> None:
        assert "number 9 stands where 3 was expected: 6 lines before it removed" in str(problem(LINES[:2] + LINES[8:]))

    def test_swapped_lines(self) -> None:
        for first in range(len(LINES) - 1):
            swapped = [*LINES[:first], LINES[first + 1], LINES[first], *LINES[first + 2 :]]
            assert problem(swapped).line == first + 1

    def test_a_repeated_line(self) -> None:
        for index in range(1, len(LINES)):
            found = problem([*LINES[: index + 1], LINES[index], *LINES[index + 1 :]])
            assert str(found) == (
                f"line {index + 2}: number {index + 1} stands where {index + 2} was expected: "
                "a line repeated, added or moved"
            )

    def test_an_inserted_line_of_another_record(self) -> None:
        other = synthetic.record([synthetic.opened("g-2"), *EVENTS[1:]])
        for index in range(1, len(LINES)):
            assert problem([*LINES[:index], other[index], *LINES[index:]]).line == index + 1

    def test_blank_lines(self) -> None:
        for place in (0, 3, len(LINES)):
            for blank in (b"\n", b"  \n"):
                found = problem([*LINES[:place], blank, *LINES[place:]])
                expected = "not a wolfbus record" if place == 0 else "a blank line; a record has none"
                assert str(found) == f"line {place + 1}: {expected}"

    def test_two_records_in_one_file(self) -> None:
        assert str(problem(LINES + LINES)) == f"line {len(LINES) + 1}: a second record begins here; a file holds one"

    def test_a_second_opening_even_when_sealed(self) -> None:
        assert str(problem_of_forged(sealed([EVENTS[0], EVENTS[0]]))) == (
            "line 2: a second record begins here; a file holds one"
        )

    def test_an_empty_file(self) -> None:
        found = problem(b"")
        assert str(found) == "an empty file; a record has at least one line"
        assert found.line is None

    def test_foreign_files(self) -> None:
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
            assert str(problem(data)) == "line 1: not a wolfbus record"

    def test_another_protocol_version(self) -> None:
        later = LINES[0].replace(b'"v":1', b'"v":2')
        assert later != LINES[0]
        assert str(problem(later)) == "line 1: protocol version 2 is not spoken here; this build speaks 1"

    def test_another_protocol_version_that_is_sealed(self) -> None:
        bare = {"audience": "researchers", "game": "g", "n": 1, "time": 1.0, "type": "opened", "v": 7}
        value = {**bare, "hash": sha256_hex(canonical(bare))}
        assert "protocol version 7 is not spoken here; this build speaks 1" in str(problem(canonical(value) + b"\n"))

    def test_a_byte_order_mark(self) -> None:
        assert str(problem(b"\xef\xbb\xbf" + WHOLE)).startswith("line 1: begins with a byte order mark")

    def test_utf_16(self) -> None:
        assert str(problem(WHOLE.decode().encode("utf-16"))).startswith("line 1: UTF-16; a record is UTF-8")

    def test_crlf(self) -> None:
        found = problem(WHOLE.replace(b"\n", b"\r\n"))
        assert str(found) == "line 1: ends in CRLF, a record's lines in LF: its line ends were converted"

    def test_a_sealed_event_of_an_unknown_type(self) -> None:
        bare = {"audience": "researchers", "n": 1, "time": 1.0, "type": "rained", "v": 1}
        value = {**bare, "hash": sha256_hex(canonical(bare))}
        assert str(problem(canonical(value) + b"\n")).startswith("line 1: Input tag 'rained'")

    def test_a_sealed_record_that_begins_with_something_else(self) -> None:
        assert str(problem_of_forged(sealed(EVENTS[8:]))) == 'line 1: begins with "dawn", not with "opened"'

    def test_sealed_lines_with_wrong_numbers(self) -> None:
        found = problem_of_forged(sealed(EVENTS[:3], [1, 3, 4]))
        assert str(found) == "line 2: number 3 stands where 2 was expected: 1 line before it removed, or lines moved"

    def test_a_seal_hidden_in_the_content(self) -> None:
        inner = {"hash": "0" * 64, "z": 0}
        bare = {"audience": "researchers", "a": inner, "n": 1, "time": 1.0, "type": "dawn", "v": 1}
        text = canonical({**bare, "hash": "1" * 64})
        forged = sha256_hex(text.replace(b'"hash":"' + b"0" * 64 + b'",', b"", 1))
        assert problem(text.replace(b"0" * 64, forged.encode(), 1) + b"\n").line == 1


def problem_of_forged(lines: list[bytes]) -> RecordError:
    with pytest.raises(RecordError) as caught:
        list(read_record(lines))
    return caught.value


def first_bad_line(data: bytes) -> int | None:
    reader = RecordReader(split(data), tolerant=True)
    for _ in reader:
        pass
    return reader.problems[0].line if reader.problems else None


@pytest.mark.parametrize(
    "flip",
    [lambda byte: byte ^ 0x01, lambda byte: byte ^ 0x80, lambda byte: 0x0A if byte != 0x0A else 0x20, lambda _: 0x22],
    ids=["lowest bit", "highest bit", "newline", "quote"],
)
def test_every_flipped_byte_is_named_by_its_line(flip: Callable[[int], int]) -> None:
    # a dozen lines hold every kind of byte there is; the whole game would take minutes
    data = b"".join(LINES[:12])
    number = 1
    for place, byte in enumerate(data):
        if flip(byte) != byte:
            spoilt = bytearray(data)
            spoilt[place] = flip(byte)
            assert first_bad_line(bytes(spoilt)) == number, f"byte {place}"
        number += byte == 0x0A


def test_every_removed_or_doubled_byte_is_named_by_its_line() -> None:
    data = b"".join(LINES[:12])
    number = 1
    for place, byte in enumerate(data):
        assert first_bad_line(data[:place] + data[place + 1 :]) == number
        doubled = first_bad_line(data[: place + 1] + data[place:])
        # a doubled newline is a blank line, and that is the next one
        assert doubled == number + (byte == 0x0A)
        number += byte == 0x0A


class TestFiles:
    def test_a_plain_file(self, tmp_path: Path) -> None:
        path = tmp_path / "game.ndjson"
        path.write_bytes(WHOLE)
        for source in (path, str(path)):
            assert list(open_lines(source)) == LINES

    def test_gzip_is_known_by_its_bytes_not_by_its_name(self, tmp_path: Path) -> None:
        packed, plain = tmp_path / "game.ndjson", tmp_path / "game.ndjson.gz"
        packed.write_bytes(gzip.compress(WHOLE))
        plain.write_bytes(WHOLE)
        assert list(open_lines(packed)) == list(open_lines(plain)) == LINES

    def test_a_gzip_in_several_parts(self, tmp_path: Path) -> None:
        path = tmp_path / "game.gz"
        path.write_bytes(gzip.compress(WHOLE[:999]) + gzip.compress(WHOLE[999:]))
        assert list(open_lines(path)) == LINES

    def test_every_cut_of_a_gzip_is_named_with_what_came_before(self, tmp_path: Path) -> None:
        path = tmp_path / "game.gz"
        packed = gzip.compress(WHOLE)
        for end in range(2, len(packed), 37):
            path.write_bytes(packed[:end])
            reader = read_record(open_lines(path), tolerant=True)
            good = len(list(reader))
            lines = "1 whole line" if good == 1 else f"{good} whole lines"
            assert str(reader.problems[0]) == f"line {good + 1}: the compressed file is cut off; {lines} before it"

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

    def test_a_missing_file_a_folder_and_a_forbidden_one_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(RecordError, match=r"nothing\.ndjson: no such file or directory$"):
            list(open_lines(tmp_path / "nothing.ndjson"))
        with pytest.raises(RecordError, match=r": is a directory$"):
            list(open_lines(tmp_path))
        secret = tmp_path / "secret"
        secret.touch(mode=0)
        if not os.access(secret, os.R_OK):
            with pytest.raises(RecordError, match=r"secret: permission denied$"):
                list(open_lines(secret))

    def test_an_endless_first_line_is_refused_before_it_fills_the_memory(self) -> None:
        with pytest.raises(RecordError, match="line 1: longer than 1 MiB; not a wolfbus record"):
            list(read_record(open_lines("/dev/zero")))

    def test_later_lines_have_a_limit_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "game.ndjson"
        path.write_bytes(WHOLE + b"x" * (3 << 20))
        monkeypatch.setattr(module, "LINE_LIMIT", 2 << 20)
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

    def test_the_last_event_of_a_whole_record_is_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "game.ndjson"
        path.write_bytes(WHOLE)
        *_, last = read_record(open_lines(path))
        assert isinstance(last.event, Ended)


class TestLenient:
    """Reading for measurement: quicker, by passing over members that nobody knows."""

    def test_it_gives_the_same_events_with_all_that_stands_around_them(self) -> None:
        played = synthetic.record(play(seed="lenient").events)
        for lines in (LINES, played):
            assert list(read_record(lines, lenient=True)) == list(read_record(lines))

    def test_a_member_that_nobody_knows_is_passed_over_in_a_line_that_is_sealed(self) -> None:
        members = {**json.loads(LINES[2]), "zeal": 7, "hash": "0" * 64}
        previous = json.loads(LINES[1])["hash"]
        blank = canonical(members)
        digest = sha256_hex(previous.encode() + blank.replace(b'"hash":"' + b"0" * 64 + b'",', b"", 1))
        lines = [*LINES[:2], blank.replace(b"0" * 64, digest.encode(), 1) + b"\n"]
        assert "zeal" in str(problem(lines, lenient_too=False))
        assert [recorded.event for recorded in read_record(lines, lenient=True)] == EVENTS[:3]

"""Blind sheets for people: a sample of statements with what went before, to be filled in with any spreadsheet.

A sheet says neither roles nor labels nor games. Its rows go by ids that mean nothing without the key, which stays in
the study's folder.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import ValidationError

from analytics.annotations.file import FOLDER, Annotation, Header, annotation_of, read
from analytics.annotations.lines import SUFFIX, Line, alone, write
from analytics.rows.annotation import Stance
from wolfbus.errors import ConfigError, RecordError, first_fault
from wolfbus.files.canonical import sha256_hex
from wolfbus.files.printable import counted, cut, printable
from wolfbus.files.spreadsheet import spreadsheet_rows
from wolfbus.files.whole_file import read_text_whole, read_whole, write_whole
from wolfbus.game.vocabulary import Deception
from wolfbus.knowledge.passage import Passage, TranscriptLine

KEY: Final = "key.json"
"""In the folder of annotations: which statement a row's id stands for."""
COLUMNS: Final = ("row", "before", "speaker", "statement", "deceptive", "kind", "stance_target", "stance_side")
CONTEXT: Final = 40
"""Lines of the transcript before a statement that a sheet shows at most."""

_CELL: Final = 32_000
"""Characters of a cell at most: Excel takes 32,767, and readers of CSV have limits as well."""
_ANSWERS: Final = {**dict.fromkeys(("yes", "y", "true", "1"), 1.0), **dict.fromkeys(("no", "n", "false", "0"), 0.0)}
_KINDS: Final = get_args(Deception)
_SIDES: Final[Mapping[str, Stance]] = {"against": "against", "for": "for"}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_FAULTS_SHOWN: Final = 5
_LARGEST: Final = 1 << 28


def sampled(items: Sequence[Passage], number: int, seed: str) -> list[Passage]:
    """Return a simple random sample of statements, in random order; all of them where there are no more."""
    return random.Random(f"sheet {seed}").sample(items, min(number, len(items)))


def export(items: Iterable[Passage], sheet: Path, folder: Path) -> int:
    """Write a blind sheet, and add its rows to the key.

    Args:
        items: the statements, in the order of the sheet.
        sheet: a CSV file that is not there yet.
        folder: the study's.

    Returns:
        The number of its rows.

    Raises:
        RecordError: the sheet is there already, and may be filled in.
        WolfError: somebody else is adding to the key.
        OSError: it cannot be written.
    """
    if sheet.exists():
        raise RecordError(f"{sheet}: is there already; a sheet may be filled in, and is never overwritten")
    rows, file = dict[str, Annotation](), io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for item in items:
        # nobody knows the hash who has not the record
        row = sha256_hex(b"sheet", item.id.encode(), item.head.encode(), item.hash.encode())[:10]
        rows[row] = annotation_of(item)
        before = "\n".join(_line(line) for line in item.before[-CONTEXT:])
        if len(before) > _CELL:
            before = f"…{before[-_CELL:]}"
        texts = (before, item.statement.words, cut(item.statement.text or "", _CELL))
        writer.writerow((f"s-{row}", *map(_plain, texts), "", "", "", ""))
    path = folder / FOLDER / KEY
    with alone(path):
        key = _key(folder)
        if not rows.keys() <= key.keys():
            write_whole(path, [_SheetKey(rows=key | rows).model_dump_json(exclude_none=True, indent=1)])
    # spreadsheets take UTF-8 for something else unless it is marked
    write_whole(sheet, ["\ufeff", file.getvalue()])
    return len(rows)


def _line(line: TranscriptLine) -> str:
    return line.words if line.text is None else f"{line.words}: {line.text}"


def _plain(text: str) -> str:
    """Return a cell that no spreadsheet runs as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


class _SheetKey(Line):
    format: Literal["wolfbus-sheet-key"] = "wolfbus-sheet-key"
    rows: dict[str, Annotation]


def _key(folder: Path) -> dict[str, Annotation]:
    path = folder / FOLDER / KEY
    if not path.exists():
        return {}
    try:
        return _SheetKey.model_validate_json(read_whole(path, _LARGEST)).rows
    except ValidationError as error:
        raise RecordError(f"{path}: no key of sheets: {first_fault(error)}") from None


def take_in(sheet: Path, rater: str, folder: Path, items: Iterable[Passage]) -> tuple[int, int, int]:
    """Take in what a person filled in; what the same rater said of a statement before gives way to it.

    Args:
        sheet: the CSV file.
        rater: the person's name among the annotators.
        folder: the study's.
        items: its statements as they stand now.

    Returns:
        How many statements are new, how many changed, and how many rows are empty.

    Raises:
        ConfigError: the sheet cannot be read, or cells are wrong; the line names rows and columns. Nothing is taken in.
        RecordError: a record is another one than when the sheet was made; or the annotator is a model.
    """
    key, by_place = _key(folder), {item.place: item for item in items}
    answers: dict[tuple[str, int], Annotation] = {}
    faults: list[str] = []
    empty = 0
    for number, cells in _rows(sheet):
        row = cells["row"].removeprefix("s-")
        if row not in key:
            faults.append(
                f"row {number}, column row: {printable(cells['row'], 40)!r} is no row of a sheet of this study"
            )
            continue
        noted = key[row]
        item = by_place.get(noted.place)
        if item is None or item.seals != noted.seals:
            raise noted.misfit(folder / FOLDER / KEY)
        values, wrong = _values(cells, item.others)
        faults += [f"row {number}, column {column}: {why}" for column, why in wrong]
        if noted.place in answers:
            faults.append(f"row {number}, column row: {cells['row']} stands in the sheet twice")
        elif values:
            answers[noted.place] = annotation_of(item, **values)
        elif not wrong:
            empty += 1
            continue
    if faults:
        more = len(faults) - _FAULTS_SHOWN
        told_first = "; ".join(faults[:_FAULTS_SHOWN]) + (f"; and {counted(more, 'more fault')}" if more > 0 else "")
        raise ConfigError(f"{sheet}: {told_first}")
    path = folder / FOLDER / f"{rater}{SUFFIX}"
    with alone(path):
        return (*_merged(answers, path), empty)


def _merged(answers: Mapping[tuple[str, int], Annotation], path: Path) -> tuple[int, int]:
    header, before = Header(sort="rater"), dict[tuple[str, int], Annotation]()
    if path.exists():
        file = read(path)
        if file.header.sort != "rater":
            raise RecordError(f"{path}: holds the annotations of a model; take another --rater")
        header, before = file.header, {line.place: line for line in file.lines}
    new = len(answers.keys() - before.keys())
    changed = sum(place in before and before[place] != line for place, line in answers.items())
    if answers:
        write(path, header, {**before, **answers}.values())
    return new, changed


def _rows(sheet: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows with their numbers as a spreadsheet counts them, the header being 1."""
    reader = spreadsheet_rows(read_text_whole(sheet, _LARGEST).removeprefix("\ufeff"))
    try:
        if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
            raise ConfigError(f"{sheet}: row 1: there is no column {', '.join(missing)}")
        for number, row in enumerate(reader, 2):
            cells = {name: row[name].strip() for name in COLUMNS}
            if any(cells.values()):
                yield number, cells
    except csv.Error as error:
        raise ConfigError(f"{sheet}: line {reader.line_num}: {error}") from None


def _values(cells: Mapping[str, str], others: Sequence[str]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return what a row says, nothing of an empty one, and its faults by column."""
    faults: list[tuple[str, str]] = []
    if not any(cells[column] for column in COLUMNS[4:]):
        return {}, faults
    deceptive, kind = cells["deceptive"].casefold(), cells["kind"].casefold()
    if deceptive not in _ANSWERS:
        faults.append(("deceptive", f"{printable(cells['deceptive'], 40)!r} is not yes or no"))
    if kind and kind not in _KINDS:
        faults.append(("kind", f"{printable(cells['kind'], 40)!r} is none of {', '.join(_KINDS)}"))
    elif kind and deceptive in _ANSWERS and (kind == "none") != (_ANSWERS[deceptive] == 0):
        faults.append(("kind", f"{kind!r} does not go with {deceptive!r} in column deceptive"))
    targets = _listed(cells["stance_target"])
    sides = _listed(cells["stance_side"])
    if len(targets) != len(sides):
        faults.append(("stance_side", f"{counted(len(sides), 'side')} for {counted(len(targets), 'target')}"))
    stances: dict[str, Stance] = dict.fromkeys(others, "none")
    for target, side in zip(targets, sides, strict=False):
        # at other tables two may bear one name, in other cases
        named = {target} & stances.keys() or {name for name in others if name.casefold() == target.casefold()}
        if len(named) != 1:
            number = "more than one" if named else "none"
            faults.append(("stance_target", f"{printable(target, 40)!r} is {number} of {', '.join(others)}"))
        elif side.casefold() not in _SIDES:
            faults.append(("stance_side", f"{printable(side, 40)!r} is not for or against"))
        elif stances[name := named.pop()] != "none":
            faults.append(("stance_target", f"{name} stands there twice"))
        else:
            stances[name] = _SIDES[side.casefold()]
    if faults:
        return {}, faults
    is_deceptive = _ANSWERS[deceptive]
    return {
        "deceptive": is_deceptive,
        "kind": kind or ("unspecified" if is_deceptive else "none"),
        "stances": stances,
    }, []


def _listed(cell: str) -> list[str]:
    return [word.strip() for word in cell.replace(";", ",").split(",") if word.strip()]

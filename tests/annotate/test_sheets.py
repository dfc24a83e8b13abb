"""Sheets for people: blind when they go out, checked cell by cell when they come back."""

import csv
import fcntl
import io
import json
import re

import pytest

from tests.annotate.conftest import Place
from tests.golden.running import wolfbus
from tests.llm.tables import tables

FILLED = ("deceptive", "kind", "stance_target", "stance_side")


def rows_of(place, name="sheet.csv"):
    with (place.folder / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def save(place, rows, delimiter=",", encoding="utf-8-sig"):
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    (place.folder / "filled.csv").write_bytes(file.getvalue().encode(encoding))


def exported(place, number="10", seed="1"):
    said = place.annotate("--export", "sheet.csv", "--statements", number, "--seed", seed)
    assert said.code == 0, said.err
    return rows_of(place)


def filled(place, rows, **columns):
    """The rows with these cells, of a row's number each."""
    return [{**row, **{name: cell(place_) for name, cell in columns.items()}} for place_, row in enumerate(rows)]


def test_a_sheet_tells_no_game_role_label_or_private_word_and_its_ids_mean_nothing(place):
    rows = exported(place, "40")
    text = (place.folder / "sheet.csv").read_text("utf-8-sig")
    assert not [each["game"] for each in place.statements if each["game"] in text]
    assert not [each["hash"] for each in place.statements if each["hash"][:10] in text]
    thoughts = {event["thought"] for event in place.events("answered") if len(event.get("thought") or "") > 20}
    assert not [thought for thought in thoughts if thought in text]
    assert not re.search(r"\b(?:lie|deceptive|truthful|omission|suspicion)\b.*:", text.partition("\n")[2])
    assert all(re.fullmatch("s-[0-9a-f]{10}", row["row"]) for row in rows)
    assert all(row[name] == "" for row in rows for name in FILLED)
    key = json.loads((place.folder / "study" / "annotations" / "key.json").read_text())
    assert {row["row"].removeprefix("s-") for row in rows} == key["rows"].keys()


@pytest.mark.parametrize("command", [("annotate", "--export", "sheet.csv"), ("beliefs",)])
def test_a_seed_that_no_record_could_hold_is_refused_in_one_line(command, place):
    name, *words = command
    said = wolfbus(place.folder, name, "study", *words, "--seed", "\udcff")
    assert (said.code, said.err) == (2, "wolfbus: seed: not text that UTF-8 can hold\n")


def test_a_seed_draws_the_same_statements_and_a_sheet_is_never_overwritten(place):
    first = exported(place)
    said = place.annotate("--export", "sheet.csv")
    assert said.code == 2
    assert "sheet.csv: is there already" in said.err
    (place.folder / "sheet.csv").rename(place.folder / "old.csv")
    assert exported(place) == first
    (place.folder / "sheet.csv").unlink()
    assert exported(place, seed="2") != first
    # rows of the first sheet are still known
    save(place, filled(place, first, deceptive=lambda _: "no"))
    assert place.annotate("--import", "filled.csv", "--rater", "anna").code == 0


def test_a_sheet_adds_to_the_key_alone_so_that_no_row_of_another_is_lost(place):
    key = place.folder / "study" / "annotations" / "key.json"
    key.parent.mkdir()
    with key.with_name(".key.json.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        said = place.annotate("--export", "sheet.csv")
    assert said.code == 1
    assert "key.json: another run is writing it; one at a time" in said.err
    assert not (place.folder / "sheet.csv").exists()
    assert {row["row"].removeprefix("s-") for row in exported(place)} == json.loads(key.read_text())["rows"].keys()


@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8-sig"), (";", "utf-8"), ("\t", "utf-8-sig")])
def test_what_people_fill_in_comes_back_however_their_spreadsheet_saves_it(place, delimiter, encoding):
    rows = exported(place)
    answers = (("Yes", "omission"), ("no", ""), ("", ""))
    rows = filled(place, rows, deceptive=lambda n: answers[n % 3][0], kind=lambda n: answers[n % 3][1])
    save(place, rows, delimiter=delimiter, encoding=encoding)
    said = place.annotate("--import", "filled.csv", "--rater", "anna", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out) == {"rater": "anna", "new": 7, "changed": 0, "empty": 3}
    header, *lines = place.lines("anna")
    assert header["sort"] == "rater"
    assert sorted((line["deceptive"], line["kind"]) for line in lines) == [(0.0, "none")] * 3 + [(1.0, "omission")] * 4
    assert all(set(line["stances"].values()) <= {"none"} for line in lines)


def test_stances_name_living_players_and_what_a_rater_says_again_replaces_what_it_said(place):
    (row, *_) = exported(place, "1")
    noted = json.loads((place.folder / "study" / "annotations" / "key.json").read_text())["rows"][row["row"][2:]]
    game = next(event for event in place.events("opened") if event["game"] == noted["game"])
    speaker = next(each["speaker"] for each in place.statements
                   if (each["game"], each["statement"]) == (noted["game"], noted["statement"]))  # fmt: skip
    gone = {
        event.get("died") or event.get("seat")
        for event in place.events("dawn", "exile")
        if event["game"] == noted["game"]
    }
    others = [seat["name"] for seat in game["seats"] if seat["name"] != speaker and seat["name"] not in gone]
    one, other = others[:2]
    save(
        place, [{**row, "deceptive": "yes", "stance_target": f"{one.upper()}; {other}", "stance_side": "against; for"}]
    )
    assert place.annotate("--import", "filled.csv", "--rater", "anna").code == 0
    (line,) = place.lines("anna")[1:]
    assert (line["kind"], line["stances"][one], line["stances"][other]) == ("unspecified", "against", "for")
    save(place, [{**row, "deceptive": "no"}])
    said = place.annotate("--import", "filled.csv", "--rater", "anna", "--json")
    assert json.loads(said.out) == {"rater": "anna", "new": 0, "changed": 1, "empty": 0}
    (line,) = place.lines("anna")[1:]
    assert line["deceptive"] == 0.0


@pytest.mark.parametrize(("cells", "column", "says"), tables(__file__)["bad_cells"])
def test_a_bad_cell_is_named_by_row_and_column_and_nothing_is_taken_in(place, cells, column, says):
    rows = filled(place, exported(place), deceptive=lambda _: "no")
    rows[4] |= cells
    save(place, rows)
    said = place.annotate("--import", "filled.csv", "--rater", "anna")
    assert said.code == 2
    assert f"filled.csv: row 6, column {column}: " in said.err
    assert says in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not place.file("anna").exists()


@pytest.mark.parametrize(("content", "says"), [
    (b"", "there is no column row"),
    (b"\xff\xfe\x00", "not UTF-8 text"),
    (b"row,before\ns-1,x\n", "there is no column speaker"),
    (b'row,before,speaker,statement,deceptive,kind,stance_target,stance_side\n"' + b"x" * 200_000, "line"),
    (b"x" * 200_000, "line"),
])  # fmt: skip
def test_what_is_no_sheet_is_refused_in_one_line(place, content, says):
    (place.folder / "filled.csv").write_bytes(content)
    said = place.annotate("--import", "filled.csv", "--rater", "anna")
    assert said.code == 2
    assert "filled.csv" in said.err
    assert says in said.err


def test_a_sheet_whose_lines_end_in_carriage_returns_comes_back(place):
    save(place, filled(place, exported(place), deceptive=lambda _: "no"))
    sheet = place.folder / "filled.csv"
    sheet.write_bytes(sheet.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r"))
    said = place.annotate("--import", "filled.csv", "--rater", "anna", "--json")
    assert (said.code, json.loads(said.out)["new"]) == (0, 10)


def test_a_row_twice_and_a_record_that_changed_since_are_refused(place):
    rows = filled(place, exported(place), deceptive=lambda _: "no")
    save(place, [*rows, rows[0]])
    said = place.annotate("--import", "filled.csv", "--rater", "anna")
    assert said.code == 2
    assert "row 12, column row" in said.err
    save(place, rows)
    for name in ("study.json", "journal.jsonl"):
        (place.folder / "study" / name).unlink()
    for record in sorted((place.folder / "study" / "records").glob("*.ndjson"))[1:]:
        record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    said = place.annotate("--import", "filled.csv", "--rater", "anna")
    assert said.code == 2
    assert "is not what was annotated" in said.err


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('{"rows": {"0123456789": "x"}}', "rows.0123456789"),
        ('{"rows": {"0123456789": {"game": "g"}}}', "rows.0123456789.head"),
        ('{"rows": 3}', "rows"),
        ('{"rows"', "Invalid JSON"),
    ],
)
def test_a_key_of_sheets_that_is_none_is_refused_in_one_line(place, broken, says):
    save(place, filled(place, exported(place), deceptive=lambda _: "no"))
    (place.folder / "study" / "annotations" / "key.json").write_text(broken)
    for asked in (("--import", "filled.csv", "--rater", "anna"), ("--export", "again.csv")):
        said = place.annotate(*asked)
        assert said.code == 2
        (line,) = said.err.splitlines()
        assert f"key.json: no key of sheets: {says}" in line


def sheet_of_what_all_say(folder, monkeypatch, module, words, turns):
    """Have agents of a module of their own say the same in a game, and export a sheet of it."""
    (folder / f"{module}.py").write_text(
        "from wolfbus.agent import Agent\n\n\nclass Talker(Agent):\n"
        f"    def speak(self, ask, view):\n        return {words}\n"
    )
    (folder / "g.toml").write_text(f"debate_turns = {turns}\nmax_rounds = 1\n")
    monkeypatch.syspath_prepend(str(folder))
    run = f"run --games 1 --seed 1 --players {module}:Talker*8 --config g.toml --out s --quiet"
    said = wolfbus(folder, *run.split())
    assert said.code == 0, said.err
    assert wolfbus(folder, "annotate", "s", "--export", "sheet.csv").code == 0


def test_no_cell_of_a_sheet_is_run_as_a_formula(tmp_path, monkeypatch):
    sheet_of_what_all_say(tmp_path, monkeypatch, "talker", "'=HYPERLINK(1) says it all'", turns=2)
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


def test_a_sheet_comes_back_however_much_was_said(tmp_path, monkeypatch):
    sheet_of_what_all_say(tmp_path, monkeypatch, "endless", "f'{view.me} goes on ' * 3000", turns=6)
    place = Place(tmp_path)
    rows = rows_of(place)
    # what a cell of a spreadsheet takes
    assert max(len(cell) for row in rows for cell in row.values()) <= 32_767
    assert all(row["statement"].endswith(" more characters in the record)") for row in rows)
    save(place, filled(place, rows, deceptive=lambda _: "no"))
    said = wolfbus(tmp_path, "annotate", "s", "--import", "filled.csv", "--rater", "anna", "--json")
    assert (said.code, json.loads(said.out)["new"]) == (0, len(rows))


def test_a_name_that_two_bear_in_other_cases_is_taken_as_it_is_spelt(tmp_path):
    events = ["seat,Ada,Werewolf,", "seat,ada,Villager,", "seat,Bea,Seer,", "seat,Cleo,Villager,", "statement,Bea,,Hm."]
    (tmp_path / "talk.csv").write_text("\n".join(["event,seat,role,text", *events, ""]))
    for given in ("import table talk.csv --out others", "annotate others --export sheet.csv"):
        assert wolfbus(tmp_path, *given.split()).code == 0
    place = Place(tmp_path)
    for target, side, says in (
        ("ada; CLEO", "against; for", ""),
        ("ADA", "against", "'ADA' is more than one of Ada, ada, Cleo"),
        ("cleo; Cleo", "for; against", "Cleo stands there twice"),
    ):
        save(place, [{**rows_of(place)[0], "deceptive": "no", "stance_target": target, "stance_side": side}])
        said = wolfbus(tmp_path, "annotate", "others", "--import", "filled.csv", "--rater", "anna")
        assert (said.code, says in said.err) == (2 if says else 0, True)
    line = json.loads((tmp_path / "others" / "annotations" / "anna.jsonl").read_text().splitlines()[1])
    assert line["stances"] == {"Ada": "none", "ada": "against", "Cleo": "for"}

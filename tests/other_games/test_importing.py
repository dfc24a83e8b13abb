"""`wolfbus import`: games of other tables become logs of one small form."""

import csv
import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.other_games.games import ADA, AIWOLF, BEA, TABLE, files
from wolfbus.cli import run
from wolfbus.errors import RecordError
from wolfbus.foreign.kinds import KINDS
from wolfbus.foreign.log import Departed, GameEnd, Night, Said, Voted, read_foreign_log


def read(path: Path):
    return read_foreign_log(path.read_bytes().splitlines(keepends=True))


def lines_of(log, kind):
    return [line for line in log.lines if isinstance(line, kind)]


@pytest.mark.parametrize("name", files())
def test_a_game_comes_over_with_its_seats_nights_votes_departures_and_winner(name, file_of, imported):
    source = file_of(name)
    code, (path,) = imported(name.split()[0], source)
    log = read(path)
    assert code == 0
    assert (log.head.kind, log.head.file) == (name.split()[0], source.name)
    assert log.head.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    assert b'"hash"' not in path.read_bytes(), "it has no seal"
    assert [seat.name for seat in log.head.seats] == ["Ada", "Bea", "Cleo", "Dan", "Eve"]
    assert [seat.side for seat in log.head.seats] == ["werewolves", *["villagers"] * 4]
    assert len({seat.agent for seat in log.head.seats}) > 1
    (night,) = lines_of(log, Night)
    assert (night.attack, night.died) == ("Dan", "Dan")
    assert [(act.seat, act.target) for act in night.protections] == [("Cleo", "Eve")]
    assert [(act.seat, act.target, act.result) for act in night.inspections] == [("Bea", "Ada", "Werewolf")]
    (vote,) = lines_of(log, Voted)
    assert [(ballot.voter, ballot.target) for ballot in vote.ballots] == [
        ("Ada", "Bea"),
        ("Bea", "Ada"),
        ("Cleo", "Ada"),
        ("Eve", "Ada"),
    ]
    assert [(line.seat, line.how) for line in lines_of(log, Departed)] == [("Ada", "exile")]
    assert lines_of(log, GameEnd)[0].winner == "villagers"
    if name != "arena on AgentBeats":
        assert [(line.speaker, line.text) for line in lines_of(log, Said)] == [("Bea", BEA), ("Ada", ADA)]


def test_what_could_not_be_brought_over_is_counted_by_kind(file_of, imported, capsys):
    assert imported("aiwolf", file_of("aiwolf"))[0] == 0
    told = capsys.readouterr().err
    assert "not brought over: 6 lines of 3 kinds: " in told
    assert "votes that were held again (4)" in told
    assert "whispers among Werewolves (1)" in told
    imported("table", file_of("table"), out="more")
    assert "rows of the event 'cheer' (1)" in capsys.readouterr().err


def test_of_a_vote_that_is_held_again_after_some_talk_the_last_counts(file_of, imported, capsys):
    source = file_of("aiwolf")
    first, last = "1,vote,5,2\n", "1,vote,1,2\n"
    text = source.read_text("utf-8").replace(first + last, f"{first}1,talk,3,1,3,I change my mind.\n{last}")
    source.write_text(text, "utf-8")
    _, (path,) = imported("aiwolf", source)
    (vote,) = lines_of(read(path), Voted)
    assert vote.ballots[-1].target == "Ada"
    assert "votes that were held again (4)" in capsys.readouterr().err


def test_a_private_thought_comes_over_and_what_was_never_asked_is_absent(file_of, imported):
    _, (path,) = imported("kaggle", file_of("kaggle"))
    first, second = lines_of(read(path), Said)
    assert (first.thought, second.thought) == ("They must hear it.", None)
    assert b"judgements" not in path.read_bytes()
    assert b"label" not in path.read_bytes()


def test_one_game_in_two_files_counts_once_and_is_named(tmp_path, file_of, imported, capsys):
    source = file_of("aiwolf")
    copy = tmp_path / "copy.log"
    copy.write_text(AIWOLF, encoding="utf-8")
    other = tmp_path / "other.log"
    other.write_text(AIWOLF.replace("Bea lies", "Bea errs"), encoding="utf-8")
    code, paths = imported("aiwolf", source, copy, other)
    assert code == 0
    assert len(paths) == 2
    assert f"{copy}: the same game as in {source.name}; it counts once" in capsys.readouterr().err


def test_nothing_in_the_folder_is_overwritten(file_of, imported, capsys):
    source = file_of("table")
    _, (path,) = imported("table", source)
    before = path.read_bytes()
    assert imported("table", source) == (0, [path])
    assert "is in" in capsys.readouterr().err
    assert path.read_bytes() == before
    path.write_bytes(before.replace(b"Bea lies", b"Bea errs"))
    edited = path.read_bytes()
    assert imported("table", source)[0] == 2
    assert "it is left as it is" in capsys.readouterr().err
    assert path.read_bytes() == edited


def test_a_table_of_json_lines_in_any_order_is_the_same_game_as_its_csv(tmp_path, file_of, imported):
    header, *rows = TABLE.splitlines()
    names = header.split(",")
    values = [dict(zip(names, row.replace(f'"{ADA}"', "ADA").split(","), strict=True)) for row in rows]
    numbered = [{**row, "order": place} for place, row in enumerate(values)]
    ndjson = "\n".join(json.dumps(row).replace("ADA", ADA) for row in reversed(numbered))
    path = tmp_path / "table.ndjson"
    path.write_text(ndjson, encoding="utf-8")
    _, (first,) = imported("table", file_of("table"))
    _, (second,) = imported("table", path, out="again")
    assert first.name == second.name


BAD = {
    "aiwolf": [
        ("1,vote,1,2\n1,vote,2,1\n1,vote,3,1\n1,vote,5,2", "1,vote,1,9", "line 15: there is no player '9'"),
        ("3,BODYGUARD", "3,JUGGLER", "line 3: nobody knows the role 'Juggler' here; say its side"),
        ("2,result,3,0,VILLAGER", "2,result,3,0,FOX", "line 24: 'FOX' is no side that can win"),
        ("0,divine,2,1,WEREWOLF", "0,divine,2", "line 7: divine: values are missing"),
        ("1,WEREWOLF,ALIVE,team-a1", "1,VILLAGER,ALIVE,team-a1", "no seat is a Werewolf's"),
        ("0,status,1,WEREWOLF,ALIVE,team-a1,Ada", "0,status,²,WEREWOLF,ALIVE,x", "line 7: there is no player '1'"),
    ],
    "kaggle": [
        ('"agents": [', '"agents": ["Ada", ', "no replay of Kaggle's werewolf: AttributeError"),
        ('"info": {', '"info": {"GAME_END": [1], ', "no replay of Kaggle's werewolf: AttributeError"),
    ],
    "arena": [
        ('"debate": [', '"debate": [["Ada"], ', "round 1: ValueError"),
        ('"exiled": "Ada"', '"exiled": "Zoe"', "round 1: 'Zoe' has no seat in this game"),
        ('"protected": "Eve"', '"protected": 7', "round 1: target: Input should be a valid string"),
    ],
    "arena on AgentBeats": [
        ("role_assignment", "roles", "no state or result of Werewolf Arena: KeyError 'role_assignment'"),
    ],
    "table": [
        ("g1,vote,Ada,Bea", "g1,vote,Zoe,Bea", "line 13: 'Zoe' has no seat in this game"),
        ("g1,protection,Cleo,Eve", "g1,protection,,Eve", "line 8: protection: the column `seat` is empty"),
        ("she is a Werewolf.", "she is a Werewolf, I say.", "line 11: more values than columns"),
        ("g1,killed,Dan", "g1,killed,Don", "line 10: 'Don' has no seat in this game"),
        ("seat,target", "seat,seat", "line 1: its header has the column `seat` twice"),
        ("game,event,seat", "game,event,who", "line 1: its header has no column `seat`"),
        ("g1,end,,,,villagers", "g1,end,,,,us", "line 18: result: 'us' is none of villagers, werewolves, nobody"),
        ("game,event,", "game,what,", "line 1: its header has no column `event`"),
        ("Ada,,,Werewolf", "Ada,,,sheep", "line 9: 'sheep' is no result of an inspection"),
        (f"statement,Bea,,{BEA}", f"statement,{'B' * 33},,", "line 11: seat: String should have at most 32 characters"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "old", "new", "says"), [(kind, *bad) for kind in BAD for bad in BAD[kind]])
def test_a_line_that_cannot_be_is_named_with_file_and_place(kind, old, new, says, file_of, imported, capsys):
    source = file_of(kind)
    text = source.read_text("utf-8")
    if says.startswith("line 9"):
        old, new = "Bea,Ada,,Werewolf", "Bea,Ada,,sheep"
    assert old in text
    source.write_text(text.replace(old, new, 1), encoding="utf-8")
    code, paths = imported(kind.split()[0], source)
    assert (code, paths) == (2, [])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wolfbus: {source}: {says}")


@pytest.mark.parametrize("sign", ["\u2028", "\x0c", "\x85"])
@pytest.mark.parametrize("kind", ["aiwolf", "table"])
def test_a_sign_that_ends_a_line_in_unicode_alone_stays_in_a_statement(sign, kind, file_of, imported):
    source, words = file_of(kind), BEA.replace(" ", sign)
    source.write_text(source.read_text("utf-8").replace(BEA, words), encoding="utf-8")
    code, (path,) = imported(kind, source)
    assert code == 0
    assert lines_of(read(path), Said)[0].text == words


def test_results_one_a_line_may_hold_a_sign_that_ends_a_line_in_unicode_alone(file_of, imported):
    source = file_of("arena on AgentBeats")
    source.write_text(source.read_text("utf-8").replace("accuse Ada", "accuse\u2028Ada") + "\n", encoding="utf-8")
    source.write_bytes(source.read_bytes() * 2)
    code, paths = imported("arena", source)
    assert (code, len(paths)) == (0, 1)


def test_a_log_with_a_result_that_no_inspection_has_is_refused(file_of, imported):
    _, (path,) = imported("table", file_of("table"))
    path.write_bytes(path.read_bytes().replace(b'"result":"Werewolf"', b'"result":"Wolf"'))
    with pytest.raises(RecordError, match=r"inspections.0.result.*'Wolf' is none of villagers, Villager"):
        read(path)


def test_lines_with_bytes_that_are_no_text_are_counted_as_not_brought_over_whole(file_of, imported, capsys):
    source = file_of("aiwolf")
    source.write_bytes(source.read_bytes().replace(b"and I am a", b"and I am \xe9 \xe9"))
    code, (path,) = imported("aiwolf", source)
    assert code == 0
    assert [said.text for said in lines_of(read(path), Said)][1] == "Bea lies, and I am � � Villager."
    assert "bytes that are no UTF-8, with a sign in the place of each (1)" in capsys.readouterr().err


def test_rows_of_an_order_that_is_no_number_are_refused(tmp_path, imported, capsys):
    path = tmp_path / "table.csv"
    path.write_text("order,game,event,seat,role\n1,g,seat,A,Werewolf\nnan,g,seat,B,Seer\n")
    assert imported("table", path) == (2, [])
    assert capsys.readouterr().err == f"wolfbus: {path}: line 3: order: 'nan' is no number\n"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"info": 3}', "\x00", "1,2,3", '{"a":' * 9000])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "wolf"])
def test_what_is_none_of_a_kind_is_one_line(kind, content, tmp_path, imported, capsys):
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    assert imported(kind, path) == (2, [])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wolfbus: {path}: ")


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("kaggle", '"display_name": "model-ada"', '"id": ["Ada"]'),
        ("arena", '"unmasked": "Ada"', '"protected": [1]'),
        ("arena on AgentBeats", "role_assignment", "roles"),
    ],
)
def test_a_file_of_an_unknown_shape_is_one_line(kind, old, new, file_of, imported, capsys):
    source = file_of(kind)
    text = source.read_text("utf-8")
    assert old in text
    source.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert imported(kind.partition(" ")[0], source) == (2, [])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wolfbus: {source}: ")


def test_results_of_which_each_has_a_line_may_hold_other_ends_of_lines_in_their_words(file_of, imported):
    source = file_of("arena on AgentBeats")
    result = json.loads(source.read_text("utf-8")) | {"note": "one\u2028two\x85three"}
    source.write_text(f"{json.dumps(result, ensure_ascii=False)}\n\n", encoding="utf-8")
    with source.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps({'action_log': []})}\n")
    assert imported("arena", source)[0] == 0


@pytest.mark.parametrize(
    ("delimiter", "encoding", "end"),
    [(";", "utf-8-sig", "\r\n"), ("\t", "utf-16", "\r\n"), (",", "utf-16", "\r\n"), (";", "utf-8", "\r")],
)
def test_a_table_is_the_same_game_however_a_spreadsheet_saves_it(delimiter, encoding, end, tmp_path, file_of, imported):
    source = file_of("table")
    saved = tmp_path / "saved.csv"
    with saved.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(
            csv.reader(source.read_text("utf-8").splitlines())
        )
    assert imported("table", source) == imported("table", saved)


def test_blanks_around_the_values_of_a_table_change_no_vote(file_of, imported):
    source = file_of("table")
    _, (plain,) = imported("table", source)
    padded = [
        [cell if "Werewolf." in cell or "Villager." in cell else f" {cell} " if row else cell for cell in cells]
        for row, cells in enumerate(csv.reader(source.read_text("utf-8").splitlines()))
    ]
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(padded)
    _, (again,) = imported("table", source, out="again")
    assert again.name == plain.name


def test_of_two_who_are_killed_in_one_night_both_have_left(file_of, imported):
    source = file_of("table")
    text = source.read_text("utf-8")
    source.write_text(text.replace("g1,statement,Bea", "g1,killed,Cleo,,,,,,\ng1,statement,Bea"), encoding="utf-8")
    code, (path,) = imported("table", source)
    log = read(path)
    assert code == 0
    assert [night.died for night in lines_of(log, Night)] == ["Dan"]
    assert [(line.seat, line.how) for line in lines_of(log, Departed)] == [("Cleo", "other"), ("Ada", "exile")]


def test_one_bad_file_leaves_the_others(tmp_path, file_of, imported, capsys):
    bad = tmp_path / "bad.log"
    bad.write_text("0,status\n", encoding="utf-8")
    code, paths = imported("aiwolf", bad, file_of("aiwolf"))
    assert (code, len(paths)) == (1, 1)
    assert str(bad) in capsys.readouterr().err


def test_a_name_that_needs_more_than_a_seat_s_room_is_refused(file_of, imported, capsys):
    source = file_of("table")
    source.write_text(source.read_text("utf-8").replace("Cleo", "C" * 33), encoding="utf-8")
    assert imported("table", source)[0] == 2
    assert "line 4: name: String should have at most 32 characters" in capsys.readouterr().err


TOY = '''"""A toy."""
TITLE = "a toy log"
def looks_like(start):
    return start.startswith(b"toy ")
def games(source):
    from wolfbus.foreign.building import ForeignLogBuilder
    game = ForeignLogBuilder()
    for number, line in enumerate(source.lines()[1:], 1):
        game.at(number)
        word, *rest = line.split()
        {"seat": game.seat, "says": lambda name, *words: game.say(name, " ".join(words))}[word](*rest)
    yield game
'''


def test_a_kind_is_one_module_and_one_registration(tmp_path, monkeypatch, imported, capsys):
    (tmp_path / "toy_kind.py").write_text(TOY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(KINDS, "toy", "toy_kind")
    monkeypatch.delitem(sys.modules, "wolfbus.cli.import_games", raising=False)
    source = tmp_path / "game.toy"
    source.write_text("toy 1\nseat Ada Werewolf\nseat Bea Villager\nsays Bea good morning\n", encoding="utf-8")
    code, (path,) = imported("toy", source)
    assert code == 0
    assert [line.text for line in lines_of(read(path), Said)] == ["good morning"]
    assert run(["replay", str(source)]) == 2
    assert "it looks like a toy log: wolfbus import toy game.toy --out DIR" in capsys.readouterr().err

"""A model reads a study's statements after its games: what it is asked, what is kept, what happens when it breaks."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.running import wolfbus
from wolfbus.game.vocabulary import ROLES

STUCK = """
import asyncio
import spy

class Stuck(spy.Spy):
    calls = 0
    async def ask(self, request, seconds):
        self.calls += 1
        if self.calls > 7:
            print("stuck", flush=True)
            await asyncio.Event().wait()
        return await super().ask(request, seconds)

def open_provider(endpoint, keys): return Stuck()
"""
SAYS_MORE = """
import dataclasses, json
import spy

class SaysMore(spy.Spy):
    async def ask(self, request, seconds):
        reply = await super().ask(request, seconds)
        return dataclasses.replace(reply, text=(MORE)(reply.text))

def open_provider(endpoint, keys): return SaysMore()
"""
ROLE_NAMES = re.compile(rf"\b(?:{'|'.join(ROLES)}|Werewolve|Wol[fv]e?)s?\b", re.IGNORECASE)


def test_every_statement_is_annotated_once_with_the_hash_of_its_line_and_of_its_record(place):
    said = place.read("spy", "--no-probe")
    assert said.code == 0, said.err
    header, *lines = place.lines()
    assert header["model"] == "spy"
    assert header["fingerprint"] == "spy fp-1"
    assert header["prompt"]["version"] == 1
    assert re.fullmatch("[0-9a-f]{64}", header["prompt"]["sha256"])
    heads = {event["game"]: event["hash"] for event in place.events("ended")}
    expected = {(each["game"], each["statement"]): (each["hash"], heads[each["game"]]) for each in place.statements}
    assert {(line["game"], line["statement"]): (line["hash"], line["head"]) for line in lines} == expected
    assert len(lines) == len(expected) == len(place.asked)
    assert all(line["deceptive"] == 0.25 and set(line["stances"].values()) <= {"hedged for"} for line in lines)


def test_a_prompt_holds_what_everybody_knew_and_neither_roles_nor_private_words_nor_what_came_later(place):
    assert place.read(*("spy", "--no-probe")).code == 0
    thoughts = {event["thought"] for event in place.events("answered") if len(event.get("thought") or "") > 20}
    texts = {(each["game"], each["statement"]): each["text"] for each in place.statements}
    assert thoughts
    for system, question in place.asked:
        assert not [thought for thought in thoughts if thought in question]
        told = re.sub(r'"(?:[^"\\]|\\.)*"', "", question.partition("Judge this one statement")[0])
        assert not ROLE_NAMES.search(told), told
        assert "never an instruction" in system
    game = min(game for game, _ in texts)
    of_game = [text for key, text in sorted(texts.items()) if key[0] == game]
    last = max(
        (question for _, question in place.asked if json.dumps(of_game[-1], ensure_ascii=False) in question), key=len
    )
    assert all(json.dumps(text, ensure_ascii=False) in last for text in of_game)
    first = next(question for _, question in place.asked if question.count('"' + of_game[0][:20]) == 1)
    assert json.dumps(of_game[-1], ensure_ascii=False) not in first


def test_a_monitor_reads_thought_and_statement_and_again_with_the_names_of_roles_masked(place):
    assert place.read("spy", "--private", "--no-probe").code == 0
    header, *lines = place.lines("spy-private")
    assert header["sort"] == "monitor"
    thoughts = {
        event["thought"] for event in place.events("answered") if event["kind"] == "speak" and event.get("thought")
    }
    debates = [each for each in place.statements if each["phase"] == "debate"]
    assert 0 < len(lines) <= len(debates)
    assert all(line["werewolf"] == line["werewolf_masked"] == 0.25 for line in lines)
    questions = [question for _, question in place.asked]
    assert all(any(json.dumps(thought, ensure_ascii=False) in question for thought in thoughts) or "[role]" in question
               for question in questions)  # fmt: skip
    masked = [question.partition("\n\n- werewolf")[0] for question in questions if "[role]" in question]
    assert masked
    assert not [question for question in masked if ROLE_NAMES.search(question)]


def test_nobody_at_the_terminal_is_told_the_cost_and_nothing_is_asked_without_yes(place):
    said = place.annotate("--reader", "llm:spy", "--config", "models.toml")
    assert said.code == 2
    cost, refusal = said.err.strip().splitlines()[-2:]
    assert re.search(
        rf"{len(place.statements)} statements, {len(place.statements)} calls of spy: about .* about \$", cost
    )
    assert "--yes" in refusal
    assert not place.asked
    assert not place.file().exists()


def test_another_model_prompt_or_setting_never_goes_on_with_a_file(place):
    assert place.read("spy", "--statements", "5").code == 0
    models = place.folder / "models.toml"
    models.write_text(models.read_text() + "temperature = 0.5\n")
    said = place.read()
    assert said.code == 2
    assert "spy.jsonl" in said.err
    assert "parameters" in said.err
    assert place.read("spy", "--name", "warm").code == 0
    assert len(place.lines("warm")) == len(place.statements) + 1


def test_another_sample_is_read_beside_the_one_before(place):
    assert place.read("spy", "--statements", "5", "--no-probe").code == 0
    before = place.lines()
    said = place.read("spy", "--statements", "3", "--seed", "other", "--no-probe")
    assert said.code == 0, said.err
    assert place.lines()[:6] == before
    assert 6 <= len(place.lines()) <= 9
    assert place.read("spy", "--no-probe").code == 0
    assert len(place.lines()) == len(place.statements) + 1


def test_a_kill_loses_no_annotation_and_the_same_command_goes_on(place):
    models = place.folder / "models.toml"
    usual = models.read_text()
    models.write_text(usual.replace('"spy"', '"stuck"\nat_once = 1', 1))
    (place.folder / "stuck.py").write_text(STUCK)
    words = [sys.executable, "-m", "wolfbus", "annotate", "study", "--reader", "llm:spy", "--config", "models.toml"]
    environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parents[2]}{os.pathsep}{place.folder}"}
    with subprocess.Popen(
        [*words, "--yes", "--no-probe"], cwd=place.folder, env=environment, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"stuck\n"
        # whoever writes the file writes it alone
        said = place.read("spy", "--no-probe")
        assert said.code == 1
        assert "spy.jsonl: another run is writing it; one at a time" in said.err
        child.send_signal(signal.SIGKILL)
    path = place.file()
    whole = path.read_bytes().splitlines()
    assert len(whole) == 1 + 7
    with path.open("ab") as file:
        file.write(b'{"game":"cut off by')
    models.write_text(usual)
    said = place.read("spy", "--no-probe")
    assert said.code == 0, said.err
    assert f"{len(place.statements) - 7} new statements, 7 before" in said.out
    assert path.read_bytes().splitlines()[:8] == whole
    places = [(line["game"], line["statement"]) for line in place.lines()[1:]]
    assert sorted(places) == sorted((each["game"], each["statement"]) for each in place.statements)
    assert len(place.asked) == len(place.statements)


def test_a_budget_that_is_spent_keeps_what_was_read_and_a_cassette_plays_it_all_again_with_no_call(place, served):
    server = served()
    said = place.read("double", "--budget", "0.02", "--cassette", "tape", "--no-probe")
    assert said.code == 1
    assert "the budget ends here" in said.err
    assert "the same command goes on" in said.err
    read = len(place.lines("double")) - 1
    assert 0 < read < len(place.statements)
    assert place.read("double", "--cassette", "tape", "--no-probe").code == 0
    assert len(place.lines("double")) == len(place.statements) + 1
    first, calls = sorted(place.file("double").read_bytes().splitlines()[1:]), server.stats().calls
    assert place.read("double", "--name", "again", "--replay-cassette", "tape").code == 0
    assert server.stats().calls == calls
    assert sorted(place.file("again").read_bytes().splitlines()[1:]) == first


def test_what_a_model_says_that_nobody_can_read_is_told_and_asked_again_next_time(place, served):
    served(ugly={"refusal": 1.0})
    said = place.read("double", "--statements", "3", "--no-probe", "--give-up", "0")
    assert said.code == 1
    assert "of 3 statements nothing could be read" in said.err
    assert not place.file("double").exists()
    served(ugly={"fence": 1.0})
    assert place.read("double", "--statements", "3", "--no-probe").code == 0
    assert len(place.lines("double")) == 4


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param(
            "lambda text: text + ' No: ' + text.replace('0.25', '0.75')", "several JSON objects", id="a second answer"
        ),
        pytest.param(
            "lambda text: text.replace('{', '{\"deceptive\": 0.75, ', 1)", "given twice", id="a second member"
        ),
    ],
)
def test_a_reader_that_answers_twice_and_differently_has_not_answered(place, more, says):
    module = f"twice{len(more)}"
    (place.folder / f"{module}.py").write_text(SAYS_MORE.replace("MORE", more), "utf-8")
    models = place.folder / "models.toml"
    models.write_text(models.read_text().replace('provider = "spy"', f'provider = "{module}"'))
    said = place.read("spy", "--statements", "1", "--no-probe", "--give-up", "0")
    assert said.code == 1
    assert says in said.err
    assert len(place.asked) == 2


@pytest.mark.parametrize("command", [
    "annotate study --agreement", "report study --json", "export csv study --out tables",
    "annotate study --reader llm:spy --config models.toml --yes",
])  # fmt: skip
def test_annotations_of_another_record_are_refused_by_file_and_statement(place, command):
    assert place.read("spy", "--no-probe").code == 0
    # a folder of records of which no study notes what they are
    (place.folder / "study" / "study.json").unlink()
    (place.folder / "study" / "journal.jsonl").unlink()
    record = sorted((place.folder / "study" / "records").glob("*.ndjson"))[2]
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    before = place.file().read_bytes()
    said = wolfbus(place.folder, *command.split())
    assert said.code == 2, said
    line = said.err.strip().splitlines()[-1]
    assert re.search(rf"spy\.jsonl: statement {record.stem}:\d\d\d is not what was annotated", line), said.err
    assert place.file().read_bytes() == before


def test_no_statement_is_annotated_of_a_game_that_may_be_gone_on_with(place):
    (place.folder / "study" / "study.json").unlink()
    (place.folder / "study" / "journal.jsonl").unlink()
    record = min((place.folder / "study" / "records").glob("*.ndjson"))
    lines = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(lines[: len(lines) // 2]))
    said = place.read("spy", "--no-probe")
    assert said.code == 0, said.err
    assert "1 game not ended: what was said there is left out" in said.err
    games = {each["game"] for each in place.statements}
    assert record.stem in games
    assert {line["game"] for line in place.lines()[1:]} == games - {record.stem}


def test_no_sheet_is_written_of_games_that_all_may_be_gone_on_with(place):
    (place.folder / "study" / "study.json").unlink()
    (place.folder / "study" / "journal.jsonl").unlink()
    for record in (place.folder / "study" / "records").glob("*.ndjson"):
        record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    said = wolfbus(place.folder, "annotate", "study", "--export", "sheet.csv")
    assert said.code == 2
    assert said.err.splitlines()[-1] == "wolfbus: study: no statement was recorded in a game that has ended"


@pytest.mark.parametrize(("damage", "says"), [
    (lambda lines: [b"{}", *lines[1:]], "line 1: no annotation of wolfbus"),
    (lambda lines: [*lines, lines[1]], "stands there twice"),
    (lambda lines: [lines[0], lines[1].replace(b'"deceptive":0.25', b'"deceptive":7'), *lines[2:]], "line 2"),
    (lambda lines: [lines[0], b"\xff\x00", *lines[2:]], "line 2"),
])  # fmt: skip
def test_a_damaged_file_is_refused_by_its_line(place, damage, says):
    assert place.read("spy", "--statements", "4", "--no-probe").code == 0
    path = place.file()
    path.write_bytes(b"".join(line + b"\n" for line in damage(path.read_bytes().splitlines())))
    for command in ("annotate study --agreement", "report study --json"):
        said = wolfbus(place.folder, *command.split())
        assert (said.code, said.out) == (2, "")
        assert "spy.jsonl" in said.err
        assert says in said.err


def test_annotations_are_rows_of_an_export_and_stay_with_records_that_are_packed(place):
    assert place.read("spy", "--private", "--no-probe").code == 0
    for record in (place.folder / "study" / "records").glob("*.ndjson"):
        (record.with_name(f"{record.name}.gz")).write_bytes(gzip.compress(record.read_bytes()))
        record.unlink()
    said = wolfbus(place.folder, "export", "csv", "study", "--out", "tables", "--tables", "annotations")
    assert said.code == 0, said.err
    rows = (place.folder / "tables" / "annotations.csv").read_text().splitlines()
    assert len(rows) == len(place.lines("spy-private"))

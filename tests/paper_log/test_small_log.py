import csv
import json
from pathlib import Path

import pytest

from tests.llm.tables import tables
from wolfbus.cli import run
from wolfbus.errors import ConfigError, RecordError
from wolfbus.messages.content import Ballot
from wolfbus.record.published_log import PaperAction, PaperLabel, PaperLog, is_paper_log, meta_beside, read_paper_log

DATA = Path(__file__).parent / "data"
LOG = DATA / "small-events.ndjson"
META = DATA / "small-run_meta.json"
LINES = LOG.read_bytes().splitlines(keepends=True)
TABLES = tables(__file__)


@pytest.fixture(scope="module")
def log() -> PaperLog:
    return read_paper_log(LINES, meta_beside(LOG), name=LOG.name)


@pytest.mark.parametrize("command", [["replay"], ["export", "csv", "--out", "out", "--tables", "judgements"]])
def test_missing_answers_are_filled_in_where_they_are_asked_for(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (LOG, META):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    counted = []
    for options in ([], ["--include-defaulted"]):
        view = ["--json"] if command == ["replay"] else ["--force"]
        assert run([*command, LOG.name, *view, *options]) == 0
        told = capsys.readouterr().out
        if command == ["replay"]:
            counted.append(json.loads(told)["metrics"]["outcomes"]["per_game"]["judgements"]["total"])
        else:
            rows = csv.DictReader((tmp_path / "out" / "judgements.csv").read_text("utf-8").splitlines())
            counted.append(sum(row["flagged"] != "" for row in rows))
    assert counted == [13, 15]


def test_the_first_line_tells_a_paper_log_from_anything_else() -> None:
    assert is_paper_log(LINES[0])
    for other in (
        b"",
        b"{",
        b"[1]",
        b"null",
        b'{"event":"debate"}',
        b"\xff\xfe",
        b'{"v":1,"n":1,"type":"opened"}',
        b"[" * 9000,
    ):
        assert not is_paper_log(other)


def test_its_course_is_recovered_from_metadata_and_the_order_of_events(log: PaperLog) -> None:
    assert (log.run, log.model, log.name) == ("small-1", "a-model", "small-events.ndjson")
    assert (log.players, log.roles["Otto"]) == (("Ines", "Otto", "Pavel", "Quinn", "Rosa"), "Werewolf")
    assert (log.rounds, log.winner, log.ended, log.unknown) == (2, "villagers", True, 1)
    assert [(each.number, each.line, each.round, each.speaker, each.phase) for each in log.statements] == [
        (1, 6, 1, "Rosa", "debate"),
        (2, 8, 1, "Otto", "debate"),
        (3, 10, 1, "Quinn", "debate"),
        (4, 11, 1, "Rosa", "vote"),
        (5, 20, 2, "Ines", "debate"),
    ]
    # a turn that nobody analysed is a statement all the same
    assert (log.statements[2].text, log.statements[2].own_analysis, log.statements[2].others) == (
        "That is absurd.",
        None,
        {},
    )
    assert [(day.named, day.exiled) for day in log.days] == [(None, None), ("Otto", "Otto")]


def test_nights_say_who_acted_and_who_died(log: PaperLog) -> None:
    first, second = log.nights
    assert first.died is None
    assert first.actions == (
        PaperAction("kill", "Otto", "Quinn"),
        PaperAction("protect", "Pavel", "Quinn"),
        PaperAction("inspect", "Ines", "Rosa", "Villager"),
    )
    assert (second.round, second.died) == (2, "Pavel")


def test_votes_stand_as_recorded_and_are_read_again_where_the_log_kept_the_reply(log: PaperLog) -> None:
    first, second = log.days
    assert {vote.voter: vote.recorded for vote in first.votes} == {
        "Ines": None,
        "Otto": "Quinn",
        "Pavel": None,
        "Quinn": "Zora",
        "Rosa": "Otto",
    }
    assert all(vote.read is None for vote in first.votes)
    reread = {vote.voter: vote.read for vote in second.votes if vote.read is not None}
    assert reread["Otto"].content == Ballot(target="Ines", reason="She lies.")
    assert (reread["Rosa"].content, reread["Rosa"].reading) == (Ballot(target="Otto", reason="At last."), "coerced")


def test_a_filler_counts_as_the_papers_code_counted_it_when_read_as_recorded(log: PaperLog) -> None:
    analysis = log.statements[0].others["Ines"]
    assert analysis.filler
    assert analysis.label(as_recorded=True) == PaperLabel(
        False, 0.5, 0.0, "none", None, analysis.recorded.reasoning, analysis.recorded.reading
    )


@pytest.mark.parametrize(
    ("statement", "whose", "label"),
    [
        (1, "Ines", PaperLabel(False, 0.2, 0.8, "none", None, "It matches what I heard.", "extracted")),
        # one that the paper's code could parse is no filler
        (1, "own", PaperLabel(False, None, 0.9, "none", None, "I said what I saw.", "clean")),
        # never came
        (1, "Pavel", None),
        # a refusal
        (1, "Quinn", None),
        # older logs keep the raw reply elsewhere: under "raw_response", or in the text that stands for the failed parse
        (2, "Ines", PaperLabel(True, 1.0, 1.0, "fabrication", None, "I am the Seer.", "extracted")),
        (2, "Pavel", PaperLabel(True, 0.6, 0.5, "distortion", None, "It comes too pat.", "extracted")),
    ],
)
def test_raw_replies_are_read_again(log: PaperLog, statement: int, whose: str, label: PaperLabel | None) -> None:
    said = log.statements[statement - 1]
    analysis = said.own_analysis if whose == "own" else said.others[whose]
    assert analysis is not None
    assert analysis.label(as_recorded=False) == label
    assert (analysis.filler, analysis.lost) == (whose != "own", label is None)


def test_a_cut_off_reply_keeps_the_fields_it_holds_and_a_lost_one_says_why(log: PaperLog) -> None:
    others = log.statements[0].others
    cut = others["Otto"]
    assert cut.partial
    assert cut.reread is not None
    assert (cut.reread.deceptive, cut.reread.confidence, cut.reread.kind) == (True, 0.65, "misdirection")
    assert (cut.reread.suspicion, cut.reread.reading) == (None, "repaired")
    assert others["Pavel"].read is None
    assert others["Quinn"].read is not None
    assert others["Quinn"].read.fault == "refused"


def test_counts_say_what_our_reading_recovers(log: PaperLog) -> None:
    counts = log.counts()
    assert (counts.analyses, counts.fillers, counts.recovered) == (19, 17, 15)
    assert dict(counts.readings) == {"clean": 2, "extracted": 11, "repaired": 3, "coerced": 1}
    assert (counts.partial, counts.lost) == (2, 2)


def test_a_log_may_stop_anywhere() -> None:
    for end in range(1, len(LINES)):
        assert read_paper_log(LINES[:end], META).ended == (end >= len(LINES) - 1)


@pytest.mark.parametrize("command", ["replay", "report"])
def test_what_is_wrong_with_a_log_is_said_in_one_line_that_names_its_file(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("lonely.ndjson").write_bytes(LINES[0])
    Path("spoilt.ndjson").write_bytes(LINES[0] + b"[]\n")
    for words, said in (
        (["lonely.ndjson"], "lonely.ndjson: the roles stand in the run's run_meta.json"),
        (["spoilt.ndjson", "--roles", str(META)], "spoilt.ndjson: line 2: not a JSON object"),
    ):
        assert run([command, *words]) == 2
        line, *_ = capsys.readouterr().err.splitlines()
        assert line.startswith(f"wolfbus: {said}")


def test_the_metadata_is_found_by_the_logs_name_or_in_its_folder(tmp_path: Path) -> None:
    assert meta_beside(LOG) == META
    assert meta_beside(DATA / "small-events.ndjson.gz") == META
    folder = tmp_path / "run_meta.json"
    assert meta_beside(tmp_path / "events.ndjson") is None
    folder.write_bytes(META.read_bytes())
    assert meta_beside(tmp_path / "events.ndjson") == folder
    assert meta_beside(tmp_path / "x-events.ndjson") == folder
    (tmp_path / "x-run_meta.json").write_bytes(META.read_bytes())
    assert meta_beside(tmp_path / "x-events.ndjson") == tmp_path / "x-run_meta.json"


@pytest.mark.parametrize(("text", "what"), TABLES["metadata"])
def test_metadata_of_something_else_is_refused_in_one_line(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "run_meta.json"
    if text:
        path.write_text(text)
    with pytest.raises(ConfigError, match=what) as caught:
        read_paper_log(LINES, path)
    assert "\n" not in str(caught.value)


def test_metadata_of_another_run_is_noticed(tmp_path: Path) -> None:
    other = tmp_path / "run_meta.json"
    other.write_text(json.dumps({"roles": {"Ines": "Seer", "Bruno": "Werewolf"}}))
    with pytest.raises(RecordError, match="'Otto' is not among the players") as caught:
        read_paper_log(LINES, other)
    assert caught.value.line == 1


@pytest.mark.parametrize(("line", "what"), TABLES["lines"])
def test_a_line_that_cannot_be_read_is_named_by_its_number(line: str, what: str) -> None:
    with pytest.raises(RecordError, match=what) as caught:
        read_paper_log([*LINES[:5], line.encode()], META)
    assert caught.value.line == 6
    assert "\n" not in str(caught.value)


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(RecordError, match="empty"):
        read_paper_log([], META)


def test_an_exile_that_names_a_dead_player_or_nobody_there_is_changes_nothing() -> None:
    exile = b'{"event": "exile", "actor": "system", "details": {"exiled": "%s"}}'
    for name in (b"Pavel", b"Zora"):
        day = read_paper_log([*LINES[:21], exile % name], META).days[-1]
        assert (day.named, day.exiled) == (name.decode(), None)


def test_the_label_in_the_reply_that_makes_a_statement_stands_beside_the_one_that_was_asked_afterwards(log: PaperLog):
    asked_later = [each.own_analysis and each.own_analysis.label(as_recorded=False) for each in log.statements]
    admitted = [label and label.deceptive for label in asked_later]
    assert [*zip((each.intended for each in log.statements), admitted, strict=True)] == [
        (False, False),
        (True, True),
        # nobody analysed it; and of a vote's reason the reply was not kept
        (False, None),
        (None, False),
        (False, False),
    ]

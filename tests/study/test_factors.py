"""Studies with factors: every combination of levels is a cell, a study of its own over the same deals."""

import json
import shutil
from pathlib import Path

import pytest

from analytics.compare import across
from tests.golden.running import wolfbus
from tests.llm.tables import tables
from wolfbus.record.prompts import PromptBook
from wolfbus.record.reader import open_lines, read_record
from wolfbus.study.factors import cells_of

STUDY = """
games = 10
seed = "7"
players = "scripted*4,random*4"
design = "fixed"

[rules]
max_rounds = 2

[factors]
rules.debate_turns = [1, 2]
rules.vote_reasons = [true, false]
"""


def openings(folder: Path) -> list[dict[str, object]]:
    """What the games of a study were begun with, in their order."""
    records = sorted((folder / "records").glob("*.ndjson"))
    return [next(iter(read_record(open_lines(record)))).event.model_dump() for record in records]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factors")
    (folder / "study.toml").write_text(STUDY)
    said = wolfbus(folder, "run", "study.toml", "--out", "out", "--workers", "1")
    assert said.code == 0, said.err
    (folder / "said").write_text(said.err)
    return folder


def test_every_cell_plays_the_same_deals_under_its_own_levels(played: Path) -> None:
    cells = json.loads((played / "out" / "factors.json").read_bytes())["cells"]
    assert list(cells) == [
        f"debate_turns={turns}+vote_reasons={reasons}" for turns in (1, 2) for reasons in ("true", "false")
    ]
    dealt = {}
    for name, levels in cells.items():
        games = openings(played / "out" / name)
        assert len(games) == 10
        for game in games:
            rules = game["config"]
            shown = {"debate_turns": str(rules["debate_turns"]), "vote_reasons": str(rules["vote_reasons"]).lower()}
            assert shown == levels
        dealt[name] = [[(seat["name"], seat["brain"]) for seat in game["seats"]] for game in games]
        assert wolfbus(played, "verify", f"out/{name}", "--prove").code == 0
    assert len({json.dumps(seats) for seats in dealt.values()}) == 1


def test_cells_take_turns_so_that_none_is_played_later_than_the_others(played: Path) -> None:
    turns = [line for line in (played / "said").read_text().splitlines() if "games up to" in line]
    assert [line.rpartition("games up to ")[2] for line in turns] == ["8 of 10"] * 4 + ["10 of 10"] * 4
    assert turns[4].split(": ")[1] != turns[0].split(": ")[1]


def test_a_study_with_factors_grows_and_goes_on_and_is_not_begun_twice(played: Path, tmp_path: Path) -> None:
    out = shutil.copytree(played / "out", tmp_path / "out")
    lost = next((out / "debate_turns=2+vote_reasons=true" / "records").glob("*-00003.ndjson"))
    whole = lost.read_bytes()
    lost.write_bytes(whole[: len(whole) // 2])
    again = wolfbus(tmp_path, "run", "--resume", "--out", "out", "--games", "11", "--json")
    assert again.code == 0, again.err
    assert {told["ended"] for told in json.loads(again.out)["cells"].values()} == {11}
    # scripts say the same again
    assert lost.read_bytes() != whole[: len(whole) // 2]
    (tmp_path / "study.toml").write_text(STUDY)
    begun = wolfbus(tmp_path, "run", "study.toml", "--out", "out")
    assert (begun.code, begun.err.count("\n")) == (2, 1)
    assert "there is a study already; add --resume" in begun.err


def test_the_levels_of_a_factor_are_compared_over_all_other_levels_paired_by_seed(played: Path) -> None:
    given = ("compare", "out", "--factor", "debate_turns", "--metric", "suspicion_gap")
    result = json.loads(wolfbus(played, *given, "--over", "vote_reasons", "--json").out)
    assert [result[side]["name"] for side in "ab"] == ["debate_turns=1", "debate_turns=2"]
    assert [result[side]["games"] for side in "ab"] == [20, 20]
    assert (result["pairing"]["pairs"], result["pairing"]["paired_games_a"]) == (10, 20)
    over = result["over"]["metrics"]["suspicion_gap"]
    for reasons, difference in over["levels"].items():
        folders = [f"out/debate_turns={turns}+vote_reasons={reasons}" for turns in (1, 2)]
        alone = json.loads(wolfbus(played, "compare", *folders, "--metric", "suspicion_gap", "--json").out)
        assert difference == pytest.approx(alone["metrics"]["suspicion_gap"]["difference"]["value"])
    assert over["value"] == pytest.approx(sum(over["levels"].values()) / 2)
    said = wolfbus(played, *given, "--over", "vote_reasons").out
    assert "at each level of vote_reasons" in " ".join(said.split())


def test_a_factor_is_compared_over_levels_of_when_labels_are_asked_for_and_those_levels_with_each_other_are_not(
    tmp_path,
):
    (tmp_path / "study.toml").write_text(
        STUDY.replace("rules.vote_reasons = [true, false]", 'rules.label = ["with", "after"]')
    )
    assert wolfbus(tmp_path, "run", "study.toml", "--out", "out", "--workers", "1").code == 0
    compared = wolfbus(tmp_path, "compare", "out", "--factor", "debate_turns", "--permutations", "100")
    assert compared.code == 0, compared.err
    refused = wolfbus(tmp_path, "compare", "out", "--factor", "label", "--permutations", "100")
    assert refused.code == 2
    assert "labels were asked for" in refused.err


def test_a_folder_of_several_whole_studies_is_as_it_should_be_and_each_has_its_hash(played: Path) -> None:
    hashes = [json.loads(file.read_bytes())["study_hash"] for file in (played / "out").glob("*/study.json")]
    said = wolfbus(played, "verify", "out")
    assert said.code == 0, said.out
    assert [f"study hash   {each}" in said.out for each in hashes] == [True] * 4
    assert json.loads(wolfbus(played, "verify", "out", "--json").out)["fine"]
    assert wolfbus(played, "verify", "out", "--expect", hashes[0]).code == 1


def test_a_seed_of_0_is_the_seed_of_all_cells(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace('seed = "7"', "seed = 0").replace("games = 10", "games = 1"))
    seeds = set()
    for out in ("one", "other"):
        assert wolfbus(tmp_path, "run", "study.toml", "--out", out, "--quiet").code == 0
        seeds |= {game["seed"] for cell in (tmp_path / out).iterdir() if cell.is_dir() for game in openings(cell)}
    assert len(seeds) == 1


def test_a_difference_over_levels_has_students_interval() -> None:
    found = {
        level: {"metrics": {"m": {"difference": {"value": value}}}}
        for level, value in zip("abc", (1, 2, 6), strict=True)
    }
    row = across(found)["m"]
    # 4.3027 is the .975 quantile of Student's t with 2 degrees of freedom; the variance is 7
    half = 4.302653 * (7 / 3) ** 0.5
    assert (row["value"], row["low"], row["high"]) == pytest.approx((3, 3 - half, 3 + half))
    found["b"]["metrics"]["m"]["difference"]["value"] = None
    assert across(found)["m"]["low"] is None


def test_levels_that_all_give_the_same_have_no_interval_over_them():
    row = across({level: {"metrics": {"m": {"difference": {"value": 0.125}}}} for level in ("a", "b", "c")})["m"]
    assert (row["value"], row["low"], row["high"]) == (0.125, None, None)


def test_prompts_are_varied_by_wording_theme_and_a_line_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("""
games = 1
seed = 5
players = "llm:gpt-4.1*8"
[rules]
debate_turns = 1
max_rounds = 1
[endpoints.here]
provider = "mock"
[models."gpt-4.1"]
endpoint = "here"
[factors]
models."gpt-4.1".wording = ["standard", "plain", "formal"]
models."gpt-4.1".instructions = ["Trust nobody on the first day.", "Trust everybody."]
""")
    said = wolfbus(tmp_path, "run", "study.toml", "--out", "out", "--quiet", "--no-probe")
    assert said.code == 0, said.err
    systems = {}
    for cell in sorted((tmp_path / "out").iterdir()):
        if cell.is_dir():
            book = PromptBook()
            for recorded in read_record(open_lines(next((cell / "records").iterdir()))):
                book.feed(recorded.event, recorded.n)
                if recorded.event.type == "model_call":
                    systems[cell.name] = dict(book.messages(recorded.event))["system"]
    wordings, lines = ("formal", "plain", "standard"), (1, "Trust_everybody.")
    assert list(systems) == [f"wording={wording}+instructions={line}" for wording in wordings for line in lines]
    assert len(set(systems.values())) == 6
    assert all(("Trust nobody" in text) == name.endswith("=1") for name, text in systems.items())
    # the rules are the same in all
    rules = [text.partition("\nRULES\n")[2].partition("\nTrust")[0] for text in systems.values()]
    assert len(set(rules)) == 1


WORDED = """
games = 4
seed = 5
players = "llm:mini*4,scripted*4"
[rules]
debate_turns = 1
max_rounds = 1
[endpoints.here]
provider = "mock"
[models.mini]
model = "gpt-4.1"
endpoint = "here"
[factors]
models.mini.wording = ["standard", "plain"]
models.mini.temperature = [0, 1]
"""


def test_cells_that_differ_in_a_model_alone_are_measured_compared_exported_and_shown_side_by_side(
    tmp_path: Path,
) -> None:
    (tmp_path / "study.toml").write_text(WORDED)
    said = wolfbus(tmp_path, "run", "study.toml", "--out", "out", "--quiet", "--no-probe")
    assert said.code == 0, said.err
    report = wolfbus(tmp_path, "report", "out", "--json")
    assert (report.code, json.loads(report.out)["outcomes"]["games"]) == (0, 16), report.err
    compared = wolfbus(tmp_path, "compare", "out", "--factor", "wording", "--json")
    result = json.loads(compared.out)
    assert (compared.code, [result[side]["games"] for side in "ab"]) == (0, [8, 8]), compared.err
    assert result["pairing"]["pairs"] == 4
    exported = wolfbus(tmp_path, "export", "csv", "out", "--out", "tables")
    assert exported.code == 0, exported.err
    grown = wolfbus(tmp_path, "run", "--resume", "--out", "out", "--games", "5", "--quiet", "--no-probe")
    assert grown.code == 0, grown.err
    proven = wolfbus(tmp_path, "report", "out", "--prove", "--json")
    assert (proven.code, json.loads(proven.out)["outcomes"]["games"]) == (0, 20), proven.err


def test_studies_that_differ_in_a_model_alone_are_not_called_copies_of_each_other(tmp_path: Path) -> None:
    text = WORDED.partition("[factors]")[0]
    for wording in ("standard", "plain"):
        (tmp_path / "study.toml").write_text(f'{text}wording = "{wording}"\n')
        said = wolfbus(tmp_path, "run", "study.toml", "--out", f"runs/{wording}", "--quiet", "--no-probe")
        assert said.code == 0, said.err
    report = wolfbus(tmp_path, "report", "runs", "--json")
    assert (report.code, json.loads(report.out)["outcomes"]["games"]) == (1, 4)
    assert report.err.count("is another game of the id study-") == 4
    shutil.copytree(tmp_path / "runs" / "plain", tmp_path / "copies" / "again")
    shutil.copytree(tmp_path / "runs" / "plain", tmp_path / "copies" / "plain")
    assert "too; it is read from there" in wolfbus(tmp_path, "report", "copies", "--json").err


@pytest.mark.parametrize(("factors", "fault"), tables(__file__)["faults"])
def test_factors_that_cannot_be_played_are_refused_in_a_line_before_anything_is(
    tmp_path: Path, factors: str, fault: str
) -> None:
    (tmp_path / "study.toml").write_text(f'games = 2\nseed = 1\nplayers = "scripted"\n[rules]\n[factors]\n{factors}\n')
    said = wolfbus(tmp_path, "run", "study.toml", "--out", "out")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert said.err.startswith(f"wolfbus: study.toml: {fault}")
    assert not (tmp_path / "out").exists()


def test_what_is_wrong_with_a_folder_s_cells_is_said_in_a_line(played: Path, tmp_path: Path) -> None:
    out = shutil.copytree(played / "out", tmp_path / "out")
    for options, fault in (
        ([], "it varies debate_turns, vote_reasons: name one with --factor"),
        (["--factor", "turns"], "it has no factor turns; there are debate_turns, vote_reasons"),
        (["--factor", "debate_turns", "--levels", "1", "3"], "--levels 3: debate_turns has the levels 1, 2"),
        (["--factor", "debate_turns", "--over", "debate_turns"], "--over debate_turns: that is the factor"),
        (["--over", "debate_turns"], "--levels and --over go with a --factor"),
    ):
        said = wolfbus(tmp_path, "compare", "out", *options)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert fault in said.err
    noted = json.loads((out / "factors.json").read_bytes())
    for cells, fault in (
        ({"../elsewhere": {}}, "no name of a folder within"),
        ({"gone": {"debate_turns": "1", "vote_reasons": "true"}}, "missing, though"),
    ):
        (out / "factors.json").write_text(json.dumps({**noted, "cells": cells}))
        said = wolfbus(tmp_path, "run", "--resume", "--out", "out")
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert fault in said.err


@pytest.mark.parametrize("what", ["nested", "device", "folder"])
def test_what_is_no_file_of_cells_is_said_in_a_line(tmp_path: Path, what: str) -> None:
    file = tmp_path / "out" / "factors.json"
    file.parent.mkdir()
    if what == "nested":
        file.write_text("[" * 100_000)
    elif what == "device":
        file.symlink_to("/dev/zero")
    else:
        file.mkdir()
    said = wolfbus(tmp_path, "compare", "out", "--factor", "x")
    assert said.code == 2
    (line,) = said.err.splitlines()
    assert line.startswith("wolfbus: out/factors.json: ")


def test_a_study_whose_cells_somebody_else_named_runs_no_program_of_theirs(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        'games = 2\nseed = 1\nplayers = "exec:cat*1,scripted*7"\n[rules]\nmax_rounds = 1\n'
        "[factors]\nrules.debate_turns = [1, 2]\n"
    )
    assert wolfbus(tmp_path, "run", "study.toml", "--out", "out", "--quiet").code in {0, 1, 4}
    for seal in (tmp_path / "out").rglob(".trusted"):
        seal.unlink()
    said = wolfbus(tmp_path, "run", "--resume", "--out", "out", "--games", "3")
    assert said.code == 2
    assert "was not begun by you on this machine" in said.err


def test_a_table_whose_name_has_points_is_found() -> None:
    table = {"models": {"gpt-4.1": {"temperature": 0}}, "factors": {"models": {"gpt-4.1": {"temperature": [0, 1]}}}}
    assert [cell.table["models"]["gpt-4.1"]["temperature"] for cell in cells_of(table, "s")] == [0, 1]


MUTE = """
from players.llm.provider import ProviderReply, Shape

class Mute:
    url = "mute"
    def shape(self, model): return Shape()
    async def close(self): pass
    async def ask(self, request, seconds): return ProviderReply("{}", finish="stop", served="m")

def open_provider(endpoint, keys): return Mute()
"""


def test_a_cell_whose_model_never_gave_an_answer_is_told_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "mute.py").write_text(MUTE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    models = '[models.m]\nmodel = "m"\nendpoint = "m"\n[endpoints.m]\nprovider = "mute"\n'
    text = STUDY.replace("games = 10", "games = 1").replace("scripted*4,random*4", "llm:m*4,scripted*4")
    (tmp_path / "study.toml").write_text(f"{text.partition('rules.vote')[0]}{models}", "utf-8")
    said = wolfbus(tmp_path, "run", "study.toml", "--out", "out", "--workers", "1", "--no-probe", "--give-up", "0")
    for cell in ("debate_turns=1", "debate_turns=2"):
        assert f"wolfbus: {cell}: in 1 game, no answer of llm:m could be used: all are defaults" in said.err
        (line,) = (line for line in said.out.splitlines() if line.startswith(f"{cell}: "))
        assert "; missing " in line

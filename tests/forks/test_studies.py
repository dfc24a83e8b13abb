"""Studies of forks: which statements are chosen, that they are played like any study, and what is reported of them."""

import json
import shutil

import pytest
import tomli_w

import wolfbus
from tests.proving import prove
from tests.study.forged import forge
from wolfbus.cli import run
from wolfbus.errors import ConfigError

SHORT = {"rules": {"debate_turns": 2, "max_rounds": 1, "whispers": 1}}


@pytest.fixture(scope="module")
def parents(tmp_path_factory):
    out = tmp_path_factory.mktemp("parents") / "study"
    study = wolfbus.run_study(SHORT, players="tests.forks.brains:Knows", games=6, seed=1, out=out, workers=1)
    assert study.complete
    return out


@pytest.fixture(scope="module")
def forked(parents, tmp_path_factory):
    out = tmp_path_factory.mktemp("forks") / "study"
    chosen = wolfbus.forks_of(parents, lies=4, times=2, arms=["silence"])
    return wolfbus.run_study(chosen, out=out, workers=1)


def test_lies_are_chosen_by_the_seed_from_all_whatever_came_after_them(parents):
    everything = wolfbus.forks_of(parents, lies=1000)["forks"]["statements"]
    assert wolfbus.forks_of(parents, lies=3)["forks"]["statements"] == everything[:3]
    assert sorted(wolfbus.forks_of(parents, lies=1000, seed=2)["forks"]["statements"]) == sorted(everything)
    assert wolfbus.forks_of(parents, lies=1000, seed=2)["forks"]["statements"] != everything
    for statement in everything:
        game, number = statement.rsplit(":", 1)
        events = [one.event for one in prove(parents / "records" / f"{game}.ndjson").records]
        spoken = next(e for e in events if e.type == "statement" and e.statement == int(number))
        assert (spoken.phase, "moon" in spoken.text) == ("debate", True)


def test_each_statement_is_forked_for_every_arm_and_number(forked, parents):
    assert (forked.games, forked.ended) == (4 * 3 * 2, 24)
    forks = [prove(path).records[0].event.fork for path in forked.records]
    assert {fork.arm for fork in forks} == {"keep", "honest", "silence"}
    assert len({(fork.parent, fork.statement, fork.arm, fork.k) for fork in forks}) == 24
    assert run(["verify", str(forked.folder), "--prove", "--parent", str(parents)]) == 0


def test_commands_that_take_games_for_a_sample_say_that_forks_are_none(forked, parents, capsys):
    told = "are forks, which share what was said before: they are no sample of games\n"
    for words in (
        ("compare", str(forked.folder), str(parents), "--different-times"),
        ("plan", "--from", str(forked.folder), "--metric", "vote_hit_lift", "--games", "200"),
    ):
        run([*words])
        assert f"wolfbus: 24 of 24 games {told}" in capsys.readouterr().err
    run(["plan", "--from", str(parents), "--metric", "vote_hit_lift", "--games", "200"])
    assert told not in capsys.readouterr().err


def test_the_effect_known_by_construction_is_found_and_stands_in_report_and_export(forked, tmp_path, capsys):
    found = forked.findings()["forks"]
    assert (found["statements"], found["forks"], found["refused"]["value"]) == (4, 24, 0.0)
    effect = found["effects"]["suspicion"]
    assert effect["difference"]["value"] == pytest.approx(0.3)
    assert effect["keep"] - effect["honest"] == pytest.approx(0.3)
    assert found["contrasts"]["silence"]["dusk"]["n"] >= 0
    assert run(["report", str(forked.folder), "--md", "-"]) == 0
    assert "What lies did to those who told them" in capsys.readouterr().out
    assert run(["export", "csv", str(forked.folder), "--out", str(tmp_path / "csv")]) == 0
    assert len((tmp_path / "csv" / "forks.csv").read_text().splitlines()) == 25


def test_who_is_kept_silent_was_not_asked_and_lacks_no_answer(forked, tmp_path, capsys):
    silent = next(path for path in forked.records if prove(path).records[0].event.fork.arm == "silence")
    (left_out,) = (one.event for one in prove(silent).records if getattr(one.event, "note", None))
    assert (left_out.kind, left_out.content, left_out.note) == ("speak", None, "kept silent by the fork")
    overall = forked.findings()["repair"]["overall"]
    assert (overall["defaulted"], overall["timed_out"], overall["replies"]) == (0, 0, overall["accepted"])
    journal = (forked.folder / "journal.jsonl").read_text().splitlines()
    assert not any("defaults" in json.loads(line) for line in journal)
    assert run(["report", str(forked.folder)]) == 0
    assert "default" not in capsys.readouterr().out
    # no agent gets rid of its defaults by the same words
    pretended = wolfbus.run_study(
        SHORT, players="tests.forks.brains:Pretends", games=1, out=tmp_path / "pretended", workers=1
    )
    assert pretended.findings()["repair"]["by_kind"]["speak"]["defaulted"] > 0


def test_a_report_of_forks_says_what_lies_did_and_no_rate_of_agents(forked, parents, tmp_path, capsys):
    assert run(["report", str(forked.folder)]) == 0
    _, played, forks, *effects, no_sample, _ = (line.strip() for line in capsys.readouterr().out.splitlines())
    assert played.startswith("24 games, 24 of them finished")
    assert forks.startswith("24 forks of 4 statements of ")
    assert effects
    assert all("right after" in line or "that day" in line or "side won" in line for line in effects)
    assert no_sample.endswith("no sample of games: no rate of it is one of these agents.")
    assert run(["report", str(forked.folder), "--md", "-"]) == 0
    page = capsys.readouterr().out
    assert forks in page.partition("## What this study cannot show")[0]
    for said in ("What can be said, tested", "detects best", "Werewolves won"):
        assert said not in page
    for record in (*forked.records, *(parents / "records").glob("*.ndjson")):
        shutil.copy(record, tmp_path)
    assert run(["report", str(tmp_path)]) == 0
    warnings = [line.strip() for line in capsys.readouterr().out.splitlines() if "WARNING" in line]
    assert any(line.startswith("WARNING: 24 of 30 games are forks, and what was said before") for line in warnings)


def test_forks_belong_to_the_blocks_of_their_parents(forked, parents):
    blocks = {row["game"]: row["block"] for row in json.loads((parents / "study.json").read_text())["games"]}
    for row in json.loads((forked.folder / "study.json").read_text())["games"]:
        parent = prove(forked.folder / row["record"]).records[0].event.fork.parent
        assert row["block"] == blocks[parent]


def test_a_study_of_forks_goes_on_and_a_fork_that_was_cut_off_too(forked, tmp_path, parents):
    folder = tmp_path / "again"
    shutil.copytree(forked.folder, folder)
    first, second = sorted((folder / "records").glob("*.ndjson"))[:2]
    digests = prove(first).digest, prove(second).digest
    first.unlink()
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(b"".join(lines[:-5]))
    journal = folder / "journal.jsonl"
    journal.write_text("".join(line for line in journal.read_text().splitlines(True) if '"state":"ended"' not in line))
    (folder / "study.json").write_text(
        (folder / "study.json").read_text().replace('"state":"ended"', '"state":"pending"')
    )
    again = wolfbus.run_study(out=folder, resume=True, trust=True)
    assert again.complete
    assert (prove(first).digest, prove(second).digest) == digests


def test_where_no_honest_statement_comes_the_fork_fails_and_says_so(tmp_path):
    parents = wolfbus.run_study(
        SHORT, players="tests.forks.brains:AlwaysLies", games=1, seed=1, out=tmp_path / "parents", workers=1
    )
    forks = wolfbus.run_study(
        wolfbus.forks_of(parents.folder, lies=1, times=1, tries=2), out=tmp_path / "forks", workers=1
    )
    assert (forks.ended, forks.failed) == (1, 1)
    assert forks.errors[0][1] == "refused: no honest statement in 2 draws"
    assert forks.findings()["forks"]["refused"] == {"value": 1.0, "n": 1}


def test_the_command_forks_a_study_in_several_processes(parents, tmp_path, capsys):
    words = ["fork", str(parents), "--lies", "2", "--times", "1", "--workers", "2", "--out", str(tmp_path / "forks")]
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ended"] == 4


def test_what_a_study_that_was_handed_over_names_is_not_run_without_leave(parents, tmp_path, capsys):
    handed_over = tmp_path / "handed"
    shutil.copytree(parents, handed_over)
    (handed_over / ".trusted").unlink()
    capsys.readouterr()
    words = ["fork", str(handed_over), "--lies", "1", "--times", "1", "--quiet", "--out", str(tmp_path / "forks")]
    assert run([*words, "--arm", "by:tests.forks.brains:Shrugs"]) == 2
    told = capsys.readouterr().err
    assert "it imports tests.forks.brains:Knows, and was not begun by you" in told
    assert "Shrugs" not in told
    assert not (tmp_path / "forks").exists()


def test_a_record_of_a_handed_over_study_has_nobody_play_whom_the_study_does_not_name(tmp_path):
    parents = wolfbus.run_study(SHORT, players="scripted", games=4, seed=1, out=tmp_path / "parents", workers=1)
    chosen = wolfbus.forks_of(parents.folder, lies=1, times=1, arms=["redraw"])
    program = f"exec:touch {tmp_path / 'RAN'}"

    def seat_program(event):
        if event.type != "opened":
            return event
        seats = tuple(seat.model_copy(update={"brain": program}) for seat in event.seats)
        return event.model_copy(update={"seats": seats})

    for record in parents.records:
        forge(record, seat_program)
    forks = wolfbus.run_study(chosen, out=tmp_path / "forks", workers=1)
    assert forks.failed == forks.games == 3
    assert all(f"its study notes other players than the record has: {program}" in why for _, why in forks.errors)
    assert not (tmp_path / "RAN").exists()


def test_forks_are_played_by_no_house_and_no_worker_of_an_agenda(parents, tmp_path, capsys):
    study = tmp_path / "forks.toml"
    study.write_text(tomli_w.dumps(wolfbus.forks_of(parents, lies=1)))
    for where in ("--share", "--house"):
        assert run(["run", str(study), where, "mine", "--bus", "redis://127.0.0.1:1"]) == 2
        assert "forks are played where their parents' records are" in capsys.readouterr().err


def test_what_cannot_be_forked_is_refused_in_one_line(parents, tmp_path, capsys):
    with pytest.raises(ConfigError, match="no study; give the folder of one"):
        wolfbus.forks_of(tmp_path)
    chosen = wolfbus.forks_of(parents, lies=1)
    chosen["forks"]["statements"] = ["nowhere:1"]
    with pytest.raises(ConfigError, match=r"forks: nowhere:1: .* has no game of that name that has ended"):
        wolfbus.run_study(chosen, out=tmp_path / "none")
    capsys.readouterr()
    assert run(["fork", str(parents), "--at", "1"]) == 2
    assert "--at is a statement of one RECORD" in capsys.readouterr().err


def without(member, parents, folder):
    """Forks of a copy of a study that does not tell something of its games."""
    shutil.copytree(parents, folder)
    manifest = json.loads((parents / "study.json").read_text("utf-8"))
    for row in manifest["games"]:
        del row[member]
    (folder / "study.json").write_text(json.dumps(manifest), "utf-8")
    chosen = wolfbus.forks_of(parents, lies=1)
    chosen["forks"]["of"] = str(folder)
    return chosen


@pytest.mark.parametrize("member", ["seed", "brains"])
def test_a_study_that_does_not_tell_how_its_games_were_played_is_refused_in_one_line(parents, tmp_path, member):
    with pytest.raises(ConfigError, match=f"study.json does not tell the game's {member}"):
        wolfbus.run_study(without(member, parents, tmp_path / "parents"), out=tmp_path / "forks")


def test_of_a_study_that_tells_no_blocks_each_game_is_one(parents, tmp_path):
    chosen = without("block", parents, tmp_path / "parents")
    forks = wolfbus.run_study(chosen, out=tmp_path / "forks", workers=1, trust=True)
    (statement,) = chosen["forks"]["statements"]
    rows = json.loads((forks.folder / "study.json").read_text("utf-8"))["games"]
    assert {row["block"] for row in rows} == {statement.rpartition(":")[0]}

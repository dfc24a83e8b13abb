"""A study's records are what it noted, or named and left out, by every command that reads it."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.study.forged import GAMES, Study, another_game, forge, hash_of, other_words, villagers_win
from tests.study.runs import SHORT, journal_lines, manifest, run_here, without_times
from wolfbus.cli import FAILED, run
from wolfbus.study.folder import StudyFolder

PENDING = {"state": "pending", "winner": None, "digest": None, "head": None}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A study of games that the villagers do not all win."""
    folder = tmp_path_factory.mktemp("proven")
    (folder / "study.toml").write_text(f'games = {GAMES}\nseed = 5\nplayers = "scripted"\n{SHORT}')
    run_here(folder / "study.toml", "--out", folder / "s", code=0)
    return folder / "s"


@pytest.fixture
def command(capsys):
    def command(*words):
        capsys.readouterr()
        code = run([str(word) for word in words])
        return code, *capsys.readouterr()

    return command


@pytest.fixture
def failing(command):
    """Run a command that has to say that something is wrong; returns stdout and stderr."""

    def failing(*words):
        code, out, err = command(*words)
        assert code == FAILED, words
        return out, err

    return failing


@pytest.fixture
def study(played, tmp_path, command):
    return Study(shutil.copytree(played, tmp_path / "s"), command)


# -- what every reader says of a study that was forged


@pytest.mark.parametrize("heads", [True, False])
def test_forged_winners_are_named_by_every_reader_and_left_out(study, failing, tmp_path, heads):
    if not heads:
        study.drop_heads()
    forged = study.forge_winners()
    readers = [("export", "csv", study, "--out", tmp_path / "csv", "--force"), ("verify", study)]
    if heads:
        readers += [("report", study, "--json"), ("compare", study, study, "--json")]
    for words in readers:
        out, err = failing(*words)
        for path in forged:
            line = next(line for line in err.splitlines() if line.startswith(f"wolfbus: {path}: "))
            assert "in the record villagers" in line
            assert line.endswith("(left out)")
        if words[0] == "report":
            assert json.loads(out)["outcomes"]["games"] == GAMES - len(forged)
    assert study.counted() == GAMES - len(forged)
    assert study.counted("--include-differing") == GAMES


def test_texts_that_no_digest_holds_differ_by_the_head(study, failing):
    game = study.games[0]
    forge(study.record(game), other_words)
    _, err = failing("verify", study, "--prove")
    (line,) = err.splitlines()
    assert f"head {game['head'][:12]}…, in the record " in line
    assert "digest " not in line
    assert study.counted() == GAMES - 1


def test_a_forged_manifest_differs_from_the_journal(study, failing):
    game = study.others[0]
    head = forge(study.record(game), villagers_win)
    study.edit_games(game["number"], winner="villagers", head=head)
    _, err = failing("verify", study)
    lines = {line.partition(": ")[2] for line in err.splitlines()}
    assert any(game["game"] in line and "(journal.jsonl)" in line for line in lines)
    assert f"{study.folder / 'study.json'}: study_hash: not the hash over the heads of its games" in lines


def test_only_a_published_hash_tells_of_records_manifest_and_journal_that_were_all_forged(study, command, failing):
    published = study.manifest["study_hash"]
    assert command("verify", study, "--expect", published)[0] == 0
    heads = {game["game"]: forge(study.record(game), other_words) for game in study.games}
    study.edit(lambda manifest: [game.update(head=heads[game["game"]]) for game in manifest["games"]])
    study.edit(lambda manifest: manifest.update(study_hash=hash_of(heads)))
    study.journal.unlink()
    code, out, _ = command("verify", study, "--prove")
    assert code == 0
    assert f"{GAMES} of {GAMES} records proven" in out
    assert "Not shown by this: that labels" in out
    out, _ = failing("verify", study, "--expect", published)
    assert f"NO: {published} was expected" in out


def test_records_that_differ_are_not_the_bytes_that_were_published_though_the_hash_is(study, failing):
    study.forge_winners()
    out, _ = failing("verify", study, "--expect", study.manifest["study_hash"])
    assert "NO: the hash is the one expected, and what is named above is not what it is of" in out


def test_a_record_that_is_missing_added_or_doubled_is_named(study, failing):
    first, second, third, *_ = map(study.record, study.games)
    again, stranger = (study.folder / "records" / f"{name}.ndjson" for name in ("again", "stranger"))
    shutil.copy(second, again)
    shutil.copy(third, stranger)
    forge(stranger, another_game)
    first.unlink()
    _, err = failing("verify", study)
    lines = {line.split(": ")[1]: line for line in err.splitlines()}
    assert "missing: study" in lines[str(first)]
    assert "stands in" in lines[str(again)]
    assert "planned no game stranger" in lines[str(stranger)]
    assert study.counted() == GAMES - 1


def test_of_two_records_of_a_game_the_one_that_was_noted_counts_wherever_it_stands(study, failing):
    game = study.others[0]
    path, genuine = study.record(game), study.folder / "records" / "zz.ndjson"
    shutil.copy(path, genuine)
    forge(path, villagers_win)
    _, err = failing("verify", study)
    assert f"wolfbus: {path}: game {game['game']} stands in {genuine}, too" in err
    assert study.counted() == GAMES
    # a link to a forged record is no better than the record
    path.rename(study.folder / "forged")
    genuine.unlink()
    path.symlink_to(study.folder / "forged")
    assert study.counted() == GAMES - 1


def test_a_whole_record_of_a_game_whose_end_nobody_noted_is_left_out(study, command, failing):
    study.edit_games(1, **PENDING)
    assert command("verify", study)[2].startswith(f"wolfbus: {study.folder / 'study.json'}: study_hash: ")
    # the journal has it
    assert study.counted() == GAMES
    study.journal.unlink()
    _, err = failing("verify", study)
    assert f"notes no end of game {study.games[0]['game']} (pending)" in err
    assert study.counted() == GAMES - 1


def test_while_a_study_is_played_games_that_have_not_ended_are_told_and_left_out_and_nothing_is_wrong(study, command):
    study.edit(lambda edited: [edited.pop("study_hash"), edited["games"][0].update(PENDING)])
    study.journal.unlink()
    with StudyFolder(study.folder):
        code, out, err = command("verify", study)
        assert (code, err) == (0, "")
        assert f"{GAMES - 1} of {GAMES - 1} records" in out
        assert "under way    1 game: the study is being played" in out
        assert "the study is being played, 1 game not ended" in command("report", study)[1]
        assert study.counted() == GAMES - 1
    assert command("verify", study)[0] == FAILED


def test_a_rule_that_was_not_kept_is_found_by_re_execution_even_where_nothing_is_noted(
    study, command, tmp_path, failing
):
    game = study.others[0]
    forge(study.record(game), villagers_win)
    alone = tmp_path / "alone"
    shutil.copytree(study.folder / "records", alone)
    assert command("verify", alone)[0] == 0
    for words in (("verify", alone), ("export", "csv", alone, "--out", tmp_path)):
        out, err = failing(*words, "--prove")
        assert any(game["game"] in line and "the rules give" in line for line in err.splitlines())
        assert words[0] == "export" or f"{GAMES - 1} of {GAMES} records proven" in out
    assert study.counted("--prove", of=alone) == GAMES - 1


# -- the hash, and what is said of it


def test_the_hash_of_a_study_is_over_game_and_head_of_each_record(played, command):
    loaded = manifest(played)
    heads = {
        game["game"]: json.loads((played / game["record"]).read_bytes().splitlines()[-1])["hash"]
        for game in loaded["games"]
    }
    assert loaded["study_hash"] == hash_of(heads)
    assert loaded["study_hash"] in command("report", played, "--bibtex")[1]
    assert f"Hash    {loaded['study_hash']}" in run_here("--resume", "--out", played).stdout
    assert json.loads(run_here("--resume", "--out", played, "--json").stdout)["study_hash"] == loaded["study_hash"]
    assert json.loads(command("report", played, "--json")[1])["studies"][0]["checked"] == {
        "records": GAMES, "whole": GAMES, "compared": ["winner", "rounds", "digest", "head"],
        "proven": None, "study_hash": loaded["study_hash"], "under_way": 0,
    }  # fmt: skip


def test_the_page_says_what_was_checked_and_no_more(study, command):
    hashed = f"study hash {study.manifest['study_hash']}"
    out = command("report", study, "--md", "-")[1]
    assert f"{GAMES} of {GAMES} records as noted (winner, rounds, digest and head), none re-executed, {hashed}" in out
    assert " proven, study hash" not in out
    assert f"{GAMES} of {GAMES} records proven, {hashed}" in command("report", study, "--md", "-", "--prove")[1]
    first_screen = f"study hash {study.manifest['study_hash'][:12]}…"
    assert first_screen in out
    study.record(study.games[0]).rename(study.folder / "lost")
    assert first_screen not in command("report", study, "--md", "-")[1]
    (study.folder / "lost").rename(study.record(study.games[0]))
    study.drop_heads()
    out = command("report", study, "--md", "-")[1]
    # the records are there, and their heads give the hash that the manifest no longer tells
    assert f"{GAMES} of {GAMES} records as noted (winner, rounds and digest), none re-executed, {hashed}" in out
    assert "This study notes no heads, as an earlier version wrote it" in out


def test_a_record_is_verified_by_its_head(played, command, tmp_path, failing):
    game = manifest(played)["games"][0]
    record = played / game["record"]
    assert json.loads(command("replay", record, "--json")[1])["head"] == game["head"]
    text = " ".join(command("replay", record)[1].split())
    assert f"Head {game['head']}" in text
    assert "the rules give every derived event from the recorded answers" in text
    unproven = "labels, judgements, texts, thoughts, times, brains and model calls are what was said."
    assert f"Not proven: that {unproven}" in text
    code, out, err = command("verify", record, "--prove", "--expect", game["head"].upper(), "--json")
    result = json.loads(out)
    assert (code, err, result["fine"]) == (0, "", True)
    assert result["results"][0]["hash"] == game["head"]
    assert result["results"][0]["checked"][0]["proven"] == 1
    out, _ = failing("verify", record, "--expect", "0" * 64)
    assert f"NO: {'0' * 64} was expected" in out
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    failing("verify", cut)


def test_times_that_run_backwards_are_refused(study, command, failing):
    record = study.record(study.games[0])
    forge(record, lambda event: event, later=1000.0)
    for words in (("replay", record), ("verify", record), ("report", record, "--json")):
        _, err = failing(*words)
        assert "line 8: time " in err
        assert "times run backwards" in err
    forged = json.loads(command("replay", record, "--json")[1])
    assert (forged["verified"], forged["events"]) == (False, 7)


# -- going on with a study that was forged


def test_resuming_sets_forged_records_aside_and_plays_their_games_anew(study, command):
    before, forged = study.manifest, study.forge_winners()
    done = study.resume()
    for path in forged:
        (line,) = (line for line in done.stderr.splitlines() if path.name in line)
        assert "the game is played anew" in line
    assert without_times(study.manifest) == without_times(before)
    assert study.aside == {f"{path.stem}.1.partial" for path in forged}
    assert command("verify", study, "--prove")[0] == 0


@pytest.mark.parametrize("where", ["study.json", "journal.jsonl"])
def test_resuming_never_takes_over_a_forged_digest(study, where):
    before, path = study.manifest, study.folder / where
    digest = before["games"][0]["digest"]
    path.write_text(path.read_text().replace(digest, "f" * 64))
    assert f"digest ffffffffffff…, in the record {digest[:12]}…" in study.resume().stderr
    assert without_times(study.manifest) == without_times(before)
    assert "f" * 64 not in (study.folder / "study.json").read_text()


def test_a_record_that_a_kill_kept_from_being_noted_counts_if_the_rules_give_it(study):
    before, genuine, forged = study.manifest, study.games[0], study.others[-1]
    forge(study.record(forged), villagers_win)
    before_ns = study.record(genuine).stat().st_mtime_ns
    numbers = {genuine["number"], forged["number"]}
    study.edit_games(*numbers, **PENDING, rounds=None)
    lines = [line for line in study.journal.read_text().splitlines() if json.loads(line).get("number") not in numbers]
    study.journal.write_text("".join(f"{line}\n" for line in lines))
    study.resume()
    assert without_times(study.manifest) == without_times(before)
    assert study.record(genuine).stat().st_mtime_ns == before_ns
    assert study.aside == {f"{study.record(forged).stem}.1.partial"}
    assert journal_lines(study.folder) == GAMES


def test_a_game_that_is_played_anew_is_not_measured_by_what_was_noted_before(study, played):
    record = study.record(study.games[0])
    forge(record, villagers_win)
    forge(record, other_words)
    study.resume()
    anew = record.read_bytes()
    # killed between the record's last line and the journal's, which says that the old one is void
    lines = study.journal.read_text().splitlines(keepends=True)
    assert [json.loads(line)["state"] for line in lines[-2:]] == ["stopped", "ended"]
    study.journal.write_text("".join(lines[:-1]))
    study.edit_games(1, **PENDING)
    study.resume()
    assert record.read_bytes() == anew
    assert without_times(study.manifest) == without_times(manifest(played))


def test_a_study_of_an_earlier_version_is_resumed_and_has_heads_from_then_on(study, played):
    study.drop_heads()
    study.resume()
    assert study.manifest["study_hash"] == manifest(played)["study_hash"]
    assert not (study.folder / "aside").exists()

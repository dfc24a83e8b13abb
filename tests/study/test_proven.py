"""A study's records are what it noted, or named and left out, by every command that reads it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.study.runs import SHORT, journal_lines, manifest, run_here, without_times
from wolfbus.cli import FAILED, USAGE, run
from wolfbus.messages.events import AnyEvent
from wolfbus.record.line import Recorded, seal
from wolfbus.record.reader import open_lines, read_record
from wolfbus.study.manifest import study_hash

GAMES = 7
Told = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of games that the villagers do not all win."""
    folder = tmp_path_factory.mktemp("proven")
    (folder / "study.toml").write_text(f'games = {GAMES}\nseed = 5\nplayers = "scripted"\n{SHORT}')
    assert run_here(folder / "study.toml", "--out", folder / "s").returncode == 0
    return folder / "s"


@pytest.fixture
def study(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "s"))


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def told(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return told


def forge(path: Path, change: Callable[[AnyEvent], AnyEvent], later: float = 0.0) -> str:
    """Change a record's events, compute its chain anew, and return its new head."""
    head, lines = "", []
    for recorded in read_record(open_lines(path)):
        time = recorded.time + (later if recorded.n % 7 == 0 else 0.0)
        sealed, line = seal(head, Recorded(recorded.n, time, recorded.audience, change(recorded.event)))
        head = sealed.hash
        lines.append(line + b"\n")
    path.write_bytes(b"".join(lines))
    return head


def villagers_win(event: AnyEvent) -> AnyEvent:
    return event.model_copy(update={"winner": "villagers"}) if event.type == "ended" else event


def other_words(event: AnyEvent) -> AnyEvent:
    return event.model_copy(update={"thought": "I never thought so."}) if event.type == "answered" else event


def forge_winners(study: Path) -> list[Path]:
    """Forge every winner but the villagers'."""
    paths = [study / game["record"] for game in manifest(study)["games"] if game["winner"] != "villagers"]
    assert len(paths) >= 4
    for path in paths:
        forge(path, villagers_win)
    return paths


def games_counted(told: Told, study: Path, *words: str) -> int:
    """How many games a reader of the study counts: the export, which is quicker than a report."""
    out = study.parent / "counted"
    told("export", "csv", study, "--out", out, "--tables", "games", "--force", *words)
    return (out / "games.csv").read_text().count("\n") - 1


def edit_manifest(study: Path, change: Callable[[dict[str, Any]], None]) -> None:
    found = manifest(study)
    change(found)
    (study / "study.json").write_text(json.dumps(found))


def drop_heads(study: Path) -> None:
    """Make it what an earlier version left, with neither heads nor hash, and lose the journal."""

    def change(found: dict[str, Any]) -> None:
        del found["study_hash"]
        for game in found["games"]:
            del game["head"]

    edit_manifest(study, change)
    (study / "journal.jsonl").unlink()


@pytest.mark.parametrize("heads", [True, False])
def test_forged_winners_are_named_by_every_reader_and_left_out(
    study: Path, told: Told, tmp_path: Path, heads: bool
) -> None:
    if not heads:
        drop_heads(study)
    forged = forge_winners(study)
    commands = (
        *((("report", study, "--json"), ("compare", study, study, "--json")) if heads else ()),
        ("export", "csv", study, "--out", tmp_path / "csv", "--force"),
        ("verify", study),
    )
    for words in commands:
        code, out, err = told(*words)
        assert code == FAILED, words
        for path in forged:
            lines = [line for line in err.splitlines() if line.startswith(f"wolfbus: {path}: ")]
            assert lines, words
            assert "in the record villagers" in lines[0]
            assert lines[0].endswith("(left out)")
        if words[0] == "report":
            assert json.loads(out)["outcomes"]["games"] == GAMES - len(forged)
    assert games_counted(told, study) == GAMES - len(forged)
    assert games_counted(told, study, "--include-differing") == GAMES
    assert told("verify", study)[0] == FAILED


def test_texts_that_no_digest_holds_differ_by_the_head(study: Path, told: Told) -> None:
    (game, *_) = manifest(study)["games"]
    forge(study / game["record"], other_words)
    code, _, err = told("verify", study, "--prove")
    assert code == FAILED
    (line,) = err.splitlines()
    assert f"head {game['head'][:12]}…, in the record " in line
    assert "digest " not in line
    assert games_counted(told, study) == GAMES - 1


def test_a_forged_manifest_differs_from_the_journal(study: Path, told: Told) -> None:
    (game, *_) = (each for each in manifest(study)["games"] if each["winner"] != "villagers")
    head = forge(study / game["record"], villagers_win)

    def change(found: dict[str, Any]) -> None:
        row = found["games"][game["number"] - 1]
        row["winner"], row["head"] = "villagers", head

    edit_manifest(study, change)
    code, _, err = told("report", study, "--json")
    assert code == FAILED
    first, second, _ = err.splitlines()
    assert game["game"] in first
    assert "(journal.jsonl)" in first
    assert second == f"wolfbus: {study / 'study.json'}: study_hash: not the hash over the heads of its games"


def test_only_a_published_hash_tells_of_records_manifest_and_journal_that_were_all_forged(
    study: Path, told: Told
) -> None:
    published = manifest(study)["study_hash"]
    assert told("verify", study, "--expect", published)[0] == 0
    heads = {}
    for game in manifest(study)["games"]:
        heads[game["game"]] = forge(study / game["record"], other_words)

    def change(found: dict[str, Any]) -> None:
        for game in found["games"]:
            game["head"] = heads[game["game"]]
        found["study_hash"] = study_hash(heads.items())

    edit_manifest(study, change)
    (study / "journal.jsonl").unlink()
    code, out, _ = told("verify", study, "--prove")
    assert code == 0
    assert f"{GAMES} of {GAMES} records proven" in out
    assert "Not shown by this: that labels" in out
    code, out, _ = told("verify", study, "--expect", published)
    assert code == FAILED
    assert f"NO: {published} was expected" in out


def test_the_hash_of_a_study_is_over_game_and_head_of_each_record(played: Path, told: Told) -> None:
    found = manifest(played)
    heads = {
        game["game"]: json.loads((played / game["record"]).read_bytes().splitlines()[-1])["hash"]
        for game in found["games"]
    }
    assert found["study_hash"] == study_hash(heads.items()) == study_hash(reversed(heads.items()))
    assert study_hash([*heads.items()][1:]) != found["study_hash"]
    assert study_hash({**heads, next(iter(heads)): "0" * 64}.items()) != found["study_hash"]
    assert study_hash([]) is study_hash([("g", "")]) is None
    assert found["study_hash"] in told("report", played, "--bibtex")[1]
    assert f"Hash    {found['study_hash']}" in run_here("--resume", "--out", played).stdout
    assert json.loads(run_here("--resume", "--out", played, "--json").stdout)["study_hash"] == found["study_hash"]
    assert json.loads(told("report", played, "--json")[1])["studies"][0]["checked"] == {
        "records": GAMES, "whole": GAMES, "compared": ["winner", "rounds", "digest", "head"],
        "proven": None, "study_hash": found["study_hash"],
    }  # fmt: skip


def test_the_page_says_what_was_checked_and_no_more(study: Path, told: Told) -> None:
    hashed = f"study hash {manifest(study)['study_hash']}"
    _, out, _ = told("report", study, "--md", "-")
    assert f"{GAMES} of {GAMES} records as noted (winner, rounds, digest and head), none re-executed, {hashed}" in out
    assert " proven, study hash" not in out
    _, out, _ = told("report", study, "--md", "-", "--prove")
    assert f"{GAMES} of {GAMES} records proven, {hashed}" in out
    drop_heads(study)
    _, out, _ = told("report", study, "--md", "-")
    # the records are there, and their heads give the hash that the manifest no longer tells
    assert f"{GAMES} of {GAMES} records as noted (winner, rounds and digest), none re-executed, {hashed}" in out
    assert "This study notes no heads, as an earlier version wrote it" in out


def test_a_rule_that_was_not_kept_is_found_by_re_execution_even_where_nothing_is_noted(
    study: Path, told: Told, tmp_path: Path
) -> None:
    (game, *_) = (each for each in manifest(study)["games"] if each["winner"] != "villagers")
    forge(study / game["record"], villagers_win)
    alone = tmp_path / "alone"
    shutil.copytree(study / "records", alone)
    assert told("verify", alone)[0] == 0
    for words in (
        ("verify", alone),
        ("export", "csv", alone, "--out", tmp_path),
    ):
        code, _, err = told(*words, "--prove")
        assert code == FAILED
        assert any(game["game"] in line and "the rules give" in line for line in err.splitlines())
    assert games_counted(told, alone, "--prove") == GAMES - 1
    assert f"{GAMES - 1} of {GAMES} records proven" in told("report", alone, "--md", "-", "--prove")[1]


def test_a_record_that_is_missing_added_or_doubled_is_named(study: Path, told: Told) -> None:
    first, second, third, *_ = (study / game["record"] for game in manifest(study)["games"])
    shutil.copy(second, study / "records" / "again.ndjson")
    shutil.copy(third, study / "records" / "stranger.ndjson")
    forge(
        study / "records" / "stranger.ndjson",
        lambda event: event.model_copy(update={"game": "stranger"}) if event.type == "opened" else event,
    )
    first.unlink()
    code, _, err = told("verify", study)
    assert code == FAILED
    lines = {line.split(": ")[1]: line for line in err.splitlines()}
    assert "missing: study" in lines[str(first)]
    assert "stands in" in lines[str(study / "records" / "again.ndjson")]
    assert "planned no game stranger" in lines[str(study / "records" / "stranger.ndjson")]
    assert games_counted(told, study) == GAMES - 1


def test_of_two_records_of_a_game_the_one_that_was_noted_counts_wherever_it_stands(study: Path, told: Told) -> None:
    (game, *_) = (each for each in manifest(study)["games"] if each["winner"] != "villagers")
    path = study / game["record"]
    genuine = study / "records" / "zz.ndjson"
    shutil.copy(path, genuine)
    forge(path, villagers_win)
    code, _, err = told("verify", study)
    assert code == FAILED
    assert f"wolfbus: {path}: game {game['game']} stands in {genuine}, too" in err
    assert games_counted(told, study) == GAMES
    # a link to a forged record is no better than the record
    path.rename(study / "forged")
    genuine.unlink()
    path.symlink_to(study / "forged")
    assert games_counted(told, study) == GAMES - 1


def test_a_whole_record_of_a_game_whose_end_nobody_noted_is_left_out(study: Path, told: Told) -> None:
    edit_manifest(
        study,
        lambda found: found["games"][0].update(state="pending", winner=None, digest=None, head=None),
    )
    assert told("verify", study)[2].startswith(f"wolfbus: {study / 'study.json'}: study_hash: ")
    # the journal has it
    assert games_counted(told, study) == GAMES
    (study / "journal.jsonl").unlink()
    code, _, err = told("report", study, "--json")
    assert code == FAILED
    assert f"notes no end of game {manifest(study)['games'][0]['game']} (pending)" in err
    assert games_counted(told, study) == GAMES - 1


def test_resuming_sets_forged_records_aside_and_plays_their_games_anew(study: Path, told: Told) -> None:
    before = manifest(study)
    forged = forge_winners(study)
    done = run_here("--resume", "--out", study)
    assert done.returncode == 0, done.stderr
    for path in forged:
        (line,) = (line for line in done.stderr.splitlines() if path.name in line)
        assert "the game is played anew" in line
    assert without_times(manifest(study)) == without_times(before)
    assert {path.name for path in (study / "aside").iterdir()} == {f"{path.stem}.1.partial" for path in forged}
    assert told("verify", study, "--prove")[0] == 0


@pytest.mark.parametrize("where", ["study.json", "journal.jsonl"])
def test_resuming_never_takes_over_a_forged_digest(study: Path, where: str) -> None:
    before = manifest(study)
    game = before["games"][0]
    path = study / where
    path.write_text(path.read_text().replace(game["digest"], "f" * 64))
    done = run_here("--resume", "--out", study)
    assert done.returncode == 0, done.stderr
    assert f"digest ffffffffffff…, in the record {game['digest'][:12]}…" in done.stderr
    assert without_times(manifest(study)) == without_times(before)
    assert "f" * 64 not in (study / "study.json").read_text()


def test_a_record_that_a_kill_kept_from_being_noted_counts_if_the_rules_give_it(
    study: Path,
) -> None:
    before = manifest(study)
    genuine, forged = (
        before["games"][0],
        next(each for each in before["games"][1:] if each["winner"] != "villagers"),
    )
    forge(study / forged["record"], villagers_win)
    kept = (study / genuine["record"]).stat().st_mtime_ns
    numbers = {genuine["number"], forged["number"]}

    def change(found: dict[str, Any]) -> None:
        for number in numbers:
            row = found["games"][number - 1]
            row.update(state="pending", winner=None, digest=None, head=None, rounds=None)

    edit_manifest(study, change)
    journal = study / "journal.jsonl"
    lines = [line for line in journal.read_text().splitlines() if json.loads(line).get("number") not in numbers]
    journal.write_text("".join(f"{line}\n" for line in lines))
    assert run_here("--resume", "--out", study).returncode == 0
    assert without_times(manifest(study)) == without_times(before)
    assert (study / genuine["record"]).stat().st_mtime_ns == kept
    assert [path.name for path in (study / "aside").iterdir()] == [f"{Path(forged['record']).stem}.1.partial"]
    assert journal_lines(study) == GAMES


def test_a_game_that_is_played_anew_is_not_measured_by_what_was_noted_before(study: Path, played: Path) -> None:
    game = manifest(study)["games"][0]
    record = study / game["record"]
    forge(record, villagers_win, later=0.0)
    forge(record, other_words)
    assert run_here("--resume", "--out", study).returncode == 0
    anew = record.read_bytes()
    # killed between the record's last line and the journal's, which says that the old one is void
    journal = study / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    assert [json.loads(line)["state"] for line in lines[-2:]] == ["stopped", "ended"]
    journal.write_text("".join(lines[:-1]))
    edit_manifest(
        study,
        lambda found: found["games"][0].update(state="pending", winner=None, digest=None, head=None),
    )
    assert run_here("--resume", "--out", study).returncode == 0
    assert record.read_bytes() == anew
    assert without_times(manifest(study)) == without_times(manifest(played))


def test_a_study_of_an_earlier_version_is_resumed_and_has_heads_from_then_on(study: Path, played: Path) -> None:
    drop_heads(study)
    assert run_here("--resume", "--out", study).returncode == 0
    assert manifest(study)["study_hash"] == manifest(played)["study_hash"]
    assert not (study / "aside").exists()


def test_a_record_is_verified_by_its_head(played: Path, told: Told, tmp_path: Path) -> None:
    game = manifest(played)["games"][0]
    record = played / game["record"]
    shown = json.loads(told("replay", record, "--json")[1])
    assert shown["head"] == game["head"]
    assert f"Head   {game['head']}" in told("replay", record)[1]
    code, out, err = told("verify", record, "--prove", "--expect", game["head"].upper(), "--json")
    result = json.loads(out)
    assert (code, err, result["fine"]) == (0, "", True)
    assert result["results"][0]["hash"] == game["head"]
    assert result["results"][0]["checked"][0]["proven"] == 1
    code, out, _ = told("verify", record, "--expect", "0" * 64)
    assert code == FAILED
    assert f"NO: {'0' * 64} was expected" in out
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:-1]))
    assert told("verify", cut)[0] == FAILED


def test_records_that_differ_are_not_the_bytes_that_were_published_though_the_hash_is(study: Path, told: Told) -> None:
    forge_winners(study)
    code, out, _ = told("verify", study, "--expect", manifest(study)["study_hash"])
    assert code == FAILED
    assert "NO: the hash is the one expected, and what is named above is not what it is of" in out


def test_what_cannot_be_expected_is_refused(played: Path, told: Told) -> None:
    assert told("verify", played, "--expect", "abc")[0] == USAGE
    assert told("verify", played, played / "records", "--expect", "0" * 64)[0] == USAGE


def test_times_that_run_backwards_are_refused(played: Path, told: Told, tmp_path: Path) -> None:
    record = tmp_path / "game.ndjson"
    shutil.copy(played / manifest(played)["games"][0]["record"], record)
    assert told("replay", record, "--json")[0] == 0
    forge(record, lambda event: event, later=1000.0)
    for words in (("replay", record), ("verify", record), ("report", record, "--json")):
        code, _, err = told(*words)
        assert code == FAILED
        assert "line 8: time " in err
        assert "times run backwards" in err
    forged = json.loads(told("replay", record, "--json")[1])
    assert (forged["verified"], forged["events"]) == (False, 7)


def test_verified_says_in_words_what_it_does_not_prove(played: Path, told: Told) -> None:
    _, out, _ = told("replay", played / manifest(played)["games"][0]["record"])
    told_in_words = " ".join(out.split())
    assert "the rules give every derived event from the recorded answers" in told_in_words
    assert (
        "Not proven: that labels, judgements, texts, thoughts, times, brains and model calls are "
        "what was said." in told_in_words
    )


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_hash_is_signed_and_the_signature_is_of_that_hash_and_that_signer(
    study: Path, told: Told, tmp_path: Path
) -> None:
    for name in ("ada", "eve"):
        key = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            str(tmp_path / name),
        ]
        subprocess.run(key, check=True, stdin=subprocess.DEVNULL)
        words = (tmp_path / f"{name}.pub").read_text().split()
        (tmp_path / f"{name}.signers").write_text(f"{name}@example.org {words[0]} {words[1]}\n")
    assert told("verify", study, "--signed-by", tmp_path / "ada.signers")[0] == USAGE
    code, out, _ = told("verify", study, "--sign", tmp_path / "ada")
    assert code == 0
    assert f"written to {study / 'study.json.sig'}" in out
    code, out, _ = told("verify", study, "--signed-by", tmp_path / "ada.signers")
    assert (code, "good, by ada@example.org" in out) == (0, True)
    assert told("verify", study, "--signed-by", tmp_path / "eve.signers")[0] == FAILED
    forge_winners(study)
    assert told("verify", study, "--signed-by", tmp_path / "ada.signers")[0] == FAILED
    assert "nothing is signed" in told("verify", study, "--sign", tmp_path / "ada")[1]


def test_without_ssh_keygen_a_signature_is_one_line(
    study: Path, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = told("verify", study, "--sign", tmp_path / "key")
    assert (code, err.count("\n")) == (USAGE, 1)
    assert "signatures need ssh-keygen" in err

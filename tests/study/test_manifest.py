"""The manifest and the journal."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import wolfbus
from analytics.gather import find
from tests.study.runs import manifest, run_here, study_file, without_times
from wolfbus import cli
from wolfbus.errors import RecordError
from wolfbus.game.draws import game_seed
from wolfbus.study.folder import StudyFolder

REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))
FORMAT = '"format": "wolfbus-study", "version": 1'


def filled(text):
    return text.replace("{nines}", "9" * 5000).replace("{few nines}", "9" * 400).replace("{deep}", "[" * 100_000)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    run_here(study_file(folder, "games = 2\nseed = 3"), "--out", folder / "out", code=0)
    return folder / "out"


@pytest.fixture
def copy(played, tmp_path):
    return shutil.copytree(played, tmp_path / "copy")


@pytest.mark.parametrize(
    ("text", "words"),
    [*REFUSED["no_manifest"], *([f"{{{FORMAT}, {member}}}", words] for member, words in REFUSED["manifest"])],
)
def test_what_no_manifest_holds_is_named_in_one_line(tmp_path, text, words):
    path = tmp_path / "study.json"
    path.write_text(filled(text))
    with pytest.raises(RecordError) as caught:
        find([tmp_path])
    line = str(caught.value)
    assert line.startswith(f"{path}: {words}")
    assert line.isprintable()
    assert len(line) < 600


def test_members_may_be_missing_and_others_may_be_there(copy):
    path = copy / "study.json"
    loaded = json.loads(path.read_text())
    path.write_text(json.dumps({"format": loaded["format"], "version": 1, "study": loaded["study"], "later": [1, {}]}))
    assert len(find([copy])) == 2
    path.write_text("[]")
    done = run_here("--resume", "--out", copy)
    assert (done.returncode, "this is no manifest of a study" in done.stderr) == (2, True)


@pytest.mark.parametrize(("size", "words"), [(None, "not a file"), (1 << 30, "too large: more than 256 MiB")])
def test_a_manifest_that_is_no_file_or_too_large_is_not_opened(copy, size, words):
    path = copy / "study.json"
    path.unlink()
    if size is None:
        os.mkfifo(path)
    else:
        path.touch()
        os.truncate(path, size)
    done = run_here("--resume", "--out", copy)
    assert (done.returncode, f"{path}: {words}" in done.stderr) == (2, True)


@pytest.mark.parametrize(("line", "words"), REFUSED["journal"])
def test_a_journal_that_does_not_say_what_is_spent_is_refused_with_line_and_member(copy, line, words):
    path = copy / "journal.jsonl"
    with path.open("a") as journal:
        journal.write(f"{line}\n")
    done = run_here("--resume", "--out", copy, code=2)
    assert done.stderr.startswith(f"wolfbus: {path}: line 3: {words}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
@pytest.mark.parametrize(
    ("full", "code", "words"),
    [("journal.jsonl", 1, "{out}/journal.jsonl: no space left"), (".lock", 2, "{out}: no study can be kept there: ")],
)
def test_a_disk_that_is_full_is_told_with_what_could_not_be_written(tmp_path, full, code, words):
    out = tmp_path / "out"
    out.mkdir()
    (out / full).symlink_to("/dev/full")
    done = run_here(study_file(tmp_path, "games = 1"), "--out", out, code=code)
    assert f"wolfbus: {words.format(out=out)}" in done.stderr


def test_a_folder_that_is_closed_twice_closes_no_file_of_others(tmp_path):
    folder = StudyFolder(tmp_path / "out")
    folder.close()
    with (tmp_path / "mine").open("w") as mine:
        folder.close()
        mine.write("whole")
    assert (tmp_path / "mine").read_text() == "whole"


def test_what_a_full_disk_left_of_a_note_takes_no_later_note_with_it(tmp_path, monkeypatch):
    write, full = os.write, iter([True])

    def write_half(descriptor, content):
        if next(full, False):
            write(descriptor, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, content)

    with StudyFolder(tmp_path / "out") as folder:
        with monkeypatch.context() as patch:
            patch.setattr("os.write", write_half)
            with pytest.raises(OSError, match="No space left"):
                folder.note({"spent_usd": 1.0, "spent_tokens": 1})
        folder.note({"spent_usd": 2.0, "spent_tokens": 2})
        spent = folder.read_journal()[1]
        assert (spent.spent_usd, spent.spent_tokens) == (2.0, 2)


def test_what_was_half_written_is_removed_and_a_link_in_its_place_leads_nobody_elsewhere(tmp_path):
    out, mine = tmp_path / "out", tmp_path / "mine"
    out.mkdir()
    mine.write_text("kept")
    (out / ".a.new").symlink_to(mine)
    (out / ".b.new").write_text("half")
    with StudyFolder(out):
        assert [*out.glob(".*.new")] == []
    assert mine.read_text() == "kept"


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_nothing_is_written_where_a_folder_was_that_is_gone(tmp_path, is_made_anew):
    out = tmp_path / "out"
    with StudyFolder(out) as folder:
        folder.note({})
        out.rename(tmp_path / "moved")
        if is_made_anew:
            (out / "records").mkdir(parents=True)
        for attempt in (lambda: folder.note({}), lambda: folder.write("study.json", ["{}"])):
            with pytest.raises(OSError, match="was moved or removed while its study was played") as caught:
                attempt()
            assert caught.value.filename == str(out)
    assert not (out / "study.json").exists()
    assert (tmp_path / "moved" / "journal.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_journal_that_leads_out_of_the_folder_is_refused_and_nothing_is_written_there(copy, tmp_path, there):
    mine = tmp_path / "mine"
    if there:
        mine.write_text("kept")
    (copy / "journal.jsonl").unlink()
    (copy / "journal.jsonl").symlink_to(mine)
    next((copy / "records").iterdir()).unlink()
    done = run_here("--resume", "--out", copy, code=2)
    assert done.stderr.startswith(f"wolfbus: {copy}/journal.jsonl: is a link")
    assert (mine.read_text() if mine.exists() else None) == ("kept" if there else None)


def test_lines_of_a_journal_that_say_nothing_are_passed_over_and_the_last_that_says_something_counts(copy):
    before, path = manifest(copy), copy / "journal.jsonl"
    game = before["games"][0]["game"]
    lines_before = path.read_bytes()
    results = [
        f'{{"number": 1, "game": "{game}", "state": "ended", {member}}}' for member in REFUSED["journal_results"]
    ]
    lines = ["", "[]", "nonsense", '{"number": "x"}', f'{{"number": 1, "game": "{game}"}}', "{deep}", *results]
    failed = f'{{"number": 1, "game": "{game}", "state": "failed", "error": "first"}}'
    text = "".join(f"{filled(line)}\n" for line in (failed, *lines)).encode()
    # the last line was cut off by a kill
    path.write_bytes(text + b"\xff\n" + lines_before + b'{"number":2,"ga')
    (copy / ".study.json.1.new").write_text("half")
    (copy / "mine.new").write_text("kept")
    run_here("--resume", "--out", copy, code=0)
    assert without_times(manifest(copy)) == without_times(before)
    assert [path.name for path in copy.glob("*.new")] == ["mine.new"]


def test_a_report_that_is_being_written_is_not_taken_for_what_a_killed_run_left(copy, monkeypatch):
    fsync = os.fsync

    def go_on(descriptor):
        monkeypatch.setattr("os.fsync", fsync)
        assert cli.run(["run", "--resume", "--out", str(copy)]) == 0
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", go_on)
    assert cli.run(["report", str(copy), "--no-cache"]) == 0
    assert (copy / "report.html").read_text().endswith("</html>")


def test_the_commit_is_told_for_a_checkout_and_for_nothing_else(played, tmp_path, monkeypatch):
    root = Path(wolfbus.__file__).parents[1]
    commit = manifest(played)["git"]
    if (root / ".git").exists():
        head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
        assert commit["commit"] == head.stdout.strip()
        assert commit["dirty"] in {True, False}
    else:
        assert commit is None
    with monkeypatch.context() as without:
        without.setenv("PATH", "")
        run_here(study_file(tmp_path, "games = 1"), "--out", tmp_path / "a", code=0)
    # installed below somebody else's checkout
    monkeypatch.setattr(wolfbus, "__file__", str(tmp_path / "wolfbus" / "__init__.py"))
    run_here(study_file(tmp_path, "games = 1"), "--out", tmp_path / "b", code=0)
    assert manifest(tmp_path / "a")["git"] is manifest(tmp_path / "b")["git"] is None


def test_a_run_that_asks_for_the_commit_writes_nothing_into_the_checkout(tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, "-c", "user.name=A", "-c", "user.email=a@b", *words], check=True)

    package = tmp_path / "wolfbus" / "__init__.py"
    package.parent.mkdir()
    package.touch()
    for words in (["init", "-q"], ["add", "wolfbus"], ["commit", "-qm", "first"]):
        git(*words)
    # which git would note in its index
    os.utime(package, (1, 1))
    before = (tmp_path / ".git" / "index").read_bytes()
    monkeypatch.setattr(wolfbus, "__file__", str(package))
    run_here(study_file(tmp_path, "games = 1"), "--out", tmp_path / "out", code=0)
    assert manifest(tmp_path / "out")["git"]["dirty"] is False
    assert (tmp_path / ".git" / "index").read_bytes() == before


# -- seeds


def words_of(folder):
    """Return all that stands in the files of a study, but for the file that says how to go on with it."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "study.toml")


def test_what_is_told_of_a_study_does_not_tell_how_games_to_come_are_dealt(tmp_path, capsys):
    seed = "a seed that nobody can guess"
    file = study_file(tmp_path, f'games = 3\nseed = "{seed}"')
    out = tmp_path / "out"
    run_here(file, "--games", "2", "--out", out, code=0)
    to_come = game_seed(seed, 3)
    assert seed in (out / "study.toml").read_text()
    written = {"manifest and records": words_of(out)}
    capsys.readouterr()
    for words in ("report --json", "report --bibtex", "verify"):
        assert cli.run([*words.split()[:1], str(out), *words.split()[1:]]) == 0
        written[words] = capsys.readouterr().out.encode()
    pages = tmp_path / "pages"
    pages.mkdir()
    outputs = f"--html {pages}/report.html --md {pages}/report.md --csv {pages}/tables"
    for words in (f"report {out} {outputs}", f"page {out} -o {pages}/page.html", f"export csv {out} --out {pages}/csv"):
        assert cli.run(words.split()) == 0
    written["pages and tables"] = words_of(pages)
    for name, text in written.items():
        assert seed.encode() not in text, name
        assert to_come.encode() not in text, name
    # whoever knows it can show that it was this one
    assert manifest(out)["seed_sha256"] == hashlib.sha256(seed.encode()).hexdigest()
    run_here("--resume", "--out", out, "--games", "3", code=0)
    assert manifest(out)["games"][2]["seed"] == to_come


def test_a_manifest_of_before_goes_on_and_is_shown_without_its_seeds(tmp_path, capsys):
    out = tmp_path / "out"
    run_here(study_file(tmp_path, "games = 1\nseed = 3"), "--out", out, code=0)
    older = manifest(out)
    older = {"seed" if name == "seed_sha256" else name: value for name, value in older.items()}
    older["seed"] = "3"
    (out / "study.json").write_text(json.dumps(older))
    capsys.readouterr()
    assert cli.run(["report", str(out), "--json"]) == 0
    (study,) = json.loads(capsys.readouterr().out)["studies"]
    assert study["seed_sha256"] == hashlib.sha256(b"3").hexdigest()
    assert "seed" not in study
    run_here("--resume", "--out", out, "--games", "2", code=0)
    assert "another is told" in run_here("--resume", "--out", out, "--seed", "4", code=2).stderr

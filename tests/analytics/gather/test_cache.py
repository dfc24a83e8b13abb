"""The cache beside records: it answers for the very same bytes, and for nothing else."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from analytics.findings import findings, tables_of
from analytics.gather import Criteria, Gathered, gather
from analytics.gather.cache import FOLDER, _secret
from moderator.engine.reexecution import Verifier
from tests.analytics.test_columns import same
from tests.whole.house import play_many
from wolfbus.cli import run
from wolfbus.config import GameConfig
from wolfbus.errors import RecordError


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cached")
    play_many(folder, [1, 2, 3], ["scripted"] * 6 + ["random"] * 2, GameConfig())
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    shutil.copytree(played, folder)
    return folder


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the records that were read line by line."""
    import analytics.gather.games as games

    seen: list[str] = []
    read = games.read_game

    def noticed(source, *given, **how):
        seen.append(source.path.name)
        return read(source, *given, **how)

    monkeypatch.setattr(games, "read_game", noticed)
    return seen


def equal(one: Gathered, other: Gathered) -> bool:
    return same(one.columns, other.columns) and one.files == other.files and tables_of(one) == tables_of(other)


def test_the_second_time_no_line_is_read_and_everything_is_equal(folder: Path, reads: list[str]):
    anew = gather([folder])
    first = gather([folder], cached=True)
    reads.clear()
    second = gather([folder], cached=True)
    assert reads == []
    assert equal(anew, first)
    assert equal(anew, second)
    assert json.loads(json.dumps(findings(second))) == findings(anew)


def edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"suspicion":0.', b'"suspicion":1.', 1))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def edited_unseen(path: Path) -> None:
    """Edit it so that size and time of change stay."""
    before = path.stat()
    edited(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def compressed(path: Path) -> None:
    path.write_bytes(gzip.compress(path.read_bytes()))


def exchanged(path: Path) -> None:
    shutil.copy(path.with_name("3.ndjson"), path)


@pytest.mark.parametrize("change", [edited, cut, edited_unseen, compressed, exchanged, Path.unlink])
def test_a_record_that_changed_gives_what_it_gives_without_a_cache(folder: Path, change: Callable[[Path], None]):
    gather([folder], cached=True)
    change(folder / "2.ndjson")
    assert equal(gather([folder], cached=True), gather([folder]))


def turned(path: Path) -> None:
    """Turn one bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def sealed_elsewhere(path: Path) -> None:
    """Put there what another user's program would have sealed."""
    from analytics.gather.cache import Cache

    content = path.read_bytes()
    Cache(path.parent, b"x" * 32).keep(path.name, content[32:64], content[64:].replace(b"scripted", b"SCRIPTED"))


@pytest.mark.parametrize(
    "change", [turned, sealed_elsewhere, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"x" * 99)]
)
def test_a_cache_that_changed_is_not_used(folder: Path, reads: list[str], change: Callable[[Path], None]):
    expected = gather([folder], cached=True)
    (kept,) = (folder / FOLDER).iterdir()
    change(kept)
    reads.clear()
    assert equal(gather([folder], cached=True), expected)
    assert len(reads) == 3
    reads.clear()
    assert equal(gather([folder], cached=True), expected)
    assert reads == []


def test_other_criteria_and_other_versions_find_nothing(
    folder: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
):
    gather([folder], cached=True)
    reads.clear()
    for criteria in (Criteria(alpha=0.3), Criteria(prior=0.1), Criteria(include_defaulted=True)):
        assert equal(gather([folder], criteria, cached=True), gather([folder], criteria))
    assert len(reads) == 18
    reads.clear()
    monkeypatch.setattr("analytics.gather.cache.program", lambda: b"of another version")
    gather([folder], cached=True)
    assert len(reads) == 3


def test_of_many_parts_only_the_one_that_changed_is_read(
    folder: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("analytics.gather.games.PART", 1)
    gather([folder], workers=1, cached=True)
    reads.clear()
    cut(folder / "2.ndjson")
    found = gather([folder], workers=1, cached=True)
    assert reads == ["2.ndjson"]
    assert equal(found, gather([folder]))


def test_records_that_are_re_executed_come_from_no_cache(folder: Path, reads: list[str]):
    gather([folder], cached=True)
    reads.clear()
    found = gather([folder], Criteria(prover=Verifier), cached=True)
    assert [note.proven for note in found.files] == [True] * 3
    assert len(reads) == 3


@pytest.mark.parametrize("there", ["a file", "a link", "no secret", "a full disk"])
def test_where_nothing_can_be_kept_everything_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch, there: str):
    if there == "a file":
        (folder / FOLDER).write_text("")
    elif there == "a link":
        elsewhere = folder.with_name("elsewhere")
        elsewhere.mkdir()
        (folder / FOLDER).symlink_to(elsewhere)
    elif there == "no secret":
        monkeypatch.setattr("analytics.gather.cache._secret", lambda: None)
    else:

        def full(*_given, **_how):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("analytics.gather.cache.write_whole", full)
    assert equal(gather([folder], cached=True), gather([folder]))
    assert not list(folder.with_name("elsewhere").glob("*"))


def test_a_file_that_grows_while_it_is_read_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch):
    import analytics.gather.games as games

    read = games.read_game

    def growing(source, *given, **how):
        found = read(source, *given, **how)
        with source.path.open("ab") as file:
            file.write(b"more")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(games, "read_game", growing)
        gather([folder], cached=True)
    assert not (folder / FOLDER).exists()
    assert equal(gather([folder], cached=True), gather([folder]))


def test_the_secret_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _secret.cache_clear()
    try:
        made = _secret()
        _secret.cache_clear()
        assert made == _secret()
        assert made is not None
        assert len(made) == 32
        assert (tmp_path / "wolfbus" / "secret").stat().st_mode & 0o777 == 0o600
    finally:
        _secret.cache_clear()


def test_report_and_compare_print_the_same_with_and_without(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / "page.html"

    def told(*words: str) -> tuple[str, bytes]:
        assert run(list(words)) == 0
        return capsys.readouterr().out, page.read_bytes()

    report = ("report", str(folder), "--html", str(page))
    anew = told(*report, "--no-cache")
    assert not (folder / FOLDER).exists()
    assert told(*report) == anew == told(*report)
    assert {path.name.partition("-")[0] for path in (folder / FOLDER).iterdir()} == {"rows", "findings", "page"}
    compare = ("compare", str(folder), "--agents", "scripted", "random")
    assert told(*compare) == told(*compare) == told(*compare, "--no-cache")


def test_records_that_are_gone_are_missed_with_a_cache_too(folder: Path):
    gather([folder], cached=True)
    for path in folder.glob("*.ndjson"):
        path.unlink()
    with pytest.raises(RecordError, match="no records in it"):
        gather([folder], cached=True)

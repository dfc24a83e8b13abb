"""The cache beside records: it answers for the very same bytes, and for nothing else."""

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import wolfbus
from analytics.gather import Criteria, Gathered, gather
from analytics.tables import TablesBuilder
from moderator.engine.reexecution import Verifier
from tests.analytics.script import replies_of
from tests.analytics.test_columns import same
from wolfbus.cli import run
from wolfbus.errors import RecordError

FOLDER = ".wolfbus"


def equal(one: Gathered, other: Gathered) -> bool:
    return same(one.tables, other.tables) and one.files == other.files and replies_of(one) == replies_of(other)


def cache_times(folder: Path) -> dict[str, int]:
    """When each file of the cache was written; what is read anew is written anew."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / FOLDER).iterdir()}


@pytest.mark.parametrize("name", ["2.ndjson", os.fsdecode(b"\xff.ndjson")])
def test_the_second_time_no_line_is_read_and_everything_is_equal(folder: Path, name: str):
    try:
        (folder / "2.ndjson").rename(folder / name)
    except OSError:
        pytest.skip("a file system whose names are Unicode")
    anew = gather([folder])
    first = gather([folder], cached=True)
    written = cache_times(folder)
    second = gather([folder], cached=True)
    assert cache_times(folder) == written
    assert equal(anew, first)
    assert equal(anew, second)


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


@pytest.mark.parametrize("change", [cut, edited_unseen, compressed, exchanged, Path.unlink])
def test_a_record_that_changed_gives_what_it_gives_without_a_cache(folder: Path, change: Callable[[Path], None]):
    gather([folder], cached=True)
    change(folder / "2.ndjson")
    assert equal(gather([folder], cached=True), gather([folder]))


def turned(content: bytes) -> bytes:
    """Turn one bit in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("change", [turned, lambda _: b"", lambda _: b"x" * 99])
def test_a_cache_that_changed_is_not_used(folder: Path, change: Callable[[bytes], bytes]):
    expected = gather([folder], cached=True)
    (path,) = (folder / FOLDER).iterdir()
    content = path.read_bytes()
    path.write_bytes(change(content))
    assert equal(gather([folder], cached=True), expected)
    assert path.read_bytes() == content


def test_what_another_user_sealed_is_not_used(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    expected = gather([folder], cached=True)
    (path,) = (folder / FOLDER).iterdir()
    sealed = path.read_bytes()
    # the secret that seals it is this user's own, in a file that nobody else reads
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path.unlink()
    program = "from analytics.gather import gather; import sys; gather(sys.argv[1:], cached=True)"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True)
    assert path.read_bytes() != sealed
    assert (tmp_path / "wolfbus" / "secret").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "wolfbus" / "secret").stat().st_size == 32
    assert equal(gather([folder], cached=True), expected)
    assert path.read_bytes() == sealed


def test_other_criteria_and_other_versions_find_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    gather([folder], cached=True)
    for criteria in (Criteria(alpha=0.3), Criteria(prior=0.1), Criteria(include_defaulted=True)):
        assert equal(gather([folder], criteria, cached=True), gather([folder], criteria))
    written = cache_times(folder)
    assert len(written) == 4
    monkeypatch.setattr("analytics.gather.cache.program", lambda: b"of another version")
    gather([folder], cached=True)
    assert [name for name, when in cache_times(folder).items() if written[name] != when]


def test_whatever_file_of_the_program_changes_it_is_another_version(folder: Path, tmp_path: Path):
    copy = shutil.copytree(Path(wolfbus.__file__).parent, tmp_path / "wolfbus")
    code = "import sys, wolfbus; wolfbus.__file__, path = sys.argv[1:]; "
    code += "from analytics.gather import gather; gather([path], cached=True)"
    written: list[dict[str, int]] = []
    for name in ("files/formats.py", "reading/words.toml"):
        with (copy / name).open("ab") as file:
            file.write(b"#")
        subprocess.run([sys.executable, "-c", code, str(copy / "__init__.py"), str(folder)], check=True)
        assert cache_times(folder) not in written
        written.append(cache_times(folder))


def test_of_many_parts_only_the_one_that_changed_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("analytics.gather.BATCH", 1)
    gather([folder], workers=1, cached=True)
    written = cache_times(folder)
    compressed(folder / "2.ndjson")
    again = gather([folder], workers=1, cached=True)
    assert len([name for name, when in cache_times(folder).items() if written[name] != when]) == 1
    assert equal(again, gather([folder]))


def test_records_that_are_re_executed_come_from_no_cache(folder: Path):
    gather([folder], cached=True)
    gathered = gather([folder], Criteria(prover=Verifier), cached=True)
    assert [note.proven for note in gathered.files] == [True] * 4


@pytest.mark.parametrize("obstacle", ["a file", "a link", "no secret", "a full disk"])
def test_where_nothing_can_be_kept_everything_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str):
    if obstacle == "a file":
        (folder / FOLDER).write_text("")
    elif obstacle == "a link":
        elsewhere = folder.with_name("elsewhere")
        elsewhere.mkdir()
        (folder / FOLDER).symlink_to(elsewhere)
    elif obstacle == "no secret":
        monkeypatch.setattr("wolfbus.files.cache.user_secret", lambda: None)
    else:

        def full(*_arguments, **_options):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("wolfbus.files.cache.write_whole", full)
    assert equal(gather([folder], cached=True), gather([folder]))
    assert not list(folder.with_name("elsewhere").glob("*"))


def test_a_file_that_grows_while_it_is_read_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch):
    add = TablesBuilder.add

    def growing(builder: TablesBuilder, *arguments, **options):
        add(builder, *arguments, **options)
        with (folder / "2.ndjson").open("ab") as file:
            file.write(b"more")

    with monkeypatch.context() as patched:
        patched.setattr(TablesBuilder, "add", growing)
        gather([folder], cached=True)
    assert not (folder / FOLDER).exists()
    assert equal(gather([folder], cached=True), gather([folder]))


def test_report_and_compare_print_the_same_with_and_without(folder, tmp_path, capsys):
    page = tmp_path / "page.html"

    def printed(*words: str) -> tuple[str, bytes]:
        assert run(list(words)) == 0
        return capsys.readouterr().out, page.read_bytes()

    report = ("report", str(folder), "--html", str(page))
    anew = printed(*report, "--no-cache")
    assert not (folder / FOLDER).exists()
    assert printed(*report) == anew == printed(*report)
    assert {path.name.partition("-")[0] for path in (folder / FOLDER).iterdir()} == {"rows", "findings", "page"}
    compare = ("compare", str(folder), "--agents", "scripted", "random", "--metric", "accuracy")
    assert printed(*compare) == printed(*compare) == printed(*compare, "--no-cache")


def test_records_that_are_gone_are_missed_with_a_cache_too(folder: Path):
    gather([folder], cached=True)
    for path in folder.glob("*.ndjson"):
        path.unlink()
    with pytest.raises(RecordError, match="no records in it"):
        gather([folder], cached=True)

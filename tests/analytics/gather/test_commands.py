"""`wolfbus report`, `compare` and `export` on folders in which something is wrong: a line each, and the exit code."""

import json
import shutil
from pathlib import Path

import pytest

from tests.export.records import game, study, write
from wolfbus.cli import FAILED, USAGE, run


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    for name in ("g1", "g2"):
        write(folder / "records", game(name, name))
    study(folder, ["g1", "g2"])
    return folder


@pytest.fixture
def folder(study_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(study_folder, tmp_path / "s"))


def commands(folder: Path) -> list[list[str]]:
    out = str(folder.parent / "out")
    return [
        ["report", str(folder), "--json"],
        ["compare", str(folder), str(folder), "--json"],
        ["export", "csv", str(folder), "--out", out],
        ["page", str(folder), "-o", f"{out}.html"],
    ]


@pytest.mark.parametrize(
    ("change", "member"),
    [
        ({"games": None}, "games: "),
        ({"games": 5}, "games: "),
        ({"games": {"a": 1}}, "games: "),
        ({"games": [1]}, "games.0: "),
        ({"seed": float("nan")}, "not JSON: "),
        ({"totals": "x"}, "totals: "),
    ],
)
def test_a_manifest_that_is_wrong_is_one_line_with_file_and_member(folder, capsys, change, member):
    path = folder / "study.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    for words in commands(folder):
        assert run(words) == USAGE
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"wolfbus: {path}: {member}")
        assert err.count("\n") == 1


def test_studies_that_declare_different_primary_metrics_are_compared_by_the_usual_ones_which_is_told(folder, capsys):
    other = Path(shutil.copytree(folder, folder.parent / "other"))
    manifest = json.loads((other / "study.json").read_text())
    (other / "study.json").write_text(json.dumps({**manifest, "primary": ["werewolf_wins"]}))
    told = "wolfbus: the studies declare different primary metrics: the usual ones are adjusted together\n"
    for sides, is_told in (((folder, other), True), ((other, other), False)):
        assert run(["compare", *map(str, sides), "--json", "--permutations", "100"]) == 0
        assert (told in capsys.readouterr().err) is is_told


def test_a_damaged_file_is_named_by_all_of_them_and_they_exit_1(folder: Path, capsys: pytest.CaptureFixture[str]):
    path = folder / "records" / "g2.ndjson"
    path.write_bytes(path.read_bytes()[:-20])
    for words in commands(folder)[1:3]:
        assert run(words) == FAILED
        err = capsys.readouterr().err.splitlines()
        assert any(line.startswith(f"wolfbus: {path}: ") for line in err)
        assert err[-1].startswith("wolfbus: something is wrong with ")


def test_games_are_compared_as_they_are_told_to_be_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def metrics_of(*words: str) -> dict[str, object]:
        arguments = [
            "compare",
            str(folder),
            str(folder),
            "--metric",
            "deception_rate",
            "--metric",
            "auc_before",
            "--json",
        ]
        assert run([*arguments, *words]) == 0
        metrics: dict[str, object] = json.loads(capsys.readouterr().out)["metrics"]
        return metrics

    as_played = metrics_of()
    assert metrics_of("--workers", "1") == as_played
    assert metrics_of("--alpha", "0.1", "--prior", "0.9")["auc_before"] != as_played["auc_before"]
    assert metrics_of("--include-defaulted")["deception_rate"] != as_played["deception_rate"]

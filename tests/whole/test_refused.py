"""What cannot be done is one line that names the option, file or field, and exit code 2."""

import shlex
import tomllib
from pathlib import Path

import pytest

from tests.cli_views.test_calls import played
from tests.golden.running import wolfbus
from tests.llm.calls.woven import lines

REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))["refused"]


@pytest.fixture(scope="module")
def records(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("records")
    assert wolfbus(folder, "play", "--seed", "7", "--json", "--game", "kept", "--out", ".").code == 0
    (folder / "calls.ndjson").write_bytes(lines(played()))
    (folder / "packed.gz").write_bytes(b"\x1f\x8b\x08\x00 and what no compressor writes")
    players = ("--players", "random*4,scripted*4")
    assert wolfbus(folder, "play", "--seed", "1", *players, "--json", "--out", "pair").code == 0
    names = {"PAIR": "pair", "RECORD": "kept.ndjson", "CALLS": "calls.ndjson", "DAMAGED": "packed.gz"}
    return {word: str(folder / name) for word, name in names.items()}


@pytest.mark.parametrize("case", REFUSED, ids=[case["run"] for case in REFUSED])
def test_it_is_told_in_one_line(case, records, tmp_path):
    (tmp_path / "game.toml").write_text(case.get("config", ""))
    files = {"CONFIG": "game.toml", **records}
    result = wolfbus(tmp_path, *(files.get(word, word) for word in shlex.split(case["run"])))
    assert (result.code, result.out) == (case.get("code", 2), ""), result
    last = result.err.strip().splitlines()[-1]
    assert [words for words in case["says"] if words not in last] == [], last
    assert not [words for words in ("Traceback", case.get("lacks", "Traceback")) if words in result.err]
    assert result.err.count("\n") == 1 or result.err.startswith("Usage: "), result.err
    assert [path.name for path in tmp_path.iterdir()] == ["game.toml"]

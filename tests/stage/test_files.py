"""`wolfbus page`: one file that asks nobody for anything and tells nobody more than it should."""

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.played import unpacked
from tests.stage.served import names, sealed
from wolfbus.cli import run
from wolfbus.stage import GameFeed, all_viewers

RECORDS, LINES = sealed()
STATIC = Path(__file__).parents[2] / "wolfbus" / "stage" / "static"
BUDGET = 150_000
"""Bytes of all scripts and styles together."""
GAME_BUDGET = 78_000
"""Bytes of what a game's page needs of them, as they stand in a file."""
FILE = 110_000
"""Bytes of a game's file without prompts."""
SECRET = re.compile(r"(?:secret|whisper|prompt|reply|model|raw)-of-(\w+)")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "game.ndjson"
    path.write_bytes(b"".join(LINES))
    return path


def written(record: Path, *words: str, code: int = 0) -> tuple[str, dict]:
    out = record.with_suffix(".html")
    assert run(["page", str(record), "-o", str(out), *words]) == code
    page = out.read_text("utf-8")
    (packed,) = re.findall(r'<script type="application/gzip\+base64" id="wolfbus-data">([^<]*)</script>', page)
    return page, json.loads(gzip.decompress(base64.b64decode(packed)))


def test_a_file_holds_the_page_of_every_viewer_and_names_its_script_and_style_by_hash(record):
    page, data = written(record)
    for place, viewer in enumerate(all_viewers(names())):
        assert data["heads"][place]["viewer"] == viewer
        assert [beats[place] for beats in data["beats"]] == GameFeed(viewer, RECORDS).page()["beats"]
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, flags=re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    for text in (script, style):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page), "nothing is fetched"
    assert len(page) <= FILE
    assert len(script) + len(style) <= GAME_BUDGET


def test_the_data_of_a_page_is_printed_whatever_encoding_the_terminal_writes_in(record):
    def printed(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "wolfbus.stage", str(record), *words]
        latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
        return subprocess.run(command, env=latin, capture_output=True, check=False)

    page = printed()
    assert page.returncode == 0, page.stderr
    assert json.loads(page.stdout)["moments"] == GameFeed("everything", RECORDS).page()["moments"]
    assert printed("--until", "-1").returncode == 2


@pytest.mark.parametrize("study", ["scripted", "models", "mixed"])
def test_a_file_of_a_game_without_prompts_can_be_sent(tmp_path, study):
    unpacked(study, tmp_path)
    for record in sorted((tmp_path / study).rglob("*.ndjson*"))[:4]:
        assert run(["page", str(record), "-o", str(tmp_path / "game.html")]) == 0
        assert (tmp_path / "game.html").stat().st_size <= FILE


def test_the_page_is_small_and_its_scripts_are_ours():
    sizes = {path.name: path.stat().st_size for path in STATIC.iterdir() if path.suffix in (".js", ".css")}
    assert sum(sizes.values()) <= BUDGET, sizes
    for path in STATIC.glob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", path.read_text("utf-8")
        ), path.name


def test_no_sentence_of_a_page_holds_a_name_of_its_scripts():
    for path in STATIC.glob("*.js"):
        texts = re.findall(r'"([^"\n]*)"|`[^`]*`', path.read_text("utf-8"))
        assert [text for text in texts if " " in text and re.search(r"[a-z][A-Z]", text)] == [], path.name


def test_a_file_for_one_pair_of_eyes_holds_nothing_else(record):
    for word in ("public", names()[0]):
        _, data = written(record, "--as", word)
        assert len(data["heads"]) == 1
        assert set(SECRET.findall(json.dumps(data))) <= {word}
        assert "verdict" not in json.dumps(data)
    assert run(["page", str(record), "--as", "nobody"]) == 2
    assert run(["page", str(record), "--as", "public", "--prompts"]) == 2


def test_prompts_go_with_a_file_that_is_asked_for_them_each_text_once(record):
    _, data = written(record, "--prompts")
    (call,) = data["prompts"]["calls"].values()
    assert [data["prompts"]["segments"][piece["i"]]["text"] for piece in call["segments"]] == ["prompt-of-Ada"]
    assert "prompts" not in written(record)[1]


def test_a_damaged_record_is_written_as_far_as_it_is_whole(record, capsys):
    record.write_bytes(b"".join(LINES[:50]) + b"{}\n")
    _, data = written(record, code=1)
    assert data["heads"][0]["line"] == 50
    assert "line 51" in data["heads"][0]["problems"][0]
    assert data["heads"][0]["proof"]["sealed"] is False
    assert "line 51" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        'import { h as other } from "./dom.js";',
        'import dom from "./dom.js";',
        "export default function f() {}",
        "const close = '</SCRIPT>';",
    ],
)
def test_scripts_that_cannot_stand_in_one_file_are_refused(record, tmp_path, monkeypatch, capsys, text):
    static = shutil.copytree(STATIC, tmp_path / "static")
    monkeypatch.setattr("wolfbus.stage.files.STATIC", static)
    with (static / "terms.js").open("a") as script:
        script.write(f"{text}\n")
    assert run(["page", str(record), "-o", str(tmp_path / "page.html")]) == 2
    assert "scripts cannot be put into one file" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()

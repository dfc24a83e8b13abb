"""`wolfbus page`: one file that asks nobody for anything and tells nobody more than it should."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.stage.served import names, sealed
from wolfbus.cli import run
from wolfbus.errors import ConfigError
from wolfbus.stage.document import GameFeed, all_viewers
from wolfbus.stage.files import bundled

RECORDS, LINES = sealed()
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
    page, held = written(record)
    for place, viewer in enumerate(all_viewers(names())):
        assert held["heads"][place]["viewer"] == viewer
        assert [beats[place] for beats in held["beats"]] == GameFeed(viewer, RECORDS).page()["beats"]
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, flags=re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    for text in (script, style):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page), "nothing is fetched"
    assert len(page) < 200_000


def test_a_file_for_one_pair_of_eyes_holds_nothing_else(record):
    for word in ("public", names()[0]):
        _, held = written(record, "--as", word)
        assert len(held["heads"]) == 1
        assert set(SECRET.findall(json.dumps(held))) <= {word}
        assert "verdict" not in json.dumps(held)
    assert run(["page", str(record), "--as", "nobody"]) == 2
    assert run(["page", str(record), "--as", "public", "--prompts"]) == 2


def test_prompts_go_with_a_file_that_is_asked_for_them_each_text_once(record):
    _, held = written(record, "--prompts")
    (call,) = held["prompts"]["calls"].values()
    assert [held["prompts"]["segments"][piece["i"]]["text"] for piece in call["segments"]] == ["prompt-of-Ada"]
    assert "prompts" not in written(record)[1]


def test_a_damaged_record_is_written_as_far_as_it_is_whole(record, capsys):
    record.write_bytes(b"".join(LINES[:50]) + b"{}\n")
    _, held = written(record, code=1)
    assert held["heads"][0]["line"] == 50
    assert "line 51" in held["heads"][0]["problems"][0]
    assert "line 51" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('import { a as b } from "./other.js";', None),
        ('import x from "./other.js";', "form"),
        ("export default function f() {}", "form"),
        ('import { a } from "./page.js";', "circle"),
        ('import { a } from "./nothing.js";', "not there"),
        ("const close = '</script>';", "</script"),
    ],
)
def test_modules_that_cannot_stand_in_one_file_are_refused(tmp_path, text, why):
    (tmp_path / "page.js").write_text(f"{text}\n")
    (tmp_path / "other.js").write_text("export const a = 1;\n")
    if why is None:
        assert "const a = 1;" in bundled(tmp_path)
        return
    with pytest.raises(ConfigError, match=why):
        bundled(tmp_path)
